//! An image that a blob describes: its format, its size, and where its planes lie.

use arrayvec::ArrayVec;

use super::TransferError;
use crate::{
    blob::{BlobView, PlaneRecord},
    format::{MAX_PLANES, PixelFormat, PixelLayout},
    layout::{ImageLayout, LayoutError, PlanePlacement},
    shape::Shape,
};

/// An image that a blob describes by reference: its layout, and the handle of each memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencedImage {
    /// Where the planes lie; memory `m` is the one with handle `handles[m]`.
    pub layout: ImageLayout,
    /// The handles, in the order the layout numbers the memories.
    pub handles: ArrayVec<i64, MAX_PLANES>,
}

impl ReferencedImage {
    /// Reads the image out of a parsed blob.
    ///
    /// # Errors
    /// See [`TransferError`]: no format, inline planes, a tiled modifier, a shape or strides that
    /// contradict the rest, a layout that cannot be.
    pub fn of(view: &BlobView<'_>) -> Result<Self, TransferError> {
        let (format, width, height) = size(view)?;
        if view.is_inline() {
            return Err(TransferError::Inline);
        }
        let (placements, handles) = placements(format, height, view)?;
        let layout = ImageLayout::from_planes(format, width, height, &placements)?;
        check_strides(&layout, view)?;
        Ok(Self { layout, handles })
    }
}

/// The format, and the size in pixels that the blob's shape stands for.
pub(super) fn size(view: &BlobView<'_>) -> Result<(PixelFormat, usize, usize), TransferError> {
    let named = view.format().ok_or(TransferError::NoFormat)?;
    let (dtype, expected) = (view.dtype(), named.dtype());
    let format =
        named.with_dtype(dtype).ok_or(TransferError::DType { format: named, expected, dtype })?;
    let refuse = || TransferError::Shape { format, shape: view.shape().collect() };
    // Axes past those of any image are not kept, and then the shape is none of the format's.
    let dims: ArrayVec<usize, 4> = view
        .shape()
        .take(4)
        .map(usize::try_from)
        .collect::<Result<_, _>>()
        .map_err(|_| refuse())?;
    let (height, width) = match (format.layout(), dims.as_slice()) {
        (PixelLayout::Planar, [_, height, width]) | (_, [height, width, ..]) => (*height, *width),
        _ => return Err(refuse()),
    };
    let matches = Shape::new(&dims) == Some(format.addressing_shape(width, height));
    if matches { Ok((format, width, height)) } else { Err(refuse()) }
}

/// Refuses another number of planes than the format has.
pub(super) fn check_plane_count(
    format: PixelFormat,
    view: &BlobView<'_>,
) -> Result<(), LayoutError> {
    let (expected, given) = (format.planes().len(), view.planes().len());
    if given == expected {
        Ok(())
    } else {
        Err(LayoutError::PlaneCount { format, expected, given })
    }
}

/// The step from row to row of a plane that follows `first`.
///
/// The published writer gives NV24's chroma the luma's stride and twice its rows, where the kernel
/// has rows of twice the stride. The samples are the same, so both are read.
pub(super) fn stride(
    format: PixelFormat,
    height: usize,
    first: Option<&PlanePlacement>,
    record: &PlaneRecord<'_>,
) -> usize {
    let stride = narrow(record.stride);
    let is_half_row = format == PixelFormat::Nv24
        && first.is_some_and(|luma| luma.stride == stride)
        && narrow(record.used) > stride.saturating_mul(height);
    if is_half_row { stride.saturating_mul(2) } else { stride }
}

/// A number past the address space is past every memory too, and is refused as that.
pub(super) fn narrow(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

type Placements = (ArrayVec<PlanePlacement, MAX_PLANES>, ArrayVec<i64, MAX_PLANES>);

/// Where the planes lie, with memories numbered as the planes first name them.
fn placements(
    format: PixelFormat,
    height: usize,
    view: &BlobView<'_>,
) -> Result<Placements, TransferError> {
    check_plane_count(format, view)?;
    let (mut placements, mut handles) = (ArrayVec::new(), ArrayVec::<i64, MAX_PLANES>::new());
    for record in view.planes() {
        record.require_linear()?;
        let memory = handles.iter().position(|known| *known == record.handle);
        let memory = memory.unwrap_or_else(|| {
            handles.push(record.handle);
            handles.len().saturating_sub(1)
        });
        let stride = stride(format, height, placements.first(), &record);
        placements.push(PlanePlacement { memory, offset: narrow(record.offset), stride });
    }
    Ok((placements, handles))
}

/// Refuses strides that contradict the plane records.
pub(super) fn check_strides(
    layout: &ImageLayout,
    view: &BlobView<'_>,
) -> Result<(), TransferError> {
    let Some(given) = view.strides() else { return Ok(()) };
    let own = layout.strides()?;
    let own = own.iter().map(|step| i64::try_from(*step).unwrap_or(i64::MAX));
    let stride = layout.planes().first().map_or(0, |place| place.stride);
    if given.eq(own) { Ok(()) } else { Err(TransferError::Strides { stride }) }
}
