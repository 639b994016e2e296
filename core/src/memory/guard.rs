//! The guard of a map: begins CPU access when made, ends it when dropped.

use std::{
    fmt,
    ops::{Deref, Range},
    ptr::NonNull,
    sync::atomic::Ordering,
};

use super::{MapError, Memory, pin::cut};
use crate::access::CpuAccess;

/// Bytes of a [`Memory`], reachable until this is dropped, also by a panic.
#[must_use = "the bytes are reachable only while the guard lives"]
pub struct MemoryMap<'a> {
    bytes: NonNull<[u8]>,
    /// Given up after the access has ended: fields drop after the guard's own `drop`.
    user: User<'a>,
}

// SAFETY: the guard is a counted borrow of memory that is itself `Send` and `Sync`; ending the
// access may happen on any thread.
unsafe impl Send for MemoryMap<'_> {}
// SAFETY: `&MemoryMap` gives out only `&[u8]`.
unsafe impl Sync for MemoryMap<'_> {}

impl<'a> MemoryMap<'a> {
    pub(super) fn new(memory: &'a Memory, access: CpuAccess) -> Result<Self, MapError> {
        let (user, bytes) = begin(memory, access)?;
        Ok(Self { bytes, user })
    }

    /// Shows only the bytes `part` of what is shown now.
    ///
    /// # Errors
    /// [`MapError::Shorter`] when `part` ends past them; the map then shows what it did.
    pub(super) fn narrow(&mut self, part: &Range<usize>) -> Result<(), MapError> {
        let (need, have) = (part.end, self.bytes.len());
        self.bytes = cut(self.bytes, part).ok_or(MapError::Shorter { need, have })?;
        Ok(())
    }

    /// The bytes for writing; `None` when the map was made for reading.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        if !self.user.access.writes() {
            return None;
        }
        // SAFETY: the range is mapped for writing while the memory is borrowed, the file behind it
        // cannot shrink, and the user count makes this the only map of this memory; what maps
        // the same file elsewhere is excluded by the caller's declaration (see the module).
        Some(unsafe { self.bytes.as_mut() })
    }
}

impl Deref for MemoryMap<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range is mapped while the memory is borrowed, the file behind it cannot
        // shrink, and the user count excludes a writer of this memory; what maps the same file
        // elsewhere is excluded by the caller's declaration (see the module).
        unsafe { self.bytes.as_ref() }
    }
}

impl Drop for MemoryMap<'_> {
    fn drop(&mut self) {
        self.user.memory.backing().end(self.user.access);
    }
}

/// Begins CPU access to all of `memory`; who ends it tells the backing before the user is dropped.
#[inline]
pub(super) fn begin(
    memory: &Memory,
    access: CpuAccess,
) -> Result<(User<'_>, NonNull<[u8]>), MapError> {
    let declared = memory.access();
    if access == CpuAccess::None || !declared.covers(access) {
        return Err(MapError::AccessDenied { declared, requested: access });
    }
    let user = User::enter(memory, access)?;
    let bytes = memory.backing().bytes(access)?;
    memory.backing().begin(access)?;
    Ok((user, bytes))
}

impl fmt::Debug for MemoryMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryMap")
            .field("kind", &self.user.memory.kind())
            .field("len", &self.bytes.len())
            .field("access", &self.user.access)
            .finish()
    }
}

/// A place in the count of a memory's users, given up on drop.
#[derive(Debug)]
pub(super) struct User<'a> {
    memory: &'a Memory,
    access: CpuAccess,
}

impl<'a> User<'a> {
    #[inline]
    fn enter(memory: &'a Memory, access: CpuAccess) -> Result<Self, MapError> {
        let alone = is_alone(memory, access);
        let take = |users: isize| match (alone, users) {
            (true, 0) => Some(-1),
            (false, 0..isize::MAX) => users.checked_add(1),
            (true | false, _) => None,
        };
        match memory.0.users.fetch_update(Ordering::Acquire, Ordering::Relaxed, take) {
            Ok(_) => Ok(Self { memory, access }),
            Err(users) => Err(memory.backing().busy(users < 0)),
        }
    }

    /// The place that [`begin`] took for `access` and whose guard was forgotten.
    pub(super) fn again(memory: &'a Memory, access: CpuAccess) -> Self {
        Self { memory, access }
    }

    /// The memory's only user, for a device that the CPU may not get in the way of.
    pub(super) fn enter_alone(memory: &'a Memory) -> Result<Self, MapError> {
        Self::enter(memory, CpuAccess::ReadWrite)
    }
}

impl Drop for User<'_> {
    #[inline]
    fn drop(&mut self) {
        let step = if is_alone(self.memory, self.access) { -1 } else { 1 };
        self.memory.0.users.fetch_sub(step, Ordering::Release);
    }
}

/// Whether who maps `memory` for `access` must be its only user, and not one of many readers.
fn is_alone(memory: &Memory, access: CpuAccess) -> bool {
    access.writes() || !memory.backing().is_shared()
}
