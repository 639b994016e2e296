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

    /// With another value at `index`; `None` when there is none.
    pub(crate) fn with(&self, index: usize, value: T) -> Option<Self> {
        let mut array = Self { ..*self };
        *array.get_mut(index)? = value;
        Some(array)
    }

    /// Without the value at `index`, later ones moved up; `None` when there is none.
    pub(crate) fn without(&self, index: usize) -> Option<Self> {
        self.get(index)?;
        let last = self.len.saturating_sub(1);
        let mut array = Self { len: last, ..*self };
        let mut next = T::default();
        for slot in array.values.get_mut(index..=last)?.iter_mut().rev() {
            (*slot, next) = (next, *slot);
        }
        Some(array)
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
    fn a_value_is_replaced_or_left_out_and_no_trace_stays() {
        let three = array(&[2, 3, 5]);
        assert!(
            three.without(1) == Some(array(&[2, 5])) && three.without(2) == Some(array(&[2, 3]))
        );
        assert!(three.with(0, 7) == Some(array(&[7, 3, 5])));
        assert!(three.without(3).is_none() && three.with(3, 1).is_none());
        assert!(array(&[]).without(0).is_none() && array(&[1]).with(1, 1).is_none());
        assert!(array(&[9]).without(0) == Some(InlineArray::default()));
        assert!(InlineArray::<i32, 3>::new(&[1; 4]).is_none());
        assert_eq!(array(&[4, 6])[..], [4, 6]);
    }
}
