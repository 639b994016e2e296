//! Memory of this process. Nobody else can write it.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    io,
    os::fd::BorrowedFd,
    ptr::NonNull,
};

use super::{Backing, MapError};
use crate::{access::CpuAccess, memory_kind::TensorMemory};

/// Where heap memory begins unless more is asked for: at a multiple of a cache line, and of any vector
/// register.
pub(super) const ALIGN: usize = 64;

/// Zeroed bytes from the global allocator.
#[derive(Debug)]
pub(super) struct HeapMemory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the allocation belongs to this value alone and any thread may free it.
unsafe impl Send for HeapMemory {}
// SAFETY: `&HeapMemory` gives out only the address; who may use it is counted by `Memory`.
unsafe impl Sync for HeapMemory {}

impl HeapMemory {
    /// `len` zeroed bytes at a multiple of `align`, a power of two; `len` must not be zero.
    pub(super) fn new(len: usize, align: usize) -> io::Result<Self> {
        let layout = Layout::from_size_align(len, align)
            .ok()
            .filter(|layout| layout.size() > 0)
            .ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, layout })
    }
}

impl Backing for HeapMemory {
    fn kind(&self) -> TensorMemory {
        TensorMemory::Mem
    }

    fn len(&self) -> usize {
        self.layout.size()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn bytes(&self, _: CpuAccess) -> Result<NonNull<[u8]>, MapError> {
        Ok(NonNull::slice_from_raw_parts(self.start, self.layout.size()))
    }

    fn begin(&self, _: CpuAccess) -> Result<(), MapError> {
        Ok(())
    }

    fn end(&self, _: CpuAccess) {}
}

impl Drop for HeapMemory {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this address with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
