//! Storage codes: what kind of memory holds a tensor's bytes.

use std::fmt;

/// The kind of memory behind a tensor.
///
/// Every variant exists on every platform: a recording made elsewhere can be named here even if it
/// cannot be opened. The discriminants are the wire codes of the tensor blob and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum TensorMemory {
    /// Plain memory of this process.
    Mem = 0,
    /// Shared memory: a memfd or a file on tmpfs.
    Shm = 1,
    /// A Linux dma-buf.
    DmaBuf = 2,
    /// An Apple `IOSurface`.
    IoSurface = 3,
    /// An OpenGL pixel buffer object.
    Pbo = 4,
    /// CUDA device memory.
    Cuda = 5,
    /// A Direct3D 11 texture.
    D3d11Texture = 6,
}

/// Every kind with its wire name, in code order.
const TABLE: [(TensorMemory, &str); 7] = [
    (TensorMemory::Mem, "mem"),
    (TensorMemory::Shm, "shm"),
    (TensorMemory::DmaBuf, "dmabuf"),
    (TensorMemory::IoSurface, "iosurface"),
    (TensorMemory::Pbo, "pbo"),
    (TensorMemory::Cuda, "cuda"),
    (TensorMemory::D3d11Texture, "d3d11_texture"),
];

impl TensorMemory {
    /// Every kind, in code order.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(kind, _)| *kind)
    }

    /// The kind with this wire code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::all().find(|kind| kind.code() == code)
    }

    /// The wire code.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "the discriminant of a repr(u32) enum is its code")]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The wire name.
    #[must_use]
    #[expect(
        clippy::as_conversions,
        clippy::indexing_slicing,
        reason = "the table has a row for every code, in code order; a test checks it"
    )]
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }
}

impl fmt::Display for TensorMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PLAT-02
    #[test]
    fn codes_are_the_published_ones_and_round_trip() {
        for (code, (kind, name)) in (0..).zip(TABLE) {
            assert_eq!(kind.code(), code);
            assert_eq!(kind.name(), name);
            assert_eq!(TensorMemory::from_code(code), Some(kind));
        }
        assert_eq!(TensorMemory::from_code(7), None);
    }
}
