//! Why a tensor cannot be made.

use std::io;

use thiserror::Error;

use crate::{
    access::CpuAccess,
    compression::CompressionScheme,
    dtype::DType,
    format::PixelFormat,
    layout::{LayoutError, StridedError},
    memory::{AllocError, ImportError},
    memory_kind::TensorMemory,
    quantization::QuantizationError,
    shape::Shape,
};

/// A tensor that would not be true, or cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The layout is refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The strided layout is refused.
    #[error(transparent)]
    Strided(#[from] StridedError),
    /// The quantization does not fit the tensor.
    #[error(transparent)]
    Quantization(#[from] QuantizationError),
    /// No memory could be had.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// A descriptor is refused.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A descriptor cannot be duplicated.
    #[error("F_DUPFD_CLOEXEC on the fd: {0}")]
    Dup(io::Error),
    /// Too many or too few memories for the layout.
    #[error("the layout lies in {expected} memories, {given} were given")]
    MemoryCount {
        /// Memories the layout names.
        expected: usize,
        /// Memories given.
        given: usize,
    },
    /// Memories of different kinds.
    #[error("the memories are of different kinds, {first} and {other}; a tensor has one")]
    MixedKinds {
        /// The first memory's kind.
        first: TensorMemory,
        /// A kind that differs.
        other: TensorMemory,
    },
    /// A plane that ends past its memory.
    #[error("plane {plane} ends at byte {need} of memory {memory}, which has {have} bytes")]
    TooSmall {
        /// Which plane.
        plane: usize,
        /// Which memory.
        memory: usize,
        /// Bytes the memory would need.
        need: usize,
        /// Bytes it really has.
        have: usize,
    },
    /// An element that ends past the memory.
    #[error("the elements end at byte {need} of their memory, which has {have} bytes")]
    Short {
        /// Bytes the memory would need.
        need: usize,
        /// Bytes it really has.
        have: usize,
    },
    /// A layout of elements that are not as wide as the dtype.
    #[error("the layout has elements of {element_bytes} bytes, {dtype} has {}", .dtype.size_bytes())]
    ElementBytes {
        /// The dtype asked for.
        dtype: DType,
        /// Bytes of the layout's elements.
        element_bytes: usize,
    },
    /// Nothing in this build can allocate memory of the kind.
    #[error("memory of kind {kind} cannot be allocated by this build; {instead}")]
    Unsupported {
        /// The kind asked for.
        kind: TensorMemory,
        /// What to call instead.
        instead: &'static str,
    },
    /// The tensor is no image, or no batch.
    #[error("a tensor of shape {shape:?} is {what}")]
    NotA {
        /// Its shape.
        shape: Shape,
        /// What it is not: `no image`, `no batch`.
        what: &'static str,
    },
    /// A shape with another number of elements.
    #[error("a tensor of {elements} elements cannot take the shape {shape:?}")]
    Reshape {
        /// Elements of the tensor.
        elements: usize,
        /// The shape asked for.
        shape: Shape,
    },
    /// Rows with gaps, where none can be.
    #[error("a tensor with padded rows cannot take another shape; copy it first")]
    NotDense,
    /// A shape that an image of the format does not have.
    #[error("shape {shape:?} is not that of a {format} image")]
    FormatShape {
        /// The format asked for.
        format: PixelFormat,
        /// The tensor's shape.
        shape: Shape,
    },
    /// Tile compression and CPU access together.
    #[error("a compressed image has no rows the CPU could {access}; declare access none")]
    CompressionAccess {
        /// The access declared.
        access: CpuAccess,
    },
    /// A compression scheme this platform does not have.
    #[error("{scheme:?} compression is not available on this platform")]
    Compression {
        /// The scheme asked for.
        scheme: CompressionScheme,
    },
}
