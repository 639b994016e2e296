//! The records at the end of the extension: each a kind, its length, and what the kind says.

use super::{
    cursor::{Reader, wide, wire_struct},
    error::BlobError,
    plane::field_u32,
};
use crate::{
    preprocess::{ContentRegion, Origin},
    shape::Region,
};

/// Where an image lies in a model's input.
const CONTENT: u32 = 1;
/// Which part of a frame that image is.
const TAKEN: u32 = 2;

/// Bytes of a record's kind and length.
const HEAD_LEN: usize = 8;
const _: () = assert!(HEAD_LEN == 2 * size_of::<u32>());
/// Bytes of a record of a region.
const REGION_LEN: usize = 32;

wire_struct! {
    /// A rectangle, and the size of what it is a part of; pixels.
    RegionRecord, REGION_LEN, {
        0 kind: u32,
        4 len: u32,
        8 x: u32,
        12 y: u32,
        16 width: u32,
        20 height: u32,
        24 of_width: u32,
        28 of_height: u32,
    }
}

/// Reads the records that fill `bytes`. Kinds that are not known are passed over.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Origin>, BlobError> {
    let (mut content, mut taken) = (None, None);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (kind, record) = next(&mut rest)?;
        let place = match kind {
            CONTENT => &mut content,
            TAKEN => &mut taken,
            _ => continue,
        };
        *place = Some(region(record)?);
    }
    Ok(content.map(|content| Origin { content, taken }))
}

/// The kind of the next record, and all its bytes. The last may lack its padding.
fn next<'a>(rest: &mut &'a [u8]) -> Result<(u32, &'a [u8]), BlobError> {
    let left = rest.len();
    let short = |len| BlobError::ExtensionRecord { len, left };
    let mut head = Reader::new(rest);
    let mut field = || head.array().map(u32::from_le_bytes).ok_or(short(wide(left)));
    let (kind, said) = (field()?, field()?);
    let len = usize::try_from(said).ok().filter(|len| *len >= HEAD_LEN);
    let record = len.and_then(|len| rest.get(..len)).ok_or(short(said.into()))?;
    let padded = record.len().checked_next_multiple_of(8).unwrap_or(left);
    *rest = rest.get(padded..).unwrap_or_default();
    Ok((kind, record))
}

fn region(record: &[u8]) -> Result<ContentRegion, BlobError> {
    let len = wide(record.len());
    let read = RegionRecord::read(&mut Reader::new(record));
    let read = read.ok_or(BlobError::ExtensionRecord { len, left: REGION_LEN })?;
    let RegionRecord { kind, x, y, width, height, of_width, of_height, .. } = read;
    let pixels = Region::new(size(x), size(y), size(width), size(height));
    let (width, height) = (size(of_width), size(of_height));
    if pixels.is_empty() || !pixels.fits(width, height) {
        return Err(BlobError::ExtensionRegion { kind, region: pixels, width, height });
    }
    Ok(ContentRegion::new(pixels, width, height))
}

/// Where a `usize` is narrower than a field, what does not fit is refused as out of bounds.
fn size(field: u32) -> usize {
    usize::try_from(field).unwrap_or(usize::MAX)
}

/// Bytes of the records, a multiple of 8.
pub(super) fn encoded_len(origin: Option<Origin>) -> usize {
    origin.map_or(0, |origin| if origin.taken.is_some() { 2 * REGION_LEN } else { REGION_LEN })
}

/// Appends the records.
pub(super) fn write(origin: Option<Origin>, out: &mut Vec<u8>) -> Result<(), BlobError> {
    let Some(Origin { content, taken }) = origin else { return Ok(()) };
    let records = [(CONTENT, Some(content)), (TAKEN, taken)];
    for (kind, region) in records {
        let Some(region) = region else { continue };
        let (Region { x, y, width, height }, (of_width, of_height)) =
            (region.pixels(), region.size());
        if region.pixels().is_empty() || !region.pixels().fits(of_width, of_height) {
            let (region, width, height) = (region.pixels(), of_width, of_height);
            return Err(BlobError::ExtensionRegion { kind, region, width, height });
        }
        let field = |value| field_u32("record", value);
        RegionRecord {
            kind,
            len: field(REGION_LEN)?,
            x: field(x)?,
            y: field(y)?,
            width: field(width)?,
            height: field(height)?,
            of_width: field(of_width)?,
            of_height: field(of_height)?,
        }
        .write(out);
    }
    Ok(())
}
