//! Storage codes: what kind of memory holds a tensor's bytes.

#![forbid(unsafe_code)]

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of memory behind a tensor.
    ///
    /// Every word exists on every platform: a recording made elsewhere can be named here even if
    /// it cannot be opened. The codes are those of the tensor blob and never change.
    TensorMemory {
        /// Plain memory of this process.
        Mem = 0, "mem";
        /// Shared memory: a memfd or a file on tmpfs.
        Shm = 1, "shm";
        /// A Linux dma-buf.
        DmaBuf = 2, "dmabuf";
        /// An Apple `IOSurface`.
        IoSurface = 3, "iosurface";
        /// An OpenGL pixel buffer object.
        Pbo = 4, "pbo";
        /// CUDA device memory.
        Cuda = 5, "cuda";
        /// A Direct3D 11 texture.
        D3d11Texture = 6, "d3d11_texture";
    }
}

impl TensorMemory {
    /// Every kind, in code order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PLAT-02
    #[test]
    fn codes_are_the_published_ones_and_round_trip() {
        assert_eq!(
            TensorMemory::NAMES,
            ["mem", "shm", "dmabuf", "iosurface", "pbo", "cuda", "d3d11_texture"]
        );
        for (code, kind) in (0..).zip(TensorMemory::all()) {
            assert_eq!(kind.code(), code);
            assert_eq!(TensorMemory::from_code(code), Some(kind));
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert_eq!(TensorMemory::all().count(), 7);
        assert_eq!(TensorMemory::from_code(7), None);
    }
}
