//! Where the elements of a tensor that is no image are.

mod error;
mod rows;

use std::{
    hash::{Hash, Hasher},
    ops::Range,
};

use arrayvec::ArrayVec;

pub use error::StridedError;
pub use rows::Rows;

use super::c_byte_strides;
use crate::shape::{MAX_RANK, Shape, Strides};

/// A shape, a signed byte step for each axis, and the byte of the first element.
///
/// Every value of this type is sound: all elements lie at or after byte 0, and no sum exceeds the
/// address space. So is every part of it, for which nothing is checked again. Elements may share
/// bytes (a step of 0 repeats an axis); who writes asks
/// [`may_overlap_itself`](Self::may_overlap_itself). The step of an axis with one element is never
/// taken, so no question depends on it, equality included.
///
/// ```
/// use tensor_core::{Shape, layout::StridedLayout};
/// let dense = StridedLayout::dense(&Shape::new(&[4, 6]).unwrap(), 2)?;
/// let part = dense.narrow(0, 1..3)?.narrow(1, 2..5)?;
/// assert_eq!((part.offset(), part.bounds()), (16, 16..34));
/// assert_eq!(part.offset_of(&[1, 2]), Some(32));
/// assert!(!part.is_dense());
/// assert_eq!((part.rows().row_bytes(), part.rows().collect()), (6, vec![16, 28]));
/// # Ok::<(), tensor_core::layout::StridedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StridedLayout {
    shape: Shape,
    strides: Strides,
    offset: usize,
    element_bytes: usize,
}

impl StridedLayout {
    /// Elements of `element_bytes` bytes in C order without gaps, from byte 0 on.
    ///
    /// # Errors
    /// [`StridedError::Element`] for elements without bytes, [`StridedError::Dense`] when they do
    /// not fit the address space.
    pub fn dense(shape: &Shape, element_bytes: usize) -> Result<Self, StridedError> {
        let strides = c_byte_strides(shape, element_bytes, 0, None)?;
        Self::new(shape.clone(), strides, 0, element_bytes)
    }

    /// Elements wherever `strides` (in bytes, of either sign) lead from byte `offset`.
    ///
    /// # Errors
    /// [`StridedError::Element`] for elements without bytes, [`StridedError::Rank`] unless there is
    /// a step for each axis, [`StridedError::BelowStart`] when elements lie before byte 0,
    /// [`StridedError::Overflow`] when they do not fit the address space.
    pub fn new(
        shape: Shape,
        strides: Strides,
        offset: usize,
        element_bytes: usize,
    ) -> Result<Self, StridedError> {
        if element_bytes == 0 {
            return Err(StridedError::Element);
        }
        if shape.len() != strides.len() {
            return Err(StridedError::Rank { rank: shape.len(), strides: strides.len() });
        }
        let layout = Self { shape, strides, offset, element_bytes };
        let Some((below, above)) = layout.reach() else { return Err(layout.overflow()) };
        if below > offset {
            return Err(StridedError::BelowStart { offset, below });
        }
        let end = offset.checked_add(above);
        if end.is_none_or(|end| isize::try_from(end).is_err()) {
            return Err(layout.overflow());
        }
        Ok(layout)
    }

    /// The number of elements along each axis.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The step of each axis in bytes.
    #[must_use]
    pub fn strides(&self) -> &Strides {
        &self.strides
    }

    /// Bytes from the start of the memory to the element at index 0 of every axis.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes of one element.
    #[must_use]
    pub fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.elements().unwrap_or(usize::MAX)
    }

    /// The lowest byte of any element to one past the highest; empty without elements.
    #[must_use]
    pub fn bounds(&self) -> Range<usize> {
        let (below, above) = self.reach().unwrap_or((0, usize::MAX));
        self.offset.saturating_sub(below)..self.offset.saturating_add(above)
    }

    /// Bytes the memory must have: the end of [`bounds`](Self::bounds).
    #[must_use]
    pub fn required_len(&self) -> usize {
        self.bounds().end
    }

    /// Whether elements follow each other in C order without gaps.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.rows().len() <= 1
    }

    /// Whether the first element and every step are whole elements, so that a memory which is
    /// aligned for elements holds only aligned ones.
    #[must_use]
    pub fn is_element_aligned(&self) -> bool {
        let mut steps = self.axes().filter(|(dim, _)| *dim > 1);
        self.offset.is_multiple_of(self.element_bytes)
            && steps.all(|(_, step)| step.unsigned_abs().is_multiple_of(self.element_bytes))
    }

    /// Whether two elements might share a byte. A layout that answers `false` has none that do; one
    /// that answers `true` may interleave axes in a way that only looks like it.
    #[must_use]
    pub fn may_overlap_itself(&self) -> bool {
        let mut axes: ArrayVec<(usize, usize), MAX_RANK> = self
            .axes()
            .filter(|(dim, _)| *dim != 1)
            .map(|(dim, step)| (step.unsigned_abs(), dim))
            .collect();
        if axes.iter().any(|(_, dim)| *dim == 0) {
            return false;
        }
        axes.sort_unstable();
        let mut taken = self.element_bytes;
        axes.iter().any(|(step, dim)| {
            let overlaps = *step < taken;
            taken = step.saturating_mul(dim.saturating_sub(1)).saturating_add(taken);
            overlaps
        })
    }

    /// Bytes from the start of the memory to the element at `index`; `None` unless `index` has one
    /// in-range number for each axis.
    #[must_use]
    pub fn offset_of(&self, index: &[usize]) -> Option<usize> {
        if index.len() != self.shape.len() {
            return None;
        }
        self.axes().zip(index).try_fold(self.offset, |offset, ((dim, step), at)| {
            let inside = isize::try_from(*at).ok().filter(|_| *at < dim)?;
            if inside == 0 {
                Some(offset)
            } else {
                offset.checked_add_signed(step.checked_mul(inside)?)
            }
        })
    }

    /// The runs of bytes that hold the elements, in C order, as long as they can be: what a copy
    /// walks. A dense tensor is one run, an image with padded rows one run a row, and a transposed
    /// one a run for each element.
    #[must_use]
    pub fn rows(&self) -> Rows {
        Rows::new(self.offset, self.element_bytes, self.axes())
    }

    /// The elements at `range` of `axis`.
    ///
    /// # Errors
    /// [`StridedError::Axis`] when there is no such axis, [`StridedError::Range`] for a range that
    /// is empty or reaches past its end.
    pub fn narrow(&self, axis: usize, range: Range<usize>) -> Result<Self, StridedError> {
        let (dim, step) = self.axis(axis)?;
        let Range { start, end } = range;
        if start >= end || end > dim {
            return Err(StridedError::Range { axis, start, end, dim });
        }
        let offset = self.stepped(step, start)?;
        let mut part = self.clone();
        part.offset = offset;
        if let Some(dim) = part.shape.axes_mut().get_mut(axis) {
            *dim = end.saturating_sub(start);
        }
        Ok(part)
    }

    /// The elements at one range of each axis.
    ///
    /// # Errors
    /// [`StridedError::Axis`] unless there is a range for each axis; else as for
    /// [`narrow`](Self::narrow).
    pub fn slice(&self, ranges: &[Range<usize>]) -> Result<Self, StridedError> {
        if ranges.len() != self.shape.len() {
            return Err(StridedError::Axis { axis: ranges.len(), rank: self.shape.len() });
        }
        let whole = Ok(self.clone());
        ranges
            .iter()
            .cloned()
            .enumerate()
            .fold(whole, |part, (axis, range)| part?.narrow(axis, range))
    }

    /// The elements at `index` of `axis`, without that axis: one image of a batch.
    ///
    /// # Errors
    /// As for [`narrow`](Self::narrow).
    pub fn select(&self, axis: usize, index: usize) -> Result<Self, StridedError> {
        let (dim, step) = self.axis(axis)?;
        if index >= dim {
            let (start, end) = (index, index.saturating_add(1));
            return Err(StridedError::Range { axis, start, end, dim });
        }
        let offset = self.stepped(step, index)?;
        let mut part = self.clone();
        part.offset = offset;
        part.shape.axes_mut().remove(axis);
        part.strides.axes_mut().remove(axis);
        Ok(part)
    }

    /// The same elements with two axes exchanged.
    ///
    /// # Errors
    /// [`StridedError::Axis`] when there is no such axis.
    pub fn transpose(&self, first: usize, second: usize) -> Result<Self, StridedError> {
        self.axis(first).and(self.axis(second))?;
        let mut part = self.clone();
        part.shape.axes_mut().swap(first, second);
        part.strides.axes_mut().swap(first, second);
        Ok(part)
    }

    /// The same elements with `axis` counted from its other end.
    ///
    /// # Errors
    /// [`StridedError::Axis`] when there is no such axis.
    pub fn flip(&self, axis: usize) -> Result<Self, StridedError> {
        let (dim, step) = self.axis(axis)?;
        if dim <= 1 {
            return Ok(self.clone());
        }
        let offset = self.stepped(step, dim.saturating_sub(1))?;
        let back = step.checked_neg().ok_or_else(|| self.overflow())?;
        let mut part = self.clone();
        part.offset = offset;
        if let Some(step) = part.strides.axes_mut().get_mut(axis) {
            *step = back;
        }
        Ok(part)
    }

    fn axes(&self) -> impl Iterator<Item = (usize, isize)> + Clone {
        self.shape.iter().copied().zip(self.strides.iter().copied())
    }

    fn axis(&self, axis: usize) -> Result<(usize, isize), StridedError> {
        self.axes().nth(axis).ok_or(StridedError::Axis { axis, rank: self.shape.len() })
    }

    /// The offset `count` steps along; also without elements it is one that an address can have.
    fn stepped(&self, step: isize, count: usize) -> Result<usize, StridedError> {
        if count == 0 {
            return Ok(self.offset);
        }
        let steps = isize::try_from(count).ok().and_then(|count| step.checked_mul(count));
        let offset = steps.and_then(|bytes| self.offset.checked_add_signed(bytes));
        offset.filter(|at| isize::try_from(*at).is_ok()).ok_or_else(|| self.overflow())
    }

    fn overflow(&self) -> StridedError {
        StridedError::Overflow {
            shape: self.shape.clone(),
            element_bytes: self.element_bytes,
            offset: self.offset,
        }
    }

    /// How far elements reach from the first: bytes below it, and bytes from it to one past the
    /// highest. `None` when that, or the number of elements, does not fit the address space.
    fn reach(&self) -> Option<(usize, usize)> {
        let elements = self.shape.elements()?;
        if elements == 0 {
            return Some((0, 0));
        }
        let (mut below, mut above) = (0_isize, isize::try_from(self.element_bytes).ok()?);
        for (dim, step) in self.axes().filter(|(dim, _)| *dim > 1) {
            let span = isize::try_from(dim).ok()?.checked_sub(1)?.checked_mul(step)?;
            if span < 0 {
                below = below.checked_add(span.checked_neg()?)?;
            } else {
                above = above.checked_add(span)?;
            }
        }
        Some((usize::try_from(below).ok()?, usize::try_from(above).ok()?))
    }
}

impl PartialEq for StridedLayout {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |((dim, a), (_, b)): ((usize, isize), (usize, isize))| dim <= 1 || a == b;
        self.shape == other.shape
            && (self.offset, self.element_bytes) == (other.offset, other.element_bytes)
            && self.axes().zip(other.axes()).all(is_same)
    }
}

impl Eq for StridedLayout {}

impl Hash for StridedLayout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.shape, self.offset, self.element_bytes).hash(state);
    }
}

#[cfg(test)]
mod tests;
