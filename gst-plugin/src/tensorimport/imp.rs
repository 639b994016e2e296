//! The element's virtual functions; what they do is in the modules beside this one.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::{
    BaseTransform,
    subclass::{
        BaseTransformMode,
        base_transform::{InputBuffer, PrepareOutputBufferSuccess},
        prelude::*,
    },
};
use tensor_core::import_cache::DEFAULT_CAPACITY;

use super::{
    caps,
    frame::FrameError,
    importer::{Imported, Importer, Stream},
    share::share,
};
use crate::{
    allocation::{propose, provider},
    pads,
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    gst::DebugCategory::new(
        "tensorimport",
        gst::DebugColorFlags::empty(),
        Some("frames described as tensors without a copy"),
    )
});

#[derive(Debug)]
struct Settings {
    cache_size: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cache_size: u32::try_from(DEFAULT_CAPACITY).unwrap_or(u32::MAX) }
    }
}

impl Settings {
    fn importer(&self) -> Importer {
        Importer::new(usize::try_from(self.cache_size).unwrap_or(usize::MAX))
    }
}

/// The private half of [`TensorImport`](super::TensorImport).
#[derive(Debug)]
pub struct TensorImport {
    settings: Mutex<Settings>,
    importer: Mutex<Importer>,
}

impl TensorImport {
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn importer(&self) -> MutexGuard<'_, Importer> {
        self.importer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reset(&self) {
        let fresh = self.settings().importer();
        *self.importer() = fresh;
    }

    /// Forgets every import, because of what `why` names.
    fn new_generation(&self, why: &str) {
        let dropped = self.importer().new_generation();
        gst::debug!(CAT, imp = self, "{why}: a new generation, {dropped} imports dropped");
    }

    fn log_frame(&self, buffer: &gst::BufferRef, imported: &Imported, is_first: bool) {
        let Imported { placed, memory, hit } = imported;
        if is_first {
            gst::info!(
                CAT,
                imp = self,
                "first frame: {memory}, {:?}, in memories {:?} of {}",
                placed.layout,
                placed.handles.as_slice(),
                buffer.n_memory(),
            );
        }
        gst::trace!(CAT, imp = self, "{memory} {}", if *hit { "hit" } else { "import" });
    }

    fn fail(&self, error: &FrameError) -> gst::FlowError {
        gst::error!(CAT, imp = self, "{error}");
        match error {
            FrameError::NoCaps => return gst::FlowError::NotNegotiated,
            FrameError::Import(_) => {
                gst::element_imp_error!(self, gst::ResourceError::Read, ("{error}"));
            }
            FrameError::Meta(_) => {
                gst::element_imp_error!(self, gst::CoreError::Failed, ("{error}"));
            }
            FrameError::TooSmall { .. }
            | FrameError::Split { .. }
            | FrameError::MixedMemories { .. }
            | FrameError::Video(_)
            | FrameError::Layout(_)
            | FrameError::Transfer(_) => {
                gst::element_imp_error!(self, gst::StreamError::Format, ("{error}"));
            }
        }
        gst::FlowError::Error
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorImport {
    const NAME: &'static str = "GstTensorImport";
    type Type = super::TensorImport;
    type ParentType = BaseTransform;

    fn new() -> Self {
        let settings = Settings::default();
        let importer = Mutex::new(settings.importer());
        Self { settings: Mutex::new(settings), importer }
    }
}

impl ObjectImpl for TensorImport {
    fn properties() -> &'static [glib::ParamSpec] {
        static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
            let default = Settings::default().cache_size;
            vec![
                glib::ParamSpecUInt::builder("cache-size")
                    .nick("Cache size")
                    .blurb(&format!(
                        "Most imported buffers remembered at once, the oldest are forgotten \
                         (buffers, default {default}; takes effect when started)"
                    ))
                    .minimum(1)
                    .default_value(default)
                    .mutable_ready()
                    .build(),
                glib::ParamSpecBoxed::builder::<gst::Structure>("stats")
                    .nick("Statistics")
                    .blurb(
                        "Since the start: frames, imports, hits, evictions (counts); live \
                         (imported buffers held now); pinned-bytes, copied-bytes (bytes); \
                         memory (kind of the last frame's)",
                    )
                    .read_only()
                    .build(),
            ]
        });
        &PROPERTIES
    }

    fn set_property(&self, _id: usize, value: &glib::Value, pspec: &glib::ParamSpec) {
        if let ("cache-size", Ok(size)) = (pspec.name(), value.get()) {
            self.settings().cache_size = size;
        }
    }

    fn property(&self, _id: usize, pspec: &glib::ParamSpec) -> glib::Value {
        match pspec.name() {
            "cache-size" => self.settings().cache_size.to_value(),
            _ => self.importer().stats().to_value(),
        }
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
            let caps = caps::template();
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
        self.reset();
        Ok(())
    }

    fn stop(&self) -> Result<(), gst::ErrorMessage> {
        self.new_generation("stopped");
        Ok(())
    }

    fn set_caps(&self, incaps: &gst::Caps, _out: &gst::Caps) -> Result<(), gst::LoggableError> {
        let stream = Stream::from_caps(incaps)
            .map_err(|error| gst::loggable_error!(CAT, "{incaps} refused: {error}"))?;
        gst::debug!(CAT, imp = self, "{incaps}: {:?}", stream.layout);
        self.importer().set_stream(stream);
        Ok(())
    }

    /// A refusal is said with its reason: the element that hears it only sees a no.
    fn accept_caps(&self, direction: gst::PadDirection, caps: &gst::Caps) -> bool {
        let accepted = self.parent_accept_caps(direction, caps);
        if !accepted {
            let reason = match Stream::from_caps(caps) {
                Ok(_) => "the elements around cannot handle them".to_owned(),
                Err(error) => error.to_string(),
            };
            gst::warning!(CAT, imp = self, "{caps} refused: {reason}");
            let refused = gst::Structure::builder("tensor-refused")
                .field("caps", caps)
                .field("reason", reason)
                .build();
            // Not an error: upstream may be trying what it has.
            let message = gst::message::Element::builder(refused).src(&*self.obj()).build();
            let _no_bus = self.post_message(message);
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
        if event.type_() == gst::EventType::FlushStop {
            self.new_generation("flush");
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
        propose::complete(query, provider::find);
        self.new_generation("allocation query");
        gst::debug!(CAT, imp = self, "answered {query:?}");
        Ok(())
    }

    fn prepare_output_buffer(
        &self,
        input: InputBuffer,
    ) -> Result<PrepareOutputBufferSuccess, gst::FlowError> {
        match input {
            InputBuffer::Writable(_) => Ok(PrepareOutputBufferSuccess::InputBuffer),
            InputBuffer::Readable(buffer) => {
                let shared = share(buffer);
                self.importer().count_copied(shared.copied_bytes);
                Ok(PrepareOutputBufferSuccess::Buffer(shared.buffer))
            }
        }
    }

    fn transform_ip(
        &self,
        buffer: &mut gst::BufferRef,
    ) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut importer = self.importer();
        let is_first = importer.is_first();
        let attached = importer.attach(buffer);
        // Logging and messages run foreign code, which may ask for `stats`.
        drop(importer);
        let imported = attached.map_err(|error| self.fail(&error))?;
        self.log_frame(buffer, &imported, is_first);
        Ok(gst::FlowSuccess::Ok)
    }
}
