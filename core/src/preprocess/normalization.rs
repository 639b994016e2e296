//! What is done to pixel values before a model sees them.

use thiserror::Error;

use crate::vocabulary::vocabulary;

vocabulary! {
    /// A [`Normalization`] that has a name.
    #[derive(Default)]
    NormalizationPreset {
        /// 0 to 1: `x / 255`.
        #[default]
        Unsigned = 0, "unsigned";
        /// -1 to 1: `x / 127.5 - 1`.
        Signed = 1, "signed";
        /// 0 to 255: `x`.
        Raw = 2, "raw";
        /// By mean and deviation of the ImageNet training set.
        Imagenet = 3, "imagenet";
    }
}

/// `(x - mean) / std` for each of red, green and blue, on pixel values of 0 to 255.
///
/// Alpha is not touched by it; grey uses red's numbers.
///
/// ```
/// use tensor_core::preprocess::{Normalization, NormalizationPreset};
/// let signed = Normalization::mean_std(&[127.5], &[127.5])?;
/// assert_eq!(signed, Normalization::signed());
/// assert_eq!(signed.as_preset(), Some(NormalizationPreset::Signed));
/// assert_eq!(signed.apply([0.0, 127.5, 255.0]), [-1.0, 0.0, 1.0]);
/// # Ok::<(), tensor_core::preprocess::NormalizationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalization {
    mean: [f32; 3],
    std: [f32; 3],
}

/// Why a normalization is refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NormalizationError {
    /// A list is neither one value nor one for each colour.
    #[error("{field}: expected 1 or 3 values, got {got}")]
    Count {
        /// `mean` or `std`.
        field: &'static str,
        /// Values given.
        got: usize,
    },
    /// A mean is infinite or NaN.
    #[error("mean: expected a finite number for {}, got {value}", color(*.channel))]
    Mean {
        /// 0 for red, 1 for green, 2 for blue.
        channel: usize,
        /// The value.
        value: f32,
    },
    /// A deviation is not finite or not above zero.
    #[error("std: expected a finite number above zero for {}, got {value}", color(*.channel))]
    Std {
        /// 0 for red, 1 for green, 2 for blue.
        channel: usize,
        /// The value.
        value: f32,
    },
}

/// The colour of a channel in an error.
fn color(channel: usize) -> &'static str {
    ["red", "green", "blue"].get(channel).copied().unwrap_or("alpha")
}

impl Normalization {
    /// The numbers of a preset.
    #[must_use]
    pub const fn preset(preset: NormalizationPreset) -> Self {
        let (mean, std) = match preset {
            NormalizationPreset::Unsigned => ([0.0; 3], [255.0; 3]),
            NormalizationPreset::Signed => ([127.5; 3], [127.5; 3]),
            NormalizationPreset::Raw => ([0.0; 3], [1.0; 3]),
            // 255 times (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225).
            NormalizationPreset::Imagenet => ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
        };
        Self { mean, std }
    }

    /// `x / 255`.
    #[must_use]
    pub const fn unsigned() -> Self {
        Self::preset(NormalizationPreset::Unsigned)
    }

    /// `x / 127.5 - 1`.
    #[must_use]
    pub const fn signed() -> Self {
        Self::preset(NormalizationPreset::Signed)
    }

    /// `x` as it is.
    #[must_use]
    pub const fn raw() -> Self {
        Self::preset(NormalizationPreset::Raw)
    }

    /// By mean (123.675, 116.28, 103.53) and deviation (58.395, 57.12, 57.375).
    #[must_use]
    pub const fn imagenet() -> Self {
        Self::preset(NormalizationPreset::Imagenet)
    }

    /// Numbers for pixel values of 0 to 255: one for all colours, or red, green, blue.
    ///
    /// # Errors
    /// [`NormalizationError::Count`] for another count, [`NormalizationError::Mean`] for a mean
    /// that is not finite, [`NormalizationError::Std`] for a deviation that is not finite and
    /// above zero.
    pub fn mean_std(mean: &[f32], std: &[f32]) -> Result<Self, NormalizationError> {
        Self::scaled(mean, std, 1.0)
    }

    /// Numbers for pixel values of 0 to 1, as training code has them, multiplied with `scale`
    /// (255 as a rule) in `f64`.
    ///
    /// ```
    /// use tensor_core::preprocess::Normalization;
    /// let (mean, std) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    /// let unit = Normalization::unit_mean_std(&mean, &std, 255.0)?;
    /// // The preset to the last bit of an f32, in which 0.224 is not quite 0.224.
    /// for (ours, preset) in unit.std().iter().zip(Normalization::imagenet().std()) {
    ///     assert!((ours - preset).abs() <= 4e-6);
    /// }
    /// # Ok::<(), tensor_core::preprocess::NormalizationError>(())
    /// ```
    ///
    /// # Errors
    /// As [`mean_std`](Self::mean_std), for the products.
    pub fn unit_mean_std(
        mean: &[f32],
        std: &[f32],
        scale: f64,
    ) -> Result<Self, NormalizationError> {
        Self::scaled(mean, std, scale)
    }

    fn scaled(mean: &[f32], std: &[f32], scale: f64) -> Result<Self, NormalizationError> {
        let three = |field, values: &[f32]| {
            let got = values.len();
            broadcast_rgb(values)
                .map(|rgb| rgb.map(|value| narrowed(f64::from(value) * scale)))
                .ok_or(NormalizationError::Count { field, got })
        };
        let (mean, std) = (three("mean", mean)?, three("std", std)?);
        for (channel, value) in mean.into_iter().enumerate() {
            if !value.is_finite() {
                return Err(NormalizationError::Mean { channel, value });
            }
        }
        for (channel, value) in std.into_iter().enumerate() {
            if !value.is_finite() || value <= 0.0 {
                return Err(NormalizationError::Std { channel, value });
            }
        }
        Ok(Self { mean, std })
    }

    /// The means of red, green and blue, for pixel values of 0 to 255.
    #[must_use]
    pub const fn mean(&self) -> [f32; 3] {
        self.mean
    }

    /// The deviations of red, green and blue, for pixel values of 0 to 255; finite, above zero.
    #[must_use]
    pub const fn std(&self) -> [f32; 3] {
        self.std
    }

    /// The preset with exactly these numbers.
    #[must_use]
    pub fn as_preset(&self) -> Option<NormalizationPreset> {
        NormalizationPreset::ALL.iter().copied().find(|preset| Self::preset(*preset) == *self)
    }

    /// What a model sees of a pixel.
    #[must_use]
    pub fn apply(&self, rgb: [f32; 3]) -> [f32; 3] {
        let [r, g, b] = rgb;
        let ([mr, mg, mb], [sr, sg, sb]) = (self.mean, self.std);
        [(r - mr) / sr, (g - mg) / sg, (b - mb) / sb]
    }

    /// The pixel of which a model sees this.
    #[must_use]
    pub fn invert(&self, seen: [f32; 3]) -> [f32; 3] {
        let [r, g, b] = seen;
        let ([mr, mg, mb], [sr, sg, sb]) = (self.mean, self.std);
        [r * sr + mr, g * sg + mg, b * sb + mb]
    }
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest f32; past its range, infinity")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

impl Default for Normalization {
    fn default() -> Self {
        Self::unsigned()
    }
}

impl From<NormalizationPreset> for Normalization {
    fn from(preset: NormalizationPreset) -> Self {
        Self::preset(preset)
    }
}

/// One value for all of red, green and blue, or one for each; `None` for another count.
///
/// ```
/// use tensor_core::preprocess::broadcast_rgb;
/// assert_eq!(broadcast_rgb(&[114]), Some([114, 114, 114]));
/// assert_eq!(broadcast_rgb(&[1, 2]), None);
/// ```
#[must_use]
pub const fn broadcast_rgb<T: Copy>(values: &[T]) -> Option<[T; 3]> {
    match *values {
        [value] => Some([value; 3]),
        [r, g, b] => Some([r, g, b]),
        _ => None,
    }
}
