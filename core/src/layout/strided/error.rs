//! Why a strided layout is refused.

use thiserror::Error;

use crate::{layout::LayoutError, shape::Shape};

/// A strided layout, or a part of one, that cannot be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StridedError {
    /// Elements without bytes.
    #[error("an element has at least one byte")]
    Element,
    /// A step for each axis was not given.
    #[error("a tensor of rank {rank} has as many strides, {strides} were given")]
    Rank {
        /// Axes of the shape.
        rank: usize,
        /// Strides given.
        strides: usize,
    },
    /// Dense strides that do not fit the address space.
    #[error(transparent)]
    Dense(#[from] LayoutError),
    /// Elements past what an address can hold.
    #[error(
        "{shape:?} elements of {element_bytes} bytes from byte {offset} on do not fit the address space"
    )]
    Overflow {
        /// The shape.
        shape: Shape,
        /// Bytes of one element.
        element_bytes: usize,
        /// Bytes from the start of the memory to the first element.
        offset: usize,
    },
    /// Steps that walk backwards past the start of the memory.
    #[error(
        "elements reach {below} bytes below the first, which is at byte {offset} of the memory"
    )]
    BelowStart {
        /// Bytes from the start of the memory to the first element.
        offset: usize,
        /// Bytes from the lowest element to the first.
        below: usize,
    },
    /// An axis the layout does not have.
    #[error("there is no axis {axis} in a tensor of rank {rank}")]
    Axis {
        /// The axis asked for.
        axis: usize,
        /// Axes there are.
        rank: usize,
    },
    /// A range of an axis that is empty or reaches past its end; ranges are never clamped.
    #[error("the range {start}..{end} of axis {axis} is empty or not inside 0..{dim}")]
    Range {
        /// The axis.
        axis: usize,
        /// First index of the range.
        start: usize,
        /// One past the last index of the range.
        end: usize,
        /// Elements along the axis.
        dim: usize,
    },
}
