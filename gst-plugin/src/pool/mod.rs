//! `TensorBufferPool`: video frames with the smallest aligned strides, in one dma-buf each.
//!
//! Every row stride is the smallest multiple of 64 bytes (or more, see [`with_align`]) that holds a
//! row; `GstVideoMeta` on each buffer says where the planes are. The memory comes from the
//! configuration's allocator if that makes dma-bufs, else from the dma-heaps, udmabuf or, where the
//! machine has neither, shared memory; the last is said once, with the reasons.
//!
//! Configuring returns false when the pool had to change what was asked: a larger size, the video
//! meta option, another allocator, no prefix. Whoever reads the configuration back and sets it again
//! agrees to that, as with every GStreamer pool.
//!
//! [`with_align`]: TensorBufferPool::with_align

mod error;
mod imp;
mod plan;

use gst::{glib, subclass::prelude::*};
use tensor_core::{StrideAlign, memory::AllocPolicy};

glib::wrapper! {
    /// A pool of video frames whose memory an accelerator can import.
    pub struct TensorBufferPool(ObjectSubclass<imp::TensorBufferPool>)
        @extends gst::BufferPool, gst::Object;
}

impl TensorBufferPool {
    /// A pool with strides aligned to 64 bytes.
    #[must_use]
    pub fn new() -> Self {
        Self::with_align(StrideAlign::DMA)
    }

    /// A pool with strides aligned to `align`, or to 64 bytes if that is more.
    #[must_use]
    pub fn with_align(align: StrideAlign) -> Self {
        Self::with_policy(align, AllocPolicy::with_fd())
    }

    /// A pool that allocates by `policy`, whose memory must have a file descriptor.
    #[must_use]
    pub fn with_policy(align: StrideAlign, policy: AllocPolicy) -> Self {
        let pool: Self = glib::Object::new();
        pool.imp().settle(align, policy);
        pool
    }
}

impl Default for TensorBufferPool {
    fn default() -> Self {
        Self::new()
    }
}
