use tensor_core::{blob::packet::MAX_PACKET_TENSORS, transfer::ExportError};
use thiserror::Error;

use crate::frame_tensor::FrameTensorError;

/// Why a buffer does not become a packet.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PayError {
    /// The buffer says of no tensor.
    #[error("the buffer of {bytes} bytes has no tensor meta; put tensorimport before tensorpay")]
    NoTensor {
        /// Bytes of the buffer.
        bytes: usize,
    },
    /// More tensors than a packet has.
    #[error("the buffer has {tensors} tensors, a packet at most {MAX_PACKET_TENSORS}")]
    TooMany {
        /// Tensors of the buffer.
        tensors: usize,
    },
    /// A meta that is not true of the buffer.
    #[error("tensor {index}: {error}")]
    Tensor {
        /// Which tensor of the buffer.
        index: u32,
        /// Why.
        error: FrameTensorError,
    },
    /// Bytes that cannot be carried.
    #[error("tensor {index}: {error}")]
    Export {
        /// Which tensor of the buffer.
        index: u32,
        /// Why.
        error: ExportError,
    },
}
