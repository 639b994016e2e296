//! Shared memory files. Every process that has the descriptor can write them.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::OnceLock,
};

use rustix::fs::SealFlags;

use super::{Backing, ImportError, MapError};
use crate::{
    access::CpuAccess,
    memory_kind::TensorMemory,
    sys::{file, memfd, mmap::Mapping},
};

/// A memfd, or a file on tmpfs.
#[derive(Debug)]
pub(super) struct ShmMemory {
    fd: OwnedFd,
    len: usize,
    access: CpuAccess,
    mapping: OnceLock<Mapping>,
}

impl ShmMemory {
    /// A new memfd of `len` bytes, sealed against shrinking.
    pub(super) fn new(len: usize, access: CpuAccess) -> io::Result<Self> {
        let bytes = u64::try_from(len).map_err(io::Error::other)?;
        let fd = memfd::create("tensor", bytes)?;
        Ok(Self { fd, len, access, mapping: OnceLock::new() })
    }

    /// The file behind `fd`, which the caller found to be on tmpfs. Nothing is changed about it.
    pub(super) fn import(fd: BorrowedFd<'_>, access: CpuAccess) -> Result<Self, ImportError> {
        let len = file::regular_len(fd).map_err(ImportError::call("fstat"))?;
        let (fd, len) = dup_of_len(fd, len.ok_or(ImportError::NotAFile)?)?;
        Ok(Self { fd, len, access, mapping: OnceLock::new() })
    }

    /// Whether the file is as long as it was when it was imported, and stays so: it is sealed
    /// against shrinking where its owner allows seals, and measured after that.
    fn check_lasting(&self) -> Result<(), MapError> {
        let call = |call| move |error| MapError::Call { call, error };
        let fd = self.fd.as_fd();
        let seals = memfd::seals(fd).map_err(call("F_GET_SEALS"))?;
        if !seals.contains(SealFlags::SHRINK) && memfd::seal_shrink(fd).is_err() {
            return Err(MapError::CanShrink);
        }
        let now = file::len(fd).map_err(call("fstat"))?;
        let (need, have) = (self.len, usize::try_from(now).unwrap_or(usize::MAX));
        if have < need { Err(MapError::Shorter { need, have }) } else { Ok(()) }
    }
}

/// A duplicate of `fd` that is ours, and the real length of the file behind it.
pub(super) fn dup_with_len(fd: BorrowedFd<'_>) -> Result<(OwnedFd, usize), ImportError> {
    dup_of_len(fd, file::len(fd).map_err(ImportError::call("fstat"))?)
}

/// A duplicate of `fd` that is ours, of a file of `len` bytes.
fn dup_of_len(fd: BorrowedFd<'_>, len: u64) -> Result<(OwnedFd, usize), ImportError> {
    if len == 0 {
        return Err(ImportError::Empty);
    }
    let bytes = usize::try_from(len).map_err(|_| ImportError::TooLong { len })?;
    let fd = fd.try_clone_to_owned().map_err(ImportError::call("F_DUPFD_CLOEXEC"))?;
    Ok((fd, bytes))
}

/// The mapping kept in `slot`, made now if there is none yet.
pub(super) fn kept_mapping<'a>(
    slot: &'a OnceLock<Mapping>,
    fd: BorrowedFd<'_>,
    len: usize,
    access: CpuAccess,
) -> Result<&'a Mapping, MapError> {
    if let Some(mapping) = slot.get() {
        return Ok(mapping);
    }
    // Two threads may both map; the second mapping is dropped at once.
    let mapping =
        Mapping::new(fd, len, access).map_err(|error| MapError::Call { call: "mmap", error })?;
    Ok(slot.get_or_init(|| mapping))
}

impl Backing for ShmMemory {
    fn kind(&self) -> TensorMemory {
        TensorMemory::Shm
    }

    fn len(&self) -> usize {
        self.len
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }

    fn bytes(&self, _: CpuAccess) -> Result<NonNull<[u8]>, MapError> {
        if self.mapping.get().is_none() {
            self.check_lasting()?;
        }
        kept_mapping(&self.mapping, self.fd.as_fd(), self.len, self.access).map(Mapping::bytes)
    }

    fn begin(&self, _: CpuAccess) -> Result<(), MapError> {
        Ok(())
    }

    fn end(&self, _: CpuAccess) {}
}
