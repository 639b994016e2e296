//! The element's virtual functions; what they do is in the modules beside this one.

use std::{
    mem,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_allocators::DmaBufMemory;
use gst_base::{
    BaseTransform,
    subclass::{BaseTransformMode, base_transform::GenerateOutputSuccess, prelude::*},
};

use super::{
    caps,
    fit::Misfit,
    settings::{self, Settings},
    stage::{Stage, StageError},
    stats::{Counters, Mode},
};
use crate::{
    allocation::{
        downstream::Downstream,
        offered::Offered,
        propose::{self, Provider},
    },
    memo, pads, pool,
    tensorimport::caps as templates,
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("frames put into memory that accelerators take");
    gst::DebugCategory::new("tensorpool", gst::DebugColorFlags::empty(), blurb)
});

#[derive(Debug, Default)]
struct State {
    stage: Option<Arc<Stage>>,
    downstream: Arc<Downstream>,
    /// Where copies go, made for the first.
    target: Option<gst::BufferPool>,
    /// What upstream may be filling.
    offered: Option<Offered>,
    counters: Counters,
}

/// The private half of [`TensorPool`](super::TensorPool).
#[derive(Debug, Default)]
pub struct TensorPool {
    settings: Mutex<Settings>,
    state: Mutex<State>,
}

impl TensorPool {
    /// Held for a moment, as the [state](Self::state).
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held for a moment: what is called with it must not log, and what is replaced not be dropped,
    /// since that logs and a log function may read `stats`.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the pool for copies, so that its memory is free before that of another is taken.
    fn drop_target(&self) {
        let target = self.state().target.take();
        if let Some(pool) = target {
            let _was_active = pool.set_active(false);
        }
    }

    /// Makes whoever waits for a buffer stop waiting, or lets them wait again.
    fn set_flushing(&self, is_flushing: bool) {
        let target = self.state().target.clone();
        if let Some(pool) = target {
            pool.set_flushing(is_flushing);
        }
    }

    /// A buffer for a copy.
    fn target(&self, stage: &Stage) -> Result<gst::Buffer, gst::FlowError> {
        loop {
            let error = match self.acquire(stage).and_then(|target| stage.admit(target)) {
                Ok(target) => return Ok(target),
                Err(error) => error,
            };
            let goes_on = !error.is_flushing() && self.give_up_theirs();
            if !goes_on {
                return Err(self.fail(&error));
            }
            gst::warning!(CAT, imp = self, "downstream's memory is not used any more: {error}");
        }
    }

    fn acquire(&self, stage: &Stage) -> Result<gst::Buffer, StageError> {
        let (target, said) = {
            let state = self.state();
            (state.target.clone(), Arc::clone(&state.downstream))
        };
        let pool = match target {
            Some(pool) => pool,
            None => {
                let pool = stage.target(&said)?;
                let config = pool.config();
                gst::debug!(CAT, imp = self, "copies go into {pool:?}: {config:?}");
                let _none = self.state().target.replace(pool.clone());
                pool
            }
        };
        Ok(pool::acquire(&pool)?)
    }

    /// Forgets the memory that downstream offered; says whether it had offered any.
    fn give_up_theirs(&self) -> bool {
        let said = Arc::clone(&self.state().downstream);
        if said.pool.is_none() && said.allocator.is_none() {
            return false;
        }
        let without = Downstream { pool: None, allocator: None, ..Downstream::clone(&said) };
        self.drop_target();
        let _before = mem::replace(&mut self.state().downstream, Arc::new(without));
        true
    }

    /// The frame as it leaves.
    fn provide(&self, frame: gst::Buffer) -> Result<gst::Buffer, gst::FlowError> {
        let stage = self.state().stage.clone().ok_or(gst::FlowError::NotNegotiated)?;
        let Err(misfit) = stage.judge(&frame).map_err(|error| self.fail(&error))? else {
            let mode = if memo::is_born(frame.peek_memory(0)) { Mode::Pool } else { Mode::Foreign };
            self.count(&frame, mode, 0, None);
            return Ok(frame);
        };
        let mut copy = self.target(&stage)?;
        let target = copy.make_mut();
        let metadata = self.copy_metadata(&frame, target);
        metadata.map_err(|error| {
            gst::element_imp_error!(self, gst::StreamError::Failed, ("{error}"));
            gst::FlowError::Error
        })?;
        let bytes = stage.copy(&frame, target).map_err(|error| self.fail(&error))?;
        self.count(&copy, Mode::Copy, bytes, Some(misfit));
        Ok(copy)
    }

    /// Counts a frame that leaves, and says how it came to be where it is when that changes.
    fn count(&self, frame: &gst::BufferRef, mode: Mode, bytes: u64, misfit: Option<Misfit>) {
        let is_dma_buf = frame.peek_memory(0).is_memory_type::<DmaBufMemory>();
        let is_new = self.state().counters.count(mode, bytes, is_dma_buf);
        let memory = if is_dma_buf { "dmabuf" } else { "shm" };
        gst::trace!(CAT, imp = self, "{}, {memory}, {bytes} bytes copied", mode.name());
        if !is_new {
            return;
        }
        match misfit {
            Some(misfit) => {
                gst::info!(
                    CAT,
                    imp = self,
                    "frames are copied to {memory}, {bytes} bytes: {misfit}"
                );
            }
            None if mode == Mode::Pool => {
                gst::info!(CAT, imp = self, "upstream fills our pool ({memory}), 0 bytes copied");
            }
            None => {
                gst::info!(CAT, imp = self, "upstream's own {memory} is as good, 0 bytes copied");
            }
        }
    }

    /// Why the frames of a stream that ends never came, if we are to know; told once.
    fn refusal(&self) -> Option<String> {
        let (offered, frames) = {
            let mut state = self.state();
            (state.offered.take(), state.counters.frames())
        };
        let why = offered?.refusal(frames)?;
        gst::warning!(CAT, imp = self, "{why}");
        Some(why)
    }

    fn fail(&self, error: &StageError) -> gst::FlowError {
        if error.is_flushing() {
            return gst::FlowError::Flushing;
        }
        match error {
            StageError::Pool(_) | StageError::Gst(_) | StageError::Target(_) => {
                gst::element_imp_error!(self, gst::ResourceError::NoSpaceLeft, ("{error}"));
            }
            StageError::Frame(_) | StageError::Layout(_) => {
                gst::element_imp_error!(self, gst::StreamError::Format, ("{error}"));
            }
            StageError::Copy(_) => {
                gst::element_imp_error!(self, gst::ResourceError::Read, ("{error}"));
            }
        }
        gst::FlowError::Error
    }

    /// What upstream can have its frames in.
    fn provider(&self, stage: &Stage) -> Option<Provider> {
        match stage.terms.pool() {
            Ok(pool) => {
                let offered = Offered::new(&pool, self.state().counters.frames());
                let _before = self.state().offered.replace(offered);
                Some(Provider { pool: pool.upcast(), allocator: stage.terms.allocator() })
            }
            Err(error) => {
                gst::warning!(CAT, imp = self, "no pool to offer: {error}");
                None
            }
        }
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorPool {
    const NAME: &'static str = "GstTensorPool";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorPool;
    type ParentType = BaseTransform;
}

impl ObjectImpl for TensorPool {
    fn properties() -> &'static [glib::ParamSpec] {
        settings::properties()
    }

    fn set_property(&self, _id: usize, value: &glib::Value, pspec: &glib::ParamSpec) {
        if let Some(field) = self.settings().field(pspec.name()) {
            field.set(value);
        }
    }

    fn property(&self, _id: usize, pspec: &glib::ParamSpec) -> glib::Value {
        let setting = self.settings().field(pspec.name()).map(|field| field.get());
        setting.unwrap_or_else(|| {
            let counters = self.state().counters;
            counters.to_structure().to_value()
        })
    }
}

impl GstObjectImpl for TensorPool {}

impl ElementImpl for TensorPool {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Tensor pool",
                "Filter/Video",
                "Has frames written into aligned dma-bufs, or copies them there once",
                "The gst-tensor authors",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let caps = templates::template();
            pads::templates(&caps, &caps)
        });
        &TEMPLATES
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        if transition == gst::StateChange::PausedToReady {
            self.set_flushing(true);
        }
        self.parent_change_state(transition)
    }
}

impl BaseTransformImpl for TensorPool {
    const MODE: BaseTransformMode = BaseTransformMode::NeverInPlace;
    const PASSTHROUGH_ON_SAME_CAPS: bool = false;
    const TRANSFORM_IP_ON_PASSTHROUGH: bool = false;

    fn start(&self) -> Result<(), gst::ErrorMessage> {
        let _before = mem::take(&mut *self.state());
        Ok(())
    }

    fn stop(&self) -> Result<(), gst::ErrorMessage> {
        self.drop_target();
        // An application that stops at upstream's error sees this in the log alone.
        let _logged = self.refusal();
        let _stage = self.state().stage.take();
        let _said = mem::take(&mut self.state().downstream);
        Ok(())
    }

    fn transform_caps(
        &self,
        direction: gst::PadDirection,
        caps: &gst::Caps,
        filter: Option<&gst::Caps>,
    ) -> Option<gst::Caps> {
        let settings = *self.settings();
        let other = caps::of_other_side(caps, direction, settings.may_be_dma_bufs());
        Some(match filter {
            Some(filter) => filter.intersect_with_mode(&other, gst::CapsIntersectMode::First),
            None => other,
        })
    }

    fn set_caps(&self, _in: &gst::Caps, out: &gst::Caps) -> Result<(), gst::LoggableError> {
        self.drop_target();
        let settings = *self.settings();
        let terms = settings.terms(caps::need_dma_bufs(out)).map_err(|error| {
            gst::element_imp_error!(self, gst::LibraryError::Settings, ("{error}"));
            gst::loggable_error!(CAT, "{out}: {error}")
        })?;
        let stage = Stage::new(out, terms)
            .map_err(|error| gst::loggable_error!(CAT, "{out} refused: {error}"))?;
        gst::debug!(CAT, imp = self, "{out}: frames are to be {:?}", stage.terms);
        let _before = self.state().stage.replace(Arc::new(stage));
        Ok(())
    }

    fn propose_allocation(
        &self,
        decided: Option<&gst::query::Allocation>,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        self.parent_propose_allocation(decided, query)?;
        let (stage, said) = {
            let state = self.state();
            (state.stage.clone(), Arc::clone(&state.downstream))
        };
        let stage = stage.ok_or_else(|| gst::loggable_error!(CAT, "no caps yet"))?;
        if said.pool.is_some() || said.size > 0 {
            query.add_allocation_pool(said.pool.as_ref(), said.size, said.min, said.max);
        }
        if said.allocator.is_some() {
            query.add_allocation_param(said.allocator.as_ref(), said.params);
        }
        propose::complete(query, &stage.terms.request, || self.provider(&stage));
        gst::debug!(CAT, imp = self, "answered {query:?}");
        Ok(())
    }

    fn decide_allocation(
        &self,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        let said = Downstream::of(query);
        gst::debug!(CAT, imp = self, "downstream says {said:?}");
        // Its memory is free before a buffer of another pool is looked at.
        self.drop_target();
        let stage = self.state().stage.clone();
        let stage = stage.ok_or_else(|| gst::loggable_error!(CAT, "no caps yet"))?;
        let said = stage.take(said);
        gst::debug!(CAT, imp = self, "of it is used {said:?}");
        if !said.reads_video_meta {
            gst::info!(CAT, imp = self, "downstream does not say that it reads GstVideoMeta");
        }
        // The base class would fill and start a pool that is perhaps never needed.
        while query.allocation_pools().len() > 0 {
            query.remove_nth_allocation_pool(0);
        }
        let _before = mem::replace(&mut self.state().downstream, Arc::new(said));
        Ok(())
    }

    fn sink_event(&self, event: gst::Event) -> bool {
        let is_start = event.type_() == gst::EventType::FlushStart;
        if is_start || event.type_() == gst::EventType::FlushStop {
            self.set_flushing(is_start);
        }
        let ends = event.type_() == gst::EventType::Eos;
        if let Some(why) = ends.then(|| self.refusal()).flatten() {
            gst::element_imp_warning!(self, gst::ResourceError::Settings, ("{why}"));
        }
        self.parent_sink_event(event)
    }

    /// Whatever is not tied to the old memory goes over to the copy: the picture is the same.
    fn transform_meta<'a>(
        &self,
        _copy: &mut gst::BufferRef,
        _meta: gst::MetaRef<'a, gst::Meta>,
        _frame: &'a gst::BufferRef,
    ) -> bool {
        true
    }

    fn generate_output(&self) -> Result<GenerateOutputSuccess, gst::FlowError> {
        let Some(frame) = self.take_queued_buffer() else {
            return Ok(GenerateOutputSuccess::NoOutput);
        };
        self.provide(frame).map(GenerateOutputSuccess::Buffer)
    }
}
