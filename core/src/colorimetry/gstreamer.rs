//! The form colorimetry has in GStreamer caps.

use std::fmt;

use thiserror::Error;

use super::{
    ColorSpace, ColorTransfer, Colorimetry,
    question::{ENCODINGS, RANGES, Row, SPACES, TRANSFERS},
};

/// Text that is no GStreamer colorimetry.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "colorimetry: expected a name ({names}) or four numbers range:matrix:transfer:primaries, \
     got {given:?}",
    names = PRESETS.map(|preset| preset.name).join(", ")
)]
pub struct UnknownColorimetry {
    /// The text that was given.
    pub given: String,
}

/// GStreamer's number for an unanswered question.
const UNKNOWN: u32 = 0;

/// GStreamer's number for the identity matrix, which is no answer here: RGB has no matrix.
const MATRIX_RGB: u32 = 1;

/// A name GStreamer has, with its numbers in the order of the text form.
struct Preset {
    name: &'static str,
    numbers: [u32; 4],
}

/// GStreamer 1.22's names. Of several that mean the same answers the first is written.
const PRESETS: [Preset; 8] = [
    Preset { name: "bt601", numbers: [2, 4, 16, 4] },
    Preset { name: "bt709", numbers: [2, 3, 5, 1] },
    Preset { name: "smpte240m", numbers: [2, 5, 6, 5] },
    Preset { name: "sRGB", numbers: [1, 1, 7, 1] },
    Preset { name: "bt2020", numbers: [2, 6, 11, 7] },
    Preset { name: "bt2020-10", numbers: [2, 6, 13, 7] },
    Preset { name: "bt2100-pq", numbers: [2, 6, 14, 7] },
    Preset { name: "bt2100-hlg", numbers: [2, 6, 15, 7] },
];

impl Colorimetry {
    /// The answers in the text of a caps field: a name such as `bt709`, or the numbers
    /// `range:matrix:transfer:primaries`.
    ///
    /// A number without a word here leaves its question unanswered; so of `smpte240m` only the
    /// range is known.
    ///
    /// # Errors
    /// [`UnknownColorimetry`] for any other text.
    ///
    /// ```
    /// use tensor_core::Colorimetry;
    /// assert_eq!(Colorimetry::from_gstreamer("bt709")?, Colorimetry::BT709);
    /// assert_eq!(Colorimetry::from_gstreamer("1:4:7:1")?, Colorimetry::JFIF);
    /// assert!(Colorimetry::from_gstreamer("BT709").is_err());
    /// # Ok::<(), tensor_core::colorimetry::UnknownColorimetry>(())
    /// ```
    pub fn from_gstreamer(text: &str) -> Result<Self, UnknownColorimetry> {
        let named = PRESETS.iter().find(|preset| preset.name == text).map(|preset| preset.numbers);
        named
            .or_else(|| numbers(text))
            .map(Self::from_gstreamer_numbers)
            .ok_or_else(|| UnknownColorimetry { given: text.to_owned() })
    }

    /// The answers of GStreamer's enum values: range, matrix, transfer, primaries.
    #[must_use]
    pub fn from_gstreamer_numbers([range, matrix, transfer, primaries]: [u32; 4]) -> Self {
        Self {
            space: answer(SPACES, primaries),
            transfer: answer(TRANSFERS, transfer),
            encoding: answer(ENCODINGS, matrix),
            range: answer(RANGES, range),
        }
        .with_srgb_named()
    }

    /// GStreamer's enum values: range, matrix, transfer, primaries; 0 without an answer, but the
    /// matrix of an image that `is_rgb` is the identity.
    ///
    /// GStreamer keeps apart three curves that are one answer here; the one written is that of the
    /// primaries, as GStreamer's own names have it.
    #[must_use]
    pub fn to_gstreamer_numbers(self, is_rgb: bool) -> [u32; 4] {
        let matrix = if is_rgb { MATRIX_RGB } else { number(ENCODINGS, self.encoding) };
        let transfer = match (self.transfer, self.space) {
            (Some(ColorTransfer::Bt709), Some(ColorSpace::Smpte170m)) => 16,
            (Some(ColorTransfer::Bt709), Some(ColorSpace::Bt2020)) => 11,
            (transfer, _) => number(TRANSFERS, transfer),
        };
        [number(RANGES, self.range), matrix, transfer, number(SPACES, self.space)]
    }

    /// The text of a caps field: GStreamer's name where there is one, else the numbers; `None` when
    /// nothing is known, for which caps have no colorimetry field.
    ///
    /// ```
    /// use tensor_core::Colorimetry;
    /// let text = |colorimetry: Colorimetry| {
    ///     colorimetry.to_gstreamer(false).map(|text| text.to_string())
    /// };
    /// assert_eq!(text(Colorimetry::BT2020).as_deref(), Some("bt2020"));
    /// assert_eq!(text(Colorimetry::JFIF).as_deref(), Some("1:4:7:1"));
    /// assert_eq!(text(Colorimetry::default()), None);
    /// ```
    #[must_use]
    pub fn to_gstreamer(self, is_rgb: bool) -> Option<impl fmt::Display> {
        (self != Self::default()).then(|| Text(self.to_gstreamer_numbers(is_rgb)))
    }
}

/// Writes a preset's name or the numbers.
struct Text([u32; 4]);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(preset) = PRESETS.iter().find(|preset| preset.numbers == self.0) {
            return f.write_str(preset.name);
        }
        let [range, matrix, transfer, primaries] = self.0;
        write!(f, "{range}:{matrix}:{transfer}:{primaries}")
    }
}

/// Exactly four numbers between colons.
fn numbers(text: &str) -> Option<[u32; 4]> {
    let mut parts = text.split(':').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

fn answer<A: Copy>(rows: &[Row<A>], number: u32) -> Option<A> {
    rows.iter().find(|row| row.gstreamer == number).map(|row| row.answer)
}

fn number<A: Copy + PartialEq>(rows: &[Row<A>], answer: Option<A>) -> u32 {
    let row = answer.and_then(|answer| rows.iter().find(|row| row.answer == answer));
    row.map_or(UNKNOWN, |row| row.gstreamer)
}
