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
        Region::whole(self.width, self.height).region(region)?;
        let format = self.format;
        let (columns, rows) = format.region_step();
        let is_cut = |start: usize, len: usize, end: usize, unit: usize| {
            let stop = start.saturating_add(len);
            start.is_multiple_of(unit) && (stop.is_multiple_of(unit) || stop == end)
        };
        if !is_cut(region.x, region.width, self.width, columns)
            || !is_cut(region.y, region.height, self.height, rows)
        {
            return Err(LayoutError::RegionAlignment { format, region, columns, rows });
        }
        let mut view = Self { width: region.width, height: region.height, ..self.clone() };
        for (index, (place, plane)) in view.planes.iter_mut().zip(format.planes()).enumerate() {
            let above = place.stride.checked_mul(plane.rows(region.y));
            let beside = plane.row_bytes(region.x);
            // Inside the parent's plane, whose end was checked: this cannot fail.
            place.offset = above
                .zip(beside)
                .and_then(|(above, beside)| place.offset.checked_add(above)?.checked_add(beside))
                .ok_or(LayoutError::Overflow {
                    format,
                    width: self.width,
                    height: self.height,
                    plane: index,
                })?;
        }
        Ok(view)
    }
}

#[cfg(test)]
mod tests;
