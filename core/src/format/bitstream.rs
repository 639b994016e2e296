//! Compressed pictures: bytes whose length is all that is known of them here.

use std::fmt;

use super::V4l2Fourcc;
use crate::{dtype::DType, shape::Shape};

/// A compressed format. A tensor of one is bytes: one plane, one axis, no rows.
///
/// ```
/// use tensor_core::{Bitstream, DType};
/// let stream = Bitstream::from_caps_name("video/x-h264").unwrap();
/// assert_eq!(&*stream.shape(48_613), [48_613]);
/// assert_eq!(stream.dtype(), DType::U8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bitstream {
    /// H.264, MPEG-4 AVC.
    H264,
    /// H.265, HEVC.
    H265,
    /// JPEG pictures, MJPEG among them.
    Jpeg,
    /// VP8.
    Vp8,
    /// VP9.
    Vp9,
    /// AV1.
    Av1,
}

struct Row {
    name: &'static str,
    caps_name: &'static str,
    v4l2: &'static [V4l2Fourcc],
}

impl Bitstream {
    /// Every format.
    pub const ALL: &[Self] = &[Self::H264, Self::H265, Self::Jpeg, Self::Vp8, Self::Vp9, Self::Av1];

    #[rustfmt::skip]
    const fn row(self) -> &'static Row {
        match self {
            Self::H264 => const { &Row { name: "h264", caps_name: "video/x-h264", v4l2: &[V4l2Fourcc(*b"H264")] } },
            Self::H265 => const { &Row { name: "h265", caps_name: "video/x-h265", v4l2: &[V4l2Fourcc(*b"HEVC")] } },
            Self::Jpeg => const { &Row { name: "jpeg", caps_name: "image/jpeg",   v4l2: &[V4l2Fourcc(*b"MJPG"), V4l2Fourcc(*b"JPEG")] } },
            Self::Vp8  => const { &Row { name: "vp8",  caps_name: "video/x-vp8",  v4l2: &[V4l2Fourcc(*b"VP80")] } },
            Self::Vp9  => const { &Row { name: "vp9",  caps_name: "video/x-vp9",  v4l2: &[V4l2Fourcc(*b"VP90")] } },
            Self::Av1  => const { &Row { name: "av1",  caps_name: "video/x-av1",  v4l2: &[V4l2Fourcc(*b"AV01")] } },
        }
    }

    /// The wire name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name of GStreamer's caps.
    #[must_use]
    pub const fn caps_name(self) -> &'static str {
        self.row().caps_name
    }

    /// The V4L2 codes that mean whole frames of it.
    #[must_use]
    pub const fn v4l2_fourccs(self) -> &'static [V4l2Fourcc] {
        self.row().v4l2
    }

    /// The type of one element.
    #[must_use]
    pub const fn dtype(self) -> DType {
        DType::U8
    }

    /// The shape of `byte_len` bytes of it.
    #[must_use]
    pub fn shape(self, byte_len: usize) -> Shape {
        Shape::new(&[byte_len]).unwrap_or_default()
    }

    /// The format with this wire name; case matters.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stream| stream.name() == name)
    }

    /// The format of GStreamer caps of this name.
    #[must_use]
    pub fn from_caps_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stream| stream.caps_name() == name)
    }

    /// The format with this V4L2 code.
    #[must_use]
    pub fn from_v4l2_fourcc(fourcc: V4l2Fourcc) -> Option<Self> {
        Self::ALL.iter().copied().find(|stream| stream.v4l2_fourccs().contains(&fourcc))
    }
}

impl fmt::Display for Bitstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::PixelFormat;

    // S-GEO-17
    #[test]
    fn a_bitstream_addresses_its_bytes() {
        assert_eq!(&*Bitstream::H264.shape(1234), [1234]);
        assert!(Bitstream::ALL.iter().all(|stream| stream.dtype() == DType::U8));
    }

    #[test]
    fn names_and_codes_round_trip_and_are_no_pixel_formats() {
        for stream in Bitstream::ALL.iter().copied() {
            assert_eq!(Bitstream::from_name(stream.name()), Some(stream));
            assert_eq!(PixelFormat::from_name(stream.name()), None);
            assert_eq!(Bitstream::from_caps_name(stream.caps_name()), Some(stream));
            for fourcc in stream.v4l2_fourccs() {
                assert_eq!(Bitstream::from_v4l2_fourcc(*fourcc), Some(stream));
                assert_eq!(PixelFormat::from_v4l2_fourcc(*fourcc), None);
            }
        }
        assert_eq!(Bitstream::from_name("H264"), None);
    }
}
