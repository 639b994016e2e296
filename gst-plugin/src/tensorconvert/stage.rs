//! What is there once both caps are known: it makes an input of every frame.

use gst::glib;
use tensor_core::{
    ContentRegion, Origin, PreprocessSpec, TensorError,
    convert::{ConvertError, ConvertOptions, Converter, RunError, Source},
    import_cache::DEFAULT_CAPACITY,
};
use thiserror::Error;

use super::{
    negotiate,
    output::{Described, Output, OutputError},
    settings::Settings,
    wish::{self, Wish, WishError},
};
use crate::{
    BufferTensorExt, FrameTensorError, TensorMeta, TensorMetaError,
    tensorimport::{
        frame::FrameError,
        importer::{Importer, Stream, Whole},
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
    #[error(transparent)]
    Crop(TensorError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Plan(#[from] ConvertError),
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
            Self::Meta(_) | Self::NoTensor => {
                gst::element_error!(element, gst::CoreError::Failed, ("{self}"));
            }
            Self::Output(_) => {
                gst::element_error!(element, gst::ResourceError::Write, ("{self}"));
            }
            Self::Frame(_) | Self::Crop(_) | Self::Plan(_) | Self::Run(_) => {
                gst::element_error!(element, gst::StreamError::Format, ("{self}"));
            }
        }
    }
}

/// Frames and inputs of one pair of caps.
#[derive(Debug)]
pub(super) struct Stage {
    importer: Importer,
    converter: Converter,
    output: Output,
    /// Whole frames; one with a crop meta is smaller.
    source: Source,
    spec: PreprocessSpec,
    options: ConvertOptions,
}

impl Stage {
    pub(super) fn plan(
        settings: &Settings,
        incaps: &gst::CapsRef,
        outcaps: &gst::CapsRef,
    ) -> Result<Self, WishError> {
        let stream = Stream::from_caps(incaps)?;
        let (width, height) = (stream.layout.width(), stream.layout.height());
        let destination = Wish::of(settings, outcaps)?.destination([width, height]);
        let source =
            Source::new(stream.layout.format(), width, height).with_colorimetry(stream.colorimetry);
        // What is guessed of a frame's colours is guessed of the whole of it.
        let source = source.with_colorimetry(source.colors());
        let spec = wish::spec(settings, &destination)?;
        let threads = wide(settings.get("threads"));
        let crop = wish::crop(settings)?;
        let options = ConvertOptions::default().with_crop(crop).with_threads(threads);
        let output = Output::new(Described {
            form: negotiate::form(outcaps, &destination)?,
            dtype: destination.dtype,
            quantization: destination.quantization.clone(),
            colorimetry: negotiate::colors(source.colorimetry, &destination),
        });
        let converter = Converter::new(&source, &spec, &destination, &options)?;
        let mut importer = Importer::new(DEFAULT_CAPACITY);
        importer.set_stream(stream);
        Ok(Self { importer, converter, output, source, spec, options })
    }

    /// What output buffers hold.
    pub(super) fn described(&self) -> &Described {
        &self.output.described
    }

    /// Where the pixels of an input come from, unless a crop meta says otherwise.
    pub(super) fn origin(&self) -> Origin {
        self.converter.origin()
    }

    /// Upstream's buffers are about to be others; says how many were remembered, and gives what was
    /// of downstream's.
    pub(super) fn new_generation(&mut self) -> (usize, impl Sized + use<>) {
        (self.importer.new_generation(), self.output.new_generation())
    }

    /// Output buffers are about to be others.
    pub(super) fn new_outputs(&mut self) -> impl Sized + use<> {
        self.output.new_generation()
    }

    pub(super) fn convert(
        &mut self,
        frame: &gst::BufferRef,
        out: &mut gst::BufferRef,
    ) -> Result<(), StageError> {
        let mut frame = share(frame).buffer;
        let whole = self.importer.attach_whole(frame.make_mut())?;
        let tensor = frame.tensor_meta().ok_or(StageError::NoTensor)?.tensor(&frame)?;
        let [width, height] = whole.crop.map_or(whole.size, |crop| [crop.width, crop.height]);
        self.follow(width, height)?;
        let origin = self.origin_of(whole);
        self.output.described.cut(out);
        let (input, handles) = self.output.tensor(out, origin)?;
        let is_part = (tensor.width(), tensor.height()) == (Some(width), Some(height));
        match whole.crop {
            Some(crop) if !is_part => {
                let part = tensor.view(crop).map_err(StageError::Crop)?;
                self.converter.run(&part, &input.tensor)?;
            }
            Some(_) | None => self.converter.run(&tensor, &input.tensor)?,
        }
        Ok(TensorMeta::put(out, &input.attachment, Some(&input), &handles)?)
    }

    /// Plans anew when the crop meta of a frame leaves another size than that of the frame before.
    fn follow(&mut self, width: usize, height: usize) -> Result<(), ConvertError> {
        let planned = *self.converter.source();
        if (planned.width, planned.height) != (width, height) {
            let source = Source { width, height, ..self.source };
            self.converter.replan(&source, &self.spec, &self.options)?;
        }
        Ok(())
    }

    /// Where the pixels come from that are made of a frame: its crop meta's part is one of the whole.
    fn origin_of(&self, Whole { size: [width, height], crop }: Whole) -> Origin {
        let origin = self.converter.origin();
        let (Some(part), Some(taken)) = (crop, origin.taken) else { return origin };
        let taken = part.of_inner(taken.pixels());
        Origin { taken: taken.map(|taken| ContentRegion::new(taken, width, height)), ..origin }
    }
}

/// A `u32` always fits: Linux has no narrower address space.
fn wide(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
