//! Which kinds of memory this machine gives, asked once.

use std::sync::OnceLock;

use thiserror::Error;

use super::{AllocError, AllocPolicy};
use crate::{access::CpuAccess, memory_kind::TensorMemory};

/// Why a kind of memory cannot be had.
#[derive(Clone, Copy, Debug, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// This machine gives none now: every device that was asked, and its answer.
    #[error("{0}")]
    Machine(&'static AllocError),
    /// This build allocates none on any machine.
    #[error("memory of kind {0} is not supported by this build")]
    Build(TensorMemory),
}

impl AllocPolicy {
    /// Whether this policy finds memory now: allocates one page and gives it back.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate).
    pub fn probe(&self) -> Result<(), AllocError> {
        self.allocate(1, CpuAccess::None).map(drop)
    }
}

impl TensorMemory {
    /// Whether memory of this kind can be had, and why not.
    ///
    /// The first call for a kind allocates one page and gives it back; what it finds is kept for the
    /// life of the process. [`AllocPolicy::probe`] asks again.
    ///
    /// # Errors
    /// [`Unavailable::Machine`] with each device that was asked and its answer,
    /// [`Unavailable::Build`] for a kind that nothing here allocates.
    ///
    /// ```
    /// use tensor_core::TensorMemory;
    /// assert!(TensorMemory::Mem.availability().is_ok());
    /// if let Err(why) = TensorMemory::DmaBuf.availability() {
    ///     println!("no dma-buf: {why}");
    /// }
    /// ```
    pub fn availability(self) -> Result<(), Unavailable> {
        static ANSWERS: [OnceLock<Result<(), AllocError>>; 3] = [const { OnceLock::new() }; 3];
        let [mem, shm, dma_buf] = &ANSWERS;
        let build = Unavailable::Build(self);
        let answer = match self {
            Self::Mem => mem,
            Self::Shm => shm,
            Self::DmaBuf => dma_buf,
            Self::IoSurface | Self::Pbo | Self::Cuda | Self::D3d11Texture => return Err(build),
        };
        let policy = AllocPolicy::only(self).ok_or(build)?;
        answer.get_or_init(|| policy.probe()).as_ref().copied().map_err(Unavailable::Machine)
    }

    /// Whether memory of this kind can be had: [`availability`](Self::availability) without the
    /// reason.
    #[must_use]
    pub fn is_available(self) -> bool {
        self.availability().is_ok()
    }
}

/// Whether dma-bufs can be had, from a dma-heap or from udmabuf.
#[must_use]
pub fn is_dma_available() -> bool {
    TensorMemory::DmaBuf.is_available()
}

/// Whether memory that GPUs import without a copy can be had: on Linux, dma-bufs.
#[must_use]
pub fn is_gpu_buffer_available() -> bool {
    is_dma_available()
}

/// Whether shared memory can be had.
#[must_use]
pub fn is_shm_available() -> bool {
    TensorMemory::Shm.is_available()
}

/// Whether Apple `IOSurface`s can be had: never on Linux.
#[must_use]
pub fn is_iosurface_available() -> bool {
    TensorMemory::IoSurface.is_available()
}

/// Whether Android `AHardwareBuffer`s can be had: never on Linux.
#[must_use]
pub const fn is_ahardwarebuffer_available() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;
    use crate::{memory::Step, sys::dma_heap};

    // S-PROBE-01
    #[test]
    fn every_probe_answers_and_what_is_absent_is_false() {
        assert!(is_shm_available());
        assert!(!is_iosurface_available());
        assert!(!is_ahardwarebuffer_available());
        assert_eq!(is_dma_available(), is_gpu_buffer_available());
        #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
        let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
        assert!(is_dma_available() || !required.contains("dma_buf"));
    }

    // S-PROBE-02, S-PLAT-03
    #[test]
    fn a_kind_answers_as_its_probe() {
        for kind in TensorMemory::all() {
            let probe = match kind {
                TensorMemory::Mem => true,
                TensorMemory::Shm => is_shm_available(),
                TensorMemory::DmaBuf => is_gpu_buffer_available(),
                TensorMemory::IoSurface
                | TensorMemory::Pbo
                | TensorMemory::Cuda
                | TensorMemory::D3d11Texture => false,
            };
            assert_eq!(kind.is_available(), probe, "{kind}");
            match kind.availability() {
                Ok(()) => assert!(AllocPolicy::only(kind).unwrap().probe().is_ok(), "{kind}"),
                Err(Unavailable::Machine(why)) => assert!(!why.attempts.is_empty(), "{kind}"),
                Err(why @ Unavailable::Build(_)) => {
                    assert!(AllocPolicy::only(kind).is_none());
                    let text = why.to_string();
                    assert!(
                        text.contains(kind.name()) && text.contains("not supported by"),
                        "{text}"
                    );
                }
            }
        }
    }

    // S-PROBE-01: the page is given back
    #[test]
    fn asking_leaves_no_descriptor() {
        let fds = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = fds();
        for _ in 0..100 {
            for policy in TensorMemory::all().filter_map(AllocPolicy::only) {
                let _answer = policy.probe();
            }
        }
        assert_eq!(fds(), before);
    }

    // S-PLAT-04: an answer of the machine as it is now, with the device that refused
    #[test]
    fn a_heap_that_goes_away_is_missed() {
        let directory = std::env::temp_dir().join(format!("probe-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let policy = AllocPolicy::from_steps([Step::DmaHeap]).with_heap_directory(&directory);
        let heap = directory.join("system");
        symlink(format!("{}/system", dma_heap::DIRECTORY), &heap).unwrap();
        let there = policy.probe();
        fs::remove_file(&heap).unwrap();
        fs::write(&heap, b"no heap").unwrap();
        let gone = policy.probe().unwrap_err().to_string();
        fs::remove_dir_all(&directory).unwrap();
        assert!(gone.contains(heap.to_str().unwrap()), "{gone}");
        match fs::File::open(format!("{}/system", dma_heap::DIRECTORY)) {
            Ok(_) => there.unwrap(),
            Err(error) => println!("skipped: the heap that would go away: {error}"),
        }
    }
}
