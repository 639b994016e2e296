//! Tensors that are no image: one plane, which is the memory they lie in.

use arrayvec::ArrayVec;

use super::{ImportError, TransferError, description};
use crate::{
    blob::{BlobView, PlaneRecord},
    layout::StridedLayout,
    shape::{MAX_RANK, Shape, Strides},
};

/// The plane that holds all elements: it starts at the first one, and is one row.
pub(super) fn record(
    layout: &StridedLayout,
    handles: &[i64],
) -> Result<PlaneRecord<'static>, TransferError> {
    let missing = TransferError::Handles { memories: 1, handles: handles.len() };
    let handle = *handles.first().ok_or(missing)?;
    let used = layout.required_len().saturating_sub(layout.offset());
    Ok(description::by_reference(handle, layout.offset(), used, used, used))
}

/// The layout of a blob without a format, whose first element is at byte `offset`.
pub(super) fn layout(view: &BlobView<'_>, offset: usize) -> Result<StridedLayout, ImportError> {
    let element_bytes = view.dtype().size_bytes();
    let rank = ImportError::Rank { rank: view.ndim() };
    if view.ndim() > MAX_RANK {
        return Err(rank);
    }
    // A number past the address space is past every memory too, and is refused as that.
    let dims: ArrayVec<usize, MAX_RANK> =
        view.shape().map(|dim| usize::try_from(dim).unwrap_or(usize::MAX)).collect();
    let Some(shape) = Shape::new(&dims) else { return Err(rank) };
    let strides = match view.strides() {
        None => StridedLayout::dense(&shape, element_bytes)?.strides().clone(),
        Some(steps) => {
            let steps: ArrayVec<isize, MAX_RANK> =
                steps.map(|step| isize::try_from(step).unwrap_or(isize::MAX)).collect();
            Strides::new(&steps).ok_or(rank)?
        }
    };
    Ok(StridedLayout::new(shape, strides, offset, element_bytes)?)
}

/// The one plane of a blob without a format.
pub(super) fn only_plane<'a>(view: &BlobView<'a>) -> Result<PlaneRecord<'a>, ImportError> {
    let mut planes = view.planes();
    match (planes.next(), planes.len()) {
        (Some(plane), 0) => Ok(plane),
        _ => Err(ImportError::PlaneCount { planes: view.planes().len() }),
    }
}
