//! The element's virtual functions; what they do is in the modules beside this one.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::{
    BaseTransform,
    prelude::*,
    subclass::{BaseTransformMode, prelude::*},
};
use gst_video::VideoCropMeta;

use super::{
    negotiate, pool,
    settings::{PROPERTIES, Settings},
    stage::Stage,
    wish::Wish,
};
use crate::{
    allocation::{propose, provider},
    pads,
    tensorimport::importer::Stream,
    video_layout,
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
        let forgotten = self.stage().as_mut().map(Stage::new_generation);
        let dropped = forgotten.map_or(0, |(imports, _outputs)| imports);
        gst::debug!(CAT, imp = self, "{why}: a new generation, {dropped} imports dropped");
    }

    /// Fills in what the first of `outcaps` leaves open of the input that frames of `incaps` become.
    fn fill_in(&self, incaps: &gst::CapsRef, outcaps: &mut gst::CapsRef) -> Option<()> {
        let frames = video_layout::info_from_caps(incaps).ok()?;
        let stream = Stream::from_caps(incaps).ok()?;
        let wish = Wish::of(&self.settings(), outcaps).ok()?;
        let input = wish.destination([stream.layout.width(), stream.layout.height()]);
        negotiate::fixate(outcaps.structure_mut(0)?, &input, &frames);
        Some(())
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
        // Dropped once the lock is given back.
        let _old = self.stage().take();
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
        if is_forward {
            // What is wrong is said by set_caps, which can fail.
            let _filled_in = self.fill_in(caps, other.make_mut());
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
        let content = stage.origin().content.pixels();
        gst::debug!(CAT, imp = self, "{incaps} to {out}, the image at {content}");
        // Dropped once the lock is given back.
        let _old = self.stage().replace(stage);
        Ok(())
    }

    fn propose_allocation(
        &self,
        _decided: Option<&gst::query::Allocation>,
        query: &mut gst::query::Allocation,
    ) -> Result<(), gst::LoggableError> {
        propose::complete(query, &propose::Request::default(), provider::find);
        // The frame ends here, so that cropping is ours to promise.
        if query.find_allocation_meta::<VideoCropMeta>().is_none() {
            query.add_allocation_meta::<VideoCropMeta>(None);
        }
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
        let known = self.stage().as_ref().map(|stage| (stage.described().clone(), stage.origin()));
        let (described, origin) = known.ok_or_else(|| gst::loggable_error!(CAT, "no caps yet"))?;
        pool::decide(query, &caps, &described, origin)?;
        // The old pool's memories are freed with it.
        let _old = self.stage().as_mut().map(Stage::new_outputs);
        gst::debug!(CAT, imp = self, "decided {query:?}");
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
