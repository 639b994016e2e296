//! Which memory to allocate: an ordered list of steps, tried until one serves.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use super::{
    AllocError, Attempt, Kind, Memory, dma_buf::DmaBufMemory, heap::HeapMemory, shm::ShmMemory,
};
use crate::{
    access::CpuAccess,
    sys::{dma_heap, udmabuf},
};

/// One thing to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Every dma-heap of the machine, contiguous ones first.
    DmaHeap,
    /// A dma-buf over a memfd, from `/dev/udmabuf`.
    Udmabuf,
    /// A sealed memfd.
    Memfd,
    /// Memory of this process.
    Heap,
}

impl Step {
    const fn name(self) -> &'static str {
        match self {
            Self::DmaHeap => "dma-heap",
            Self::Udmabuf => "udmabuf",
            Self::Memfd => "memfd",
            Self::Heap => "heap",
        }
    }
}

/// Memory that was allocated, and what had to be passed over to get it.
#[derive(Debug)]
pub struct Allocation {
    /// The memory.
    pub memory: Memory,
    /// The device node that served, where there is one.
    pub path: Option<PathBuf>,
    /// The steps before the one that served, each with its reason.
    pub attempts: Vec<Attempt>,
}

/// An ordered list of kinds of memory to try.
///
/// ```
/// use tensor_core::{CpuAccess, memory::AllocPolicy};
/// let allocation = AllocPolicy::default().allocate(4096, CpuAccess::ReadWrite)?;
/// assert!(allocation.memory.len() >= 4096);
/// # Ok::<(), tensor_core::memory::AllocError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AllocPolicy {
    steps: Vec<Step>,
    heap_directory: PathBuf,
}

impl Default for AllocPolicy {
    /// dma-heap, udmabuf, memfd, heap.
    fn default() -> Self {
        Self::from_steps([Step::DmaHeap, Step::Udmabuf, Step::Memfd, Step::Heap])
    }
}

impl AllocPolicy {
    /// These steps, in this order.
    #[must_use]
    pub fn from_steps(steps: impl IntoIterator<Item = Step>) -> Self {
        let heap_directory = PathBuf::from(dma_heap::DIRECTORY);
        Self { steps: steps.into_iter().collect(), heap_directory }
    }

    /// dma-heap, then udmabuf: dma-bufs or nothing.
    #[must_use]
    pub fn dma_buf_only() -> Self {
        Self::from_steps([Step::DmaHeap, Step::Udmabuf])
    }

    /// dma-heap, udmabuf, memfd: memory that can be passed to another process.
    #[must_use]
    pub fn with_fd() -> Self {
        Self::from_steps([Step::DmaHeap, Step::Udmabuf, Step::Memfd])
    }

    /// Looks for heaps in `directory` instead of `/dev/dma_heap`.
    #[must_use]
    pub fn with_heap_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.heap_directory = directory.into();
        self
    }

    /// Memory of at least `len` bytes from the first step that can give it.
    ///
    /// # Errors
    /// [`AllocError`] with every step that was tried, its path and what the system answered.
    pub fn allocate(&self, len: usize, access: CpuAccess) -> Result<Allocation, AllocError> {
        let mut attempts = Vec::new();
        for step in self.steps.iter().copied() {
            let served = match step {
                Step::DmaHeap => self.try_dma_heaps(len, access, &mut attempts),
                Step::Udmabuf => {
                    let path = Some(PathBuf::from(udmabuf::PATH));
                    try_step(step, path, &mut attempts, || dma_buf(udmabuf::allocate(len)?, access))
                }
                Step::Memfd => try_step(step, None, &mut attempts, || {
                    Ok(Kind::Shm(ShmMemory::new(non_zero(len)?, access)?))
                }),
                Step::Heap => {
                    try_step(step, None, &mut attempts, || Ok(Kind::Heap(HeapMemory::new(len)?)))
                }
            };
            if let Some((kind, path)) = served {
                return Ok(Allocation { memory: Memory::new(kind, access), path, attempts });
            }
        }
        Err(AllocError { len, attempts })
    }

    fn try_dma_heaps(
        &self,
        len: usize,
        access: CpuAccess,
        attempts: &mut Vec<Attempt>,
    ) -> Option<Served> {
        let step = Step::DmaHeap;
        let heaps = match dma_heap::list(&self.heap_directory) {
            Ok(heaps) => ordered(heaps),
            Err(error) => {
                let path = Some(self.heap_directory.clone());
                attempts.push(Attempt { step: step.name(), path, error });
                return None;
            }
        };
        heaps.into_iter().find_map(|path| {
            let heap = path.clone();
            try_step(step, Some(path), attempts, || {
                dma_buf(dma_heap::allocate(&heap, non_zero(len)?)?, access)
            })
        })
    }
}

type Served = (Kind, Option<PathBuf>);

fn try_step(
    step: Step,
    path: Option<PathBuf>,
    attempts: &mut Vec<Attempt>,
    make: impl FnOnce() -> io::Result<Kind>,
) -> Option<Served> {
    match make() {
        Ok(kind) => Some((kind, path)),
        Err(error) => {
            attempts.push(Attempt { step: step.name(), path, error });
            None
        }
    }
}

fn dma_buf(fd: OwnedFd, access: CpuAccess) -> io::Result<Kind> {
    DmaBufMemory::new(fd, access).map(Kind::DmaBuf).map_err(io::Error::other)
}

fn non_zero(len: usize) -> io::Result<usize> {
    if len == 0 { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(len) }
}

/// Heaps in the order to try them: contiguous ones, under any of the names kernels give them, then
/// `system`, then the rest. Uncached and protected heaps are left out: reading the first by the CPU
/// is slow, the second cannot be read at all.
fn ordered(heaps: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut ranked: Vec<_> =
        heaps.into_iter().filter_map(|path| Some((rank(&path)?, path))).collect();
    ranked.sort();
    ranked.into_iter().map(|(_, path)| path).collect()
}

fn rank(path: &Path) -> Option<u8> {
    let name = path.file_name()?.to_str()?;
    let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    match name {
        _ if contains(&["uncached", "protected", "secure"]) => None,
        _ if contains(&["cma", "reserved"]) => Some(0),
        "system" => Some(1),
        _ => Some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_heaps_come_first_and_uncached_ones_not_at_all() {
        let names = ["linux,cma", "linux,cma-uncached", "system", "vendor", "reserved"];
        let heaps = names.iter().map(|name| PathBuf::from("/dev/dma_heap").join(name)).collect();
        let order: Vec<_> =
            ordered(heaps).iter().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(order, ["linux,cma", "reserved", "system", "vendor"]);
    }

    // G15, S-SEL-04
    #[test]
    fn a_machine_without_heaps_says_so_with_path_and_errno() {
        let policy =
            AllocPolicy::from_steps([Step::DmaHeap]).with_heap_directory("/nonexistent/heaps");
        let text = policy.allocate(4096, CpuAccess::ReadWrite).unwrap_err().to_string();
        assert!(text.contains("4096 bytes"), "{text}");
        assert!(text.contains("/nonexistent/heaps"), "{text}");
        assert!(text.contains("os error 2"), "{text}");
    }

    #[test]
    fn a_failed_heap_is_passed_over_and_remembered() {
        let directory = std::env::temp_dir().join(format!("heaps-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("system"), b"no heap").unwrap();
        let policy =
            AllocPolicy::from_steps([Step::DmaHeap, Step::Memfd]).with_heap_directory(&directory);
        let allocation = policy.allocate(4096, CpuAccess::ReadWrite).unwrap();
        assert_eq!(allocation.attempts.len(), 1);
        assert!(allocation.attempts[0].to_string().contains("system"), "{:?}", allocation.attempts);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn nothing_is_not_allocated() {
        for step in [Step::Memfd, Step::Heap] {
            assert!(AllocPolicy::from_steps([step]).allocate(0, CpuAccess::Read).is_err());
        }
    }
}
