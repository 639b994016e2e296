//! A tensor whose bytes a blob carries, to be put into memory that somebody else has.

use super::{
    ImportError, description::ImageDescription, import::quantization, inline,
    strided::StridedDescription,
};
use crate::{blob::BlobView, memory_kind::TensorMemory, tensor::Layout};

/// A tensor that a blob carries: its layout with the planes one after the other in one memory, and
/// the bytes that takes.
///
/// ```
/// use tensor_core::{BlobView, CpuAccess, DType, Shape, TensorDyn, memory::AllocPolicy};
/// use tensor_core::transfer::{Carried, Referenced, TransportMode, export};
/// let scores = TensorDyn::new(
///     &Shape::new(&[1, 10]).unwrap(), DType::F32, &AllocPolicy::default(), CpuAccess::ReadWrite,
/// )?;
/// let (blob, _) = export(&scores, TransportMode::Inline)?;
/// let view = BlobView::parse(&blob)?;
/// let carried = Carried::of(&view)?;
/// let mut memory = vec![7; carried.len];
/// carried.copy_to(&view, &mut memory);
/// assert_eq!(memory, [0; 40]);
/// let described = carried.describe(&view, 0)?;
/// assert_eq!(Referenced::of(&BlobView::parse(&described)?)?.parts().next(), Some((0, 0..40)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Where the elements are, from the start of the memory on.
    pub layout: Layout,
    /// Bytes of the memory: no more than the blob carries.
    pub len: usize,
}

impl Carried {
    /// Reads the tensor out of a parsed blob.
    ///
    /// # Errors
    /// See [`ImportError`]: a shape or strides that contradict the rest, planes with fewer bytes
    /// than their samples need.
    pub fn of(view: &BlobView<'_>) -> Result<Self, ImportError> {
        if let Some(scheme) = view.extension().compression {
            return Err(ImportError::Compressed { scheme });
        }
        let (layout, len) = inline::layout(view)?;
        Ok(Self { layout, len })
    }

    /// Copies the bytes out of the blob it was read from to the front of `memory`.
    pub fn copy_to(&self, view: &BlobView<'_>, memory: &mut [u8]) {
        let mut rest = memory;
        for record in view.planes() {
            let Some((plane, left)) = rest.split_at_mut_checked(record.data.len()) else { break };
            plane.copy_from_slice(record.data);
            rest = left;
        }
    }

    /// The blob of the same tensor by reference, in memory of this process that `handle` names.
    ///
    /// # Errors
    /// [`ImportError::Tensor`] for quantization that does not fit.
    pub fn describe(&self, view: &BlobView<'_>, handle: i64) -> Result<Vec<u8>, ImportError> {
        let (dtype, kind) = (view.dtype(), TensorMemory::Mem);
        let (colorimetry, extension) = (view.colorimetry(), view.extension());
        let quantization = quantization(view)?;
        if let Some(quantization) = &quantization {
            quantization.validate(&self.layout.shape()?, dtype)?;
        }
        let quantization = quantization.as_ref();
        Ok(match &self.layout {
            Layout::Image(layout) => {
                let memory_lens = &[self.len];
                let of = ImageDescription {
                    layout,
                    kind,
                    memory_lens,
                    colorimetry,
                    quantization,
                    extension,
                };
                of.to_blob(&[handle])?
            }
            Layout::Strided(layout) => {
                let of = StridedDescription {
                    layout,
                    dtype,
                    kind,
                    colorimetry,
                    quantization,
                    extension,
                };
                of.to_blob(handle)?
            }
            Layout::Batch(_) => {
                return Err(super::TransferError::Batch { shape: self.layout.shape()? }.into());
            }
        })
    }
}
