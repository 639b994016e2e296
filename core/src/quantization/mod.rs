//! Quantization: how stored integers stand for real numbers.
//!
//! `real = scale * (stored - zero_point)`. There is one pair for the whole tensor or one for each
//! index of an axis, and symmetric quantization has no zero points. What a value alone can get
//! wrong its constructor refuses; what needs a tensor, [`Quantization::validate`] refuses.

#![forbid(unsafe_code)]

mod affine;
mod error;
#[cfg(feature = "serde")]
mod serial;
#[cfg(test)]
mod tests;

use std::slice;

pub use affine::{AffineParams, QuantizedInteger};
pub use error::QuantizationError;

use crate::dtype::DType;

/// The scales and zero points of an integer tensor.
///
/// Per tensor it holds no heap memory.
///
/// ```
/// use tensor_core::{DType, Quantization};
/// let q = Quantization::per_tensor(0.5, 128)?;
/// assert_eq!(q.scales(), [0.5]);
/// assert_eq!(q.axis(), None);
/// q.validate(&[480, 640, 3], DType::U8)?;
/// assert!(q.validate(&[480, 640, 3], DType::I8).is_err()); // 128 is no i8
/// # Ok::<(), tensor_core::QuantizationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization(Pairs);

/// How the pairs are held.
#[derive(Clone, Debug, PartialEq)]
enum Pairs {
    /// One for all elements.
    Tensor { scale: f32, zero_point: Option<i32> },
    /// One for each index of `axis`; no zero points when symmetric.
    Channel { scales: Vec<f32>, zero_points: Vec<i32>, axis: usize },
}

/// The four ways to quantize, borrowed from a [`Quantization`]: match once, before a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuantMode<'a> {
    /// One scale; the zero point is 0.
    PerTensorSymmetric {
        /// Real numbers per stored step.
        scale: f32,
    },
    /// One scale and one zero point.
    PerTensor {
        /// Real numbers per stored step.
        scale: f32,
        /// The stored value of 0.0.
        zero_point: i32,
    },
    /// A scale for each index of `axis`; the zero points are 0.
    PerChannelSymmetric {
        /// Real numbers per stored step.
        scales: &'a [f32],
        /// The axis they belong to.
        axis: usize,
    },
    /// A scale and a zero point for each index of `axis`.
    PerChannel {
        /// Real numbers per stored step.
        scales: &'a [f32],
        /// The stored values of 0.0.
        zero_points: &'a [i32],
        /// The axis they belong to.
        axis: usize,
    },
}

impl Quantization {
    /// One scale for all elements, with zero point 0.
    ///
    /// # Errors
    /// [`QuantizationError::Scale`] unless the scale is finite and positive.
    pub fn per_tensor_symmetric(scale: f32) -> Result<Self, QuantizationError> {
        check_scales(&[scale])?;
        Ok(Self(Pairs::Tensor { scale, zero_point: None }))
    }

    /// One scale and zero point for all elements.
    ///
    /// # Errors
    /// [`QuantizationError::Scale`] unless the scale is finite and positive.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Result<Self, QuantizationError> {
        check_scales(&[scale])?;
        Ok(Self(Pairs::Tensor { scale, zero_point: Some(zero_point) }))
    }

    /// A scale for each index of `axis`, with zero points 0.
    ///
    /// # Errors
    /// [`QuantizationError::NoScale`], or [`QuantizationError::Scale`] unless all are finite and
    /// positive.
    pub fn per_channel_symmetric(scales: Vec<f32>, axis: usize) -> Result<Self, QuantizationError> {
        Self::new(scales, Vec::new(), Some(axis))
    }

    /// A scale and a zero point for each index of `axis`.
    ///
    /// # Errors
    /// As [`per_channel_symmetric`](Self::per_channel_symmetric), and
    /// [`QuantizationError::ZeroPoints`] unless there is one for each scale.
    pub fn per_channel(
        scales: Vec<f32>,
        zero_points: Vec<i32>,
        axis: usize,
    ) -> Result<Self, QuantizationError> {
        if zero_points.is_empty() && !scales.is_empty() {
            return Err(QuantizationError::ZeroPoints { zero_points: 0, scales: scales.len() });
        }
        Self::new(scales, zero_points, Some(axis))
    }

    /// The quantization of these fields, as a blob has them: no zero points means symmetric, no
    /// axis means per tensor.
    ///
    /// One scale may have an axis; [`validate`](Self::validate) then wants that axis to be 1 long.
    ///
    /// # Errors
    /// [`QuantizationError::NoScale`], [`QuantizationError::Scale`],
    /// [`QuantizationError::ZeroPoints`] or, when there are several scales,
    /// [`QuantizationError::NoAxis`].
    pub fn new(
        scales: Vec<f32>,
        zero_points: Vec<i32>,
        axis: Option<usize>,
    ) -> Result<Self, QuantizationError> {
        check_scales(&scales)?;
        if !zero_points.is_empty() && zero_points.len() != scales.len() {
            let (zero_points, scales) = (zero_points.len(), scales.len());
            return Err(QuantizationError::ZeroPoints { zero_points, scales });
        }
        match (axis, scales.as_slice()) {
            (Some(axis), _) => Ok(Self(Pairs::Channel { scales, zero_points, axis })),
            (None, &[scale]) => {
                let zero_point = zero_points.first().copied();
                Ok(Self(Pairs::Tensor { scale, zero_point }))
            }
            (None, _) => Err(QuantizationError::NoAxis { scales: scales.len() }),
        }
    }

    /// The scales: one, or one for each index of [`axis`](Self::axis).
    #[must_use]
    pub fn scales(&self) -> &[f32] {
        match &self.0 {
            Pairs::Tensor { scale, .. } => slice::from_ref(scale),
            Pairs::Channel { scales, .. } => scales,
        }
    }

    /// The zero points: none when symmetric, else one for each scale.
    #[must_use]
    pub fn zero_points(&self) -> &[i32] {
        match &self.0 {
            Pairs::Tensor { zero_point, .. } => zero_point.as_slice(),
            Pairs::Channel { zero_points, .. } => zero_points,
        }
    }

    /// The axis the scales belong to; `None` per tensor.
    #[must_use]
    pub const fn axis(&self) -> Option<usize> {
        match &self.0 {
            Pairs::Tensor { .. } => None,
            Pairs::Channel { axis, .. } => Some(*axis),
        }
    }

    /// Which of the four ways it is.
    #[must_use]
    pub fn mode(&self) -> QuantMode<'_> {
        match &self.0 {
            Pairs::Tensor { scale, zero_point: None } => {
                QuantMode::PerTensorSymmetric { scale: *scale }
            }
            Pairs::Tensor { scale, zero_point: Some(zero_point) } => {
                QuantMode::PerTensor { scale: *scale, zero_point: *zero_point }
            }
            Pairs::Channel { scales, zero_points, axis } if zero_points.is_empty() => {
                QuantMode::PerChannelSymmetric { scales, axis: *axis }
            }
            Pairs::Channel { scales, zero_points, axis } => {
                QuantMode::PerChannel { scales, zero_points, axis: *axis }
            }
        }
    }

    /// Whether one pair holds for all elements.
    #[must_use]
    pub const fn is_per_tensor(&self) -> bool {
        matches!(self.0, Pairs::Tensor { .. })
    }

    /// Whether every zero point is 0, said or not.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.zero_points().iter().all(|zero_point| *zero_point == 0)
    }

    /// Refuses a tensor that these pairs do not fit: its `shape` and its `dtype`.
    ///
    /// # Errors
    /// [`QuantizationError::FloatDType`], [`QuantizationError::ZeroPoint`],
    /// [`QuantizationError::Axis`] or [`QuantizationError::Channels`].
    pub fn validate(&self, shape: &[usize], dtype: DType) -> Result<(), QuantizationError> {
        let range = dtype.integer_range().ok_or(QuantizationError::FloatDType { dtype })?;
        for (index, value) in self.zero_points().iter().copied().enumerate() {
            if !range.contains(&i128::from(value)) {
                let (min, max) = range.into_inner();
                return Err(QuantizationError::ZeroPoint { index, value, dtype, min, max });
            }
        }
        let Some(axis) = self.axis() else { return Ok(()) };
        let (rank, scales) = (shape.len(), self.scales().len());
        let dim = *shape.get(axis).ok_or(QuantizationError::Axis { axis, rank })?;
        if dim != scales {
            return Err(QuantizationError::Channels { axis, dim, scales });
        }
        Ok(())
    }
}

/// Refuses none, and a scale that is none.
fn check_scales(scales: &[f32]) -> Result<(), QuantizationError> {
    if scales.is_empty() {
        return Err(QuantizationError::NoScale);
    }
    let mut numbered = scales.iter().copied().enumerate();
    match numbered.find(|(_, scale)| !scale.is_finite() || *scale <= 0.0) {
        Some((index, value)) => Err(QuantizationError::Scale { index, value }),
        None => Ok(()),
    }
}
