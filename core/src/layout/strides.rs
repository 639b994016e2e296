//! The one place where the byte strides of a shape are computed.

use super::LayoutError;
use crate::shape::{MAX_RANK, Shape, Strides};

/// C-order byte strides of `shape`, with rows `row_stride` bytes apart where one is given.
///
/// `row_axis` is the axis whose step is the row stride: axes inside it are dense, axes outside it
/// step over padded rows.
///
/// # Errors
/// [`LayoutError::StrideOverflow`] when a step, or the whole, does not fit an `isize`.
///
/// ```
/// use tensor_core::{Shape, layout::c_byte_strides};
/// let shape = Shape::new(&[4, 321, 4]).unwrap();
/// assert_eq!(&*c_byte_strides(&shape, 1, 0, Some(1344))?, [1344, 4, 1]);
/// # Ok::<(), tensor_core::LayoutError>(())
/// ```
pub fn c_byte_strides(
    shape: &Shape,
    element_bytes: usize,
    row_axis: usize,
    row_stride: Option<usize>,
) -> Result<Strides, LayoutError> {
    let overflow = || LayoutError::StrideOverflow { shape: shape.to_vec(), element_bytes };
    let mut steps = [0_isize; MAX_RANK];
    let mut step = element_bytes;
    for (axis, (dim, slot)) in shape.iter().zip(steps.iter_mut()).enumerate().rev() {
        if axis == row_axis {
            step = row_stride.unwrap_or(step);
        }
        *slot = isize::try_from(step).map_err(|_| overflow())?;
        step = step.checked_mul(*dim).ok_or_else(overflow)?;
    }
    // The step past the outermost axis is the bytes of the whole.
    isize::try_from(step).map_err(|_| overflow())?;
    steps.get(..shape.len()).and_then(Strides::new).ok_or_else(overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strides(dims: &[usize], element: usize, axis: usize, row: Option<usize>) -> Vec<isize> {
        c_byte_strides(&Shape::new(dims).unwrap(), element, axis, row).unwrap().to_vec()
    }

    // S-GEO-08, S-GEO-09, S-GEO-10, S-GEO-11
    #[test]
    fn a_row_stride_lands_on_the_row_axis_and_above() {
        assert_eq!(strides(&[4, 321, 4], 1, 0, Some(1344)), [1344, 4, 1]);
        assert_eq!(strides(&[4, 5, 1], 4, 0, None), [20, 4, 4]);
        assert_eq!(strides(&[3, 4, 321], 1, 1, Some(384)), [1536, 384, 1]);
        assert_eq!(strides(&[720, 640], 1, 0, Some(704)), [704, 1]);
        assert_eq!(strides(&[2, 4, 321, 4], 1, 1, Some(1344)), [5376, 1344, 4, 1]);
    }

    // S-GEO-12, D-44
    #[test]
    fn a_row_stride_between_elements_is_reported_to_the_byte() {
        assert_eq!(strides(&[4, 16], 4, 0, Some(67)), [67, 4]);
    }

    // S-GEO-16, D-37, D-38: the same answer with and without overflow checks compiled in
    #[test]
    fn hostile_dims_are_refused_not_wrapped() {
        let shape = Shape::new(&[4, 1 << 42, 1 << 42]).unwrap();
        assert!(c_byte_strides(&shape, 4, 0, None).is_err());
        for dims in [&[1 << 63][..], &[1 << 62, 2], &[2, 1 << 62], &[usize::MAX, 2], &[usize::MAX]]
        {
            let shape = Shape::new(dims).unwrap();
            assert!(c_byte_strides(&shape, 1, 0, None).is_err(), "{dims:?}");
        }
        let rows = Shape::new(&[2, 4]).unwrap();
        assert!(c_byte_strides(&rows, 1, 0, Some(1 << 62)).is_err());
        assert!(c_byte_strides(&rows, 1, 0, Some(usize::MAX)).is_err());
    }
}
