//! Four-character codes, and whose they are: the same four bytes mean different things to V4L2,
//! to DRM and to GStreamer.
//!
//! `RGBP` is packed 5-6-5 to V4L2 and three planes to GStreamer; `RG16` is packed 5-6-5 to DRM and
//! a Bayer mosaic to V4L2; `RGB3` and `BG24` are the same bytes in memory.

use std::fmt;

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

    /// The characters of a kernel's `__u32`.
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        Self(code.to_le_bytes())
    }
}

impl DrmFourcc {
    /// The code as the kernel's `__u32`.
    #[must_use]
    pub const fn code(self) -> u32 {
        u32::from_le_bytes(self.0)
    }

    /// The characters of a kernel's `__u32`.
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        Self(code.to_le_bytes())
    }
}

impl fmt::Display for V4l2Fourcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Display for DrmFourcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_is_the_lowest_byte() {
        assert_eq!(V4l2Fourcc(*b"NV12").code(), 0x3231_564e);
        assert_eq!(V4l2Fourcc::from_code(0x3231_564e).to_string(), "NV12");
        assert_eq!(DrmFourcc::from_code(DrmFourcc(*b"R8  ").code()).to_string(), "R8  ");
        assert_eq!(DrmFourcc([0, b'A', 0x80, b'\n']).to_string(), r"\x00A\x80\n");
    }
}
