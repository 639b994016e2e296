use std::sync::{
    Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use gst::{
    BufferPoolAcquireParams, BufferPoolConfigRef, FlowError, glib, prelude::*, subclass::prelude::*,
};
use gst_video::{BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, BUFFER_POOL_OPTION_VIDEO_META};
use tensor_core::{StrideAlign, TensorMemory, memory::Allocation};

use super::{builder::Settings, error::PoolError, plan::Plan};
use crate::allocator::{AllocatorError, wrap};

static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("Pool of video frames in dma-bufs");
    gst::DebugCategory::new("tensorbufferpool", gst::DebugColorFlags::empty(), blurb)
});

#[derive(Debug, Default)]
pub struct TensorBufferPool {
    settings: OnceLock<Settings>,
    plan: Mutex<Option<Arc<Plan>>>,
    /// Whether it was said that the machine gives less than the best memory.
    said: AtomicBool,
    /// Whether any buffer's pages are not known to be one run.
    pub(super) is_scattered: AtomicBool,
    /// Times that a buffer was taken.
    pub(super) taken: AtomicUsize,
    /// Why there was no buffer, the last time.
    pub(super) last_error: Mutex<Option<PoolError>>,
}

impl TensorBufferPool {
    /// Decides how to allocate, once for the pool's life.
    pub(super) fn settle(&self, settings: Settings) {
        self.settings.get_or_init(|| settings);
    }

    /// A pool made by `g_object_new` has the default settings.
    fn settings(&self) -> &Settings {
        self.settings.get_or_init(Settings::default)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.settings.get().is_none_or(|settings| *settings == Settings::default())
    }

    fn plan(&self) -> MutexGuard<'_, Option<Arc<Plan>>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `config` to the base class, which allocates the least number when it starts; here one.
    fn keep(&self, config: &mut BufferPoolConfigRef) -> bool {
        let Some((caps, size, min, max)) = config.params() else { return false };
        config.set_params(caps.as_ref(), size, 1, max);
        let is_kept = self.parent_set_config(config);
        config.set_params(caps.as_ref(), size, min, max);
        is_kept
    }

    fn new_buffer(&self) -> Result<gst::Buffer, PoolError> {
        let plan = self.plan().clone().ok_or(PoolError::NotConfigured)?;
        let memory = match self.memory_from(plan.allocator.as_ref(), &plan) {
            Some(memory) => memory,
            None => self.own_memory(&plan)?,
        };
        if !memory.flags().contains(gst::MemoryFlags::PHYSICALLY_CONTIGUOUS) {
            self.is_scattered.store(true, Ordering::Relaxed);
        }
        plan.buffer(memory, self.settings().access)
    }

    /// Memory from an allocator that somebody else configured, if there is one and it has any.
    fn memory_from(&self, allocator: Option<&gst::Allocator>, plan: &Plan) -> Option<gst::Memory> {
        let allocator = allocator?;
        let memory = allocator.alloc(plan.size, Some(&plan.params));
        if memory.is_err() {
            gst::warning!(CAT, imp = self, "{} gave no memory", allocator.name());
        }
        memory.ok()
    }

    fn own_memory(&self, plan: &Plan) -> Result<gst::Memory, AllocatorError> {
        let (size, padding) = (plan.size, plan.params.padding());
        let len = size.checked_add(padding).ok_or(AllocatorError::Overflow { size, padding })?;
        let Settings { policy, access, .. } = self.settings();
        let allocation = policy.allocate(len, *access)?;
        self.say_once(&allocation);
        if allocation.memory.fd().is_some() {
            wrap(&allocation.memory, size)
        } else {
            system_memory(plan, self.settings().align)
        }
    }

    fn say_once(&self, allocation: &Allocation) {
        if allocation.attempts.is_empty() || self.said.swap(true, Ordering::Relaxed) {
            return;
        }
        let kind = allocation.memory.kind();
        let passed_over: Vec<_> = allocation.attempts.iter().map(ToString::to_string).collect();
        let passed_over = passed_over.join("; ");
        if kind == TensorMemory::DmaBuf {
            gst::info!(CAT, imp = self, "frames are {kind}; passed over: {passed_over}");
        } else {
            gst::warning!(CAT, imp = self, "frames are {kind}, not dma-buf: {passed_over}");
        }
    }
}

/// The last resort: memory of this process, in which rows are aligned too. GStreamer's own, since
/// there is nothing to import.
fn system_memory(plan: &Plan, align: StrideAlign) -> Result<gst::Memory, AllocatorError> {
    let mask = plan.params.align() | align.bytes().saturating_sub(1);
    let params = gst::AllocationParams::new(plan.params.flags(), mask, 0, plan.params.padding());
    Ok(gst::Allocator::find(None)
        .ok_or_else(|| glib::bool_error!("GStreamer has no default allocator"))?
        .alloc(plan.size, Some(&params))?)
}

#[glib::object_subclass]
impl ObjectSubclass for TensorBufferPool {
    const NAME: &'static str = "GstTensorBufferPool";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorBufferPool;
    type ParentType = gst::BufferPool;
}

impl ObjectImpl for TensorBufferPool {}
impl GstObjectImpl for TensorBufferPool {}

impl BufferPoolImpl for TensorBufferPool {
    fn options() -> &'static [&'static str] {
        // The strings of the bindings' statics, which are not constants.
        static OPTIONS: LazyLock<[&str; 2]> = LazyLock::new(|| {
            [BUFFER_POOL_OPTION_VIDEO_META.as_str(), BUFFER_POOL_OPTION_VIDEO_ALIGNMENT.as_str()]
        });
        &*OPTIONS
    }

    fn set_config(&self, config: &mut BufferPoolConfigRef) -> bool {
        // The base class keeps even a refused configuration and takes it for accepted when it comes
        // again, so the plan is always that of the latest one.
        let settled = Plan::settle(config, self.settings().align);
        let (plan, changed) = match settled {
            Ok((plan, changed)) => (Some(Arc::new(plan)), changed),
            Err(error) => {
                gst::warning!(CAT, imp = self, "configuration refused: {error}");
                (None, true)
            }
        };
        let is_usable = plan.is_some();
        *self.plan() = plan;
        is_usable && self.keep(config) && !changed
    }

    fn acquire_buffer(
        &self,
        params: Option<&BufferPoolAcquireParams>,
    ) -> Result<gst::Buffer, FlowError> {
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.parent_acquire_buffer(params)
    }

    fn alloc_buffer(
        &self,
        _params: Option<&BufferPoolAcquireParams>,
    ) -> Result<gst::Buffer, FlowError> {
        self.new_buffer().map_err(|error| {
            gst::error!(CAT, imp = self, "no buffer: {error}");
            *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            FlowError::Error
        })
    }
}
