//! The guard of one map over several memories.
//!
//! Small, because a guard is moved when it is handed on: beside the tensor it is for it holds no more
//! than where each memory's bytes begin.

use std::{mem::ManuallyDrop, ptr::NonNull, slice};

use arrayvec::ArrayVec;

use super::{
    MapError, Memory,
    guard::{User, begin},
};
use crate::access::CpuAccess;

/// The bytes of up to `N` memories, reachable until this is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct MemoryMaps<'a, const N: usize> {
    /// Those that are mapped.
    memories: &'a [Memory],
    /// Where the bytes of each begin, as many as the memory has.
    starts: [NonNull<u8>; N],
    access: CpuAccess,
}

// SAFETY: the guard is counted borrows of memories that are themselves `Send` and `Sync`; ending the
// access may happen on any thread.
unsafe impl<const N: usize> Send for MemoryMaps<'_, N> {}
// SAFETY: `&MemoryMaps` gives out only `&[u8]`.
unsafe impl<const N: usize> Sync for MemoryMaps<'_, N> {}

impl<'a, const N: usize> MemoryMaps<'a, N> {
    /// Maps them in order; when one refuses, those before it are let go.
    #[inline]
    pub(crate) fn new(
        memories: &'a ArrayVec<Memory, N>,
        access: CpuAccess,
    ) -> Result<Self, MapError> {
        let mut maps = Self { memories: &[], starts: [NonNull::dangling(); N], access };
        for (index, (memory, start)) in memories.iter().zip(&mut maps.starts).enumerate() {
            let (user, bytes) = begin(memory, access)?;
            *start = bytes.cast();
            maps.memories = memories.get(..=index).unwrap_or(memories);
            // `drop` makes it again.
            let _kept = ManuallyDrop::new(user);
        }
        Ok(maps)
    }

    /// The bytes of memory `index`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let (memory, start) = (self.memories.get(index)?, self.starts.get(index)?);
        // SAFETY: `begin` gave as many bytes as the memory has, mapped while it is borrowed; the
        // file behind it cannot shrink, and the user count excludes a writer of this memory; what maps
        // the same file elsewhere is excluded by the caller's declaration (see the module).
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), memory.len()) })
    }

    /// The bytes of memory `index` for writing; `None` also when the map was made for reading.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut [u8]> {
        if !self.access.writes() {
            return None;
        }
        let (memory, start) = (self.memories.get(index)?, self.starts.get(index)?);
        // SAFETY: as in `get`, mapped for writing, and the user count makes this the only map of this
        // memory.
        Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), memory.len()) })
    }

    /// The bytes of every memory for writing, in order; none when the map was made for reading.
    pub(crate) fn all_mut(&mut self) -> ArrayVec<&mut [u8], N> {
        let memories = if self.access.writes() { self.memories } else { &[] };
        let bytes = memories.iter().zip(&self.starts).map(|(memory, start)| {
            // SAFETY: as in `get_mut`; a memory that is there twice has two users, of which only one
            // can be a writer, so these are of different memories.
            unsafe { slice::from_raw_parts_mut(start.as_ptr(), memory.len()) }
        });
        bytes.collect()
    }
}

impl<const N: usize> Drop for MemoryMaps<'_, N> {
    #[inline]
    fn drop(&mut self) {
        for memory in self.memories {
            memory.backing().end(self.access);
            drop(User::again(memory, self.access));
        }
    }
}
