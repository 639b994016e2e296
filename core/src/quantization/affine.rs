//! The affine map between stored integers and real numbers, as plain reference code.
//!
//! A kernel that is faster must give these numbers.

use super::{Quantization, QuantizationError};
use crate::dtype::DType;

/// One scale and zero point: `real = scale * (stored - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineParams {
    /// Real numbers per stored step; finite and positive.
    pub scale: f32,
    /// The stored value of 0.0.
    pub zero_point: i32,
}

/// An integer type of at most 32 bits, whose every value a `f64` holds exactly.
///
/// Sealed: the types are `u8`, `i8`, `u16`, `i16`, `u32` and `i32`.
pub trait QuantizedInteger: sealed::Sealed + Copy + Into<f64> {
    /// The dtype of tensors that store it.
    const DTYPE: DType;

    /// The value nearest to `number`, which is whole; past either end of the type it is that end.
    fn saturating_from(number: f64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! quantized {
    ($($integer:ident: $dtype:ident,)*) => { $(
        impl sealed::Sealed for $integer {}

        impl QuantizedInteger for $integer {
            const DTYPE: DType = DType::$dtype;

            #[expect(clippy::as_conversions, reason = "float to integer saturates, as asked")]
            fn saturating_from(number: f64) -> Self {
                number as Self
            }
        }
    )* };
}

quantized! { u8: U8, i8: I8, u16: U16, i16: I16, u32: U32, i32: I32, }

impl AffineParams {
    /// The real number that `stored` stands for, rounded once to the nearest `f32`.
    ///
    /// ```
    /// use tensor_core::quantization::AffineParams;
    /// let params = AffineParams { scale: 0.5, zero_point: 128 };
    /// assert_eq!(params.dequantize(131_u8), 1.5);
    /// ```
    #[must_use]
    #[expect(clippy::as_conversions, reason = "the one rounding of the result")]
    pub fn dequantize<T: QuantizedInteger>(self, stored: T) -> f32 {
        let steps = stored.into() - f64::from(self.zero_point);
        (f64::from(self.scale) * steps) as f32
    }

    /// The stored value that stands for `real`.
    ///
    /// The quotient `real / scale` is taken in `f32` and rounded to the nearest whole number, half
    /// to even, as ONNX `QuantizeLinear` does; the zero point is added and the sum saturates to
    /// `T`. NaN becomes the zero point.
    ///
    /// ```
    /// use tensor_core::quantization::AffineParams;
    /// let params = AffineParams { scale: 1.0, zero_point: 0 };
    /// assert_eq!(params.quantize::<i8>(2.5), 2);
    /// assert_eq!(params.quantize::<i8>(3.5), 4);
    /// assert_eq!(params.quantize::<i8>(-1e9), -128);
    /// ```
    #[must_use]
    pub fn quantize<T: QuantizedInteger>(self, real: f32) -> T {
        let steps = (real / self.scale).round_ties_even();
        let steps = if steps.is_nan() { 0.0 } else { f64::from(steps) };
        T::saturating_from(steps + f64::from(self.zero_point))
    }
}

impl Quantization {
    /// The pair of each channel in turn; of a per-tensor quantization the one pair.
    #[must_use]
    pub fn params(&self) -> impl ExactSizeIterator<Item = AffineParams> + Clone {
        let zero_points = self.zero_points();
        self.scales().iter().enumerate().map(|(index, scale)| AffineParams {
            scale: *scale,
            zero_point: zero_points.get(index).copied().unwrap_or(0),
        })
    }

    /// Writes the real numbers of a dense C-ordered tensor of this `shape` into `real`.
    ///
    /// ```
    /// use tensor_core::Quantization;
    /// let q = Quantization::per_channel_symmetric(vec![0.5, 2.0], 1)?;
    /// let mut real = [0.0; 4];
    /// q.dequantize(&[2, 2], &[1_i8, 1, -1, 3], &mut real)?;
    /// assert_eq!(real, [0.5, 2.0, -0.5, 6.0]);
    /// # Ok::<(), tensor_core::QuantizationError>(())
    /// ```
    ///
    /// # Errors
    /// As [`validate`](Self::validate), and [`QuantizationError::Elements`] or
    /// [`QuantizationError::Length`] unless both slices have the shape's elements.
    pub fn dequantize<T: QuantizedInteger>(
        &self,
        shape: &[usize],
        stored: &[T],
        real: &mut [f32],
    ) -> Result<(), QuantizationError> {
        let run = self.run::<T>(shape, stored.len(), real.len())?;
        let runs = stored.chunks(run).zip(real.chunks_mut(run));
        for ((stored, real), params) in runs.zip(self.params().cycle()) {
            for (stored, real) in stored.iter().zip(real) {
                *real = params.dequantize(*stored);
            }
        }
        Ok(())
    }

    /// Writes the stored values of a dense C-ordered tensor of this `shape` into `stored`; the
    /// rounding is that of [`AffineParams::quantize`].
    ///
    /// # Errors
    /// As [`dequantize`](Self::dequantize).
    pub fn quantize<T: QuantizedInteger>(
        &self,
        shape: &[usize],
        real: &[f32],
        stored: &mut [T],
    ) -> Result<(), QuantizationError> {
        let run = self.run::<T>(shape, stored.len(), real.len())?;
        let runs = real.chunks(run).zip(stored.chunks_mut(run));
        for ((real, stored), params) in runs.zip(self.params().cycle()) {
            for (real, stored) in real.iter().zip(stored) {
                *stored = params.quantize(*real);
            }
        }
        Ok(())
    }

    /// How many elements in a row share one pair, at least 1; refuses what does not fit together.
    fn run<T: QuantizedInteger>(
        &self,
        shape: &[usize],
        stored: usize,
        real: usize,
    ) -> Result<usize, QuantizationError> {
        self.validate(shape, T::DTYPE)?;
        let count = |dims: &[usize]| dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(*dim));
        let expected = count(shape).ok_or(QuantizationError::Elements)?;
        for (field, got) in [("stored", stored), ("real", real)] {
            if got != expected {
                return Err(QuantizationError::Length { field, expected, got });
            }
        }
        let inner = match self.axis() {
            None => Some(expected),
            Some(axis) => {
                shape.iter().skip(axis).skip(1).try_fold(1, |n: usize, dim| n.checked_mul(*dim))
            }
        };
        Ok(inner.ok_or(QuantizationError::Elements)?.max(1))
    }
}
