//! Colour as four separate questions, each of which may be unanswered.
//!
//! An unanswered question is `None`: H.273 code point 2, GStreamer number 0, code 0 in a packed
//! word. Nothing is filled in unless the caller says how: [`Colorimetry::merge`] takes the answers
//! of another source, [`Colorimetry::guess_yuv`] and its siblings guess as GStreamer
//! does.
//!
//! The same answer has another number in each system:
//!
//! | question | answer | packed | H.273 | GStreamer |
//! |---|---|---|---|---|
//! | primaries | `bt709` | 1 | 1 | 1 |
//! | | `bt2020` | 2 | 9 | 7 |
//! | | `srgb` | 3 | 1 | 1 |
//! | | `smpte170m` | 4 | 6 | 4 |
//! | transfer | `bt709` | 1 | 1, 6, 14, 15 | 5, 16, 13, 11 |
//! | | `srgb` | 2 | 13 | 7 |
//! | | `pq` | 3 | 16 | 14 |
//! | | `hlg` | 4 | 18 | 15 |
//! | | `linear` | 5 | 8 | 1 |
//! | matrix | `bt601` | 1 | 6, 5 | 4 |
//! | | `bt709` | 2 | 1 | 3 |
//! | | `bt2020` | 3 | 9 | 6 |
//! | range | `full` | 1 | 1 | 1 |
//! | | `limited` | 2 | 0 | 2 |
//!
//! H.273 calls the curves 1, 6, 14 and 15 functionally the same, and the matrices 5 and 6. The
//! primaries of sRGB are those of BT.709; they are read as `srgb` when the curve is sRGB's. V4L2's
//! numbers are in [`Colorimetry::from_v4l2`].

#![forbid(unsafe_code)]

mod gstreamer;
mod matrix;
mod pack;
mod question;
mod rational;
#[cfg(test)]
mod tests;
mod transform;
mod v4l2;

pub use gstreamer::UnknownColorimetry;
pub use matrix::{Matrix, MatrixWeights, RangeScaling};
pub use question::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, UNSPECIFIED};
pub use rational::Rational;
pub use transform::ColorTransform;

/// The four answers for one image.
///
/// ```
/// use tensor_core::{ColorEncoding, ColorRange, Colorimetry};
/// let camera = Colorimetry::from_gstreamer("2:4:7:1")?;
/// assert_eq!(camera.encoding, Some(ColorEncoding::Bt601));
/// assert_eq!(camera.range, Some(ColorRange::Limited));
///
/// let decoder = Colorimetry::default().with_range(ColorRange::Full);
/// let whole = decoder.merge(Colorimetry::guess_yuv(1080));
/// assert_eq!(whole.encoding, Some(ColorEncoding::Bt709));
/// assert_eq!(whole.range, Some(ColorRange::Full));
/// # Ok::<(), tensor_core::colorimetry::UnknownColorimetry>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Colorimetry {
    /// Primaries.
    pub space: Option<ColorSpace>,
    /// Transfer function.
    pub transfer: Option<ColorTransfer>,
    /// Y'CbCr matrix; RGB has none.
    pub encoding: Option<ColorEncoding>,
    /// Range of the code values.
    pub range: Option<ColorRange>,
}

impl Colorimetry {
    /// Standard definition video.
    pub const BT601: Self = Self::all(
        ColorSpace::Smpte170m,
        ColorTransfer::Bt709,
        ColorEncoding::Bt601,
        ColorRange::Limited,
    );
    /// High definition video.
    pub const BT709: Self = Self::all(
        ColorSpace::Bt709,
        ColorTransfer::Bt709,
        ColorEncoding::Bt709,
        ColorRange::Limited,
    );
    /// Ultra high definition video of standard dynamic range.
    pub const BT2020: Self = Self::all(
        ColorSpace::Bt2020,
        ColorTransfer::Bt709,
        ColorEncoding::Bt2020,
        ColorRange::Limited,
    );
    /// High dynamic range video with the PQ curve.
    pub const BT2100_PQ: Self = Self { transfer: Some(ColorTransfer::Pq), ..Self::BT2020 };
    /// High dynamic range video with the HLG curve.
    pub const BT2100_HLG: Self = Self { transfer: Some(ColorTransfer::Hlg), ..Self::BT2020 };
    /// sRGB of a computer: full range RGB, so without a matrix.
    pub const SRGB: Self = Self {
        space: Some(ColorSpace::Srgb),
        transfer: Some(ColorTransfer::Srgb),
        encoding: None,
        range: Some(ColorRange::Full),
    };
    /// JPEG files and Motion-JPEG.
    pub const JFIF: Self = Self { encoding: Some(ColorEncoding::Bt601), ..Self::SRGB };

    const fn all(
        space: ColorSpace,
        transfer: ColorTransfer,
        encoding: ColorEncoding,
        range: ColorRange,
    ) -> Self {
        Self {
            space: Some(space),
            transfer: Some(transfer),
            encoding: Some(encoding),
            range: Some(range),
        }
    }

    /// What JPEG files are: sRGB primaries and curve, the BT.601 matrix, full range.
    #[must_use]
    pub const fn jfif() -> Self {
        Self::JFIF
    }

    /// A guess, the one GStreamer 1.22 makes for Y'CbCr caps without colorimetry: BT.601 up to 576
    /// rows of pixels and BT.709 above. The width plays no part.
    #[must_use]
    pub const fn guess_yuv(height: usize) -> Self {
        if height > 576 { Self::BT709 } else { Self::BT601 }
    }

    /// A guess, the one GStreamer 1.22 makes for RGB caps without colorimetry: sRGB.
    #[must_use]
    pub const fn guess_rgb() -> Self {
        Self::SRGB
    }

    /// A guess, the one GStreamer 1.22 makes for grey caps without colorimetry: full range luma of
    /// BT.601, of unknown primaries and curve.
    #[must_use]
    pub const fn guess_grey() -> Self {
        Self { space: None, transfer: None, ..Self::JFIF }
    }

    /// The answers of `self`, and those of `other` where `self` has none.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            space: self.space.or(other.space),
            transfer: self.transfer.or(other.transfer),
            encoding: self.encoding.or(other.encoding),
            range: self.range.or(other.range),
        }
    }

    /// The same but for these primaries.
    #[must_use]
    pub const fn with_space(self, space: ColorSpace) -> Self {
        Self { space: Some(space), ..self }
    }

    /// The same but for this transfer function.
    #[must_use]
    pub const fn with_transfer(self, transfer: ColorTransfer) -> Self {
        Self { transfer: Some(transfer), ..self }
    }

    /// The same but for this matrix.
    #[must_use]
    pub const fn with_encoding(self, encoding: ColorEncoding) -> Self {
        Self { encoding: Some(encoding), ..self }
    }

    /// The same but for this range.
    #[must_use]
    pub const fn with_range(self, range: ColorRange) -> Self {
        Self { range: Some(range), ..self }
    }

    /// The answers of three H.273 code points and the full range flag, as a codec's bit stream has
    /// them.
    ///
    /// ```
    /// use tensor_core::{Colorimetry, colorimetry::UNSPECIFIED};
    /// assert_eq!(Colorimetry::from_code_points(9, 16, 9, Some(false)), Colorimetry::BT2100_PQ);
    /// let unknown = Colorimetry::from_code_points(UNSPECIFIED, UNSPECIFIED, UNSPECIFIED, None);
    /// assert_eq!(unknown, Colorimetry::default());
    /// ```
    #[must_use]
    pub fn from_code_points(
        primaries: u8,
        transfer: u8,
        matrix: u8,
        full_range: Option<bool>,
    ) -> Self {
        let range = full_range.map(|full| match full {
            true => ColorRange::Full,
            false => ColorRange::Limited,
        });
        Self {
            space: ColorSpace::from_code_point(primaries),
            transfer: ColorTransfer::from_code_point(transfer),
            encoding: ColorEncoding::from_code_point(matrix),
            range,
        }
        .with_srgb_named()
    }

    /// The H.273 code points of primaries, transfer and matrix; [`UNSPECIFIED`] without an answer.
    #[must_use]
    pub fn code_points(self) -> [u8; 3] {
        [
            self.space.map_or(UNSPECIFIED, ColorSpace::code_point),
            self.transfer.map_or(UNSPECIFIED, ColorTransfer::code_point),
            self.encoding.map_or(UNSPECIFIED, ColorEncoding::code_point),
        ]
    }

    /// Reads BT.709 primaries under the sRGB curve as sRGB, as cameras and computers mean them.
    fn with_srgb_named(self) -> Self {
        match (self.space, self.transfer) {
            (Some(ColorSpace::Bt709), Some(ColorTransfer::Srgb)) => {
                self.with_space(ColorSpace::Srgb)
            }
            _ => self,
        }
    }
}
