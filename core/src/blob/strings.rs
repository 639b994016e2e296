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
pub(super) struct Strings<'a> {
    pub(super) format: &'a str,
    pub(super) color_space: &'a str,
    pub(super) color_transfer: &'a str,
    pub(super) color_encoding: &'a str,
    pub(super) color_range: &'a str,
}

impl<'a> Strings<'a> {
    /// Reads the strings from their region. Bytes after the fifth are not judged.
    pub(super) fn parse(region: &'a [u8]) -> Result<Self, BlobError> {
        let mut reader = Reader::new(region);
        let mut next = |field| read_string(field, &mut reader);
        Ok(Self {
            format: next("format")?,
            color_space: next("color_space")?,
            color_transfer: next("color_transfer")?,
            color_encoding: next("color_encoding")?,
            color_range: next("color_range")?,
        })
    }

    /// The strings in wire order.
    const fn in_order(&self) -> [&'a str; 5] {
        let Self { format, color_space, color_transfer, color_encoding, color_range } = *self;
        [format, color_space, color_transfer, color_encoding, color_range]
    }

    /// What the strings name.
    pub(super) fn meaning(&self) -> Result<(Option<PixelFormat>, Colorimetry), BlobError> {
        let format = known("format", self.format, PixelFormat::from_name)?;
        let colorimetry = Colorimetry {
            space: known("color_space", self.color_space, ColorSpace::from_name)?,
            transfer: known("color_transfer", self.color_transfer, ColorTransfer::from_name)?,
            encoding: known("color_encoding", self.color_encoding, ColorEncoding::from_name)?,
            range: known("color_range", self.color_range, ColorRange::from_name)?,
        };
        Ok((format, colorimetry))
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
}

impl Strings<'static> {
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

fn read_string<'a>(field: &'static str, reader: &mut Reader<'a>) -> Result<&'a str, BlobError> {
    let left = reader.rest().len();
    let bounds = |len: u32| BlobError::StringBounds {
        field,
        need: u64::from(len).saturating_add(wide(LENGTH_BYTES)),
        left,
    };
    let len = reader.array().map(u32::from_le_bytes).ok_or_else(|| bounds(0))?;
    let text = reader.counted(len).ok_or_else(|| bounds(len))?;
    std::str::from_utf8(text)
        .map_err(|error| BlobError::InvalidUtf8 { field, valid_up_to: error.valid_up_to() })
}

/// What a string names; an empty one names nothing.
fn known<T>(
    field: &'static str,
    name: &str,
    find: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, BlobError> {
    if name.is_empty() {
        return Ok(None);
    }
    match find(name) {
        Some(value) => Ok(Some(value)),
        None => {
            Err(BlobError::UnknownName { field, name: name.chars().take(NAME_CHARS).collect() })
        }
    }
}
