//! The element's virtual functions; what they do is in the modules beside this one.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::{
    BaseTransform,
    prelude::*,
    subclass::{BaseTransformMode, prelude::*},
};
use tensor_core::{
    convert::{ConvertOptions, Converter, Destination, Source},
    import_cache::DEFAULT_CAPACITY,
};

use super::{
    negotiate, pool,
    settings::{PROPERTIES, Settings},
    wish::{self, Wish, WishError},
};
use crate::{
    BufferTensorExt, TensorMeta,
    allocation::{propose, provider},
    memo, tensor_caps,
    tensorimport::{
        importer::{Importer, Stream},
        share::share,
    },
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("frames converted into inputs of models");
    gst::DebugCategory::new("tensorconvert", gst::DebugColorFlags::empty(), blurb)
});

/// What is there once both caps are known.
#[derive(Debug)]
struct Stage {
    importer: Importer,
    converter: Converter,
}

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

    /// The input that frames of `incaps` become, downstream being asked by `outcaps`.
    fn destination(
        &self,
        incaps: &gst::CapsRef,
        outcaps: &gst::CapsRef,
    ) -> Result<Destination, WishError> {
        let stream = Stream::from_caps(incaps)?;
        let own = Wish::new(&self.settings())?;
        let theirs = negotiate::wish_of_caps(outcaps, &own);
        Ok(own.or(theirs).destination([stream.layout.width(), stream.layout.height()]))
    }

    fn plan(&self, incaps: &gst::CapsRef, outcaps: &gst::CapsRef) -> Result<Stage, WishError> {
        let destination = self.destination(incaps, outcaps)?;
        let (dtype, shape) = tensor_caps::parse(outcaps)?;
        let wanted = (destination.dtype, destination.shape());
        if dtype != wanted.0
            || ![negotiate::batch_of_one(&destination), destination.shape()].contains(&shape)
        {
            let caps = Box::new((dtype, shape));
            return Err(WishError::Negotiated { caps, wanted: Box::new(wanted) });
        }
        let spec = wish::spec(&self.settings(), &destination)?;
        let stream = Stream::from_caps(incaps)?;
        let layout = &stream.layout;
        let source = Source::new(layout.format(), layout.width(), layout.height())
            .with_colorimetry(stream.colorimetry);
        let converter = Converter::new(&source, &spec, &destination, &ConvertOptions::default())?;
        let mut importer = Importer::new(DEFAULT_CAPACITY);
        importer.set_stream(stream);
        Ok(Stage { importer, converter })
    }
}

impl Stage {
    fn convert(
        &mut self,
        frame: &gst::BufferRef,
        out: &mut gst::BufferRef,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut frame = share(frame).buffer;
        self.importer.attach(frame.make_mut())?;
        let tensor = frame.tensor_meta().ok_or("the frame got no tensor")?.tensor(&frame)?;
        let input = memo::find(out.peek_memory(0), |_| true);
        let input = input.ok_or("the output buffer is not of this element's pool")?;
        self.converter.run(&tensor, &input.tensor)?;
        Ok(TensorMeta::add(out, &input)?)
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorConvert {
    const NAME: &'static str = "GstTensorConvert";
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
            [
                ("sink", gst::PadDirection::Sink, negotiate::sink_template()),
                ("src", gst::PadDirection::Src, negotiate::src_template()),
            ]
            .into_iter()
            .filter_map(|(name, direction, caps)| {
                gst::PadTemplate::new(name, direction, gst::PadPresence::Always, &caps).ok()
            })
            .collect()
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
        Ok(())
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
        let known = is_forward.then(|| self.destination(caps, &other).ok()).flatten();
        if let (Some(known), Some(first)) = (known, other.make_mut().structure_mut(0)) {
            let shape = negotiate::batch_of_one(&known);
            let full = tensor_caps::caps(known.dtype, &shape, gst::Fraction::new(0, 1));
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
        let planned = self.plan(incaps, out);
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
            gst::element_imp_error!(self, gst::StreamError::Format, ("{error}"));
            gst::FlowError::Error
        })?;
        Ok(gst::FlowSuccess::Ok)
    }
}
