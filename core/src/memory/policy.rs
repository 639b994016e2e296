//! Which memory to allocate: an ordered list of steps, tried until one serves.

use std::{
    env, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use super::{
    AllocError, Attempt, Kind, Memory,
    dma_buf::DmaBufMemory,
    heap::HeapMemory,
    heap_policy::{HeapPolicy, is_contiguous},
    shm::ShmMemory,
};
use crate::{
    access::CpuAccess,
    compression::Contiguity,
    memory_kind::TensorMemory,
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
    contiguous: bool,
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
        Self { steps: steps.into_iter().collect(), heap_directory, contiguous: false }
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
                let contiguity = contiguity(step, path.as_deref());
                let memory = Memory::allocated(kind, access, contiguity, path.clone());
                return Ok(Allocation { memory, path, attempts });
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
mod tests {
    use super::*;
    use crate::{
        format::PixelFormat,
        tensor::{ImageDesc, TensorDyn},
    };

    // S-PLAT-06
    #[test]
    fn contiguous_memory_without_a_contiguous_heap_fails_and_names_it() {
        let directory = env::temp_dir().join(format!("no-cma-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("system"), b"no heap").unwrap();
        let policy = AllocPolicy::default().with_heap_directory(&directory).contiguous();
        let text = policy.allocate(4096, CpuAccess::ReadWrite).unwrap_err().to_string();
        assert!(text.contains("cma") && !text.contains("memfd"), "{text}");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    // S-PLAT-07
    #[test]
    fn what_is_known_of_the_pages_is_recorded() {
        let memfd = AllocPolicy::from_steps([Step::Memfd]);
        let memory = memfd.allocate(4096, CpuAccess::Read).unwrap().memory;
        assert_eq!(memory.contiguity(), Contiguity::NonContiguous);
        let import = Memory::import(memory.fd().unwrap(), CpuAccess::Read).unwrap();
        assert_eq!(import.contiguity(), Contiguity::Unknown);
        assert_eq!(
            contiguity(Step::DmaHeap, Some(Path::new("/dev/dma_heap/reserved"))),
            Contiguity::Contiguous
        );
    }

    // S-SEL-05: who served is said by the allocation, and by the tensor as long as it lives
    #[test]
    fn the_device_that_served_is_named() {
        let served = AllocPolicy::default().allocate(4096, CpuAccess::ReadWrite).unwrap();
        assert_eq!(served.memory.device(), served.path.as_deref());
        assert_eq!(served.memory.kind() == TensorMemory::DmaBuf, served.path.is_some());
        let image = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_memory(TensorMemory::DmaBuf);
        match TensorDyn::image_desc(&image) {
            Ok(image) => {
                let device = image.memories()[0].device().unwrap().to_str().unwrap().to_owned();
                let expected = device.starts_with("/dev/dma_heap/") || device == udmabuf::PATH;
                assert!(expected, "{device}");
            }
            Err(error) => println!("skipped: {error}"),
        }
        assert_eq!(Memory::heap(64).unwrap().device(), None);
        let shm = Memory::shm(64).unwrap();
        let import = Memory::import(shm.fd().unwrap(), CpuAccess::Read).unwrap();
        assert_eq!(import.device(), None);
    }

    // S-SEL-04
    #[test]
    fn a_kind_that_is_asked_for_is_given_or_refused() {
        for kind in TensorMemory::all() {
            let Some(policy) = AllocPolicy::only(kind) else { continue };
            match policy.allocate(64, CpuAccess::ReadWrite) {
                Ok(allocation) => assert_eq!(allocation.memory.kind(), kind),
                Err(error) => assert_eq!(kind, TensorMemory::DmaBuf, "{error}"),
            }
        }
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
        let directory = env::temp_dir().join(format!("heaps-{}", std::process::id()));
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
