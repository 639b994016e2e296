//! Rows of a destination, one after the other, for one thread.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::{
    MAX_THREADS, RunError,
    store::MAX_CHANNELS,
    target::{Place, Target},
};
use crate::format::MAX_PLANES;

/// The same rows of each plane of a destination.
#[derive(Debug)]
pub(super) struct Band<'a> {
    /// Which rows.
    pub(super) rows: Range<usize>,
    /// Their bytes in each plane, from the first sample of the first to the last of the last.
    planes: ArrayVec<&'a mut [u8], MAX_CHANNELS>,
    stride: usize,
    row_bytes: usize,
}

impl Band<'_> {
    /// The planes there are.
    pub(super) fn planes(&self) -> usize {
        self.planes.len()
    }

    /// The samples of row `row` of the destination in `plane`.
    pub(super) fn row(&mut self, plane: usize, row: usize) -> Option<&mut [u8]> {
        let start = row.checked_sub(self.rows.start)?.checked_mul(self.stride)?;
        self.planes.get_mut(plane)?.get_mut(start..start.checked_add(self.row_bytes)?)
    }
}

/// The bands of `target` over `memories`, one for each of the `rows`, which follow each other.
///
/// # Errors
/// [`RunError::Strides`] when planes lie in each other, so that there are none.
pub(super) fn bands<'a>(
    target: &Target,
    memories: ArrayVec<&'a mut [u8], MAX_PLANES>,
    rows: &[Range<usize>],
) -> Result<ArrayVec<Band<'a>, MAX_THREADS>, RunError> {
    let mut bands: ArrayVec<Band<'a>, MAX_THREADS> = rows
        .iter()
        .map(|rows| Band {
            rows: rows.clone(),
            planes: target.places().iter().map(|_| Default::default()).collect(),
            stride: target.stride(),
            row_bytes: target.row_bytes(),
        })
        .collect();
    let mut places: ArrayVec<(usize, Place), MAX_CHANNELS> =
        target.places().iter().copied().enumerate().collect();
    // What is before a plane is cut off, so the one that begins first comes first.
    places.sort_unstable_by_key(|(_, place)| place.offset);
    for (memory, mut rest) in memories.into_iter().enumerate() {
        let mut cut = 0;
        for (plane, place) in places.iter().filter(|(_, place)| place.memory == memory) {
            for band in &mut bands {
                let bytes = take(&mut rest, &mut cut, target.bytes(*place, &band.rows));
                let bytes =
                    bytes.ok_or(RunError::Strides { why: "its planes lie in each other" })?;
                if let Some(own) = band.planes.get_mut(*plane) {
                    *own = bytes;
                }
            }
        }
    }
    Ok(bands)
}

/// The bytes `range` of what `rest` is the end of, after `cut` bytes; what is before them is lost.
fn take<'a>(
    rest: &mut &'a mut [u8],
    cut: &mut usize,
    range: Option<Range<usize>>,
) -> Option<&'a mut [u8]> {
    let Range { start, end } = range?;
    let (_, from_start) = std::mem::take(rest).split_at_mut_checked(start.checked_sub(*cut)?)?;
    let (bytes, after) = from_start.split_at_mut_checked(end.checked_sub(start)?)?;
    (*rest, *cut) = (after, end);
    Some(bytes)
}
