//! From a buffer to a buffer that says what tensor it holds.

use std::{fmt, os::fd::BorrowedFd, sync::Arc};

use gst::glib;
use tensor_core::{
    Colorimetry, CpuAccess, ImageLayout, ImportCache, MAX_PLANES, Quantization, Region,
    TensorMemory, import_cache::Frame,
};

use super::{
    bitstream::{self, Piece},
    frame::{FrameError, Placed, place},
    plain::PlainBlobs,
    stats::{Counters, Stats},
};
use crate::{
    handles::{self, Handles},
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

/// What comes in the buffers of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Video(Stream),
    /// Compressed frames, whose pictures will have these colours.
    Bitstream(Colorimetry),
}

impl Content {
    pub(crate) fn from_caps(caps: &gst::CapsRef) -> Result<Self, FrameError> {
        match bitstream::of_caps(caps) {
            Some(colorimetry) => Ok(Self::Bitstream(colorimetry)),
            None => Ok(Self::Video(Stream::from_caps(caps)?)),
        }
    }
}

/// What is said of every frame, wherever it lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Says {
    pub(crate) access: CpuAccess,
    pub(crate) colorimetry: Colorimetry,
    pub(crate) quantization: Option<Quantization>,
}

impl Default for Says {
    fn default() -> Self {
        let (access, colorimetry) = (CpuAccess::Read, Colorimetry::default());
        Self { access, colorimetry, quantization: None }
    }
}

impl Says {
    fn frame<'a>(&'a self, placed: &'a Placed, fds: &'a [BorrowedFd<'a>]) -> Frame<'a> {
        Frame {
            layout: &placed.layout,
            colorimetry: self.colorimetry,
            quantization: self.quantization.as_ref(),
            access: self.access,
            fds,
            handles: placed.handles.as_slice(),
        }
    }
}

/// Finds tensors and attaches them, and remembers what it imported.
#[derive(Debug)]
pub(crate) struct Importer {
    content: Option<Content>,
    says: Says,
    cache: ImportCache<glib::Bytes>,
    plain: PlainBlobs,
    pub(super) counters: Counters,
}

/// Where the bytes of a frame are in its buffer.
#[derive(Debug)]
enum Place {
    Image(Placed),
    Piece(Piece),
}

/// What says it.
#[derive(Debug)]
enum Blob {
    Import(Arc<FrameImport>),
    /// Of memory that is not imported: it has no fd, or a length that never comes again.
    Bytes(glib::Bytes),
}

/// A whole picture, and what is to be taken of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    /// Width and height, in pixels.
    pub(crate) size: [usize; 2],
    /// The part that a crop meta leaves.
    pub(crate) crop: Option<Region>,
}

/// What was found out about one frame.
#[derive(Debug)]
pub(crate) struct Imported {
    place: Place,
    blob: Blob,
    pub(crate) memory: TensorMemory,
    pub(crate) hit: bool,
    /// The same bytes were known by another description.
    pub(crate) replaced: bool,
}

impl Imported {
    fn handles(&self) -> &Handles {
        match &self.place {
            Place::Image(placed) => &placed.handles,
            Place::Piece(piece) => &piece.handles,
        }
    }
}

/// Everything a log needs to say of a frame.
impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Image(Placed { layout, .. }) => {
                write!(f, "{} {}x{}", layout.format(), layout.width(), layout.height())?;
                for (plane, place) in layout.planes().iter().enumerate() {
                    let (offset, stride) = (place.offset, place.stride);
                    write!(f, ", plane {plane} at byte {offset} of memory ")?;
                    let handle = self.handles().as_slice().get(place.memory).unwrap_or(&-1);
                    write!(f, "{handle} with a stride of {stride} bytes")?;
                }
            }
            Place::Piece(Piece { layout, .. }) => {
                let (len, offset) = (layout.shape().first().unwrap_or(&0), layout.offset());
                write!(f, "{len} compressed bytes at byte {offset} of memory 0")?;
            }
        }
        write!(f, ", in {} memory", self.memory)?;
        let Blob::Import(import) = &self.blob else { return Ok(()) };
        for identity in import.tensor.memories().iter().filter_map(|memory| memory.identity()) {
            write!(f, ", {identity:?}")?;
        }
        Ok(())
    }
}

impl Importer {
    pub(crate) fn new(cache_size: usize) -> Self {
        Self::saying(cache_size, Says::default())
    }

    /// One that says `says` of every frame; the colours are those of the stream.
    pub(super) fn saying(cache_size: usize, says: Says) -> Self {
        Self {
            content: None,
            says,
            cache: ImportCache::new(cache_size),
            plain: PlainBlobs::default(),
            counters: Counters::default(),
        }
    }

    pub(crate) fn set_stream(&mut self, stream: Stream) {
        self.set_content(Content::Video(stream));
    }

    pub(super) fn set_content(&mut self, content: Content) {
        self.new_generation();
        self.says.colorimetry = match &content {
            Content::Video(stream) => stream.colorimetry,
            Content::Bitstream(colorimetry) => *colorimetry,
        };
        self.content = Some(content);
    }

    /// The producer's buffers are about to be others.
    ///
    /// Says how many imports were dropped.
    pub(crate) fn new_generation(&mut self) -> usize {
        self.plain.clear();
        self.cache.new_generation()
    }

    pub(super) fn stats(&self) -> Stats {
        Stats { counters: self.counters, cache: self.cache.stats() }
    }

    /// Imports held now, and the most that may be.
    pub(super) fn fill(&self) -> (usize, usize) {
        (self.cache.stats().live, self.cache.capacity())
    }

    /// The layout of video frames that say nothing of their own.
    pub(super) fn layout(&self) -> Option<&ImageLayout> {
        match &self.content {
            Some(Content::Video(stream)) => Some(&stream.layout),
            Some(Content::Bitstream(_)) | None => None,
        }
    }

    /// Finds the tensor of a frame and puts the meta on. After an error nothing is kept of the frame.
    ///
    /// It is of the whole picture, so that a crop meta that is another with every frame makes no
    /// import; where the part that is left is known already, it is of that part.
    pub(crate) fn attach_whole(
        &mut self,
        buffer: &mut gst::BufferRef,
    ) -> Result<Whole, FrameError> {
        let Some(Content::Video(stream)) = &self.content else { return Err(FrameError::NoCaps) };
        let (whole, crop) = video_layout::whole_of_buffer(&stream.layout, buffer)?;
        let size = [whole.width(), whole.height()];
        let part = crop.map(|crop| whole.view(crop)).transpose()?;
        let is_known = |part: &Placed| remembered(buffer, part, &self.says).is_some();
        let placed = match part.and_then(|part| place(buffer, &part).ok()).filter(is_known) {
            Some(part) => part,
            None => place(buffer, &whole)?,
        };
        let imported = self.find_image(buffer, placed)?;
        self.put(buffer, &imported, true)?;
        Ok(Whole { size, crop })
    }

    /// Finds the tensor of a frame where it lies.
    pub(super) fn find(&mut self, buffer: &gst::BufferRef) -> Result<Imported, FrameError> {
        match self.content.as_ref().ok_or(FrameError::NoCaps)? {
            Content::Video(stream) => {
                let flat = video_layout::layout_of_buffer(&stream.layout, buffer)?;
                let placed = place(buffer, &flat)?;
                self.find_image(buffer, placed)
            }
            Content::Bitstream(_) => {
                let piece = bitstream::place(buffer)?;
                let blob = bitstream::blob(&piece, self.says.colorimetry)?;
                Ok(Imported {
                    memory: piece.memory,
                    place: Place::Piece(piece),
                    blob: Blob::Bytes(glib::Bytes::from_owned(blob)),
                    hit: false,
                    replaced: false,
                })
            }
        }
    }

    /// Counts a frame, and puts the meta on the buffer it was found in if it `is_said`.
    pub(super) fn put(
        &mut self,
        buffer: &mut gst::BufferRef,
        imported: &Imported,
        is_said: bool,
    ) -> Result<(), FrameError> {
        let handles = imported.handles();
        match &imported.blob {
            Blob::Import(import) if is_said => {
                TensorMeta::put(buffer, &import.attachment, Some(import), handles)?;
            }
            Blob::Bytes(blob) if is_said => TensorMeta::put(buffer, blob, None, handles)?,
            Blob::Import(_) | Blob::Bytes(_) => (),
        }
        self.counters.count(imported.hit, imported.memory);
        Ok(())
    }

    fn find_image(
        &mut self,
        buffer: &gst::BufferRef,
        placed: Placed,
    ) -> Result<Imported, FrameError> {
        let (blob, hit, replaced) = if let Some(import) = remembered(buffer, &placed, &self.says) {
            self.cache.note_hit(&import);
            (Blob::Import(import), true, false)
        } else if lie_in_fds(buffer, &placed)? {
            self.import(buffer, &placed)?
        } else {
            let (blob, hit) = self.plain.get(&placed, &self.says)?;
            (Blob::Bytes(blob), hit, false)
        };
        let memory = match &blob {
            Blob::Import(import) => import.tensor.memory(),
            Blob::Bytes(_) => TensorMemory::Mem,
        };
        Ok(Imported { place: Place::Image(placed), blob, memory, hit, replaced })
    }

    /// Imports memories by their fds, and lets them remember it.
    fn import(
        &mut self,
        buffer: &gst::BufferRef,
        placed: &Placed,
    ) -> Result<(Blob, bool, bool), FrameError> {
        let mut found = placed.handles.memories(buffer).flatten().filter_map(handles::fd);
        let Some(first) = found.next() else { return Err(FrameError::NoCaps) };
        let mut fds = [first; MAX_PLANES];
        for (place, fd) in fds.iter_mut().skip(1).zip(found) {
            *place = fd;
        }
        let fds = fds.get(..placed.handles.as_slice().len()).unwrap_or_default();
        let frame = self.says.frame(placed, fds);
        let lookup = self.cache.import(&frame, memo::share)?;
        for memory in placed.handles.memories(buffer).flatten() {
            memo::set_seen(memory, &lookup.import);
        }
        Ok((Blob::Import(lookup.import), lookup.hit, lookup.replaced))
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
fn remembered(buffer: &gst::BufferRef, placed: &Placed, says: &Says) -> Option<Arc<FrameImport>> {
    let frame = says.frame(placed, &[]);
    let is_frame = |import: &FrameImport| {
        // Of memory that no CPU may touch its producer has the word, not who imports it.
        let is_closed = !import.is_cached() && import.tensor.access() == CpuAccess::None;
        let access = if is_closed { CpuAccess::None } else { says.access };
        import.says(&Frame { access, ..frame })
    };
    memo::find_all(placed.handles.memories(buffer), is_frame)
}
