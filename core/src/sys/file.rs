//! What a file descriptor is: its identity, its filesystem, its length.
//!
//! See `fstat(2)`, `fstatfs(2)` and `linux/magic.h`.

use std::{io, os::fd::BorrowedFd};

use rustix::fs::{FileType, SeekFrom, fstat, fstatfs, seek};

/// Filesystem magic of dma-bufs (`DMA_BUF_MAGIC`).
pub const DMA_BUF_MAGIC: u32 = 0x444d_4142;

/// Filesystem magic of tmpfs (`TMPFS_MAGIC`), where memfds and `/dev/shm` live.
pub const TMPFS_MAGIC: u32 = 0x0102_1994;

/// What makes two descriptors the same file: device and inode.
///
/// Descriptor numbers are reused at once; this pair is not while any descriptor of the file is
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    /// Device number of the filesystem (`st_dev`).
    pub dev: u64,
    /// Inode number on it (`st_ino`).
    pub ino: u64,
}

impl FileIdentity {
    /// The identity of the file behind `fd`: one `fstat`.
    ///
    /// # Errors
    /// What `fstat` answers, `EBADF` for one.
    pub fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let stat = fstat(fd)?;
        Ok(Self { dev: stat.st_dev, ino: stat.st_ino })
    }
}

/// The magic number of the filesystem that `fd` lives on, as `linux/magic.h` spells it.
///
/// # Errors
/// What `fstatfs` answers.
pub fn fs_magic(fd: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(magic_of(fstatfs(fd)?.f_type))
}

/// Cuts a kernel `f_type` to the 32 bits of a magic.
///
/// The field's width and sign differ by target, and widening a signed one copies bit 31 upward; the
/// low 32 bits are the magic on all of them.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "dropping the upper half is the purpose"
)]
#[expect(clippy::cast_sign_loss, reason = "the magic is a bit pattern")]
fn magic_of(f_type: rustix::fs::FsWord) -> u32 {
    f_type as u32
}

/// The length in bytes of a regular file; `None` for a directory, device or pipe.
///
/// # Errors
/// What `fstat` answers.
pub fn regular_len(fd: BorrowedFd<'_>) -> io::Result<Option<u64>> {
    let stat = fstat(fd)?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_regular.then(|| u64::try_from(stat.st_size).unwrap_or(0)))
}

/// The length in bytes of the file behind `fd`.
///
/// Kernels before 5.3 tell a dma-buf's length only through `lseek`; a dma-buf has no position, so
/// asking moves nothing.
///
/// # Errors
/// What `fstat` or `lseek` answer.
pub fn len(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let size = u64::try_from(fstat(fd)?.st_size).unwrap_or(0);
    if size == 0 && fs_magic(fd)? == DMA_BUF_MAGIC {
        return Ok(seek(fd, SeekFrom::End(0))?);
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::fd::AsFd};

    use super::*;
    use crate::sys::memfd;

    // S-CLS-05
    #[test]
    fn a_magic_with_its_top_bit_set_is_not_sign_extended() {
        assert_eq!(magic_of(0x9584_58f6_u32 as i32 as _), 0x9584_58f6);
        assert_eq!(magic_of(0x444d_4142), DMA_BUF_MAGIC);
    }

    #[test]
    fn a_file_tells_what_it_is() {
        let (pipe, _writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(fs_magic(pipe.as_fd()).unwrap(), 0x5049_5045);
        assert_eq!(regular_len(pipe.as_fd()).unwrap(), None);
        let null = File::open("/dev/null").unwrap();
        assert_eq!(regular_len(null.as_fd()).unwrap(), None);
        let file = memfd::create("t", 4096).unwrap();
        assert_eq!(regular_len(file.as_fd()).unwrap(), Some(4096));
    }

    #[test]
    fn a_dup_has_the_identity_of_its_original() {
        let a = memfd::create("a", 4096).unwrap();
        let b = memfd::create("b", 4096).unwrap();
        let dup = a.try_clone().unwrap();
        let of = |fd: BorrowedFd<'_>| FileIdentity::of(fd).unwrap();
        assert_eq!(of(a.as_fd()), of(dup.as_fd()));
        assert_ne!(of(a.as_fd()), of(b.as_fd()));
    }
}
