//! Why a layout is refused.

use thiserror::Error;

use crate::{dtype::DType, format::PixelFormat, shape::Region};

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
    /// A height alignment that is no power of two.
    #[error("an alignment of {rows} rows is not a power of two")]
    RowAlignment {
        /// What was asked for.
        rows: usize,
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
    /// A region that is empty or reaches past the image; regions are never clamped.
    #[error("the region of {region} is empty or not inside {bounds}")]
    RegionOutOfBounds {
        /// The region asked for.
        region: Region,
        /// What it had to lie in.
        bounds: Region,
    },
    /// A region that would cut a block or a chroma sample in two.
    #[error(
        "the region of {region}: {format} can only be cut at multiples of {columns} columns and {rows} rows, or at the image's right and bottom edge"
    )]
    RegionAlignment {
        /// The format.
        format: PixelFormat,
        /// The region asked for.
        region: Region,
        /// What `x`, and `x + width` inside the image, must be a multiple of, in pixels.
        columns: usize,
        /// What `y`, and `y + height` inside the image, must be a multiple of, in pixels.
        rows: usize,
    },
    /// An image that a batch does not have.
    #[error("there is no image {index} in a batch of {batch}")]
    BatchIndexOutOfBounds {
        /// The index asked for.
        index: usize,
        /// Images in the batch.
        batch: usize,
    },
    /// A batch that cannot be stacked.
    #[error("{count} images of {image_bytes} bytes each cannot be stacked: {why}")]
    Batch {
        /// Images in the batch.
        count: usize,
        /// Bytes from one image to the next.
        image_bytes: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// An image whose planes have no common step, so that no strides of its shape exist.
    #[error("the planes of {format} are not one step apart in one memory, so it has no strides")]
    PlaneStep {
        /// The format.
        format: PixelFormat,
    },
    /// An image larger than the memory that was to be used again.
    #[error("{format} at {width}x{height} needs {needed} bytes, the memory has {capacity}")]
    Capacity {
        /// The format.
        format: PixelFormat,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// Bytes it needs at the least.
        needed: usize,
        /// Bytes there are.
        capacity: usize,
    },
    /// A format and element type that no texture can carry as they are.
    #[error("no texture format carries {format} with {dtype} samples")]
    NoCarrier {
        /// The format.
        format: PixelFormat,
        /// The type of a sample.
        dtype: DType,
    },
    /// A width whose rows are no whole number of texels.
    #[error(
        "{format} of {width} pixels: rows fill whole texels only when the width is a multiple of {multiple}"
    )]
    CarrierWidth {
        /// The format.
        format: PixelFormat,
        /// Width in pixels.
        width: usize,
        /// What the width must be a multiple of, in pixels.
        multiple: usize,
    },
    /// A texture that does not hold an image of this format.
    #[error("a texture of {width}x{height} texels holds no {format} image")]
    CarrierSize {
        /// The format.
        format: PixelFormat,
        /// Width in texels.
        width: usize,
        /// Height in texels.
        height: usize,
    },
}
