//! dma-bufs over memfds: `/dev/udmabuf` (`linux/udmabuf.h`).

use std::{
    fs::OpenOptions,
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
};

use rustix::{
    ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode},
    param::page_size,
};

/// The device node.
pub const PATH: &str = "/dev/udmabuf";

/// `UDMABUF_FLAGS_CLOEXEC`.
const CLOEXEC: u32 = 1;

/// `struct udmabuf_create`.
#[repr(C)]
struct UdmabufCreate {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

const _: () = assert!(size_of::<UdmabufCreate>() == 24);

// SAFETY: the opcode is `UDMABUF_CREATE`, `_IOW('u', 0x42, struct udmabuf_create)`, whose argument
// is this structure, which the kernel only reads; its result is a new file descriptor.
unsafe impl Ioctl for UdmabufCreate {
    type Output = OwnedFd;

    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        opcode::write::<Self>(b'u', 0x42)
    }

    fn as_ptr(&mut self) -> *mut rustix::ffi::c_void {
        ptr::from_mut(self).cast()
    }

    unsafe fn output_from_ptr(
        out: IoctlOutput,
        _: *mut rustix::ffi::c_void,
    ) -> rustix::io::Result<OwnedFd> {
        // SAFETY: the call succeeded, so `out` is a descriptor that nobody else owns yet.
        Ok(unsafe { OwnedFd::from_raw_fd(out) })
    }
}

/// A dma-buf of `len` bytes, rounded up to whole pages, over a new memfd.
///
/// # Errors
/// What `open`, `memfd_create` or `UDMABUF_CREATE` answer: `EACCES` without permission, `EINVAL`
/// past the module's `size_limit_mb`.
pub fn allocate(len: usize) -> io::Result<OwnedFd> {
    let device = OpenOptions::new().read(true).write(true).open(PATH)?;
    let size = len
        .checked_next_multiple_of(page_size())
        .and_then(|size| u64::try_from(size).ok())
        .ok_or(io::ErrorKind::InvalidInput)?;
    let memfd = super::memfd::create("udmabuf", size)?;
    let number = u32::try_from(memfd.as_raw_fd()).map_err(io::Error::other)?;
    let create = UdmabufCreate { memfd: number, flags: CLOEXEC, offset: 0, size };
    // SAFETY: `UdmabufCreate` names the opcode and argument that the udmabuf device takes.
    Ok(unsafe { ioctl(&device, create) }?)
}
