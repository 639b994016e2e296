//! Quantization: how stored integers stand for real numbers.

use thiserror::Error;

/// `real = scale * (stored - zero_point)`, with one pair for the tensor or one for each index of an
/// axis.
///
/// ```
/// use tensor_core::Quantization;
/// let q = Quantization::per_tensor(0.5, 128)?;
/// assert_eq!(q.scales(), [0.5]);
/// assert_eq!(q.axis(), None);
/// # Ok::<(), tensor_core::QuantizationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: Option<usize>,
}

/// Why a quantization is refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum QuantizationError {
    /// A scale is not a finite positive number.
    #[error("scale {index} is {value}; it must be finite and above zero")]
    Scale {
        /// Which scale.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// No scale was given.
    #[error("no scale given; a quantization has at least one")]
    NoScale,
    /// There are zero points, but not one for each scale.
    #[error("{zero_points} zero points for {scales} scales; give none or one for each")]
    ZeroPoints {
        /// Zero points given.
        zero_points: usize,
        /// Scales given.
        scales: usize,
    },
    /// Several scales need an axis that they belong to.
    #[error("{scales} scales but no axis; say which axis they belong to")]
    NoAxis {
        /// Scales given.
        scales: usize,
    },
}

impl Quantization {
    /// One scale and zero point for all elements.
    ///
    /// # Errors
    /// [`QuantizationError::Scale`] unless the scale is finite and positive.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Result<Self, QuantizationError> {
        Self::new(vec![scale], vec![zero_point], None)
    }

    /// Scales with their zero points (none means all zero), along `axis` when there are several.
    ///
    /// # Errors
    /// See [`QuantizationError`].
    pub fn new(
        scales: Vec<f32>,
        zero_points: Vec<i32>,
        axis: Option<usize>,
    ) -> Result<Self, QuantizationError> {
        if scales.is_empty() {
            return Err(QuantizationError::NoScale);
        }
        let bad = scales.iter().position(|scale| !scale.is_finite() || *scale <= 0.0);
        if let Some((index, value)) = bad.and_then(|index| scales.get(index).map(|v| (index, *v))) {
            return Err(QuantizationError::Scale { index, value });
        }
        if !zero_points.is_empty() && zero_points.len() != scales.len() {
            let (zero_points, scales) = (zero_points.len(), scales.len());
            return Err(QuantizationError::ZeroPoints { zero_points, scales });
        }
        if scales.len() > 1 && axis.is_none() {
            return Err(QuantizationError::NoAxis { scales: scales.len() });
        }
        Ok(Self { scales, zero_points, axis })
    }

    /// The scales: one, or one for each index of [`axis`](Self::axis).
    #[must_use]
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// The zero points: none when symmetric, else one for each scale.
    #[must_use]
    pub fn zero_points(&self) -> &[i32] {
        &self.zero_points
    }

    /// The axis that several scales belong to.
    #[must_use]
    pub fn axis(&self) -> Option<usize> {
        self.axis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-QNT-03, D-39
    #[test]
    fn a_scale_that_is_no_scale_is_refused() {
        for value in [0.0, -1.0, f32::INFINITY, f32::NAN] {
            assert!(Quantization::per_tensor(value, 0).is_err(), "{value}");
        }
    }

    // S-QNT-02
    #[test]
    fn counts_that_disagree_are_refused_with_both_numbers() {
        assert_eq!(
            Quantization::new(vec![1.0, 2.0], vec![0], Some(0)),
            Err(QuantizationError::ZeroPoints { zero_points: 1, scales: 2 })
        );
        assert_eq!(
            Quantization::new(vec![1.0, 2.0], vec![], None),
            Err(QuantizationError::NoAxis { scales: 2 })
        );
        assert_eq!(Quantization::new(vec![], vec![], None), Err(QuantizationError::NoScale));
    }
}
