//! The table of pixel formats.

use super::{
    DrmFourcc, V4l2Fourcc,
    row::{BitPacking, ColorModel, GstName, PixelLayout, PlaneFormat, Row},
};
use crate::dtype::DType;

/// Makes the enum and its rows from the table below; `-` stands for "none".
///
/// A row reads: variant = wire code, wire name, GStreamer's name (in parentheses one of
/// `video/x-bayer`), DRM fourcc, V4L2 fourcc for all planes in one buffer, V4L2 fourcc for a buffer
/// a plane, colour model, layout, channels (samples a pixel in the addressing grid), components,
/// alpha, dtype of a sample, bits of each component (one number for all), their packing, planes as
/// (block bytes, block width, hsub, vsub).
macro_rules! formats {
    (@gst -) => { GstName::None };
    (@gst ($text:literal)) => { GstName::Bayer($text) };
    (@gst $text:literal) => { GstName::Raw($text) };
    (@drm -) => { None };
    (@drm $fourcc:literal) => { Some(DrmFourcc(*$fourcc)) };
    (@v4l2 -) => { None };
    (@v4l2 $fourcc:literal) => { Some(V4l2Fourcc(*$fourcc)) };
    (@alpha -) => { false };
    (@alpha A) => { true };
    ($(#[doc = $doc:literal] $variant:ident = $code:literal, $name:literal, $gst:tt, $drm:tt,
       $single:tt, $multi:tt, $model:ident, $layout:ident, $channels:literal, $components:literal,
       $alpha:tt, $dtype:ident, [$($bits:literal),+], $packing:ident,
       [$(($bytes:literal, $width:literal, $hsub:literal, $vsub:literal)),+];)*) => {
        /// A pixel format: a row of the table in `docs/formats.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum PixelFormat { $(#[doc = $doc] $variant,)* }

        impl PixelFormat {
            /// Every format of the table, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// [`from_name`](Self::from_name) of bytes that need not be text; of the columns, it is
            /// the one that every blob is looked up by, so it is searched as code.
            #[inline]
            pub(crate) fn from_name_bytes(name: &[u8]) -> Option<Self> {
                match name.len() {
                    $(len if len == $name.len() && name.first_chunk::<{ $name.len() }>() == $name.as_bytes().first_chunk() => Some(Self::$variant),)*
                    _ => None,
                }
            }

            #[inline]
            pub(super) const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => const { &Row {
                        code: $code,
                        name: $name,
                        description: $doc.trim_ascii(),
                        gst: formats!(@gst $gst),
                        drm: formats!(@drm $drm),
                        v4l2: [formats!(@v4l2 $single), formats!(@v4l2 $multi)],
                        model: ColorModel::$model,
                        layout: PixelLayout::$layout,
                        channels: $channels,
                        components: $components,
                        has_alpha: formats!(@alpha $alpha),
                        dtype: DType::$dtype,
                        bits: &[$($bits),+],
                        packing: BitPacking::$packing,
                        planes: &[$(PlaneFormat {
                            block_bytes: $bytes, block_width: $width, hsub: $hsub, vsub: $vsub,
                        }),+],
                    } },)*
                }
            }
        }
    };
}

#[rustfmt::skip]
formats! {
    // Codes 1 to 11 are published; ours begin at 64.

    /// 8-bit R, G, B.
    Rgb          =   1, "rgb8",          "RGB",       b"BG24", b"RGB3", -,       Rgb,   Packed,       3, 3, -, U8,  [8],       Whole,  [(3, 1, 1, 1)];
    /// 8-bit R, G, B, A.
    Rgba         =   2, "rgba8",         "RGBA",      b"AB24", b"AB24", -,       Rgb,   Packed,       4, 4, A, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// 8-bit B, G, R, A.
    Bgra         =   3, "bgra8",         "BGRA",      b"AR24", b"AR24", -,       Rgb,   Packed,       4, 4, A, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// 8-bit luma only.
    Grey         =   4, "mono8",         "GRAY8",     b"R8  ", b"GREY", -,       Grey,  Packed,       1, 1, -, U8,  [8],       Whole,  [(1, 1, 1, 1)];
    /// 4:2:2 as Y0 Cb Y1 Cr.
    Yuyv         =   5, "YUYV",          "YUY2",      b"YUYV", b"YUYV", -,       Yuv,   Packed,       2, 3, -, U8,  [8],       Whole,  [(4, 2, 1, 1)];
    /// 4:2:2 as Cr Y0 Cb Y1.
    Vyuy         =   6, "VYUY",          "VYUY",      b"VYUY", b"VYUY", -,       Yuv,   Packed,       2, 3, -, U8,  [8],       Whole,  [(4, 2, 1, 1)];
    /// 4:2:0, luma then Cb Cr pairs.
    Nv12         =   7, "NV12",          "NV12",      b"NV12", b"NV12", b"NM12", Yuv,   SemiPlanar,   1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (2, 1, 2, 2)];
    /// 4:2:2, luma then Cb Cr pairs.
    Nv16         =   8, "NV16",          "NV16",      b"NV16", b"NV16", b"NM16", Yuv,   SemiPlanar,   1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (2, 1, 2, 1)];
    /// 8-bit R, G, B, a plane each.
    PlanarRgb    =   9, "rgb8_planar",   "RGBP",      -,       -,       -,       Rgb,   Planar,       3, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 8-bit R, G, B, A, a plane each.
    PlanarRgba   =  10, "rgba8_planar",  -,           -,       -,       -,       Rgb,   Planar,       4, 4, A, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 4:4:4, luma then Cb Cr pairs.
    Nv24         =  11, "NV24",          "NV24",      b"NV24", b"NV24", -,       Yuv,   SemiPlanar,   1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (2, 1, 1, 1)];
    /// 4:2:0, luma, Cb, Cr.
    I420         =  64, "I420",          "I420",      b"YU12", b"YU12", b"YM12", Yuv,   PlanarChroma, 1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 2, 2)];
    /// 4:2:2 as Cb Y0 Cr Y1.
    Uyvy         =  65, "UYVY",          "UYVY",      b"UYVY", b"UYVY", -,       Yuv,   Packed,       2, 3, -, U8,  [8],       Whole,  [(4, 2, 1, 1)];
    /// 4:2:2 as Y0 Cr Y1 Cb.
    Yvyu         =  66, "YVYU",          "YVYU",      b"YVYU", b"YVYU", -,       Yuv,   Packed,       2, 3, -, U8,  [8],       Whole,  [(4, 2, 1, 1)];
    /// 4:2:0, luma, Cr, Cb.
    Yv12         =  67, "YV12",          "YV12",      b"YV12", b"YV12", b"YM21", Yuv,   PlanarChroma, 1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 2, 2), (1, 1, 2, 2)];
    /// 4:2:0, luma then Cr Cb pairs.
    Nv21         =  68, "NV21",          "NV21",      b"NV21", b"NV21", b"NM21", Yuv,   SemiPlanar,   1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (2, 1, 2, 2)];
    /// 4:2:2, luma then Cr Cb pairs.
    Nv61         =  69, "NV61",          "NV61",      b"NV61", b"NV61", b"NM61", Yuv,   SemiPlanar,   1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (2, 1, 2, 1)];
    /// 8-bit B, G, R.
    Bgr          =  70, "bgr8",          "BGR",       b"RG24", b"BGR3", -,       Rgb,   Packed,       3, 3, -, U8,  [8],       Whole,  [(3, 1, 1, 1)];
    /// 8-bit R, G, B and an unused byte.
    Rgbx         =  71, "rgbx8",         "RGBx",      b"XB24", b"XB24", -,       Rgb,   Packed,       4, 3, -, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// 8-bit B, G, R and an unused byte.
    Bgrx         =  72, "bgrx8",         "BGRx",      b"XR24", b"XR24", -,       Rgb,   Packed,       4, 3, -, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// 4:2:2, luma, Cb, Cr.
    Y42b         =  73, "Y42B",          "Y42B",      b"YU16", b"422P", b"YM16", Yuv,   PlanarChroma, 1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 2, 1), (1, 1, 2, 1)];
    /// 4:4:4, luma, Cb, Cr.
    Y444         =  74, "Y444",          "Y444",      b"YU24", -,       b"YM24", Yuv,   PlanarChroma, 1, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 4:2:0, luma then Cb Cr pairs, 10 bits in the high bits of 16.
    P010         =  75, "P010",          "P010_10LE", b"P010", b"P010", -,       Yuv,   SemiPlanar,   1, 3, -, U16, [10],      High,   [(2, 1, 1, 1), (4, 1, 2, 2)];
    /// 4:2:0, luma then Cb Cr pairs, 12 bits in the high bits of 16.
    P012         =  76, "P012",          "P012_LE",   b"P012", b"P012", b"PM12", Yuv,   SemiPlanar,   1, 3, -, U16, [12],      High,   [(2, 1, 1, 1), (4, 1, 2, 2)];
    /// 4:2:0, luma then Cb Cr pairs, 16 bits.
    P016         =  77, "P016",          "P016_LE",   b"P016", -,       -,       Yuv,   SemiPlanar,   1, 3, -, U16, [16],      Whole,  [(2, 1, 1, 1), (4, 1, 2, 2)];
    /// 16-bit luma only.
    Grey16       =  78, "mono16",        "GRAY16_LE", b"R16 ", b"Y16 ", -,       Grey,  Packed,       1, 1, -, U16, [16],      Whole,  [(2, 1, 1, 1)];
    /// 8-bit A, R, G, B.
    Argb         =  79, "argb8",         "ARGB",      b"BA24", b"BA24", -,       Rgb,   Packed,       4, 4, A, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// 8-bit A, B, G, R.
    Abgr         =  80, "abgr8",         "ABGR",      b"RA24", b"RA24", -,       Rgb,   Packed,       4, 4, A, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// An unused byte and 8-bit R, G, B.
    Xrgb         =  81, "xrgb8",         "xRGB",      b"BX24", b"BX24", -,       Rgb,   Packed,       4, 3, -, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// An unused byte and 8-bit B, G, R.
    Xbgr         =  82, "xbgr8",         "xBGR",      b"RX24", b"RX24", -,       Rgb,   Packed,       4, 3, -, U8,  [8],       Whole,  [(4, 1, 1, 1)];
    /// R, G, B in one 16-bit number, R in the highest bits.
    Rgb16        =  83, "rgb565",        "RGB16",     b"RG16", b"RGBP", -,       Rgb,   Packed,       1, 3, -, U16, [5, 6, 5], Shared, [(2, 1, 1, 1)];
    /// 8-bit B, G, R, a plane each.
    PlanarBgr    =  84, "bgr8_planar",   "BGRP",      -,       -,       -,       Rgb,   Planar,       3, 3, -, U8,  [8],       Whole,  [(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1)];
    /// 8-bit Bayer, rows B G and G R.
    BayerBggr8   =  85, "bayer_bggr8",   ("bggr"),    -,       b"BA81", -,       Bayer, Packed,       1, 1, -, U8,  [8],       Whole,  [(1, 1, 1, 1)];
    /// 8-bit Bayer, rows G B and R G.
    BayerGbrg8   =  86, "bayer_gbrg8",   ("gbrg"),    -,       b"GBRG", -,       Bayer, Packed,       1, 1, -, U8,  [8],       Whole,  [(1, 1, 1, 1)];
    /// 8-bit Bayer, rows G R and B G.
    BayerGrbg8   =  87, "bayer_grbg8",   ("grbg"),    -,       b"GRBG", -,       Bayer, Packed,       1, 1, -, U8,  [8],       Whole,  [(1, 1, 1, 1)];
    /// 8-bit Bayer, rows R G and G B.
    BayerRggb8   =  88, "bayer_rggb8",   ("rggb"),    -,       b"RGGB", -,       Bayer, Packed,       1, 1, -, U8,  [8],       Whole,  [(1, 1, 1, 1)];
    /// Bayer, rows B G and G R, 10 bits in the low bits of 16.
    BayerBggr10  =  89, "bayer_bggr10", ("bggr10le"), -,       b"BG10", -,       Bayer, Packed,       1, 1, -, U16, [10],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows G B and R G, 10 bits in the low bits of 16.
    BayerGbrg10  =  90, "bayer_gbrg10", ("gbrg10le"), -,       b"GB10", -,       Bayer, Packed,       1, 1, -, U16, [10],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows G R and B G, 10 bits in the low bits of 16.
    BayerGrbg10  =  91, "bayer_grbg10", ("grbg10le"), -,       b"BA10", -,       Bayer, Packed,       1, 1, -, U16, [10],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows R G and G B, 10 bits in the low bits of 16.
    BayerRggb10  =  92, "bayer_rggb10", ("rggb10le"), -,       b"RG10", -,       Bayer, Packed,       1, 1, -, U16, [10],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows B G and G R, 12 bits in the low bits of 16.
    BayerBggr12  =  93, "bayer_bggr12", ("bggr12le"), -,       b"BG12", -,       Bayer, Packed,       1, 1, -, U16, [12],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows G B and R G, 12 bits in the low bits of 16.
    BayerGbrg12  =  94, "bayer_gbrg12", ("gbrg12le"), -,       b"GB12", -,       Bayer, Packed,       1, 1, -, U16, [12],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows G R and B G, 12 bits in the low bits of 16.
    BayerGrbg12  =  95, "bayer_grbg12", ("grbg12le"), -,       b"BA12", -,       Bayer, Packed,       1, 1, -, U16, [12],      Low,    [(2, 1, 1, 1)];
    /// Bayer, rows R G and G B, 12 bits in the low bits of 16.
    BayerRggb12  =  96, "bayer_rggb12", ("rggb12le"), -,       b"RG12", -,       Bayer, Packed,       1, 1, -, U16, [12],      Low,    [(2, 1, 1, 1)];
    /// 16-bit Bayer, rows B G and G R.
    BayerBggr16  =  97, "bayer_bggr16", ("bggr16le"), -,       b"BYR2", -,       Bayer, Packed,       1, 1, -, U16, [16],      Whole,  [(2, 1, 1, 1)];
    /// 16-bit Bayer, rows G B and R G.
    BayerGbrg16  =  98, "bayer_gbrg16", ("gbrg16le"), -,       b"GB16", -,       Bayer, Packed,       1, 1, -, U16, [16],      Whole,  [(2, 1, 1, 1)];
    /// 16-bit Bayer, rows G R and B G.
    BayerGrbg16  =  99, "bayer_grbg16", ("grbg16le"), -,       b"GR16", -,       Bayer, Packed,       1, 1, -, U16, [16],      Whole,  [(2, 1, 1, 1)];
    /// 16-bit Bayer, rows R G and G B.
    BayerRggb16  = 100, "bayer_rggb16", ("rggb16le"), -,       b"RG16", -,       Bayer, Packed,       1, 1, -, U16, [16],      Whole,  [(2, 1, 1, 1)];
    /// Binary16 R, G, B, a plane each: a network's input.
    PlanarRgbF16 = 101, "rgb16f_planar", -,           -,       -,       -,       Rgb,   Planar,       3, 3, -, F16, [16],      Whole,  [(2, 1, 1, 1), (2, 1, 1, 1), (2, 1, 1, 1)];
    /// Binary32 R, G, B, a plane each: a network's input.
    PlanarRgbF32 = 102, "rgb32f_planar", -,           -,       -,       -,       Rgb,   Planar,       3, 3, -, F32, [32],      Whole,  [(4, 1, 1, 1), (4, 1, 1, 1), (4, 1, 1, 1)];
}
