//! Parts of tensors, and the same bytes in another shape. Nothing here allocates or copies: a view
//! is another layout over the same memories, with the same identity.

use std::ops::Range;

use super::{Layout, TensorDyn, TensorError};
use crate::{
    format::PixelFormat,
    layout::{ImageLayout, StridedLayout},
    shape::{Region, Shape},
};

impl TensorDyn {
    /// The part of an image in `region`, in pixels. A view of a view adds up.
    ///
    /// # Errors
    /// [`TensorError::NotA`] for a tensor that is no image; else as for [`ImageLayout::view`]:
    /// nothing is clamped or moved.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, ImageDesc, PixelFormat, Region, TensorDyn};
    /// let frame = TensorDyn::image(PixelFormat::Rgba, 64, 64, CpuAccess::ReadWrite)?;
    /// let window = frame.view(Region::new(8, 8, 32, 32))?.view(Region::new(4, 4, 8, 8))?;
    /// assert_eq!(window.shape()[..], [8, 8, 4]);
    /// assert_eq!(window.identity().id(), frame.identity().id());
    /// # Ok::<(), tensor_core::TensorError>(())
    /// ```
    pub fn view(&self, region: Region) -> Result<Self, TensorError> {
        match &self.layout {
            Layout::Image(image) => self.with_layout(Layout::Image(image.view(region)?)),
            Layout::Batch(_) | Layout::Strided(_) => {
                Err(self.not_a("no image; take batch(n) first"))
            }
        }
    }

    /// Element `n` of the leading axis: an image of a batch, or a tensor of one rank less.
    ///
    /// # Errors
    /// [`LayoutError::BatchIndexOutOfBounds`](crate::LayoutError::BatchIndexOutOfBounds) or
    /// [`StridedError::Range`](crate::layout::StridedError::Range) when there is no such element.
    /// A single image has no leading axis: it is its own `batch(0)`, and has no other.
    pub fn batch(&self, n: usize) -> Result<Self, TensorError> {
        match &self.layout {
            Layout::Batch(batch) => self.with_layout(Layout::Image(batch.batch(n)?)),
            Layout::Strided(strided) => self.with_layout(Layout::Strided(strided.select(0, n)?)),
            Layout::Image(_) if n == 0 => Ok(self.clone()),
            Layout::Image(_) => {
                Err(crate::layout::LayoutError::BatchIndexOutOfBounds { index: n, batch: 1 }.into())
            }
        }
    }

    /// The elements at one range of each axis of a tensor that is no image.
    ///
    /// # Errors
    /// [`TensorError::NotA`] for an image, whose parts are taken by [`view`](Self::view); else as
    /// for [`StridedLayout::slice`].
    pub fn slice(&self, ranges: &[Range<usize>]) -> Result<Self, TensorError> {
        match &self.layout {
            Layout::Strided(strided) => self.with_layout(Layout::Strided(strided.slice(ranges)?)),
            Layout::Image(_) | Layout::Batch(_) => Err(self.not_a("an image; take a view")),
        }
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// [`TensorError::NotDense`] for rows with padding or an image of several planes,
    /// [`TensorError::Reshape`] for another number of elements.
    pub fn reshape(&self, shape: &Shape) -> Result<Self, TensorError> {
        let dense = self.dense_layout().ok_or(TensorError::NotDense)?;
        let elements = dense.elements();
        if shape.elements() != Some(elements) {
            return Err(TensorError::Reshape { elements, shape: shape.clone() });
        }
        let strides = StridedLayout::dense(shape, dense.element_bytes())?.strides().clone();
        let layout =
            StridedLayout::new(shape.clone(), strides, dense.offset(), dense.element_bytes())?;
        let mut reshaped = self.with_layout(Layout::Strided(layout))?;
        reshaped.is_view = self.is_view;
        Ok(reshaped)
    }

    /// The same bytes as an image of `format`, whose allocation they must be: `[h, w, c]` for packed
    /// formats, `[rows, w]` for a luma plane with its chroma below.
    ///
    /// # Errors
    /// [`TensorError::NotDense`] for rows with padding, [`TensorError::FormatShape`] when no image
    /// of the format has this shape.
    pub fn with_format(&self, format: PixelFormat) -> Result<Self, TensorError> {
        let dense = self.dense_layout().ok_or(TensorError::NotDense)?;
        let refuse = || TensorError::FormatShape { format, shape: self.shape.clone() };
        let (width, height) = format.size_of_allocation(&self.shape).ok_or_else(refuse)?;
        if self.dtype.size_bytes() != format.dtype().size_bytes() {
            return Err(refuse());
        }
        let image = ImageLayout::packed(format, width, height, crate::layout::StrideAlign::NONE)?;
        let image = if dense.offset() == 0 { image } else { moved(&image, dense.offset())? };
        let mut formatted = self.with_layout(Layout::Image(image))?;
        formatted.is_view = self.is_view;
        Ok(formatted)
    }

    /// The elements as one dense run, when they are one.
    fn dense_layout(&self) -> Option<StridedLayout> {
        let strided = self.strided()?;
        strided.is_dense().then_some(strided)
    }

    /// The elements as strides in one memory; `None` for an image of several planes.
    pub(super) fn strided(&self) -> Option<StridedLayout> {
        let element_bytes = self.dtype.size_bytes();
        let (image, shape, strides) = match &self.layout {
            Layout::Strided(strided) => return Some(strided.clone()),
            Layout::Image(image) => (image, &self.shape, &self.strides),
            Layout::Batch(batch) => (batch.image(), &self.shape, &self.strides),
        };
        let offset = match image.planes() {
            [place] => place.offset,
            _ => return None,
        };
        StridedLayout::new(shape.clone(), strides.clone(), offset, element_bytes).ok()
    }

    /// The same tensor, said to be a part of another or not.
    pub(crate) fn with_view_mark(mut self, is_view: bool) -> Self {
        self.is_view = is_view;
        self
    }

    pub(super) fn with_layout(&self, layout: Layout) -> Result<Self, TensorError> {
        let (shape, strides) = (layout.shape()?, layout.strides()?);
        Ok(Self { layout, shape, strides, is_view: true, ..self.clone() })
    }

    fn not_a(&self, what: &'static str) -> TensorError {
        TensorError::NotA { shape: self.shape.clone(), what }
    }
}

fn moved(image: &ImageLayout, bytes: usize) -> Result<ImageLayout, TensorError> {
    let mut planes = arrayvec::ArrayVec::<_, { crate::format::MAX_PLANES }>::new();
    for place in image.planes() {
        let offset = place.offset.saturating_add(bytes);
        planes.push(crate::layout::PlanePlacement { offset, ..*place });
    }
    Ok(ImageLayout::from_planes(image.format(), image.width(), image.height(), &planes)?)
}
