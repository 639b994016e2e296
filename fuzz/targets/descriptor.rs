//! Any C descriptor with a memfd that somebody found for it: an error, or a tensor that can be read.

#![no_main]

use std::{hint::black_box, sync::OnceLock};

use libfuzzer_sys::fuzz_target;
use tensor_core::{Memory, TensorDesc, transfer::import_descriptor};
use tensor_fuzz::{Watched, no_descriptor_is_left, within};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Numbers off the front of the input; zeros when it is used up.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_at(self.0.len().min(N));
        self.0 = rest;
        let mut bytes = [0; N];
        bytes[..head.len()].copy_from_slice(head);
        bytes
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.next())
    }

    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.next())
    }
}

fn descriptor(data: &[u8]) -> TensorDesc {
    let mut numbers = Numbers(data);
    let mut desc = TensorDesc {
        kind: 1,
        dtype: numbers.word() % 12,
        ndim: numbers.word() % 10,
        format: numbers.word() % 128,
        colorimetry: numbers.word(),
        flags: numbers.word(),
        capacity: numbers.long(),
        ..TensorDesc::empty()
    };
    for dim in &mut desc.shape {
        *dim = numbers.long();
    }
    for step in &mut desc.strides {
        *step = i64::from_le_bytes(numbers.next());
    }
    desc
}

fuzz_target!(|data: &[u8]| {
    static MEMORY: OnceLock<Memory> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| Memory::shm(16384).expect("a memfd"));
    no_descriptor_is_left();
    let desc = descriptor(data);
    let mut tensor = None;
    within(0, || tensor = import_descriptor(&desc, memory.clone()).ok());
    let Some(tensor) = tensor else { return };
    if let Ok(map) = tensor.map_read() {
        for plane in map.planes() {
            black_box(plane.rows().filter(|row| row.first() == Some(&7)).count());
        }
    }
    black_box((tensor.shape(), tensor.strides().ok()));
});
