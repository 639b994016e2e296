//! What is asked, and of whom.

use std::hint::black_box;

use edgefirst_tensor::{self as theirs, TensorMapTrait, TensorTrait};
use tensor_core::{self as ours, memory::AllocPolicy};

use crate::exchange::Exchange;

/// A question both sides answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The plane table of NV12 at 1920x1080.
    PlaneTable,
    /// The byte strides of a padded batch, rank 4.
    Strides,
    /// A region of a view of an RGBA image.
    RegionOfView,
    /// A view of a tensor in heap memory.
    View,
    /// One of a batch of raw tensors.
    Batch,
    /// Map and unmap heap memory, reading a byte.
    MapHeap,
    /// Map and unmap shared memory, reading a byte.
    MapShm,
    /// Allocate and drop 4 KiB of heap memory.
    Allocate,
    /// Copy a 256x256 RGBA view out of a wider image.
    CopyToFlat,
    /// Parse a blob of one memory and read every field.
    ParseBlob,
    /// A tensor out of a blob and a descriptor of shared memory; S-BLOB-15 wants it under 10 µs.
    ImportBlob,
    /// A blob of a dma-buf by reference, ours into bytes that are used again.
    ExportBlob,
    /// Map and unmap a dma-buf of NV12 1920x1080, reading a byte.
    MapDmaBuf,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

impl Question {
    pub const ALL: [Self; 13] = [
        Self::PlaneTable,
        Self::Strides,
        Self::RegionOfView,
        Self::View,
        Self::Batch,
        Self::MapHeap,
        Self::MapShm,
        Self::Allocate,
        Self::CopyToFlat,
        Self::ParseBlob,
        Self::ImportBlob,
        Self::ExportBlob,
        Self::MapDmaBuf,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::PlaneTable => "plane-table",
            Self::Strides => "strides",
            Self::RegionOfView => "region-of-view",
            Self::View => "view",
            Self::Batch => "batch",
            Self::MapHeap => "map-heap",
            Self::MapShm => "map-shm",
            Self::Allocate => "allocate",
            Self::CopyToFlat => "copy-to-flat",
            Self::ParseBlob => "parse-blob",
            Self::ImportBlob => "import-blob",
            Self::ExportBlob => "export-blob",
            Self::MapDmaBuf => "map-dma-buf",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::PlaneTable => "plane table of NV12 1920x1080",
            Self::Strides => "c_byte_strides of [4,1080,1920,3]",
            Self::RegionOfView => "region of a view of RGBA 640x480",
            Self::View => "view of a tensor",
            Self::Batch => "batch(n) of a tensor",
            Self::MapHeap => "map and unmap, heap",
            Self::MapShm => "map and unmap, shm",
            Self::Allocate => "allocate and drop 4 KiB, heap",
            Self::CopyToFlat => "copy a 256x256 RGBA view out",
            Self::ParseBlob => "parse a blob, read every field",
            Self::ImportBlob => "import a blob by reference, shm",
            Self::ExportBlob => "export by reference, dma-buf",
            Self::MapDmaBuf => "map and unmap, dma-buf 1080p",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.name() == name)
    }
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Ours, Self::Theirs];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.name() == name)
    }
}

/// What has to exist before a question can be asked.
pub struct World {
    shape: ours::Shape,
    view: ours::ImageLayout,
    their_view: theirs::Tensor<u8>,
    tensors: [ours::TensorDyn; 2],
    their_tensors: [theirs::Tensor<u8>; 2],
    batch: ours::TensorDyn,
    their_batch: theirs::Tensor<u8>,
    exchange: Exchange,
}

fn tensor(kind: ours::TensorMemory) -> ours::TensorDyn {
    let desc = ours::ImageDesc::new(ours::PixelFormat::Rgba, 640, 480).with_memory(kind);
    ours::TensorDyn::image_desc(&desc).expect("memory")
}

fn their_tensor(kind: theirs::TensorMemory) -> theirs::Tensor<u8> {
    let (format, access) = (theirs::PixelFormat::Rgba, theirs::CpuAccess::ReadWrite);
    theirs::Tensor::<u8>::image(640, 480, format, Some(kind), access).expect("memory")
}

impl World {
    pub fn new() -> Self {
        let image =
            ours::ImageLayout::packed(ours::PixelFormat::Rgba, 640, 480, ours::StrideAlign::NONE);
        let view = image.and_then(|image| image.view(ours::Region::new(64, 32, 320, 240)));
        let their_image = theirs::Tensor::<u8>::image(
            640,
            480,
            theirs::PixelFormat::Rgba,
            Some(theirs::TensorMemory::Mem),
            theirs::CpuAccess::ReadWrite,
        );
        let their_view =
            their_image.and_then(|image| image.view(theirs::Region::new(64, 32, 320, 240)));
        let heap = AllocPolicy::only(ours::TensorMemory::Mem).expect("heap");
        let dims = ours::Shape::new(&[8, 64, 64]).expect("rank 3");
        let access = ours::CpuAccess::ReadWrite;
        let batch = ours::TensorDyn::new(&dims, ours::DType::U8, &heap, access);
        let their_batch =
            theirs::Tensor::<u8>::new(&[8, 64, 64], Some(theirs::TensorMemory::Mem), None);
        Self {
            tensors: [ours::TensorMemory::Mem, ours::TensorMemory::Shm].map(tensor),
            their_tensors: [theirs::TensorMemory::Mem, theirs::TensorMemory::Shm].map(their_tensor),
            exchange: Exchange::new(),
            batch: batch.expect("memory"),
            their_batch: their_batch.expect("memory"),
            shape: ours::Shape::new(&[4, 1080, 1920, 3]).expect("rank 4"),
            view: view.expect("inside the image"),
            their_view: their_view.expect("inside the image"),
        }
    }

    /// Whether this machine has what the question is about.
    pub fn has(&self, question: Question) -> bool {
        let needs_dma_buf = matches!(question, Question::ExportBlob | Question::MapDmaBuf);
        !needs_dma_buf || self.exchange.has_dma_buf()
    }

    /// Asks `side` a number of times; every answer is made and dropped.
    pub fn ask(&self, question: Question, side: Side, times: usize) {
        match (question, side) {
            (Question::PlaneTable, Side::Ours) => repeat(times, || {
                black_box(ours::PixelFormat::Nv12).plane_table(
                    black_box(1920),
                    black_box(1080),
                    black_box(1920),
                )
            }),
            (Question::PlaneTable, Side::Theirs) => repeat(times, || {
                black_box(theirs::PixelFormat::Nv12).plane_table(
                    black_box(1920),
                    black_box(1080),
                    black_box(1920),
                )
            }),
            (Question::Strides, Side::Ours) => repeat(times, || {
                ours::layout::c_byte_strides(
                    black_box(&self.shape),
                    black_box(1),
                    black_box(1),
                    black_box(Some(5760)),
                )
            }),
            (Question::Strides, Side::Theirs) => repeat(times, || {
                theirs::protocol::c_byte_strides(
                    black_box(&[4, 1080, 1920, 3]),
                    black_box(1),
                    black_box(Some(theirs::PixelLayout::Packed)),
                    black_box(Some(5760)),
                )
            }),
            (Question::RegionOfView, Side::Ours) => repeat(times, || {
                black_box(&self.view).view(black_box(ours::Region::new(16, 8, 32, 16)))
            }),
            (Question::RegionOfView, Side::Theirs) => repeat(times, || {
                black_box(&self.their_view).view(black_box(theirs::Region::new(16, 8, 32, 16)))
            }),
            (
                Question::ParseBlob
                | Question::ImportBlob
                | Question::ExportBlob
                | Question::MapDmaBuf,
                side,
            ) => self.exchange.ask(question, side, times),
            (_, Side::Ours) => self.ask_ours(question, times),
            (_, Side::Theirs) => self.ask_theirs(question, times),
        }
    }
}

impl World {
    /// Questions about memory.
    fn ask_ours(&self, question: Question, times: usize) {
        let [heap, shm] = &self.tensors;
        let byte = |tensor: &ours::TensorDyn| {
            tensor.map_read().expect("maps").memory(0).and_then(|bytes| bytes.first().copied())
        };
        match question {
            Question::View => {
                repeat(times, || black_box(heap).view(black_box(ours::Region::new(16, 8, 32, 16))))
            }
            Question::Batch => repeat(times, || black_box(&self.batch).batch(black_box(3))),
            Question::MapHeap => repeat(times, || byte(black_box(heap))),
            Question::MapShm => repeat(times, || byte(black_box(shm))),
            Question::Allocate => repeat(times, || ours::Memory::heap(black_box(4096))),
            Question::CopyToFlat => {
                let view = heap.view(ours::Region::new(64, 32, 256, 256)).expect("inside");
                let mut flat = vec![0; view.flat_len()];
                for _ in 0..times.div_ceil(100) {
                    view.copy_to_flat(black_box(&mut flat)).expect("copies");
                }
            }
            _ => {}
        }
    }

    fn ask_theirs(&self, question: Question, times: usize) {
        let [heap, shm] = &self.their_tensors;
        let byte = |tensor: &theirs::Tensor<u8>| {
            tensor.map_read().expect("maps").as_slice().first().copied()
        };
        match question {
            Question::View => repeat(times, || {
                black_box(heap).view(black_box(theirs::Region::new(16, 8, 32, 16)))
            }),
            Question::Batch => repeat(times, || black_box(&self.their_batch).batch(black_box(3))),
            Question::MapHeap => repeat(times, || byte(black_box(heap))),
            Question::MapShm => repeat(times, || byte(black_box(shm))),
            Question::Allocate => repeat(times, || {
                theirs::Tensor::<u8>::new(black_box(&[4096]), Some(theirs::TensorMemory::Mem), None)
            }),
            Question::CopyToFlat => {
                let view = heap.view(theirs::Region::new(64, 32, 256, 256)).expect("inside");
                let mut flat = vec![0; 256 * 256 * 4];
                for _ in 0..times.div_ceil(100) {
                    view.copy_to_flat(black_box(&mut flat)).expect("copies");
                }
            }
            _ => {}
        }
    }
}

pub fn repeat<T>(times: usize, question: impl Fn() -> T) {
    for _ in 0..times {
        black_box(question());
    }
}
