//! What is asked, and of whom.

use std::hint::black_box;

use edgefirst_tensor as theirs;
use tensor_core as ours;

/// A question both sides answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The plane table of NV12 at 1920x1080.
    PlaneTable,
    /// The byte strides of a padded batch, rank 4.
    Strides,
    /// A region of a view of an RGBA image.
    RegionOfView,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

impl Question {
    pub const ALL: [Self; 3] = [Self::PlaneTable, Self::Strides, Self::RegionOfView];

    pub fn name(self) -> &'static str {
        match self {
            Self::PlaneTable => "plane-table",
            Self::Strides => "strides",
            Self::RegionOfView => "region-of-view",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::PlaneTable => "plane table of NV12 1920x1080",
            Self::Strides => "c_byte_strides of [4,1080,1920,3]",
            Self::RegionOfView => "region of a view of RGBA 640x480",
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
        Self {
            shape: ours::Shape::new(&[4, 1080, 1920, 3]).expect("rank 4"),
            view: view.expect("inside the image"),
            their_view: their_view.expect("inside the image"),
        }
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
        }
    }
}

fn repeat<T>(times: usize, question: impl Fn() -> T) {
    for _ in 0..times {
        black_box(question());
    }
}
