//! What is there once both caps are known: it makes an input of every frame.

use gst::glib;
use tensor_core::{
    convert::{ConvertOptions, Converter, RunError, Source},
    import_cache::DEFAULT_CAPACITY,
};
use thiserror::Error;

use super::{
    negotiate,
    settings::Settings,
    wish::{self, Wish, WishError},
};
use crate::{
    BufferTensorExt, FrameTensorError, TensorMeta, TensorMetaError, memo, tensor_caps,
    tensorimport::{
        frame::FrameError,
        importer::{Importer, Stream},
        share::share,
    },
};

/// Why a frame is not converted.
#[derive(Debug, Error)]
pub(super) enum StageError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The frame was described and has no description.
    #[error("the frame got no tensor")]
    NoTensor,
    #[error(transparent)]
    Tensor(#[from] FrameTensorError),
    /// A buffer whose memory is no input.
    #[error("the output buffer is not of this element's pool")]
    Output,
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Meta(#[from] TensorMetaError),
}

impl StageError {
    /// Says it on the bus of `element`, in the domain it belongs to.
    pub(super) fn post(&self, element: &impl glib::object::IsA<gst::Element>) {
        match self {
            Self::Frame(FrameError::Import(_)) | Self::Tensor(_) => {
                gst::element_error!(element, gst::ResourceError::Read, ("{self}"));
            }
            Self::Meta(_) | Self::NoTensor | Self::Output => {
                gst::element_error!(element, gst::CoreError::Failed, ("{self}"));
            }
            Self::Frame(_) | Self::Run(_) => {
                gst::element_error!(element, gst::StreamError::Format, ("{self}"));
            }
        }
    }
}

/// Frames and inputs of one pair of caps.
#[derive(Debug)]
pub(super) struct Stage {
    importer: Importer,
    pub(super) converter: Converter,
}

impl Stage {
    pub(super) fn plan(
        settings: &Settings,
        incaps: &gst::CapsRef,
        outcaps: &gst::CapsRef,
    ) -> Result<Self, WishError> {
        let stream = Stream::from_caps(incaps)?;
        let layout = &stream.layout;
        let destination =
            Wish::of(settings, outcaps)?.destination([layout.width(), layout.height()]);
        let caps = tensor_caps::parse(outcaps)?;
        let wanted = (destination.dtype, destination.shape());
        let shapes = [negotiate::batch_of_one(&destination), destination.shape()];
        if caps.0 != wanted.0 || !shapes.contains(&caps.1) {
            let caps = Box::new(caps);
            return Err(WishError::Negotiated { caps, wanted: Box::new(wanted) });
        }
        let spec = wish::spec(settings, &destination)?;
        let source = Source::new(layout.format(), layout.width(), layout.height())
            .with_colorimetry(stream.colorimetry);
        let options = ConvertOptions::default().with_crop(wish::crop(settings)?);
        let converter = Converter::new(&source, &spec, &destination, &options)?;
        let mut importer = Importer::new(DEFAULT_CAPACITY);
        importer.set_stream(stream);
        Ok(Self { importer, converter })
    }

    /// Upstream's buffers are about to be others; says how many were remembered.
    pub(super) fn new_generation(&mut self) -> usize {
        self.importer.new_generation()
    }

    pub(super) fn convert(
        &mut self,
        frame: &gst::BufferRef,
        out: &mut gst::BufferRef,
    ) -> Result<(), StageError> {
        let mut frame = share(frame).buffer;
        self.importer.attach(frame.make_mut())?;
        let tensor = frame.tensor_meta().ok_or(StageError::NoTensor)?.tensor(&frame)?;
        let input = memo::find(out.peek_memory(0), |_| true).ok_or(StageError::Output)?;
        self.converter.run(&tensor, &input.tensor)?;
        Ok(TensorMeta::add(out, &input)?)
    }
}
