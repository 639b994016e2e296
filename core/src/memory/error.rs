//! Why memory cannot be made, imported or mapped.

use std::{fmt, io, path::PathBuf};

use thiserror::Error;

use super::PboError;
use crate::{access::CpuAccess, desc::DescError, memory_kind::TensorMemory};

/// One step of an allocation that did not serve, and why.
#[derive(Debug)]
pub struct Attempt {
    /// What was tried: `dma-heap`, `udmabuf`, `memfd`, `heap`.
    pub step: &'static str,
    /// The device node, where the step has one.
    pub path: Option<PathBuf>,
    /// What the system answered.
    pub error: io::Error,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.step)?;
        if let Some(path) = &self.path {
            write!(f, " {}", path.display())?;
        }
        write!(f, ": {}", self.error)
    }
}

/// No step of the policy gave memory.
#[derive(Debug)]
pub struct AllocError {
    /// Bytes asked for.
    pub len: usize,
    /// Every step that was tried, in order.
    pub attempts: Vec<Attempt>,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory of {} bytes could be had", self.len)?;
        for attempt in &self.attempts {
            write!(f, "; {attempt}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AllocError {}

/// An alignment that no address can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("memory cannot be aligned to {align} bytes; an alignment is a power of two")]
pub struct AlignmentError {
    /// What was asked for, in bytes.
    pub align: usize,
}

/// Why a descriptor is not imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A C descriptor is refused.
    #[error(transparent)]
    Desc(#[from] DescError),
    /// The file is on a filesystem that holds no importable memory.
    #[error(
        "the fd is on a filesystem with magic {0:#010x}; only dma-bufs and tmpfs files (memfd) can be imported"
    )]
    UnknownBufferType(u32),
    /// The file is on tmpfs but is a directory, a device node or the like.
    #[error("the fd is on tmpfs but is no regular file, so it has no bytes to import")]
    NotAFile,
    /// The file has no bytes.
    #[error("the file behind the fd is empty")]
    Empty,
    /// The file is longer than this process can address.
    #[error("the file behind the fd has {len} bytes, more than this process can address")]
    TooLong {
        /// Its length in bytes.
        len: u64,
    },
    /// A buffer has no bytes, or more than this process can address.
    #[error("a buffer of {len} bytes is no memory")]
    Length {
        /// Its length in bytes.
        len: usize,
    },
    /// A call on the descriptor failed.
    #[error("{call} on the fd: {error}")]
    Fd {
        /// Which call.
        call: &'static str,
        /// What it answered.
        error: io::Error,
    },
}

impl ImportError {
    pub(super) fn call(call: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::Fd { call, error }
    }
}

/// Why bytes cannot be mapped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The declaration does not allow it.
    #[error("the memory was declared for CPU access {declared}, a map asked for {requested}")]
    AccessDenied {
        /// What was declared.
        declared: CpuAccess,
        /// What the map asked for.
        requested: CpuAccess,
    },
    /// Another map is alive that excludes this one.
    #[error("the memory is mapped for {}; drop that guard first", if *.writer { "writing" } else { "reading" })]
    Busy {
        /// Whether the other map writes.
        writer: bool,
    },
    /// The file can be made shorter by its owner, which would kill a reader.
    #[error(
        "the shared memory file may still shrink; its owner must add F_SEAL_SHRINK before it can be mapped"
    )]
    CanShrink,
    /// There are fewer bytes now than when the memory was taken in.
    #[error("the memory has {have} bytes now, it had {need} when it was imported")]
    Shorter {
        /// Bytes it had.
        need: usize,
        /// Bytes it has.
        have: usize,
    },
    /// The kind is mapped by one guard at a time, so no address lasts beyond it.
    #[error("memory of kind {kind} is mapped by one guard at a time and cannot be pinned; map it")]
    NotPinnable {
        /// The kind of the memory.
        kind: TensorMemory,
    },
    /// A flat copy of another length than the tensor.
    #[error("a flat copy of the tensor has {need} bytes, the slice has {have}")]
    Length {
        /// Bytes of the tensor's elements.
        need: usize,
        /// Bytes of the slice.
        have: usize,
    },
    /// The bytes are not a slice of elements.
    #[error("the elements are not whole steps apart in one aligned memory; map the planes instead")]
    NotElements,
    /// A call failed.
    #[error("{call}: {error}")]
    Call {
        /// Which call.
        call: &'static str,
        /// What it answered.
        error: io::Error,
    },
    /// The OpenGL buffer is mapped; it has one map at a time, be it for reading.
    #[error("the OpenGL buffer is mapped already; drop that guard first")]
    PboMapped,
    /// The GL thread that owns the buffer, or its context, is gone.
    #[error("the GL side that owns the buffer is gone; its bytes are gone with it")]
    PboDisconnected,
    /// GL refuses.
    #[error("{call}: GL error {code:#06x}")]
    Pbo {
        /// Which call.
        call: &'static str,
        /// What `glGetError` answered.
        code: u32,
    },
}

impl From<PboError> for MapError {
    fn from(error: PboError) -> Self {
        match error {
            PboError::Disconnected => Self::PboDisconnected,
            PboError::Call { call, code } => Self::Pbo { call, code },
        }
    }
}
