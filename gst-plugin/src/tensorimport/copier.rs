//! Frames moved into memory of our own, when they cannot stay where they are.

use gst::prelude::*;
use tensor_core::{ImageLayout, TensorMemory};

use super::frame::{FrameError, Placed, place};
use crate::{
    allocation::{asked::Asked, copy::copy_samples, downstream::Downstream, propose::MIN_BUFFERS},
    memo,
    pool::{self, PoolError, TensorBufferPool},
    video_layout,
};

/// A running pool for frames of one layout.
#[derive(Debug)]
pub(super) struct Copier {
    pool: TensorBufferPool,
    /// What the pool's memory is.
    pub(super) memory: TensorMemory,
}

impl Copier {
    /// A pool for frames of `caps`, in memory and with the padding that downstream asks for.
    ///
    /// It is never downstream's own, which may be bounded: a frame that waits for one there could not
    /// be stopped.
    pub(super) fn new(caps: &gst::Caps, downstream: &Downstream) -> Result<Self, FrameError> {
        let pool = TensorBufferPool::new();
        let allocator = downstream.allocator.clone();
        let asked = Asked {
            caps,
            size: downstream.size,
            min: MIN_BUFFERS,
            max: 0,
            allocator: allocator.map(|allocator| (Some(allocator), downstream.params)),
            video_meta: true,
            alignment: downstream.alignment,
        };
        asked.configure(pool.upcast_ref()).map_err(PoolError::from)?;
        pool::activate(&pool)?;
        let mut copier = Self { pool, memory: TensorMemory::Mem };
        let first = pool::acquire(&copier.pool)?;
        if let Some(import) = memo::find(first.peek_memory(0), |_| true) {
            copier.memory = import.tensor.memory();
        }
        Ok(copier)
    }

    /// A frame of the pool with the samples of `from`, and nothing else of it. Says how many bytes went
    /// over.
    ///
    /// `flat` is the layout of `from` over its memories laid end to end, `caps` that of frames
    /// without a video meta.
    pub(super) fn copy(
        &self,
        from: &gst::BufferRef,
        flat: &ImageLayout,
        caps: &ImageLayout,
    ) -> Result<(gst::Buffer, u64), FrameError> {
        let placed = match place(from, flat) {
            // Only here does a copy begin with another one.
            Err(FrameError::Split { .. }) => {
                let joined = join(from)?;
                return self.fill(&joined, &place(&joined, flat)?, caps);
            }
            placed => placed?,
        };
        self.fill(from, &placed, caps)
    }

    fn fill(
        &self,
        from: &gst::BufferRef,
        placed: &Placed,
        caps: &ImageLayout,
    ) -> Result<(gst::Buffer, u64), FrameError> {
        let flat = &placed.layout;
        let mut buffer = pool::acquire(&self.pool)?;
        let to = video_layout::layout_of_buffer(caps, &buffer)?;
        if [to.width(), to.height()] != [flat.width(), flat.height()] {
            return Err(FrameError::Cropped {
                width: flat.width(),
                height: flat.height(),
                caps_width: to.width(),
                caps_height: to.height(),
            });
        }
        let bytes = copy_samples(from, placed, buffer.make_mut(), &to)?;
        Ok((buffer, bytes))
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        // Frames that are out come back later and are freed then.
        let _stopped = self.pool.set_active(false);
    }
}

/// A buffer of one plain memory with the bytes of `from`, wherever its pieces are.
pub(crate) fn join(from: &gst::BufferRef) -> Result<gst::Buffer, FrameError> {
    // A header of its own: mapping several memories merges them in the buffer that is mapped.
    let readable = from.copy().into_mapped_buffer_readable().map_err(|_| FrameError::NoCopy)?;
    Ok(gst::Buffer::from_mut_slice(readable.to_vec()))
}
