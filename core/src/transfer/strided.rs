//! Tensors that are no image: one plane, which is the memory they lie in.

use arrayvec::ArrayVec;

use super::{
    ImportError, TransferError,
    description::{self, Description},
};
use crate::{
    blob::{BlobView, Extension, PlaneRecord},
    colorimetry::Colorimetry,
    dtype::DType,
    layout::StridedLayout,
    memory_kind::TensorMemory,
    quantization::Quantization,
    shape::{MAX_RANK, Shape, Strides},
};

/// What a blob says of a tensor that is no image, apart from whose memory it is in.
///
/// ```
/// use tensor_core::{Colorimetry, DType, Extension, Shape, TensorMemory, layout::StridedLayout};
/// use tensor_core::transfer::StridedDescription;
/// let layout = StridedLayout::dense(&Shape::new(&[5000]).unwrap(), 1)?;
/// let bitstream = StridedDescription {
///     layout: &layout,
///     dtype: DType::U8,
///     kind: TensorMemory::Mem,
///     colorimetry: Colorimetry::default(),
///     quantization: None,
///     extension: Extension::default(),
/// };
/// assert_eq!(bitstream.to_blob(0)?.len(), 72 + 8 + 24 + 56);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StridedDescription<'a> {
    /// Where the elements are.
    pub layout: &'a StridedLayout,
    /// The type of one element; its size is that of the layout's.
    pub dtype: DType,
    /// The kind of the memory.
    pub kind: TensorMemory,
    /// What is known of the colours it was made from.
    pub colorimetry: Colorimetry,
    /// How its integers stand for real numbers.
    pub quantization: Option<&'a Quantization>,
    /// What the published format has no field for.
    pub extension: Extension<'a>,
}

impl StridedDescription<'_> {
    /// The description as a blob of no process, whose plane names its memory as `handle`.
    ///
    /// # Errors
    /// [`TransferError::Blob`] when the quantization does not fit the shape.
    pub fn to_blob(&self, handle: i64) -> Result<Vec<u8>, TransferError> {
        let mut out = Vec::new();
        self.write(0, None, &[handle], &mut out)?;
        Ok(out)
    }

    pub(super) fn write(
        &self,
        pid: u32,
        fence: Option<i32>,
        handles: &[i64],
        out: &mut Vec<u8>,
    ) -> Result<(), TransferError> {
        let layout = self.layout;
        let description = Description {
            kind: self.kind,
            dtype: self.dtype,
            shape: layout.shape(),
            strides: (!layout.is_dense()).then_some(&**layout.strides()),
            format: None,
            colorimetry: self.colorimetry,
            quantization: self.quantization,
            extension: self.extension,
        };
        description.write(pid, fence, &[record(layout, handles)?], out)
    }
}

/// The plane that holds all elements: it starts at the first one, and is one row.
fn record(layout: &StridedLayout, handles: &[i64]) -> Result<PlaneRecord<'static>, TransferError> {
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
