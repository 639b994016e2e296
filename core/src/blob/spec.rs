//! Writing: everything a blob says, then the bytes.

use super::{
    HEADER_LEN,
    cursor::wide,
    error::BlobError,
    extension::Extension,
    header::{Header, NO_FENCE},
    plane::{PlaneRecord, field_u32},
    quant,
    strings::Strings,
};
use crate::{
    colorimetry::Colorimetry, dtype::DType, format::PixelFormat, memory_kind::TensorMemory,
};

/// Everything a blob says, borrowed. What a reader would refuse is not written; see
/// [`BlobView`](super::BlobView) for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlobSpec<'a> {
    /// The kind of memory the tensor is in.
    pub storage_kind: TensorMemory,
    /// This process, 0 when the planes are inline.
    pub pid: u32,
    /// The fence to wait for before use, one for all planes.
    pub fence_fd: Option<i32>,
    /// The type of one element.
    pub dtype: DType,
    /// The dimensions, outermost first: of an image, its addressing grid.
    pub shape: &'a [u64],
    /// The step of each axis in bytes; `None` says dense. With no axis there is nothing to say, so
    /// a reader finds `None`.
    pub strides: Option<&'a [i64]>,
    /// The axis that has one scale for each index, or [`QUANT_PER_TENSOR`](super::QUANT_PER_TENSOR)
    /// or [`QUANT_NONE`](super::QUANT_NONE).
    pub quant_axis: i32,
    /// The scales, as many as the axis asks for.
    pub quant_scales: &'a [f32],
    /// The zero points: none when all are zero, else one for each scale.
    pub quant_zero_points: &'a [i32],
    /// The pixel format, `None` for a tensor that is no image.
    pub format: Option<PixelFormat>,
    /// The four colour answers.
    pub colorimetry: Colorimetry,
    /// The planes, in order: all inline or none.
    pub planes: &'a [PlaneRecord<'a>],
    /// What the published format has no field for.
    pub extension: Extension<'a>,
}

impl BlobSpec<'_> {
    /// The bytes of the blob.
    ///
    /// # Errors
    /// See [`write_into`](Self::write_into).
    pub fn to_bytes(&self) -> Result<Vec<u8>, BlobError> {
        let mut out = Vec::new();
        self.write_into(&mut out)?;
        Ok(out)
    }

    /// Replaces what `out` holds by the blob and keeps its capacity. After an error `out` is empty.
    ///
    /// # Errors
    /// What [`BlobView::parse`](super::BlobView::parse) would refuse, [`BlobError::FieldLimit`] for
    /// a count or payload past 32 bits, and [`BlobError::TooLong`] for want of memory.
    pub fn write_into(&self, out: &mut Vec<u8>) -> Result<(), BlobError> {
        out.clear();
        let header = self.header()?;
        let len = usize::try_from(header.size).map_err(|_| BlobError::TooLong)?;
        out.try_reserve(len).map_err(|_| BlobError::TooLong)?;
        header.write(out);
        append(out, self.shape, u64::to_le_bytes);
        append(out, self.strides.unwrap_or_default(), i64::to_le_bytes);
        append(out, self.quant_scales, f32::to_le_bytes);
        append(out, self.quant_zero_points, i32::to_le_bytes);
        self.strings().write(out);
        self.planes.iter().try_for_each(|plane| plane.write(out))?;
        self.extension.write(out)
    }

    /// Bytes of the blob.
    ///
    /// # Errors
    /// See [`write_into`](Self::write_into), which allocates no less.
    pub fn encoded_len(&self) -> Result<usize, BlobError> {
        usize::try_from(self.header()?.size).map_err(|_| BlobError::TooLong)
    }

    /// The header of a blob that a reader accepts.
    fn header(&self) -> Result<Header, BlobError> {
        self.check()?;
        let strings_start = self.strings_start()?;
        let strings_len = self.strings().encoded_len(strings_start).ok_or(BlobError::TooLong)?;
        let planes_len = self.planes_len()?;
        Ok(Header {
            size: wide(sum([
                strings_start,
                strings_len,
                planes_len,
                self.extension.encoded_len()?,
            ])?),
            required_mask: 0,
            planes_bytes: wide(planes_len),
            storage_kind: self.storage_kind.code(),
            pid: self.pid,
            fence_fd: self.fence_fd.unwrap_or(NO_FENCE),
            dtype: self.dtype.code(),
            quant_axis: self.quant_axis,
            ndim: field_u32("ndim", self.shape.len())?,
            plane_count: field_u32("plane_count", self.planes.len())?,
            quant_scales_len: field_u32("quant_scales_len", self.quant_scales.len())?,
            quant_zero_points_len: field_u32(
                "quant_zero_points_len",
                self.quant_zero_points.len(),
            )?,
            strings_bytes: field_u32("strings_bytes", strings_len)?,
            strides_len: field_u32("strides_len", self.strides.map_or(0, <[i64]>::len))?,
            reserved: 0,
        })
    }

    /// The rules that are about meaning; those about length are in the sums.
    fn check(&self) -> Result<(), BlobError> {
        if let Some(value @ ..0) = self.fence_fd {
            return Err(BlobError::FenceFd { value });
        }
        let ndim = self.shape.len();
        let strides_len = self.strides.map_or(ndim, <[i64]>::len);
        if strides_len != ndim {
            return Err(BlobError::StridesLen { strides_len, ndim });
        }
        let (shape, scales) = (self.shape.iter().copied(), self.quant_scales.iter().copied());
        quant::check(self.quant_axis, shape, scales, self.quant_zero_points.len())?;
        let inline = self.planes.first().is_some_and(PlaneRecord::is_inline);
        self.planes.iter().enumerate().try_for_each(|(index, plane)| plane.check(index, inline))
    }

    fn strings(&self) -> Strings {
        Strings::of(self.format, self.colorimetry)
    }

    /// The byte where the strings start.
    fn strings_start(&self) -> Result<usize, BlobError> {
        sum([
            HEADER_LEN,
            size_of_val(self.shape),
            self.strides.map_or(0, size_of_val),
            size_of_val(self.quant_scales),
            size_of_val(self.quant_zero_points),
        ])
    }

    /// Bytes of all plane records.
    fn planes_len(&self) -> Result<usize, BlobError> {
        self.planes.iter().try_fold(0, |len, plane| sum([len, plane.encoded_len()?]))
    }
}

fn append<T: Copy, const N: usize>(
    out: &mut Vec<u8>,
    values: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
) {
    out.extend(values.iter().flat_map(|value| to_bytes(*value)));
}

fn sum<const N: usize>(lengths: [usize; N]) -> Result<usize, BlobError> {
    lengths.into_iter().try_fold(0_usize, usize::checked_add).ok_or(BlobError::TooLong)
}
