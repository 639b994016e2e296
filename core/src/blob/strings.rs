//! The five strings: what the image is, in words that no two builds number differently.

use super::{
    cursor::{Reader, padding, wide},
    error::BlobError,
};
use crate::{
    colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry},
    format::PixelFormat,
};

/// Bytes of a string's length.
const LENGTH_BYTES: usize = 4;

/// Characters of an unknown name that an error repeats.
const NAME_CHARS: usize = 32;

/// The five strings; an empty one says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strings {
    pub(super) format: &'static str,
    pub(super) color_space: &'static str,
    pub(super) color_transfer: &'static str,
    pub(super) color_encoding: &'static str,
    pub(super) color_range: &'static str,
}

impl Strings {
    /// The strings in wire order.
    const fn in_order(&self) -> [&'static str; 5] {
        let Self { format, color_space, color_transfer, color_encoding, color_range } = *self;
        [format, color_space, color_transfer, color_encoding, color_range]
    }

    /// Bytes of the region when it starts at byte `start` of its blob, padding included. `None`
    /// when that is more than memory.
    pub(super) fn encoded_len(&self, start: usize) -> Option<usize> {
        let len = self.in_order().into_iter().try_fold(0_usize, |sum, text| {
            sum.checked_add(LENGTH_BYTES)?.checked_add(text.len())
        })?;
        len.checked_add(padding(start.checked_add(len)?))
    }

    /// Appends the strings to a blob that starts with `out`, and zeros to the next multiple of 8.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for text in self.in_order() {
            // Only names of this build's tables are written; none is near the limit.
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        out.resize(out.len().next_multiple_of(8), 0);
    }

    /// The names of a format and its colours.
    pub(super) fn of(format: Option<PixelFormat>, colorimetry: Colorimetry) -> Self {
        let Colorimetry { space, transfer, encoding, range } = colorimetry;
        Self {
            format: format.map_or("", PixelFormat::name),
            color_space: space.map_or("", ColorSpace::name),
            color_transfer: transfer.map_or("", ColorTransfer::name),
            color_encoding: encoding.map_or("", ColorEncoding::name),
            color_range: range.map_or("", ColorRange::name),
        }
    }
}

/// What the five strings of a region name. Bytes after the fifth are not judged.
#[inline(always)]
pub(super) fn read(region: &[u8]) -> Result<(Option<PixelFormat>, Colorimetry), BlobError> {
    let mut reader = Reader::new(region);
    let format = named("format", &mut reader, PixelFormat::from_name_bytes)?;
    let colorimetry = Colorimetry {
        space: named("color_space", &mut reader, ColorSpace::from_name_bytes)?,
        transfer: named("color_transfer", &mut reader, ColorTransfer::from_name_bytes)?,
        encoding: named("color_encoding", &mut reader, ColorEncoding::from_name_bytes)?,
        range: named("color_range", &mut reader, ColorRange::from_name_bytes)?,
    };
    Ok((format, colorimetry))
}

/// What the next string names; an empty one names nothing.
#[inline(always)]
fn named<T>(
    field: &'static str,
    reader: &mut Reader<'_>,
    find: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<T>, BlobError> {
    match next(reader) {
        Some([]) => Ok(None),
        Some(name) => match find(name) {
            Some(word) => Ok(Some(word)),
            None => Err(no_name(field, name)),
        },
        None => Err(no_string(field, *reader)),
    }
}

/// The next string. Every name there is is ASCII, so what is found needs no other check.
#[inline]
fn next<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let mut ahead = *reader;
    let name = ahead.array().map(u32::from_le_bytes).and_then(|len| ahead.counted(len))?;
    *reader = ahead;
    Some(name)
}

/// Why the next string is not there.
#[cold]
fn no_string(field: &'static str, mut reader: Reader<'_>) -> BlobError {
    let left = reader.rest().len();
    let len = reader.array().map_or(0, u32::from_le_bytes);
    BlobError::StringBounds { field, need: u64::from(len).saturating_add(wide(LENGTH_BYTES)), left }
}

/// Why a string names nothing.
#[cold]
fn no_name(field: &'static str, name: &[u8]) -> BlobError {
    match std::str::from_utf8(name) {
        Ok(name) => BlobError::UnknownName { field, name: name.chars().take(NAME_CHARS).collect() },
        Err(error) => BlobError::InvalidUtf8 { field, valid_up_to: error.valid_up_to() },
    }
}
