//! Pixel formats: one table, and questions that read its rows.
//!
//! A row says how each plane stores its samples, in the terms of the kernel's
//! `drm_format_info`: a *block* is the smallest byte unit of a plane, it covers `block_width`
//! columns of that plane, and the plane has one column for every `hsub` image columns and one row
//! for every `vsub` image rows. Sizes, strides, shapes and codes are all read off the row, so no
//! format is named outside this module.
//!
//! Names and codes come from `linux/videodev2.h`, `drm/drm_fourcc.h` and GStreamer's video format
//! list. Codes 1 to 11 are those of the published tensor blob; ours begin at 64.

mod table;

use std::fmt;

pub use table::PixelFormat;

use crate::{dtype::DType, shape::Shape};

/// The most planes an image has.
pub const MAX_PLANES: usize = 4;

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
        width.div_ceil(self.hsub).div_ceil(self.block_width).checked_mul(self.block_bytes)
    }

    /// Rows of this plane in an image `height` pixels high; chroma rounds up.
    #[must_use]
    pub fn rows(&self, height: usize) -> usize {
        height.div_ceil(self.vsub)
    }
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

/// A V4L2 pixel format code (`linux/videodev2.h`): four characters, first in the lowest byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V4l2Fourcc(pub [u8; 4]);

/// A DRM format code (`drm/drm_fourcc.h`): four characters, first in the lowest byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrmFourcc(pub [u8; 4]);

impl V4l2Fourcc {
    /// The code as the kernel's `__u32`.
    #[must_use]
    pub const fn code(self) -> u32 {
        u32::from_le_bytes(self.0)
    }
}

impl DrmFourcc {
    /// The code as the kernel's `__u32`.
    #[must_use]
    pub const fn code(self) -> u32 {
        u32::from_le_bytes(self.0)
    }
}

impl fmt::Display for DrmFourcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl PixelFormat {
    /// The format with this wire code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.code() == code)
    }

    /// The format with this wire name; case matters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format GStreamer calls by this name in `video/x-raw` caps.
    #[must_use]
    pub fn from_gst_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.gst_name() == Some(name))
    }

    /// The format with this DRM code.
    #[must_use]
    pub fn from_drm_fourcc(fourcc: DrmFourcc) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.drm_fourcc() == Some(fourcc))
    }

    /// The format with this V4L2 code, in its single-buffer or multi-buffer spelling.
    #[must_use]
    pub fn from_v4l2_fourcc(fourcc: V4l2Fourcc) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.v4l2_fourccs().contains(&fourcc))
    }

    /// The type of one sample.
    #[must_use]
    pub const fn dtype(self) -> DType {
        DType::U8
    }

    /// The shape by which a consumer indexes the image: `[h, w]` where one plane column is one
    /// sample, `[h, w, c]` for packed components, `[c, h, w]` for planes of equal size.
    ///
    /// It says nothing about the bytes needed: those come from the plane table.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(&*PixelFormat::Nv12.addressing_shape(640, 480), [480, 640]);
    /// assert_eq!(&*PixelFormat::Rgb.addressing_shape(640, 480), [480, 640, 3]);
    /// assert_eq!(&*PixelFormat::PlanarRgb.addressing_shape(640, 480), [3, 480, 640]);
    /// ```
    #[must_use]
    pub fn addressing_shape(self, width: usize, height: usize) -> Shape {
        let channels = self.channels();
        let shape = match self.layout() {
            PixelLayout::Packed if channels > 1 => Shape::new(&[height, width, channels]),
            PixelLayout::Planar => Shape::new(&[channels, height, width]),
            PixelLayout::Packed | PixelLayout::SemiPlanar | PixelLayout::PlanarChroma => {
                Shape::new(&[height, width])
            }
        };
        shape.unwrap_or_default()
    }
}

impl fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_names_and_fourccs_are_unique_and_round_trip() {
        let mut seen = HashSet::new();
        for format in PixelFormat::ALL.iter().copied() {
            assert!(seen.insert(format!("code {}", format.code())), "{format}");
            assert_eq!(PixelFormat::from_code(format.code()), Some(format));
            assert!(seen.insert(format!("name {}", format.name())), "{format}");
            assert_eq!(PixelFormat::from_name(format.name()), Some(format));
            if let Some(name) = format.gst_name() {
                assert!(seen.insert(format!("gst {name}")), "{format}");
                assert_eq!(PixelFormat::from_gst_name(name), Some(format));
            }
            if let Some(fourcc) = format.drm_fourcc() {
                assert!(seen.insert(format!("drm {fourcc}")), "{format}");
                assert_eq!(PixelFormat::from_drm_fourcc(fourcc), Some(format));
            }
            for fourcc in format.v4l2_fourccs() {
                assert!(seen.insert(format!("v4l2 {fourcc:?}")), "{format}");
                assert_eq!(PixelFormat::from_v4l2_fourcc(*fourcc), Some(format));
            }
        }
    }

    // S-TYPE-02
    #[test]
    fn the_published_codes_and_names_stand() {
        let published = [
            (1, "rgb8"),
            (2, "rgba8"),
            (3, "bgra8"),
            (4, "mono8"),
            (5, "YUYV"),
            (6, "VYUY"),
            (7, "NV12"),
            (8, "NV16"),
            (9, "rgb8_planar"),
            (10, "rgba8_planar"),
            (11, "NV24"),
        ];
        for (code, name) in published {
            assert_eq!(PixelFormat::from_code(code).map(PixelFormat::name), Some(name));
        }
        assert!(PixelFormat::ALL.iter().all(|f| f.code() <= 11 || f.code() >= 64));
    }

    // S-TYPE-03
    #[test]
    fn v4l2_codes_are_the_kernels() {
        let kernel = [
            (PixelFormat::Rgb, *b"RGB3"),
            (PixelFormat::Rgba, *b"AB24"),
            (PixelFormat::Bgra, *b"AR24"),
            (PixelFormat::Grey, *b"GREY"),
            (PixelFormat::Yuyv, *b"YUYV"),
            (PixelFormat::Vyuy, *b"VYUY"),
            (PixelFormat::Nv12, *b"NV12"),
            (PixelFormat::Nv16, *b"NV16"),
            (PixelFormat::Nv24, *b"NV24"),
        ];
        for (format, fourcc) in kernel {
            assert_eq!(format.v4l2_fourccs().first(), Some(&V4l2Fourcc(fourcc)));
        }
        assert!(PixelFormat::PlanarRgb.v4l2_fourccs().is_empty());
    }

    #[test]
    fn every_row_has_one_to_four_planes_and_no_zero() {
        for format in PixelFormat::ALL {
            assert!((1..=MAX_PLANES).contains(&format.planes().len()), "{format}");
            for plane in format.planes() {
                let numbers = [plane.block_bytes, plane.block_width, plane.hsub, plane.vsub];
                assert!(numbers.iter().all(|n| *n > 0), "{format}");
            }
        }
    }

    #[test]
    fn row_bytes_grow_with_width_and_refuse_to_wrap() {
        for format in PixelFormat::ALL {
            for plane in format.planes() {
                for width in 1..300 {
                    assert!(plane.row_bytes(width) <= plane.row_bytes(width + 1), "{format}");
                }
                if plane.block_bytes > plane.hsub * plane.block_width {
                    assert_eq!(plane.row_bytes(usize::MAX), None, "{format}");
                }
            }
        }
    }

    // S-TYPE-05, S-TYPE-06
    #[test]
    fn channels_and_layouts_are_the_published_ones() {
        use PixelLayout::{Packed, Planar, SemiPlanar};
        let rows = [
            (PixelFormat::Rgb, 3, Packed),
            (PixelFormat::Rgba, 4, Packed),
            (PixelFormat::Bgra, 4, Packed),
            (PixelFormat::Grey, 1, Packed),
            (PixelFormat::Yuyv, 2, Packed),
            (PixelFormat::Vyuy, 2, Packed),
            (PixelFormat::Nv12, 1, SemiPlanar),
            (PixelFormat::Nv16, 1, SemiPlanar),
            (PixelFormat::Nv24, 1, SemiPlanar),
            (PixelFormat::PlanarRgb, 3, Planar),
            (PixelFormat::PlanarRgba, 4, Planar),
        ];
        for (format, channels, layout) in rows {
            assert_eq!((format.channels(), format.layout()), (channels, layout), "{format}");
        }
    }
}
