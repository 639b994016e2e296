//! What a tensor says of itself, on its way into a blob.

use arrayvec::ArrayVec;

use super::TransferError;
use crate::{
    blob::{BlobSpec, Extension, PlaneRecord, QUANT_NONE, QUANT_PER_TENSOR},
    colorimetry::Colorimetry,
    dtype::DType,
    format::{MAX_PLANES, PixelFormat},
    layout::{ImageLayout, PlanePlacement},
    memory_kind::TensorMemory,
    quantization::Quantization,
    shape::MAX_RANK,
};

/// The planes of one tensor.
pub(super) type Records<'a> = ArrayVec<PlaneRecord<'a>, MAX_PLANES>;

/// Everything a blob says but where the bytes are.
pub(super) struct Description<'a> {
    pub(super) kind: TensorMemory,
    pub(super) dtype: DType,
    pub(super) shape: &'a [usize],
    /// The step of each axis in bytes; `None` says dense.
    pub(super) strides: Option<&'a [isize]>,
    pub(super) format: Option<PixelFormat>,
    pub(super) colorimetry: Colorimetry,
    pub(super) quantization: Option<&'a Quantization>,
    pub(super) extension: Extension<'a>,
}

impl Description<'_> {
    /// Writes the blob of process `pid` with these planes into `out`, whose capacity is kept.
    pub(super) fn write(
        &self,
        pid: u32,
        fence: Option<i32>,
        planes: &[PlaneRecord<'_>],
        out: &mut Vec<u8>,
    ) -> Result<(), TransferError> {
        let shape: ArrayVec<u64, MAX_RANK> = self.shape.iter().map(|dim| wide(*dim)).collect();
        let strides: Option<ArrayVec<i64, MAX_RANK>> = self.strides.map(|strides| {
            strides.iter().map(|step| i64::try_from(*step).unwrap_or(i64::MAX)).collect()
        });
        let spec = BlobSpec {
            storage_kind: self.kind,
            pid,
            fence_fd: fence,
            dtype: self.dtype,
            shape: &shape,
            strides: strides.as_deref(),
            quant_axis: quant_axis(self.quantization),
            quant_scales: self.quantization.map_or(&[], Quantization::scales),
            quant_zero_points: self.quantization.map_or(&[], Quantization::zero_points),
            format: self.format,
            colorimetry: self.colorimetry,
            planes,
            extension: self.extension,
        };
        Ok(spec.write_into(out)?)
    }
}

/// What a blob says of an image, apart from whose memory it is in.
#[derive(Clone, Copy, Debug)]
pub struct ImageDescription<'a> {
    /// Where the planes lie.
    pub layout: &'a ImageLayout,
    /// The kind of all its memories.
    pub kind: TensorMemory,
    /// The real length of each memory, in bytes.
    pub memory_lens: &'a [usize],
    /// What is known of its colours.
    pub colorimetry: Colorimetry,
    /// How its integers stand for real numbers.
    pub quantization: Option<&'a Quantization>,
    /// What the published format has no field for.
    pub extension: Extension<'a>,
}

impl ImageDescription<'_> {
    /// The description as a blob of no process, whose planes name memory `m` as `handles[m]`.
    ///
    /// # Errors
    /// [`TransferError::Handles`] unless there is a handle for each memory.
    pub fn to_blob(&self, handles: &[i64]) -> Result<Vec<u8>, TransferError> {
        let mut out = Vec::new();
        self.write(0, None, handles, &mut out)?;
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
        let records = records(layout, self.memory_lens, handles)?;
        // Planes of a shape that counts them may lie at no equal steps: then the records alone say
        // where they are.
        let strides = layout.strides().ok();
        let strides = match strides {
            Some(strides) if strides != layout.dense_strides()? => Some(strides),
            Some(_) | None => None,
        };
        let description = Description {
            kind: self.kind,
            dtype: layout.format().dtype(),
            shape: &layout.shape(),
            strides: strides.as_deref(),
            format: Some(layout.format()),
            colorimetry: self.colorimetry,
            quantization: self.quantization,
            extension: self.extension,
        };
        description.write(pid, fence, &records, out)
    }
}

/// The planes of an image by reference.
fn records(
    layout: &ImageLayout,
    memory_lens: &[usize],
    handles: &[i64],
) -> Result<Records<'static>, TransferError> {
    let missing = || TransferError::Handles { memories: layout.memories(), handles: handles.len() };
    let record = |(plane, place): (usize, &PlanePlacement)| {
        let used = layout.plane_len(plane);
        let padded = place.stride.saturating_mul(layout.rows(plane));
        let len = memory_lens.get(place.memory).copied().unwrap_or(usize::MAX);
        // The padding after the last row may be missing from the memory.
        let size = padded.min(len.saturating_sub(place.offset)).max(used);
        let handle = *handles.get(place.memory).ok_or_else(missing)?;
        Ok(by_reference(handle, place.offset, place.stride, size, used))
    };
    layout.planes().iter().enumerate().map(record).collect()
}

/// A plane by reference with linear rows; all numbers are bytes.
pub(super) fn by_reference(
    handle: i64,
    offset: usize,
    stride: usize,
    size: usize,
    used: usize,
) -> PlaneRecord<'static> {
    PlaneRecord {
        handle,
        offset: wide(offset),
        stride: wide(stride),
        size: wide(size),
        used: wide(used),
        modifier: 0,
        handle_bytes: &[],
        data: &[],
    }
}

/// A length as the wire's widest integer; no `usize` is wider than 64 bits.
pub(super) fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn quant_axis(quantization: Option<&Quantization>) -> i32 {
    match quantization.map(|quantization| (quantization.scales(), quantization.axis())) {
        None => QUANT_NONE,
        // One scale needs no axis, and the published reader takes none.
        Some((_, None) | ([_], _)) => QUANT_PER_TENSOR,
        Some((_, Some(axis))) => i32::try_from(axis).unwrap_or(i32::MAX),
    }
}
