//! What each pixel value is stored as, in each channel of a destination.

use arrayvec::ArrayVec;
use half::f16;

use super::{ConvertError, Destination};
use crate::{
    dtype::DType,
    preprocess::{Normalization, PreprocessSpec},
    quantization::AffineParams,
};

/// The most channels a destination has.
pub(super) const MAX_CHANNELS: usize = 4;

/// One channel of a destination.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Which output of the colour map it stores; `None` for the sample that says opaque.
    pub(super) output: Option<usize>,
    /// The stored bits of each pixel value, in the low bytes.
    pub(super) table: Box<[u32; 256]>,
    /// What each pixel value differs by from the stored byte, where that is the same bits for all:
    /// none when it is stored as it is, the highest when it is stored less 128.
    pub(super) turn: Option<u8>,
    /// The mean and the deviation that make of each pixel value the stored `f32`.
    pub(super) mean_std: Option<[f32; 2]>,
    /// The stored bits of the padding.
    pub(super) pad: u32,
}

/// The channels in the order they are stored.
pub(super) type Channels = ArrayVec<Channel, MAX_CHANNELS>;

/// The channels of `destination` under `spec`.
///
/// # Errors
/// What `ConvertError` says of dtypes, quantizations and paddings.
pub(super) fn channels(
    spec: &PreprocessSpec,
    destination: &Destination,
) -> Result<Channels, ConvertError> {
    let dtype = destination.dtype;
    let sample = Sample::of(dtype).ok_or(ConvertError::DType { dtype })?;
    if let Some((channel, value)) = spec.pad.into_iter().enumerate().find(|(_, v)| !v.is_finite()) {
        return Err(ConvertError::Pad { channel, value });
    }
    let params = quantization(spec, destination)?;
    let letters = destination.order.letters().chars();
    let stored = letters.zip(params).map(|(letter, params)| channel(spec, sample, letter, params));
    Ok(stored.collect())
}

/// The scale and zero point of each channel, where integers are to stand for real numbers.
fn quantization(
    spec: &PreprocessSpec,
    destination: &Destination,
) -> Result<ArrayVec<Option<AffineParams>, MAX_CHANNELS>, ConvertError> {
    let (dtype, channels) = (destination.dtype, destination.order.channels());
    let each = |params: Option<AffineParams>| std::iter::repeat_n(params, channels).collect();
    let Some(quantization) = &destination.quantization else {
        let is_plain = dtype == DType::U8 && spec.normalization == Normalization::raw();
        if dtype.is_float() || is_plain {
            return Ok(each(None));
        }
        return Err(ConvertError::Unquantized { dtype });
    };
    let expected = destination.channel_axis();
    match quantization.axis() {
        Some(axis) if axis != expected => Err(ConvertError::QuantizationAxis { expected, axis }),
        axis => {
            quantization.validate(&destination.shape(), dtype)?;
            let params = quantization.params().map(Some);
            Ok(if axis.is_some() {
                params.take(channels).collect()
            } else {
                each(params.into_iter().next().flatten())
            })
        }
    }
}

fn channel(
    spec: &PreprocessSpec,
    sample: Sample,
    letter: char,
    params: Option<AffineParams>,
) -> Channel {
    let output = match letter {
        'R' | 'Y' => Some(0),
        'G' => Some(1),
        'B' => Some(2),
        _ => None,
    };
    let mut table = Box::new([0; 256]);
    let Some(color) = output else {
        let opaque = sample.opaque();
        table.fill(opaque);
        return Channel { output, table, turn: None, mean_std: None, pad: opaque };
    };
    let seen = |value: u8| {
        let normalized = spec.normalization.apply([f32::from(value); 3]);
        normalized.get(color).copied().unwrap_or_default()
    };
    for (value, bits) in (0..=u8::MAX).zip(table.iter_mut()) {
        *bits = sample.stored(seen(value), params);
    }
    let [means, stds] = [spec.normalization.mean(), spec.normalization.std()];
    let mean_std = means.get(color).zip(stds.get(color)).map(|(mean, std)| [*mean, *std]);
    let mean_std = mean_std.filter(|_| matches!(sample, Sample::F32));
    let pad = spec.pad_seen().get(color).copied().unwrap_or_default();
    let turn = table.first().and_then(|bits| u8::try_from(*bits).ok());
    let turn =
        turn.filter(|turn| (0..=u8::MAX).zip(table.iter()).all(|(v, b)| u32::from(v ^ turn) == *b));
    Channel { output, table, turn, mean_std, pad: sample.stored(pad, params) }
}

/// What a sample of a destination can be.
#[derive(Clone, Copy, Debug)]
enum Sample {
    U8,
    I8,
    F16,
    F32,
}

impl Sample {
    /// A sample of this dtype; `None` for one that no model input is made in.
    fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::U8 => Some(Self::U8),
            DType::I8 => Some(Self::I8),
            DType::F16 => Some(Self::F16),
            DType::F32 => Some(Self::F32),
            DType::U16
            | DType::I16
            | DType::U32
            | DType::I32
            | DType::U64
            | DType::I64
            | DType::F64 => None,
        }
    }

    /// The bits of the fourth channel: the greatest integer, or 1.
    fn opaque(self) -> u32 {
        match self {
            Self::U8 => u8::MAX.into(),
            Self::I8 => 127,
            Self::F16 => f16::ONE.to_bits().into(),
            Self::F32 => 1_f32.to_bits(),
        }
    }

    /// The bits of a value that the model sees.
    fn stored(self, seen: f32, params: Option<AffineParams>) -> u32 {
        let params = params.unwrap_or(AffineParams { scale: 1.0, zero_point: 0 });
        match self {
            Self::U8 => params.quantize::<u8>(seen).into(),
            Self::I8 => params.quantize::<i8>(seen).to_ne_bytes()[0].into(),
            Self::F16 => f16::from_f32(seen).to_bits().into(),
            Self::F32 => seen.to_bits(),
        }
    }
}
