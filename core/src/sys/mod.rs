//! System calls, one file per kernel or driver interface.
//!
//! These functions take and give file descriptors and bytes; they know no tensor. Descriptors come
//! in as [`AsFd`](std::os::fd::AsFd) and go out as [`OwnedFd`](std::os::fd::OwnedFd), so who closes
//! what is never in doubt. Nothing here retries, falls back or logs, except that a call the kernel
//! interrupted is made again.

pub mod cpu;
pub mod crew;
pub mod cuda;
pub mod dma_buf;
pub mod dma_heap;
pub mod file;
pub mod memfd;
pub mod mmap;
pub mod scm_rights;
pub mod sync_file;
pub mod udmabuf;
