//! `tensorpool`: puts a [`TensorBufferPool`](crate::pool::TensorBufferPool) into any pipeline.
//!
//! Frames leave in memory that an accelerator imports: one memory with a file descriptor, a dma-buf
//! where the machine has them, rows and planes aligned. Upstream is offered the pool; a frame that
//! it writes there, or into memory of its own that is as good, passes untouched. Any other is copied
//! once, row by row, and the element says which of them it is doing, and why.
//!
//! A pool of dma-bufs that downstream offers is preferred to ours if a frame of it is as the properties
//! ask; never for `contiguous`, which only its first frames may be, nor for `memory=shm`. Of any other
//! pool, the numbers of buffers count. Rows are said in `GstVideoMeta`, as everywhere.
//!
//! Caps: those of `tensorimport`. Frames that come in plain memory can leave as `memory:DMABuf`.
//!
//! `gst-launch-1.0 videotestsrc num-buffers=3 ! tensorpool ! tensorimport ! fakesink`

mod caps;
mod fit;
mod imp;
mod memory;
mod settings;
mod stage;
mod stats;

use std::sync::LazyLock;

use gst::{glib, prelude::*};

pub use memory::Memory;

glib::wrapper! {
    /// The element; see the [module](self).
    pub struct TensorPool(ObjectSubclass<imp::TensorPool>)
        @extends gst_base::BaseTransform, gst::Element, gst::Object;
}

pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    LazyLock::force(&imp::CAT);
    gst::Element::register(Some(plugin), "tensorpool", gst::Rank::NONE, TensorPool::static_type())
}
