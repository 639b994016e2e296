//! What a row of the table says.

use super::{DrmFourcc, V4l2Fourcc};
use crate::dtype::DType;

/// How one plane stores its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneFormat {
    /// Bytes of the smallest unit.
    pub block_bytes: usize,
    /// Plane columns one block covers.
    pub block_width: usize,
    /// Image columns for one plane column.
    pub hsub: usize,
    /// Image rows for one plane row.
    pub vsub: usize,
}

impl PlaneFormat {
    /// Bytes of real samples in one row of an image `width` pixels wide; `None` when it does not
    /// fit a `usize`.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// let chroma = PixelFormat::Nv12.planes()[1];
    /// assert_eq!(chroma.row_bytes(789), Some(790));
    /// ```
    #[must_use]
    pub fn row_bytes(&self, width: usize) -> Option<usize> {
        parts(parts(width, self.hsub), self.block_width).checked_mul(self.block_bytes)
    }

    /// Rows of this plane in an image `height` pixels high; chroma rounds up.
    #[must_use]
    pub fn rows(&self, height: usize) -> usize {
        parts(height, self.vsub)
    }
}

/// `whole` divided by `unit`, rounded up. Most units are 1, and asking is cheaper than dividing.
fn parts(whole: usize, unit: usize) -> usize {
    if unit == 1 { whole } else { whole.div_ceil(unit) }
}

/// How the planes of a format relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelLayout {
    /// All components interleaved in one plane.
    Packed,
    /// One full-size plane for each component.
    Planar,
    /// A luma plane, then chroma in one interleaved plane.
    SemiPlanar,
    /// A luma plane, then one plane for each chroma component.
    PlanarChroma,
}

/// What the components of a format are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColorModel {
    /// Luma only.
    Grey,
    /// Red, green, blue, and alpha where there is one.
    Rgb,
    /// Luma and two chroma components.
    Yuv,
    /// One of red, green and blue a pixel, in a mosaic of 2 by 2.
    Bayer,
}

/// Where the bits of a component lie in its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BitPacking {
    /// They are the whole sample.
    Whole,
    /// In the low bits; the high ones are 0.
    Low,
    /// In the high bits; the low ones are 0.
    High,
    /// All components of a pixel share one sample, the first in the highest bits.
    Shared,
}

/// GStreamer's name, and the caps it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) enum GstName {
    None,
    /// `video/x-raw`.
    Raw(&'static str),
    /// `video/x-bayer`.
    Bayer(&'static str),
}

/// One row of the table; `PixelFormat`'s methods say what each column means.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) code: u32,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) gst: GstName,
    pub(super) drm: Option<DrmFourcc>,
    pub(super) v4l2: [Option<V4l2Fourcc>; 2],
    pub(super) model: ColorModel,
    pub(super) layout: PixelLayout,
    pub(super) channels: usize,
    pub(super) components: usize,
    pub(super) has_alpha: bool,
    pub(super) dtype: DType,
    pub(super) bits: &'static [u32],
    pub(super) packing: BitPacking,
    pub(super) planes: &'static [PlaneFormat],
}
