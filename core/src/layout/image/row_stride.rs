//! Layouts from one row stride, and the stride that a pooled image keeps.

use arrayvec::ArrayVec;

use super::{ImageLayout, LayoutError, PlanePlacement, StrideAlign};
use crate::{
    format::{MAX_PLANES, PixelFormat},
    layout::PlaneGeometry,
};

impl ImageLayout {
    /// All planes in one memory, one after the other, with rows of the first `row_stride` bytes
    /// apart: what a driver with a single `bytesperline` means. See
    /// [`PixelFormat::plane_table`] for the strides of the other planes.
    ///
    /// # Errors
    /// As for [`PixelFormat::plane_table`].
    ///
    /// ```
    /// use tensor_core::{ImageLayout, PixelFormat};
    /// let layout = ImageLayout::with_row_stride(PixelFormat::I420, 640, 480, 768)?;
    /// assert_eq!(layout.planes()[2].stride, 384);
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn with_row_stride(
        format: PixelFormat,
        width: usize,
        height: usize,
        row_stride: usize,
    ) -> Result<Self, LayoutError> {
        let table = format.plane_table(width, height, row_stride)?;
        let placed = |plane: &PlaneGeometry| PlanePlacement {
            memory: 0,
            offset: plane.offset,
            stride: plane.stride.unsigned_abs(),
        };
        let planes: ArrayVec<_, MAX_PLANES> = table.iter().map(placed).collect();
        Self::from_planes(format, width, height, &planes)
    }

    /// The layout of a smaller image in a dma-buf of `capacity` bytes that held one with rows
    /// `earlier` bytes apart.
    ///
    /// The earlier stride is kept where every plane then has a stride that is a multiple of 64 and
    /// holds a row, and the whole fits, so that what a device knows of the memory stays true. Else
    /// it is computed anew. The result is never unaligned.
    ///
    /// # Errors
    /// [`LayoutError::Capacity`] when the image does not fit at its smallest aligned strides; else
    /// as for [`packed`](Self::packed).
    ///
    /// ```
    /// use tensor_core::{ImageLayout, PixelFormat};
    /// let smaller = ImageLayout::reconfigured(PixelFormat::Rgba, 160, 120, 1344, 1344 * 240)?;
    /// assert_eq!(smaller.planes()[0].stride, 1344);
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn reconfigured(
        format: PixelFormat,
        width: usize,
        height: usize,
        earlier: usize,
        capacity: usize,
    ) -> Result<Self, LayoutError> {
        let kept = Self::with_row_stride(format, width, height, earlier);
        if let Ok(kept) = kept
            && kept.is_aligned(StrideAlign::DMA)
            && kept.allocation_len(0) <= capacity
        {
            return Ok(kept);
        }
        let anew = Self::packed(format, width, height, StrideAlign::DMA)?;
        let needed = anew.allocation_len(0);
        if needed > capacity {
            return Err(LayoutError::Capacity { format, width, height, needed, capacity });
        }
        Ok(anew)
    }

    /// Whether every plane's stride is a multiple of `align`.
    #[must_use]
    pub fn is_aligned(&self, align: StrideAlign) -> bool {
        self.planes.iter().all(|place| place.stride.is_multiple_of(align.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stride(layout: &Result<ImageLayout, LayoutError>) -> usize {
        layout.as_ref().unwrap().planes()[0].stride
    }

    // S-STR-04
    #[test]
    fn a_smaller_image_keeps_the_stride_when_it_is_aligned_wide_enough_and_fits() {
        let rgba = |width, height, earlier, capacity| {
            ImageLayout::reconfigured(PixelFormat::Rgba, width, height, earlier, capacity)
        };
        assert_eq!(stride(&rgba(160, 120, 2560, 2560 * 480)), 2560);
        assert_eq!(stride(&rgba(160, 120, 1284, 1284 * 480)), 640, "unaligned");
        assert_eq!(stride(&rgba(321, 120, 1280, 1 << 20)), 1344, "too narrow");
        assert_eq!(stride(&rgba(160, 480, 2560, 640 * 480)), 640, "does not fit");
        let error = LayoutError::Capacity {
            format: PixelFormat::Rgba,
            width: 161,
            height: 480,
            needed: 704 * 480,
            capacity: 640 * 480,
        };
        assert_eq!(rgba(161, 480, 2560, 640 * 480), Err(error));
    }

    // S-STR-04
    #[test]
    fn a_reconfigured_image_is_never_unaligned() {
        for format in PixelFormat::ALL.iter().copied() {
            for (width, earlier) in (1..=70).flat_map(|w| (0..=640).step_by(7).map(move |s| (w, s)))
            {
                let layout = ImageLayout::reconfigured(format, width, 5, earlier, 1 << 20).unwrap();
                for (plane, place) in layout.planes().iter().enumerate() {
                    assert!(place.stride.is_multiple_of(64), "{format} {width} {earlier}");
                    assert!(place.stride >= layout.row_bytes(plane));
                }
            }
        }
    }

    // D-44
    #[test]
    fn an_imported_stride_can_be_asked_whether_a_gpu_takes_it() {
        let imported = ImageLayout::with_row_stride(PixelFormat::Grey, 400, 4, 401).unwrap();
        assert!(!imported.is_aligned(StrideAlign::DMA));
        assert!(imported.is_aligned(StrideAlign::NONE));
    }
}
