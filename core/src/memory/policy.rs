//! Which memory to allocate: an ordered list of steps, tried until one serves.

use std::{
    env, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use super::{
    AlignmentError, AllocError, Attempt, Kind, Memory,
    dma_buf::DmaBufMemory,
    heap::{self, HeapMemory},
    heap_policy::{HeapPolicy, is_contiguous},
    shm::ShmMemory,
};
use crate::{
    access::CpuAccess,
    compression::Contiguity,
    memory_kind::TensorMemory,
    sys::{dma_heap, mmap::page_size, udmabuf},
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocPolicy {
    steps: Vec<Step>,
    heap_directory: PathBuf,
    contiguous: bool,
    align: usize,
}

/// The one environment variable this crate reads: `1` makes every default policy give heap memory,
/// for tests on machines whose devices are not to be touched.
const FORCE_MEM: &str = "TENSOR_FORCE_MEM";

impl Default for AllocPolicy {
    /// dma-heap, udmabuf, memfd, heap; with `TENSOR_FORCE_MEM=1` in the environment heap alone.
    fn default() -> Self {
        unless_forced(Self::from_steps([Step::DmaHeap, Step::Udmabuf, Step::Memfd, Step::Heap]))
    }
}

impl AllocPolicy {
    /// These steps, in this order.
    #[must_use]
    pub fn from_steps(steps: impl IntoIterator<Item = Step>) -> Self {
        let heap_directory = PathBuf::from(dma_heap::DIRECTORY);
        let steps = steps.into_iter().collect();
        Self { steps, heap_directory, contiguous: false, align: heap::ALIGN }
    }

    /// dma-heap, udmabuf, heap: for images, which gain nothing from shared memory that a device
    /// cannot import. `TENSOR_FORCE_MEM` counts as for the default.
    #[must_use]
    pub fn image() -> Self {
        unless_forced(Self::from_steps([Step::DmaHeap, Step::Udmabuf, Step::Heap]))
    }

    /// Memory of this kind or none: nothing else is tried. `None` for a kind that this build cannot
    /// allocate.
    #[must_use]
    pub fn only(kind: TensorMemory) -> Option<Self> {
        match kind {
            TensorMemory::Mem => Some(Self::from_steps([Step::Heap])),
            TensorMemory::Shm => Some(Self::from_steps([Step::Memfd])),
            TensorMemory::DmaBuf => Some(Self::dma_buf_only()),
            TensorMemory::IoSurface
            | TensorMemory::Pbo
            | TensorMemory::Cuda
            | TensorMemory::D3d11Texture => None,
        }
    }

    /// This policy, with memory of `kind` or none; `None` as for [`only`](Self::only).
    #[must_use]
    pub fn with_kind(self, kind: TensorMemory) -> Option<Self> {
        Some(Self { steps: Self::only(kind)?.steps, ..self })
    }

    /// Memory whose first byte the CPU finds at a multiple of `align` bytes, a power of two. It is 64
    /// unless more is asked for.
    ///
    /// What is mapped begins at a page: a step that gives such memory is passed over when `align` is
    /// larger than that, with the reason.
    ///
    /// # Errors
    /// [`AlignmentError`] when `align` is no power of two.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, memory::{AllocPolicy, Step}};
    /// let policy = AllocPolicy::from_steps([Step::Heap]).with_alignment(128)?;
    /// let memory = policy.allocate(1, CpuAccess::ReadWrite)?.memory;
    /// assert!(memory.map(CpuAccess::Read)?.as_ptr().addr().is_multiple_of(128));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_alignment(self, align: usize) -> Result<Self, AlignmentError> {
        if !align.is_power_of_two() {
            return Err(AlignmentError { align });
        }
        Ok(Self { align: align.max(heap::ALIGN), ..self })
    }

    /// Only heaps that give one run of physical pages, which devices without an IOMMU need.
    #[must_use]
    pub fn contiguous(mut self) -> Self {
        self.contiguous = true;
        self.steps = vec![Step::DmaHeap];
        self
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
            if let Err(why) = self.check(step) {
                let error = io::Error::new(io::ErrorKind::Unsupported, why);
                attempts.push(Attempt { step: step.name(), path: None, error });
                continue;
            }
            let served = match step {
                Step::DmaHeap => self.try_dma_heaps(len, access, &mut attempts),
                Step::Udmabuf => {
                    let path = Some(PathBuf::from(udmabuf::PATH));
                    try_step(step, path, &mut attempts, || dma_buf(udmabuf::allocate(len)?, access))
                }
                Step::Memfd => try_step(step, None, &mut attempts, || {
                    Ok(Kind::Shm(ShmMemory::new(non_zero(len)?, access)?))
                }),
                Step::Heap => try_step(step, None, &mut attempts, || {
                    Ok(Kind::Heap(HeapMemory::new(len, self.align)?))
                }),
            };
            if let Some((kind, path)) = served {
                let contiguity = contiguity(step, path.as_deref());
                let memory = Memory::allocated(kind, access, contiguity, path.clone());
                return Ok(Allocation { memory, path, attempts });
            }
        }
        Err(AllocError { len, attempts })
    }

    /// Whether what a step gives can be what was asked for.
    fn check(&self, step: Step) -> Result<(), String> {
        let (align, page) = (self.align, page_size());
        match step {
            Step::Udmabuf | Step::Memfd | Step::Heap if self.contiguous => {
                Err("its pages are not one run, as was asked for".to_owned())
            }
            Step::DmaHeap | Step::Udmabuf | Step::Memfd if align > page => {
                Err(format!("a map begins at a multiple of {page} bytes, {align} were asked for"))
            }
            Step::DmaHeap | Step::Udmabuf | Step::Memfd | Step::Heap => Ok(()),
        }
    }

    fn try_dma_heaps(
        &self,
        len: usize,
        access: CpuAccess,
        attempts: &mut Vec<Attempt>,
    ) -> Option<Served> {
        let step = Step::DmaHeap;
        let heaps = match dma_heap::list(&self.heap_directory) {
            Ok(heaps) => HeapPolicy::from(access).order(heaps),
            Err(error) => {
                let path = Some(self.heap_directory.clone());
                attempts.push(Attempt { step: step.name(), path, error });
                return None;
            }
        };
        let mut wanted =
            heaps.into_iter().filter(|path| !self.contiguous || is_contiguous(path)).peekable();
        if self.contiguous && wanted.peek().is_none() {
            let path = Some(self.heap_directory.join("linux,cma"));
            let error = io::ErrorKind::NotFound.into();
            attempts.push(Attempt { step: step.name(), path, error });
        }
        wanted.find_map(|path| {
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

fn unless_forced(policy: AllocPolicy) -> AllocPolicy {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    let forced = env::var_os(FORCE_MEM).is_some_and(|value| value == "1");
    if forced { AllocPolicy::from_steps([Step::Heap]) } else { policy }
}

fn contiguity(step: Step, path: Option<&Path>) -> Contiguity {
    match step {
        Step::DmaHeap if path.is_some_and(is_contiguous) => Contiguity::Contiguous,
        Step::DmaHeap | Step::Udmabuf | Step::Memfd | Step::Heap => Contiguity::NonContiguous,
    }
}

#[cfg(test)]
mod tests;
