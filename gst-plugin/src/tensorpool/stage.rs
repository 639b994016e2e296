//! A stream that was negotiated: what its frames are, and where copies of them go.

use gst::{glib, prelude::*};
use gst_video::{VideoCropMeta, VideoMeta};
use tensor_core::ImageLayout;
use thiserror::Error;

use super::{fit, fit::Misfit, settings::Terms};
use crate::{
    allocation::{
        asked::Asked,
        copy::{CopyError, copy_samples},
        downstream::Downstream,
    },
    pool::{self, PoolError},
    tensorimport::{
        copier::join,
        frame::{FrameError, place},
    },
    video_layout::{self, VideoLayoutError},
};

/// Why a frame cannot leave.
#[derive(Debug, Error)]
pub(super) enum StageError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Layout(#[from] VideoLayoutError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A buffer to copy into, wherever it came from.
    #[error("the pool gives a buffer that cannot leave: {0}")]
    Target(Misfit),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Gst(#[from] glib::BoolError),
}

impl StageError {
    /// Whether nothing is wrong: the pipeline stops, or seeks.
    pub(super) fn is_flushing(&self) -> bool {
        matches!(self, Self::Pool(PoolError::Flow(gst::FlowError::Flushing)))
    }
}

/// What is known of a stream.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// The layout of frames that carry no video meta.
    layout: ImageLayout,
    /// The caps under which frames leave.
    caps: gst::Caps,
    pub(super) terms: Terms,
}

impl Stage {
    pub(super) fn new(caps: &gst::Caps, terms: Terms) -> Result<Self, VideoLayoutError> {
        let layout = video_layout::layout_from_info(&video_layout::info_from_caps(caps)?)?;
        Ok(Self { layout, caps: caps.clone(), terms })
    }

    /// Whether a frame may pass as it is.
    pub(super) fn judge(&self, frame: &gst::BufferRef) -> Result<Result<(), Misfit>, StageError> {
        match place(frame, &self.whole(frame)?) {
            Err(FrameError::Split { plane, memory, .. }) => {
                Ok(Err(Misfit::Split { plane, memory }))
            }
            placed => Ok(fit::check(frame, &placed?, &self.terms)),
        }
    }

    /// The planes of a frame without regard to a crop.
    fn whole(&self, frame: &gst::BufferRef) -> Result<ImageLayout, VideoLayoutError> {
        match frame.meta::<VideoMeta>() {
            Some(meta) => video_layout::layout_from_meta(&self.layout, &meta),
            None => Ok(self.layout.clone()),
        }
    }

    /// Copies the samples of `frame` into a buffer of the pool; says how many bytes that were.
    ///
    /// A crop to the caps' size is done by the way, and then no longer asked for by a meta.
    pub(super) fn copy(
        &self,
        frame: &gst::BufferRef,
        target: &mut gst::BufferRef,
    ) -> Result<u64, StageError> {
        let size = [self.layout.width(), self.layout.height()];
        let is_cropped = frame.meta::<VideoCropMeta>().is_some_and(|crop| {
            let (_, _, width, height) = crop.rect();
            [width, height].map(|pixels| usize::try_from(pixels).unwrap_or(0)) == size
        });
        let flat = if is_cropped {
            video_layout::layout_of_buffer(&self.layout, frame)?
        } else {
            self.whole(frame)?
        };
        let copied = match place(frame, &flat) {
            // Only here does the copy begin with another one.
            Err(FrameError::Split { .. }) => {
                let joined = join(frame)?;
                copy_samples(&joined, &place(&joined, &flat)?, target, &self.whole(target)?)?
            }
            placed => copy_samples(frame, &placed?, target, &self.whole(target)?)?,
        };
        if let Some(crop) = target.meta_mut::<VideoCropMeta>().filter(|_| is_cropped) {
            crop.remove()?;
        }
        Ok(copied)
    }

    /// What of downstream's answer is used: the memory that it offers if frames there are as they are
    /// to be, and the numbers of buffers that suit both sides.
    pub(super) fn take(&self, mut said: Downstream) -> Downstream {
        (said.min, said.max) = self.terms.request.buffers(said.min, said.max);
        if !self.terms.takes_foreign_memory() {
            (said.pool, said.allocator) = (None, None);
        }
        said.pool = said.pool.take().filter(|pool| self.is_kept_by(pool, &said));
        said
    }

    /// Whether a frame of downstream's pool may leave, which is as inactive afterwards as before.
    fn is_kept_by(&self, pool: &gst::BufferPool, said: &Downstream) -> bool {
        let was_active = pool.is_active();
        let fits = |frame: &gst::BufferRef| matches!(self.judge(frame), Ok(Ok(())));
        let is_kept = self.asked(said).serves(pool, fits);
        // Who fills it configures it first.
        is_kept && (was_active || pool.set_active(false).is_ok())
    }

    /// Passes a buffer on that a frame is to be copied into, unless it is not as frames are to be.
    pub(super) fn admit(&self, target: gst::Buffer) -> Result<gst::Buffer, StageError> {
        self.judge(&target)?.map_err(StageError::Target)?;
        Ok(target)
    }

    /// A pool for copies, active: downstream's if it was [taken](Self::take), else ours as downstream
    /// wants it.
    pub(super) fn target(&self, said: &Downstream) -> Result<gst::BufferPool, StageError> {
        let asked = self.asked(said);
        // One that upstream took is in use, and not ours to configure.
        let theirs = said.pool.clone().filter(|pool| !pool.is_active());
        if let Some(pool) = theirs {
            asked.configure(&pool)?;
            pool::activate(&pool)?;
            return Ok(pool);
        }
        let pool = self.terms.pool()?.upcast();
        asked.configure(&pool)?;
        pool::activate(&pool)?;
        Ok(pool)
    }

    fn asked(&self, said: &Downstream) -> Asked<'_> {
        let allocator = said.allocator.clone();
        Asked {
            caps: &self.caps,
            size: said.size,
            min: said.min,
            max: said.max,
            allocator: allocator.map(|allocator| (Some(allocator), said.params)),
            video_meta: true,
            alignment: said.alignment,
        }
    }
}
