//! The plane table of a format: where planes lie when one row stride is all that is known.
//!
//! Kernel interfaces and the published tensor schema give one stride for an image, that of its
//! first plane; those of the others follow from it by the columns and bytes of their blocks, as
//! V4L2's `bytesperline` rule says (`Documentation/userspace-api/media/v4l/pixfmt-v4l2.rst`). A
//! chroma row of NV12 is as many bytes as a luma row, of I420 half as many, of NV24 twice as many.

use std::ops::Deref;

use arrayvec::ArrayVec;

use super::{LayoutError, StrideAlign, factor};
use crate::{
    format::{MAX_PLANES, PixelFormat, PixelLayout, PlaneFormat},
    shape::Shape,
};

/// Where one plane's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneGeometry {
    /// Bytes from the start of the image to the plane's first sample.
    pub offset: usize,
    /// Bytes from the start of one row to the start of the next.
    pub stride: isize,
    /// Bytes of the plane, every row padded to its stride.
    pub size: usize,
}

/// The planes of an image that follow each other in one allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaneTable(ArrayVec<PlaneGeometry, MAX_PLANES>);

impl PlaneTable {
    /// Bytes of the allocation: the end of the last plane.
    #[must_use]
    pub fn allocation_len(&self) -> usize {
        self.0.last().map_or(0, |plane| plane.offset.saturating_add(plane.size))
    }
}

impl Deref for PlaneTable {
    type Target = [PlaneGeometry];

    fn deref(&self) -> &[PlaneGeometry] {
        &self.0
    }
}

impl PixelFormat {
    /// Where each plane's bytes are when planes follow each other and rows of the first are
    /// `row_stride` bytes apart.
    ///
    /// # Errors
    /// [`LayoutError::Empty`] without pixels, [`LayoutError::Stride`] when a row of any plane does
    /// not fit its stride, [`LayoutError::Overflow`] when the bytes do not fit the address space.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// let table = PixelFormat::Nv12.plane_table(640, 480, 704)?;
    /// let planes: Vec<_> = table.iter().map(|p| (p.offset, p.stride, p.size)).collect();
    /// assert_eq!(planes, [(0, 704, 337_920), (337_920, 704, 168_960)]);
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn plane_table(
        self,
        width: usize,
        height: usize,
        row_stride: usize,
    ) -> Result<PlaneTable, LayoutError> {
        if width == 0 || height == 0 {
            return Err(LayoutError::Empty { width, height });
        }
        let mut table = ArrayVec::new();
        let mut offset = 0_usize;
        for (index, plane) in self.planes().iter().enumerate() {
            let overflow = || LayoutError::Overflow { format: self, width, height, plane: index };
            let stride = self.plane_stride(plane, row_stride).ok_or_else(overflow)?;
            let row_bytes = plane.row_bytes(width).ok_or_else(overflow)?;
            if stride < row_bytes {
                return Err(LayoutError::Stride { format: self, plane: index, stride, row_bytes });
            }
            let geometry = geometry(offset, stride, plane.rows(height)).ok_or_else(overflow)?;
            offset = offset.saturating_add(geometry.size);
            table.push(geometry);
        }
        Ok(PlaneTable(table))
    }

    /// The smallest row stride, in bytes, from which every plane of an image `width` pixels wide
    /// gets a stride that is a multiple of 64 and holds a row.
    ///
    /// For I420 that is a multiple of 128, since drivers halve it for chroma.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] when it does not fit the address space.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::Rgba.row_stride_for_dma(321)?, 1344);
    /// assert_eq!(PixelFormat::Nv12.row_stride_for_dma(789)?, 832);
    /// assert_eq!(PixelFormat::I420.row_stride_for_dma(330)?, 384);
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn row_stride_for_dma(self, width: usize) -> Result<usize, LayoutError> {
        let mut need = 0_usize;
        let mut unit = StrideAlign::DMA.bytes();
        for (index, plane) in self.planes().iter().enumerate() {
            let overflow =
                || LayoutError::Overflow { format: self, width, height: 1, plane: index };
            let (times, parts) = self.lowest_ratio(plane).ok_or_else(overflow)?;
            let holds = plane
                .row_bytes(width)
                .and_then(|bytes| bytes.checked_mul(parts))
                .map(|bytes| bytes.div_ceil(times));
            need = need.max(holds.ok_or_else(overflow)?);
            // The stride is row_stride * times / parts; 64 * parts makes it a multiple of 64.
            let multiple = StrideAlign::DMA.bytes().checked_mul(parts);
            unit = multiple.and_then(|m| factor::lcm(unit, m)).ok_or_else(overflow)?;
        }
        need.checked_next_multiple_of(unit)
            .filter(|stride| isize::try_from(*stride).is_ok())
            .ok_or(LayoutError::Overflow { format: self, width, height: 1, plane: 0 })
    }

    /// Rows of the first plane's stride that hold all planes of a format with separate chroma:
    /// luma rows, then chroma rows at their stride. `None` for other formats, and when the count
    /// does not fit a `usize`.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::Nv12.combined_plane_height(483), Some(725));
    /// assert_eq!(PixelFormat::Nv24.combined_plane_height(480), Some(1440));
    /// assert_eq!(PixelFormat::Rgb.combined_plane_height(480), None);
    /// ```
    #[must_use]
    pub fn combined_plane_height(self, height: usize) -> Option<usize> {
        if !matches!(self.layout(), PixelLayout::SemiPlanar | PixelLayout::PlanarChroma) {
            return None;
        }
        let ratios = self.planes().iter().map(|plane| self.lowest_ratio(plane).zip(Some(plane)));
        let common = ratios
            .clone()
            .try_fold(1_usize, |common, ratio| ratio.and_then(|r| factor::lcm(common, r.0.1)))?;
        let parts = ratios.flatten().try_fold(0_usize, |sum, ((times, parts), plane)| {
            let scale = common.checked_div(parts)?.checked_mul(times)?;
            plane.rows(height).checked_mul(scale)?.checked_add(sum)
        })?;
        Some(parts.div_ceil(common))
    }

    /// The image height whose [`combined_plane_height`](Self::combined_plane_height) is `rows`;
    /// `None` when no height has it (721 for NV12), and for formats without separate chroma.
    ///
    /// At most one step for each bit of `rows`.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(PixelFormat::Nv12.image_height_from_combined(725), Some(483));
    /// assert_eq!(PixelFormat::Nv12.image_height_from_combined(721), None);
    /// ```
    #[must_use]
    pub fn image_height_from_combined(self, rows: usize) -> Option<usize> {
        self.combined_plane_height(0)?;
        let (mut low, mut high) = (0_usize, rows);
        while low < high {
            let middle = low.midpoint(high);
            if self.combined_plane_height(middle).is_some_and(|combined| combined < rows) {
                low = middle.checked_add(1)?;
            } else {
                high = middle;
            }
        }
        (self.combined_plane_height(low) == Some(rows)).then_some(low)
    }

    /// The shape that a tensor holding the whole image as one array has: how much is allocated, in
    /// elements, when rows are tight. `[h, w, c]` for packed components, `[c, h, w]` for planes of
    /// equal size, `[combined rows, w]` where chroma is separate.
    ///
    /// At odd widths a chroma row can be a byte longer than `w`: bytes to allocate come from
    /// [`plane_table`](Self::plane_table), never from a shape. `None` when a count does not fit.
    ///
    /// ```
    /// use tensor_core::PixelFormat;
    /// assert_eq!(&*PixelFormat::Nv12.allocation_shape(640, 480).unwrap(), [720, 640]);
    /// assert_eq!(&*PixelFormat::Grey.allocation_shape(640, 480).unwrap(), [480, 640, 1]);
    /// ```
    #[must_use]
    pub fn allocation_shape(self, width: usize, height: usize) -> Option<Shape> {
        let channels = self.channels();
        match self.layout() {
            PixelLayout::Packed => Shape::new(&[height, width, channels]),
            PixelLayout::Planar => Shape::new(&[channels, height, width]),
            PixelLayout::SemiPlanar | PixelLayout::PlanarChroma => {
                Shape::new(&[self.combined_plane_height(height)?, width])
            }
        }
    }

    /// The width and height in pixels of the image whose [`allocation_shape`](Self::allocation_shape)
    /// is `shape`. Images of one plane may leave out the axis of one component.
    ///
    /// ```
    /// use tensor_core::{PixelFormat, Shape};
    /// let shape = Shape::new(&[725, 640]).unwrap();
    /// assert_eq!(PixelFormat::Nv12.size_of_allocation(&shape), Some((640, 483)));
    /// assert_eq!(PixelFormat::Rgb.size_of_allocation(&shape), None);
    /// ```
    #[must_use]
    pub fn size_of_allocation(self, shape: &Shape) -> Option<(usize, usize)> {
        let is_one_plane = self.planes().len() == 1;
        let (width, height) = match shape[..] {
            [rows, width] if !is_one_plane => (width, self.image_height_from_combined(rows)?),
            [channels, height, width] if !is_one_plane && self.channels() == channels => {
                (width, height)
            }
            [height, width] | [height, width, _] => (width, height),
            _ => return None,
        };
        let is_it = self.allocation_shape(width, height).as_ref() == Some(shape)
            || is_one_plane && self.addressing_shape(width, height) == *shape;
        is_it.then_some((width, height))
    }

    /// The stride of `plane` in an image whose first plane has rows `row_stride` bytes apart.
    fn plane_stride(self, plane: &PlaneFormat, row_stride: usize) -> Option<usize> {
        let (times, parts) = self.stride_ratio(plane)?;
        if times == parts {
            return Some(row_stride);
        }
        row_stride.checked_mul(times).map(|bytes| bytes.div_ceil(parts))
    }

    /// Bytes of a row of `plane` for each byte of a row of the first plane.
    fn stride_ratio(self, plane: &PlaneFormat) -> Option<(usize, usize)> {
        let first = self.planes().first()?;
        let columns = |of: &PlaneFormat| of.hsub.checked_mul(of.block_width);
        let times = plane.block_bytes.checked_mul(columns(first)?)?;
        let parts = first.block_bytes.checked_mul(columns(plane)?)?;
        Some((times, parts))
    }

    /// [`stride_ratio`](Self::stride_ratio) in lowest terms.
    fn lowest_ratio(self, plane: &PlaneFormat) -> Option<(usize, usize)> {
        let (times, parts) = self.stride_ratio(plane)?;
        let common = factor::gcd(times, parts);
        Some((times.checked_div(common)?, parts.checked_div(common)?))
    }
}

fn geometry(offset: usize, stride: usize, rows: usize) -> Option<PlaneGeometry> {
    let size = stride.checked_mul(rows)?;
    let end = offset.checked_add(size)?;
    isize::try_from(end).ok()?;
    Some(PlaneGeometry { offset, stride: isize::try_from(stride).ok()?, size })
}

#[cfg(test)]
mod tests;
