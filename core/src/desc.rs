//! The tensor descriptor: a C struct for a tensor in one memory of this process.
//!
//! It is for code that is linked apart but runs in the same process, such as two libraries; what goes
//! further, or lies in several memories, is a [`blob`](crate::blob). The layout is that of ABI
//! version 2 of the published crate. It borrows: the handle in it stays the producer's, and is valid
//! while the tensor lives.

#![forbid(unsafe_code)]

use std::{mem::offset_of, ptr};

use thiserror::Error;

use crate::{access::CpuAccess, dtype::DType, memory_kind::TensorMemory, shape::MAX_RANK};

/// The version of the struct; a descriptor of another is refused before any other field is read.
pub const VERSION: u32 = 2;

/// `sync` holds a fence that the consumer owns.
pub const SYNC_PRESENT: u32 = 1;
/// The two bits above say what the CPU may do; without it they say nothing.
pub const CPU_ACCESS_DECLARED: u32 = 1 << 1;
/// The CPU may read.
pub const CPU_READ: u32 = 1 << 2;
/// The CPU may write.
pub const CPU_WRITE: u32 = 1 << 3;
/// The tensor is a part of another, so it is never written to without being read.
pub const VIEW: u32 = 1 << 4;

/// A tensor as C sees it. Numbers are in the machine's own byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TensorDesc {
    /// [`VERSION`].
    pub version: u32,
    /// A [`TensorMemory`] code.
    pub kind: u32,
    /// The file descriptor of a kind that has one, else -1.
    pub handle: i64,
    /// The first byte of host memory, else null.
    pub ptr: *const u8,
    /// Axes in use.
    pub ndim: u32,
    /// A [`DType`] code.
    pub dtype: u32,
    /// Dimensions, outermost first: of an image, those of its allocation.
    pub shape: [u64; MAX_RANK],
    /// Steps in bytes.
    pub strides: [i64; MAX_RANK],
    /// The V4L2 code of the format, 0 without one.
    pub fourcc: u32,
    /// The wire code of the format, 0 without one.
    pub format: u32,
    /// [`Colorimetry::pack`](crate::Colorimetry::pack).
    pub colorimetry: u32,
    /// The flags of this module.
    pub flags: u32,
    /// Bytes of the memory.
    pub capacity: u64,
    /// What [`SYNC_PRESENT`] says.
    pub sync: u64,
}

const _: () = assert!(size_of::<TensorDesc>() == 192 || size_of::<usize>() != 8);
const _: () = assert!(offset_of!(TensorDesc, handle) == 8);
const _: () = assert!(offset_of!(TensorDesc, ptr) == 16);
const _: () = assert!(offset_of!(TensorDesc, shape) == 32 || size_of::<usize>() != 8);
const _: () = assert!(offset_of!(TensorDesc, fourcc) == 160 || size_of::<usize>() != 8);
const _: () = assert!(offset_of!(TensorDesc, capacity) == 176 || size_of::<usize>() != 8);

/// Why a descriptor is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DescError {
    /// Another version of the struct.
    #[error("a descriptor of version {found}; this code knows version {VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// A code that is none of this version's.
    #[error("{field} {code} is not known")]
    Code {
        /// Which field.
        field: &'static str,
        /// Its value.
        code: u32,
    },
    /// A field without which the descriptor names no memory.
    #[error("{field} names no memory")]
    Missing {
        /// Which field.
        field: &'static str,
    },
    /// More axes than the struct has room for.
    #[error("{ndim} axes; a descriptor has at most {MAX_RANK}")]
    Rank {
        /// Axes said to be in use.
        ndim: u32,
    },
}

impl TensorDesc {
    /// A descriptor that says nothing but its version.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            version: VERSION,
            kind: 0,
            handle: -1,
            ptr: ptr::null(),
            ndim: 0,
            dtype: 0,
            shape: [0; MAX_RANK],
            strides: [0; MAX_RANK],
            fourcc: 0,
            format: 0,
            colorimetry: 0,
            flags: 0,
            capacity: 0,
            sync: 0,
        }
    }

    /// Refuses what this version cannot mean; nothing is followed.
    ///
    /// # Errors
    /// [`DescError`], the version first.
    pub fn check(&self) -> Result<(), DescError> {
        if self.version != VERSION {
            return Err(DescError::Version { found: self.version });
        }
        let code = |field, code| DescError::Code { field, code };
        TensorMemory::from_code(self.kind).ok_or(code("kind", self.kind))?;
        DType::from_code(self.dtype).ok_or(code("dtype", self.dtype))?;
        match usize::try_from(self.ndim) {
            Ok(ndim) if ndim <= MAX_RANK => Ok(()),
            _ => Err(DescError::Rank { ndim: self.ndim }),
        }
    }

    /// What the flags declare for the CPU; everything when they declare nothing.
    #[must_use]
    pub const fn access(&self) -> CpuAccess {
        if self.flags & CPU_ACCESS_DECLARED == 0 {
            return CpuAccess::ReadWrite;
        }
        CpuAccess::from_bits(self.flags & CPU_READ != 0, self.flags & CPU_WRITE != 0)
    }

    /// Narrows what the CPU may do to what `access` allows too; it never widens.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, TensorDesc};
    /// let mut desc = TensorDesc::empty();
    /// desc.restrict_cpu_access(CpuAccess::Read);
    /// desc.restrict_cpu_access(CpuAccess::ReadWrite);
    /// assert_eq!(desc.access(), CpuAccess::Read);
    /// ```
    pub fn restrict_cpu_access(&mut self, access: CpuAccess) {
        let is_view = self.flags & VIEW != 0;
        let others = self.flags & !(CPU_ACCESS_DECLARED | CPU_READ | CPU_WRITE);
        self.flags = others | Self::flags_of(self.access().intersection(access), is_view);
    }

    /// The flags that declare `access`, for a view or a whole tensor.
    #[must_use]
    pub const fn flags_of(access: CpuAccess, is_view: bool) -> u32 {
        let read = if access.reads() { CPU_READ } else { 0 };
        let write = if access.writes() { CPU_WRITE } else { 0 };
        let view = if is_view { VIEW } else { 0 };
        CPU_ACCESS_DECLARED | read | write | view
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PRT-02
    #[test]
    fn the_version_is_judged_before_anything_else() {
        let garbage =
            TensorDesc { version: 1, kind: 99, dtype: 99, ndim: 99, ..TensorDesc::empty() };
        assert_eq!(garbage.check(), Err(DescError::Version { found: 1 }));
    }

    // S-TYPE-15
    #[test]
    fn what_has_no_meaning_is_refused() {
        let empty = TensorDesc::empty();
        assert_eq!(empty.check(), Ok(()));
        let rank = TensorDesc { ndim: 9, ..empty };
        assert_eq!(rank.check(), Err(DescError::Rank { ndim: 9 }));
        let dtype = TensorDesc { dtype: 11, ..empty };
        assert_eq!(dtype.check(), Err(DescError::Code { field: "dtype", code: 11 }));
        let kind = TensorDesc { kind: 7, ..empty };
        assert_eq!(kind.check(), Err(DescError::Code { field: "kind", code: 7 }));
    }

    // S-CPU-07
    #[test]
    fn the_declaration_is_in_the_flags() {
        for access in CpuAccess::ALL {
            for is_view in [false, true] {
                let flags = TensorDesc::flags_of(access, is_view);
                let desc = TensorDesc { flags, ..TensorDesc::empty() };
                assert_eq!(desc.access(), access);
                assert_eq!(flags & VIEW != 0, is_view);
            }
        }
        assert_eq!(TensorDesc::empty().access(), CpuAccess::ReadWrite);
    }
}
