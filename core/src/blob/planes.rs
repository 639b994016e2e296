//! The plane records of a blob, one after the other.

use std::iter::FusedIterator;

use super::{
    cursor::Reader,
    error::BlobError,
    plane::{INLINE, PlaneRecord},
};

/// Checks `count` records, which must fill `region`.
#[inline(always)]
pub(super) fn check(region: &[u8], count: usize) -> Result<(), BlobError> {
    let mut reader = Reader::new(region);
    let first = region.first_chunk().map(|handle| i64::from_le_bytes(*handle));
    let is_inline = first == Some(INLINE);
    for index in 0..count {
        PlaneRecord::read(&mut reader, index)?.check(index, is_inline)?;
    }
    match reader.rest().len() {
        0 => Ok(()),
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

    #[inline]
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
