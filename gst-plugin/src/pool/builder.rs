//! What a pool is asked to be, before it is one.

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_video::{VideoFormat, VideoInfo};
use tensor_core::{CpuAccess, StrideAlign, memory::AllocPolicy};

use super::{PoolError, TensorBufferPool};

/// How the memory of a pool's frames is made; the same for the pool's whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) align: StrideAlign,
    pub(super) policy: AllocPolicy,
    pub(super) access: CpuAccess,
}

impl Default for Settings {
    fn default() -> Self {
        let (policy, access) = (AllocPolicy::default(), CpuAccess::ReadWrite);
        Self { align: StrideAlign::DMA, policy, access }
    }
}

/// Asks for a [`TensorBufferPool`]; see [`TensorBufferPool::builder`].
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is made before `build`"]
pub struct TensorBufferPoolBuilder {
    settings: Settings,
    contiguous: bool,
    caps: Option<gst::Caps>,
    min: u32,
    max: u32,
}

impl TensorBufferPoolBuilder {
    /// Frames of this format, `width` x `height` pixels.
    ///
    /// # Errors
    /// When GStreamer has no frames of this format and size.
    pub fn video(
        self,
        format: VideoFormat,
        width: u32,
        height: u32,
    ) -> Result<Self, glib::BoolError> {
        let caps = VideoInfo::builder(format, width, height).build()?.to_caps()?;
        Ok(self.caps(&caps))
    }

    /// Frames of these fixed caps, `format=DMA_DRM` among them. Without caps the pool is left to be
    /// configured by whoever uses it.
    pub fn caps(mut self, caps: &gst::Caps) -> Self {
        self.caps = Some(caps.clone());
        self
    }

    /// Buffers that there will be at least, and at most; `max` 0 sets no bound.
    ///
    /// One is allocated when the pool is activated, which shows whether memory can be had. The
    /// others are when they are first needed, so that the pool of a new format does not take its
    /// memory while the pool of the old one still has it.
    pub fn buffers(mut self, min: u32, max: u32) -> Self {
        (self.min, self.max) = (min, max);
        self
    }

    /// Row strides, and the beginnings of planes, that are multiples of `align` bytes. It is 64
    /// unless more is asked for.
    pub fn alignment(mut self, align: StrideAlign) -> Self {
        let dma = StrideAlign::DMA;
        self.settings.align = if align.bytes() < dma.bytes() { dma } else { align };
        self
    }

    /// Whether each frame must be one run of physical pages, as a device without an IOMMU needs. Only
    /// contiguous dma-heaps (CMA) give such memory; without one the pool cannot be activated.
    pub fn contiguous(mut self, contiguous: bool) -> Self {
        self.contiguous = contiguous;
        self
    }

    /// What CPUs will do with the frames, by default reading and writing. Where none reads, uncached
    /// heaps are taken first, and tensors over the frames cannot be mapped.
    pub fn cpu_access(mut self, access: CpuAccess) -> Self {
        self.settings.access = access;
        self
    }

    /// Where memory comes from, by default dma-heaps, udmabuf, memfd, and plain memory last.
    pub fn policy(mut self, policy: AllocPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// The pool, configured if its frames are known, and not yet active.
    ///
    /// # Errors
    /// [`PoolError`] when frames of these caps cannot be in a pool.
    pub fn build(self) -> Result<TensorBufferPool, PoolError> {
        let Self { mut settings, contiguous, caps, min, max } = self;
        if contiguous {
            settings.policy = settings.policy.contiguous();
        }
        let align = settings.align;
        let pool: TensorBufferPool = glib::Object::new();
        pool.imp().settle(settings);
        if let Some(caps) = caps {
            let mut config = pool.config();
            config.set_params(Some(&caps), 0, min, max);
            // For the reason: GStreamer only says yes or no.
            super::plan::Plan::settle(&mut config, align)?;
            pool.set_config(config)?;
        }
        Ok(pool)
    }
}
