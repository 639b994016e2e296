//! Shapes, byte strides and pixel rectangles, held without allocation.

#![forbid(unsafe_code)]

use std::{fmt, ops::Deref};

use crate::inline_array::InlineArray;

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
pub struct Shape(InlineArray<usize, MAX_RANK>);

/// The step of each axis in bytes, outermost first; negative steps walk backwards.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Strides(InlineArray<isize, MAX_RANK>);

impl Shape {
    /// A shape of these dimensions; `None` when there are more than [`MAX_RANK`].
    #[must_use]
    pub fn new(dims: &[usize]) -> Option<Self> {
        InlineArray::new(dims).map(Self)
    }

    /// A shape of these dimensions, of which there are few enough.
    pub(crate) fn of<const RANK: usize>(dims: [usize; RANK]) -> Self {
        Self(InlineArray::of(dims))
    }

    /// The number of elements; `None` when it does not fit a `usize`.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        self.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim))
    }

    /// The dimensions, to be changed one by one.
    pub(crate) fn axes_mut(&mut self) -> &mut InlineArray<usize, MAX_RANK> {
        &mut self.0
    }
}

impl Strides {
    /// Strides of these byte steps; `None` when there are more than [`MAX_RANK`].
    #[must_use]
    pub fn new(steps: &[isize]) -> Option<Self> {
        InlineArray::new(steps).map(Self)
    }

    /// The steps, to be changed one by one.
    pub(crate) fn axes_mut(&mut self) -> &mut InlineArray<isize, MAX_RANK> {
        &mut self.0
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl Deref for Strides {
    type Target = [isize];

    fn deref(&self) -> &[isize] {
        &self.0
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A rectangle of pixels, measured from the top left corner of an image: the one rectangle type of
/// this crate.
///
/// It may lie outside every image; who uses it asks [`fits`](Self::fits) and refuses.
///
/// ```
/// use tensor_core::shape::Region;
/// let region = Region::new(8, 4, 32, 16);
/// assert!(region.fits(40, 20));
/// assert!(!region.fits(39, 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Columns left of the rectangle.
    pub x: usize,
    /// Rows above the rectangle.
    pub y: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
}

impl Region {
    /// The rectangle of `width` by `height` pixels whose top left pixel is (`x`, `y`).
    #[must_use]
    pub const fn new(x: usize, y: usize, width: usize, height: usize) -> Self {
        Self { x, y, width, height }
    }

    /// One past the last column; `None` when it does not fit a `usize`.
    #[must_use]
    pub const fn right(self) -> Option<usize> {
        self.x.checked_add(self.width)
    }

    /// One past the last row; `None` when it does not fit a `usize`.
    #[must_use]
    pub const fn bottom(self) -> Option<usize> {
        self.y.checked_add(self.height)
    }

    /// Whether it has no pixel.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Whether all of it lies in an image of `width` by `height` pixels.
    #[must_use]
    pub fn fits(self, width: usize, height: usize) -> bool {
        self.right().is_some_and(|right| right <= width)
            && self.bottom().is_some_and(|bottom| bottom <= height)
    }

    /// The rectangle `inner`, which is measured from this one's corner, measured as this one is;
    /// `None` when a coordinate does not fit a `usize`. Whether it lies in this one is not asked.
    #[must_use]
    pub fn of_inner(self, inner: Self) -> Option<Self> {
        let (x, y) = (self.x.checked_add(inner.x)?, self.y.checked_add(inner.y)?);
        Some(Self { x, y, ..inner })
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, width, height } = self;
        write!(f, "{width}x{height} at ({x}, {y})")
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

    #[test]
    fn a_region_past_usize_fits_nowhere() {
        assert!(!Region::new(usize::MAX, 0, 1, 1).fits(usize::MAX, 1));
        assert!(!Region::new(0, usize::MAX, 1, 1).fits(1, usize::MAX));
        assert!(Region::new(0, 0, usize::MAX, 1).fits(usize::MAX, 1));
        assert_eq!(Region::new(usize::MAX, 0, 1, 1).of_inner(Region::new(1, 0, 1, 1)), None);
    }

    #[test]
    fn a_region_of_a_region_adds_the_corners() {
        let outer = Region::new(8, 8, 32, 32);
        assert_eq!(outer.of_inner(Region::new(4, 4, 8, 8)), Some(Region::new(12, 12, 8, 8)));
    }
}
