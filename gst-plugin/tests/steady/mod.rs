//! Frames through one element and nothing else, so that what an element costs can be counted.

#![allow(dead_code, reason = "each that includes it uses its part")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

use std::os::fd::{AsFd, AsRawFd};

use gst::prelude::*;
use gst_allocators::prelude::*;
use gst_video::VideoFormat;
use gsttensor::pool::TensorBufferPool;
use tensor_core::{
    ImageLayout, Memory, PixelFormat, StrideAlign, TensorMemory, memory::AllocPolicy,
};

const CAPS: &str = "video/x-raw,format=NV12,width=64,height=36,framerate=30/1";

/// Buffers that are out in turn.
const DEPTH: usize = 4;

/// Where frames come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// `TensorBufferPool`: the same buffers over and over.
    Pooled,
    /// Another's memories, which come again in new buffers.
    Recycled,
    /// Another's files, in a new `GstMemory` for every frame.
    Fresh,
}

impl Source {
    pub(crate) const ALL: [Self; 3] = [Self::Pooled, Self::Recycled, Self::Fresh];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pooled => "pooled",
            Self::Recycled => "recycled",
            Self::Fresh => "fresh",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

/// An element between two pads.
#[derive(Debug)]
pub(crate) struct Line {
    element: gst::Element,
    source: gst::Pad,
    _sink: gst::Pad,
    files: Vec<Memory>,
    memories: Vec<gst::Memory>,
    pool: TensorBufferPool,
    allocator: gst_allocators::FdAllocator,
}

impl Line {
    /// GStreamer is initialised and knows the element.
    pub(crate) fn new(element: &str) -> Self {
        let element = gst::ElementFactory::make(element).build().unwrap();
        let source = gst::Pad::builder(gst::PadDirection::Src).build();
        let sink = gst::Pad::builder(gst::PadDirection::Sink)
            .chain_function(|_, _, _frame| Ok(gst::FlowSuccess::Ok))
            .build();
        source.link(&element.static_pad("sink").unwrap()).unwrap();
        element.static_pad("src").unwrap().link(&sink).unwrap();
        for pad in [&source, &sink] {
            pad.set_active(true).unwrap();
        }
        element.set_state(gst::State::Playing).unwrap();
        source.push_event(gst::event::StreamStart::new("steady"));
        source.push_event(gst::event::Caps::new(&CAPS.parse::<gst::Caps>().unwrap()));
        let segment = gst::FormattedSegment::<gst::ClockTime>::new();
        source.push_event(gst::event::Segment::new(&segment));

        let layout = ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA).unwrap();
        let file = |_| Memory::shm(layout.allocation_len(0)).unwrap();
        let pool = TensorBufferPool::builder()
            .policy(AllocPolicy::only(TensorMemory::Shm).unwrap())
            .video(VideoFormat::Nv12, 64, 36)
            .unwrap();
        let pool = pool.build().unwrap();
        pool.set_active(true).unwrap();
        let mut line = Self {
            element,
            source,
            _sink: sink,
            files: (0..DEPTH).map(file).collect(),
            memories: Vec::new(),
            pool,
            allocator: gst_allocators::FdAllocator::new(),
        };
        line.memories = (0..DEPTH).map(|index| line.fresh(index)).collect();
        line
    }

    /// A new `GstMemory` over a file that stays ours.
    fn fresh(&self, index: usize) -> gst::Memory {
        let file = &self.files[index % DEPTH];
        let fd = file.fd().unwrap().as_fd().as_raw_fd();
        let flags = gst_allocators::FdMemoryFlags::DONT_CLOSE;
        // SAFETY: the fd is open, and left open, as long as this line; so are its frames.
        unsafe { self.allocator.alloc_fd(fd, file.len(), flags) }.unwrap()
    }

    fn frame(&self, source: Source, number: usize) -> gst::Buffer {
        let memory = match source {
            Source::Pooled => return self.pool.acquire_buffer(None).unwrap(),
            Source::Recycled => self.memories[number % DEPTH].clone(),
            Source::Fresh => self.fresh(number),
        };
        let mut buffer = gst::Buffer::new();
        buffer.get_mut().unwrap().append_memory(memory);
        buffer
    }

    /// Pushes frames, one after the other.
    pub(crate) fn push(&self, source: Source, frames: usize) {
        for number in 0..frames {
            self.source.push(self.frame(source, number)).unwrap();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.element.set_state(gst::State::Null).unwrap();
        self.pool.set_active(false).unwrap();
    }
}
