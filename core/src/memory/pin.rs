//! A mapping held open, with CPU access begun and ended by hand.

use std::{fmt, ops::Range, ptr::NonNull};

use super::{MapError, Memory, MemoryMap};
use crate::access::CpuAccess;

/// The CPU mapping of a memory, or of a part of it, held open until this is dropped.
///
/// The address is the same as long as the pin lives, and what maps meanwhile maps nothing anew. A pin
/// begins no CPU access, so it stands in the way of no map and no device; the bytes mean something
/// only between [`begin_cpu_access`](Self::begin_cpu_access) and the end of its guard.
///
/// ```
/// use tensor_core::{CpuAccess, Memory};
/// let pin = Memory::shm(4096)?.pin_host(CpuAccess::ReadWrite)?;
/// pin.begin_cpu_access(CpuAccess::Write)?.as_mut_slice().unwrap().fill(7);
/// let bytes = pin.begin_cpu_access(CpuAccess::Read)?;
/// assert_eq!(bytes.as_ptr(), pin.as_ptr().as_ptr());
/// assert_eq!(bytes[4095], 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the address is valid only while the pin lives"]
pub struct HostPin {
    bytes: NonNull<[u8]>,
    part: Range<usize>,
    memory: Memory,
    access: CpuAccess,
}

// SAFETY: the pin owns a share of the memory, which is itself `Send`, and the address in it is the
// same on every thread.
unsafe impl Send for HostPin {}
// SAFETY: `&HostPin` gives out an address, and bytes through maps that are counted.
unsafe impl Sync for HostPin {}

impl Memory {
    /// Holds the CPU mapping of the whole memory open for `access`.
    ///
    /// Of lent bytes the address is as lasting as their lender makes it.
    ///
    /// # Errors
    /// [`MapError::AccessDenied`] when the declaration does not cover `access`,
    /// [`MapError::NotPinnable`] for a kind that is mapped by one guard at a time; else as for
    /// [`map`](Self::map).
    pub fn pin_host(&self, access: CpuAccess) -> Result<HostPin, MapError> {
        self.pin_part(0..self.len(), access)
    }

    /// Holds the CPU mapping of the bytes `part` open for `access`.
    ///
    /// # Errors
    /// [`MapError::Shorter`] when `part` ends past the memory; else as for
    /// [`pin_host`](Self::pin_host).
    pub(crate) fn pin_part(
        &self,
        part: Range<usize>,
        access: CpuAccess,
    ) -> Result<HostPin, MapError> {
        check(self.access(), access)?;
        if !self.backing().is_shared() {
            return Err(MapError::NotPinnable { kind: self.kind() });
        }
        let whole = self.backing().bytes(access)?;
        let past = MapError::Shorter { need: part.end, have: whole.len() };
        let bytes = cut(whole, &part).ok_or(past)?;
        Ok(HostPin { bytes, part, memory: self.clone(), access })
    }
}

impl HostPin {
    /// The first byte. Reading or writing through it is sound between
    /// [`begin_cpu_access`](Self::begin_cpu_access) in that direction and the end of its guard.
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.bytes.cast()
    }

    /// Bytes from there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none: the pin of a tensor without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What the mapping is held open for.
    #[must_use]
    pub fn access(&self) -> CpuAccess {
        self.access
    }

    /// Makes the device's writes visible and reaches the bytes, until the guard ends the access.
    ///
    /// For a dma-buf that is one sync call now and one when the guard is dropped, also by a panic. As
    /// for a map, a writer is alone with the memory.
    ///
    /// # Errors
    /// [`MapError::AccessDenied`] when the pin is not for `access`; else as for
    /// [`map`](Memory::map).
    pub fn begin_cpu_access(&self, access: CpuAccess) -> Result<MemoryMap<'_>, MapError> {
        check(self.access, access)?;
        let mut map = self.memory.map(access)?;
        map.narrow(&self.part)?;
        Ok(map)
    }
}

impl fmt::Debug for HostPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPin")
            .field("memory", &self.memory)
            .field("part", &self.part)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

fn check(declared: CpuAccess, requested: CpuAccess) -> Result<(), MapError> {
    if requested == CpuAccess::None || !declared.covers(requested) {
        return Err(MapError::AccessDenied { declared, requested });
    }
    Ok(())
}

/// The bytes `part` of `whole`; `None` when they are not all in it.
pub(super) fn cut(whole: NonNull<[u8]>, part: &Range<usize>) -> Option<NonNull<[u8]>> {
    let len = part.end.checked_sub(part.start)?;
    if part.end > whole.len() {
        return None;
    }
    // SAFETY: `part` begins at or before its end, which is within `whole`, and `whole` is one object.
    let start = unsafe { whole.cast::<u8>().add(part.start) };
    Some(NonNull::slice_from_raw_parts(start, len))
}

#[cfg(test)]
mod tests;
