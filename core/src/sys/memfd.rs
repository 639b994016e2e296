//! Anonymous shared memory: `memfd_create(2)` and file seals.

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create},
    io::Errno,
};

/// A memfd of `len` bytes, all zero, sealed against shrinking.
///
/// The seal is what lets another process map it without fear of SIGBUS, and what udmabuf demands.
/// `name` shows in `/proc/self/fd` only.
///
/// # Errors
/// What `memfd_create`, `ftruncate` or `F_ADD_SEALS` answer.
pub fn create(name: &str, len: u64) -> io::Result<OwnedFd> {
    let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&fd, len)?;
    fcntl_add_seals(&fd, SealFlags::SHRINK)?;
    Ok(fd)
}

/// Seals the file behind `fd` against shrinking, for everybody who has it and for good.
///
/// # Errors
/// What `F_ADD_SEALS` answers: `EPERM` for a descriptor that is open for reading alone and for a
/// file that takes no more seals, `EINVAL` for one that takes none.
pub fn seal_shrink(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fcntl_add_seals(fd, SealFlags::SHRINK)?)
}

/// The seals of the file behind `fd`; none for a file that cannot be sealed.
///
/// # Errors
/// What `F_GET_SEALS` answers, other than `EINVAL`.
pub fn seals(fd: BorrowedFd<'_>) -> io::Result<SealFlags> {
    match fcntl_get_seals(fd) {
        Err(Errno::INVAL) => Ok(SealFlags::empty()),
        answer => Ok(answer?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_new_memfd_cannot_shrink() {
        let fd = create("t", 8192).unwrap();
        assert!(seals(fd.as_fd()).unwrap().contains(SealFlags::SHRINK));
        assert_eq!(ftruncate(&fd, 4096), Err(Errno::PERM));
        assert_eq!(super::super::file::len(fd.as_fd()).unwrap(), 8192);
    }
}
