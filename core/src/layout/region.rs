//! Regions of regions, checked.

use super::LayoutError;
use crate::shape::Region;

impl Region {
    /// The whole of an image of `width` by `height` pixels.
    #[must_use]
    pub const fn whole(width: usize, height: usize) -> Self {
        Self::new(0, 0, width, height)
    }

    /// The rectangle `inner` of this one, measured from where this one is: a view of a view is the
    /// view of the region's region. Nothing is clamped or moved.
    ///
    /// # Errors
    /// [`LayoutError::RegionOutOfBounds`] when `inner` is empty or reaches past this rectangle.
    ///
    /// ```
    /// use tensor_core::Region;
    /// let window = Region::new(8, 8, 32, 32);
    /// assert_eq!(window.region(Region::new(4, 4, 8, 8))?, Region::new(12, 12, 8, 8));
    /// assert!(window.region(Region::new(25, 0, 8, 8)).is_err());
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn region(&self, inner: Self) -> Result<Self, LayoutError> {
        let bounds = Self::whole(self.width, self.height);
        let fits = !inner.is_empty() && inner.fits(self.width, self.height);
        fits.then(|| self.of_inner(inner))
            .flatten()
            .ok_or(LayoutError::RegionOutOfBounds { region: inner, bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(region: Region) -> bool {
        let bounds = Region::whole(64, 36);
        bounds.region(region) == Err(LayoutError::RegionOutOfBounds { region, bounds })
    }

    // S-VIEW-03
    #[test]
    fn a_region_one_pixel_too_large_is_refused_with_the_bounds() {
        assert_eq!(Region::whole(64, 36).region(Region::whole(64, 36)), Ok(Region::whole(64, 36)));
        assert!(refused(Region::whole(65, 36)));
        assert!(refused(Region::whole(64, 37)));
        assert!(refused(Region::new(1, 0, 64, 36)));
        assert!(refused(Region::new(64, 0, 1, 1)));
    }

    // S-VIEW-09, D-36
    #[test]
    fn a_region_without_pixels_is_out_of_bounds() {
        assert!(refused(Region::new(8, 8, 0, 4)));
        assert!(refused(Region::new(8, 8, 4, 0)));
        assert!(refused(Region::new(64, 36, 0, 0)));
    }

    #[test]
    fn sums_past_the_address_space_are_refused() {
        assert!(refused(Region::new(usize::MAX, 0, 2, 1)));
        assert!(refused(Region::new(0, usize::MAX, 1, 2)));
        let far = Region::new(usize::MAX, 0, 4, 4);
        assert!(far.region(Region::new(1, 0, 2, 2)).is_err());
    }

    #[test]
    fn the_refusal_names_both_rectangles() {
        let error = Region::whole(64, 36).region(Region::new(60, 0, 8, 8)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the region of 8x8 at (60, 0) is empty or not inside 64x36 at (0, 0)"
        );
    }
}
