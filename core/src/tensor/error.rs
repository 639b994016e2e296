//! Why a tensor cannot be made.

use thiserror::Error;

use crate::{layout::LayoutError, memory_kind::TensorMemory};

/// A tensor that would not be true.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// The layout is refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
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
}
