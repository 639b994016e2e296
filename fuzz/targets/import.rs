//! Any bytes as a blob that came with two memfds and a pipe: an error, or a tensor that can be read.

#![no_main]

use std::{
    hint::black_box,
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::OnceLock,
};

use libfuzzer_sys::fuzz_target;
use tensor_core::{Memory, transfer::import_with_fence};
use tensor_fuzz::{Watched, no_descriptor_is_left, within};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

struct Table {
    memories: [Memory; 2],
    pipe: io::PipeReader,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table {
        memories: [4096, 16384].map(|len| Memory::shm(len).expect("a memfd")),
        pipe: io::pipe().expect("a pipe").0,
    })
}

fuzz_target!(|data: &[u8]| {
    let table = table();
    no_descriptor_is_left();
    let [first, second] = &table.memories;
    let fds: [BorrowedFd<'_>; 3] =
        [first.fd().expect("an fd"), second.fd().expect("an fd"), table.pipe.as_fd()];
    let mut tensor = None;
    within(data.len(), || tensor = import_with_fence(data, &fds).ok());
    let Some((tensor, _)) = tensor else { return };
    for memory in tensor.memories() {
        assert!(memory.len() <= 16384.max(data.len()));
    }
    // A tensor may repeat its bytes, so that a flat copy is far larger than it.
    if let Ok(map) = tensor.map_read() {
        for plane in map.planes() {
            black_box(plane.rows().filter(|row| row.first() == Some(&7)).count());
        }
        black_box(map.memory(0).map(|bytes| bytes.iter().map(|b| u64::from(*b)).sum::<u64>()));
    }
    black_box((tensor.shape(), tensor.strides().ok(), tensor.quantization()));
});
