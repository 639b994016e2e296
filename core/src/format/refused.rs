//! Formats that cameras and decoders offer and no row can say, each with the reason.

use super::{DrmFourcc, PixelFormat, V4l2Fourcc};

/// Formats that are refused, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, as the end of a sentence that names the format.
    pub why: &'static str,
    /// GStreamer's names in `video/x-raw` caps.
    pub gst: &'static [&'static str],
    /// V4L2 codes.
    pub v4l2: &'static [V4l2Fourcc],
    /// DRM codes.
    pub drm: &'static [DrmFourcc],
}

/// Makes the list of refusals; names are those of GStreamer, V4L2 and DRM, in this order.
macro_rules! refusals {
    ($($why:literal: [$($gst:literal),*], [$($v4l2:literal),*], [$($drm:literal),*];)*) => {
        const REFUSED: &[Refusal] = &[$(Refusal {
            why: $why,
            gst: &[$($gst),*],
            v4l2: &[$(V4l2Fourcc(*$v4l2)),*],
            drm: &[$(DrmFourcc(*$drm)),*],
        }),*];
    };
}

refusals! {
    "three 10-bit samples share 32 bits, so a column is no whole number of bytes":
        ["NV12_10LE32", "NV16_10LE32", "GRAY10_LE32"], [], [b"P030"];
    "four 10-bit samples share 5 bytes, so a column is no whole number of bytes":
        ["NV12_10LE40", "NV16_10LE40"], [b"NV15", b"NV20"], [b"NV15", b"NV20"];
    "six 10-bit pixels share 16 bytes, so a column is no whole number of bytes":
        ["v210"], [], [];
    "its samples lie in tiles, not in rows":
        ["NV12_4L4", "NV12_32L32", "NV12_16L32S", "NV12_64Z32", "NV12_8L128", "NV12_10BE_8L128",
         "NV12_10LE40_4L4", "MT2110T", "MT2110R"],
        [b"VT12", b"T010", b"HM12", b"ST12", b"TM12", b"VM12", b"NA12", b"NT12", b"AT12", b"AX12",
         b"MM21", b"MT2T", b"MT2R"],
        [];
    "its samples have no order that rows could give":
        [], [], [b"YU08", b"YU10"];
    "its Bayer samples are packed as MIPI sends them, so a column is no whole number of bytes":
        [],
        [b"pBAA", b"pGAA", b"pgAA", b"pRAA", b"pBCC", b"pGCC", b"pgCC", b"pRCC", b"pBEE", b"pGEE",
         b"pgEE", b"pREE", b"Y10P"],
        [];
    "its samples are big-endian":
        ["P010_10BE", "P012_BE", "P016_BE", "GRAY16_BE"], [], [];
    "the kernel does not say whether its fourth byte is alpha; ask for a code that does":
        [], [b"RGB4", b"BGR4"], [];
    "its samples are indices into a palette":
        ["RGB8P"], [b"PAL8"], [b"C8  "];
    "it names no format; the field drm-format does":
        ["DMA_DRM"], [], [];
}

impl PixelFormat {
    /// Every refusal that has a reason of its own.
    pub const REFUSED: &[Refusal] = REFUSED;

    /// Why the format that GStreamer calls by this name is refused; `None` for one that is in the
    /// table, and for one that nobody knows.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// let why = PixelFormat::refusal("NV12_4L4").unwrap();
    /// assert_eq!(why, "its samples lie in tiles, not in rows");
    /// assert_eq!(PixelFormat::refusal("NV12"), None);
    /// ```
    #[must_use]
    pub fn refusal(gst_name: &str) -> Option<&'static str> {
        REFUSED.iter().find(|refusal| refusal.gst.contains(&gst_name)).map(|refusal| refusal.why)
    }

    /// Why the format with this V4L2 code is refused; see [`refusal`](Self::refusal).
    #[must_use]
    pub fn v4l2_refusal(fourcc: V4l2Fourcc) -> Option<&'static str> {
        REFUSED.iter().find(|refusal| refusal.v4l2.contains(&fourcc)).map(|refusal| refusal.why)
    }

    /// Why the format with this DRM code is refused; see [`refusal`](Self::refusal).
    #[must_use]
    pub fn drm_refusal(fourcc: DrmFourcc) -> Option<&'static str> {
        REFUSED.iter().find(|refusal| refusal.drm.contains(&fourcc)).map(|refusal| refusal.why)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_is_refused_is_in_no_row_and_refused_once() {
        let mut seen = HashSet::new();
        for refusal in PixelFormat::REFUSED {
            for name in refusal.gst {
                assert!(seen.insert(format!("gst {name}")), "{name}");
                assert_eq!(PixelFormat::from_gst_name(name), None);
                assert_eq!(PixelFormat::refusal(name), Some(refusal.why));
            }
            for fourcc in refusal.v4l2 {
                assert!(seen.insert(format!("v4l2 {fourcc}")), "{fourcc}");
                assert_eq!(PixelFormat::from_v4l2_fourcc(*fourcc), None, "{fourcc}");
                assert_eq!(PixelFormat::v4l2_refusal(*fourcc), Some(refusal.why));
            }
            for fourcc in refusal.drm {
                assert!(seen.insert(format!("drm {fourcc}")), "{fourcc}");
                assert_eq!(PixelFormat::from_drm_fourcc(*fourcc), None, "{fourcc}");
                assert_eq!(PixelFormat::drm_refusal(*fourcc), Some(refusal.why));
            }
        }
    }

    #[test]
    fn ten_bits_in_32_or_40_and_tiles_are_refused_by_name() {
        for name in ["NV12_10LE32", "NV12_10LE40", "NV12_4L4", "NV12_32L32"] {
            assert!(PixelFormat::refusal(name).is_some(), "{name}");
        }
        assert_eq!(PixelFormat::refusal("nobody's"), None);
    }
}
