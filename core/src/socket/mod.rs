//! Tensors over a Unix stream socket: a blob, and beside it the descriptors of its memories.
//!
//! A frame is two numbers, `u32` little-endian, the bytes of the blob and the descriptors that come
//! with it; then the blob. The descriptors travel with the frame's first byte (`SCM_RIGHTS`).
//!
//! The peer is not trusted: lengths are bounded, memory is taken as bytes arrive and not as they are
//! announced, and descriptors that were not announced are closed. Nothing waits longer than the
//! socket's own time-outs (`SO_RCVTIMEO`, `SO_SNDTIMEO`) allow.
//!
//! ```
//! use std::{os::unix::net::UnixStream, thread};
//! use tensor_core::{CpuAccess, ImageDesc, PixelFormat, TensorDyn, TensorMemory};
//! use tensor_core::socket::{Receiver, send_tensor};
//! let (here, there) = UnixStream::pair()?;
//! let desc = ImageDesc::new(PixelFormat::Nv12, 640, 480).with_memory(TensorMemory::Shm);
//! let frame = TensorDyn::image_desc(&desc)?;
//! send_tensor(&here, &frame)?;
//! let same = Receiver::new(there).receive_tensor()?.expect("a frame");
//! frame.map_write()?.plane_mut(0).unwrap()[7] = 9;
//! assert_eq!(same.map_read()?.plane(0).unwrap().row(0).unwrap()[7], 9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod receive;
mod send;

pub use error::{ReceiveError, SendError};
pub use receive::{Message, Receiver};
pub use send::{send, send_tensor};

pub use crate::sys::scm_rights::MAX_FDS;

/// Bytes of a frame before the blob.
const HEAD_LEN: usize = 8;

/// The longest blob that a receiver takes unless told otherwise: 64 MiB, a 4K frame of any format.
pub const DEFAULT_LIMIT: usize = 64 << 20;

#[cfg(test)]
mod tests;
