//! Sending.

use std::{
    io::{self, IoSlice},
    os::fd::{AsFd, BorrowedFd},
};

use super::{HEAD_LEN, MAX_FDS, SendError};
use crate::{
    sys::scm_rights,
    tensor::TensorDyn,
    transfer::{TransportMode, export},
};

/// Sends a tensor by reference: the peer sees the same bytes.
///
/// # Errors
/// As for [`export`] and [`send`].
pub fn send_tensor(socket: impl AsFd, tensor: &TensorDyn) -> Result<(), SendError> {
    let (blob, fds) = export(tensor, TransportMode::Reference)?;
    send(socket, &blob, &fds)
}

/// Sends a blob and the descriptors that go with it, as one frame.
///
/// The descriptors stay the caller's. No signal is raised when the peer is gone.
///
/// # Errors
/// See [`SendError`]; after [`SendError::Incomplete`] the socket can only be closed.
pub fn send(socket: impl AsFd, blob: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), SendError> {
    let socket = socket.as_fd();
    if fds.len() > MAX_FDS {
        return Err(SendError::TooManyFds { fds: fds.len() });
    }
    let (Ok(len), Ok(count)) = (u32::try_from(blob.len()), u32::try_from(fds.len())) else {
        return Err(SendError::TooLong { len: blob.len() });
    };
    let mut head = [0; HEAD_LEN];
    let (len_bytes, count_bytes) = head.split_at_mut(HEAD_LEN / 2);
    len_bytes.copy_from_slice(&len.to_le_bytes());
    count_bytes.copy_from_slice(&count.to_le_bytes());

    let whole = HEAD_LEN.saturating_add(blob.len());
    let mut sent = 0_usize;
    while sent < whole {
        let head_left = head.get(sent..).unwrap_or_default();
        let blob_left = blob.get(sent.saturating_sub(HEAD_LEN)..).unwrap_or_default();
        let bytes = [IoSlice::new(head_left), IoSlice::new(blob_left)];
        let with = if sent == 0 { fds } else { &[] };
        match scm_rights::send(socket, &bytes, with) {
            Ok(taken) => sent = sent.saturating_add(taken),
            Err(error) => return Err(refused(error, sent, whole)),
        }
    }
    Ok(())
}

fn refused(error: io::Error, sent: usize, len: usize) -> SendError {
    let kind = error.kind();
    if kind == io::ErrorKind::WouldBlock {
        return if sent == 0 { SendError::TimedOut } else { SendError::Incomplete { sent, len } };
    }
    let is_gone = matches!(kind, io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
    if is_gone { SendError::Closed } else { SendError::Call(error) }
}
