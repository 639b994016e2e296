//! All that is known before the first frame.

use super::{
    ConvertError, ConvertOptions, Crop, Destination, Kernel, MAX_SIDE, Source, TensorOrder,
    axis::{Axis, Span},
    color::ColorMap,
    component::{Components, components},
    fast,
    store::{Channels, channels},
    write::put,
};
use crate::{
    preprocess::{
        ContentRegion, ContentRegionSource, LetterboxPlacement, PreprocessSpec, letterbox_rect,
    },
    shape::Region,
};

/// A conversion, ready to run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The frames.
    pub(super) source: Source,
    /// The input.
    pub(super) destination: Destination,
    /// The part of the frame that is taken.
    pub(super) crop: Region,
    /// Where that part lies in the input.
    pub(super) content: ContentRegion,
    /// The components of a pixel.
    pub(super) components: Components,
    /// For each component the taps of the columns and of the rows of the content.
    pub(super) axes: Vec<(Axis, Axis)>,
    /// From components to pixel values.
    pub(super) colors: ColorMap,
    /// From pixel values to stored samples.
    pub(super) channels: Channels,
    /// A row of padding, as it is stored: of each plane of channels, one after the other.
    pub(super) padding: Vec<u8>,
    /// The fast kernel, unless the reference is asked for.
    pub(super) fast: Option<fast::Kernel>,
}

impl Plan {
    pub(super) fn new(
        source: &Source,
        spec: &PreprocessSpec,
        destination: &Destination,
        options: &ConvertOptions,
    ) -> Result<Self, ConvertError> {
        check_size("source", source.width, source.height)?;
        check_size("destination", destination.width, destination.height)?;
        check_wanted(spec, destination)?;
        let refused = |why| ConvertError::Format { format: source.format, why };
        let components = components(source.format).map_err(refused)?;
        let crop = crop(source, destination, options.crop)?;
        let (width, height) = (destination.width, destination.height);
        let content = spec
            .content_region(crop.width, crop.height, width, height)
            .map_err(|_| ConvertError::Crop { crop, width: source.width, height: source.height })?;
        let (columns, rows) = (content.pixels().width, content.pixels().height);
        let axes = components.iter().map(|component| {
            let across = Span { start: crop.x, len: crop.width, sub: component.hsub };
            let down = Span { start: crop.y, len: crop.height, sub: component.vsub };
            let kind = spec.interpolation;
            (Axis::new(kind, across, columns), Axis::new(kind, down, rows))
        });
        let axes: Vec<_> = axes.collect();
        let colors = ColorMap::new(source, &components, destination.order)
            .ok_or(refused("there is no matrix for its depth"))?;
        let channels = channels(spec, destination)?;
        Ok(Self {
            fast: match options.kernel {
                Kernel::Fast => Some(fast::Kernel::new(&components, &axes, &colors, columns)),
                Kernel::Reference => None,
            },
            padding: padding(destination, &channels),
            axes,
            colors,
            channels,
            source: *source,
            destination: destination.clone(),
            crop,
            content,
            components,
        })
    }
}

fn padding(destination: &Destination, channels: &Channels) -> Vec<u8> {
    let size = destination.dtype.size_bytes();
    let (width, pixels) = (destination.width, destination.width.saturating_mul(channels.len()));
    let mut padding = vec![0; pixels.saturating_mul(size)];
    for (index, sample) in padding.chunks_exact_mut(size.max(1)).enumerate() {
        let channel = match destination.layout {
            TensorOrder::Nhwc => index.checked_rem(channels.len()),
            TensorOrder::Nchw => index.checked_div(width),
        };
        put(sample, channel.and_then(|channel| channels.get(channel)).map_or(0, |c| c.pad));
    }
    padding
}

fn check_size(what: &'static str, width: usize, height: usize) -> Result<(), ConvertError> {
    let is_side = |side: usize| (1..=MAX_SIDE).contains(&side);
    if is_side(width) && is_side(height) {
        Ok(())
    } else {
        Err(ConvertError::Size { what, width, height })
    }
}

fn check_wanted(spec: &PreprocessSpec, destination: &Destination) -> Result<(), ConvertError> {
    let (width, height) = (destination.width, destination.height);
    match spec.size {
        Some(wanted) if wanted != (width, height) => {
            Err(ConvertError::WantedSize { wanted, width, height })
        }
        _ => Ok(()),
    }
}

fn crop(source: &Source, destination: &Destination, crop: Crop) -> Result<Region, ConvertError> {
    let (width, height) = (source.width, source.height);
    match crop {
        Crop::Whole => Ok(Region::new(0, 0, width, height)),
        Crop::Center => {
            // The greatest rectangle of the input's aspect in the frame is a letterbox turned round.
            let (w, h) = (destination.width, destination.height);
            Ok(letterbox_rect(w, h, width, height, LetterboxPlacement::Center))
        }
        Crop::Region(crop) if crop.is_empty() || !crop.fits(width, height) => {
            Err(ConvertError::Crop { crop, width, height })
        }
        Crop::Region(crop) => Ok(crop),
    }
}
