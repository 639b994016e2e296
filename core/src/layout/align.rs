//! Alignment of row strides.

use super::LayoutError;

/// What every row stride, and every plane's offset, is a multiple of: a power of two of bytes.
///
/// ```
/// use tensor_core::StrideAlign;
/// assert_eq!(StrideAlign::DMA.round_up(641), Some(704));
/// assert!(StrideAlign::new(48).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StrideAlign(usize);

impl StrideAlign {
    /// No alignment: rows follow each other.
    pub const NONE: Self = Self(1);

    /// 64 bytes: what GPUs ask of a dma-buf row. Mali refuses other pitches with
    /// `EGL_BAD_ALLOC`, Vivante with `EGL_BAD_ACCESS`.
    pub const DMA: Self = Self(64);

    /// An alignment of `bytes`.
    ///
    /// # Errors
    /// [`LayoutError::Alignment`] unless `bytes` is a power of two.
    pub fn new(bytes: usize) -> Result<Self, LayoutError> {
        if bytes.is_power_of_two() {
            Ok(Self(bytes))
        } else {
            Err(LayoutError::Alignment { bytes })
        }
    }

    /// The alignment in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// The next multiple at or above `value`; `None` when it does not fit a `usize`.
    #[must_use]
    pub fn round_up(self, value: usize) -> Option<usize> {
        value.checked_next_multiple_of(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G04
    #[test]
    fn rows_round_up_to_the_asked_power_of_two() {
        let rows = [(30, 64), (641, 704), (99, 128), (1696, 1728), (5464, 5504), (12016, 12032)];
        for (row_bytes, stride) in rows {
            assert_eq!(StrideAlign::DMA.round_up(row_bytes), Some(stride));
        }
        assert_eq!(StrideAlign::new(256).unwrap().round_up(641), Some(768));
        assert_eq!(StrideAlign::new(48), Err(LayoutError::Alignment { bytes: 48 }));
        assert_eq!(StrideAlign::new(0), Err(LayoutError::Alignment { bytes: 0 }));
        assert_eq!(StrideAlign::DMA.round_up(usize::MAX), None);
    }
}
