//! The planes of one image: where each begins and how far its rows are apart.

use std::fmt;

use arrayvec::ArrayVec;

use super::{LayoutError, RowAlign, Rows, StrideAlign, c_byte_strides};
use crate::{
    format::{MAX_PLANES, PixelFormat, PixelLayout, PlaneFormat},
    inline_array::InlineArray,
    shape::{Shape, Strides},
};

/// Where one plane lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlanePlacement {
    /// Which of the image's memories holds the plane.
    pub memory: usize,
    /// Bytes from the start of that memory to the plane's first sample.
    pub offset: usize,
    /// Bytes from the start of one row to the start of the next.
    pub stride: usize,
}

/// A plane's bytes in its memory, from first sample to one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

/// The true layout of one image: a format, a size, and a place for every plane.
///
/// Every value of this type is sound: strides hold a row, planes do not overlap, and no sum
/// exceeds the address space.
///
/// ```
/// use tensor_core::{ImageLayout, PixelFormat, StrideAlign};
/// let nv12 = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE)?;
/// assert_eq!(nv12.planes()[1].offset, 307_200);
/// assert_eq!(nv12.allocation_len(0), 460_800);
/// # Ok::<(), tensor_core::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ImageLayout {
    format: PixelFormat,
    width: usize,
    height: usize,
    planes: InlineArray<PlanePlacement, MAX_PLANES>,
}

impl ImageLayout {
    /// All planes in one memory, one after the other, with the smallest strides that `align`
    /// allows.
    ///
    /// # Errors
    /// [`LayoutError::Empty`] without pixels, [`LayoutError::Overflow`] when the bytes do not fit
    /// the address space.
    pub fn packed(
        format: PixelFormat,
        width: usize,
        height: usize,
        align: StrideAlign,
    ) -> Result<Self, LayoutError> {
        Self::packed_with(format, width, height, align, RowAlign::NONE)
    }

    /// As [`packed`](Self::packed), with every plane as high as if the image's height were a
    /// multiple of `rows`, as decoders lay frames out.
    ///
    /// The padding after the last plane is no part of a layout; a memory that is to have it is
    /// [`allocation_len_with`](Self::allocation_len_with) bytes.
    ///
    /// # Errors
    /// As for [`packed`](Self::packed).
    ///
    /// ```
    /// use tensor_core::{ImageLayout, PixelFormat, StrideAlign, layout::RowAlign};
    /// let (align, rows) = (StrideAlign::DMA, RowAlign::new(16)?);
    /// let frame = ImageLayout::packed_with(PixelFormat::Nv12, 1920, 1080, align, rows)?;
    /// assert_eq!(frame.planes()[1].offset, 1920 * 1088);
    /// assert_eq!(frame.allocation_len_with(0, rows)?, 1920 * (1088 + 544));
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn packed_with(
        format: PixelFormat,
        width: usize,
        height: usize,
        align: StrideAlign,
        rows: RowAlign,
    ) -> Result<Self, LayoutError> {
        let mut planes = ArrayVec::<_, MAX_PLANES>::new();
        let mut offset = 0_usize;
        for (index, plane) in format.planes().iter().enumerate() {
            let overflow = || LayoutError::Overflow { format, width, height, plane: index };
            let stride = plane
                .row_bytes(width)
                .and_then(|bytes| align.round_up(bytes))
                .ok_or_else(overflow)?;
            planes.push(PlanePlacement { memory: 0, offset, stride });
            offset = rows
                .round_up(height)
                .and_then(|height| stride.checked_mul(plane.rows(height)))
                .and_then(|bytes| offset.checked_add(bytes))
                .and_then(|end| align.round_up(end))
                .ok_or_else(overflow)?;
        }
        Self::from_planes(format, width, height, &planes)
    }

    /// Planes exactly where they are said to be, as an imported frame has them: any stride that
    /// holds a row, any order, in one memory or several.
    ///
    /// # Errors
    /// See [`LayoutError`]: the number of planes, a stride below its row, planes that overlap, a
    /// gap in the memory indices, or sums past the address space.
    pub fn from_planes(
        format: PixelFormat,
        width: usize,
        height: usize,
        planes: &[PlanePlacement],
    ) -> Result<Self, LayoutError> {
        let expected = format.planes().len();
        let count = LayoutError::PlaneCount { format, expected, given: planes.len() };
        if planes.len() != expected {
            return Err(count);
        }
        let planes = InlineArray::new(planes).ok_or(count)?;
        Self::checked(Self { format, width, height, planes })
    }

    fn checked(self) -> Result<Self, LayoutError> {
        let Self { format, width, height, .. } = self;
        if width == 0 || height == 0 {
            return Err(LayoutError::Empty { width, height });
        }
        let mut spans: ArrayVec<Span, MAX_PLANES> = ArrayVec::new();
        for (plane, (place, row)) in self.planes.iter().zip(format.planes()).enumerate() {
            spans.push(self.span(plane, *place, *row)?);
        }
        self.check_memories()?;
        self.check_overlap(&spans)?;
        Ok(self)
    }

    /// The same image, `bytes` further into its memories; `None` when it would end past the address
    /// space.
    pub(super) fn moved_by(&self, bytes: usize) -> Option<Self> {
        let mut moved = self.clone();
        for place in moved.planes.iter_mut() {
            place.offset = place.offset.checked_add(bytes)?;
        }
        Some(moved)
    }

    fn span(
        &self,
        plane: usize,
        place: PlanePlacement,
        row: PlaneFormat,
    ) -> Result<Span, LayoutError> {
        let Self { format, width, height, .. } = *self;
        let overflow = LayoutError::Overflow { format, width, height, plane };
        let Some(row_bytes) = row.row_bytes(width) else { return Err(overflow) };
        let stride = place.stride;
        if stride < row_bytes {
            return Err(LayoutError::Stride { format, plane, stride, row_bytes });
        }
        // The padded end must fit too, so that `allocation_len` cannot overflow.
        stride
            .checked_mul(row.rows(height))
            .and_then(|bytes| place.offset.checked_add(bytes))
            .filter(|end| isize::try_from(*end).is_ok())
            .and_then(|end| end.checked_sub(stride)?.checked_add(row_bytes))
            .map(|end| Span { start: place.offset, end })
            .ok_or(overflow)
    }

    fn check_memories(&self) -> Result<(), LayoutError> {
        let mut next = 0_usize;
        for (plane, place) in self.planes.iter().enumerate() {
            if place.memory > next {
                return Err(LayoutError::MemoryIndex { plane, memory: place.memory });
            }
            next = next.max(place.memory.saturating_add(1));
        }
        Ok(())
    }

    fn check_overlap(&self, spans: &[Span]) -> Result<(), LayoutError> {
        let planes = || self.planes.iter().zip(spans).enumerate();
        for (first, (a, a_span)) in planes() {
            for (second, (b, b_span)) in planes() {
                let begins_inside = a_span.start <= b_span.start && b_span.start < a_span.end;
                if first != second && a.memory == b.memory && begins_inside {
                    let (format, memory) = (self.format, a.memory);
                    return Err(LayoutError::Overlap { format, first, second, memory });
                }
            }
        }
        Ok(())
    }

    /// The pixel format.
    #[must_use]
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// The place of every plane, in the format's order.
    #[must_use]
    pub fn planes(&self) -> &[PlanePlacement] {
        &self.planes
    }

    /// The number of memories the planes lie in.
    #[must_use]
    pub fn memories(&self) -> usize {
        self.planes.iter().map(|place| place.memory.saturating_add(1)).max().unwrap_or(0)
    }

    /// Rows of plane `plane`; 0 when there is no such plane.
    #[must_use]
    pub fn rows(&self, plane: usize) -> usize {
        self.format.planes().get(plane).map_or(0, |row| row.rows(self.height))
    }

    /// Bytes of real samples in a row of plane `plane`; 0 when there is no such plane.
    #[must_use]
    pub fn row_bytes(&self, plane: usize) -> usize {
        self.format.planes().get(plane).and_then(|row| row.row_bytes(self.width)).unwrap_or(0)
    }

    /// Bytes from the first sample of plane `plane` to one past its last: the last row ends at its
    /// last sample, not at a stride.
    #[must_use]
    pub fn plane_len(&self, plane: usize) -> usize {
        let Some(place) = self.planes.get(plane) else { return 0 };
        let steps = self.rows(plane).saturating_sub(1);
        place.stride.saturating_mul(steps).saturating_add(self.row_bytes(plane))
    }

    /// Which memory plane `plane` is in, and the runs of samples there: its rows, or all at once
    /// when there is no padding between them. `None` when there is no such plane.
    ///
    /// ```
    /// use tensor_core::{ImageLayout, PixelFormat, StrideAlign};
    /// let padded = ImageLayout::packed(PixelFormat::Nv12, 60, 4, StrideAlign::DMA)?;
    /// let (memory, rows) = padded.plane_rows(1).unwrap();
    /// assert_eq!((memory, rows.row_bytes(), rows.collect()), (0, 60, vec![256, 320]));
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    #[must_use]
    pub fn plane_rows(&self, plane: usize) -> Option<(usize, Rows)> {
        let place = self.planes.get(plane)?;
        let stride = isize::try_from(place.stride).ok()?;
        let axes = [(self.rows(plane), stride), (self.row_bytes(plane), 1)];
        Some((place.memory, Rows::new(place.offset, 1, axes.into_iter())))
    }

    /// Bytes of the samples of all planes, without padding.
    #[must_use]
    pub fn sample_bytes(&self) -> usize {
        (0..self.planes.len()).fold(0, |sum, plane| {
            self.rows(plane).saturating_mul(self.row_bytes(plane)).saturating_add(sum)
        })
    }

    /// Bytes that memory `memory` must have to hold every sample placed in it.
    #[must_use]
    pub fn required_len(&self, memory: usize) -> usize {
        self.last_end(memory, |plane, _| self.plane_len(plane))
    }

    /// Bytes to allocate for memory `memory`: every row padded to its stride, the last one too.
    #[must_use]
    pub fn allocation_len(&self, memory: usize) -> usize {
        self.last_end(memory, |plane, stride| stride.saturating_mul(self.rows(plane)))
    }

    /// Bytes to allocate for memory `memory` when every plane in it, the last one too, is as high as
    /// if the image's height were a multiple of `rows`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] when they do not fit the address space.
    pub fn allocation_len_with(&self, memory: usize, rows: RowAlign) -> Result<usize, LayoutError> {
        let Self { format, width, height, .. } = *self;
        let mut len = 0_usize;
        for (plane, (place, row)) in self.planes.iter().zip(format.planes()).enumerate() {
            if place.memory != memory {
                continue;
            }
            let end = rows
                .round_up(height)
                .and_then(|height| place.stride.checked_mul(row.rows(height)))
                .and_then(|bytes| place.offset.checked_add(bytes))
                .filter(|end| isize::try_from(*end).is_ok())
                .ok_or(LayoutError::Overflow { format, width, height, plane })?;
            len = len.max(end);
        }
        Ok(len)
    }

    fn last_end(&self, memory: usize, len: impl Fn(usize, usize) -> usize) -> usize {
        let placed = self.planes.iter().enumerate().filter(|(_, place)| place.memory == memory);
        placed
            .map(|(plane, place)| place.offset.saturating_add(len(plane, place.stride)))
            .max()
            .unwrap_or(0)
    }

    /// The shape by which a consumer indexes the image.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.format.addressing_shape(self.width, self.height)
    }

    /// The byte strides of [`shape`](Self::shape), from the first sample of the first plane. Where
    /// chroma is separate they are those of the luma grid.
    ///
    /// # Errors
    /// [`LayoutError::PlaneStep`] when the shape counts planes and these are not equal steps apart
    /// in one memory; [`LayoutError::StrideOverflow`] when a step does not fit an `isize`.
    pub fn strides(&self) -> Result<Strides, LayoutError> {
        let strides = self.strides_with(self.planes.first().map(|place| place.stride))?;
        if self.format.layout() != PixelLayout::Planar {
            return Ok(strides);
        }
        let none = LayoutError::PlaneStep { format: self.format };
        match (self.plane_step(), &*strides) {
            (Some(step), [_, row, sample]) => Strides::new(&[step, *row, *sample]).ok_or(none),
            _ => Err(none),
        }
    }

    /// Bytes from each plane to the next; negative where they lie in reverse.
    fn plane_step(&self) -> Option<isize> {
        let steps = self.planes.iter().zip(self.planes.iter().skip(1)).map(|(a, b)| {
            let (from, to) = (isize::try_from(a.offset).ok()?, isize::try_from(b.offset).ok()?);
            to.checked_sub(from).filter(|_| a.memory == b.memory && a.stride == b.stride)
        });
        let mut steps = steps;
        let first = steps.next().flatten()?;
        steps.all(|step| step == Some(first)).then_some(first)
    }

    /// The byte strides that [`shape`](Self::shape) would have without padding.
    ///
    /// # Errors
    /// [`LayoutError::StrideOverflow`] when a step does not fit an `isize`.
    pub fn dense_strides(&self) -> Result<Strides, LayoutError> {
        self.strides_with(None)
    }

    fn strides_with(&self, row_stride: Option<usize>) -> Result<Strides, LayoutError> {
        let row_axis = usize::from(self.format.layout() == PixelLayout::Planar);
        c_byte_strides(&self.shape(), self.format.dtype().size_bytes(), row_axis, row_stride)
    }
}

impl fmt::Debug for ImageLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, width, height, planes } = self;
        write!(f, "{format} {width}x{height} {:?}", &**planes)
    }
}

mod row_stride;
mod view;

#[cfg(test)]
mod tests;
