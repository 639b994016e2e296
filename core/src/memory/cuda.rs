//! Memories as CUDA sees them. A device writes what it is told to, at any time the guard is alive.
//!
//! Nothing is asked of CUDA before [`Memory::cuda_map`]; then a dma-buf is imported, or a PBO
//! registered, once for the memory. Without `libcudart` every call answers at once.
//!
//! # What is not known
//!
//! None of this has run on a GPU. In particular a dma-buf is imported as an *opaque fd*; CUDA
//! documents that type for descriptors of Vulkan's memory and does not name dma-bufs. It is said to
//! work on Jetson Orin; elsewhere the import may well be refused, which is then
//! [`CudaError::Call`] and leaves everything as it was. Nothing waits for a dma-buf's fences either:
//! see [`Memory::acquire_fence`]. The import is made on the calling thread's current device.
//!
//! # Who owns the descriptor
//!
//! The documentation of `cudaImportExternalMemory` says that a descriptor is CUDA's once its import
//! succeeded. So CUDA gets a duplicate, which is never touched again after a success, and closed
//! after a failure. The mapped pointer is freed by `cudaFree` before the object is destroyed, as the
//! documentation of `cudaDestroyExternalMemory` demands.

use std::{
    ffi::c_void,
    fmt, io,
    marker::PhantomData,
    os::fd::BorrowedFd,
    ptr::NonNull,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use thiserror::Error;

use super::{Memory, guard::User};
use crate::{
    memory_kind::TensorMemory,
    sys::cuda::{CallError, ExternalBuffer, GlResource, Runtime},
};

/// Whether this process can use CUDA: its runtime library was found and has every function needed.
///
/// The first call looks for the library, in the whole life of the process.
#[must_use]
pub fn is_cuda_available() -> bool {
    Runtime::get().is_some()
}

/// Why a memory cannot be reached by CUDA.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// There is no CUDA here.
    #[error("CUDA is not available: no libcudart with the needed functions was found")]
    Unavailable,
    /// CUDA has no way to this memory.
    #[error(
        "CUDA has no way to memory of kind {0}; it has to dma-bufs, and to PBOs whose GL side offers it"
    )]
    NoRoute(TensorMemory),
    /// The buffer is mapped, by CUDA or by the CPU.
    #[error("the buffer is mapped already; drop that guard first")]
    Mapped,
    /// The GL thread is gone.
    #[error("the GL side that owns the buffer is gone")]
    GlDisconnected,
    /// CUDA maps fewer bytes than the memory has.
    #[error("CUDA maps {have} bytes of a memory of {need}")]
    Shorter {
        /// Bytes of the memory.
        need: usize,
        /// Bytes mapped.
        have: usize,
    },
    /// No duplicate of the descriptor could be made for CUDA.
    #[error("F_DUPFD_CLOEXEC: {0}")]
    Fd(io::Error),
    /// The runtime refuses.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The way to the thread of a GL context, for the CUDA calls that must be made there.
///
/// # Safety
/// [`run`](Self::run) must make the call on a thread where the GL context that has the memory's
/// buffer is current, at most once, before it returns.
pub unsafe trait CudaGlOps: fmt::Debug + Send + Sync {
    /// Makes `call` on the GL thread and waits for it; at once when this is the GL thread.
    ///
    /// # Errors
    /// [`CudaError::GlDisconnected`] when the thread is gone: the call was then not made. It must
    /// not wait for a thread that is gone.
    fn run(&self, call: &mut (dyn FnMut() + Send)) -> Result<(), CudaError>;
}

/// Makes `call` on the GL thread and brings its answer back.
fn on_gl<T: Send>(
    ops: &dyn CudaGlOps,
    mut call: impl FnMut() -> Result<T, CallError> + Send,
) -> Result<T, CudaError> {
    let mut answer = None;
    ops.run(&mut || answer = Some(call()))?;
    Ok(answer.ok_or(CudaError::GlDisconnected)??)
}

/// What CUDA made of a memory; given back when the memory is dropped.
#[derive(Debug)]
pub struct CudaHandle {
    source: Source,
}

#[derive(Debug)]
enum Source {
    GlBuffer(GlBuffer),
    ExternalMem(ExternalBuffer),
}

impl CudaHandle {
    /// Imports the dma-buf behind `fd`.
    pub(super) fn external_mem(
        runtime: &'static Runtime,
        fd: BorrowedFd<'_>,
        len: usize,
    ) -> Result<Self, CudaError> {
        let fd = fd.try_clone_to_owned().map_err(CudaError::Fd)?;
        let source = Source::ExternalMem(ExternalBuffer::import(runtime, fd, len)?);
        Ok(Self { source })
    }

    /// Registers the GL buffer `buffer`.
    pub(super) fn gl_buffer(
        runtime: &'static Runtime,
        buffer: u32,
        len: usize,
        ops: Arc<dyn CudaGlOps>,
    ) -> Result<Self, CudaError> {
        let resource = on_gl(&*ops, || {
            // SAFETY: `CudaGlOps` makes the call where the buffer's context is current.
            unsafe { GlResource::register(runtime, buffer) }
        })?;
        Ok(Self { source: Source::GlBuffer(GlBuffer { resource, len, ops }) })
    }

    /// Bytes that CUDA reaches.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is as long as a memory, never empty")]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::GlBuffer(buffer) => buffer.len,
            Source::ExternalMem(buffer) => buffer.len(),
        }
    }

    /// Whether the device address lasts as long as the memory, rather than one map.
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        matches!(self.source, Source::ExternalMem(_))
    }

    fn map(&self) -> Result<NonNull<c_void>, CudaError> {
        match &self.source {
            Source::GlBuffer(buffer) => buffer.map(),
            Source::ExternalMem(buffer) => Ok(buffer.pointer()),
        }
    }

    fn unmap(&self) {
        if let Source::GlBuffer(buffer) = &self.source {
            buffer.unmap();
        }
    }
}

/// A buffer of GL that CUDA knows.
#[derive(Debug)]
struct GlBuffer {
    resource: GlResource,
    len: usize,
    ops: Arc<dyn CudaGlOps>,
}

/// A device address on its way back from the GL thread.
struct Mapped(NonNull<c_void>, usize);

// SAFETY: a device address means the same on every thread of the process.
unsafe impl Send for Mapped {}

impl GlBuffer {
    fn map(&self) -> Result<NonNull<c_void>, CudaError> {
        let mapped = on_gl(&*self.ops, || {
            // SAFETY: the context is current by `CudaGlOps`; the memory that has this value keeps
            // the buffer alive, and its count of users lets one guard map it at a time.
            let (pointer, len) = unsafe { self.resource.map() }?;
            Ok(Mapped(pointer, len))
        })?;
        let (need, have) = (self.len, mapped.1);
        if have < need {
            self.unmap();
            return Err(CudaError::Shorter { need, have });
        }
        Ok(mapped.0)
    }

    fn unmap(&self) {
        // A guard's drop has nobody to report to. A thread that is gone took the map along.
        let _unmapped = on_gl(&*self.ops, || {
            // SAFETY: called once after each `map` that succeeded, in the context of `CudaGlOps`.
            unsafe { self.resource.unmap() }
        });
    }
}

impl Drop for GlBuffer {
    fn drop(&mut self) {
        // As for `unmap`.
        let _unregistered = on_gl(&*self.ops, || {
            // SAFETY: guards borrow the memory, so none is left; the buffer is dropped after this.
            unsafe { self.resource.unregister() }
        });
    }
}

/// Where a memory keeps what CUDA made of it, once it was asked to.
#[derive(Debug, Default)]
pub(super) struct CudaSlot {
    /// Held while the handle is made, so that it is made once.
    making: Mutex<()>,
    handle: OnceLock<CudaHandle>,
}

impl CudaSlot {
    fn get_or_make(
        &self,
        make: impl FnOnce() -> Result<CudaHandle, CudaError>,
    ) -> Result<&CudaHandle, CudaError> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = self.handle.get() {
            return Ok(handle);
        }
        let handle = make()?;
        Ok(self.handle.get_or_init(|| handle))
    }
}

/// A memory in the device's addresses until this is dropped.
///
/// It may go to another thread, for the address means the same everywhere. It may not be shared:
/// nothing orders what two threads tell the device to do.
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<tensor_core::memory::CudaMap<'_>>();
/// ```
#[derive(Debug)]
#[must_use = "the device address is valid only while the guard lives"]
pub struct CudaMap<'a> {
    handle: &'a CudaHandle,
    pointer: NonNull<c_void>,
    /// Given up after the map has ended: fields drop after the guard's own `drop`.
    _user: Option<User<'a>>,
    _not_sync: PhantomData<*mut c_void>,
}

// SAFETY: the address is one of the device, the same for every thread, and the call that ends the
// map finds its own way to the right one.
unsafe impl Send for CudaMap<'_> {}

impl CudaMap<'_> {
    /// The device address of the memory's first byte. It is no address of the CPU.
    #[must_use]
    pub fn device_ptr(&self) -> *mut c_void {
        self.pointer.as_ptr()
    }

    /// Bytes that are valid there: those of the memory.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is as long as a memory, never empty")]
    pub fn len(&self) -> usize {
        self.handle.len()
    }
}

impl Drop for CudaMap<'_> {
    fn drop(&mut self) {
        self.handle.unmap();
    }
}

impl Memory {
    /// Makes the memory reachable by CUDA until the guard is dropped.
    ///
    /// The first map of a memory imports or registers it. A PBO is then CUDA's alone: it can be
    /// mapped neither again nor by the CPU. A dma-buf can, and keeps its address from map to map.
    ///
    /// # Errors
    /// [`CudaError::NoRoute`] for a kind that CUDA cannot reach, before anything is looked for;
    /// [`CudaError::Unavailable`] without the library; [`CudaError::Mapped`] while a PBO is mapped;
    /// [`CudaError::GlDisconnected`]; [`CudaError::Call`] with the runtime's words.
    pub fn cuda_map(&self) -> Result<CudaMap<'_>, CudaError> {
        self.cuda_slot()?;
        self.cuda_map_with(Runtime::get().ok_or(CudaError::Unavailable)?)
    }

    /// As [`cuda_map`](Self::cuda_map), through a runtime of the caller's. A memory stays with the
    /// runtime that mapped it first.
    ///
    /// # Errors
    /// As for [`cuda_map`](Self::cuda_map).
    pub fn cuda_map_with(&self, runtime: &'static Runtime) -> Result<CudaMap<'_>, CudaError> {
        let slot = self.cuda_slot()?;
        let backing = self.backing();
        let user = if backing.is_shared() {
            None
        } else {
            Some(User::enter_alone(self).map_err(|_| CudaError::Mapped)?)
        };
        let handle = slot.get_or_make(|| backing.import_to_cuda(runtime))?;
        let pointer = handle.map()?;
        Ok(CudaMap { handle, pointer, _user: user, _not_sync: PhantomData })
    }

    /// What CUDA made of the memory; `None` before its first [`cuda_map`](Self::cuda_map). Asking
    /// starts nothing.
    #[must_use]
    pub fn cuda(&self) -> Option<&CudaHandle> {
        self.backing().cuda().and_then(|slot| slot.handle.get())
    }

    fn cuda_slot(&self) -> Result<&CudaSlot, CudaError> {
        self.backing().cuda().ok_or(CudaError::NoRoute(self.kind()))
    }
}

#[cfg(test)]
mod tests;
