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
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Gst(#[from] glib::BoolError),
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

    /// A pool for copies, active: downstream's if it has one, else ours as downstream wants it.
    pub(super) fn target(&self, downstream: &Downstream) -> Result<gst::BufferPool, StageError> {
        let (min, max) = self.terms.request.buffers(downstream.min, downstream.max);
        let allocator = downstream.allocator.clone();
        let allocator = allocator.filter(|_| self.terms.takes_any_dma_bufs());
        let asked = Asked {
            caps: &self.caps,
            size: downstream.size,
            min,
            max,
            allocator: allocator.map(|allocator| (Some(allocator), downstream.params)),
            video_meta: true,
            alignment: downstream.alignment,
        };
        // One that upstream took is in use, and not ours to configure.
        let theirs = downstream.pool.clone().filter(|pool| !pool.is_active());
        if let Some(pool) = theirs
            && asked.serves(&pool, |buffer| buffer.n_memory() == 1)
        {
            return Ok(pool);
        }
        let pool = self.terms.pool()?.upcast();
        asked.configure(&pool)?;
        pool::activate(&pool)?;
        Ok(pool)
    }
}
