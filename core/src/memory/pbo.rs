//! OpenGL pixel buffer objects. The GL side can write them at any time they are not mapped, and not
//! while they are.
//!
//! This crate makes no GL call. Whoever has the GL context gives [`PboOps`], which carries each call
//! to the context's thread; `tests/pbo_gl.rs` has a whole one. Its way to the thread should be weak:
//! the thread then ends with its owner, and memories that are left answer
//! [`MapError::PboDisconnected`].

use std::{fmt, os::fd::BorrowedFd, ptr::NonNull, sync::Arc};

use thiserror::Error;

use super::{
    Backing, ImportError, Kind, MapError, Memory,
    cuda::{CudaError, CudaGlOps, CudaHandle, CudaSlot},
};
use crate::{access::CpuAccess, memory_kind::TensorMemory, sys::cuda::Runtime};

/// Why the GL side did not do what it was asked.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PboError {
    /// The GL thread or its context is gone.
    #[error("the GL side that owns the buffer is gone")]
    Disconnected,
    /// A GL call failed.
    #[error("{call}: GL error {code:#06x}")]
    Call {
        /// Which call.
        call: &'static str,
        /// What `glGetError` answered.
        code: u32,
    },
}

/// The calls on a buffer object, carried to the thread of its GL context.
///
/// No call may wait for a thread that is gone: it answers [`PboError::Disconnected`] instead.
/// `buffer` is always the name that [`Memory::pbo`] was given.
///
/// # Safety
/// An address that [`map`](Self::map) gives must be that of `len` bytes, valid for reading, and for
/// writing when `access` writes, from every thread of the process, until
/// [`unmap`](Self::unmap) is called for that buffer, even when the GL side is to end earlier. GL may
/// not use the buffer in between. `Write` must map for reading too (`GL_MAP_READ_BIT`) and keep
/// what is not written, for the caller gets a slice.
pub unsafe trait PboOps: fmt::Debug + Send + Sync {
    /// Maps the first `len` bytes: `glMapBufferRange`.
    ///
    /// # Errors
    /// [`PboError::Disconnected`] when the GL side is gone; [`PboError::Call`] when GL refuses.
    fn map(&self, buffer: u32, len: usize, access: CpuAccess) -> Result<NonNull<u8>, PboError>;

    /// Ends the map: `glUnmapBuffer`. Called once for each map that succeeded.
    ///
    /// # Errors
    /// As for [`map`](Self::map); nobody is left to act on it.
    fn unmap(&self, buffer: u32) -> Result<(), PboError>;

    /// Deletes the buffer: `glDeleteBuffers`. Called once, when the last memory of it is dropped,
    /// and not while it is mapped. Nothing when the GL side is gone: the context took it along.
    fn delete(&self, buffer: u32);

    /// The way to the same thread for CUDA, where the GL side offers one.
    fn cuda(&self) -> Option<Arc<dyn CudaGlOps>> {
        None
    }
}

/// A buffer object, deleted when this is dropped.
#[derive(Debug)]
struct Buffer {
    name: u32,
    ops: Arc<dyn PboOps>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.ops.delete(self.name);
    }
}

/// A buffer object that the GL side made and this memory owns.
#[derive(Debug)]
pub(super) struct PboMemory {
    /// Before the buffer, so that CUDA forgets it before GL deletes it.
    cuda: CudaSlot,
    buffer: Buffer,
    len: usize,
}

impl PboMemory {
    fn new(name: u32, len: usize, ops: Arc<dyn PboOps>) -> Self {
        Self { cuda: CudaSlot::default(), buffer: Buffer { name, ops }, len }
    }
}

impl Memory {
    /// The first `len` bytes of the OpenGL buffer object `buffer`, through the calls of `ops`.
    ///
    /// The memory owns the buffer: its last handle deletes it. When this fails the buffer stays the
    /// caller's. A buffer is mapped by one guard at a time, be it for reading, and each map costs
    /// two calls on the GL thread.
    ///
    /// # Errors
    /// [`ImportError::Length`] for no bytes, or more than this process can address.
    pub fn pbo(
        buffer: u32,
        len: usize,
        ops: Arc<dyn PboOps>,
        access: CpuAccess,
    ) -> Result<Self, ImportError> {
        if len == 0 || isize::try_from(len).is_err() {
            return Err(ImportError::Length { len });
        }
        Ok(Self::new(Kind::Pbo(PboMemory::new(buffer, len, ops)), access))
    }
}

impl Backing for PboMemory {
    fn kind(&self) -> TensorMemory {
        TensorMemory::Pbo
    }

    fn len(&self) -> usize {
        self.len
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn bytes(&self, access: CpuAccess) -> Result<NonNull<[u8]>, MapError> {
        let start = self.buffer.ops.map(self.buffer.name, self.len, access)?;
        Ok(NonNull::slice_from_raw_parts(start, self.len))
    }

    fn begin(&self, _: CpuAccess) -> Result<(), MapError> {
        Ok(())
    }

    fn end(&self, _: CpuAccess) {
        // A guard's drop has nobody to report to.
        let _unmapped = self.buffer.ops.unmap(self.buffer.name);
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn busy(&self, _: bool) -> MapError {
        MapError::PboMapped
    }

    fn cuda(&self) -> Option<&CudaSlot> {
        Some(&self.cuda)
    }

    fn import_to_cuda(&self, runtime: &'static Runtime) -> Result<CudaHandle, CudaError> {
        let ops = self.buffer.ops.cuda().ok_or(CudaError::NoRoute(TensorMemory::Pbo))?;
        CudaHandle::gl_buffer(runtime, self.buffer.name, self.len, ops)
    }
}

#[cfg(test)]
pub(super) mod tests;
