//! A memory of the core as a `GstMemory`.

use std::{
    os::fd::{AsRawFd, IntoRawFd},
    sync::OnceLock,
};

use gst_allocators::{FdAllocator, FdMemoryFlags, prelude::*};
use tensor_core::{Contiguity, Memory, TensorMemory};

use super::{AllocatorError, TensorAllocator, flags::mark_contiguous};

/// The first `size` bytes of `memory`, as a `GstMemory` of its kind: a `GstDmaBufMemory`, or a
/// `GstFdMemory` where the descriptor is no dma-buf's.
///
/// The `GstMemory` owns a duplicate of the descriptor. It is mapped once, when first used.
pub(crate) fn wrap(memory: &Memory, size: usize) -> Result<gst::Memory, AllocatorError> {
    if memory.kind() == TensorMemory::DmaBuf {
        wrap_in(&TensorAllocator::get(), memory, size)
    } else {
        wrap_in(&shm_allocator(), memory, size)
    }
}

fn shm_allocator() -> FdAllocator {
    static INSTANCE: OnceLock<FdAllocator> = OnceLock::new();
    INSTANCE.get_or_init(FdAllocator::new).clone()
}

/// As [`wrap`], of the one allocator that this memory fits.
pub(super) fn wrap_in(
    allocator: &impl IsA<FdAllocator>,
    memory: &Memory,
    size: usize,
) -> Result<gst::Memory, AllocatorError> {
    let fd = memory.fd().ok_or(AllocatorError::NoFd)?;
    let fd = fd.try_clone_to_owned().map_err(AllocatorError::Fd)?;
    let flags = FdMemoryFlags::KEEP_MAPPED;
    // SAFETY: the descriptor is open and `memory.len()` is the real length of its file; the new
    // memory becomes its only owner, just below.
    let mut wrapped = unsafe { allocator.alloc_fd(fd.as_raw_fd(), memory.len(), flags) }?;
    // Closing it is now the memory's part.
    let _owned_by_memory = fd.into_raw_fd();
    if let Some(wrapped) = wrapped.get_mut() {
        wrapped.resize(..size);
        if memory.contiguity() == Contiguity::Contiguous {
            mark_contiguous(wrapped);
        }
    }
    Ok(wrapped)
}
