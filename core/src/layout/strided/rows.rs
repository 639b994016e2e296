//! The runs of bytes that a strided layout is made of.

use arrayvec::ArrayVec;

use crate::shape::MAX_RANK;

/// Offsets of the longest runs of bytes that hold a tensor's elements in C order, each
/// [`row_bytes`](Self::row_bytes) long, in C order.
///
/// Copying each run after the one before makes the tensor dense, whatever its strides.
#[derive(Clone, Debug)]
pub struct Rows {
    row_bytes: usize,
    offset: usize,
    left: usize,
    axes: ArrayVec<Counter, MAX_RANK>,
}

/// An axis that is walked.
#[derive(Clone, Copy, Debug)]
struct Counter {
    dim: usize,
    stride: isize,
    /// What leads from the last index back to the first.
    rewind: isize,
    index: usize,
}

impl Rows {
    /// The runs from `offset` on, for axes (outermost first) whose spans are known to fit an
    /// `isize`.
    pub(in crate::layout) fn new(
        offset: usize,
        element_bytes: usize,
        axes: impl Iterator<Item = (usize, isize)> + Clone,
    ) -> Self {
        let mut merged: ArrayVec<(usize, isize), MAX_RANK> = ArrayVec::new();
        let is_empty = axes.clone().any(|(dim, _)| dim == 0);
        for (dim, stride) in axes.filter(|(dim, _)| *dim > 1) {
            let whole = isize::try_from(dim).ok().and_then(|dim| stride.checked_mul(dim));
            match merged.last_mut() {
                // An axis whose step is the whole of the next is that one, continued.
                Some(outer) if Some(outer.1) == whole => {
                    *outer = (outer.0.saturating_mul(dim), stride);
                }
                _ => merged.push((dim, stride)),
            }
        }
        let run = merged
            .last()
            .filter(|(_, stride)| usize::try_from(*stride) == Ok(element_bytes))
            .map(|(dim, _)| *dim);
        if run.is_some() {
            merged.pop();
        }
        let left = merged.iter().fold(usize::from(!is_empty), |n, axis| n.saturating_mul(axis.0));
        let counter = |(dim, stride): (usize, isize)| Counter {
            dim,
            stride,
            rewind: isize::try_from(dim)
                .unwrap_or(isize::MAX)
                .saturating_sub(1)
                .saturating_mul(stride)
                .saturating_neg(),
            index: 0,
        };
        let row_bytes = run.unwrap_or(1).saturating_mul(element_bytes);
        Self { row_bytes, offset, left, axes: merged.into_iter().map(counter).collect() }
    }

    /// Bytes of each run.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }
}

impl Iterator for Rows {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = self.offset;
        for axis in self.axes.iter_mut().rev() {
            axis.index = axis.index.wrapping_add(1);
            if axis.index < axis.dim {
                // Inside the layout's bounds, which fit: this does not wrap.
                self.offset = self.offset.wrapping_add_signed(axis.stride);
                break;
            }
            axis.index = 0;
            self.offset = self.offset.wrapping_add_signed(axis.rewind);
        }
        Some(here)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Rows {}
