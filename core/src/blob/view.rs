//! Reading: a blob checked once, then asked freely.

use std::fmt;

use super::{
    error::BlobError,
    extension::Extension,
    header::Header,
    plane::PlaneRecord,
    planes::{self, Planes},
    quant,
    regions::Regions,
    strings,
};
use crate::{
    colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry},
    dtype::DType,
    format::PixelFormat,
    memory_kind::TensorMemory,
};

/// A blob that has been checked from end to end.
///
/// It borrows the bytes and allocates nothing. Every question is answered in constant time; only a
/// plane past the fourth is found by walking from there, because records vary in length and no
/// image has more.
///
/// ```
/// use tensor_core::{Colorimetry, DType, PixelFormat, TensorMemory};
/// use tensor_core::blob::{BlobSpec, BlobView, Extension, PlaneRecord, QUANT_NONE};
///
/// let pixels = [7; 12];
/// let bytes = BlobSpec {
///     storage_kind: TensorMemory::Mem,
///     pid: 0,
///     fence_fd: None,
///     dtype: DType::U8,
///     shape: &[2, 2, 3],
///     strides: None,
///     quant_axis: QUANT_NONE,
///     quant_scales: &[],
///     quant_zero_points: &[],
///     format: Some(PixelFormat::Rgb),
///     colorimetry: Colorimetry::default(),
///     planes: &[PlaneRecord::inline(&pixels, 6)],
///     extension: Extension::default(),
/// }
/// .to_bytes()?;
///
/// let view = BlobView::parse(&bytes)?;
/// assert!(view.shape().eq([2, 2, 3]));
/// assert_eq!(view.format(), Some(PixelFormat::Rgb));
/// assert_eq!(view.plane(0).map(|plane| plane.data), Some(&pixels[..]));
/// # Ok::<(), tensor_core::blob::BlobError>(())
/// ```
#[derive(Clone, Copy)]
pub struct BlobView<'a> {
    storage_kind: TensorMemory,
    pid: u32,
    fence_fd: Option<i32>,
    dtype: DType,
    quant_axis: i32,
    regions: Regions<'a>,
    format: Option<PixelFormat>,
    colorimetry: Colorimetry,
    extension: Extension<'a>,
}

impl<'a> BlobView<'a> {
    /// Checks the blob at the front of `bytes`. What follows its `size` is ignored.
    ///
    /// The rank is not limited here; a tensor may hold less than a blob can say.
    ///
    /// # Errors
    /// The first refusal, see [`BlobError`]. An unknown bit of `required_mask` is told before
    /// anything else is judged.
    #[inline(always)]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BlobError> {
        let (header, blob) = Header::parse(bytes)?;
        let (storage_kind, dtype) = (header.storage_kind()?, header.dtype()?);
        let fence_fd = header.fence_fd()?;
        let regions = Regions::find(&header, blob)?;
        let zero_points = regions.zero_points.len();
        quant::check(header.quant_axis, regions.shape(), regions.scales(), zero_points)?;
        let (format, colorimetry) = strings::read(regions.strings)?;
        planes::check(regions.planes, regions.plane_count)?;
        let extension = Extension::parse(regions.rest)?;
        let Header { pid, quant_axis, .. } = header;
        Ok(Self {
            storage_kind,
            pid,
            fence_fd,
            dtype,
            quant_axis,
            regions,
            format,
            colorimetry,
            extension,
        })
    }

    /// The blob itself: exactly its `size` bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.regions.blob
    }

    /// The kind of memory the producer had the tensor in.
    #[must_use]
    pub const fn storage_kind(&self) -> TensorMemory {
        self.storage_kind
    }

    /// The producer's process, 0 when the planes are inline.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// The fence to wait for before use, one for all planes.
    #[must_use]
    pub const fn fence_fd(&self) -> Option<i32> {
        self.fence_fd
    }

    /// The type of one element.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of axes.
    #[must_use]
    pub const fn ndim(&self) -> usize {
        self.regions.shape.len()
    }

    /// The dimensions, outermost first.
    #[must_use]
    pub fn shape(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.regions.shape()
    }

    /// The step of each axis in bytes; `None` says dense.
    #[must_use]
    pub fn strides(&self) -> Option<impl ExactSizeIterator<Item = i64> + use<'a>> {
        let strides = self.regions.strides;
        (!strides.is_empty()).then(|| strides.iter().copied().map(i64::from_le_bytes))
    }

    /// The axis that has one scale for each index, or [`QUANT_PER_TENSOR`](super::QUANT_PER_TENSOR)
    /// or [`QUANT_NONE`](super::QUANT_NONE).
    #[must_use]
    pub const fn quant_axis(&self) -> i32 {
        self.quant_axis
    }

    /// The scales, as many as [`quant_axis`](Self::quant_axis) asks for.
    #[must_use]
    pub fn quant_scales(&self) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        self.regions.scales()
    }

    /// The zero points: none when all are zero, else one for each scale.
    #[must_use]
    pub fn quant_zero_points(&self) -> impl ExactSizeIterator<Item = i32> + use<'a> {
        self.regions.zero_points.iter().copied().map(i32::from_le_bytes)
    }

    /// The pixel format's name, empty for a tensor that is no image.
    #[must_use]
    pub fn format_name(&self) -> &'static str {
        self.format.map_or("", PixelFormat::name)
    }

    /// The primaries' name, empty when unspecified.
    #[must_use]
    pub fn color_space_name(&self) -> &'static str {
        self.colorimetry.space.map_or("", ColorSpace::name)
    }

    /// The transfer function's name, empty when unspecified.
    #[must_use]
    pub fn color_transfer_name(&self) -> &'static str {
        self.colorimetry.transfer.map_or("", ColorTransfer::name)
    }

    /// The matrix's name, empty when unspecified.
    #[must_use]
    pub fn color_encoding_name(&self) -> &'static str {
        self.colorimetry.encoding.map_or("", ColorEncoding::name)
    }

    /// The range's name, empty when unspecified.
    #[must_use]
    pub fn color_range_name(&self) -> &'static str {
        self.colorimetry.range.map_or("", ColorRange::name)
    }

    /// The pixel format, `None` for a tensor that is no image.
    #[must_use]
    pub const fn format(&self) -> Option<PixelFormat> {
        self.format
    }

    /// The four colour answers.
    #[must_use]
    pub const fn colorimetry(&self) -> Colorimetry {
        self.colorimetry
    }

    /// What the published format has no field for; the default where the blob says nothing.
    #[must_use]
    pub const fn extension(&self) -> Extension<'a> {
        self.extension
    }

    /// The planes, in order.
    #[must_use]
    pub const fn planes(&self) -> Planes<'a> {
        Planes::new(self.regions.planes, self.regions.plane_count)
    }

    /// One plane.
    #[must_use]
    pub fn plane(&self, index: usize) -> Option<PlaneRecord<'a>> {
        self.planes().nth(index)
    }

    /// Whether the planes carry their bytes; a blob without planes refers to nothing either.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        self.plane(0).is_none_or(|plane| plane.is_inline())
    }
}

impl fmt::Debug for BlobView<'_> {
    /// Payloads show as their lengths.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobView")
            .field("storage_kind", &self.storage_kind)
            .field("pid", &self.pid)
            .field("fence_fd", &self.fence_fd)
            .field("dtype", &self.dtype)
            .field("ndim", &self.ndim())
            .field("format", &self.format)
            .field("colorimetry", &self.colorimetry)
            .field("quant_axis", &self.quant_axis)
            .field("planes", &self.regions.plane_count)
            .field("extension", &self.extension)
            .finish_non_exhaustive()
    }
}
