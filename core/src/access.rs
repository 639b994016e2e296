//! What the CPU may do with a tensor's bytes.

#![forbid(unsafe_code)]

use std::{fmt, str::FromStr};

use crate::vocabulary::{UnknownWord, serde_by_name};

/// The CPU access a tensor was declared with, or that a map asks for.
///
/// These four are all there can be. Devices are not bound by it: a camera may always write, an
/// accelerator may always read.
///
/// ```
/// use tensor_core::CpuAccess;
/// assert!(CpuAccess::ReadWrite.covers(CpuAccess::Read));
/// assert!(!CpuAccess::Read.covers(CpuAccess::Write));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CpuAccess {
    /// The CPU never touches the bytes.
    None = 0,
    /// The CPU reads.
    Read = 1,
    /// The CPU writes and never reads.
    Write = 2,
    /// The CPU reads and writes.
    #[default]
    ReadWrite = 3,
}

impl CpuAccess {
    /// Every declaration, in code order.
    pub const ALL: [Self; 4] = [Self::None, Self::Read, Self::Write, Self::ReadWrite];

    /// The wire code: bit 0 reads, bit 1 writes.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "the discriminant of a repr(u32) enum is its code")]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The declaration with this wire code.
    ///
    /// ```
    /// use tensor_core::CpuAccess;
    /// assert_eq!(CpuAccess::from_code(3), Some(CpuAccess::ReadWrite));
    /// assert_eq!(CpuAccess::from_code(4), None);
    /// ```
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::None),
            1 => Some(Self::Read),
            2 => Some(Self::Write),
            3 => Some(Self::ReadWrite),
            _ => None,
        }
    }

    /// The wire name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "readwrite",
        }
    }

    /// The declaration with this wire name; case counts.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|access| access.name() == name)
    }

    /// The declaration with these read and write bits.
    #[must_use]
    pub const fn from_bits(read: bool, write: bool) -> Self {
        match (read, write) {
            (false, false) => Self::None,
            (true, false) => Self::Read,
            (false, true) => Self::Write,
            (true, true) => Self::ReadWrite,
        }
    }

    /// Whether the CPU may read.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether the CPU may write.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// Whether everything `asked` for is allowed by `self`.
    #[must_use]
    pub const fn covers(self, asked: Self) -> bool {
        (self.reads() || !asked.reads()) && (self.writes() || !asked.writes())
    }

    /// What both allow.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self::from_bits(self.reads() && other.reads(), self.writes() && other.writes())
    }

    /// What either allows.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self::from_bits(self.reads() || other.reads(), self.writes() || other.writes())
    }
}

impl fmt::Display for CpuAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CpuAccess {
    type Err = UnknownWord;

    fn from_str(name: &str) -> Result<Self, UnknownWord> {
        Self::from_name(name).ok_or_else(|| UnknownWord {
            vocabulary: "CpuAccess",
            given: name.to_owned(),
            known: &["none", "read", "write", "readwrite"],
        })
    }
}

serde_by_name!(CpuAccess);

#[cfg(test)]
mod tests {
    use super::*;

    // S-CPU-01
    #[test]
    fn codes_and_default_are_the_published_ones() {
        let codes: Vec<_> = CpuAccess::ALL.iter().map(|access| access.code()).collect();
        assert_eq!(codes, [0, 1, 2, 3]);
        assert_eq!(CpuAccess::default(), CpuAccess::ReadWrite);
        for access in CpuAccess::ALL {
            assert_eq!(CpuAccess::from_code(access.code()), Some(access));
            assert_eq!(access.name().parse(), Ok(access));
        }
        assert_eq!(CpuAccess::from_code(4), None);
        let known = "rw".parse::<CpuAccess>().unwrap_err().known;
        assert_eq!(known, CpuAccess::ALL.map(CpuAccess::name));
    }

    #[test]
    fn the_algebra_is_that_of_two_bits() {
        for a in CpuAccess::ALL {
            for b in CpuAccess::ALL {
                assert_eq!(a.covers(b), a.code() & b.code() == b.code(), "{a} covers {b}");
                assert_eq!(a.union(b).code(), a.code() | b.code());
                assert_eq!(a.intersection(b).code(), a.code() & b.code());
            }
        }
    }
}
