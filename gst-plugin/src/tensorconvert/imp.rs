//! The element's virtual functions; what they do is in the modules beside this one.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::{
    BaseTransform,
    prelude::*,
    subclass::{BaseTransformMode, prelude::*},
};

use super::{
    negotiate, pool,
    settings::{PROPERTIES, Settings},
    stage::Stage,
    wish::Wish,
};
use crate::{
    allocation::{propose, provider},
    pads, tensor_caps,
    tensorimport::importer::Stream,
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("frames converted into inputs of models");
    gst::DebugCategory::new("tensorconvert", gst::DebugColorFlags::empty(), blurb)
});

/// The private half of [`TensorConvert`](super::TensorConvert).
#[derive(Debug, Default)]
pub struct TensorConvert {
    settings: Mutex<Settings>,
    stage: Mutex<Option<Stage>>,
}

impl TensorConvert {
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stage(&self) -> MutexGuard<'_, Option<Stage>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was remembered of upstream's buffers, because of what `why` names.
    fn new_generation(&self, why: &str) {
        let dropped = self.stage().as_mut().map_or(0, Stage::new_generation);
        gst::debug!(CAT, imp = self, "{why}: a new generation, {dropped} imports dropped");
    }

    /// The caps of the input that frames of `incaps` become, when `outcaps` are what is open.
    fn known(&self, incaps: &gst::CapsRef, outcaps: &gst::CapsRef) -> Option<gst::Caps> {
        let stream = Stream::from_caps(incaps).ok()?;
        let wish = Wish::of(&self.settings(), outcaps).ok()?;
        let input = wish.destination([stream.layout.width(), stream.layout.height()]);
        let (shape, rate) = (negotiate::batch_of_one(&input), gst::Fraction::new(0, 1));
        Some(tensor_caps::caps(input.dtype, &shape, rate))
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorConvert {
    const NAME: &'static str = "GstTensorConvert";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorConvert;
    type ParentType = BaseTransform;
}

impl ObjectImpl for TensorConvert {
    fn properties() -> &'static [glib::ParamSpec] {
        &PROPERTIES
    }

    fn set_property(&self, _id: usize, value: &glib::Value, pspec: &glib::ParamSpec) {
        self.settings().set(pspec.name(), value);
    }

    fn property(&self, _id: usize, pspec: &glib::ParamSpec) -> glib::Value {
        let value = self.settings().value(pspec.name()).map(|value| (**value).clone());
        value.unwrap_or_else(|| pspec.default_value().clone())
    }
}

impl GstObjectImpl for TensorConvert {}

impl ElementImpl for TensorConvert {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Tensor convert",
                "Converter/Video",
                "Makes a model's input of every frame, in one pass",
                "The gst-tensor authors",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            pads::templates(&negotiate::sink_template(), &negotiate::src_template())
        });
        &TEMPLATES
    }
}

impl BaseTransformImpl for TensorConvert {
    const MODE: BaseTransformMode = BaseTransformMode::NeverInPlace;
    const PASSTHROUGH_ON_SAME_CAPS: bool = false;
    const TRANSFORM_IP_ON_PASSTHROUGH: bool = false;

    fn stop(&self) -> Result<(), gst::ErrorMessage> {
        *self.stage() = None;
        self.settings().forget_model();
        Ok(())
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

    fn transform_caps(
        &self,
        direction: gst::PadDirection,
        caps: &gst::Caps,
        filter: Option<&gst::Caps>,
    ) -> Option<gst::Caps> {
        let template = if direction == gst::PadDirection::Src {
            negotiate::sink_template()
        } else {
            // What is wrong with the properties is said by set_caps, which can fail.
            negotiate::src_caps(&Wish::new(&self.settings()).unwrap_or_default())
        };
        let all = negotiate::at_framerates_of(&template, caps);
        Some(match filter {
            Some(filter) => filter.intersect_with_mode(&all, gst::CapsIntersectMode::First),
            None => all,
        })
    }

    fn fixate_caps(
        &self,
        direction: gst::PadDirection,
        caps: &gst::Caps,
        mut other: gst::Caps,
    ) -> gst::Caps {
        // The base class does not ask downstream about caps that only lack fields.
        let is_forward = direction == gst::PadDirection::Sink;
        if is_forward {
            let downstream = self.obj().src_pad().peer_query_caps(Some(&other));
            if !downstream.is_empty() {
                other = downstream;
            }
        }
        other.truncate();
        let full = is_forward.then(|| self.known(caps, &other)).flatten();
        if let (Some(full), Some(first)) = (full, other.make_mut().structure_mut(0)) {
            for field in ["types", "dimensions"] {
                // Caps that say it already are kept, so that what does not fit is refused.
                let value = full.structure(0).and_then(|full| full.value(field).ok());
                if let (false, Some(value)) = (first.has_field(field), value) {
                    first.set_value(field, value.to_owned());
                }
            }
        }
        other.fixate();
        other
    }

    fn set_caps(&self, incaps: &gst::Caps, out: &gst::Caps) -> Result<(), gst::LoggableError> {
        let planned = Stage::plan(&self.settings(), incaps, out);
        let stage = planned.map_err(|error| {
            gst::element_imp_error!(self, gst::LibraryError::Settings, ("{error}"));
            gst::loggable_error!(CAT, "{incaps} to {out}: {error}")
        })?;
        let content = stage.converter.content_region().pixels();
        gst::debug!(CAT, imp = self, "{incaps} to {out}, the image at {content}");
        *self.stage() = Some(stage);
        Ok(())
    }

    fn propose_allocation(
        &self,
        _decided: Option<&gst::query::Allocation>,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        propose::complete(query, &propose::Request::default(), provider::find);
        self.new_generation("allocation query");
        Ok(())
    }

    fn decide_allocation(
        &self,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        let caps = query.get_owned().0;
        let caps =
            caps.ok_or_else(|| gst::loggable_error!(CAT, "allocation query without caps"))?;
        let destination = self.stage().as_ref().map(|stage| stage.converter.destination().clone());
        let destination = destination.ok_or_else(|| gst::loggable_error!(CAT, "no caps yet"))?;
        let size = pool::size(&destination).and_then(|size| u32::try_from(size).ok());
        let pool = pool::new(&destination, &caps)?;
        while query.allocation_pools().len() > 0 {
            query.remove_nth_allocation_pool(0);
        }
        query.add_allocation_pool(Some(&pool), size.unwrap_or(0), 1, 0);
        Ok(())
    }

    fn transform(
        &self,
        inbuf: &gst::Buffer,
        outbuf: &mut gst::BufferRef,
    ) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut stage = self.stage();
        let stage_of_stream = stage.as_mut().ok_or(gst::FlowError::NotNegotiated)?;
        let converted = stage_of_stream.convert(inbuf, outbuf);
        drop(stage);
        converted.map_err(|error| {
            gst::error!(CAT, imp = self, "{error}");
            error.post(&*self.obj());
            gst::FlowError::Error
        })?;
        Ok(gst::FlowSuccess::Ok)
    }
}
