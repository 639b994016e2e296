//! A tensor that a blob describes by reference: what it is before its memories are there.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::{
    ImportError, TransferError,
    image::{ReferencedImage, narrow},
    import::tensor_of,
    strided,
};
use crate::{
    access::CpuAccess,
    blob::BlobView,
    format::MAX_PLANES,
    layout::{ImageLayout, PlanePlacement, StridedLayout},
    memory::Memory,
    tensor::{Layout, TensorDyn},
};

/// A tensor that a blob describes by reference, image or not: its layout, and the handle of each
/// memory.
///
/// ```
/// use tensor_core::{BlobView, CpuAccess, DType, Memory, Shape, TensorDyn, memory::AllocPolicy};
/// use tensor_core::transfer::{Referenced, describe};
/// let shape = Shape::new(&[1, 3, 4, 4]).unwrap();
/// let input = TensorDyn::new(&shape, DType::F32, &AllocPolicy::default(), CpuAccess::ReadWrite)?;
/// let blob = describe(&input, &[7])?;
/// let view = BlobView::parse(&blob)?;
/// let found = Referenced::of(&view)?;
/// assert_eq!(found.parts().collect::<Vec<_>>(), [(7, 0..192)]);
/// let same = found.tensor(&view, input.memories().iter().cloned(), CpuAccess::Read)?;
/// assert_eq!(same.shape(), input.shape());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referenced {
    /// Where the elements are; memory `m` is the one with handle `handles[m]`.
    pub layout: Layout,
    /// The handles, in the order the layout numbers the memories.
    pub handles: ArrayVec<i64, MAX_PLANES>,
}

impl Referenced {
    /// Reads the tensor out of a parsed blob.
    ///
    /// # Errors
    /// See [`ImportError`]: inline planes, tiled or compressed planes, a shape or strides that
    /// contradict the rest, a layout that cannot be, a plane with fewer bytes in use than its
    /// elements need.
    pub fn of(view: &BlobView<'_>) -> Result<Self, ImportError> {
        if let Some(scheme) = view.extension().compression {
            return Err(ImportError::Compressed { scheme });
        }
        if view.is_inline() {
            return Err(TransferError::Inline.into());
        }
        if view.format().is_none() {
            let record = strided::only_plane(view)?;
            record.require_linear()?;
            let layout = strided::layout(view, narrow(record.offset))?;
            let have = record.offset.saturating_add(record.used);
            check_used(0, layout.required_len(), have)?;
            let handles = [record.handle].into_iter().collect();
            return Ok(Self { layout: Layout::Strided(layout), handles });
        }
        let ReferencedImage { layout, handles } = ReferencedImage::of(view)?;
        for (plane, record) in view.planes().enumerate() {
            check_used(plane, layout.plane_len(plane), record.used)?;
        }
        Ok(Self { layout: Layout::Image(layout), handles })
    }

    /// Each plane's handle, and the bytes of that memory which it takes; a tensor that is no image
    /// has one plane.
    pub fn parts(&self) -> impl Iterator<Item = (i64, Range<usize>)> {
        let planes = match &self.layout {
            Layout::Image(image) => image.planes().len(),
            Layout::Strided(_) | Layout::Batch(_) => 1,
        };
        (0..planes).map(|plane| match &self.layout {
            Layout::Image(image) => {
                let place = image.planes().get(plane);
                let (memory, start) = place.map_or((0, 0), |place| (place.memory, place.offset));
                (self.handle(memory), start..start.saturating_add(image.plane_len(plane)))
            }
            Layout::Strided(strided) => (self.handle(0), strided.bounds()),
            Layout::Batch(batch) => (self.handle(0), 0..batch.required_len()),
        })
    }

    /// The same tensor where memory `m` is seen from its byte `origins[m]` on.
    ///
    /// # Errors
    /// [`ImportError::Strided`] when elements lie before that byte.
    pub fn seen_from(&self, origins: &[usize]) -> Result<Self, ImportError> {
        let skipped = |memory: usize| origins.get(memory).copied().unwrap_or(0);
        let layout = match &self.layout {
            Layout::Image(image) => {
                let back = |place: &PlanePlacement| PlanePlacement {
                    offset: place.offset.saturating_sub(skipped(place.memory)),
                    ..*place
                };
                let planes: ArrayVec<_, MAX_PLANES> = image.planes().iter().map(back).collect();
                let (format, width, height) = (image.format(), image.width(), image.height());
                Layout::Image(ImageLayout::from_planes(format, width, height, &planes)?)
            }
            Layout::Strided(strided) => {
                let offset = strided.offset().saturating_sub(skipped(0));
                let (shape, strides) = (strided.shape().clone(), strided.strides().clone());
                let layout = StridedLayout::new(shape, strides, offset, strided.element_bytes())?;
                Layout::Strided(layout)
            }
            Layout::Batch(batch) => Layout::Batch(batch.clone()),
        };
        Ok(Self { layout, handles: self.handles.clone() })
    }

    /// The tensor, with all that `view`, the blob it was read from, says of it, over the memories
    /// that the handles stand for.
    ///
    /// # Errors
    /// [`ImportError::Tensor`] when the memories do not hold such a tensor, or
    /// [`ImportError::Quantization`] when its quantization does not fit.
    pub fn tensor(
        &self,
        view: &BlobView<'_>,
        memories: impl IntoIterator<Item = Memory>,
        access: CpuAccess,
    ) -> Result<TensorDyn, ImportError> {
        tensor_of(view, self.layout.clone(), memories, access)
    }

    fn handle(&self, memory: usize) -> i64 {
        self.handles.get(memory).copied().unwrap_or(-1)
    }
}

fn check_used(plane: usize, need: usize, have: u64) -> Result<(), ImportError> {
    if u64::try_from(need).is_ok_and(|need| need <= have) {
        Ok(())
    } else {
        Err(ImportError::ShortPlane { plane, need, have })
    }
}
