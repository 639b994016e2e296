//! A few values in place: axes of a shape, planes of an image.

#![forbid(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Up to `N` values. Copied as one block, which views are made of; the unused ones are the default,
/// so equality is that of all.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct InlineArray<T, const N: usize> {
    values: [T; N],
    len: usize,
}

impl<T: Copy + Default, const N: usize> InlineArray<T, N> {
    /// These values; `None` when there are more than `N`.
    pub(crate) fn new(values: &[T]) -> Option<Self> {
        let mut array = Self { values: [T::default(); N], len: values.len() };
        array.values.get_mut(..values.len())?.copy_from_slice(values);
        Some(array)
    }

    /// These values, of which there are not more than `N`.
    pub(crate) fn of<const M: usize>(values: [T; M]) -> Self {
        const { assert!(M <= N, "more values than there is room for") };
        let mut array = Self { values: [T::default(); N], len: M };
        for (slot, value) in array.values.iter_mut().zip(values) {
            *slot = value;
        }
        array
    }

    /// Takes out the value at `index` and moves later ones up; `None` when there is none.
    pub(crate) fn remove(&mut self, index: usize) -> Option<T> {
        self.get(index)?;
        let mut next = T::default();
        for slot in self.values.get_mut(index..self.len)?.iter_mut().rev() {
            (*slot, next) = (next, *slot);
        }
        self.len = self.len.saturating_sub(1);
        Some(next)
    }
}

impl<T: Copy + Default, const N: usize> Default for InlineArray<T, N> {
    fn default() -> Self {
        Self { values: [T::default(); N], len: 0 }
    }
}

impl<T, const N: usize> Deref for InlineArray<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values.get(..self.len).unwrap_or(&self.values)
    }
}

impl<T, const N: usize> DerefMut for InlineArray<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.values.get_mut(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(values: &[i32]) -> InlineArray<i32, 3> {
        InlineArray::new(values).unwrap()
    }

    #[test]
    fn a_value_is_taken_out_and_no_trace_stays() {
        let mut three = array(&[2, 3, 5]);
        assert_eq!(three.remove(3), None);
        assert_eq!(three.remove(1), Some(3));
        assert!(three == array(&[2, 5]));
        assert_eq!((three.remove(1), three.remove(0), three.remove(0)), (Some(5), Some(2), None));
        assert!(three == InlineArray::default());
        assert!(InlineArray::<i32, 3>::new(&[1; 4]).is_none());
        assert!(InlineArray::of([4, 6]) == array(&[4, 6]) && array(&[4, 6])[..] == [4, 6]);
    }
}
