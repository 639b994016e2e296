//! How an image becomes a model's input, as plain values: what is done to its pixels, how it is
//! fit into the input, and where it then lies.
//!
//! A converter applies these values and a decoder of the model's output inverts them, without
//! either knowing the other. [`letterbox_rect`] is the one place where a letterbox is computed,
//! [`unletter_norm`] the one place where it is undone.
//!
//! ```
//! use tensor_core::preprocess::{ContentRegionSource, PreprocessSpec};
//! let spec = PreprocessSpec::default();
//! let content = spec.content_region(1280, 720, 640, 640)?;
//! assert_eq!(content.normalized(), [0.0, 0.21875, 1.0, 0.78125]);
//! // What the model found in the middle of its input is the middle of the image.
//! assert_eq!(content.unletter([0.5, 0.5, 1.0, 0.78125]), [0.5, 0.5, 1.0, 1.0]);
//! # Ok::<(), tensor_core::preprocess::ContentRegionError>(())
//! ```

#![forbid(unsafe_code)]

mod geometry;
mod normalization;
mod origin;
#[cfg(feature = "serde")]
mod serial;
mod spec;
#[cfg(test)]
mod tests;
mod word;

pub use geometry::{
    ContentRegion, ContentRegionError, ContentRegionSource, letterbox_rect, unletter_norm,
};
pub use normalization::{Normalization, NormalizationError, NormalizationPreset, broadcast_rgb};
pub use origin::Origin;
pub use spec::PreprocessSpec;
pub use word::{Fit, FitMode, Interpolation, LetterboxPlacement, PadSpace};
