//! Alignment of row strides and of heights.

use super::LayoutError;
use crate::{
    format::{PixelFormat, PixelLayout},
    memory_kind::TensorMemory,
};

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

/// What the height of every plane is rounded up to before the next plane begins: a power of two of
/// image rows, as decoders pad frames to whole macroblocks.
///
/// ```
/// use tensor_core::layout::RowAlign;
/// assert_eq!(RowAlign::new(16)?.round_up(1080), Some(1088));
/// # Ok::<(), tensor_core::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowAlign(usize);

impl RowAlign {
    /// No padding: a plane begins where the one before ends.
    pub const NONE: Self = Self(1);

    /// Heights that are multiples of `rows`.
    ///
    /// # Errors
    /// [`LayoutError::RowAlignment`] unless `rows` is a power of two.
    pub fn new(rows: usize) -> Result<Self, LayoutError> {
        if rows.is_power_of_two() {
            Ok(Self(rows))
        } else {
            Err(LayoutError::RowAlignment { rows })
        }
    }

    /// The alignment in image rows.
    #[must_use]
    pub const fn rows(self) -> usize {
        self.0
    }

    /// The next multiple at or above `height`; `None` when it does not fit a `usize`.
    #[must_use]
    pub fn round_up(self, height: usize) -> Option<usize> {
        height.checked_next_multiple_of(self.0)
    }
}

/// The alignment that a new image in memory of `kind` gets unless another is asked for.
///
/// Memory that devices read has rows of whole 64 bytes. Memory of the CPU alone has none, so that
/// flat code can use it, except for semi-planar images: their chroma is found by the luma stride on
/// every kind of memory, and is found the same way.
///
/// ```
/// use tensor_core::{PixelFormat, StrideAlign, TensorMemory, layout::default_align};
/// assert_eq!(default_align(TensorMemory::Mem, PixelFormat::Rgba), StrideAlign::NONE);
/// assert_eq!(default_align(TensorMemory::Mem, PixelFormat::Nv12), StrideAlign::DMA);
/// ```
#[must_use]
pub fn default_align(kind: TensorMemory, format: PixelFormat) -> StrideAlign {
    match (kind, format.layout()) {
        (TensorMemory::DmaBuf | TensorMemory::IoSurface | TensorMemory::D3d11Texture, _)
        | (_, PixelLayout::SemiPlanar) => StrideAlign::DMA,
        _ => StrideAlign::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ImageLayout;

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

    #[test]
    fn heights_round_up_to_the_asked_power_of_two() {
        assert_eq!(RowAlign::new(16).unwrap().round_up(1080), Some(1088));
        assert_eq!(RowAlign::NONE.round_up(483), Some(483));
        assert_eq!(RowAlign::new(12), Err(LayoutError::RowAlignment { rows: 12 }));
        assert_eq!(RowAlign::new(2).unwrap().round_up(usize::MAX), None);
    }

    // S-STR-05
    #[test]
    fn host_images_are_tight_but_for_semi_planar_ones() {
        let stride = |kind, format| {
            let align = default_align(kind, format);
            ImageLayout::packed(format, 321, 4, align).unwrap().planes()[0].stride
        };
        for kind in [TensorMemory::Mem, TensorMemory::Shm] {
            assert_eq!(stride(kind, PixelFormat::Rgba), 1284);
            assert_eq!(stride(kind, PixelFormat::PlanarRgb), 321);
            assert_eq!(stride(kind, PixelFormat::Nv12), 384);
        }
        assert_eq!(stride(TensorMemory::DmaBuf, PixelFormat::Rgba), 1344);
        assert_eq!(stride(TensorMemory::DmaBuf, PixelFormat::Nv12), 384);
    }
}
