//! Which of a buffer's memories a frame lies in.

use std::os::fd::BorrowedFd;

use gst_allocators::FdMemory;
use tensor_core::MAX_PLANES;

/// The distinct memories that planes lie in, as indices into a buffer's memories, in the order the
/// planes name them: an image layout numbers its memories so, a blob names these indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handles {
    handles: [i64; MAX_PLANES],
    len: usize,
}

impl Handles {
    /// The position of a memory, which is added if it is new. There is room for one each plane.
    pub(crate) fn note(&mut self, handle: i64) -> usize {
        if let Some(position) = self.as_slice().iter().position(|known| *known == handle) {
            return position;
        }
        let position = self.len;
        if let Some(place) = self.handles.get_mut(position) {
            *place = handle;
            self.len = self.len.saturating_add(1);
        }
        position
    }

    pub(crate) fn as_slice(&self) -> &[i64] {
        self.handles.get(..self.len).unwrap_or_default()
    }

    /// The memories themselves, `None` for an index past the buffer's last.
    pub(crate) fn memories<'a>(
        &self,
        buffer: &'a gst::BufferRef,
    ) -> impl Iterator<Item = Option<&'a gst::MemoryRef>> {
        self.as_slice().iter().map(|handle| memory(buffer, *handle))
    }
}

/// The memory a handle names, if the buffer has it.
pub(crate) fn memory(buffer: &gst::BufferRef, handle: i64) -> Option<&gst::MemoryRef> {
    let index = usize::try_from(handle).ok().filter(|index| *index < buffer.n_memory())?;
    Some(buffer.peek_memory(index))
}

/// The fd of a memory, if it has one. The memory keeps owning it.
pub(crate) fn fd(memory: &gst::MemoryRef) -> Option<BorrowedFd<'_>> {
    let fd = memory.downcast_memory_ref::<FdMemory>()?.fd();
    if fd < 0 {
        return None;
    }
    // SAFETY: not -1, and open as long as the memory lives, which the result borrows: GStreamer
    // closes it with the memory at the earliest.
    Some(unsafe { BorrowedFd::borrow_raw(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_noted_once_and_keeps_its_position() {
        let mut handles = Handles::default();
        assert_eq!([7, 3, 7, 3].map(|handle| handles.note(handle)), [0, 1, 0, 1]);
        assert_eq!(handles.as_slice(), [7, 3]);
    }
}
