//! The tensor of one frame, out of the buffer that carries it.

use std::{ops::Deref, sync::Arc};

use tensor_core::{
    BlobView, CpuAccess, FileIdentity, MAX_PLANES, Memory, TensorDyn, TensorMemory, memory,
    transfer::{self, Referenced},
};
use thiserror::Error;

use crate::{
    handles,
    memo::{self, FrameImport},
    meta::TensorMeta,
};

/// Why a buffer's meta gives no tensor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FrameTensorError {
    /// The blob is refused, or describes no tensor in the buffer's memories.
    #[error(transparent)]
    Blob(#[from] transfer::ImportError),
    /// A memory the buffer does not have.
    #[error("the tensor lies in memory {index}; the buffer has {memories} memories")]
    MemoryIndex {
        /// The index in the blob.
        index: i64,
        /// Memories the buffer has.
        memories: usize,
    },
    /// The memory is not the one that the meta was made for.
    #[error("memory {index} of the buffer was replaced after the tensor meta was attached")]
    Replaced {
        /// Which memory of the buffer.
        index: i64,
    },
    /// The memory is of another kind than the blob says.
    #[error("memory {index} of the buffer is {found}, the tensor meta was made for {expected}")]
    Kind {
        /// Which memory of the buffer.
        index: i64,
        /// The kind the blob says.
        expected: TensorMemory,
        /// The kind it is.
        found: TensorMemory,
    },
    /// A plane that is not inside its memory.
    #[error(
        "plane {plane} is bytes {start} to {end} of memory {index}, which holds bytes {from} to {to}"
    )]
    Bounds {
        /// Which plane.
        plane: usize,
        /// Which memory of the buffer.
        index: i64,
        /// The plane's first byte.
        start: usize,
        /// One past the plane's last byte.
        end: usize,
        /// The memory's first valid byte.
        from: usize,
        /// One past the memory's last valid byte.
        to: usize,
    },
    /// A memory that GStreamer cannot map for reading.
    #[error("memory {index} of the buffer cannot be mapped for reading")]
    Map {
        /// Which memory of the buffer.
        index: i64,
    },
    /// The fd of a memory is refused.
    #[error(transparent)]
    Import(#[from] memory::ImportError),
}

/// The tensor of one frame.
///
/// It keeps the buffer, so the producer cannot fill the frame anew while someone still reads it.
/// Drop it as soon as the frame is no longer needed: a camera has few buffers.
#[derive(Clone, Debug)]
pub struct FrameTensor {
    // Before `buffer`, so that no mapping outlives the frame.
    tensor: Source,
    buffer: gst::Buffer,
}

#[derive(Clone, Debug)]
enum Source {
    /// The tensor that was made when the memory was imported.
    Import(Arc<FrameImport>),
    /// A tensor made for this reader.
    Own(Box<TensorDyn>),
}

impl FrameTensor {
    pub(crate) fn new(meta: &TensorMeta, buffer: &gst::Buffer) -> Result<Self, FrameTensorError> {
        let view = meta.blob().map_err(transfer::ImportError::from)?;
        let described = Described(Referenced::of(&view)?);
        let import = meta.import();
        described.check_bounds(buffer)?;
        described.check_identity(meta, import.as_deref(), buffer)?;
        let tensor = match import {
            Some(import) => Source::Import(import),
            None => Source::Own(Box::new(described.tensor(&view, buffer)?)),
        };
        Ok(Self { tensor, buffer: buffer.clone() })
    }

    /// The frame the tensor is in.
    #[must_use]
    pub fn buffer(&self) -> &gst::Buffer {
        &self.buffer
    }
}

impl Deref for FrameTensor {
    type Target = TensorDyn;

    fn deref(&self) -> &TensorDyn {
        match &self.tensor {
            Source::Import(import) => &import.tensor,
            Source::Own(tensor) => tensor,
        }
    }
}

/// What a blob says about the buffer it is on.
struct Described(Referenced);

impl Described {
    /// Every plane inside the part of its memory that GStreamer calls valid.
    fn check_bounds(&self, buffer: &gst::BufferRef) -> Result<(), FrameTensorError> {
        for (plane, (index, bytes)) in self.0.parts().enumerate() {
            let memory = memory(buffer, index)?;
            let (start, end, from) = (bytes.start, bytes.end, memory.offset());
            let to = from.saturating_add(memory.size());
            if start < from || end > to {
                return Err(FrameTensorError::Bounds { plane, index, start, end, from, to });
            }
        }
        Ok(())
    }

    /// Every memory the one that the meta was made for, as far as this code can know: by its
    /// serial number, or, if another `GstMemory` took its place, by the file behind it.
    fn check_identity(
        &self,
        meta: &TensorMeta,
        import: Option<&FrameImport>,
        buffer: &gst::BufferRef,
    ) -> Result<(), FrameTensorError> {
        let Some(serials) = meta.serials() else { return Ok(()) };
        for (position, (index, serial)) in self.0.handles.iter().zip(serials).enumerate() {
            let memory = memory(buffer, *index)?;
            let imported = import.and_then(|import| import.tensor.memories().get(position));
            let is_same_file = || {
                let now = handles::fd(memory).and_then(|fd| FileIdentity::of(fd).ok());
                now.is_some() && now == imported.and_then(Memory::identity)
            };
            if memo::known_serial(memory) != *serial && !is_same_file() {
                return Err(FrameTensorError::Replaced { index: *index });
            }
        }
        Ok(())
    }

    /// A tensor over the memories as they are now.
    fn tensor(
        &self,
        view: &BlobView<'_>,
        buffer: &gst::BufferRef,
    ) -> Result<TensorDyn, FrameTensorError> {
        let expected = view.storage_kind();
        let mut memories = Vec::with_capacity(MAX_PLANES);
        for index in &self.0.handles {
            let imported = import(buffer, *index)?;
            let found = imported.kind();
            if found != expected {
                return Err(FrameTensorError::Kind { index: *index, expected, found });
            }
            memories.push(imported);
        }
        let tensor = if expected == TensorMemory::Mem {
            self.as_mapped(buffer)?.tensor(view, memories, CpuAccess::Read)?
        } else {
            self.0.tensor(view, memories, CpuAccess::Read)?
        };
        Ok(tensor)
    }

    /// The layout in bytes that GStreamer maps: those start at the memory's own offset.
    fn as_mapped(&self, buffer: &gst::BufferRef) -> Result<Referenced, FrameTensorError> {
        let mut origins = [0; MAX_PLANES];
        for (origin, index) in origins.iter_mut().zip(&self.0.handles) {
            *origin = memory(buffer, *index)?.offset();
        }
        Ok(self.0.seen_from(&origins)?)
    }
}

fn memory(buffer: &gst::BufferRef, index: i64) -> Result<&gst::MemoryRef, FrameTensorError> {
    let memories = buffer.n_memory();
    handles::memory(buffer, index).ok_or(FrameTensorError::MemoryIndex { index, memories })
}

/// One memory of the buffer: by its fd, else by its bytes, which stay mapped.
fn import(buffer: &gst::BufferRef, index: i64) -> Result<Memory, FrameTensorError> {
    let memory = memory(buffer, index)?;
    if let Some(fd) = handles::fd(memory) {
        return Ok(Memory::import(fd, CpuAccess::Read)?);
    }
    let mapped = owned(buffer, index).and_then(|memory| memory.into_mapped_memory_readable().ok());
    let mapped = mapped.ok_or(FrameTensorError::Map { index })?;
    Ok(Memory::foreign(TensorMemory::Mem, Arc::new(mapped)))
}

fn owned(buffer: &gst::BufferRef, index: i64) -> Option<gst::Memory> {
    usize::try_from(index).ok().and_then(|index| buffer.memory(index))
}
