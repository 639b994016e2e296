//! A tensor as the C struct that another library in this process reads, and back.

use std::{
    iter,
    os::fd::{AsRawFd, IntoRawFd, OwnedFd},
    ptr,
};

use arrayvec::ArrayVec;

use super::{ExportError, ImportError, TransferError};
use crate::{
    colorimetry::Colorimetry,
    desc::{DescError, SYNC_PRESENT, TensorDesc, VIEW},
    dtype::DType,
    format::{PixelFormat, PixelLayout, V4l2Fourcc},
    layout::{BatchLayout, ImageLayout, LayoutError, StridedLayout, c_byte_strides},
    memory::{Fence, HostPin, Memory},
    memory_kind::TensorMemory,
    shape::{MAX_RANK, Shape, Strides},
    tensor::{Layout, TensorDyn},
};

/// A tensor's descriptor. It borrows: handle and address are valid while the tensor lives.
///
/// A descriptor has no offset and no plane table. What begins inside its memory is described by
/// address alone, and planes must follow each other as
/// [`plane_table`](crate::PixelFormat::plane_table) has them.
///
/// # Errors
/// [`TransferError::SeveralMemories`], [`TransferError::NoHandle`] for memory that has neither a
/// descriptor nor an address, [`TransferError::Placement`] for planes elsewhere.
pub fn descriptor(tensor: &TensorDyn) -> Result<TensorDesc, TransferError> {
    let [memory] = tensor.memories() else {
        return Err(TransferError::SeveralMemories { memories: tensor.memories().len() });
    };
    let kind = memory.kind();
    let start = first_byte(tensor.layout())?;
    let (shape, strides) = allocation_of(tensor.layout())?;
    let fd = memory.fd().filter(|_| start == 0).map(|fd| i64::from(fd.as_raw_fd()));
    let address = memory.lent_ptr().map(|ptr| ptr.as_ptr().cast_const().wrapping_add(start));
    if fd.is_none() && address.is_none() {
        let begins_inside = memory.fd().is_some();
        let none = TransferError::NoHandle { kind };
        return Err(if begins_inside { TransferError::Placement } else { none });
    }
    let wide = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    let mut desc = TensorDesc {
        kind: kind.code(),
        handle: fd.unwrap_or(-1),
        ptr: address.unwrap_or(ptr::null()),
        dtype: tensor.dtype().code(),
        ndim: u32::try_from(shape.len()).unwrap_or(u32::MAX),
        fourcc: tensor.format().and_then(PixelFormat::v4l2_fourcc).map_or(0, V4l2Fourcc::code),
        format: tensor.format().map_or(0, PixelFormat::code),
        colorimetry: tensor.colorimetry().pack(),
        flags: TensorDesc::flags_of(tensor.access(), tensor.is_view()),
        capacity: wide(memory.len().saturating_sub(start)),
        ..TensorDesc::empty()
    };
    for (slot, dim) in desc.shape.iter_mut().zip(shape.iter()) {
        *slot = wide(*dim);
    }
    for (slot, step) in desc.strides.iter_mut().zip(strides.iter()) {
        *slot = i64::try_from(*step).unwrap_or(i64::MAX);
    }
    Ok(desc)
}

/// As [`descriptor`], with the address of the bytes for every kind that can be pinned; valid while the
/// pin lives.
///
/// # Errors
/// As for [`descriptor`], and as for [`pin_host`](TensorDyn::pin_host) in the declared direction.
pub fn descriptor_pinned(tensor: &TensorDyn) -> Result<(TensorDesc, HostPin), ExportError> {
    let desc = descriptor(tensor)?;
    let pin = tensor.pin_host(tensor.access())?;
    Ok((TensorDesc { ptr: pin.as_ptr().as_ptr().cast_const(), ..desc }, pin))
}

/// As [`descriptor`], for bytes that are there once `fence` has signalled. Whoever reads the
/// descriptor owns the fence; one that is never read leaks it.
///
/// # Errors
/// As for [`descriptor`]; the fence is then closed.
pub fn descriptor_with_fence(
    tensor: &TensorDyn,
    fence: Fence,
) -> Result<TensorDesc, TransferError> {
    let desc = descriptor(tensor)?;
    let fd = OwnedFd::from(fence).into_raw_fd();
    let sync = u64::try_from(fd).unwrap_or(0);
    Ok(TensorDesc { flags: desc.flags | SYNC_PRESENT, sync, ..desc })
}

/// The tensor that `desc` describes, in `memory`, which is the one it names: see
/// [`Memory::described`].
///
/// Nothing of the descriptor is followed, so this is safe whatever it says.
///
/// # Errors
/// [`ImportError::Desc`] for a descriptor that has no meaning, [`ImportError::Kind`] for a memory of
/// another kind, [`ImportError::Tensor`] for elements past the memory's end, and whatever a layout
/// is refused for.
pub fn import_descriptor(desc: &TensorDesc, memory: Memory) -> Result<TensorDyn, ImportError> {
    desc.check()?;
    let code = |field, code| DescError::Code { field, code };
    let dtype = DType::from_code(desc.dtype).ok_or(code("dtype", desc.dtype))?;
    let found = memory.kind();
    if found.code() != desc.kind {
        let said = TensorMemory::from_code(desc.kind);
        let said = said.ok_or(code("kind", desc.kind))?;
        return Err(ImportError::Kind { handle: desc.handle, said, found });
    }
    let (shape, strides) = grid(desc)?;
    let layout = match desc.format {
        0 => Layout::Strided(StridedLayout::new(shape, strides, 0, dtype.size_bytes())?),
        format => {
            let named = PixelFormat::from_code(format).ok_or(code("format", format))?;
            image_of(named, dtype, &shape, &strides)?
        }
    };
    let tensor = TensorDyn::from_memories(layout, dtype, [memory], desc.access())?;
    let colorimetry = Colorimetry::unpack(desc.colorimetry);
    Ok(tensor.with_colorimetry(colorimetry).with_view_mark(desc.flags & VIEW != 0))
}

/// Shape and strides of a descriptor whose rank was checked.
fn grid(desc: &TensorDesc) -> Result<(Shape, Strides), ImportError> {
    let rank = ImportError::Rank { rank: usize::try_from(desc.ndim).unwrap_or(usize::MAX) };
    let used = usize::try_from(desc.ndim).unwrap_or(usize::MAX);
    // A number past the address space is past every memory too, and is refused as that.
    let dims: ArrayVec<usize, MAX_RANK> = desc
        .shape
        .iter()
        .take(used)
        .map(|dim| usize::try_from(*dim).unwrap_or(usize::MAX))
        .collect();
    let steps: ArrayVec<isize, MAX_RANK> = desc
        .strides
        .iter()
        .take(used)
        .map(|step| isize::try_from(*step).unwrap_or(isize::MAX))
        .collect();
    Shape::new(&dims).zip(Strides::new(&steps)).ok_or(rank)
}

/// The image, or the batch of them, whose allocation has this shape.
fn image_of(
    named: PixelFormat,
    dtype: DType,
    shape: &Shape,
    strides: &Strides,
) -> Result<Layout, ImportError> {
    let wide = |dims: &[usize]| dims.iter().filter_map(|dim| u64::try_from(*dim).ok()).collect();
    let refuse = TransferError::Shape { format: named, shape: wide(shape) };
    let expected = named.dtype();
    let none = TransferError::DType { format: named, expected, dtype };
    let format = named.with_dtype(dtype).ok_or(none)?;
    let size = format.size_of_allocation(shape).map(|size| (size, None));
    let size = size.or_else(|| {
        let (count, image) = shape.split_first()?;
        Some((format.size_of_allocation(&Shape::new(image)?)?, Some(*count)))
    });
    let Some(((width, height), count)) = size else { return Err(refuse.into()) };
    let row_axis = usize::from(format.layout() == PixelLayout::Planar)
        .saturating_add(usize::from(count.is_some()));
    let row_stride = strides.get(row_axis).and_then(|step| usize::try_from(*step).ok());
    let Some(stride) = row_stride else { return Err(refuse.into()) };
    let image = ImageLayout::with_row_stride(format, width, height, stride)?;
    let layout = match count {
        None => Layout::Image(image),
        Some(count) => {
            let step = strides.first().and_then(|step| usize::try_from(*step).ok());
            Layout::Batch(BatchLayout::new(image, count, step.unwrap_or(0))?)
        }
    };
    let (_, own) = allocation_of(&layout)?;
    if own == *strides { Ok(layout) } else { Err(TransferError::Strides { stride }.into()) }
}

/// The byte where a layout begins that a descriptor can describe.
fn first_byte(layout: &Layout) -> Result<usize, TransferError> {
    match layout {
        Layout::Strided(strided) => {
            let start = strided.bounds().start;
            if strided.offset() == start { Ok(start) } else { Err(TransferError::Placement) }
        }
        Layout::Batch(batch) => first_byte_of_image(batch.image()),
        Layout::Image(image) => first_byte_of_image(image),
    }
}

fn first_byte_of_image(image: &ImageLayout) -> Result<usize, TransferError> {
    let Some(first) = image.planes().first() else { return Err(TransferError::Placement) };
    let (format, width, height) = (image.format(), image.width(), image.height());
    let table = format.plane_table(width, height, first.stride)?;
    let mut planes = image.planes().iter().zip(table.iter());
    let follow = planes.all(|(place, row)| {
        Some(place.offset) == row.offset.checked_add(first.offset)
            && place.stride == row.stride.unsigned_abs()
    });
    if follow { Ok(first.offset) } else { Err(TransferError::Placement) }
}

/// Shape and strides of a tensor's allocation: a descriptor has no plane table, so chroma is rows.
fn allocation_of(layout: &Layout) -> Result<(Shape, Strides), TransferError> {
    let (image, batch) = match layout {
        Layout::Strided(strided) => {
            return Ok((strided.shape().clone(), strided.strides().clone()));
        }
        Layout::Image(image) => (image, None),
        Layout::Batch(batch) => (batch.image(), Some(batch)),
    };
    let (format, width, height) = (image.format(), image.width(), image.height());
    let overflow = || LayoutError::Overflow { format, width, height, plane: 0 };
    let shape = format.allocation_shape(width, height).ok_or_else(overflow)?;
    let row_axis = usize::from(format.layout() == PixelLayout::Planar);
    let row_stride = image.planes().first().map(|place| place.stride);
    let strides = c_byte_strides(&shape, format.dtype().size_bytes(), row_axis, row_stride)?;
    let Some(batch) = batch else { return Ok((shape, strides)) };
    let step = isize::try_from(batch.image_bytes()).unwrap_or(isize::MAX);
    let dims: ArrayVec<usize, MAX_RANK> =
        iter::once(batch.count()).chain(shape.iter().copied()).collect();
    let steps: ArrayVec<isize, MAX_RANK> =
        iter::once(step).chain(strides.iter().copied()).collect();
    Ok(Shape::new(&dims).zip(Strides::new(&steps)).ok_or_else(overflow)?)
}
