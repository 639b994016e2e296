//! The meta that says what tensor a buffer holds.
//!
//! [`TensorMeta`] carries one tensor blob (see [`tensor_core::blob`]) by handle. Two conventions
//! make the blob true wherever the buffer goes, into another library or, moved by `unixfdsink`,
//! into another process:
//!
//! * A plane's `handle` is the **index of the `GstMemory`** in the buffer that holds the plane. No fd
//!   number and no process id is in the blob.
//! * A plane's `offset` counts bytes **from the start of the memory's backing**: of an fd memory from
//!   the fd's first byte, of any memory from where its `maxsize` begins. The `GstMemory`'s own
//!   `offset` is already added. A reader that maps a memory through GStreamer gets bytes that start
//!   at the memory's `offset` and subtracts it.
//!
//! The content is immutable and shared. A copy of the buffer over the same memories keeps the meta; a copy
//! of a region, a conversion, or anything else that puts the frame into other memory drops it.
//! Memory that is exchanged under the meta is noticed when the tensor is asked for.
//!
//! A buffer may hold several tensors, for a model with several inputs: each has a meta with its own
//! index. The first, and the only one of a video frame, has index 0.
//!
//! In C the meta is found with `g_type_from_name("TensorBlobMetaAPI")` and begins
//! `GstMeta meta; guint32 abi; guint32 index; GBytes *blob;`, with `abi` 1; see
//! `gst/tensor/tensormeta.h`.

mod imp;
mod registration;

use std::{fmt, sync::Arc};

use gst::{glib, meta::MetaRef};
use tensor_core::{
    FileIdentity, MAX_PLANES, TensorMemory,
    blob::{BlobError, BlobView},
    transfer::{ImportError, Referenced},
};
use thiserror::Error;

use crate::{
    frame_tensor::{FrameTensor, FrameTensorError},
    handles::{self, Handles},
    memo::{self, FrameImport},
};

/// Why a meta cannot be put on a buffer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TensorMetaError {
    /// Other code took the meta's name for another struct.
    #[error(
        "the meta TensorBlobMeta is registered by other code with {} bytes; {need} are needed",
        .size.unwrap_or(0)
    )]
    Registered {
        /// Bytes of the struct that is registered; `None` when registering failed.
        size: Option<usize>,
        /// Bytes of ours.
        need: usize,
    },
    /// The code that registered the meta has another version of its struct.
    #[error("a meta of ABI {} cannot be filled in; this code has ABI {ours}", .abi.unwrap_or(0))]
    Abi {
        /// The version found; `None` when GStreamer gave no meta.
        abi: Option<u32>,
        /// Our version.
        ours: u32,
    },
    /// The blob of the import is refused.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A memory of the buffer that is not the one the import was made from.
    #[error("memory {handle} of the buffer is not the file that the tensor was imported from")]
    OtherMemory {
        /// Which memory of the buffer.
        handle: i64,
    },
    /// A plane of the blob that lies in no memory of the buffer.
    #[error("plane {plane} is in memory {handle}; the buffer has {memories} memories")]
    MemoryIndex {
        /// Which plane.
        plane: usize,
        /// The index the blob gives.
        handle: i64,
        /// How many memories the buffer has.
        memories: usize,
    },
    /// The blob describes no tensor in the buffer's memories.
    #[error(transparent)]
    Describes(#[from] ImportError),
    /// A plane that is not inside its memory.
    #[error(
        "the tensor takes bytes {start} to {end} of memory {handle}, which holds {from} to {to}"
    )]
    Bounds {
        /// Which memory of the buffer.
        handle: i64,
        /// The plane's first byte.
        start: usize,
        /// One past the plane's last byte.
        end: usize,
        /// The memory's first valid byte.
        from: usize,
        /// One past the memory's last valid byte.
        to: usize,
    },
    /// Memory with an fd described as memory without one, or the other way round.
    #[error("the blob says its memory is {said}, memory {handle} of the buffer has {}", if *.has_fd { "an fd" } else { "no fd" })]
    Kind {
        /// Which memory of the buffer.
        handle: i64,
        /// The kind in the blob.
        said: TensorMemory,
        /// Whether the memory has an fd.
        has_fd: bool,
    },
}

/// Says what tensor a buffer holds; see the [module](self).
#[repr(transparent)]
pub struct TensorMeta(imp::RawTensorMeta);

// SAFETY: what it points to is immutable and counts its references atomically: a `GBytes`, an
// `Arc<FrameImport>` and a static.
unsafe impl Send for TensorMeta {}
// SAFETY: as above.
unsafe impl Sync for TensorMeta {}

impl TensorMeta {
    /// Registers the meta's types and `GstVideoMeta`'s, so that GStreamer can deserialize them.
    ///
    /// # Errors
    /// [`TensorMetaError::Registered`].
    pub fn register() -> Result<(), TensorMetaError> {
        registration::register_video_meta();
        registration::info().map(|_| ())
    }

    /// Has `plugin` loaded, by GStreamer 1.28 and newer, where a buffer with the meta is received.
    pub(crate) fn announce(plugin: &gst::Plugin) {
        registration::announce(plugin);
    }

    /// Says that `buffer` holds `frame`, in place of what was said before: its tensor 0.
    ///
    /// # Errors
    /// As for [`add_at`](Self::add_at).
    pub fn add(
        buffer: &mut gst::BufferRef,
        frame: &Arc<FrameImport>,
    ) -> Result<(), TensorMetaError> {
        Self::add_at(buffer, 0, frame)
    }

    /// Says that tensor `index` of `buffer` is `frame`, in place of what was said of that tensor
    /// before. `frame` may be any tensor, see
    /// [`Import::of_tensor`](tensor_core::Import::of_tensor).
    ///
    /// # Errors
    /// [`TensorMetaError`]: the blob names a memory the buffer does not have, a memory is another
    /// file than the one imported, or the meta is registered by code that is too different.
    pub fn add_at(
        buffer: &mut gst::BufferRef,
        index: u32,
        frame: &Arc<FrameImport>,
    ) -> Result<(), TensorMetaError> {
        let view = BlobView::parse(&frame.attachment)?;
        let handles = check_handles(buffer, &view)?;
        check_files(buffer, frame, &handles)?;
        Self::put_at(buffer, index, &frame.attachment, Some(frame), &handles)
    }

    /// Says that tensor `index` of `buffer` is what `blob` describes, whose handles are indices of
    /// the buffer's memories: how memory without an fd is described. Buffers of one layout share
    /// one blob. The tensor is made from it each time it is asked for.
    ///
    /// ```
    /// # gst::init()?;
    /// use gst::glib;
    /// use gsttensor::{BufferTensorExt, TensorMeta};
    /// use tensor_core::{Colorimetry, DType, Extension, Shape, TensorMemory, layout::StridedLayout};
    /// use tensor_core::transfer::StridedDescription;
    /// let scores = StridedDescription {
    ///     layout: &StridedLayout::dense(&Shape::new(&[1, 1000]).unwrap(), 4)?,
    ///     dtype: DType::F32,
    ///     kind: TensorMemory::Mem,
    ///     colorimetry: Colorimetry::default(),
    ///     quantization: None,
    ///     extension: Extension::default(),
    /// };
    /// let blob = glib::Bytes::from_owned(scores.to_blob(0)?);
    /// let mut buffer = gst::Buffer::with_size(4000)?;
    /// TensorMeta::add_blob(buffer.make_mut(), 0, &blob)?;
    /// let tensor = buffer.tensor_meta().unwrap().tensor(&buffer)?;
    /// assert_eq!(&**tensor.shape(), [1, 1000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TensorMetaError`]: the blob is refused, or names a memory that the buffer does not have,
    /// that is too short, or of another kind.
    pub fn add_blob(
        buffer: &mut gst::BufferRef,
        index: u32,
        blob: &glib::Bytes,
    ) -> Result<(), TensorMetaError> {
        let view = BlobView::parse(blob)?;
        let handles = check_handles(buffer, &view)?;
        check_parts(buffer, &view)?;
        Self::put_at(buffer, index, blob, None, &handles)
    }

    /// As [`add`](Self::add), for who knows the handles; without an import the tensor is made from
    /// the blob each time it is asked for.
    pub(crate) fn put(
        buffer: &mut gst::BufferRef,
        blob: &glib::Bytes,
        import: Option<&Arc<FrameImport>>,
        handles: &Handles,
    ) -> Result<(), TensorMetaError> {
        Self::put_at(buffer, 0, blob, import, handles)
    }

    fn put_at(
        buffer: &mut gst::BufferRef,
        index: u32,
        blob: &glib::Bytes,
        import: Option<&Arc<FrameImport>>,
        handles: &Handles,
    ) -> Result<(), TensorMetaError> {
        let serials = memo::serials(handles.memories(buffer));
        imp::put(buffer, index, blob, import, serials)
    }

    /// Which of the buffer's tensors this is.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.0.index().unwrap_or(0)
    }

    /// The blob, checked.
    ///
    /// # Errors
    /// [`BlobError`] when the meta was made by other code that wrote no valid blob.
    pub fn blob(&self) -> Result<BlobView<'_>, BlobError> {
        BlobView::parse(self.0.blob_slice().unwrap_or_default())
    }

    /// The blob as bytes to keep or to send. No byte is copied.
    #[must_use]
    pub fn blob_bytes(&self) -> glib::Bytes {
        self.0.blob().unwrap_or_else(|| glib::Bytes::from_static(&[]))
    }

    /// The tensor in `buffer`, the buffer that this meta is on.
    ///
    /// It keeps the buffer, so its producer cannot fill the frame anew while the tensor lives.
    ///
    /// # Errors
    /// [`FrameTensorError`], among others when the buffer's memories are no longer those that the
    /// meta was made for.
    pub fn tensor(&self, buffer: &gst::Buffer) -> Result<FrameTensor, FrameTensorError> {
        FrameTensor::new(self, buffer)
    }

    /// The import this meta was made from, when this copy of the code made it from one.
    pub(crate) fn import(&self) -> Option<Arc<FrameImport>> {
        self.0.import()
    }

    /// The serial numbers of the memories the planes lie in, in the order the planes name them,
    /// when this copy of the code made the meta.
    pub(crate) fn serials(&self) -> Option<&[u64; MAX_PLANES]> {
        self.0.serials()
    }

    fn is_readable(&self) -> bool {
        self.0.blob_slice().is_some()
    }
}

/// The memories that the blob names, all of which the buffer has.
fn check_handles(buffer: &gst::BufferRef, view: &BlobView<'_>) -> Result<Handles, TensorMetaError> {
    let mut handles = Handles::default();
    for (plane, record) in view.planes().enumerate() {
        let (handle, memories) = (record.handle, buffer.n_memory());
        if !usize::try_from(handle).is_ok_and(|index| index < memories) {
            return Err(TensorMetaError::MemoryIndex { plane, handle, memories });
        }
        handles.note(handle);
    }
    Ok(handles)
}

/// Whether each plane lies inside its memory, and all are of the kind that the blob says.
fn check_parts(buffer: &gst::BufferRef, view: &BlobView<'_>) -> Result<(), TensorMetaError> {
    let said = view.storage_kind();
    for (handle, bytes) in Referenced::of(view)?.parts() {
        let Some(memory) = handles::memory(buffer, handle) else { continue };
        let (start, end, from) = (bytes.start, bytes.end, memory.offset());
        let to = from.saturating_add(memory.size());
        if start < from || end > to {
            return Err(TensorMetaError::Bounds { handle, start, end, from, to });
        }
        let has_fd = handles::fd(memory).is_some();
        if has_fd == (said == TensorMemory::Mem) {
            return Err(TensorMetaError::Kind { handle, said, has_fd });
        }
    }
    Ok(())
}

/// Whether the buffer's memories are the files that `frame` was imported from.
fn check_files(
    buffer: &gst::BufferRef,
    frame: &FrameImport,
    handles: &Handles,
) -> Result<(), TensorMetaError> {
    let there = handles.as_slice().iter().zip(handles.memories(buffer));
    for ((handle, memory), imported) in there.zip(frame.tensor.memories()) {
        let now = memory.and_then(handles::fd).and_then(|fd| FileIdentity::of(fd).ok());
        if now != imported.identity() {
            return Err(TensorMetaError::OtherMemory { handle: *handle });
        }
    }
    Ok(())
}

impl fmt::Debug for TensorMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorMeta").field("blob", &self.blob()).finish_non_exhaustive()
    }
}

/// Asking a buffer for its tensor metas.
pub trait BufferTensorExt {
    /// The meta that says what tensor the buffer holds: its tensor 0.
    ///
    /// ```
    /// # gst::init().unwrap();
    /// use gsttensor::BufferTensorExt;
    /// let buffer = gst::Buffer::with_size(64).unwrap();
    /// assert!(buffer.tensor_meta().is_none());
    /// ```
    fn tensor_meta(&self) -> Option<MetaRef<'_, TensorMeta>> {
        self.tensor_meta_at(0)
    }

    /// The meta of tensor `index`.
    fn tensor_meta_at(&self, index: u32) -> Option<MetaRef<'_, TensorMeta>> {
        self.tensor_metas().find(|meta| meta.index() == index)
    }

    /// The metas of all the buffer's tensors, in the order they were put on.
    fn tensor_metas(&self) -> impl Iterator<Item = MetaRef<'_, TensorMeta>>;
}

impl BufferTensorExt for gst::BufferRef {
    fn tensor_metas(&self) -> impl Iterator<Item = MetaRef<'_, TensorMeta>> {
        self.iter_meta::<TensorMeta>().filter(|meta| meta.is_readable())
    }
}

#[cfg(test)]
mod tests;
