//! Fences as files: waiting and asking (`linux/sync_file.h`, `poll(2)`).

use std::{
    io,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    ioctl::{Opcode, Updater, ioctl, opcode},
};

/// `struct sync_file_info`.
#[repr(C)]
struct SyncFileInfo {
    name: [u8; 32],
    status: i32,
    flags: u32,
    num_fences: u32,
    pad: u32,
    sync_fence_info: u64,
}

const _: () = assert!(size_of::<SyncFileInfo>() == 56);

/// `SYNC_IOC_FILE_INFO`, `_IOWR('>', 4, struct sync_file_info)`.
const FILE_INFO: Opcode = opcode::read_write::<SyncFileInfo>(b'>', 4);

/// How far a fence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The work before it goes on.
    Active,
    /// The work before it is done.
    Signaled,
    /// The work before it failed, with this errno.
    Failed(Errno),
}

/// How far the fence behind `fd` is.
///
/// # Errors
/// What the ioctl answers; `ENOTTY` says the file is no sync file.
pub fn status(fd: BorrowedFd<'_>) -> io::Result<Status> {
    let mut info = SyncFileInfo {
        name: [0; 32],
        status: 0,
        flags: 0,
        num_fences: 0,
        pad: 0,
        sync_fence_info: 0,
    };
    // SAFETY: the opcode is the one `linux/sync_file.h` gives for this structure, in which no room
    // for single fences is offered.
    let call = unsafe { Updater::<FILE_INFO, SyncFileInfo>::new(&mut info) };
    // SAFETY: the kernel writes the structure and keeps nothing of it.
    unsafe { ioctl(fd, call) }?;
    Ok(match info.status {
        0 => Status::Active,
        1.. => Status::Signaled,
        error => Status::Failed(Errno::from_raw_os_error(error.saturating_neg())),
    })
}

/// Waits until `fd` is readable: whether it became so before `timeout` passed.
///
/// An interrupted wait goes on for the time that remains.
///
/// # Errors
/// What `poll` answers, other than `EINTR`.
pub fn wait(fd: BorrowedFd<'_>, timeout: Duration) -> io::Result<bool> {
    // A time past the end of the clock is no limit.
    let deadline = Instant::now().checked_add(timeout);
    loop {
        let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limit = remaining.and_then(|remaining| Timespec::try_from(remaining).ok());
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], limit.as_ref()) {
            Err(Errno::INTR) => {}
            answer => return Ok(answer? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_opcode_is_the_kernels() {
        assert_eq!(u64::from(FILE_INFO), 0xC038_3E04);
    }

    #[test]
    fn a_pipe_is_no_sync_file() {
        let (pipe, _writer) = rustix::pipe::pipe().unwrap();
        let error = status(pipe.as_fd()).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::NOTTY));
    }

    #[test]
    fn a_wait_ends_with_its_time_or_with_what_it_waits_for() {
        let (pipe, writer) = rustix::pipe::pipe().unwrap();
        let begun = Instant::now();
        assert!(!wait(pipe.as_fd(), Duration::from_millis(30)).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(30));
        assert!(!wait(pipe.as_fd(), Duration::ZERO).unwrap());
        rustix::io::write(&writer, b"x").unwrap();
        assert!(wait(pipe.as_fd(), Duration::MAX).unwrap());
    }
}
