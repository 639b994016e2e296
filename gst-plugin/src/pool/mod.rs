//! `TensorBufferPool`: video frames with the smallest aligned strides, in one dma-buf each.
//!
//! Every row stride is the smallest multiple of 64 bytes (or more, see [`alignment`]) that holds a
//! row; `GstVideoMeta` on each buffer says where the planes are. The memory comes from the
//! configuration's allocator if that makes dma-bufs, else from the dma-heaps, udmabuf or, where the
//! machine has neither, a memfd or plain memory; the last two are said once, with the reasons.
//!
//! Configuring returns false when the pool had to change what was asked: a larger size, the video
//! meta option, another allocator, no prefix. Whoever reads the configuration back and sets it again
//! agrees to that, as with every GStreamer pool.
//!
//! Activating a pool allocates one buffer, whatever the least number is: memory that cannot be had
//! is noticed then, and a source that activates its new pool before it drops the old one never
//! needs the memory of both.
//!
//! [`alignment`]: TensorBufferPoolBuilder::alignment

mod acquire;
mod builder;
mod error;
mod imp;
mod plan;

use std::sync::{PoisonError, atomic::Ordering};

use gst::{glib, subclass::prelude::*};

pub(crate) use acquire::{acquire, activate};
pub use builder::TensorBufferPoolBuilder;
pub use error::PoolError;

glib::wrapper! {
    /// A pool of video frames whose memory an accelerator can import.
    pub struct TensorBufferPool(ObjectSubclass<imp::TensorBufferPool>)
        @extends gst::BufferPool, gst::Object;
}

impl TensorBufferPool {
    /// A pool with the default settings of [`builder`](Self::builder), to be configured by its user.
    #[must_use]
    pub fn new() -> Self {
        glib::Object::new()
    }

    /// Whether nothing but the defaults was asked of the pool.
    pub(crate) fn is_plain(&self) -> bool {
        self.imp().is_plain()
    }

    /// Does not count a buffer that was taken to be looked at.
    pub(crate) fn untake(&self) {
        self.imp().taken.fetch_sub(1, Ordering::Relaxed);
    }

    /// Times that a buffer was taken, if they are not known to be one run of physical pages each.
    pub(crate) fn taken_scattered(&self) -> Option<usize> {
        let pool = self.imp();
        let taken = pool.taken.load(Ordering::Relaxed);
        pool.is_scattered.load(Ordering::Relaxed).then_some(taken)
    }

    /// Why the pool last had no buffer to give, of which GStreamer only says that it was so; told once.
    #[must_use]
    pub fn take_error(&self) -> Option<PoolError> {
        self.imp().last_error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks for a pool, step by step.
    ///
    /// ```
    /// use gst::prelude::*;
    /// use gst_video::{VideoFormat, VideoMeta};
    /// use gsttensor::pool::TensorBufferPool;
    /// use tensor_core::CpuAccess;
    ///
    /// gst::init()?;
    /// let pool = TensorBufferPool::builder()
    ///     .video(VideoFormat::Rgb, 642, 480)?
    ///     .buffers(2, 4)
    ///     .cpu_access(CpuAccess::ReadWrite)
    ///     .build()?;
    /// pool.set_active(true)?;
    /// let frame = pool.acquire_buffer(None)?;
    /// assert_eq!(frame.meta::<VideoMeta>().ok_or("no video meta")?.stride(), [1984]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> TensorBufferPoolBuilder {
        TensorBufferPoolBuilder::default()
    }
}

impl Default for TensorBufferPool {
    fn default() -> Self {
        Self::new()
    }
}
