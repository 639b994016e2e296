//! Where a tensor's elements are: an image, a batch of images, or plain strides.

use crate::{
    layout::{BatchLayout, ImageLayout, LayoutError, Rows, StridedLayout},
    shape::{Shape, Strides},
};

/// The layout of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// One image, in up to four memories.
    Image(ImageLayout),
    /// Images of one size, one after the other in one memory.
    Batch(BatchLayout),
    /// No image: elements at fixed steps in one memory.
    Strided(StridedLayout),
}

impl Layout {
    /// Dimensions, outermost first: how a consumer indexes the tensor.
    ///
    /// # Errors
    /// [`LayoutError`] when a batch has an axis too many.
    pub fn shape(&self) -> Result<Shape, LayoutError> {
        match self {
            Self::Image(image) => Ok(image.shape()),
            Self::Batch(batch) => batch.shape(),
            Self::Strided(strided) => Ok(strided.shape().clone()),
        }
    }

    /// The byte step of each axis.
    ///
    /// # Errors
    /// [`LayoutError`] when a step does not fit the address space.
    pub fn strides(&self) -> Result<Strides, LayoutError> {
        match self {
            Self::Image(image) => image.strides(),
            Self::Batch(batch) => batch.strides(),
            Self::Strided(strided) => Ok(strided.strides().clone()),
        }
    }

    /// The image, or the one that a batch repeats.
    #[must_use]
    pub fn image(&self) -> Option<&ImageLayout> {
        match self {
            Self::Image(image) => Some(image),
            Self::Batch(batch) => Some(batch.image()),
            Self::Strided(_) => None,
        }
    }

    /// The number of memories the elements lie in.
    #[must_use]
    pub fn memories(&self) -> usize {
        match self {
            Self::Image(image) => image.memories(),
            Self::Batch(_) | Self::Strided(_) => 1,
        }
    }

    /// Bytes that memory `memory` must have.
    #[must_use]
    pub fn required_len(&self, memory: usize) -> usize {
        match self {
            Self::Image(image) => image.required_len(memory),
            Self::Batch(batch) => batch.required_len(),
            Self::Strided(strided) => strided.required_len(),
        }
    }

    /// Bytes of the elements alone, without padding.
    pub(super) fn sample_bytes(&self) -> usize {
        match self {
            Self::Image(image) => image.sample_bytes(),
            Self::Batch(batch) => batch.image().sample_bytes().saturating_mul(batch.count()),
            Self::Strided(strided) => strided.elements().saturating_mul(strided.element_bytes()),
        }
    }

    /// The elements in order, as rows in one memory after the other: every plane of every image, or
    /// the whole of what is no image.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (usize, Rows)> {
        let strided = match self {
            Self::Strided(strided) => Some((0, strided.rows())),
            Self::Image(_) | Self::Batch(_) => None,
        };
        let planes = |image: ImageLayout| {
            let count = image.planes().len();
            (0..count).filter_map(move |plane| image.plane_rows(plane))
        };
        strided.into_iter().chain(self.images().flat_map(planes))
    }

    fn images(&self) -> impl Iterator<Item = ImageLayout> {
        let count = match self {
            Self::Image(_) => 1,
            Self::Batch(batch) => batch.count(),
            Self::Strided(_) => 0,
        };
        (0..count).filter_map(move |n| match self {
            Self::Image(image) => Some(image.clone()),
            Self::Batch(batch) => batch.batch(n).ok(),
            Self::Strided(_) => None,
        })
    }
}
