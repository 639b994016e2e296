//! Why a conversion is refused, when it is planned or when it is run.

use std::io;

use thiserror::Error;

use super::{MAX_SIDE, MAX_THREADS};
use crate::{
    dtype::DType,
    format::PixelFormat,
    memory::MapError,
    quantization::QuantizationError,
    shape::{Region, Shape},
};

/// A conversion that cannot be planned.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ConvertError {
    /// The frame is no image.
    #[error("the source is a tensor without a pixel format; give it one by with_format")]
    NotAnImage,
    /// The format cannot be sampled.
    #[error("source format {format}: {why}")]
    Format {
        /// The format.
        format: PixelFormat,
        /// What is in the way.
        why: &'static str,
    },
    /// A size of no pixels, or of too many.
    #[error("{what}: expected 1x1 to {MAX_SIDE}x{MAX_SIDE} pixels, got {width}x{height}")]
    Size {
        /// `source` or `destination`.
        what: &'static str,
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// The specification is for an input of another size.
    #[error(
        "the model's input is {}x{} pixels, the destination {width}x{height}", .wanted.0, .wanted.1
    )]
    WantedSize {
        /// Width and height that the specification says.
        wanted: (usize, usize),
        /// Width of the destination in pixels.
        width: usize,
        /// Height of the destination in pixels.
        height: usize,
    },
    /// The part to be taken is empty or not in the frame.
    #[error("crop: expected a rectangle within {width}x{height} pixels, got {crop}")]
    Crop {
        /// The rectangle asked for.
        crop: Region,
        /// Width of the frame in pixels.
        width: usize,
        /// Height of the frame in pixels.
        height: usize,
    },
    /// A padding that is no number.
    #[error("pad: expected a finite number for channel {channel}, got {value}")]
    Pad {
        /// 0 for red, 1 for green, 2 for blue.
        channel: usize,
        /// The value.
        value: f32,
    },
    /// No threads, or too many.
    #[error("threads: expected 1 to {MAX_THREADS}, got {threads}")]
    Threads {
        /// How many were asked for.
        threads: usize,
    },
    /// The system does not start a thread.
    #[error("starting {threads} threads: {error}; ask for fewer")]
    Start {
        /// How many were asked for.
        threads: usize,
        /// Why it does not.
        error: io::ErrorKind,
    },
    /// A dtype that no model input is made in.
    #[error("destination dtype: expected u8, i8, f16 or f32, got {dtype}")]
    DType {
        /// The dtype asked for.
        dtype: DType,
    },
    /// Integers that do not say what they stand for.
    #[error(
        "a {dtype} destination without scale and zero point holds pixel values of 0 to 255, which \
         needs u8 and the raw normalization; give a quantization"
    )]
    Unquantized {
        /// The dtype asked for.
        dtype: DType,
    },
    /// The quantization does not fit the destination.
    #[error(transparent)]
    Quantization(#[from] QuantizationError),
    /// One scale for each index of an axis that does not count channels.
    #[error("quantization axis: expected {expected}, the axis of channels, got {axis}")]
    QuantizationAxis {
        /// The axis of channels.
        expected: usize,
        /// The axis asked for.
        axis: usize,
    },
}

/// A frame that is not converted. What the destination then holds is undefined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The frame is not of the format and size that was planned for.
    #[error(
        "planned for frames of {} {}x{}, got {}", .format, .width, .height,
        match .got { Some((format, w, h)) => format!("{format} {w}x{h}"), None => "no single image".to_owned() }
    )]
    Source {
        /// The planned format.
        format: PixelFormat,
        /// The planned width in pixels.
        width: usize,
        /// The planned height in pixels.
        height: usize,
        /// What came; `None` for a tensor that is no image or several.
        got: Option<(PixelFormat, usize, usize)>,
    },
    /// The destination has another dtype.
    #[error("destination dtype: expected {expected}, got {got}")]
    DType {
        /// The planned dtype.
        expected: DType,
        /// The destination's dtype.
        got: DType,
    },
    /// The destination has another shape.
    #[error("destination shape: expected {expected:?}, got {got:?}; of a batch take batch(n)")]
    Shape {
        /// The planned shape.
        expected: Box<Shape>,
        /// The destination's shape.
        got: Box<Shape>,
    },
    /// The destination is an image of other channels.
    #[error("destination: expected channels {expected}, got an image of {got}")]
    Format {
        /// The planned channels.
        expected: &'static str,
        /// The destination's format.
        got: PixelFormat,
    },
    /// The destination's rows cannot be written one by one.
    #[error("destination strides: {why}")]
    Strides {
        /// What is in the way.
        why: &'static str,
    },
    /// The source and the destination are in one memory.
    #[error("source and destination are in one memory; a frame cannot be converted in place")]
    InPlace,
    /// The frame or the destination cannot be mapped.
    #[error("{what}: {error}")]
    Map {
        /// `source` or `destination`.
        what: &'static str,
        /// Why.
        #[source]
        error: MapError,
    },
}
