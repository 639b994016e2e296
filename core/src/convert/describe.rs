//! What is converted, into what, and how.

use super::ConvertError;
use crate::{
    colorimetry::Colorimetry,
    dtype::DType,
    format::{ColorModel, PixelFormat},
    quantization::Quantization,
    shape::{Region, Shape},
    tensor::TensorDyn,
    vocabulary::vocabulary,
};

/// The most pixels a side of a source or a destination has.
pub const MAX_SIDE: usize = 32_768;

/// The most threads a conversion has.
pub const MAX_THREADS: usize = 16;

/// The frames that are converted: all of one format and size. Strides and offsets may differ from
/// frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The pixel format.
    pub format: PixelFormat,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// What is known of the colours; what is not is guessed as GStreamer does, see
    /// [`colors`](Self::colors).
    pub colorimetry: Colorimetry,
}

impl Source {
    /// Frames of unknown colorimetry.
    #[must_use]
    pub fn new(format: PixelFormat, width: usize, height: usize) -> Self {
        Self { format, width, height, colorimetry: Colorimetry::default() }
    }

    /// Frames like this one.
    ///
    /// # Errors
    /// [`ConvertError::NotAnImage`] when it is none.
    pub fn of(frame: &TensorDyn) -> Result<Self, ConvertError> {
        let image = frame.image_layout().ok_or(ConvertError::NotAnImage)?;
        let source = Self::new(image.format(), image.width(), image.height());
        Ok(source.with_colorimetry(frame.colorimetry()))
    }

    /// The same frames, with these colours.
    #[must_use]
    pub fn with_colorimetry(self, colorimetry: Colorimetry) -> Self {
        Self { colorimetry, ..self }
    }

    /// The colorimetry, and where it has no answer the one that GStreamer guesses for frames of
    /// this format and height.
    #[must_use]
    pub fn colors(&self) -> Colorimetry {
        let guess = match self.format.color_model() {
            ColorModel::Yuv => Colorimetry::guess_yuv(self.height),
            ColorModel::Grey => Colorimetry::guess_grey(),
            ColorModel::Rgb | ColorModel::Bayer => Colorimetry::guess_rgb(),
        };
        self.colorimetry.merge(guess)
    }
}

vocabulary! {
    /// The order of a model input's axes.
    #[derive(Default)]
    TensorOrder {
        /// Height, width, channels: the samples of a pixel follow each other.
        #[default]
        Nhwc = 0, "nhwc";
        /// Channels, height, width: a plane for each channel.
        Nchw = 1, "nchw";
    }
}

vocabulary! {
    /// Which channels a model's input has.
    #[derive(Default)]
    ChannelOrder {
        /// Red, green, blue.
        #[default]
        Rgb = 0, "rgb";
        /// Blue, green, red.
        Bgr = 1, "bgr";
        /// Luma alone.
        Grey = 2, "grey";
        /// Red, green, blue and a sample that says opaque.
        Rgbx = 3, "rgbx";
        /// Blue, green, red and a sample that says opaque.
        Bgrx = 4, "bgrx";
    }
}

impl ChannelOrder {
    /// The number of channels.
    #[must_use]
    pub const fn channels(self) -> usize {
        match self {
            Self::Grey => 1,
            Self::Rgb | Self::Bgr => 3,
            Self::Rgbx | Self::Bgrx => 4,
        }
    }

    /// A letter a channel, as the component table has them.
    pub(super) const fn letters(self) -> &'static str {
        match self {
            Self::Grey => "Y",
            Self::Rgb => "RGB",
            Self::Bgr => "BGR",
            Self::Rgbx => "RGBx",
            Self::Bgrx => "BGRx",
        }
    }
}

/// What a model wants as its input.
///
/// ```
/// use tensor_core::{DType, Quantization, convert::{ChannelOrder, Destination}};
/// let input = Destination::new(224, 224)
///     .with_dtype(DType::I8)
///     .with_order(ChannelOrder::Bgr)
///     .with_quantization(Quantization::per_tensor(1.0 / 255.0, -128)?);
/// assert_eq!(input.shape()[..], [224, 224, 3]);
/// # Ok::<(), tensor_core::QuantizationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Destination {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The type of one sample: `u8`, `i8`, `f16` or `f32`.
    pub dtype: DType,
    /// The order of the axes.
    pub layout: TensorOrder,
    /// The channels.
    pub order: ChannelOrder,
    /// How integers stand for what the model sees. Without it `u8` holds pixel values.
    pub quantization: Option<Quantization>,
}

impl Destination {
    /// `u8` pixel values, red, green, blue, channels last.
    #[must_use]
    pub fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            dtype: DType::U8,
            layout: TensorOrder::default(),
            order: ChannelOrder::default(),
            quantization: None,
        }
    }

    /// The same with samples of this type.
    #[must_use]
    pub fn with_dtype(self, dtype: DType) -> Self {
        Self { dtype, ..self }
    }

    /// The same with its axes in this order.
    #[must_use]
    pub fn with_layout(self, layout: TensorOrder) -> Self {
        Self { layout, ..self }
    }

    /// The same with these channels.
    #[must_use]
    pub fn with_order(self, order: ChannelOrder) -> Self {
        Self { order, ..self }
    }

    /// The same with integers that stand for real numbers.
    #[must_use]
    pub fn with_quantization(self, quantization: Quantization) -> Self {
        Self { quantization: Some(quantization), ..self }
    }

    /// The shape of one input, without an axis for the batch.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let (width, height, channels) = (self.width, self.height, self.order.channels());
        match self.layout {
            TensorOrder::Nhwc => Shape::of([height, width, channels]),
            TensorOrder::Nchw => Shape::of([channels, height, width]),
        }
    }

    /// The axis of [`shape`](Self::shape) that counts channels.
    #[must_use]
    pub const fn channel_axis(&self) -> usize {
        match self.layout {
            TensorOrder::Nhwc => 2,
            TensorOrder::Nchw => 0,
        }
    }
}

vocabulary! {
    /// How the numbers are computed.
    #[derive(Default)]
    Kernel {
        /// In single precision, with the processor's vectors.
        #[default]
        Fast = 0, "fast";
        /// In double precision, a sample at a time: what the other is checked against.
        Reference = 1, "reference";
    }
}

/// Which part of a frame is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crop {
    /// All of it.
    #[default]
    Whole,
    /// This rectangle.
    Region(Region),
    /// The greatest rectangle in its middle that has the destination's aspect.
    Center,
}

/// How a conversion is done, apart from what the model wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Which part of a frame is taken.
    pub crop: Crop,
    /// Threads that share out the rows, 1 to [`MAX_THREADS`]. The caller's is one of them; the others
    /// are started when the conversion is planned and wait between frames.
    pub threads: usize,
    /// How the numbers are computed.
    pub kernel: Kernel,
}

impl Default for ConvertOptions {
    /// All of a frame, on the caller's thread.
    fn default() -> Self {
        Self { crop: Crop::Whole, threads: 1, kernel: Kernel::Fast }
    }
}

impl ConvertOptions {
    /// The same, taking this part.
    #[must_use]
    pub fn with_crop(self, crop: Crop) -> Self {
        Self { crop, ..self }
    }

    /// The same on so many threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with this kernel.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }
}
