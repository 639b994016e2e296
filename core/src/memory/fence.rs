//! Fences: when the work of a device on a dma-buf is done.
//!
//! An *acquire* fence is waited for before the bytes are used; a *release* fence is given to a
//! memory so that its next user waits. Both are sync files, which travel between processes and
//! drivers as file descriptors.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use rustix::io::Errno;
use thiserror::Error;

use super::Memory;
use crate::{
    access::CpuAccess,
    memory_kind::TensorMemory,
    sys::{
        dma_buf,
        sync_file::{self, Status},
    },
};

/// Why a fence cannot be had, given or waited for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FenceError {
    /// The work was not done in time.
    #[error("the fence was not signaled within {timeout:?}")]
    TimedOut {
        /// How long was waited.
        timeout: Duration,
    },
    /// The work ended in failure; the bytes are not what it should have made.
    #[error("the work before the fence failed: {error}")]
    Failed {
        /// What the driver says.
        error: io::Error,
    },
    /// Memory of this kind carries no fences.
    #[error("memory of kind {kind} carries no fences; dma-bufs do")]
    NoFences {
        /// The kind.
        kind: TensorMemory,
    },
    /// The kernel or the exporter of this dma-buf has no such call.
    #[error("{call} is not supported here ({error}); Linux has it since 6.0")]
    Unsupported {
        /// Which call.
        call: &'static str,
        /// What it answered.
        error: io::Error,
    },
    /// The access names no direction, so there is nothing to wait for or to announce.
    #[error("a fence is for reading, writing or both, not for no access")]
    NoDirection,
    /// The descriptor is something else.
    #[error("the fd is no sync file: {error}")]
    NotAFence {
        /// What asking it answered.
        error: io::Error,
    },
    /// A call failed.
    #[error("{call}: {error}")]
    Call {
        /// Which call.
        call: &'static str,
        /// What it answered.
        error: io::Error,
    },
}

impl FenceError {
    /// Tells a call that does not exist from one that failed.
    fn of(call: &'static str, error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::NOTTY | Errno::INVAL) => Self::Unsupported { call, error },
            _ => Self::Call { call, error },
        }
    }
}

/// A point in a device's work, as a file that is ours. It is closed on drop.
#[derive(Debug)]
pub struct Fence(OwnedFd);

impl Fence {
    /// Whether the work is done.
    ///
    /// # Errors
    /// [`FenceError::Failed`] when it is done and failed.
    pub fn is_signaled(&self) -> Result<bool, FenceError> {
        let call = "SYNC_IOC_FILE_INFO";
        match sync_file::status(self.0.as_fd()).map_err(|error| FenceError::of(call, error))? {
            Status::Active => Ok(false),
            Status::Signaled => Ok(true),
            Status::Failed(errno) => Err(FenceError::Failed { error: errno.into() }),
        }
    }

    /// Waits for the work, at most for `timeout`.
    ///
    /// # Errors
    /// [`FenceError::TimedOut`] when it was not done in time, [`FenceError::Failed`] when it is
    /// done and failed.
    pub fn wait(&self, timeout: Duration) -> Result<(), FenceError> {
        let ready = sync_file::wait(self.0.as_fd(), timeout)
            .map_err(|error| FenceError::Call { call: "poll", error })?;
        if ready && self.is_signaled()? { Ok(()) } else { Err(FenceError::TimedOut { timeout }) }
    }
}

/// Takes a descriptor that came with a frame, if it is a sync file.
impl TryFrom<OwnedFd> for Fence {
    type Error = FenceError;

    fn try_from(fd: OwnedFd) -> Result<Self, FenceError> {
        match sync_file::status(fd.as_fd()) {
            Ok(_) => Ok(Self(fd)),
            Err(error) => Err(FenceError::NotAFence { error }),
        }
    }
}

impl AsFd for Fence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<Fence> for OwnedFd {
    fn from(fence: Fence) -> Self {
        fence.0
    }
}

impl Memory {
    /// What must be waited for before the memory is used for `access`, or `None` when nothing is
    /// pending: no device is at work on it, or none can be, because it is no dma-buf.
    ///
    /// A CPU map of a dma-buf waits by itself, without a limit; with this fence the wait has one.
    ///
    /// # Errors
    /// [`FenceError::Unsupported`] before Linux 6.0, [`FenceError::Failed`] when the device's work
    /// failed, [`FenceError::NoDirection`] for no access.
    pub fn acquire_fence(&self, access: CpuAccess) -> Result<Option<Fence>, FenceError> {
        if access == CpuAccess::None {
            return Err(FenceError::NoDirection);
        }
        let Ok(fd) = self.fenced() else { return Ok(None) };
        let call = "DMA_BUF_IOCTL_EXPORT_SYNC_FILE";
        let fence = dma_buf::export_sync_file(fd, access)
            .map(Fence)
            .map_err(|error| FenceError::of(call, error))?;
        Ok(if fence.is_signaled()? { None } else { Some(fence) })
    }

    /// Makes later users wait for `fence`, whose work does `access` to the memory.
    ///
    /// The fence stays the caller's.
    ///
    /// # Errors
    /// [`FenceError::NoFences`] unless the memory is a dma-buf, [`FenceError::Unsupported`] before
    /// Linux 6.0, [`FenceError::NoDirection`] for no access.
    pub fn import_fence(&self, access: CpuAccess, fence: &Fence) -> Result<(), FenceError> {
        if access == CpuAccess::None {
            return Err(FenceError::NoDirection);
        }
        dma_buf::import_sync_file(self.fenced()?, access, fence.as_fd())
            .map_err(|error| FenceError::of("DMA_BUF_IOCTL_IMPORT_SYNC_FILE", error))
    }

    /// The descriptor, if it is one that carries fences.
    fn fenced(&self) -> Result<BorrowedFd<'_>, FenceError> {
        let kind = self.kind();
        let fd = if kind == TensorMemory::DmaBuf { self.fd() } else { None };
        fd.ok_or(FenceError::NoFences { kind })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Kind, dma_buf::DmaBufMemory},
        *,
    };
    use crate::sys::memfd;

    /// A memfd that passes for a dma-buf.
    fn posing() -> Memory {
        let fd = memfd::create("t", 4096).unwrap();
        let memory = DmaBufMemory::new(fd, CpuAccess::ReadWrite).unwrap();
        Memory::new(Kind::DmaBuf(memory), CpuAccess::ReadWrite)
    }

    #[test]
    fn a_kernel_without_the_calls_is_told_by_name() {
        let error = posing().acquire_fence(CpuAccess::Read).unwrap_err();
        assert!(matches!(error, FenceError::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains("DMA_BUF_IOCTL_EXPORT_SYNC_FILE"), "{error}");
        let error = Memory::heap(64).unwrap().acquire_fence(CpuAccess::None).unwrap_err();
        assert!(matches!(error, FenceError::NoDirection));
    }

    #[test]
    fn memory_without_devices_has_nothing_to_wait_for() {
        for memory in [Memory::heap(4096).unwrap(), Memory::shm(4096).unwrap()] {
            assert!(memory.acquire_fence(CpuAccess::ReadWrite).unwrap().is_none());
            let kind = memory.kind();
            assert!(matches!(memory.fenced(), Err(FenceError::NoFences { kind: k }) if k == kind));
        }
    }

    #[test]
    fn another_descriptor_is_no_fence_and_is_closed() {
        let (pipe, writer) = rustix::pipe::pipe().unwrap();
        let error = Fence::try_from(pipe).unwrap_err();
        assert!(matches!(error, FenceError::NotAFence { .. }), "{error:?}");
        // The other end finds that nobody reads: what was taken is closed.
        assert_eq!(rustix::io::write(&writer, b"x"), Err(Errno::PIPE));
    }

    const fn assert_send_sync<T: Send + Sync>() {}
    const _: () = assert_send_sync::<Fence>();
}
