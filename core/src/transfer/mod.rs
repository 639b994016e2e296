//! Tensors as blobs and descriptors, and back.
//!
//! [`export`] writes a tensor as a [blob](crate::blob) and lends the descriptors of its memories, to
//! be sent beside it; [`import`] makes a tensor of both. By [reference](TransportMode::Reference)
//! nothing is copied and both sides see the same bytes; [inline](TransportMode::Inline) the bytes
//! are in the blob.
//!
//! A blob names memories by handle and never says what a handle is. Beside a socket it is an index
//! into the descriptors that travel along; on a GStreamer buffer it is an index into the buffer's
//! own memories, for which [`describe`] takes the numbers to write and [`Referenced`] gives back those
//! found.
//!
//! A [descriptor](crate::desc) is for another library in the same process; see [`descriptor`].
//!
//! ```
//! use std::os::fd::AsFd;
//! use tensor_core::{CpuAccess, ImageDesc, PixelFormat, TensorDyn, TensorMemory};
//! use tensor_core::transfer::{TransportMode, export, import};
//! let desc = ImageDesc::new(PixelFormat::Nv12, 640, 480).with_memory(TensorMemory::Shm);
//! let frame = TensorDyn::image_desc(&desc)?;
//! let (blob, fds) = export(&frame, TransportMode::Reference)?;
//! // ... both travel; on the other side:
//! let same = import(&blob, &fds)?;
//! frame.map_write()?.plane_mut(0).unwrap()[7] = 9;
//! assert_eq!(same.map_read()?.plane(0).unwrap().row(0).unwrap()[7], 9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carried;
mod description;
mod descriptor;
mod error;
mod export;
mod image;
mod import;
mod inline;
mod referenced;
mod strided;

pub use carried::Carried;
pub use description::ImageDescription;
pub use descriptor::{descriptor, descriptor_pinned, descriptor_with_fence, import_descriptor};
pub use error::{ExportError, ImportError, TransferError};
pub use export::{Fds, MAX_FDS, TransportMode, describe, export, export_into, export_with_fence};
pub use image::ReferencedImage;
pub use import::{import, import_with_fence};
pub use referenced::Referenced;
pub use strided::StridedDescription;

#[cfg(test)]
mod tests;
