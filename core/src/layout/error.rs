//! Why a layout is refused.

use thiserror::Error;

use crate::format::PixelFormat;

/// A layout that cannot be, with the numbers that show it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// An alignment that is no power of two.
    #[error("an alignment of {bytes} bytes is not a power of two")]
    Alignment {
        /// What was asked for.
        bytes: usize,
    },
    /// A size without pixels.
    #[error("an image of {width}x{height} pixels has no samples")]
    Empty {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// Too many or too few planes for the format.
    #[error("{format} has {expected} planes, {given} were given")]
    PlaneCount {
        /// The format.
        format: PixelFormat,
        /// Planes it has.
        expected: usize,
        /// Planes given.
        given: usize,
    },
    /// Rows that would overlap.
    #[error(
        "plane {plane} of {format}: a stride of {stride} bytes is below the {row_bytes} bytes of one row"
    )]
    Stride {
        /// The format.
        format: PixelFormat,
        /// Which plane.
        plane: usize,
        /// Stride given, in bytes.
        stride: usize,
        /// Bytes of samples in a row.
        row_bytes: usize,
    },
    /// Two planes that share bytes.
    #[error("planes {first} and {second} of {format} overlap in memory {memory}")]
    Overlap {
        /// The format.
        format: PixelFormat,
        /// The plane that begins first.
        first: usize,
        /// The plane that begins inside it.
        second: usize,
        /// The memory both are in.
        memory: usize,
    },
    /// A memory index that leaves a gap.
    #[error(
        "plane {plane} is in memory {memory}; memories are numbered from 0 without a gap, as planes first name them"
    )]
    MemoryIndex {
        /// Which plane.
        plane: usize,
        /// The index given.
        memory: usize,
    },
    /// Numbers past what an address can hold.
    #[error(
        "{format} at {width}x{height}: the bytes of plane {plane} do not fit the address space"
    )]
    Overflow {
        /// The format.
        format: PixelFormat,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// Which plane.
        plane: usize,
    },
    /// Strides of a shape that cannot be computed.
    #[error(
        "the byte strides of shape {shape:?} with {element_bytes}-byte elements do not fit the address space"
    )]
    StrideOverflow {
        /// The shape.
        shape: Vec<usize>,
        /// Bytes of one element.
        element_bytes: usize,
    },
}
