//! CPU access brackets of a dma-buf: `DMA_BUF_IOCTL_SYNC` (`linux/dma-buf.h`).

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{
    io::Errno,
    ioctl::{Setter, ioctl, opcode},
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
const SYNC: rustix::ioctl::Opcode = opcode::write::<DmaBufSync>(b'b', 0);

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
    }

    #[test]
    fn a_memfd_is_told_from_a_dma_buf() {
        let fd = memfd::create("t", 4096).unwrap();
        let error = begin_access(&fd, CpuAccess::Read).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOTTY));
    }
}
