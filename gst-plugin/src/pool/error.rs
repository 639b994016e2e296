//! Why the pool refuses a configuration or gives no buffer.

use gst::glib;
use tensor_core::import_cache::FrameError;
use thiserror::Error;

use crate::{allocator::AllocatorError, video_layout::VideoLayoutError};

/// Why a pool cannot be as it was asked to be, or has no buffer to give.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A configuration that does not say what the frames are.
    #[error("the configuration has no caps, size and number of buffers")]
    Incomplete,
    /// A frame past what a pool's configuration can say.
    #[error("frames of {bytes} bytes are more than a GStreamer pool can hold")]
    TooLarge {
        /// Bytes of a frame.
        bytes: usize,
    },
    /// A buffer was asked for before a configuration was accepted.
    #[error("the pool has no accepted configuration")]
    NotConfigured,
    /// Caps that no frame can be laid out for.
    #[error(transparent)]
    Layout(#[from] VideoLayoutError),
    /// No memory.
    #[error(transparent)]
    Memory(#[from] AllocatorError),
    /// New memory that no tensor can describe.
    #[error("memory that was just allocated cannot be imported: {0}")]
    Import(#[from] FrameError),
    /// Another's allocator, whose memory cannot be passed on.
    #[error("the allocator {name} gives memory without a file descriptor")]
    NoFd {
        /// The allocator's name.
        name: String,
    },
    /// GStreamer's word for why there is no buffer, where the pool is not ours or is stopped.
    #[error("the pool gives no buffer: {0}")]
    Flow(#[from] gst::FlowError),
    /// GStreamer refused a step.
    #[error(transparent)]
    Gst(#[from] glib::BoolError),
}
