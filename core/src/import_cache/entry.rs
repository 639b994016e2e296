//! One import: a tensor, its blob, and what it was made from.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use arrayvec::ArrayVec;

use super::{Frame, FrameError, memories_of};
use crate::{
    access::CpuAccess,
    format::MAX_PLANES,
    layout::ImageLayout,
    tensor::TensorDyn,
    transfer::{TransferError, describe},
};

/// The cache of an import that is in none.
pub(super) const NO_CACHE: u64 = 0;

/// A buffer imported once: its tensor and its ready blob.
#[derive(Debug)]
pub struct Import<A = ()> {
    /// The tensor, over duplicated descriptors.
    pub tensor: TensorDyn,
    /// Its blob.
    pub blob: Arc<[u8]>,
    /// What the user keeps beside it.
    pub attachment: A,
    handles: ArrayVec<i64, MAX_PLANES>,
    /// What was asked for; the tensor may allow less.
    access: CpuAccess,
    /// Which cache holds it; only that one may judge its age.
    cache: u64,
    last_seen: AtomicU64,
}

impl<A> Import<A> {
    /// Imports a frame without a cache, for a producer that knows its own buffers.
    ///
    /// # Errors
    /// See [`FrameError`]; a failed import leaves nothing behind.
    pub fn new(
        frame: &Frame<'_>,
        attach: impl FnOnce(&TensorDyn, &Arc<[u8]>) -> A,
    ) -> Result<Self, FrameError> {
        let tensor =
            TensorDyn::from_image(frame.layout.clone(), memories_of(frame)?, frame.access)?
                .with_colorimetry(frame.colorimetry);
        let tensor = match frame.quantization {
            Some(quantization) => tensor.with_quantization(quantization.clone())?,
            None => tensor,
        };
        let import = Self::of_tensor(tensor, frame.handles, attach)?;
        Ok(Self { access: frame.access, ..import })
    }

    /// An import of a tensor that exists already, image or not, for whoever made its memory.
    ///
    /// # Errors
    /// [`TransferError`] unless there is a handle for each memory, and for a batch.
    pub fn of_tensor(
        tensor: TensorDyn,
        handles: &[i64],
        attach: impl FnOnce(&TensorDyn, &Arc<[u8]>) -> A,
    ) -> Result<Self, TransferError> {
        let blob: Arc<[u8]> = describe(&tensor, handles)?.into();
        let attachment = attach(&tensor, &blob);
        let handles = handles.iter().copied().take(MAX_PLANES).collect();
        let (access, last_seen) = (tensor.access(), AtomicU64::new(0));
        Ok(Self { tensor, blob, attachment, handles, access, cache: NO_CACHE, last_seen })
    }

    pub(super) fn of_cache(self, cache: u64) -> Self {
        Self { cache, ..self }
    }

    /// Whether a cache made it. If not, whoever made its memory did, and knows best what that is for.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.cache != NO_CACHE
    }

    /// Where the planes lie.
    #[must_use]
    pub fn layout(&self) -> Option<&ImageLayout> {
        self.tensor.image_layout()
    }

    /// Whether the import says of its memories exactly what `frame` says of its own, whichever
    /// memories those are: the descriptors are not looked at.
    #[must_use]
    pub fn says(&self, frame: &Frame<'_>) -> bool {
        self.layout() == Some(frame.layout)
            && self.tensor.colorimetry() == frame.colorimetry
            && self.tensor.quantization() == frame.quantization
            && self.access == frame.access
            && self.handles.as_slice() == frame.handles
    }

    /// Notes that its cache saw it at `frame` of that cache's count.
    pub(super) fn seen_at(&self, cache: u64, frame: u64) {
        if cache == self.cache {
            self.last_seen.store(frame, Ordering::Relaxed);
        }
    }

    pub(super) fn last_seen(&self) -> u64 {
        self.last_seen.load(Ordering::Relaxed)
    }
}
