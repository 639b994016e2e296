//! Why a frame did not go, or did not come.

use std::io;

use thiserror::Error;

use super::MAX_FDS;
use crate::transfer::{ExportError, ImportError};

/// Why a frame was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The tensor cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// More descriptors than the kernel passes at once.
    #[error("{fds} fds; a message carries at most {MAX_FDS}")]
    TooManyFds {
        /// Descriptors given.
        fds: usize,
    },
    /// More bytes than a frame can announce.
    #[error("a blob of {len} bytes; a frame announces at most 4294967295")]
    TooLong {
        /// Bytes given.
        len: usize,
    },
    /// The peer took nothing in the socket's own time; the frame can be sent again.
    #[error("the peer took nothing within the socket's time-out")]
    TimedOut,
    /// The peer took a part of the frame. What follows would be read as the rest: close the socket.
    #[error("the peer took {sent} of {len} bytes within the socket's time-out; close the socket")]
    Incomplete {
        /// Bytes it took.
        sent: usize,
        /// Bytes of the frame.
        len: usize,
    },
    /// The peer is gone.
    #[error("the peer has closed the socket")]
    Closed,
    /// The call failed.
    #[error("sendmsg: {0}")]
    Call(io::Error),
}

/// Why a frame was not received.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The frame came, and is no tensor; the next one can be received.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// Nothing more came in the socket's own time. What came is kept for the next try.
    #[error("{have} bytes of the frame came within the socket's time-out")]
    TimedOut {
        /// Bytes of the frame that are here.
        have: usize,
    },
    /// The peer closed, or died, within a frame.
    #[error("the peer closed the socket after {have} bytes of a frame of {need}")]
    Closed {
        /// Bytes of the frame that came.
        have: usize,
        /// Bytes it has, as far as that is known.
        need: usize,
    },
    /// The frame is longer than the receiver takes. Its bytes are still to come: close the socket.
    #[error("a blob of {len} bytes is announced; the limit is {limit}. Close the socket")]
    TooLong {
        /// Bytes announced.
        len: usize,
        /// Bytes the receiver takes.
        limit: usize,
    },
    /// Other descriptors came than the frame announced. They are closed; the next frame can be
    /// received.
    #[error("{came} fds came with a frame that announced {announced}; they are closed")]
    Fds {
        /// Descriptors announced.
        announced: usize,
        /// Descriptors that came.
        came: usize,
    },
    /// The kernel had no room for descriptors in the table of this process. Those that came are
    /// closed; the next frame can be received.
    #[error("fds were lost: this process has too many open (RLIMIT_NOFILE)")]
    LostFds,
    /// The socket passes messages and cuts off what is not read at once.
    #[error("the socket cuts messages; use SOCK_STREAM")]
    NotAStream,
    /// The call failed.
    #[error("recvmsg: {0}")]
    Call(io::Error),
}
