//! Pixel formats: one table, and questions that read its rows.
//!
//! A row says how each plane stores its samples, in the terms of the kernel's
//! `drm_format_info`: a *block* is the smallest byte unit of a plane, it covers `block_width`
//! columns of that plane, and the plane has one column for every `hsub` image columns and one row
//! for every `vsub` image rows. Sizes, strides, shapes and codes are all read off the row, so no
//! format is named outside this module. Samples wider than a byte are little-endian.
//!
//! Names and codes come from `linux/videodev2.h`, `drm/drm_fourcc.h` and GStreamer's video format
//! list. Codes 1 to 11 are those of the published tensor blob; ours begin at 64. What those lists
//! have and a row cannot say is refused by name ([`PixelFormat::refusal`]); compressed pictures are
//! a [`Bitstream`]; how a dma-buf deviates from rows is a [`Modifier`]. `docs/formats.md` shows all.

#![forbid(unsafe_code)]

mod bitstream;
mod drm_format;
mod fourcc;
mod geometry;
mod modifier;
mod refused;
mod row;
mod table;

pub use bitstream::Bitstream;
pub use drm_format::{DrmFormat, DrmFormatError};
pub use fourcc::{DrmFourcc, V4l2Fourcc};
pub use geometry::ChromaLayout;
pub use modifier::{Modifier, NamedModifier};
pub use refused::Refusal;
pub use row::{BitPacking, ColorModel, PixelLayout, PlaneFormat};
pub use table::PixelFormat;

use std::fmt;

use row::GstName;

use crate::dtype::DType;

/// The most planes an image has.
pub const MAX_PLANES: usize = 4;

/// What a row says.
impl PixelFormat {
    /// The wire code.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.row().code
    }

    /// The wire name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What it is, in a few words.
    #[must_use]
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// GStreamer's name in `video/x-raw` caps, where it has one.
    #[must_use]
    pub const fn gst_name(self) -> Option<&'static str> {
        match self.row().gst {
            GstName::Raw(name) => Some(name),
            GstName::Bayer(_) | GstName::None => None,
        }
    }

    /// GStreamer's name in `video/x-bayer` caps, where it has one. More than 8 bits are known
    /// there since 1.24.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::BayerRggb10.gst_bayer_name(), Some("rggb10le"));
    /// assert_eq!(PixelFormat::BayerRggb10.gst_name(), None);
    /// ```
    #[must_use]
    pub const fn gst_bayer_name(self) -> Option<&'static str> {
        match self.row().gst {
            GstName::Bayer(name) => Some(name),
            GstName::Raw(_) | GstName::None => None,
        }
    }

    /// The DRM code, where there is one.
    #[must_use]
    pub const fn drm_fourcc(self) -> Option<DrmFourcc> {
        self.row().drm
    }

    /// The V4L2 code that says that all planes are in one buffer, where there is one.
    #[must_use]
    pub const fn v4l2_fourcc(self) -> Option<V4l2Fourcc> {
        let [single, _] = self.row().v4l2;
        single
    }

    /// The V4L2 code that says that each plane is in a buffer of its own, where there is one.
    #[must_use]
    pub const fn v4l2_multi_fourcc(self) -> Option<V4l2Fourcc> {
        let [_, multi] = self.row().v4l2;
        multi
    }

    /// The V4L2 codes there are: all planes in one buffer first, then a buffer a plane.
    pub fn v4l2_fourccs(self) -> impl Iterator<Item = V4l2Fourcc> {
        self.row().v4l2.into_iter().flatten()
    }

    /// What the components are.
    #[must_use]
    pub const fn color_model(self) -> ColorModel {
        self.row().model
    }

    /// How the planes relate to each other.
    #[must_use]
    pub const fn layout(self) -> PixelLayout {
        self.row().layout
    }

    /// Samples of one pixel that the addressing grid counts; an unused byte is one too.
    #[must_use]
    pub const fn channels(self) -> usize {
        self.row().channels
    }

    /// Components of one pixel: 3 for colour, one more for alpha, 1 for grey and for Bayer.
    #[must_use]
    pub const fn components(self) -> usize {
        self.row().components
    }

    /// Whether one of the components is alpha.
    #[must_use]
    pub const fn has_alpha(self) -> bool {
        self.row().has_alpha
    }

    /// The type of one sample.
    #[must_use]
    pub const fn dtype(self) -> DType {
        self.row().dtype
    }

    /// Bits that carry component `component`; `None` when there is no such component.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::P010.component_bits(2), Some(10));
    /// assert_eq!(PixelFormat::Rgb16.component_bits(1), Some(6));
    /// ```
    #[must_use]
    pub fn component_bits(self, component: usize) -> Option<u32> {
        let row = self.row();
        match row.bits {
            [all] => (component < row.components).then_some(*all),
            each => each.get(component).copied(),
        }
    }

    /// Where those bits lie in their sample.
    #[must_use]
    pub const fn packing(self) -> BitPacking {
        self.row().packing
    }

    /// The planes, in memory order.
    #[must_use]
    #[inline]
    pub const fn planes(self) -> &'static [PlaneFormat] {
        self.row().planes
    }
}

/// Which row is meant.
impl PixelFormat {
    fn find(is_meant: impl Fn(Self) -> bool) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| is_meant(*format))
    }

    /// The format with this wire code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::find(|format| format.code() == code)
    }

    /// The format with this wire name; case matters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_name_bytes(name.as_bytes())
    }

    /// The format GStreamer calls by this name in `video/x-raw` caps.
    #[must_use]
    pub fn from_gst_name(name: &str) -> Option<Self> {
        Self::find(|format| format.gst_name() == Some(name))
    }

    /// The format GStreamer calls by this name in `video/x-bayer` caps.
    #[must_use]
    pub fn from_gst_bayer_name(name: &str) -> Option<Self> {
        Self::find(|format| format.gst_bayer_name() == Some(name))
    }

    /// The format with this DRM code.
    #[must_use]
    pub fn from_drm_fourcc(fourcc: DrmFourcc) -> Option<Self> {
        Self::find(|format| format.drm_fourcc() == Some(fourcc))
    }

    /// The format with this V4L2 code, in its single-buffer or multi-buffer spelling.
    #[must_use]
    pub fn from_v4l2_fourcc(fourcc: V4l2Fourcc) -> Option<Self> {
        Self::find(|format| format.row().v4l2.contains(&Some(fourcc)))
    }

    /// The format of the same arrangement with samples of `dtype`.
    ///
    /// The published tensors name a planar float image `rgb8_planar` and give the dtype apart; here
    /// it is a row of its own.
    ///
    /// ```
    /// use tensor_core::{DType, PixelFormat};
    /// let input = PixelFormat::PlanarRgb.with_dtype(DType::F16);
    /// assert_eq!(input, Some(PixelFormat::PlanarRgbF16));
    /// assert_eq!(PixelFormat::Nv12.with_dtype(DType::F16), None);
    /// ```
    #[must_use]
    pub fn with_dtype(self, dtype: DType) -> Option<Self> {
        if self.dtype() == dtype {
            return Some(self);
        }
        let all = [Self::PlanarRgb, Self::PlanarRgbF16, Self::PlanarRgbF32];
        let is_meant = |format: &Self| all.contains(&self) && format.dtype() == dtype;
        all.into_iter().find(is_meant)
    }
}

impl fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
