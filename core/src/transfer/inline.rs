//! Blobs that carry the bytes.

use arrayvec::ArrayVec;

use super::{
    ExportError, ImportError, TransferError,
    carried::Carried,
    description::{Records, wide},
    export::description,
    image, strided,
};
use crate::{
    access::CpuAccess,
    blob::{BlobView, PlaneRecord},
    compression::Contiguity,
    format::MAX_PLANES,
    layout::{ImageLayout, PlanePlacement, StridedLayout},
    memory::Memory,
    tensor::{Layout, TensorDyn, TensorMap},
};

/// Writes a blob that carries the elements and nothing between them.
pub(super) fn export(tensor: &TensorDyn, out: &mut Vec<u8>) -> Result<(), ExportError> {
    let mut description = description(tensor);
    // The pages do not travel.
    description.extension.contiguity = Contiguity::Unknown;
    let write =
        |records: &[PlaneRecord<'_>], out: &mut Vec<u8>| description.write(0, None, records, out);
    if let Layout::Batch(_) = tensor.layout() {
        return Err(TransferError::Batch { shape: tensor.shape().clone() }.into());
    }
    if is_tight(tensor.layout()) {
        let map = tensor.map_read()?;
        write(&mapped(tensor.layout(), &map), out)?;
    } else {
        let mut flat = vec![0; tensor.flat_len()];
        tensor.copy_to_flat(&mut flat)?;
        write(&cut(tensor.layout(), &flat), out)?;
    }
    Ok(())
}

/// Whether no plane has bytes between its elements.
fn is_tight(layout: &Layout) -> bool {
    match layout {
        Layout::Image(image) => {
            let mut planes = image.planes().iter().enumerate();
            planes.all(|(plane, place)| place.stride == image.row_bytes(plane))
        }
        Layout::Strided(strided) => strided.is_dense(),
        Layout::Batch(_) => false,
    }
}

/// The planes of a tensor without padding, where they are mapped.
fn mapped<'a>(layout: &Layout, map: &'a TensorMap<'_>) -> Records<'a> {
    let part = |memory, offset: usize, len: usize, stride| {
        let bytes = map.memory(memory).and_then(|m| m.get(offset..offset.saturating_add(len)));
        PlaneRecord::inline(bytes.unwrap_or_default(), wide(stride))
    };
    match layout {
        Layout::Image(image) => {
            let planes = image.planes().iter().enumerate();
            let of = |(plane, place): (usize, &PlanePlacement)| {
                part(place.memory, place.offset, image.plane_len(plane), place.stride)
            };
            planes.map(of).collect()
        }
        Layout::Strided(strided) => {
            let bounds = strided.bounds();
            [part(0, bounds.start, bounds.len(), bounds.len())].into_iter().collect()
        }
        Layout::Batch(_) => Records::new(),
    }
}

/// The planes of a tensor in a flat copy of it.
fn cut<'a>(layout: &Layout, flat: &'a [u8]) -> Records<'a> {
    let Layout::Image(image) = layout else {
        return [PlaneRecord::inline(flat, wide(flat.len()))].into_iter().collect();
    };
    let mut rest = flat;
    let mut of = |plane| {
        let row_bytes = image.row_bytes(plane);
        let len = row_bytes.saturating_mul(image.rows(plane));
        let (bytes, left) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        rest = left;
        PlaneRecord::inline(bytes, wide(row_bytes))
    };
    (0..image.planes().len()).map(&mut of).collect()
}

/// The tensor in a blob that carries its bytes, in memory of its own.
///
/// No more is allocated than the blob carries.
pub(super) fn import(view: &BlobView<'_>) -> Result<(Layout, Memory), ImportError> {
    let carried = Carried::of(view)?;
    // A tensor without elements has a memory all the same.
    let memory = Memory::heap(carried.len.max(1))?;
    carried.copy_to(view, memory.map(CpuAccess::Write)?.as_mut_slice().unwrap_or_default());
    Ok((carried.layout, memory))
}

/// Where the elements are in what the blob carries, and the length of that.
pub(super) fn layout(view: &BlobView<'_>) -> Result<(Layout, usize), ImportError> {
    Ok(match view.format() {
        Some(_) => {
            let (image, len) = image_layout(view)?;
            (Layout::Image(image), len)
        }
        None => {
            let (strided, len) = strided_layout(view)?;
            (Layout::Strided(strided), len)
        }
    })
}

/// The planes one after the other in one memory, and its length.
fn image_layout(view: &BlobView<'_>) -> Result<(ImageLayout, usize), ImportError> {
    let mut placements = ArrayVec::<PlanePlacement, MAX_PLANES>::new();
    let mut offset = 0_usize;
    let (format, width, height) = image::size(view)?;
    image::check_plane_count(format, view)?;
    for record in view.planes() {
        let stride = image::stride(format, height, placements.first(), &record);
        placements.push(PlanePlacement { memory: 0, offset, stride });
        offset = offset.saturating_add(record.data.len());
    }
    let layout = ImageLayout::from_planes(format, width, height, &placements)?;
    image::check_strides(&layout, view)?;
    for (plane, record) in view.planes().enumerate() {
        let (need, have) = (layout.plane_len(plane), record.data.len());
        if have < need {
            return Err(ImportError::ShortPlane { plane, need, have: wide(have) });
        }
    }
    Ok((layout, offset))
}

/// The elements of a tensor that is no image, and the length of what carries them.
fn strided_layout(view: &BlobView<'_>) -> Result<(StridedLayout, usize), ImportError> {
    let layout = strided::layout(view, 0)?;
    let record = strided::only_plane(view)?;
    let (need, have) = (layout.required_len(), record.data.len());
    if have < need {
        return Err(ImportError::ShortPlane { plane: 0, need, have: wide(have) });
    }
    Ok((layout, have))
}
