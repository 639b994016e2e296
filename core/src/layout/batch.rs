//! Many images of one layout in one memory.

use arrayvec::ArrayVec;

use super::{ImageLayout, LayoutError};
use crate::shape::{MAX_RANK, Shape, Strides};

/// `count` images of the same layout, each a fixed number of bytes after the one before.
///
/// ```
/// use tensor_core::{ImageLayout, PixelFormat, StrideAlign, layout::BatchLayout};
/// let image = ImageLayout::packed(PixelFormat::Rgba, 321, 4, StrideAlign::DMA)?;
/// let batch = BatchLayout::stacked(image, 2)?;
/// assert_eq!(&*batch.shape()?, [2, 4, 321, 4]);
/// assert_eq!(&*batch.strides()?, [5376, 1344, 4, 1]);
/// assert_eq!(batch.batch(1)?.planes()[0].offset, 5376);
/// # Ok::<(), tensor_core::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchLayout {
    image: ImageLayout,
    count: usize,
    image_bytes: usize,
}

impl BatchLayout {
    /// `count` images, each beginning where the padded rows of the one before end.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn stacked(image: ImageLayout, count: usize) -> Result<Self, LayoutError> {
        let image_bytes = image.allocation_len(0).saturating_sub(first_offset(&image));
        Self::new(image, count, image_bytes)
    }

    /// `count` images, each `image_bytes` bytes after the one before; `image` is the first.
    ///
    /// # Errors
    /// [`LayoutError::Batch`] for no images, an image in several memories, images that would
    /// overlap, or bytes that do not fit the address space.
    pub fn new(image: ImageLayout, count: usize, image_bytes: usize) -> Result<Self, LayoutError> {
        let refuse = |why| Err(LayoutError::Batch { count, image_bytes, why });
        if count == 0 {
            return refuse("a batch has at least one image");
        }
        if image.memories() != 1 {
            return refuse("the planes of an image are in several memories");
        }
        if image_bytes < image.required_len(0).saturating_sub(first_offset(&image)) {
            return refuse("images would overlap");
        }
        let batch = Self { image, count, image_bytes };
        if batch.checked_end(batch.image_end()).is_none() {
            return refuse("their bytes do not fit the address space");
        }
        Ok(batch)
    }

    /// The first image; its size is that of every image.
    #[must_use]
    pub fn image(&self) -> &ImageLayout {
        &self.image
    }

    /// How many images there are; never 0.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes from one image to the next.
    #[must_use]
    pub fn image_bytes(&self) -> usize {
        self.image_bytes
    }

    /// Image `index`, as a layout over the same memory.
    ///
    /// # Errors
    /// [`LayoutError::BatchIndexOutOfBounds`] when there is no such image.
    pub fn batch(&self, index: usize) -> Result<ImageLayout, LayoutError> {
        let out = LayoutError::BatchIndexOutOfBounds { index, batch: self.count };
        let moved = (index < self.count).then(|| index.checked_mul(self.image_bytes)).flatten();
        moved.and_then(|bytes| self.image.moved_by(bytes)).ok_or(out)
    }

    /// Bytes the memory must have to hold every sample of every image.
    #[must_use]
    pub fn required_len(&self) -> usize {
        self.checked_end(self.image.required_len(0)).unwrap_or(usize::MAX)
    }

    /// Bytes to allocate: every image padded, the last one too.
    #[must_use]
    pub fn allocation_len(&self) -> usize {
        self.checked_end(self.image_end()).unwrap_or(usize::MAX)
    }

    /// The shape by which a consumer indexes the batch: the count, then the image's own shape.
    ///
    /// # Errors
    /// [`LayoutError::Batch`] when that is more than [`MAX_RANK`] axes, which no image's shape is.
    pub fn shape(&self) -> Result<Shape, LayoutError> {
        self.prefixed(self.count, &self.image.shape()).and_then(|dims| {
            Shape::new(&dims).ok_or_else(|| self.refused("a shape has at most 8 axes"))
        })
    }

    /// The byte strides of [`shape`](Self::shape): the bytes of an image, then its own strides.
    ///
    /// # Errors
    /// As for [`ImageLayout::strides`].
    pub fn strides(&self) -> Result<Strides, LayoutError> {
        let overflow = || self.refused("their bytes do not fit the address space");
        let step = isize::try_from(self.image_bytes).map_err(|_| overflow())?;
        let steps = self.prefixed(step, &self.image.strides()?)?;
        Strides::new(&steps).ok_or_else(overflow)
    }

    fn prefixed<T: Copy>(
        &self,
        first: T,
        rest: &[T],
    ) -> Result<ArrayVec<T, MAX_RANK>, LayoutError> {
        let mut all = ArrayVec::new();
        all.push(first);
        let too_many = |_| self.refused("a shape has at most 8 axes");
        all.try_extend_from_slice(rest).map_err(too_many)?;
        Ok(all)
    }

    fn refused(&self, why: &'static str) -> LayoutError {
        LayoutError::Batch { count: self.count, image_bytes: self.image_bytes, why }
    }

    /// Where the first image and its padding end.
    fn image_end(&self) -> usize {
        let stacked = first_offset(&self.image).saturating_add(self.image_bytes);
        stacked.max(self.image.allocation_len(0))
    }

    fn checked_end(&self, image_end: usize) -> Option<usize> {
        let others = self.count.checked_sub(1)?.checked_mul(self.image_bytes)?;
        others.checked_add(image_end).filter(|end| isize::try_from(*end).is_ok())
    }
}

fn first_offset(image: &ImageLayout) -> usize {
    image.planes().iter().map(|place| place.offset).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PixelFormat, PlanePlacement, layout::StrideAlign};

    fn rgba(count: usize) -> BatchLayout {
        let image = ImageLayout::packed(PixelFormat::Rgba, 321, 4, StrideAlign::DMA).unwrap();
        BatchLayout::stacked(image, count).unwrap()
    }

    // S-GEO-11, S-GEO-14
    #[test]
    fn the_outermost_step_is_one_padded_image() {
        let batch = rgba(2);
        assert_eq!(&*batch.shape().unwrap(), [2, 4, 321, 4]);
        assert_eq!(&*batch.strides().unwrap(), [5376, 1344, 4, 1]);
        assert_eq!(batch.allocation_len(), 2 * 5376);
        assert_eq!(batch.required_len(), 5376 + 3 * 1344 + 1284);
        assert_eq!((batch.image().width(), batch.image().height()), (321, 4));
    }

    #[test]
    fn a_batch_of_nv12_steps_over_chroma_too() {
        let image = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
        let batch = BatchLayout::stacked(image, 3).unwrap();
        assert_eq!(&*batch.shape().unwrap(), [3, 480, 640]);
        assert_eq!(&*batch.strides().unwrap(), [460_800, 640, 1]);
        assert_eq!(batch.batch(2).unwrap().planes()[1].offset, 2 * 460_800 + 307_200);
    }

    // S-VIEW-04
    #[test]
    fn an_image_past_the_last_is_refused() {
        let error = LayoutError::BatchIndexOutOfBounds { index: 4, batch: 4 };
        assert_eq!(rgba(4).batch(4), Err(error));
        assert!(rgba(4).batch(usize::MAX).is_err());
    }

    // S-VIEW-05
    #[test]
    fn the_only_image_of_a_batch_is_the_whole() {
        let batch = rgba(1);
        assert_eq!(batch.batch(0).as_ref(), Ok(batch.image()));
        assert_eq!(batch.allocation_len(), batch.image().allocation_len(0));
        assert_eq!(batch.required_len(), batch.image().required_len(0));
    }

    #[test]
    fn every_image_lies_in_the_allocation_and_none_overlap() {
        for format in PixelFormat::ALL.iter().copied() {
            let image = ImageLayout::packed(format, 33, 7, StrideAlign::DMA).unwrap();
            let batch = BatchLayout::stacked(image, 5).unwrap();
            let mut end = 0;
            for index in 0..5 {
                let image = batch.batch(index).unwrap();
                assert_eq!(first_offset(&image), end, "{format}");
                assert!(image.planes().iter().all(|place| place.offset % 64 == 0), "{format}");
                end = image.allocation_len(0);
            }
            assert_eq!(batch.allocation_len(), end, "{format}");
        }
    }

    #[test]
    fn images_may_lie_further_apart_and_begin_later() {
        let plane = [PlanePlacement { memory: 0, offset: 128, stride: 64 }];
        let image = ImageLayout::from_planes(PixelFormat::Grey, 60, 4, &plane).unwrap();
        let batch = BatchLayout::new(image.clone(), 2, 4096).unwrap();
        assert_eq!(batch.batch(1).unwrap().planes()[0].offset, 128 + 4096);
        assert_eq!(batch.required_len(), 4096 + 128 + 3 * 64 + 60);
        assert_eq!(batch.allocation_len(), 128 + 2 * 4096);
        assert_eq!(BatchLayout::stacked(image, 2).unwrap().image_bytes(), 256);
    }

    #[test]
    fn what_cannot_be_stacked_is_refused() {
        let image = |planes: &[PlanePlacement]| {
            ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, planes).unwrap()
        };
        let place = |memory, offset| PlanePlacement { memory, offset, stride: 64 };
        let one = image(&[place(0, 0), place(0, 2304)]);
        let two = image(&[place(0, 0), place(1, 0)]);
        let why = |result: Result<BatchLayout, LayoutError>| match result {
            Err(LayoutError::Batch { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(BatchLayout::stacked(one.clone(), 0)).contains("at least one"));
        assert!(why(BatchLayout::stacked(two, 2)).contains("several memories"));
        assert!(why(BatchLayout::new(one.clone(), 2, 3455)).contains("overlap"));
        assert!(why(BatchLayout::new(one.clone(), 1 << 62, 4096)).contains("address space"));
        assert!(why(BatchLayout::new(one, 2, 1 << 63)).contains("address space"));
    }
}
