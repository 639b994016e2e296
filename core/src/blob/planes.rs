//! The plane records of a blob, one after the other.

use std::iter::FusedIterator;

use super::{cursor::Reader, error::BlobError, plane::PlaneRecord};
use crate::format::MAX_PLANES;

/// The records from the n-th on, for the first few n.
pub(super) type Starts<'a> = [&'a [u8]; MAX_PLANES];

/// Checks `count` records, which must fill `region`, and remembers where the first few start.
pub(super) fn check(region: &[u8], count: usize) -> Result<Starts<'_>, BlobError> {
    let mut reader = Reader::new(region);
    let mut starts = Starts::default();
    let mut inline = None;
    for index in 0..count {
        if let Some(start) = starts.get_mut(index) {
            *start = reader.rest();
        }
        let record = PlaneRecord::read(&mut reader, index)?;
        record.check(index, *inline.get_or_insert(record.is_inline()))?;
    }
    match reader.rest().len() {
        0 => Ok(starts),
        left => Err(BlobError::PlanesLeftover { left, planes: count }),
    }
}

/// The planes of a [`BlobView`](super::BlobView), in order.
#[derive(Clone, Debug)]
pub struct Planes<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Planes<'a> {
    /// `left` records that `records` starts with and that have been checked.
    pub(super) const fn new(records: &'a [u8], left: usize) -> Self {
        Self { reader: Reader::new(records), left }
    }
}

impl<'a> Iterator for Planes<'a> {
    type Item = PlaneRecord<'a>;

    fn next(&mut self) -> Option<PlaneRecord<'a>> {
        self.left = self.left.checked_sub(1)?;
        PlaneRecord::read(&mut self.reader, self.left).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Planes<'_> {}

impl FusedIterator for Planes<'_> {}
