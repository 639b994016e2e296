//! The table of pixel formats.

use super::{DrmFourcc, PixelLayout, PlaneFormat, V4l2Fourcc};

/// Makes the enum and its lookups from the rows below.
///
/// A row reads: variant = wire code, wire name, GStreamer name or `-`, DRM fourcc or `-`,
/// V4L2 fourccs (one buffer first, then the spelling for one buffer a plane), layout and channels,
/// planes as (block bytes, block width, hsub, vsub).
macro_rules! formats {
    (@text -) => { None };
    (@text $text:literal) => { Some($text) };
    (@drm -) => { None };
    (@drm $fourcc:literal) => { Some(DrmFourcc(*$fourcc)) };
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $gst:tt, $drm:tt,
       [$($v4l2:literal),*], $layout:ident, $channels:literal,
       [$(($bytes:literal, $width:literal, $hsub:literal, $vsub:literal)),+];)*) => {
        /// A pixel format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum PixelFormat { $($(#[$doc])* $variant,)* }

        impl PixelFormat {
            /// Every format of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The wire code.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The wire name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// GStreamer's name in `video/x-raw` caps, where it has one.
            #[must_use]
            pub const fn gst_name(self) -> Option<&'static str> {
                match self { $(Self::$variant => formats!(@text $gst),)* }
            }

            /// The DRM code, where there is one.
            #[must_use]
            pub const fn drm_fourcc(self) -> Option<DrmFourcc> {
                match self { $(Self::$variant => formats!(@drm $drm),)* }
            }

            /// The V4L2 codes: all planes in one buffer first, then one buffer a plane.
            #[must_use]
            pub const fn v4l2_fourccs(self) -> &'static [V4l2Fourcc] {
                match self { $(Self::$variant => const { &[$(V4l2Fourcc(*$v4l2)),*] },)* }
            }

            /// How the planes relate to each other.
            #[must_use]
            pub const fn layout(self) -> PixelLayout {
                match self { $(Self::$variant => PixelLayout::$layout,)* }
            }

            /// Samples of one pixel that the addressing grid counts.
            #[must_use]
            pub const fn channels(self) -> usize {
                match self { $(Self::$variant => $channels,)* }
            }

            /// The planes, in memory order.
            #[must_use]
            pub const fn planes(self) -> &'static [PlaneFormat] {
                match self { $(Self::$variant => &[$(PlaneFormat {
                    block_bytes: $bytes, block_width: $width, hsub: $hsub, vsub: $vsub,
                }),+],)* }
            }
        }
    };
}

#[rustfmt::skip]
formats! {
    /// 8-bit R, G, B.
    Rgb        =  1, "rgb8",         "RGB",   b"BG24", [b"RGB3"],           Packed,       3, [(3, 1, 1, 1)];
    /// 8-bit R, G, B, A.
    Rgba       =  2, "rgba8",        "RGBA",  b"AB24", [b"AB24"],           Packed,       4, [(4, 1, 1, 1)];
    /// 8-bit B, G, R, A.
    Bgra       =  3, "bgra8",        "BGRA",  b"AR24", [b"AR24"],           Packed,       4, [(4, 1, 1, 1)];
    /// 8-bit luma only.
    Grey       =  4, "mono8",        "GRAY8", b"R8  ", [b"GREY"],           Packed,       1, [(1, 1, 1, 1)];
    /// 4:2:2 as Y0 Cb Y1 Cr.
    Yuyv       =  5, "YUYV",         "YUY2",  b"YUYV", [b"YUYV"],           Packed,       2, [(4, 2, 1, 1)];
    /// 4:2:2 as Cr Y0 Cb Y1.
    Vyuy       =  6, "VYUY",         "VYUY",  b"VYUY", [b"VYUY"],           Packed,       2, [(4, 2, 1, 1)];
    /// 4:2:0, luma then Cb Cr pairs.
    Nv12       =  7, "NV12",         "NV12",  b"NV12", [b"NV12", b"NM12"],  SemiPlanar,   1, [(1, 1, 1, 1), (2, 1, 2, 2)];
    /// 4:2:2, luma then Cb Cr pairs.
    Nv16       =  8, "NV16",         "NV16",  b"NV16", [b"NV16", b"NM16"],  SemiPlanar,   1, [(1, 1, 1, 1), (2, 1, 2, 1)];
    /// 8-bit R, G, B, a plane each.
    PlanarRgb  =  9, "rgb8_planar",  "RGBP",  -,       [],                  Planar,       3, [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 8-bit R, G, B, A, a plane each.
    PlanarRgba = 10, "rgba8_planar", -,       -,       [],                  Planar,       4, [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 4:4:4, luma then Cb Cr pairs.
    Nv24       = 11, "NV24",         "NV24",  b"NV24", [b"NV24"],           SemiPlanar,   1, [(1, 1, 1, 1), (2, 1, 1, 1)];
    /// 4:2:0, luma, Cb, Cr.
    I420       = 64, "I420",         "I420",  b"YU12", [b"YU12", b"YM12"],  PlanarChroma, 1, [(1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 2, 2)];
    /// 4:2:2 as Cb Y0 Cr Y1.
    Uyvy       = 65, "UYVY",         "UYVY",  b"UYVY", [b"UYVY"],           Packed,       2, [(4, 2, 1, 1)];
    /// 4:2:2 as Y0 Cr Y1 Cb.
    Yvyu       = 66, "YVYU",         "YVYU",  b"YVYU", [b"YVYU"],           Packed,       2, [(4, 2, 1, 1)];
    /// 4:2:0, luma, Cr, Cb.
    Yv12       = 67, "YV12",         "YV12",  b"YV12", [b"YV12", b"YM21"],  PlanarChroma, 1, [(1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 2, 2)];
    /// 4:2:0, luma then Cr Cb pairs.
    Nv21       = 68, "NV21",         "NV21",  b"NV21", [b"NV21", b"NM21"],  SemiPlanar,   1, [(1, 1, 1, 1), (2, 1, 2, 2)];
    /// 4:2:2, luma then Cr Cb pairs.
    Nv61       = 69, "NV61",         "NV61",  b"NV61", [b"NV61", b"NM61"],  SemiPlanar,   1, [(1, 1, 1, 1), (2, 1, 2, 1)];
    /// 8-bit B, G, R.
    Bgr        = 70, "bgr8",         "BGR",   b"RG24", [b"BGR3"],           Packed,       3, [(3, 1, 1, 1)];
    /// 8-bit R, G, B and an unused byte.
    Rgbx       = 71, "rgbx8",        "RGBx",  b"XB24", [b"XB24"],           Packed,       4, [(4, 1, 1, 1)];
    /// 8-bit B, G, R and an unused byte.
    Bgrx       = 72, "bgrx8",        "BGRx",  b"XR24", [b"XR24"],           Packed,       4, [(4, 1, 1, 1)];
}
