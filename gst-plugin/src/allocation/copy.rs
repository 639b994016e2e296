//! One copy of a frame, from wherever its planes lie into one memory with rows of its own.

use gst::glib;
use tensor_core::{ImageLayout, MAX_PLANES, PlanePlacement};
use thiserror::Error;

use crate::{handles, tensorimport::frame::Placed};

/// Why a frame could not be copied.
#[derive(Debug, Error)]
pub(crate) enum CopyError {
    /// A target that is not one memory; GStreamer would map a copy of it.
    #[error("a frame is copied into one memory, the pool's buffer has {memories}")]
    Memories {
        /// Memories of the target.
        memories: usize,
    },
    /// Memory that the CPU cannot reach.
    #[error("memory {memory} of the frame cannot be read: {error}")]
    Unreadable {
        /// Which of the buffer's memories.
        memory: i64,
        /// GStreamer's word for it.
        error: glib::BoolError,
    },
    /// A target that the CPU cannot write.
    #[error("the pool's buffer cannot be written: {0}")]
    Unwritable(glib::BoolError),
    /// A plane past the end of what was mapped.
    #[error(
        "plane {plane} of {need} bytes does not fit: {have} are there to read, {room} to write"
    )]
    Plane {
        /// Which plane.
        plane: usize,
        /// Bytes of the plane, from the first sample to the last, as they are read.
        need: usize,
        /// Bytes from the plane's first on, in the source.
        have: usize,
        /// Bytes from the plane's first on, in the target.
        room: usize,
    },
}

/// Copies the samples of `from`, whose planes are where `placed` says, into `to`, one memory with
/// planes as in `layout`. Both layouts are of one format and size. Says how many bytes went over;
/// padding is not among them, unless both frames have the same rows.
pub(crate) fn copy_samples(
    from: &gst::BufferRef,
    placed: &Placed,
    to: &mut gst::BufferRef,
    layout: &ImageLayout,
) -> Result<u64, CopyError> {
    if to.n_memory() != 1 {
        return Err(CopyError::Memories { memories: to.n_memory() });
    }
    let mut target = to.map_writable().map_err(CopyError::Unwritable)?;
    let sources = map_all(from, placed)?;
    let mut copied = 0_u64;
    for (plane, (source, place)) in placed.layout.planes().iter().zip(layout.planes()).enumerate() {
        let map = sources.get(source.memory).and_then(Option::as_ref);
        // The layout counts from where the backing begins, the map from where the memory does.
        let first = |map: &Source<'_>| source.offset.saturating_sub(map.memory().offset());
        let source_bytes = map.and_then(|map| map.get(first(map)..)).unwrap_or_default();
        let target_bytes = target.get_mut(place.offset..).unwrap_or_default();
        let (have, room) = (source_bytes.len(), target_bytes.len());
        let rows = Rows { source: *source, target: *place, layout, plane };
        let bytes = rows.copy(source_bytes, target_bytes).ok_or_else(|| {
            let need = placed.layout.plane_len(plane);
            CopyError::Plane { plane, need, have, room }
        })?;
        copied = copied.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
    Ok(copied)
}

/// A memory of the source, mapped.
type Source<'a> = gst::MemoryMap<'a, gst::memory::Readable>;

/// Every memory of the source, mapped once however many planes it holds.
fn map_all<'a>(
    from: &'a gst::BufferRef,
    placed: &Placed,
) -> Result<[Option<Source<'a>>; MAX_PLANES], CopyError> {
    let mut maps = [const { None }; MAX_PLANES];
    for (handle, map) in placed.handles.as_slice().iter().zip(&mut maps) {
        let unreadable = |error| CopyError::Unreadable { memory: *handle, error };
        let memory = handles::memory(from, *handle)
            .ok_or_else(|| unreadable(glib::bool_error!("the buffer has no such memory")))?;
        *map = Some(memory.map_readable().map_err(unreadable)?);
    }
    Ok(maps)
}

/// A plane on its way.
struct Rows<'a> {
    source: PlanePlacement,
    target: PlanePlacement,
    layout: &'a ImageLayout,
    plane: usize,
}

impl Rows<'_> {
    /// `None` when either side ends before the plane does.
    fn copy(&self, source: &[u8], target: &mut [u8]) -> Option<usize> {
        let (from, to) = (self.source.stride, self.target.stride);
        if from == to {
            // The last row ends at its last sample.
            let len = self.layout.plane_len(self.plane);
            target.get_mut(..len)?.copy_from_slice(source.get(..len)?);
            return Some(len);
        }
        let (rows, row_bytes) = (self.layout.rows(self.plane), self.layout.row_bytes(self.plane));
        let mut copied = 0_usize;
        for row in 0..rows {
            let (start, end) = (row.checked_mul(from)?, row.checked_mul(to)?);
            let source = source.get(start..)?.get(..row_bytes)?;
            target.get_mut(end..)?.get_mut(..row_bytes)?.copy_from_slice(source);
            copied = copied.checked_add(row_bytes)?;
        }
        Some(copied)
    }
}
