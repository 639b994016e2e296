//! Why a quantization is refused.

use thiserror::Error;

use crate::dtype::DType;

/// Why a quantization is refused: which field, what it must be and what it was.
///
/// ```
/// use tensor_core::{DType, Quantization};
/// let q = Quantization::per_channel(vec![0.5; 4], vec![0; 4], 1)?;
/// let error = q.validate(&[2, 3], DType::U8).unwrap_err();
/// assert_eq!(error.field(), "scales");
/// assert_eq!(error.to_string(), "scales: expected 3, one for each index of axis 1, got 4");
/// # Ok::<(), tensor_core::QuantizationError>(())
/// ```
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum QuantizationError {
    /// A scale is not a finite positive number.
    #[error("scales: expected a finite number above zero at index {index}, got {value}")]
    Scale {
        /// Which scale.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// No scale was given.
    #[error("scales: expected at least 1, got 0")]
    NoScale,
    /// There are zero points, but not one for each scale.
    #[error("zero_points: expected none or {scales}, one for each scale, got {zero_points}")]
    ZeroPoints {
        /// Zero points given.
        zero_points: usize,
        /// Scales given.
        scales: usize,
    },
    /// Several scales need an axis that they belong to.
    #[error("axis: expected one for {scales} scales, got none")]
    NoAxis {
        /// Scales given.
        scales: usize,
    },
    /// The axis is not one of the tensor's.
    #[error("axis: expected below the rank {rank}, got {axis}")]
    Axis {
        /// The axis.
        axis: usize,
        /// The tensor's rank.
        rank: usize,
    },
    /// The tensor's axis has another length than there are scales.
    #[error("scales: expected {dim}, one for each index of axis {axis}, got {scales}")]
    Channels {
        /// The axis.
        axis: usize,
        /// The length of that axis.
        dim: usize,
        /// Scales given.
        scales: usize,
    },
    /// A zero point is no value of the tensor's dtype.
    #[error("zero_points: expected {min} to {max} for {dtype} at index {index}, got {value}")]
    ZeroPoint {
        /// Which zero point.
        index: usize,
        /// Its value.
        value: i32,
        /// The tensor's dtype.
        dtype: DType,
        /// The least value of the dtype.
        min: i128,
        /// The greatest value of the dtype.
        max: i128,
    },
    /// Only integers are quantized.
    #[error("dtype: expected an integer type, got {dtype}")]
    FloatDType {
        /// The tensor's dtype.
        dtype: DType,
    },
    /// The shape has more elements than a `usize` counts.
    #[error("shape: expected at most {} elements, got more", usize::MAX)]
    Elements,
    /// A slice is not as long as the shape says.
    #[error("{field}: expected {expected} elements, got {got}")]
    Length {
        /// Which slice.
        field: &'static str,
        /// Elements of the shape.
        expected: usize,
        /// Elements of the slice.
        got: usize,
    },
}

impl QuantizationError {
    /// The field that is wrong: `scales`, `zero_points`, `axis`, `dtype`, `shape`, or a slice argument.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Scale { .. } | Self::NoScale | Self::Channels { .. } => "scales",
            Self::ZeroPoints { .. } | Self::ZeroPoint { .. } => "zero_points",
            Self::NoAxis { .. } | Self::Axis { .. } => "axis",
            Self::FloatDType { .. } => "dtype",
            Self::Elements => "shape",
            Self::Length { field, .. } => field,
        }
    }
}
