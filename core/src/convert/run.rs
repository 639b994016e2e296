//! A converter: planned once, run for every frame.

use arrayvec::ArrayVec;

use super::{
    ConvertError, ConvertOptions, Destination, RunError, Source, plan::Plan, reference,
    store::Channel, target::Target,
};
use crate::{
    format::MAX_PLANES,
    preprocess::{ContentRegion, Origin, PreprocessSpec},
    shape::Region,
    tensor::{Layout, MappedPlane, TensorDyn, TensorMap},
};

/// Makes a model's input of a frame, again and again.
///
/// See the [module](super) for an example and for the numbers.
#[derive(Debug)]
pub struct Converter {
    plan: Plan,
    /// Pixel values of one row.
    scratch: Vec<u8>,
}

impl Converter {
    /// Plans the conversion of frames like `source`, as `spec` says, into inputs like
    /// `destination`. Everything is allocated here.
    ///
    /// # Errors
    /// [`ConvertError`] for what cannot be done, with the numbers.
    pub fn new(
        source: &Source,
        spec: &PreprocessSpec,
        destination: &Destination,
        options: &ConvertOptions,
    ) -> Result<Self, ConvertError> {
        let plan = Plan::new(source, spec, destination, options)?;
        let row = plan.content.pixels().width.saturating_mul(plan.colors.outputs);
        Ok(Self { plan, scratch: vec![0; row] })
    }

    /// Converts `frame` into `input`. Both may have any strides; neither is allocated or kept.
    ///
    /// # Errors
    /// [`RunError`] when either is not what was planned for, or cannot be mapped.
    pub fn run(&mut self, frame: &TensorDyn, input: &TensorDyn) -> Result<(), RunError> {
        let Source { format, width, height, .. } = self.plan.source;
        let got = match frame.layout() {
            Layout::Image(image) => Some((image.format(), image.width(), image.height())),
            Layout::Batch(_) | Layout::Strided(_) => None,
        };
        if got != Some((format, width, height)) {
            return Err(RunError::Source { format, width, height, got });
        }
        let target = Target::new(input, &self.plan.destination)?;
        if frame.aliases(input) {
            return Err(RunError::InPlace);
        }
        let source = |error| RunError::Map { what: "source", error };
        let destination = |error| RunError::Map { what: "destination", error };
        let read = frame.map_read().map_err(source)?;
        let mut written = input.map_write().map_err(destination)?;
        let planes: ArrayVec<MappedPlane<'_>, MAX_PLANES> = read.planes().collect();
        for row in 0..self.plan.destination.height {
            let pixels = pixels(&self.plan, &planes, row, &mut self.scratch);
            write_row(&self.plan, pixels, (&target, &mut written), row);
        }
        Ok(())
    }

    /// Where the image lies in the input.
    #[must_use]
    pub const fn content_region(&self) -> ContentRegion {
        self.plan.content
    }

    /// The part of the frame that is taken.
    #[must_use]
    pub const fn crop(&self) -> Region {
        self.plan.crop
    }

    /// What is converted.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.plan.source
    }

    /// What it is converted into.
    #[must_use]
    pub const fn destination(&self) -> &Destination {
        &self.plan.destination
    }

    /// Where the pixels of the input come from: what leads a box that a model found back to the
    /// frame, and what to say of the tensor by
    /// [`with_origin`](crate::TensorDyn::with_origin).
    #[must_use]
    pub const fn origin(&self) -> Origin {
        let (width, height) = (self.plan.source.width, self.plan.source.height);
        let taken = ContentRegion::new(self.plan.crop, width, height);
        Origin { content: self.plan.content, taken: Some(taken) }
    }

    /// A box that a model found, given as parts of its input, as parts of the whole frame.
    ///
    /// ```
    /// use tensor_core::{PixelFormat, PreprocessSpec, Region};
    /// use tensor_core::convert::{ConvertOptions, Converter, Crop, Destination, Source};
    /// let source = Source::new(PixelFormat::Nv12, 1280, 720);
    /// let half = Crop::Region(Region::new(640, 0, 640, 720));
    /// let options = ConvertOptions::default().with_crop(half);
    /// let mut spec = PreprocessSpec::default();
    /// spec.normalization = tensor_core::Normalization::raw();
    /// let converter = Converter::new(&source, &spec, &Destination::new(640, 640), &options)?;
    /// let content = converter.content_region().normalized();
    /// assert_eq!(converter.to_frame(content), [0.5, 0.0, 1.0, 1.0]);
    /// # Ok::<(), tensor_core::convert::ConvertError>(())
    /// ```
    #[must_use]
    pub fn to_frame(&self, found: [f32; 4]) -> [f32; 4] {
        self.origin().to_frame(found)
    }
}

/// The pixel values of row `row` of the input, in `scratch`; none for a row of padding.
fn pixels<'a>(
    plan: &Plan,
    planes: &[MappedPlane<'_>],
    row: usize,
    scratch: &'a mut [u8],
) -> &'a [u8] {
    let content = plan.content.pixels();
    match row.checked_sub(content.y).filter(|y| *y < content.height) {
        Some(y) => {
            reference::row(plan, planes, y, scratch);
            scratch
        }
        None => &[],
    }
}

/// Stores one row: padding, `pixels` (none for a row of padding), padding.
fn write_row(plan: &Plan, pixels: &[u8], (target, map): (&Target, &mut TensorMap<'_>), row: usize) {
    let channels = plan.channels.as_slice();
    // One plane stores all channels, several one each.
    let each = channels.len().checked_div(target.planes()).unwrap_or(1).max(1);
    for (plane, channels) in channels.chunks(each).enumerate() {
        if let Some(out) = target.row(map, plane, row) {
            write_plane(plan, pixels, channels, out);
        }
    }
}

fn write_plane(plan: &Plan, pixels: &[u8], channels: &[Channel], out: &mut [u8]) {
    let content = plan.content.pixels();
    let size = plan.destination.dtype.size_bytes();
    let pixel_bytes = size.saturating_mul(channels.len());
    let pad = |out: &mut [u8]| {
        let samples = out.chunks_exact_mut(size.max(1));
        for (sample, channel) in samples.zip(channels.iter().cycle()) {
            put(sample, channel.pad);
        }
    };
    if pixels.is_empty() {
        return pad(out);
    }
    let (left, rest) = out.split_at_mut(content.x.saturating_mul(pixel_bytes).min(out.len()));
    let end = content.width.saturating_mul(pixel_bytes).min(rest.len());
    let (middle, right) = rest.split_at_mut(end);
    pad(left);
    pad(right);
    for (index, channel) in channels.iter().enumerate() {
        let start = channel.output.unwrap_or(0).saturating_mul(content.width);
        let values = pixels.get(start..).unwrap_or_default();
        let samples = middle.chunks_exact_mut(size.max(1)).skip(index).step_by(channels.len());
        for (sample, value) in samples.zip(values) {
            put(sample, channel.table.get(usize::from(*value)).copied().unwrap_or_default());
        }
    }
}

/// The low bytes of `bits`.
fn put(sample: &mut [u8], bits: u32) {
    match sample {
        [byte] => *byte = u8::try_from(bits).unwrap_or_default(),
        [_, _] => {
            let half = u16::try_from(bits).unwrap_or_default();
            sample.copy_from_slice(&half.to_ne_bytes());
        }
        _ => sample.copy_from_slice(&bits.to_ne_bytes()),
    }
}
