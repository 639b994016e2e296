//! Receiving.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use arrayvec::ArrayVec;

use super::{DEFAULT_LIMIT, HEAD_LEN, MAX_FDS, ReceiveError};
use crate::{sys::scm_rights, tensor::TensorDyn, transfer::import};

/// Bytes that are taken ahead of their arrival at most.
const CHUNK: usize = 1 << 20;

/// The receiving end of a Unix stream socket. A frame that came in part is kept until the rest comes.
#[derive(Debug)]
pub struct Receiver<S> {
    socket: S,
    limit: usize,
    /// What has come of the frame, its head included.
    pub(super) frame: Vec<u8>,
    /// Bytes of `frame` that have come; those after them are room.
    have: usize,
    fds: Vec<OwnedFd>,
    lost_fds: bool,
}

/// One frame, until the next is received.
#[derive(Debug)]
pub struct Message<'a> {
    /// The blob.
    pub blob: &'a [u8],
    /// The descriptors that came with it. The receiver closes them; keep a duplicate.
    pub fds: &'a [OwnedFd],
}

impl Message<'_> {
    /// The tensor, which keeps what it needs of the descriptors.
    ///
    /// # Errors
    /// As for [`import`].
    pub fn to_tensor(&self) -> Result<TensorDyn, ReceiveError> {
        let fds: ArrayVec<BorrowedFd<'_>, MAX_FDS> =
            self.fds.iter().take(MAX_FDS).map(AsFd::as_fd).collect();
        Ok(import(self.blob, &fds)?)
    }
}

impl<S: AsFd> Receiver<S> {
    /// Receives from `socket`, blobs of at most [`DEFAULT_LIMIT`] bytes.
    #[must_use]
    pub fn new(socket: S) -> Self {
        let (frame, fds) = (Vec::new(), Vec::new());
        Self { socket, limit: DEFAULT_LIMIT, frame, have: 0, fds, lost_fds: false }
    }

    /// The same, for blobs of at most `limit` bytes.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The next tensor; `None` when the peer closed after a whole frame.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive), and [`ReceiveError::Import`].
    pub fn receive_tensor(&mut self) -> Result<Option<TensorDyn>, ReceiveError> {
        self.receive()?.map(|message| message.to_tensor()).transpose()
    }

    /// The next frame; `None` when the peer closed after a whole one.
    ///
    /// # Errors
    /// See [`ReceiveError`], where each says whether the next frame can be received.
    pub fn receive(&mut self) -> Result<Option<Message<'_>>, ReceiveError> {
        if self.whole().is_some_and(|whole| self.have >= whole) {
            self.forget();
        }
        while self.have < HEAD_LEN {
            if !self.take(HEAD_LEN)? {
                return Ok(None);
            }
        }
        let (len, announced) = self.head();
        if len > self.limit {
            return Err(ReceiveError::TooLong { len, limit: self.limit });
        }
        let whole = HEAD_LEN.saturating_add(len);
        while self.have < whole {
            self.take(whole)?;
        }
        let came = self.fds.len();
        if self.lost_fds || came != announced {
            let lost = self.lost_fds;
            self.forget();
            return Err(if lost {
                ReceiveError::LostFds
            } else {
                ReceiveError::Fds { announced, came }
            });
        }
        let blob = self.frame.get(HEAD_LEN..whole).unwrap_or_default();
        Ok(Some(Message { blob, fds: &self.fds }))
    }

    /// Takes what has come of a frame that ends at `whole`; `false` when the peer closed before it
    /// began.
    fn take(&mut self, whole: usize) -> Result<bool, ReceiveError> {
        let room = whole.min(self.have.saturating_add(CHUNK));
        if self.frame.len() < room {
            self.frame.resize(room, 0);
        }
        let free = self.frame.get_mut(self.have..room).unwrap_or_default();
        let (have, before) = (self.have, self.fds.len());
        let received = match scm_rights::receive(self.socket.as_fd(), free, &mut self.fds) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(ReceiveError::TimedOut { have });
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(ReceiveError::Closed { have, need: whole });
            }
            Err(error) => return Err(ReceiveError::Call(error)),
        };
        self.lost_fds |= received.lost_fds;
        // More than any frame may have are not collected.
        self.fds.truncate(MAX_FDS.saturating_add(1).max(before));
        if received.lost_bytes {
            return Err(ReceiveError::NotAStream);
        }
        match (received.bytes, have) {
            (0, 0) => Ok(false),
            (0, _) => Err(ReceiveError::Closed { have, need: whole }),
            (bytes, _) => {
                self.have = have.saturating_add(bytes);
                Ok(true)
            }
        }
    }

    /// The bytes and descriptors that the frame's head announces.
    fn head(&self) -> (usize, usize) {
        let number = |at: usize| {
            let bytes = self.frame.get(at..).and_then(<[u8]>::first_chunk);
            let number = bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes));
            usize::try_from(number).unwrap_or(usize::MAX)
        };
        (number(0), number(HEAD_LEN / 2))
    }

    /// Bytes of the frame, once its head is here.
    fn whole(&self) -> Option<usize> {
        (self.have >= HEAD_LEN).then(|| HEAD_LEN.saturating_add(self.head().0))
    }

    fn forget(&mut self) {
        self.have = 0;
        self.lost_fds = false;
        self.fds.clear();
    }
}
