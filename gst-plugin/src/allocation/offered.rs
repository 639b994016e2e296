//! What became of a pool that upstream was offered.

use tensor_core::{CpuAccess, memory::AllocPolicy};

use crate::pool::TensorBufferPool;

/// An offered pool, and how many frames there had been.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    pool: TensorBufferPool,
    frames: u64,
}

impl Offered {
    pub(crate) fn new(pool: &TensorBufferPool, frames: u64) -> Self {
        Self { pool: pool.clone(), frames }
    }

    /// Why upstream may have taken buffers and sent no frame, and what to do about it; `None` when
    /// that is not so. Asked when the stream ends, after `frames`.
    ///
    /// A V4L2 driver whose device has no IOMMU refuses scattered pages with EFAULT, and `v4l2src`
    /// then says no more than that its pool could not be activated.
    pub(crate) fn refusal(&self, frames: u64) -> Option<String> {
        let taken = self.pool.taken_scattered().filter(|taken| *taken > 0)?;
        if frames != self.frames {
            return None;
        }
        let contiguous = AllocPolicy::dma_buf_only().contiguous().allocate(1, CpuAccess::ReadWrite);
        let there = match contiguous.map(|found| found.path.unwrap_or_default()) {
            Ok(path) => format!("here {}", path.display()),
            Err(error) => format!("here there is none: {error}"),
        };
        Some(format!(
            "upstream took {taken} buffers of the pool and sent no frame; a device without an IOMMU \
             refuses memory that is not one run of physical pages, V4L2 drivers with EFAULT (Bad \
             address); set contiguous=true, which needs a CMA dma-heap, {there}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use gst::prelude::*;
    use gst_video::VideoFormat;
    use tensor_core::memory::Step;

    use super::*;

    #[test]
    fn a_pool_that_was_used_in_vain_is_told_with_the_cure() {
        gst::init().unwrap();
        let pool = TensorBufferPool::builder().video(VideoFormat::Nv12, 64, 36).unwrap();
        let pool = pool.policy(AllocPolicy::from_steps([Step::Memfd])).build().unwrap();
        let offered = Offered::new(&pool, 7);
        assert_eq!(offered.refusal(7), None, "not taken");
        pool.set_active(true).unwrap();
        assert_eq!(offered.refusal(7), None, "started and not used, as by a source of no frame");
        drop(pool.acquire_buffer(None).unwrap());
        assert_eq!(offered.refusal(8), None, "a frame came");
        let said = offered.refusal(7).unwrap();
        assert!(said.starts_with("upstream took 1 buffers"), "{said}");
        assert!(said.contains("EFAULT") && said.contains("contiguous=true"), "{said}");
    }
}
