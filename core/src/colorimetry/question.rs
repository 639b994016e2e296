//! The four questions, their answers, and the numbers each answer has elsewhere.

use crate::vocabulary::vocabulary;

/// The H.273 code point of a question without answer, in the tables of primaries, transfer
/// characteristics and matrix coefficients.
pub const UNSPECIFIED: u8 = 2;

vocabulary! {
    /// Which colours the primaries are (H.273 table 2).
    ColorSpace {
        /// BT.709.
        Bt709 = 1, "bt709";
        /// BT.2020 wide gamut.
        Bt2020 = 2, "bt2020";
        /// sRGB: the primaries of BT.709, written by a still camera, a webcam or a computer.
        Srgb = 3, "srgb";
        /// SMPTE 170M, standard definition.
        Smpte170m = 4, "smpte170m";
    }
}

vocabulary! {
    /// How light becomes a code value (H.273 table 3).
    ColorTransfer {
        /// BT.709, and BT.601 and BT.2020, whose curve is the same.
        Bt709 = 1, "bt709";
        /// sRGB (IEC 61966-2-1).
        Srgb = 2, "srgb";
        /// SMPTE ST 2084, perceptual quantizer.
        Pq = 3, "pq";
        /// ARIB STD-B67, hybrid log-gamma.
        Hlg = 4, "hlg";
        /// Linear light.
        Linear = 5, "linear";
    }
}

vocabulary! {
    /// The matrix between RGB and Y'CbCr (H.273 table 4).
    ColorEncoding {
        /// BT.601.
        Bt601 = 1, "bt601";
        /// BT.709.
        Bt709 = 2, "bt709";
        /// BT.2020, non-constant luminance.
        Bt2020 = 3, "bt2020";
    }
}

vocabulary! {
    /// Which code values black and white are (H.273 `VideoFullRangeFlag`).
    ColorRange {
        /// 0 to 255 for 8 bits.
        Full = 1, "full";
        /// 16 to 235 for luma, 16 to 240 for chroma, for 8 bits.
        Limited = 2, "limited";
    }
}

/// One answer with its numbers elsewhere. Of several rows for an answer the first is written.
pub(super) struct Row<Answer> {
    pub(super) answer: Answer,
    /// H.273.
    pub(super) point: u8,
    /// GStreamer 1.22, `gst/video/video-color.h`.
    pub(super) gstreamer: u32,
}

/// Answer, H.273 code point, GStreamer number.
macro_rules! rows {
    ($name:ident, $question:ident: $($answer:ident $point:literal $gstreamer:literal,)+) => {
        pub(super) const $name: &[Row<$question>] = &[$(
            Row { answer: $question::$answer, point: $point, gstreamer: $gstreamer },
        )+];

        impl $question {
            /// The H.273 code point.
            #[must_use]
            pub fn code_point(self) -> u8 {
                let row = $name.iter().find(|row| row.answer == self);
                row.map_or(UNSPECIFIED, |row| row.point)
            }

            /// The answer with this H.273 code point; `None` when it is unspecified, reserved, or
            /// means something there is no word for here.
            #[must_use]
            pub fn from_code_point(point: u8) -> Option<Self> {
                $name.iter().find(|row| row.point == point).map(|row| row.answer)
            }
        }
    };
}

rows! { SPACES, ColorSpace:
    Bt709 1 1,
    Bt2020 9 7,
    Smpte170m 6 4,
    Srgb 1 1,
}

rows! { TRANSFERS, ColorTransfer:
    Bt709 1 5,
    Bt709 6 16,
    Bt709 14 13,
    Bt709 15 11,
    Srgb 13 7,
    Pq 16 14,
    Hlg 18 15,
    Linear 8 1,
}

rows! { ENCODINGS, ColorEncoding:
    Bt601 6 4,
    Bt601 5 4,
    Bt709 1 3,
    Bt2020 9 6,
}

rows! { RANGES, ColorRange:
    Full 1 1,
    Limited 0 2,
}
