//! Every operation in any order, from several threads: nothing is lost, closed twice or left behind.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

mod gl;

use std::{env, fs, thread};

use gl::{GlSide, calls::GLES};

use tensor_core::{
    CpuAccess, ImageLayout, Memory, PixelFormat, Region, StrideAlign, TensorDyn,
    memory::{AllocPolicy, Step},
    transfer::{ReferencedImage, describe},
};

const THREADS: usize = 4;
/// In all; `RANDOM_OPERATIONS` sets another number, for slow machines and checkers.
const OPERATIONS: usize = 100_000;
const HELD: usize = 24;

/// A variable of the test's own environment.
fn setting(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the switches are for tests")]
    env::var(name).unwrap_or_default()
}

/// Where memories come from on this machine.
#[derive(Debug)]
struct Sources {
    steps: Vec<Step>,
    gl: Option<GlSide>,
}

impl Sources {
    /// All there are; `REQUIRE_BACKENDS` naming `dma_buf` or `gl` forbids to leave one out.
    fn of_this_machine() -> Self {
        let serves = |step: &Step| {
            let served = AllocPolicy::from_steps([*step]).allocate(4096, CpuAccess::ReadWrite);
            if let Err(error) = &served {
                assert!(!setting("REQUIRE_BACKENDS").contains("dma_buf"), "required: {error}");
                println!("skipped: {error}");
            }
            served.is_ok()
        };
        let steps = [Step::Heap, Step::Memfd, Step::DmaHeap, Step::Udmabuf];
        Self { steps: steps.into_iter().filter(serves).collect(), gl: GlSide::get(GLES) }
    }

    fn memory(&self, sequence: &mut Sequence, len: usize) -> Memory {
        let sources = self.steps.len() + usize::from(self.gl.is_some());
        match (self.steps.get(sequence.below(sources)), &self.gl) {
            (None, Some(gl)) => gl.memory(len, CpuAccess::ReadWrite).1,
            (step, _) => {
                let policy = AllocPolicy::from_steps(step.copied());
                policy.allocate(len, CpuAccess::ReadWrite).unwrap().memory
            }
        }
    }
}

/// A sequence that is the same every time (xorshift64).
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

fn census() -> (usize, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    (
        fs::read_dir("/proc/self/fd").unwrap().count(),
        maps.lines()
            .filter(|line| line.contains("memfd:tensor") || line.contains("dmabuf"))
            .count(),
    )
}

/// Buffer objects that were not deleted. GL gives the lowest names that are free, or nearly.
fn buffers(gl: &GlSide) -> usize {
    gl.run(|gl| (1..10_000).filter(|name| gl.is_buffer(*name)).count())
}

fn image(sequence: &mut Sequence, sources: &Sources) -> TensorDyn {
    let format = PixelFormat::ALL[sequence.below(PixelFormat::ALL.len())];
    let (width, height) = (2 + 2 * sequence.below(32), 2 + 2 * sequence.below(16));
    let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
    let memory = sources.memory(sequence, layout.allocation_len(0));
    TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap()
}

/// The same tensor by another way: its blob and its descriptors.
fn imported(tensor: &TensorDyn) -> Option<TensorDyn> {
    let blob = describe(tensor, &[0]).unwrap();
    let image = ReferencedImage::of(&tensor_core::BlobView::parse(&blob).unwrap()).unwrap();
    let memory = Memory::import(tensor.memories()[0].fd()?, CpuAccess::Read).unwrap();
    Some(TensorDyn::from_image(image.layout, [memory], CpuAccess::Read).unwrap())
}

fn operate(sequence: &mut Sequence, sources: &Sources, held: &mut Vec<TensorDyn>) {
    if held.is_empty() {
        held.push(image(sequence, sources));
    }
    let at = sequence.below(held.len());
    match sequence.below(8) {
        0 => held.push(image(sequence, sources)),
        1 => held.extend(imported(&held[at])),
        2 => held.push(held[at].clone()),
        3 => {
            let layout = held[at].image_layout().unwrap();
            let region = Region::new(0, 0, layout.width() / 2, layout.height() / 2);
            held.extend(held[at].view(region));
        }
        4 => {
            if let Ok(map) = held[at].map_read() {
                assert!(map.planes().all(|plane| plane.row(0).is_some()));
            }
        }
        5 => {
            let flat = vec![u8::try_from(at).unwrap(); held[at].flat_len()];
            // Refused where the memory is only for reading.
            let _refused = held[at].copy_from_flat(&flat);
        }
        6 => assert!(held[at].identity().weak().is_alive()),
        _ => drop(held.swap_remove(at)),
    }
    while held.len() > HELD {
        held.swap_remove(sequence.below(held.len()));
    }
}

#[test]
fn a_hundred_thousand_operations_leave_nothing_behind() {
    let operations = setting("RANDOM_OPERATIONS").parse().unwrap_or(OPERATIONS);
    let sources = Sources::of_this_machine();
    // One of everything first, so that what is made once is not counted.
    operate(&mut Sequence(1), &sources, &mut Vec::new());
    let before = census();
    thread::scope(|scope| {
        for seed in 1..=THREADS {
            let sources = &sources;
            scope.spawn(move || {
                let mut sequence = Sequence(u64::try_from(seed).unwrap() * 0x9E37_79B9);
                let mut held = Vec::new();
                for _ in 0..operations / THREADS {
                    operate(&mut sequence, sources, &mut held);
                }
            });
        }
    });
    assert_eq!(census(), before, "descriptors, and mappings of tensors");
    assert_eq!(sources.gl.as_ref().map_or(0, buffers), 0, "buffer objects");
    println!("{operations} operations on {:?} and GL: {}", sources.steps, sources.gl.is_some());
}
