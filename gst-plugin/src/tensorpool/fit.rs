//! Whether a frame may pass as it is.

use gst_allocators::{DmaBufMemory, FdMemory};
use thiserror::Error;

use super::{memory::Memory, settings::Terms};
use crate::{handles, tensorimport::frame::Placed};

/// Why a frame has to be copied.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum Misfit {
    #[error("the frame is in {memories} memories, not in one")]
    Memories { memories: usize },
    #[error("plane {plane} runs from memory {memory} into the next")]
    Split { plane: usize, memory: usize },
    #[error("its memory has no file descriptor")]
    NoFd,
    #[error("its memory is no dma-buf")]
    NotDmaBuf,
    #[error("its memory is a dma-buf, shared memory was asked for")]
    NotShm,
    #[error("its memory is not said to be physically contiguous")]
    Scattered,
    #[error("its memory begins at byte {offset} of its file, not at 0")]
    Offset { offset: usize },
    #[error("plane {plane} has a stride of {stride} bytes, no multiple of {align}")]
    Stride { plane: usize, stride: usize, align: usize },
    #[error("plane {plane} begins at byte {offset}, no multiple of {align}")]
    Plane { plane: usize, offset: usize, align: usize },
}

/// Checks a frame, whose planes are where `placed` says, against what frames are to be like. No
/// syscall, nothing allocated.
pub(super) fn check(frame: &gst::BufferRef, placed: &Placed, terms: &Terms) -> Result<(), Misfit> {
    let memories = frame.n_memory();
    let only = placed.handles.as_slice().first().and_then(|first| handles::memory(frame, *first));
    let Some(memory) = only.filter(|_| memories == 1) else {
        return Err(Misfit::Memories { memories });
    };
    if !memory.is_memory_type::<FdMemory>() {
        return Err(Misfit::NoFd);
    }
    let is_dma_buf = memory.is_memory_type::<DmaBufMemory>();
    match terms.memory {
        Memory::DmaBuf if !is_dma_buf => return Err(Misfit::NotDmaBuf),
        Memory::Shm if is_dma_buf => return Err(Misfit::NotShm),
        Memory::Auto | Memory::DmaBuf | Memory::Shm => (),
    }
    if terms.contiguous && !memory.flags().contains(gst::MemoryFlags::PHYSICALLY_CONTIGUOUS) {
        return Err(Misfit::Scattered);
    }
    if memory.offset() != 0 {
        return Err(Misfit::Offset { offset: memory.offset() });
    }
    check_planes(placed, terms.request.align.bytes())
}

fn check_planes(placed: &Placed, align: usize) -> Result<(), Misfit> {
    for (plane, place) in placed.layout.planes().iter().enumerate() {
        let (stride, offset) = (place.stride, place.offset);
        if !stride.is_multiple_of(align) {
            return Err(Misfit::Stride { plane, stride, align });
        }
        if !offset.is_multiple_of(align) {
            return Err(Misfit::Plane { plane, offset, align });
        }
    }
    Ok(())
}
