//! What the input shall be like, of what properties, model and downstream say.

use std::str::FromStr;

use tensor_core::{
    DType, Normalization, PreprocessSpec, Quantization, QuantizationError, Region, Shape,
    broadcast_rgb,
    convert::{ChannelOrder, ConvertError, Crop, Destination, TensorOrder},
    layout::StridedError,
    preprocess::NormalizationError,
};
use thiserror::Error;

use super::{negotiate, settings::Settings};
use crate::{
    model::{ModelError, ModelInput},
    tensor_caps::TensorCapsError,
    tensorimport::frame::FrameError,
    video_layout::VideoLayoutError,
};

/// Why no input can be made as asked.
#[derive(Debug, Error)]
pub(super) enum WishError {
    /// A property that is none of its words.
    #[error("{property}: {given:?} is not known")]
    Word {
        /// The property.
        property: &'static str,
        /// Its value.
        given: String,
    },
    /// A property that is not numbers.
    #[error("{property}: expected {expected}, got {given:?}")]
    Numbers {
        /// The property.
        property: &'static str,
        /// What its numbers are.
        expected: &'static str,
        /// Its value.
        given: String,
    },
    /// A model that takes neither 1, 3 nor 4 channels, or another number than `order` has.
    #[error("{what} takes {channels} channels, order {order} has {}", .order.channels())]
    Channels {
        /// Who takes them.
        what: &'static str,
        /// How many.
        channels: usize,
        /// The order asked for.
        order: ChannelOrder,
    },
    /// Caps of an input that the properties and the model do not make.
    #[error("negotiated {caps}, the properties and the model make {wanted}")]
    Negotiated {
        /// The caps.
        caps: String,
        /// Size, channels, axes and dtype of the input.
        wanted: String,
    },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Normalization(#[from] NormalizationError),
    #[error(transparent)]
    Quantization(#[from] QuantizationError),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Caps(#[from] TensorCapsError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Video(#[from] VideoLayoutError),
    #[error(transparent)]
    Tensor(#[from] StridedError),
}

/// What is known of the input; the rest is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wish {
    pub(super) width: Option<usize>,
    pub(super) height: Option<usize>,
    pub(super) dtype: Option<DType>,
    pub(super) layout: Option<TensorOrder>,
    pub(super) order: Option<ChannelOrder>,
    pub(super) quantization: Option<Quantization>,
}

impl Wish {
    /// What properties and the model file say.
    pub(super) fn new(settings: &Settings) -> Result<Self, WishError> {
        let own = Self::of_properties(settings)?;
        let Some(input) = settings.model()? else { return Ok(own) };
        match own.order {
            Some(order) if input.channels != 0 && order.channels() != input.channels => {
                Err(WishError::Channels { what: "the model", channels: input.channels, order })
            }
            _ => Ok(own.or(Self::of_model(input))),
        }
    }

    /// What properties and the model say, and what they leave open as `caps` say it.
    pub(super) fn of(settings: &Settings, caps: &gst::CapsRef) -> Result<Self, WishError> {
        let own = Self::new(settings)?;
        let theirs = negotiate::wish_of_caps(caps, &own);
        Ok(own.or(theirs))
    }

    fn of_model(input: &ModelInput) -> Self {
        Self {
            width: input.width,
            height: input.height,
            dtype: Some(input.dtype),
            layout: Some(input.layout),
            order: order_of(input.channels),
            quantization: input.quantization.clone(),
        }
    }

    fn of_properties(settings: &Settings) -> Result<Self, WishError> {
        let side = |name| usize::try_from(settings.get::<u32>(name)).ok().filter(|side| *side > 0);
        let scale = number_list(settings, "scale", |list: &[f32]| match list {
            [scale] => Some(*scale),
            _ => None,
        })?;
        let quantize = |scale| Quantization::per_tensor(scale, settings.get("zero-point"));
        Ok(Self {
            width: side("width"),
            height: side("height"),
            dtype: word(settings, "dtype", DType::from_name)?,
            layout: word(settings, "layout", TensorOrder::from_name)?,
            order: word(settings, "order", ChannelOrder::from_name)?,
            quantization: scale.map(quantize).transpose()?,
        })
    }

    /// What this leaves open, as `other` says it.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            width: self.width.or(other.width),
            height: self.height.or(other.height),
            dtype: self.dtype.or(other.dtype),
            layout: self.layout.or(other.layout),
            order: self.order.or(other.order),
            quantization: self.quantization.or(other.quantization),
        }
    }

    /// What a shape says: `[1,h,w,c]`, `[h,w,c]` or channels first. `layout` decides where both ends
    /// could count channels.
    pub(super) fn of_shape(shape: &Shape, layout: Option<TensorOrder>) -> Option<Self> {
        let [first, second, third] = match **shape {
            [1, a, b, c] | [a, b, c] => [a, b, c],
            _ => return None,
        };
        let (last, ahead) = (order_of(third), order_of(first));
        let is_last = last.is_some() && (ahead.is_none() || layout != Some(TensorOrder::Nchw));
        let (layout, order, [height, width]) = if is_last {
            (TensorOrder::Nhwc, last?, [first, second])
        } else {
            (TensorOrder::Nchw, ahead?, [second, third])
        };
        Some(Self {
            width: Some(width),
            height: Some(height),
            layout: Some(layout),
            order: Some(order),
            ..Self::default()
        })
    }

    /// The input, of a frame's size where nobody says another.
    pub(super) fn destination(&self, [width, height]: [usize; 2]) -> Destination {
        let dense = Destination::new(self.width.unwrap_or(width), self.height.unwrap_or(height))
            .with_dtype(self.dtype.unwrap_or(DType::U8))
            .with_layout(self.layout.unwrap_or_default())
            .with_order(self.order.unwrap_or_default());
        match &self.quantization {
            Some(quantization) => dense.with_quantization(quantization.clone()),
            None => dense,
        }
    }
}

/// How pixels become samples of `destination`.
pub(super) fn spec(
    settings: &Settings,
    destination: &Destination,
) -> Result<PreprocessSpec, WishError> {
    use tensor_core::preprocess::{FitMode, Interpolation, LetterboxPlacement, PadSpace};
    let mut spec = PreprocessSpec::default();
    let is_raw = destination.dtype == DType::U8 && destination.quantization.is_none();
    let (mean, std) = (numbers(settings, "mean")?, numbers(settings, "std")?);
    spec.normalization = match (mean, std) {
        (None, None) if is_raw => Normalization::raw(),
        (None, None) => Normalization::unsigned(),
        (mean, std) => {
            Normalization::mean_std(&mean.unwrap_or([0.0; 3]), &std.unwrap_or([1.0; 3]))?
        }
    };
    spec.fit = word(settings, "fit", FitMode::from_name)?.unwrap_or(spec.fit);
    spec.placement =
        word(settings, "placement", LetterboxPlacement::from_name)?.unwrap_or(spec.placement);
    spec.interpolation =
        word(settings, "interpolation", Interpolation::from_name)?.unwrap_or(spec.interpolation);
    spec.pad_space = word(settings, "pad-space", PadSpace::from_name)?.unwrap_or(spec.pad_space);
    spec.pad = numbers(settings, "pad-value")?.unwrap_or(spec.pad);
    Ok(spec)
}

fn order_of(channels: usize) -> Option<ChannelOrder> {
    match channels {
        1 => Some(ChannelOrder::Grey),
        3 => Some(ChannelOrder::Rgb),
        4 => Some(ChannelOrder::Rgbx),
        _ => None,
    }
}

fn word<T>(
    settings: &Settings,
    property: &'static str,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, WishError> {
    let Some(given) = settings.text(property) else { return Ok(None) };
    let unknown = || WishError::Word { property, given: given.to_owned() };
    known(given).map(Some).ok_or_else(unknown)
}

/// Which part of a frame is taken.
pub(super) fn crop(settings: &Settings) -> Result<Crop, WishError> {
    if settings.text("crop") == Some("center") {
        return Ok(Crop::Center);
    }
    let region = number_list(settings, "crop", |list: &[usize]| match list {
        [x, y, width, height] => Some(Region::new(*x, *y, *width, *height)),
        _ => None,
    })?;
    Ok(region.map_or(Crop::Whole, Crop::Region))
}

fn numbers(settings: &Settings, property: &'static str) -> Result<Option<[f32; 3]>, WishError> {
    number_list(settings, property, |list: &[f32]| broadcast_rgb(list))
}

/// What `wanted` makes of a property's numbers; `None` for an empty property.
fn number_list<N: FromStr, T>(
    settings: &Settings,
    property: &'static str,
    wanted: impl Fn(&[N]) -> Option<T>,
) -> Result<Option<T>, WishError> {
    let Some(given) = settings.text(property) else { return Ok(None) };
    let list: Option<Vec<N>> = given.split(',').map(|one| one.trim().parse().ok()).collect();
    let taken = list.and_then(|list| wanted(&list));
    taken.map(Some).ok_or_else(|| WishError::Numbers {
        property,
        expected: expected(property),
        given: given.to_owned(),
    })
}

/// What the numbers of a property are.
fn expected(property: &str) -> &'static str {
    match property {
        "scale" => "one number",
        "crop" => "center or x,y,width,height in whole pixels",
        _ => "one number or three, separated by commas",
    }
}
