//! A blob, and the descriptors that came with it, as a tensor.

use std::os::fd::BorrowedFd;

use arrayvec::ArrayVec;

use super::{ImportError, image::narrow, inline, referenced::Referenced};
use crate::{
    access::CpuAccess,
    blob::{BlobView, QUANT_NONE},
    format::MAX_PLANES,
    memory::{Fence, Memory},
    quantization::Quantization,
    tensor::{Layout, TensorDyn},
};

/// The tensor that a blob describes.
///
/// `fds` are the descriptors that came with it. Those it keeps are duplicated, so the tensor is
/// independent of them and of the producer; all stay the caller's. A tensor whose bytes are inline
/// is copied into memory of its own, which is no larger than the blob.
///
/// The bytes are judged, not trusted: whatever they are, the answer is a tensor whose planes lie
/// inside their memories, or an error.
///
/// # Errors
/// See [`ImportError`]. [`ImportError::Fenced`] for bytes that are not there yet: for those there is
/// [`import_with_fence`].
pub fn import(bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<TensorDyn, ImportError> {
    let view = BlobView::parse(bytes)?;
    match view.fence_fd() {
        Some(handle) => Err(ImportError::Fenced { handle }),
        None => tensor(&view, fds),
    }
}

/// As [`import`], with the fence that must have signalled before the bytes are used.
///
/// # Errors
/// As for [`import`], and [`ImportError::Fence`] for a descriptor that is no fence.
pub fn import_with_fence(
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> Result<(TensorDyn, Option<Fence>), ImportError> {
    let view = BlobView::parse(bytes)?;
    let fence = view.fence_fd().map(|handle| fence(handle, fds)).transpose()?;
    Ok((tensor(&view, fds)?, fence))
}

fn fence(handle: i32, fds: &[BorrowedFd<'_>]) -> Result<Fence, ImportError> {
    let fd = fd_of(handle.into(), fds)?.try_clone_to_owned().map_err(ImportError::Dup)?;
    Ok(Fence::try_from(fd)?)
}

fn tensor(view: &BlobView<'_>, fds: &[BorrowedFd<'_>]) -> Result<TensorDyn, ImportError> {
    let access = view.extension().access;
    if view.is_inline() {
        let (layout, memory) = inline::import(view)?;
        return tensor_of(view, layout, [memory], access);
    }
    let found = Referenced::of(view)?;
    let memories = open(view, &found.handles, fds)?;
    tensor_of(view, found.layout, memories, access)
}

/// A tensor of this layout, with all else that the blob says of it.
pub(super) fn tensor_of(
    view: &BlobView<'_>,
    layout: Layout,
    memories: impl IntoIterator<Item = Memory>,
    access: CpuAccess,
) -> Result<TensorDyn, ImportError> {
    let extension = view.extension();
    let access = access.intersection(extension.access);
    let tensor = TensorDyn::from_memories(layout, view.dtype(), memories, access)?
        .with_colorimetry(view.colorimetry())
        .with_view_mark(extension.is_view);
    let tensor = if extension.name.is_empty() { tensor } else { tensor.with_name(extension.name) };
    let tensor = match extension.origin {
        Some(origin) => tensor.with_origin(origin),
        None => tensor,
    };
    Ok(match quantization(view)? {
        Some(quantization) => tensor.with_quantization(quantization)?,
        None => tensor,
    })
}

type Memories = ArrayVec<Memory, MAX_PLANES>;

/// The memories with these handles, each of the kind and length that the blob says.
fn open(
    view: &BlobView<'_>,
    handles: &[i64],
    fds: &[BorrowedFd<'_>],
) -> Result<Memories, ImportError> {
    let said = view.storage_kind();
    let extension = view.extension();
    let mut memories = Memories::new();
    for handle in handles {
        let memory = Memory::import(fd_of(*handle, fds)?, extension.access)?
            .with_contiguity_of_producer(extension.contiguity);
        let found = memory.kind();
        if found != said {
            return Err(ImportError::Kind { handle: *handle, said, found });
        }
        memories.push(memory);
    }
    for (plane, record) in view.planes().enumerate() {
        let memory = handles.iter().position(|handle| *handle == record.handle);
        let have = memory.and_then(|memory| memories.get(memory)).map_or(0, Memory::len);
        let end = record.offset.saturating_add(record.size);
        if narrow(end) > have {
            return Err(ImportError::PlaneEnd { plane, end, have });
        }
    }
    Ok(memories)
}

/// The descriptor with this handle.
fn fd_of<'a>(handle: i64, fds: &[BorrowedFd<'a>]) -> Result<BorrowedFd<'a>, ImportError> {
    let fd = usize::try_from(handle).ok().and_then(|index| fds.get(index));
    fd.copied().ok_or(ImportError::Handle { handle, fds: fds.len() })
}

pub(super) fn quantization(view: &BlobView<'_>) -> Result<Option<Quantization>, ImportError> {
    if view.quant_axis() == QUANT_NONE {
        return Ok(None);
    }
    let (scales, zero_points) = (view.quant_scales(), view.quant_zero_points());
    let axis = usize::try_from(view.quant_axis()).ok();
    Ok(Some(Quantization::new(scales.collect(), zero_points.collect(), axis)?))
}
