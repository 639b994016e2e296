//! Why the pool refuses a configuration or gives no buffer.

use gst::glib;
use tensor_core::import_cache::FrameError;
use thiserror::Error;

use crate::{allocator::AllocatorError, video_layout::VideoLayoutError};

#[derive(Debug, Error)]
pub(super) enum PoolError {
    #[error("the configuration has no caps, size and number of buffers")]
    Incomplete,
    #[error("frames of {bytes} bytes are more than a GStreamer pool can hold")]
    TooLarge { bytes: usize },
    #[error("the pool has no accepted configuration")]
    NotConfigured,
    #[error(transparent)]
    Layout(#[from] VideoLayoutError),
    #[error(transparent)]
    Memory(#[from] AllocatorError),
    #[error("memory that was just allocated cannot be imported: {0}")]
    Import(#[from] FrameError),
    #[error("the allocator {name} gives memory without a file descriptor")]
    NoFd { name: String },
    #[error(transparent)]
    Gst(#[from] glib::BoolError),
}
