//! The four answers as one word.

use super::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry};

impl Colorimetry {
    /// The four codes in one word, a byte each: primaries lowest, then transfer, matrix and range;
    /// 0 without an answer. The published descriptor carries this word.
    ///
    /// ```
    /// use tensor_core::Colorimetry;
    /// assert_eq!(Colorimetry::jfif().pack(), 0x01_01_02_03);
    /// assert_eq!(Colorimetry::unpack(0x01_01_02_03), Colorimetry::jfif());
    /// ```
    #[must_use]
    pub fn pack(self) -> u32 {
        let codes = [
            self.space.map_or(0, ColorSpace::code),
            self.transfer.map_or(0, ColorTransfer::code),
            self.encoding.map_or(0, ColorEncoding::code),
            self.range.map_or(0, ColorRange::code),
        ];
        codes.into_iter().rev().fold(0, |word, code| word << 8 | code)
    }

    /// The answers in a packed word; a code that is none of this version's leaves its question
    /// unanswered.
    #[must_use]
    pub fn unpack(word: u32) -> Self {
        let [space, transfer, encoding, range] = word.to_le_bytes().map(u32::from);
        Self {
            space: ColorSpace::from_code(space),
            transfer: ColorTransfer::from_code(transfer),
            encoding: ColorEncoding::from_code(encoding),
            range: ColorRange::from_code(range),
        }
    }
}
