//! Regions of an image.

use super::{ImageLayout, LayoutError};
use crate::shape::Region;

impl ImageLayout {
    /// The part of the image in `region`, as a layout over the same memories: strides stay, offsets
    /// move.
    ///
    /// A region begins and ends between blocks and between chroma samples, in every plane: at even
    /// columns for 4:2:2, at even columns and rows for 4:2:0 and for Bayer, whose mosaic would be
    /// another; see [`PixelFormat::region_step`](crate::PixelFormat::region_step). It may end anywhere else only where
    /// the image itself does. So a view holds whole chroma samples, none of which it shares with
    /// pixels outside. What does not fit is refused, never moved.
    ///
    /// # Errors
    /// [`LayoutError::RegionOutOfBounds`] for a region that is empty or reaches past the image,
    /// [`LayoutError::RegionAlignment`] for one that would cut a sample, with the multiples that
    /// would not.
    ///
    /// ```
    /// use tensor_core::{ImageLayout, PixelFormat, Region, StrideAlign};
    /// let frame = ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA)?;
    /// let crop = frame.view(Region::new(16, 8, 32, 16))?;
    /// assert_eq!((crop.width(), crop.height()), (32, 16));
    /// assert_eq!(crop.planes()[0].offset, 8 * 64 + 16);
    /// assert_eq!(crop.planes()[1].offset, 36 * 64 + 4 * 64 + 16);
    /// assert!(frame.view(Region::new(15, 8, 32, 16)).is_err());
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn view(&self, region: Region) -> Result<Self, LayoutError> {
        self.check_region(region)?;
        let mut view = self.clone();
        view.crop(region);
        Ok(view)
    }

    /// Whether there is a [`view`](Self::view) of `region`.
    #[inline]
    pub(crate) fn check_region(&self, region: Region) -> Result<(), LayoutError> {
        Region::whole(self.width, self.height).region(region)?;
        let format = self.format;
        let (columns, rows) = format.region_step();
        let is_cut = |start: usize, len: usize, end: usize, unit: usize| {
            // Steps are powers of two.
            let inside = unit.wrapping_sub(1);
            let stop = start.saturating_add(len);
            start & inside == 0 && (stop & inside == 0 || stop == end)
        };
        let fits = is_cut(region.x, region.width, self.width, columns)
            && is_cut(region.y, region.height, self.height, rows);
        if fits {
            Ok(())
        } else {
            Err(LayoutError::RegionAlignment { format, region, columns, rows })
        }
    }

    /// Becomes its part in `region`, which was checked.
    #[inline]
    pub(crate) fn crop(&mut self, region: Region) {
        for (place, plane) in self.planes.iter_mut().zip(self.format.planes()) {
            // Inside the plane, whose padded end fits the address space: neither saturates.
            let above = place.stride.saturating_mul(plane.rows(region.y));
            let beside = plane.row_bytes(region.x).unwrap_or_default();
            place.offset = place.offset.saturating_add(above).saturating_add(beside);
        }
        (self.width, self.height) = (region.width, region.height);
    }
}

#[cfg(test)]
mod tests;
