//! Colour as four separate questions, each of which may be unanswered.
//!
//! The answers are code points of ITU-T H.273, so that they mean the same to a codec, a display
//! and a camera. What is not known stays `None`; nothing is guessed here.

/// One question of colorimetry: its answers, their wire names and H.273 code points.
macro_rules! question {
    ($(#[$doc:meta])* $name:ident { $($(#[$answer_doc:meta])* $answer:ident = $wire:literal, $point:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$answer_doc])* $answer,)* }

        impl $name {
            /// Every answer.
            pub const ALL: &[Self] = &[$(Self::$answer,)*];

            /// The name used in the tensor blob.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$answer => $wire,)* }
            }

            /// The answer with this blob name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($wire => Some(Self::$answer),)* _ => None }
            }

            /// The H.273 code point.
            #[must_use]
            pub const fn code_point(self) -> u8 {
                match self { $(Self::$answer => $point,)* }
            }
        }
    };
}

question! {
    /// Which colours the primaries are (H.273 table 2).
    ColorSpace {
        /// BT.709, also the primaries of sRGB.
        Bt709 = "bt709", 1;
        /// BT.2020 wide gamut.
        Bt2020 = "bt2020", 9;
        /// sRGB: the primaries of BT.709 with sRGB's white.
        Srgb = "srgb", 1;
        /// SMPTE 170M, standard definition.
        Smpte170m = "smpte170m", 6;
    }
}

question! {
    /// How light becomes a code value (H.273 table 3).
    ColorTransfer {
        /// BT.709.
        Bt709 = "bt709", 1;
        /// sRGB.
        Srgb = "srgb", 13;
        /// SMPTE ST 2084, perceptual quantizer.
        Pq = "pq", 16;
        /// ARIB STD-B67, hybrid log-gamma.
        Hlg = "hlg", 18;
        /// Linear light.
        Linear = "linear", 8;
    }
}

question! {
    /// The matrix between RGB and Y'CbCr (H.273 table 4).
    ColorEncoding {
        /// BT.601.
        Bt601 = "bt601", 6;
        /// BT.709.
        Bt709 = "bt709", 1;
        /// BT.2020, non-constant luminance.
        Bt2020 = "bt2020", 9;
    }
}

question! {
    /// Which code values black and white are (H.273 `VideoFullRangeFlag`).
    ColorRange {
        /// 0 to 255 for 8 bits.
        Full = "full", 1;
        /// 16 to 235 for luma, 16 to 240 for chroma, for 8 bits.
        Limited = "limited", 0;
    }
}

/// The four answers for one image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Colorimetry {
    /// Primaries.
    pub space: Option<ColorSpace>,
    /// Transfer function.
    pub transfer: Option<ColorTransfer>,
    /// Y'CbCr matrix.
    pub encoding: Option<ColorEncoding>,
    /// Range of the code values.
    pub range: Option<ColorRange>,
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! names_round_trip {
        ($($test:ident: $question:ident;)*) => { $(
            #[test]
            fn $test() {
                for answer in $question::ALL {
                    assert_eq!($question::from_name(answer.name()), Some(*answer));
                }
                assert_eq!($question::from_name(""), None);
                assert_eq!($question::from_name("BT709"), None);
            }
        )* };
    }

    names_round_trip! {
        names_of_spaces_round_trip: ColorSpace;
        names_of_transfers_round_trip: ColorTransfer;
        names_of_encodings_round_trip: ColorEncoding;
        names_of_ranges_round_trip: ColorRange;
    }
}
