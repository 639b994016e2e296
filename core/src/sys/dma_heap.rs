//! dma-heaps: `/dev/dma_heap/*` (`linux/dma-heap.h`, through the `dma-heap` crate).

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use dma_heap::{Heap, HeapKind};

/// Where the kernel puts the heaps' device nodes.
pub const DIRECTORY: &str = "/dev/dma_heap";

/// The heaps of this machine, sorted by name.
///
/// # Errors
/// What reading the directory answers: `ENOENT` when the kernel has no heaps.
pub fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory)?;
    let mut heaps = entries.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    heaps.sort();
    Ok(heaps)
}

/// A dma-buf of at least `len` bytes from the heap at `path`; the kernel rounds up to pages.
///
/// # Errors
/// What `open` or `DMA_HEAP_IOCTL_ALLOC` answer: `EACCES` without permission, `ENOMEM` when the
/// heap is full.
pub fn allocate(path: &Path, len: usize) -> io::Result<OwnedFd> {
    Heap::new(HeapKind::Custom(path.to_owned()))?.allocate(len)
}
