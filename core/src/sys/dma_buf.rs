//! CPU access brackets and fences of a dma-buf: `DMA_BUF_IOCTL_SYNC`,
//! `DMA_BUF_IOCTL_EXPORT_SYNC_FILE` and `DMA_BUF_IOCTL_IMPORT_SYNC_FILE` (`linux/dma-buf.h`).

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::{
    io::Errno,
    ioctl::{Opcode, Setter, Updater, ioctl, opcode},
};

use crate::access::CpuAccess;

/// `DMA_BUF_SYNC_READ`.
const SYNC_READ: u64 = 1;
/// `DMA_BUF_SYNC_WRITE`.
const SYNC_WRITE: u64 = 2;
/// `DMA_BUF_SYNC_END`; its absence is `DMA_BUF_SYNC_START`.
const SYNC_END: u64 = 4;

/// `struct dma_buf_sync`.
#[repr(C)]
struct DmaBufSync {
    flags: u64,
}

const _: () = assert!(size_of::<DmaBufSync>() == 8);

/// `DMA_BUF_IOCTL_SYNC`, `_IOW('b', 0, struct dma_buf_sync)`.
const SYNC: Opcode = opcode::write::<DmaBufSync>(b'b', 0);

/// `struct dma_buf_export_sync_file` and `struct dma_buf_import_sync_file`.
#[repr(C)]
struct DmaBufSyncFile {
    flags: u32,
    fd: i32,
}

const _: () = assert!(size_of::<DmaBufSyncFile>() == 8);

/// `DMA_BUF_IOCTL_EXPORT_SYNC_FILE`, `_IOWR('b', 2, struct dma_buf_export_sync_file)`.
const EXPORT_SYNC_FILE: Opcode = opcode::read_write::<DmaBufSyncFile>(b'b', 2);

/// `DMA_BUF_IOCTL_IMPORT_SYNC_FILE`, `_IOW('b', 3, struct dma_buf_import_sync_file)`.
const IMPORT_SYNC_FILE: Opcode = opcode::write::<DmaBufSyncFile>(b'b', 3);

/// Begins CPU access: waits for the device and makes its writes visible.
///
/// # Errors
/// What the ioctl answers; `ENOTTY` says the file is no dma-buf.
pub fn begin_access(fd: impl AsFd, access: CpuAccess) -> io::Result<()> {
    sync(fd.as_fd(), flags(access))
}

/// Ends the CPU access that [`begin_access`] began with the same `access`.
///
/// # Errors
/// What the ioctl answers; `ENOTTY` says the file is no dma-buf.
pub fn end_access(fd: impl AsFd, access: CpuAccess) -> io::Result<()> {
    sync(fd.as_fd(), flags(access) | SYNC_END)
}

/// The fence that whoever wants `access` has to wait for: reading, for those who write; writing,
/// for everybody. A dma-buf that nobody uses gives a fence that is signaled.
///
/// # Errors
/// What the ioctl answers; `ENOTTY` says that the file is no dma-buf, or the kernel older than 6.0.
pub fn export_sync_file(fd: impl AsFd, access: CpuAccess) -> io::Result<OwnedFd> {
    let mut file = DmaBufSyncFile { flags: access.code(), fd: -1 };
    // SAFETY: the opcode is the one `linux/dma-buf.h` gives for this structure.
    let call = unsafe { Updater::<EXPORT_SYNC_FILE, DmaBufSyncFile>::new(&mut file) };
    // SAFETY: the kernel reads and writes the structure, for the time of the call.
    unsafe { ioctl(fd, call) }?;
    // SAFETY: the call succeeded, so it wrote a descriptor that nobody else owns yet.
    Ok(unsafe { OwnedFd::from_raw_fd(file.fd) })
}

/// Makes later users of the dma-buf wait for `fence`: everybody when its work has write `access`,
/// those who write when it only reads.
///
/// # Errors
/// What the ioctl answers; `ENOTTY` says that the file is no dma-buf, or the kernel older than 6.0.
pub fn import_sync_file(fd: impl AsFd, access: CpuAccess, fence: BorrowedFd<'_>) -> io::Result<()> {
    let file = DmaBufSyncFile { flags: access.code(), fd: fence.as_raw_fd() };
    // SAFETY: the opcode is the one `linux/dma-buf.h` gives for this structure.
    let call = unsafe { Setter::<IMPORT_SYNC_FILE, DmaBufSyncFile>::new(file) };
    // SAFETY: the kernel only reads the structure, for the time of the call.
    Ok(unsafe { ioctl(fd, call) }?)
}

fn flags(access: CpuAccess) -> u64 {
    let read = if access.reads() { SYNC_READ } else { 0 };
    let write = if access.writes() { SYNC_WRITE } else { 0 };
    read | write
}

/// The kernel header asks callers to repeat the call on `EINTR` and `EAGAIN`.
fn sync(fd: BorrowedFd<'_>, flags: u64) -> io::Result<()> {
    loop {
        // SAFETY: the opcode is the one `linux/dma-buf.h` gives for this structure.
        let call = unsafe { Setter::<SYNC, DmaBufSync>::new(DmaBufSync { flags }) };
        // SAFETY: the kernel only reads the structure, for the time of the call.
        match unsafe { ioctl(fd, call) } {
            Err(Errno::INTR | Errno::AGAIN) => {}
            answer => return Ok(answer?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memfd;

    // S-MAP-04
    #[test]
    fn flags_and_opcode_are_the_kernels() {
        let bits = [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite].map(flags);
        assert_eq!(bits, [1, 2, 3]);
        assert_eq!(bits.map(|bits| bits | SYNC_END), [5, 6, 7]);
        assert_eq!(u64::from(SYNC), 0x4008_6200);
        assert_eq!(u64::from(EXPORT_SYNC_FILE), 0xC008_6202);
        assert_eq!(u64::from(IMPORT_SYNC_FILE), 0x4008_6203);
        assert_eq!(
            CpuAccess::ALL.map(|access| u64::from(access.code())),
            CpuAccess::ALL.map(flags)
        );
    }

    #[test]
    fn a_memfd_has_no_fences() {
        let fd = memfd::create("t", 4096).unwrap();
        let error = export_sync_file(&fd, CpuAccess::Read).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOTTY));
        let error = import_sync_file(&fd, CpuAccess::Write, fd.as_fd()).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOTTY));
    }

    #[test]
    fn a_memfd_is_told_from_a_dma_buf() {
        let fd = memfd::create("t", 4096).unwrap();
        let error = begin_access(&fd, CpuAccess::Read).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOTTY));
    }
}
