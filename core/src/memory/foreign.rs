//! Bytes that somebody else owns and lends. What else can write them is the lender's business: it
//! promises by lending that nobody does while they are mapped.

use std::{fmt, os::fd::BorrowedFd, ptr::NonNull, sync::Arc};

use super::{Backing, MapError};
use crate::{access::CpuAccess, memory_kind::TensorMemory};

/// A lender of bytes, kept alive as long as the memory.
pub type ForeignBytes = dyn AsRef<[u8]> + Send + Sync;

/// Lent bytes, for reading only.
pub(super) struct ForeignMemory {
    kind: TensorMemory,
    owner: Arc<ForeignBytes>,
    len: usize,
}

impl ForeignMemory {
    pub(super) fn new(kind: TensorMemory, owner: Arc<ForeignBytes>) -> Self {
        let len = (*owner).as_ref().len();
        Self { kind, owner, len }
    }
}

impl Backing for ForeignMemory {
    fn kind(&self) -> TensorMemory {
        self.kind
    }

    fn len(&self) -> usize {
        self.len
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn bytes(&self, _: CpuAccess) -> Result<NonNull<[u8]>, MapError> {
        // Asked each time, because a lender is free to answer with another slice.
        let bytes = (*self.owner).as_ref();
        let (need, have) = (self.len, bytes.len());
        bytes.get(..need).map(NonNull::from).ok_or(MapError::Shorter { need, have })
    }

    fn begin(&self, _: CpuAccess) -> Result<(), MapError> {
        Ok(())
    }

    fn end(&self, _: CpuAccess) {}
}

impl fmt::Debug for ForeignMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignMemory").field("kind", &self.kind).field("len", &self.len).finish()
    }
}
