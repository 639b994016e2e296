//! Memory that a C descriptor names by address or descriptor number.

use std::{
    os::fd::{BorrowedFd, FromRawFd, OwnedFd},
    ptr::NonNull,
    slice,
    sync::Arc,
};

use super::{Fence, FenceError, ImportError, Memory};
use crate::{
    access::CpuAccess,
    desc::{DescError, SYNC_PRESENT, TensorDesc},
    memory_kind::TensorMemory,
};

/// Bytes at an address that a producer keeps valid.
struct LentBytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: `Memory::described` is told that the bytes may be read as long as this lives, on any thread.
unsafe impl Send for LentBytes {}
// SAFETY: as above; nothing here writes them.
unsafe impl Sync for LentBytes {}

impl AsRef<[u8]> for LentBytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: whoever called `Memory::described` answers for `len` readable bytes from `start`
        // as long as this lives.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Memory {
    /// The memory that a descriptor names: its file descriptor, which is duplicated, or the bytes at
    /// its address, which are lent for reading.
    ///
    /// # Errors
    /// [`ImportError::Desc`] for a descriptor that [`TensorDesc::check`] refuses or that names
    /// nothing; else as for [`import`](Self::import).
    ///
    /// # Safety
    /// The descriptor's `handle` is -1 or an open file descriptor of this process. If that is -1,
    /// `ptr` is null, or the first of `capacity` bytes that stay readable, and that nobody writes
    /// while they are mapped, until every clone of the memory is gone.
    pub unsafe fn described(desc: &TensorDesc) -> Result<Self, ImportError> {
        desc.check()?;
        let field = |field| DescError::Missing { field };
        if let Some(fd) = i32::try_from(desc.handle).ok().filter(|fd| *fd >= 0) {
            // SAFETY: the caller answers for an open descriptor; it is borrowed for this call.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            return Self::import(fd, desc.access());
        }
        let kind = TensorMemory::from_code(desc.kind).ok_or(field("kind"))?;
        let start = NonNull::new(desc.ptr.cast_mut()).ok_or(field("handle or ptr"))?;
        let len = usize::try_from(desc.capacity).ok().filter(|len| *len > 0);
        let len = len.filter(|len| isize::try_from(*len).is_ok()).ok_or(field("capacity"))?;
        Ok(Self::foreign(kind, Arc::new(LentBytes { start, len })))
    }

    /// The address of the first byte, for a kind whose bytes are in this process as long as the memory
    /// lives; `None` for others, and without CPU access.
    pub(crate) fn lent_ptr(&self) -> Option<NonNull<u8>> {
        let in_process = matches!(self.kind(), TensorMemory::Mem | TensorMemory::Shm);
        if !in_process || self.access() == CpuAccess::None {
            return None;
        }
        self.backing().bytes(self.access()).ok().map(NonNull::cast)
    }
}

impl Fence {
    /// Takes the fence that a descriptor hands over, if it has one. The descriptor then has none.
    ///
    /// # Errors
    /// [`FenceError::NotAFence`]; the descriptor number is closed all the same.
    ///
    /// # Safety
    /// When `flags` say so, `sync` is an open file descriptor that nobody else will close.
    pub unsafe fn of_descriptor(desc: &mut TensorDesc) -> Result<Option<Self>, FenceError> {
        let is_there = desc.flags & SYNC_PRESENT != 0;
        let fd = i32::try_from(desc.sync).ok().filter(|fd| is_there && *fd >= 0);
        desc.flags &= !SYNC_PRESENT;
        desc.sync = 0;
        let Some(fd) = fd else { return Ok(None) };
        // SAFETY: the caller hands this descriptor over, and its number was just erased.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Self::try_from(fd).map(Some)
    }
}
