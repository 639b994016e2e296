//! The form colorimetry has in V4L2 (`linux/videodev2.h`).

use super::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry};

/// `V4L2_XFER_FUNC_DEFAULT`, `V4L2_YCBCR_ENC_DEFAULT` and `V4L2_QUANTIZATION_DEFAULT`: derive it
/// from the colorspace.
const DEFAULT: u32 = 0;

/// A colorspace with what `DEFAULT` means in it; `None` where there is no word for it.
struct Space {
    number: u32,
    space: Option<ColorSpace>,
    transfer: Option<ColorTransfer>,
    encoding: Option<ColorEncoding>,
    range: ColorRange,
}

macro_rules! spaces {
    ($($number:literal $space:expr, $transfer:expr, $encoding:expr, $range:ident;)+) => {
        [$(Space {
            number: $number,
            space: $space,
            transfer: $transfer,
            encoding: $encoding,
            range: ColorRange::$range,
        },)+]
    };
}

/// The colorspaces of the header in its order; columns 3 to 5 are its `V4L2_MAP_*_DEFAULT` macros.
#[rustfmt::skip]
const SPACES: [Space; 12] = {
    use {ColorEncoding as E, ColorSpace as S, ColorTransfer as T};
    spaces! {
        1  Some(S::Smpte170m), Some(T::Bt709),  Some(E::Bt601),  Limited;
        2  None,               None,            None,            Limited;
        3  Some(S::Bt709),     Some(T::Bt709),  Some(E::Bt709),  Limited;
        4  None,               Some(T::Bt709),  Some(E::Bt601),  Limited;
        5  Some(S::Smpte170m), Some(T::Bt709),  Some(E::Bt601),  Limited;
        6  Some(S::Smpte170m), Some(T::Bt709),  Some(E::Bt601),  Limited;
        7  Some(S::Srgb),      Some(T::Srgb),   Some(E::Bt601),  Full;
        8  Some(S::Srgb),      Some(T::Srgb),   Some(E::Bt601),  Limited;
        9  None,               None,            Some(E::Bt601),  Limited;
        10 Some(S::Bt2020),    Some(T::Bt709),  Some(E::Bt2020), Limited;
        11 None,               Some(T::Linear), Some(E::Bt601),  Limited;
        12 None,               None,            Some(E::Bt709),  Limited;
    }
};

impl Colorimetry {
    /// The answers in the four colour fields of a V4L2 format: `colorspace`, `xfer_func`,
    /// `ycbcr_enc`, `quantization`. `is_rgb` says that the pixel format is RGB or HSV.
    ///
    /// A field of `DEFAULT` (0) is derived from the colorspace, as the header's
    /// `V4L2_MAP_XFER_FUNC_DEFAULT`, `V4L2_MAP_YCBCR_ENC_DEFAULT` and
    /// `V4L2_MAP_QUANTIZATION_DEFAULT` do; a dash is what there is no word for:
    ///
    /// | `colorspace` | primaries | transfer 0 | matrix 0 | range 0 |
    /// |---|---|---|---|---|
    /// | 0 `DEFAULT`, or not in the header | - | - | - | - |
    /// | 1 `SMPTE170M` | smpte170m | bt709 | bt601 | limited |
    /// | 2 `SMPTE240M` | - | - | - | limited |
    /// | 3 `REC709` | bt709 | bt709 | bt709 | limited |
    /// | 4 `BT878` | - | bt709 | bt601 | limited |
    /// | 5 `470_SYSTEM_M`, 6 `470_SYSTEM_BG` | smpte170m | bt709 | bt601 | limited |
    /// | 7 `JPEG` | srgb | srgb | bt601 | full |
    /// | 8 `SRGB` | srgb | srgb | bt601 | limited |
    /// | 9 `OPRGB` | - | - | bt601 | limited |
    /// | 10 `BT2020` | bt2020 | bt709 | bt2020 | limited |
    /// | 11 `RAW` | - | linear | bt601 | limited |
    /// | 12 `DCI_P3` | - | - | bt709 | limited |
    ///
    /// Range 0 of an RGB format is full in every colorspace, 0 included. The older 525 and 625 line
    /// systems (5 and 6) are read as the one word for standard definition.
    ///
    /// Any other number answers: transfer 1 bt709, 2 srgb, 5 linear, 7 pq; matrix 1 bt601, 2 bt709,
    /// 6 bt2020; range 1 full, 2 limited. A number that is none of these leaves its own question
    /// unanswered and no other.
    ///
    /// ```
    /// use tensor_core::Colorimetry;
    /// assert_eq!(Colorimetry::from_v4l2(7, 0, 0, 0, false), Colorimetry::jfif());
    /// assert_eq!(Colorimetry::from_v4l2(3, 0, 0, 0, false), Colorimetry::BT709);
    /// ```
    #[must_use]
    pub fn from_v4l2(
        colorspace: u32,
        xfer_func: u32,
        ycbcr_enc: u32,
        quantization: u32,
        is_rgb: bool,
    ) -> Self {
        let row = SPACES.iter().find(|row| row.number == colorspace);
        let transfer = match xfer_func {
            DEFAULT => row.and_then(|row| row.transfer),
            1 => Some(ColorTransfer::Bt709),
            2 => Some(ColorTransfer::Srgb),
            5 => Some(ColorTransfer::Linear),
            7 => Some(ColorTransfer::Pq),
            _ => None,
        };
        let encoding = match ycbcr_enc {
            DEFAULT => row.and_then(|row| row.encoding),
            1 => Some(ColorEncoding::Bt601),
            2 => Some(ColorEncoding::Bt709),
            6 => Some(ColorEncoding::Bt2020),
            _ => None,
        };
        let range = match quantization {
            DEFAULT if is_rgb => Some(ColorRange::Full),
            DEFAULT => row.map(|row| row.range),
            1 => Some(ColorRange::Full),
            2 => Some(ColorRange::Limited),
            _ => None,
        };
        Self { space: row.and_then(|row| row.space), transfer, encoding, range }
    }
}
