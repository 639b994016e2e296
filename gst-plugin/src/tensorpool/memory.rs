//! The values of the `memory` property.

#![expect(clippy::as_conversions, reason = "in what the derive makes")]

use gst::glib;

use crate::property::leaked as format;

/// The memory that frames leave in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[enum_type(name = "GstTensorPoolMemory", allow_name_conflict)]
#[non_exhaustive]
pub enum Memory {
    /// The best that the machine has.
    #[default]
    #[enum_value(name = "Dma-bufs if the machine has them, else shared memory", nick = "auto")]
    Auto,
    /// Dma-bufs.
    #[enum_value(name = "Dma-bufs, or an error", nick = "dmabuf")]
    DmaBuf,
    /// Memory with a file descriptor that is no dma-buf.
    #[enum_value(name = "Shared memory (memfd)", nick = "shm")]
    Shm,
}

impl Memory {
    /// The value as it is written in a pipeline.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::DmaBuf => "dmabuf",
            Self::Shm => "shm",
        }
    }
}
