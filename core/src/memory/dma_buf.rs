//! dma-bufs. Devices, and every process that has the descriptor, can write them.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::io::Errno;

use super::{
    Backing, ImportError, MapError,
    cuda::{CudaError, CudaHandle, CudaSlot},
    shm::{dup_with_len, kept_mapping},
};
use crate::{
    access::CpuAccess,
    memory_kind::TensorMemory,
    sys::{cuda::Runtime, dma_buf, mmap::Mapping},
};

/// A dma-buf, from a heap of ours or from somebody else's device.
#[derive(Debug)]
pub(super) struct DmaBufMemory {
    cuda: CudaSlot,
    fd: OwnedFd,
    len: usize,
    access: CpuAccess,
    mapping: OnceLock<Mapping>,
    /// The exporter has no sync call (`ENOTTY`); asking again each frame would tell nothing.
    no_sync: AtomicBool,
}

impl DmaBufMemory {
    /// Takes a dma-buf that was just allocated.
    pub(super) fn new(fd: OwnedFd, access: CpuAccess) -> Result<Self, ImportError> {
        let (_, len) = dup_with_len(fd.as_fd())?;
        Ok(Self::with_len(fd, len, access))
    }

    /// The dma-buf behind `fd`, which the caller found to be one.
    pub(super) fn import(fd: BorrowedFd<'_>, access: CpuAccess) -> Result<Self, ImportError> {
        let (fd, len) = dup_with_len(fd)?;
        Ok(Self::with_len(fd, len, access))
    }

    fn with_len(fd: OwnedFd, len: usize, access: CpuAccess) -> Self {
        Self {
            cuda: CudaSlot::default(),
            fd,
            len,
            access,
            mapping: OnceLock::new(),
            no_sync: AtomicBool::new(false),
        }
    }

    /// Runs a sync call, unless the exporter is known to have none.
    fn sync(&self, call: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>) -> io::Result<()> {
        if self.no_sync.load(Ordering::Relaxed) {
            return Ok(());
        }
        match call(self.fd.as_fd()) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOTTY) => {
                self.no_sync.store(true, Ordering::Relaxed);
                Ok(())
            }
            answer => answer,
        }
    }
}

impl Backing for DmaBufMemory {
    fn kind(&self) -> TensorMemory {
        TensorMemory::DmaBuf
    }

    fn len(&self) -> usize {
        self.len
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    fn bytes(&self, _: CpuAccess) -> Result<NonNull<[u8]>, MapError> {
        kept_mapping(&self.mapping, self.fd.as_fd(), self.len, self.access).map(Mapping::bytes)
    }

    fn begin(&self, access: CpuAccess) -> Result<(), MapError> {
        self.sync(|fd| dma_buf::begin_access(fd, access))
            .map_err(|error| MapError::Call { call: "DMA_BUF_IOCTL_SYNC start", error })
    }

    fn end(&self, access: CpuAccess) {
        // A guard's drop has nobody to report to, and the bytes stay valid either way.
        let ended = self.sync(|fd| dma_buf::end_access(fd, access));
        debug_assert!(ended.is_ok(), "DMA_BUF_IOCTL_SYNC end: {ended:?}");
    }

    fn cuda(&self) -> Option<&CudaSlot> {
        Some(&self.cuda)
    }

    fn import_to_cuda(&self, runtime: &'static Runtime) -> Result<CudaHandle, CudaError> {
        CudaHandle::external_mem(runtime, self.fd.as_fd(), self.len)
    }
}
