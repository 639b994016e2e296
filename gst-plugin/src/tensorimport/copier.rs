//! Frames moved into memory of our own, when they cannot stay where they are.

use gst::prelude::*;
use tensor_core::{ImageLayout, TensorMemory};

use super::frame::FrameError;
use crate::{
    memo,
    pool::{PoolError, TensorBufferPool},
    video_layout,
};

/// Buffers there are at least: one that is read, one that is filled.
const MIN_BUFFERS: u32 = 2;

/// A running pool for frames of one layout.
#[derive(Debug)]
pub(super) struct Copier {
    pool: TensorBufferPool,
    /// What the pool's memory is.
    pub(super) memory: TensorMemory,
}

impl Copier {
    /// A pool for frames of `caps`.
    pub(super) fn new(caps: &gst::Caps) -> Result<Self, FrameError> {
        let pool = TensorBufferPool::builder().caps(caps).buffers(MIN_BUFFERS, 0).build()?;
        pool.set_active(true).map_err(PoolError::from)?;
        let mut copier = Self { pool, memory: TensorMemory::Mem };
        let first = copier.pool.acquire_buffer(None)?;
        if let Some(import) = memo::find(first.peek_memory(0), |_| true) {
            copier.memory = import.tensor.memory();
        }
        Ok(copier)
    }

    /// A frame of the pool with the samples of `from`, and nothing else of it.
    ///
    /// `flat` is the layout of `from` over its memories laid end to end, `caps` that of frames
    /// without a video meta. Rows are copied, their padding is not.
    pub(super) fn copy(
        &self,
        from: &gst::BufferRef,
        flat: &ImageLayout,
        caps: &ImageLayout,
    ) -> Result<gst::Buffer, FrameError> {
        let (need, have) = (flat.required_len(0), from.size());
        if need > have {
            return Err(FrameError::TooSmall { need, have, memories: from.n_memory() });
        }
        let mut buffer = self.pool.acquire_buffer(None)?;
        let to = video_layout::layout_of_buffer(caps, &buffer)?;
        if [to.width(), to.height()] != [flat.width(), flat.height()] {
            return Err(FrameError::Cropped {
                width: flat.width(),
                height: flat.height(),
                caps_width: to.width(),
                caps_height: to.height(),
            });
        }
        // A header of its own: mapping several memories merges them in the buffer that is mapped.
        let readable = from.copy().into_mapped_buffer_readable().map_err(|_| FrameError::NoCopy)?;
        let mut map = buffer.make_mut().map_writable().map_err(|_| FrameError::NoCopy)?;
        copy_rows(&readable, flat, &mut map, &to).ok_or(FrameError::NoCopy)?;
        drop(map);
        Ok(buffer)
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        // Frames that are out come back later and are freed then.
        let _stopped = self.pool.set_active(false);
    }
}

/// Bytes of samples in a frame.
pub(super) fn sample_bytes(layout: &ImageLayout) -> u64 {
    let bytes = (0..layout.planes().len())
        .map(|plane| layout.rows(plane).saturating_mul(layout.row_bytes(plane)));
    u64::try_from(bytes.fold(0, usize::saturating_add)).unwrap_or(u64::MAX)
}

/// A buffer of one plain memory with the bytes of a compressed frame, wherever its pieces are.
pub(super) fn join(from: &gst::BufferRef) -> Result<gst::Buffer, FrameError> {
    let readable = from.copy().into_mapped_buffer_readable().map_err(|_| FrameError::NoCopy)?;
    Ok(gst::Buffer::from_mut_slice(readable.to_vec()))
}

/// `None` when a row is outside its bytes, which the layouts rule out.
fn copy_rows(from: &[u8], flat: &ImageLayout, to: &mut [u8], layout: &ImageLayout) -> Option<()> {
    for (plane, (source, target)) in flat.planes().iter().zip(layout.planes()).enumerate() {
        let len = flat.row_bytes(plane);
        for row in 0..flat.rows(plane) {
            let source = source.offset.checked_add(source.stride.checked_mul(row)?)?;
            let target = target.offset.checked_add(target.stride.checked_mul(row)?)?;
            let target = to.get_mut(target..target.checked_add(len)?)?;
            target.copy_from_slice(from.get(source..source.checked_add(len)?)?);
        }
    }
    Some(())
}
