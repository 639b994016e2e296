//! The element's virtual functions; what they do is in the modules beside this one.

use std::sync::{
    LazyLock, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::{
    BaseTransform,
    prelude::*,
    subclass::{
        BaseTransformMode,
        base_transform::{
            InputBuffer,
            PrepareOutputBufferSuccess::{self, Buffer},
        },
        prelude::*,
    },
};
use gst_video::VideoCropMeta;

use super::{
    caps,
    choices::Fallback,
    frame::{Cause, FrameError},
    importer::{Content, Imported},
    intake::{Described, Intake, Taken},
    settings::{self, Settings},
    share::{Shared, share},
    stats::Stats,
};
use crate::{
    allocation::{downstream::Downstream, propose, provider},
    pads,
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    gst::DebugCategory::new(
        "tensorimport",
        gst::DebugColorFlags::empty(),
        Some("frames described as tensors without a copy"),
    )
});

/// The private half of [`TensorImport`](super::TensorImport).
#[derive(Debug)]
pub struct TensorImport {
    settings: Mutex<Settings>,
    /// `None` before the first start.
    intake: Mutex<Option<Intake>>,
    /// What the intake counted, to be read while it works: a log function may ask for `stats`.
    stats: Mutex<Stats>,
    /// Whether what is refused has been said of this stream.
    is_refusal_said: AtomicBool,
    /// Whether downstream is to be asked, before the next frame, how it wants copies.
    is_asking: AtomicBool,
}

impl TensorImport {
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intake(&self) -> MutexGuard<'_, Option<Intake>> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stats(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what only a running element can.
    fn with_intake<T>(&self, act: impl FnOnce(&mut Intake) -> T) -> Option<T> {
        self.intake().as_mut().map(|intake| {
            let done = act(intake);
            *self.stats() = intake.stats();
            done
        })
    }

    /// Forgets every import, because of what `why` names.
    fn new_generation(&self, why: &str) {
        let dropped = self.with_intake(|intake| intake.importer().new_generation()).unwrap_or(0);
        gst::debug!(CAT, imp = self, "{why}: a new generation, {dropped} imports dropped");
    }

    /// Asks downstream how it wants frames: the base class only does for elements that always copy.
    fn ask_downstream(&self) {
        self.is_asking.store(false, Ordering::Relaxed);
        let Some(caps) = self.with_intake(|intake| intake.caps().cloned()).flatten() else {
            return;
        };
        let mut query = gst::query::Allocation::new(Some(&caps), true);
        let is_answered = self.obj().src_pad().peer_query(query.query_mut());
        let said = if is_answered { Downstream::of(&query) } else { Downstream::default() };
        gst::debug!(CAT, imp = self, "downstream says {said:?}");
        self.with_intake(|intake| intake.set_downstream(said));
    }

    /// Puts the metas on a frame, or on a copy of it in other memory, which is given back.
    fn describe(&self, buffer: &mut gst::BufferRef) -> Result<Option<gst::Buffer>, gst::FlowError> {
        if self.is_asking.load(Ordering::Relaxed) {
            self.ask_downstream();
        }
        let taken = self.with_intake(|intake| intake.take(buffer));
        match taken.ok_or(FrameError::NoCaps).flatten().map_err(|error| self.fail(&error))? {
            Taken::Here(described) => {
                self.note(described);
                Ok(None)
            }
            Taken::Moved { mut to, why, bytes } => {
                let moved = to.make_mut();
                if let Err(error) = self.parent_copy_metadata(buffer, moved) {
                    gst::warning!(CAT, imp = self, "the copy of a frame lacks metas: {error}");
                }
                // What it asked for is done.
                if let Some(crop) = moved.meta_mut::<VideoCropMeta>() {
                    let _removed = crop.remove();
                }
                let attached = self.with_intake(|intake| intake.attach(moved));
                let attached = attached.ok_or(FrameError::NoCaps).flatten();
                let described = attached.map_err(|error| self.fail(&error))?;
                self.note_moved(&why, bytes, &described.imported);
                self.note(described);
                Ok(Some(to))
            }
        }
    }

    /// Logs a frame in one line, and reports when it is time to.
    fn note(&self, Described { imported, report }: Described) {
        if imported.hit {
            gst::trace!(CAT, imp = self, "hit: {imported}");
        } else if CAT.above_threshold(gst::DebugLevel::Debug) {
            let known = if imported.replaced { "known by another description" } else { "new" };
            let (live, most) =
                self.with_intake(|intake| intake.importer().fill()).unwrap_or_default();
            let held = format_args!("{live} of {most} imports held");
            gst::debug!(CAT, imp = self, "miss, {known}: {imported}; {held}");
        }
        if let Some(stats) = report {
            self.post(stats);
        }
    }

    fn note_moved(&self, why: &FrameError, bytes: u64, imported: &Imported) {
        if self.is_refusal_said.load(Ordering::Relaxed) {
            gst::log!(CAT, imp = self, "fallback, {bytes} bytes copied: {why}; now {imported}");
        } else {
            gst::info!(CAT, imp = self, "fallback, {bytes} bytes copied: {why}; now {imported}");
            self.refuse(why);
        }
    }

    /// Tells the application what is not taken as it came, once for each stream.
    fn refuse(&self, why: &FrameError) {
        if self.is_refusal_said.swap(true, Ordering::Relaxed) {
            return;
        }
        let told = self.with_intake(|intake| (intake.caps().cloned(), intake.fallback()));
        let (caps, fallback) = told.unwrap_or_default();
        let refused = gst::Structure::builder("tensor-refused")
            .field_if_some("caps", caps)
            .field("reason", why.to_string())
            .field("fallback", fallback)
            .build();
        self.post(refused);
    }

    /// Tells the application of caps that are not taken. Not an error: upstream may be trying what it
    /// has.
    fn refuse_caps(&self, caps: &gst::Caps, reason: &str) {
        gst::warning!(CAT, imp = self, "{caps} refused: {reason}");
        let refused = gst::Structure::builder("tensor-refused").field("caps", caps);
        self.post(refused.field("reason", reason).build());
    }

    fn post(&self, structure: gst::Structure) {
        let message = gst::message::Element::builder(structure).src(&*self.obj()).build();
        let _no_bus = self.post_message(message);
    }

    fn fail(&self, error: &FrameError) -> gst::FlowError {
        let caps = self.with_intake(|intake| intake.caps().cloned()).flatten();
        let caps = caps.map_or_else(|| "no caps".to_owned(), |caps| caps.to_string());
        gst::error!(CAT, imp = self, "refused: {error}; {caps}");
        if matches!(error, FrameError::NoCaps) {
            return gst::FlowError::NotNegotiated;
        }
        self.refuse(error);
        match error.cause() {
            Cause::Stream => {
                gst::element_imp_error!(self, gst::StreamError::Format, ("{error}"), ["{caps}"]);
            }
            Cause::Memory => {
                gst::element_imp_error!(self, gst::ResourceError::Read, ("{error}"), ["{caps}"]);
            }
            Cause::NoMemory => {
                let kind = gst::ResourceError::NoSpaceLeft;
                gst::element_imp_error!(self, kind, ("{error}"), ["{caps}"]);
            }
            Cause::Meta => {
                gst::element_imp_error!(self, gst::CoreError::Failed, ("{error}"), ["{caps}"]);
            }
        }
        gst::FlowError::Error
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorImport {
    const NAME: &'static str = "GstTensorImport";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorImport;
    type ParentType = BaseTransform;

    fn new() -> Self {
        Self {
            settings: Mutex::default(),
            intake: Mutex::default(),
            stats: Mutex::default(),
            is_refusal_said: AtomicBool::new(false),
            is_asking: AtomicBool::new(false),
        }
    }
}

impl ObjectImpl for TensorImport {
    fn properties() -> &'static [glib::ParamSpec] {
        settings::properties()
    }

    fn set_property(&self, _id: usize, value: &glib::Value, pspec: &glib::ParamSpec) {
        let mut settings = self.settings();
        if let Some(field) = settings.field(pspec.name()) {
            field.set(value);
        }
        let interval = settings.stats_interval;
        drop(settings);
        self.with_intake(|intake| intake.set_stats_interval(interval));
    }

    fn property(&self, _id: usize, pspec: &glib::ParamSpec) -> glib::Value {
        let set = self.settings().field(pspec.name()).map(|field| field.get());
        set.unwrap_or_else(|| {
            // Not held while a structure is made, which is logged.
            let stats = *self.stats();
            stats.to_structure().to_value()
        })
    }
}

impl GstObjectImpl for TensorImport {}

impl ElementImpl for TensorImport {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Tensor import",
                "Filter/Video",
                "Describes every frame as a tensor over its own memory, without a copy",
                "The gst-tensor authors",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let caps = caps::with_bitstreams();
            pads::templates(&caps, &caps)
        });
        &TEMPLATES
    }
}

impl BaseTransformImpl for TensorImport {
    const MODE: BaseTransformMode = BaseTransformMode::AlwaysInPlace;
    const PASSTHROUGH_ON_SAME_CAPS: bool = false;
    const TRANSFORM_IP_ON_PASSTHROUGH: bool = false;

    fn start(&self) -> Result<(), gst::ErrorMessage> {
        let options = self.settings().options();
        let options =
            options.map_err(|error| gst::error_msg!(gst::LibraryError::Settings, ("{error}")))?;
        *self.intake() = Some(Intake::new(options));
        Ok(())
    }

    fn stop(&self) -> Result<(), gst::ErrorMessage> {
        self.new_generation("stopped");
        self.with_intake(Intake::stop);
        Ok(())
    }

    fn set_caps(&self, incaps: &gst::Caps, _out: &gst::Caps) -> Result<(), gst::LoggableError> {
        self.is_refusal_said.store(false, Ordering::Relaxed);
        let set = self.with_intake(|intake| intake.set_caps(incaps));
        let content = set.ok_or(FrameError::NoCaps).flatten().map_err(|error| {
            self.refuse_caps(incaps, &error.to_string());
            gst::loggable_error!(CAT, "{incaps} refused: {error}")
        })?;
        let fallback = self.with_intake(|intake| intake.fallback());
        self.is_asking.store(fallback == Some(Fallback::Copy), Ordering::Relaxed);
        gst::debug!(CAT, imp = self, "{incaps}: {content:?}");
        Ok(())
    }

    /// A refusal is said with its reason: the element that hears it only sees a no.
    fn accept_caps(&self, direction: gst::PadDirection, caps: &gst::Caps) -> bool {
        let accepted = self.parent_accept_caps(direction, caps);
        if !accepted {
            let reason = match Content::from_caps(caps) {
                Ok(_) => "the elements around cannot handle them".to_owned(),
                Err(error) => error.to_string(),
            };
            self.refuse_caps(caps, &reason);
        }
        accepted
    }

    fn query(&self, direction: gst::PadDirection, query: &mut gst::QueryRef) -> bool {
        if query.type_() == gst::QueryType::Drain {
            self.new_generation("drain query");
        }
        BaseTransformImplExt::parent_query(self, direction, query)
    }

    fn sink_event(&self, event: gst::Event) -> bool {
        let kind = event.type_();
        if kind == gst::EventType::FlushStop {
            self.new_generation("flush");
        }
        if kind == gst::EventType::Eos {
            let stats =
                self.with_intake(|intake| intake.reports().then(|| intake.stats().to_structure()));
            if let Some(stats) = stats.flatten() {
                self.post(stats);
            }
        }
        self.parent_sink_event(event)
    }

    fn propose_allocation(
        &self,
        decided: Option<&gst::query::Allocation>,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        // Most sinks decline. That is no reason to answer nothing.
        if let Err(declined) = self.parent_propose_allocation(decided, query) {
            gst::debug!(CAT, imp = self, "downstream proposes nothing: {declined}");
        }
        propose::complete(query, &propose::Request::default(), provider::find);
        self.new_generation("allocation query");
        gst::debug!(CAT, imp = self, "answered {query:?}");
        Ok(())
    }

    fn prepare_output_buffer(
        &self,
        input: InputBuffer,
    ) -> Result<PrepareOutputBufferSuccess, gst::FlowError> {
        match input {
            InputBuffer::Writable(buffer) => {
                let moved = self.describe(buffer)?;
                Ok(moved.map_or(PrepareOutputBufferSuccess::InputBuffer, Buffer))
            }
            InputBuffer::Readable(buffer) => {
                let Shared { buffer: mut shared, copied_bytes } = share(buffer);
                if copied_bytes > 0 {
                    self.with_intake(|intake| intake.count_copied(copied_bytes));
                }
                let moved = self.describe(shared.make_mut())?;
                Ok(Buffer(moved.unwrap_or(shared)))
            }
        }
    }

    /// Whatever is not tied to the old memory goes over to a copy: the picture is the same.
    fn transform_meta<'a>(
        &self,
        _copy: &mut gst::BufferRef,
        _meta: gst::MetaRef<'a, gst::Meta>,
        _frame: &'a gst::BufferRef,
    ) -> bool {
        true
    }

    /// All is done once it is known which buffer leaves.
    fn transform_ip(
        &self,
        _buffer: &mut gst::BufferRef,
    ) -> Result<gst::FlowSuccess, gst::FlowError> {
        Ok(gst::FlowSuccess::Ok)
    }
}
