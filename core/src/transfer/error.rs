//! Why a tensor is not exported, or a blob or descriptor not imported.

use std::io;

use thiserror::Error;

use crate::{
    blob::BlobError,
    compression::CompressionScheme,
    desc::DescError,
    dtype::DType,
    format::PixelFormat,
    layout::{LayoutError, StridedError},
    memory::{self, AllocError, FenceError, MapError},
    memory_kind::TensorMemory,
    quantization::QuantizationError,
    shape::Shape,
    tensor::TensorError,
};

/// Why a description cannot be written, or contradicts itself.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TransferError {
    /// The blob is refused.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The layout is refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Several images in one tensor.
    #[error("a blob describes one image; of the batch of shape {shape:?}, export batch(n)")]
    Batch {
        /// The tensor's shape.
        shape: Shape,
    },
    /// A memory has no handle.
    #[error("the tensor lies in {memories} memories, {handles} handles were given")]
    Handles {
        /// Memories of the tensor.
        memories: usize,
        /// Handles given.
        handles: usize,
    },
    /// The blob describes no image.
    #[error("the blob names no pixel format, so it describes no image")]
    NoFormat,
    /// The planes are carried in the blob itself.
    #[error("the blob carries its planes inline; it references no memory")]
    Inline,
    /// The shape is not one of the format.
    #[error("shape {shape:?} is not that of a {format} image")]
    Shape {
        /// The format named.
        format: PixelFormat,
        /// The shape found.
        shape: Vec<u64>,
    },
    /// The dtype is not that of the format.
    #[error("the blob says {dtype} samples, {format} has {expected}")]
    DType {
        /// The format named.
        format: PixelFormat,
        /// The format's sample type.
        expected: DType,
        /// The type found.
        dtype: DType,
    },
    /// A descriptor has one handle.
    #[error("the tensor lies in {memories} memories; a descriptor has one handle, send a blob")]
    SeveralMemories {
        /// Memories of the tensor.
        memories: usize,
    },
    /// A kind of memory without an fd.
    #[error("memory of kind {kind} has no fd to hand over; export it inline")]
    NoHandle {
        /// The kind.
        kind: TensorMemory,
    },
    /// A descriptor has no plane table.
    #[error("the planes are not where a descriptor's reader looks for them; send a blob")]
    Placement,
    /// The strides contradict the plane records.
    #[error("the blob's strides do not agree with the stride of its first plane, {stride} bytes")]
    Strides {
        /// The first plane's stride.
        stride: usize,
    },
}

/// Why a tensor cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// It cannot be described.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Its bytes cannot be read.
    #[error("the bytes cannot be read to be carried inline: {0}")]
    Map(#[from] MapError),
}

/// Why there is no tensor in a blob or descriptor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It contradicts itself.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Its strides cannot be.
    #[error(transparent)]
    Strided(#[from] StridedError),
    /// Its quantization cannot be.
    #[error(transparent)]
    Quantization(#[from] QuantizationError),
    /// The memories do not make such a tensor.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A descriptor is no memory.
    #[error(transparent)]
    Memory(#[from] memory::ImportError),
    /// There is no memory for bytes that came inline.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// That memory cannot be written.
    #[error(transparent)]
    Map(#[from] MapError),
    /// What should be a fence is none.
    #[error(transparent)]
    Fence(#[from] FenceError),
    /// The C struct is refused.
    #[error(transparent)]
    Desc(#[from] DescError),
    /// A descriptor cannot be duplicated.
    #[error("F_DUPFD_CLOEXEC on the fence's fd: {0}")]
    Dup(io::Error),
    /// More axes than a tensor has.
    #[error("{rank} axes; a tensor has at most 8")]
    Rank {
        /// Axes found.
        rank: usize,
    },
    /// A tensor that is no image lies in one plane.
    #[error("{planes} planes; a tensor without a pixel format has one")]
    PlaneCount {
        /// Planes found.
        planes: usize,
    },
    /// A handle is beyond the descriptors that came along.
    #[error("handle {handle} names none of the {fds} fds that came with the blob")]
    Handle {
        /// The handle.
        handle: i64,
        /// Descriptors there are.
        fds: usize,
    },
    /// A descriptor is of another kind of memory than the blob says.
    #[error("the blob says its memory is {said}, the fd with handle {handle} is {found}")]
    Kind {
        /// The handle.
        handle: i64,
        /// The kind in the blob.
        said: TensorMemory,
        /// The kind of the descriptor.
        found: TensorMemory,
    },
    /// A plane has fewer bytes than its samples need.
    #[error("plane {plane} needs {need} bytes, {have} are in use")]
    ShortPlane {
        /// Which plane.
        plane: usize,
        /// Bytes its samples need.
        need: usize,
        /// Bytes the blob says are in use, or carries.
        have: u64,
    },
    /// A plane ends past the real end of its memory.
    #[error("plane {plane} ends at byte {end} of a memory that has {have} bytes")]
    PlaneEnd {
        /// Which plane.
        plane: usize,
        /// Where it says it ends.
        end: u64,
        /// Bytes of the memory.
        have: usize,
    },
    /// The bytes are tiles that the CPU cannot read.
    #[error("the bytes are compressed as {scheme}; only plain rows can be imported")]
    Compressed {
        /// The scheme.
        scheme: CompressionScheme,
    },
    /// The bytes are not there before a fence has signalled.
    #[error("the blob has a fence, handle {handle}; take it with import_with_fence and wait")]
    Fenced {
        /// The fence's handle.
        handle: i32,
    },
}

impl From<BlobError> for ImportError {
    fn from(error: BlobError) -> Self {
        Self::Transfer(error.into())
    }
}

impl From<LayoutError> for ImportError {
    fn from(error: LayoutError) -> Self {
        Self::Transfer(error.into())
    }
}
