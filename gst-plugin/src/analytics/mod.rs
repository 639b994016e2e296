//! Tensors in GStreamer's own words: `GstTensorMeta`, which elements of GStreamer 1.26 and newer read.
//!
//! [`attach`] puts one beside a [`TensorMeta`](crate::TensorMeta) that says the same. The data of each
//! tensor in it is a buffer over the same memory; no byte is copied.
//!
//! * The **id** is the tensor's name, or `tensor-blob-N` for the nameless tensor `N` of a buffer.
//!   Planes of their own, as the two of NV12, are tensors of their own: the id of plane `P` ends in
//!   `-plane-P`.
//! * A `GstTensor` has no strides. Padding between rows is told by **dimensions that count it**: an RGBA
//!   image of 60 × 4 pixels with rows of 256 bytes is `4 × 64 × 4`, and the caps say that 60 columns are
//!   picture. Where no dimensions are true, as for RGB rows of 256 bytes, nothing is attached.
//! * Quantization, colours and what else a blob says have no place there.
//!
//! While the meta is on a buffer, its memories are shared, so an element that writes in place works
//! on a copy. GStreamer 1.26 drops the meta when a buffer is copied; 1.28 keeps it, also where the
//! memory changes.

mod pieces;
mod sys;

use std::sync::LazyLock;

use gst::glib;
use tensor_core::{BlobError, BlobView, transfer::ImportError, transfer::Referenced};
use thiserror::Error;

use self::pieces::{Piece, pieces};
use crate::{BufferTensorExt, handles};

static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    gst::DebugCategory::new(
        "tensoranalytics",
        gst::DebugColorFlags::empty(),
        Some("tensors told as GstTensorMeta"),
    )
});

/// Why a buffer's tensor has no `GstTensorMeta`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnalyticsError {
    /// GStreamer before 1.26, or without its analytics library.
    #[error("this GStreamer has no GstTensorMeta; that needs 1.26 and libgstanalytics-1.0.so.0")]
    Absent,
    /// The buffer has no such tensor.
    #[error("the buffer has no tensor {index}")]
    NoTensor {
        /// The one asked for.
        index: u32,
    },
    /// The blob is refused.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The blob describes no tensor in the buffer's memories.
    #[error(transparent)]
    Describes(#[from] ImportError),
    /// Elements at steps that no dimensions express.
    #[error(
        "no dimensions express {shape:?} elements of {element_bytes} bytes at steps of {strides:?} bytes"
    )]
    Steps {
        /// The tensor's or the plane's dimensions.
        shape: Vec<usize>,
        /// The bytes from one index to the next, for each.
        strides: Vec<isize>,
        /// Bytes of an element.
        element_bytes: usize,
    },
    /// A batch of images.
    #[error("no dimensions are known for a batch of images")]
    Batch,
    /// A memory that the buffer does not have.
    #[error("the tensor is in memory {handle}; the buffer has {memories} memories")]
    MemoryIndex {
        /// The index in the blob.
        handle: i64,
        /// How many memories the buffer has.
        memories: usize,
    },
    /// With the padding after the last row, the tensor is not inside its memory.
    #[error(
        "with its padding the tensor takes bytes {start} to {end} of memory {handle}, which holds {from} to {to}"
    )]
    Bounds {
        /// Which memory of the buffer.
        handle: i64,
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
        /// The memory's first valid byte.
        from: usize,
        /// One past the memory's last valid byte.
        to: usize,
    },
    /// A memory that cannot be in two buffers.
    #[error("memory {handle} of the buffer may not be shared")]
    Unshareable {
        /// Which memory of the buffer.
        handle: i64,
    },
    /// GStreamer took no tensor or no meta.
    #[error("GStreamer refused the {what}")]
    Refused {
        /// What was offered.
        what: &'static str,
    },
}

/// Tells tensor 0 of a buffer as `GstTensorMeta` too.
///
/// ```
/// # gst::init()?;
/// use gsttensor::analytics::{self, AnalyticsError};
/// let mut buffer = gst::Buffer::with_size(64)?;
/// let refused = analytics::attach(buffer.make_mut()).unwrap_err();
/// // Which of the two depends on the GStreamer that is there.
/// assert!(matches!(refused, AnalyticsError::NoTensor { index: 0 } | AnalyticsError::Absent));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AnalyticsError`]; the buffer is as it was.
pub fn attach(buffer: &mut gst::BufferRef) -> Result<(), AnalyticsError> {
    attach_at(buffer, 0)
}

/// Tells tensor `index` of a buffer as `GstTensorMeta` too. Tensors told before stay, but for those
/// with the same ids.
///
/// # Errors
/// [`AnalyticsError`]; the buffer is as it was.
pub fn attach_at(buffer: &mut gst::BufferRef, index: u32) -> Result<(), AnalyticsError> {
    let analytics = sys::find().ok_or(AnalyticsError::Absent)?;
    let tensors = told(buffer, index)?;
    analytics.put(buffer, tensors)
}

/// [`attach`] for an element that can do nothing about a refusal but log it.
pub(crate) fn attach_or_log(buffer: &mut gst::BufferRef) {
    match attach(buffer) {
        // Said once, where it was found out.
        Ok(()) | Err(AnalyticsError::Absent) => (),
        Err(error) => gst::debug!(CAT, "no GstTensorMeta on a buffer: {error}"),
    }
}

fn told(buffer: &gst::BufferRef, index: u32) -> Result<Vec<sys::NewTensor>, AnalyticsError> {
    let meta = buffer.tensor_meta_at(index).ok_or(AnalyticsError::NoTensor { index })?;
    let view = meta.blob()?;
    let pieces = pieces(&Referenced::of(&view)?, view.dtype())?;
    pieces
        .into_iter()
        .map(|piece| {
            let data = data(buffer, &piece)?;
            let id = id(&view, index, piece.plane);
            Ok(sys::NewTensor { id, dtype: view.dtype(), data, dims: piece.dims })
        })
        .collect()
}

fn id(view: &BlobView<'_>, index: u32, plane: Option<usize>) -> glib::Quark {
    let name = view.extension().name;
    let nameless = if name.is_empty() { format!("tensor-blob-{index}") } else { name.to_owned() };
    let id = match plane {
        Some(plane) => format!("{nameless}-plane-{plane}"),
        None => nameless,
    };
    glib::Quark::from_str(id)
}

/// A buffer over exactly the bytes of a piece.
fn data(buffer: &gst::BufferRef, piece: &Piece) -> Result<gst::Buffer, AnalyticsError> {
    let (handle, memories) = (piece.handle, buffer.n_memory());
    let memory = handles::memory(buffer, handle);
    let memory = memory.ok_or(AnalyticsError::MemoryIndex { handle, memories })?;
    let (start, from) = (piece.offset, memory.offset());
    let (end, to) = (start.saturating_add(piece.len), from.saturating_add(memory.size()));
    if start < from || end > to {
        return Err(AnalyticsError::Bounds { handle, start, end, from, to });
    }
    if memory.flags().contains(gst::MemoryFlags::NO_SHARE) {
        return Err(AnalyticsError::Unshareable { handle });
    }
    let range = start.saturating_sub(from)..end.saturating_sub(from);
    let mut data = gst::Buffer::new();
    data.make_mut().append_memory(memory.share(range));
    Ok(data)
}
