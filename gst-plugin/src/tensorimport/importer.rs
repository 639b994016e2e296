//! From a buffer to a buffer that says what tensor it holds.

use std::sync::Arc;

use gst::glib;
use tensor_core::{
    Colorimetry, CpuAccess, ImageLayout, ImportCache, TensorMemory, import_cache::Frame,
};

use super::{
    frame::{FrameError, Placed, place},
    plain::PlainBlobs,
    stats::Counters,
};
use crate::{
    handles,
    memo::{self, FrameImport},
    meta::TensorMeta,
    video_layout,
};

/// What the caps say of every frame.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The layout of frames that carry no video meta.
    pub(crate) layout: ImageLayout,
    pub(crate) colorimetry: Colorimetry,
}

impl Stream {
    pub(crate) fn from_caps(caps: &gst::CapsRef) -> Result<Self, FrameError> {
        let info = video_layout::info_from_caps(caps)?;
        let layout = video_layout::layout_from_info(&info)?;
        Ok(Self { layout, colorimetry: video_layout::colorimetry(&info.colorimetry()) })
    }
}

/// Attaches tensors, and remembers what it imported.
#[derive(Debug)]
pub(crate) struct Importer {
    stream: Option<Stream>,
    cache: ImportCache<glib::Bytes>,
    plain: PlainBlobs,
    counters: Counters,
}

/// What was found out about one frame.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) placed: Placed,
    pub(crate) memory: TensorMemory,
    pub(crate) hit: bool,
}

impl Importer {
    pub(crate) fn new(cache_size: usize) -> Self {
        Self {
            stream: None,
            cache: ImportCache::new(cache_size),
            plain: PlainBlobs::default(),
            counters: Counters::default(),
        }
    }

    pub(crate) fn set_stream(&mut self, stream: Stream) {
        self.new_generation();
        self.stream = Some(stream);
    }

    /// The producer's buffers are about to be others.
    ///
    /// Says how many imports were dropped.
    pub(crate) fn new_generation(&mut self) -> usize {
        self.plain.clear();
        self.cache.new_generation()
    }

    pub(crate) fn stats(&self) -> gst::Structure {
        self.counters.to_structure(self.cache.stats())
    }

    /// Whether no frame has got a tensor yet.
    pub(crate) fn is_first(&self) -> bool {
        self.counters.frames == 0
    }

    pub(crate) fn count_copied(&mut self, bytes: u64) {
        self.counters.copied_bytes = self.counters.copied_bytes.saturating_add(bytes);
    }

    /// Puts the meta on a buffer. After an error nothing is kept of the frame.
    pub(crate) fn attach(&mut self, buffer: &mut gst::BufferRef) -> Result<Imported, FrameError> {
        let stream = self.stream.as_ref().ok_or(FrameError::NoCaps)?;
        let colorimetry = stream.colorimetry;
        let placed = place(buffer, &video_layout::layout_of_buffer(&stream.layout, buffer)?)?;
        let (memory, hit) = match remembered(buffer, &placed, colorimetry) {
            Some(import) => {
                TensorMeta::put(buffer, &import.attachment, Some(&import), &placed.handles)?;
                self.cache.note_hit(&import);
                (import.tensor.memory(), true)
            }
            None => self.attach_new(buffer, &placed, colorimetry)?,
        };
        self.counters.count(hit, memory);
        Ok(Imported { placed, memory, hit })
    }

    fn attach_new(
        &mut self,
        buffer: &mut gst::BufferRef,
        placed: &Placed,
        colorimetry: Colorimetry,
    ) -> Result<(TensorMemory, bool), FrameError> {
        let Some(lookup) = self.import(buffer, placed, colorimetry)? else {
            let (blob, hit) = self.plain.get(placed, colorimetry)?;
            TensorMeta::put(buffer, &blob, None, &placed.handles)?;
            return Ok((TensorMemory::Mem, hit));
        };
        let (import, hit) = lookup;
        TensorMeta::put(buffer, &import.attachment, Some(&import), &placed.handles)?;
        for memory in placed.handles.memories(buffer).flatten() {
            memo::set_seen(memory, &import);
        }
        Ok((import.tensor.memory(), hit))
    }

    /// Imports by fd; `None` when the memories have none.
    fn import(
        &mut self,
        buffer: &gst::BufferRef,
        placed: &Placed,
        colorimetry: Colorimetry,
    ) -> Result<Option<(Arc<FrameImport>, bool)>, FrameError> {
        if !lie_in_fds(buffer, placed)? {
            return Ok(None);
        }
        let handles = placed.handles.as_slice();
        let fds = placed.handles.memories(buffer).flatten().filter_map(handles::fd);
        let fds: Vec<_> = fds.collect();
        let (layout, access) = (&placed.layout, CpuAccess::Read);
        let frame = Frame { layout, colorimetry, quantization: None, access, fds: &fds, handles };
        let lookup = self.cache.import(&frame, memo::share)?;
        Ok(Some((lookup.import, lookup.hit)))
    }
}

/// Whether the frame's memories have fds: all of them or none.
fn lie_in_fds(buffer: &gst::BufferRef, placed: &Placed) -> Result<bool, FrameError> {
    let (mut with_fd, mut without) = (None, None);
    for (handle, memory) in placed.handles.as_slice().iter().zip(placed.handles.memories(buffer)) {
        let has_fd = memory.and_then(handles::fd).is_some();
        let seen = if has_fd { &mut with_fd } else { &mut without };
        *seen = Some(*handle);
    }
    match (with_fd, without) {
        (Some(with_fd), Some(without)) => Err(FrameError::MixedMemories { with_fd, without }),
        _ => Ok(with_fd.is_some()),
    }
}

/// The import that every memory of the frame remembers. No syscall, no allocation.
fn remembered(
    buffer: &gst::BufferRef,
    placed: &Placed,
    colorimetry: Colorimetry,
) -> Option<Arc<FrameImport>> {
    let mut memories = placed.handles.memories(buffer);
    let frame = Frame {
        layout: &placed.layout,
        colorimetry,
        quantization: None,
        access: CpuAccess::Read,
        fds: &[],
        handles: placed.handles.as_slice(),
    };
    // A pool may have declared less; its word stays.
    let is_frame = |import: &FrameImport| {
        let access = import.tensor.access();
        CpuAccess::Read.covers(access) && import.says(&Frame { access, ..frame })
    };
    let import = memo::find(memories.next().flatten()?, is_frame)?;
    let all = memories.all(|memory| memory.is_some_and(|memory| memo::is_part_of(memory, &import)));
    all.then_some(import)
}
