//! Shapes and byte strides, held without allocation.

use std::{fmt, ops::Deref};

use arrayvec::ArrayVec;

/// The highest rank a tensor can have.
pub const MAX_RANK: usize = 8;

/// A tensor's dimensions, outermost first.
///
/// ```
/// use tensor_core::Shape;
/// let shape = Shape::new(&[480, 640, 3]).unwrap();
/// assert_eq!(shape.elements(), Some(921_600));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Shape(ArrayVec<usize, MAX_RANK>);

impl Shape {
    /// A shape of these dimensions; `None` when there are more than [`MAX_RANK`].
    #[must_use]
    pub fn new(dims: &[usize]) -> Option<Self> {
        ArrayVec::try_from(dims).ok().map(Self)
    }

    /// The number of elements; `None` when it does not fit a `usize`.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        self.0.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The step of each axis in bytes, outermost first; negative steps walk backwards.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Strides(ArrayVec<isize, MAX_RANK>);

impl Strides {
    /// Strides of these byte steps; `None` when there are more than [`MAX_RANK`].
    #[must_use]
    pub fn new(steps: &[isize]) -> Option<Self> {
        ArrayVec::try_from(steps).ok().map(Self)
    }
}

impl Deref for Strides {
    type Target = [isize];

    fn deref(&self) -> &[isize] {
        &self.0
    }
}

impl fmt::Debug for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_past_usize_is_no_count() {
        let shape = Shape::new(&[usize::MAX, 2]).unwrap();
        assert_eq!(shape.elements(), None);
        assert_eq!(Shape::new(&[]).unwrap().elements(), Some(1));
        assert_eq!(Shape::new(&[1; 9]), None);
    }
}
