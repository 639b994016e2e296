//! Why the allocator gives no memory.

use std::io;

use gst::glib;
use tensor_core::memory::AllocError;
use thiserror::Error;

/// An allocation that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AllocatorError {
    /// Bytes were asked for in front of the memory.
    #[error(
        "a prefix of {prefix} bytes was asked for; dma-buf memory must start at offset 0 to be imported"
    )]
    Prefix {
        /// Bytes asked for.
        prefix: usize,
    },
    /// More alignment than a mapping has.
    #[error("an alignment to {align} + 1 bytes was asked for; mappings are only aligned to {have}")]
    Align {
        /// The mask asked for.
        align: usize,
        /// What every mapping is aligned to, in bytes.
        have: usize,
    },
    /// Sizes past what an address can hold.
    #[error("{size} bytes and {padding} bytes of padding do not fit the address space")]
    Overflow {
        /// Bytes asked for.
        size: usize,
        /// Bytes asked for after them.
        padding: usize,
    },
    /// No device gave memory.
    #[error(transparent)]
    Allocation(#[from] AllocError),
    /// The memory has no descriptor to give to GStreamer.
    #[error("memory without a file descriptor cannot be given to GStreamer")]
    NoFd,
    /// The descriptor could not be duplicated.
    #[error("duplicating the memory's fd: {0}")]
    Fd(io::Error),
    /// GStreamer refused the descriptor.
    #[error(transparent)]
    Gst(#[from] glib::BoolError),
}
