//! The shapes of an image of some format.

use super::{ColorModel, PixelFormat, PixelLayout};
use crate::shape::Shape;

/// Where the chroma of a semi-planar image is found, in the published crate's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChromaLayout {
    /// Right shift from a luma column to its chroma column.
    pub shift_x: u32,
    /// Right shift from a luma row to its chroma row.
    pub shift_y: u32,
    /// Rows, as long as luma's, that one line of chroma fills: 2 for 4:4:4, else 1.
    pub uv_rows_per_luma: usize,
}

impl PixelFormat {
    /// The shape by which a consumer indexes the image: `[h, w]` where one plane column is one
    /// sample, `[h, w, c]` for packed components, `[c, h, w]` for planes of equal size.
    ///
    /// It counts samples of [`dtype`](Self::dtype) and says nothing about the bytes needed: those
    /// come from the plane table.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(&*PixelFormat::Nv12.addressing_shape(640, 480), [480, 640]);
    /// assert_eq!(&*PixelFormat::Rgb.addressing_shape(640, 480), [480, 640, 3]);
    /// assert_eq!(&*PixelFormat::PlanarRgb.addressing_shape(640, 480), [3, 480, 640]);
    /// ```
    #[must_use]
    pub fn addressing_shape(self, width: usize, height: usize) -> Shape {
        let channels = self.channels();
        match self.layout() {
            PixelLayout::Packed if channels > 1 => Shape::of([height, width, channels]),
            PixelLayout::Planar => Shape::of([channels, height, width]),
            PixelLayout::Packed | PixelLayout::SemiPlanar | PixelLayout::PlanarChroma => {
                Shape::of([height, width])
            }
        }
    }

    /// Where chroma is; `None` unless the format is semi-planar.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::Nv24.chroma_layout().unwrap().uv_rows_per_luma, 2);
    /// ```
    #[must_use]
    pub fn chroma_layout(self) -> Option<ChromaLayout> {
        let (PixelLayout::SemiPlanar, [luma, chroma]) = (self.layout(), self.planes()) else {
            return None;
        };
        let luma_bytes = chroma.hsub.checked_mul(luma.block_bytes)?;
        Some(ChromaLayout {
            shift_x: chroma.hsub.trailing_zeros(),
            shift_y: chroma.vsub.trailing_zeros(),
            uv_rows_per_luma: chroma.block_bytes.checked_div(luma_bytes)?,
        })
    }

    /// Columns and rows of which the origin of a region must be a multiple, so that the region is
    /// an image of the same format: whole blocks, whole chroma, and for Bayer the same mosaic.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::Yuyv.region_step(), (2, 1));
    /// assert_eq!(PixelFormat::Nv12.region_step(), (2, 2));
    /// assert_eq!(PixelFormat::BayerRggb8.region_step(), (2, 2));
    /// ```
    #[must_use]
    #[inline]
    pub fn region_step(self) -> (usize, usize) {
        let mosaic = if self.color_model() == ColorModel::Bayer { 2 } else { 1 };
        // All are powers of two, so the greatest is a multiple of the others.
        self.planes().iter().fold((mosaic, mosaic), |(columns, rows), plane| {
            let whole = plane.hsub.saturating_mul(plane.block_width);
            (columns.max(whole), rows.max(plane.vsub))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addressing(format: PixelFormat) -> Vec<usize> {
        format.addressing_shape(640, 480).to_vec()
    }

    // S-GEO-02
    #[test]
    fn the_grid_counts_samples_of_the_first_plane() {
        assert_eq!(addressing(PixelFormat::Nv12), [480, 640]);
        assert_eq!(addressing(PixelFormat::Grey), [480, 640]);
        assert_eq!(addressing(PixelFormat::Rgb), [480, 640, 3]);
        assert_eq!(addressing(PixelFormat::Yuyv), [480, 640, 2]);
        assert_eq!(addressing(PixelFormat::Grey16), [480, 640]);
        assert_eq!(addressing(PixelFormat::Rgb16), [480, 640]);
        assert_eq!(addressing(PixelFormat::PlanarRgbF32), [3, 480, 640]);
    }

    // S-GEO-18
    #[test]
    fn chroma_rows_round_up() {
        let chroma = |format: PixelFormat, height| format.planes()[1].rows(height);
        for height in 1..=2000_usize {
            assert_eq!(chroma(PixelFormat::Nv12, height), height.div_ceil(2));
            assert_eq!(chroma(PixelFormat::Nv16, height), height);
        }
    }

    #[test]
    fn chroma_layouts_are_the_published_ones() {
        let layout = |shift_x, shift_y, uv_rows_per_luma| {
            Some(ChromaLayout { shift_x, shift_y, uv_rows_per_luma })
        };
        assert_eq!(PixelFormat::Nv12.chroma_layout(), layout(1, 1, 1));
        assert_eq!(PixelFormat::Nv16.chroma_layout(), layout(1, 0, 1));
        assert_eq!(PixelFormat::Nv24.chroma_layout(), layout(0, 0, 2));
        assert_eq!(PixelFormat::P010.chroma_layout(), layout(1, 1, 1));
        assert_eq!(PixelFormat::I420.chroma_layout(), None);
        assert_eq!(PixelFormat::Rgb.chroma_layout(), None);
    }
}
