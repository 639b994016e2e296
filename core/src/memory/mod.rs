//! Bytes with an owner, an identity and a way to be mapped. No shape, no format.
//!
//! # Who else can write
//!
//! A dma-buf can be written by a device, shared memory by another process, at any time and without
//! our knowing. A Rust slice promises that nobody does. This module keeps that promise as far as it
//! can be kept, and names the rest:
//!
//! * For one [`Memory`] and its clones, [`Memory::map`] counts users: many readers or one writer,
//!   never both.
//! * Against devices, other processes, and a second import of the same file in this one, the caller's
//!   declaration stands: who asks for a map says that nobody else writes these bytes, and for a
//!   writing map that nobody reads them, until the guard is dropped. A frame's producer gives that
//!   right by handing the frame over, and takes it back when the frame returns to its pool; hold
//!   the frame as long as the guard.
//! * Bytes that can vanish are not mapped, because reading past a file's new end would kill the
//!   process. A memfd that takes seals is sealed against shrinking before it is mapped; one that may
//!   still shrink after that has its map refused.
//!
//! A mapping is made once for each memory and kept. After that a map costs a pair of sync calls for
//! a dma-buf and nothing at all for the other kinds, except a PBO, which only its GL thread can map
//! and unmap.

mod availability;
mod cuda;
mod described;
mod dma_buf;
mod error;
mod fence;
mod foreign;
mod guard;
mod guards;
mod heap;
mod heap_policy;
mod pbo;
mod pin;
mod policy;
mod shm;

use std::{
    fmt,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    ptr::NonNull,
    sync::{Arc, atomic::AtomicIsize},
};

pub use availability::{
    Unavailable, is_ahardwarebuffer_available, is_dma_available, is_gpu_buffer_available,
    is_iosurface_available, is_shm_available,
};
pub use cuda::{CudaError, CudaGlOps, CudaHandle, CudaMap, is_cuda_available};
pub use error::{AlignmentError, AllocError, Attempt, ImportError, MapError};
pub use fence::{Fence, FenceError};
pub use foreign::ForeignBytes;
pub use guard::MemoryMap;
pub(crate) use guards::MemoryMaps;
pub use heap_policy::HeapPolicy;
pub use pbo::{PboError, PboOps};
pub use pin::HostPin;
pub use policy::{AllocPolicy, Allocation, Step};

use self::{
    cuda::CudaSlot, dma_buf::DmaBufMemory, foreign::ForeignMemory, heap::HeapMemory,
    pbo::PboMemory, shm::ShmMemory,
};
pub use crate::sys::file::FileIdentity;
use crate::{
    access::CpuAccess,
    compression::Contiguity,
    memory_kind::TensorMemory,
    sys::{
        cuda::Runtime,
        file::{self, DMA_BUF_MAGIC, TMPFS_MAGIC},
    },
};

/// What a kind of memory must be able to do.
trait Backing: fmt::Debug + Send + Sync {
    /// The kind, as the blob names it.
    fn kind(&self) -> TensorMemory;

    /// Bytes of the memory.
    fn len(&self) -> usize;

    /// The descriptor, where the kind has one; the memory keeps owning it.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// The bytes, mapped for at least `access`; valid as long as `self` is borrowed.
    fn bytes(&self, access: CpuAccess) -> Result<NonNull<[u8]>, MapError>;

    /// Makes device writes visible to the CPU.
    fn begin(&self, access: CpuAccess) -> Result<(), MapError>;

    /// Makes CPU writes visible to devices.
    fn end(&self, access: CpuAccess);

    /// Whether several maps may be alive at once.
    fn is_shared(&self) -> bool {
        true
    }

    /// Why another map is refused while one is alive, a writing one or not.
    fn busy(&self, writer: bool) -> MapError {
        MapError::Busy { writer }
    }

    /// Where what CUDA made of the memory is kept, if CUDA has a way to it.
    fn cuda(&self) -> Option<&CudaSlot> {
        None
    }

    /// Makes the memory known to CUDA.
    fn import_to_cuda(&self, _: &'static Runtime) -> Result<CudaHandle, CudaError> {
        Err(CudaError::NoRoute(self.kind()))
    }
}

#[derive(Debug)]
enum Kind {
    Heap(HeapMemory),
    Shm(ShmMemory),
    DmaBuf(DmaBufMemory),
    Pbo(PboMemory),
    Foreign(ForeignMemory),
}

impl Kind {
    fn backing(&self) -> &dyn Backing {
        match self {
            Self::Heap(memory) => memory,
            Self::Shm(memory) => memory,
            Self::DmaBuf(memory) => memory,
            Self::Pbo(memory) => memory,
            Self::Foreign(memory) => memory,
        }
    }
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    access: CpuAccess,
    contiguity: Contiguity,
    device: Option<PathBuf>,
    /// Maps alive now: readers when positive, -1 for a writer.
    users: AtomicIsize,
}

/// Bytes with an owner. Clones are the same memory.
///
/// ```
/// use tensor_core::{CpuAccess, memory::Memory};
/// let memory = Memory::heap(4096)?;
/// memory.map(CpuAccess::Write)?.as_mut_slice().unwrap()[7] = 9;
/// assert_eq!(memory.map(CpuAccess::Read)?[7], 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Memory(Arc<Inner>);

impl Memory {
    fn new(kind: Kind, access: CpuAccess) -> Self {
        Self::allocated(kind, access, Contiguity::Unknown, None)
    }

    /// Memory that the device node `device`, where there is one, was asked for.
    fn allocated(
        kind: Kind,
        access: CpuAccess,
        contiguity: Contiguity,
        device: Option<PathBuf>,
    ) -> Self {
        Self(Arc::new(Inner { kind, access, contiguity, device, users: AtomicIsize::new(0) }))
    }

    /// Zeroed memory of this process, aligned to a cache line.
    ///
    /// # Errors
    /// [`AllocError`] when the length is zero or cannot be had.
    pub fn heap(len: usize) -> Result<Self, AllocError> {
        let policy = AllocPolicy::from_steps([Step::Heap]);
        policy.allocate(len, CpuAccess::ReadWrite).map(|allocation| allocation.memory)
    }

    /// Zeroed shared memory that another process can map: a memfd sealed against shrinking.
    ///
    /// # Errors
    /// [`AllocError`] when the length is zero or the memfd cannot be had.
    pub fn shm(len: usize) -> Result<Self, AllocError> {
        let policy = AllocPolicy::from_steps([Step::Memfd]);
        policy.allocate(len, CpuAccess::ReadWrite).map(|allocation| allocation.memory)
    }

    /// The memory behind a descriptor that somebody else gave: a dma-buf, or a file on tmpfs (a
    /// memfd for one).
    ///
    /// The descriptor is duplicated; the caller's stays the caller's. What it is is decided by its
    /// filesystem's magic, never by a device number. Without CPU access nothing will ever be
    /// mapped.
    ///
    /// The file is left as it is. Its first map seals a memfd that takes seals against shrinking: from
    /// then on its owner can no longer make it shorter, and can still make it longer.
    ///
    /// # Errors
    /// [`ImportError::UnknownBufferType`] for another filesystem, [`ImportError::NotAFile`] for a
    /// directory or device node, [`ImportError::Fd`] with the errno when the descriptor is bad.
    pub fn import(fd: BorrowedFd<'_>, access: CpuAccess) -> Result<Self, ImportError> {
        let magic = file::fs_magic(fd).map_err(ImportError::call("fstatfs"))?;
        let kind = match magic {
            DMA_BUF_MAGIC => Kind::DmaBuf(DmaBufMemory::import(fd, access)?),
            TMPFS_MAGIC => Kind::Shm(ShmMemory::import(fd, access)?),
            other => return Err(ImportError::UnknownBufferType(other)),
        };
        Ok(Self::new(kind, access))
    }

    /// Bytes that somebody else owns and lends for reading, of the kind the lender says.
    #[must_use]
    pub fn foreign(kind: TensorMemory, owner: Arc<ForeignBytes>) -> Self {
        Self::new(Kind::Foreign(ForeignMemory::new(kind, owner)), CpuAccess::Read)
    }

    /// The same memory, with what its producer says of its pages; an answer of our own stays.
    pub(crate) fn with_contiguity_of_producer(mut self, contiguity: Contiguity) -> Self {
        if let Some(inner) =
            Arc::get_mut(&mut self.0).filter(|i| i.contiguity == Contiguity::Unknown)
        {
            inner.contiguity = contiguity;
        }
        self
    }

    fn backing(&self) -> &dyn Backing {
        self.0.kind.backing()
    }

    /// The kind of memory.
    #[must_use]
    pub fn kind(&self) -> TensorMemory {
        self.backing().kind()
    }

    /// Bytes of the memory: the real length of the file, not what somebody declared.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a memory is never empty")]
    pub fn len(&self) -> usize {
        self.backing().len()
    }

    /// What the CPU may do with the bytes.
    #[must_use]
    pub fn access(&self) -> CpuAccess {
        self.0.access
    }

    /// Whether the physical pages are one run; not known of memory that was imported.
    #[must_use]
    pub fn contiguity(&self) -> Contiguity {
        self.0.contiguity
    }

    /// The device node that gave the memory, `/dev/dma_heap/linux,cma` for one; `None` for a kind
    /// that needs none and for memory that was imported.
    #[must_use]
    pub fn device(&self) -> Option<&Path> {
        self.0.device.as_deref()
    }

    /// The descriptor behind the memory, borrowed; `None` for a kind that has none.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.backing().fd()
    }

    /// The identity of the file behind the memory; `None` for a kind that has none.
    #[must_use]
    pub fn identity(&self) -> Option<FileIdentity> {
        self.fd().and_then(|fd| FileIdentity::of(fd).ok())
    }

    /// Whether both are the same memory object.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Makes the bytes reachable until the guard is dropped.
    ///
    /// A `Write` map does not bring the device's bytes into the CPU's caches, so what is read
    /// through it before it is written may be stale; use `ReadWrite` unless all is overwritten.
    ///
    /// # Errors
    /// [`MapError::AccessDenied`] when the declaration does not cover `access`, before anything is
    /// touched; [`MapError::Busy`] while a map that excludes this one is alive;
    /// [`MapError::CanShrink`] for a memfd without its seal; [`MapError::Call`] with the errno. A PBO
    /// answers [`MapError::PboMapped`] while it is mapped at all, and [`MapError::PboDisconnected`]
    /// when its GL side is gone.
    pub fn map(&self, access: CpuAccess) -> Result<MemoryMap<'_>, MapError> {
        MemoryMap::new(self, access)
    }
}

#[cfg(test)]
mod tests;
