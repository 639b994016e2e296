//! From a camera's frame to a model's input, in one pass.
//!
//! A [`Converter`] is planned once: which part of a frame is taken, where it lies in the input, how
//! samples between pixels are made, which matrix leads to RGB, and what each pixel value is stored
//! as. Everything that can be refused is refused then. Running it reads a frame through its true
//! strides and writes the input where it lies, and allocates nothing.
//!
//! # The numbers
//! 1. Each component is resampled from its own plane, at the centre of the output pixel, in the
//!    part of the plane that the crop covers. A chroma sample lies in the middle of the luma pixels
//!    it belongs to. Nothing is rounded.
//! 2. The frame's matrix and range lead to full range red, green and blue (or luma), which are held
//!    to 0 to 255 and rounded to whole numbers, half upwards: the *pixel values*.
//! 3. Pixel values are normalized in `f32`, then quantized, or rounded to the nearest `f16`.
//!
//! Two kernels give them. The [reference](Kernel::Reference) computes every output sample by itself, in
//! double precision. The [fast](Kernel::Fast) one, which is used unless the options say otherwise, works
//! on rows in single precision: a pixel value that lies next to the middle of two whole numbers may be
//! rounded to the other one, and all others are the same, on every processor. The rows are shared out to
//! as many threads as the options say, which changes no number.
//!
//! ```
//! use tensor_core::{CpuAccess, DType, PixelFormat, PreprocessSpec, TensorDyn};
//! use tensor_core::convert::{ConvertOptions, Converter, Destination, Source, TensorOrder};
//! use tensor_core::memory::AllocPolicy;
//!
//! let frame = TensorDyn::image(PixelFormat::Nv12, 1280, 720, CpuAccess::ReadWrite)?;
//! let wanted = Destination::new(320, 320).with_dtype(DType::F32).with_layout(TensorOrder::Nchw);
//! let (spec, options) = (PreprocessSpec::default(), ConvertOptions::default());
//! let mut converter = Converter::new(&Source::of(&frame)?, &spec, &wanted, &options)?;
//!
//! let input = TensorDyn::new(&wanted.shape(), DType::F32, &AllocPolicy::default(), CpuAccess::ReadWrite)?;
//! converter.run(&frame, &input)?;
//! assert_eq!(converter.content_region().pixels().height, 180);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod band;
mod blend;
mod color;
mod columns;
mod component;
mod describe;
mod error;
mod fast;
mod plan;
mod reference;
mod run;
mod store;
mod target;
mod write;

pub use describe::{
    ChannelOrder, ConvertOptions, Crop, Destination, Kernel, MAX_SIDE, MAX_THREADS, Source,
    TensorOrder,
};
pub use error::{ConvertError, RunError};
pub use run::Converter;

#[cfg(test)]
mod tests;
