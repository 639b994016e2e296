//! Shared mappings of files: `mmap(2)`.

use std::{
    io,
    os::fd::BorrowedFd,
    ptr::{self, NonNull},
};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
pub use rustix::param::page_size;

use crate::access::CpuAccess;

/// A shared mapping of the first `len` bytes of a file, unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process, not to the thread that made it, and this type gives out
// only an address.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` allows nothing but asking for the address.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes from the start of the file behind `fd`, with the protection `access` asks
    /// for.
    ///
    /// # Errors
    /// What `mmap` answers: `EACCES` when the descriptor was not opened for that access, `EINVAL`
    /// for no bytes.
    pub fn new(fd: BorrowedFd<'_>, len: usize, access: CpuAccess) -> io::Result<Self> {
        let mut protection = ProtFlags::empty();
        protection.set(ProtFlags::READ, access.reads() || access.writes());
        protection.set(ProtFlags::WRITE, access.writes());
        // SAFETY: with no address asked for, the kernel picks a range that nothing else uses.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, fd, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { start, len })
    }

    /// The mapped bytes. Reading them is sound only while the file is at least as long.
    #[must_use]
    pub fn bytes(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.start, self.len)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped exactly this range, and whoever borrowed an address from it borrowed
        // the mapping.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping: {unmapped:?}");
    }
}
