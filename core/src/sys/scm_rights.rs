//! Bytes and descriptors over a Unix socket: `sendmsg(2)`, `recvmsg(2)` and `SCM_RIGHTS` of
//! `unix(7)`.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    cmsg_space,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// Descriptors that one message carries at most (`SCM_MAX_FD` of the kernel).
pub const MAX_FDS: usize = 253;

/// What one call received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes; 0 when the peer has closed.
    pub bytes: usize,
    /// The kernel dropped descriptors for want of room in the table of this process.
    pub lost_fds: bool,
    /// The kernel dropped bytes, which it does for sockets of messages only.
    pub lost_bytes: bool,
}

/// Sends bytes, and descriptors with the first of them, and answers how many bytes were taken.
///
/// # Errors
/// What `sendmsg` answers: `EPIPE` (and no signal) when the peer has closed, `EAGAIN` when the
/// socket's own time is up. More than [`MAX_FDS`] descriptors are `EINVAL`.
pub fn send(
    socket: BorrowedFd<'_>,
    bytes: &[IoSlice<'_>],
    fds: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    loop {
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match sendmsg(socket, bytes, &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            answer => return Ok(answer?),
        }
    }
}

/// Receives bytes into `buffer`, and adds the descriptors that come with them to `fds`. Those are
/// closed on `exec`.
///
/// # Errors
/// What `recvmsg` answers: `EAGAIN` when the socket's own time is up, `ECONNRESET`.
pub fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<Received> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let parts = &mut [IoSliceMut::new(buffer)];
        match recvmsg(socket, parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            answer => break answer?,
        }
    };
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            fds.extend(rights);
        }
    }
    Ok(Received {
        bytes: message.bytes,
        lost_fds: message.flags.contains(ReturnFlags::CTRUNC),
        lost_bytes: message.flags.contains(ReturnFlags::TRUNC),
    })
}
