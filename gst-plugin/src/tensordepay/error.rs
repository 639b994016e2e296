use tensor_core::{blob::packet::PacketError, transfer::ImportError};
use thiserror::Error;

use crate::meta::TensorMetaError;

/// Why a stream gives no tensors.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DepayError {
    /// It is not made of packets, or of larger ones than allowed, or ends within one.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A blob that describes no tensor.
    #[error("tensor {tensor} of the packet: {error}")]
    Tensor {
        /// Which blob of the packet.
        tensor: usize,
        /// Why.
        error: ImportError,
    },
    /// Two blobs of one packet are the same tensor.
    #[error("tensor index {index} comes twice in one packet")]
    Twice {
        /// The index.
        index: u32,
    },
    /// No memory for the tensor.
    #[error("no memory of {bytes} bytes for the tensor")]
    NoMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The tensor cannot be said of the buffer.
    #[error(transparent)]
    Meta(#[from] TensorMetaError),
}
