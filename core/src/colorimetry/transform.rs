//! RGB codes to Y'CbCr codes and back, as the reference a fast converter is checked against.

use super::{ColorEncoding, ColorRange, Matrix, Rational, matrix::max_code};

/// An affine map between codes of one bit depth, exactly: RGB of full range on one side, Y'CbCr of
/// a matrix and range on the other.
///
/// ```
/// use tensor_core::{ColorEncoding, ColorRange, colorimetry::ColorTransform};
/// let transform =
///     ColorTransform::rgb_to_ycbcr(ColorEncoding::Bt601, ColorRange::Limited, 8).unwrap();
/// assert_eq!(transform.codes([255, 0, 0]), Some([81, 90, 240]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorTransform {
    matrix: Matrix,
    offset: [Rational; 3],
    max: u32,
}

impl ColorTransform {
    /// From full range RGB to Y'CbCr; `None` unless `bits` is 8 to 16.
    #[must_use]
    pub fn rgb_to_ycbcr(encoding: ColorEncoding, range: ColorRange, bits: u32) -> Option<Self> {
        let codes = YcbcrCodes::new(range, bits)?;
        let mut matrix = encoding.rgb_to_ycbcr();
        for (row, swing) in matrix.iter_mut().zip(codes.swing) {
            for coefficient in row {
                *coefficient = coefficient.checked_mul(swing)?.checked_div(codes.white)?;
            }
        }
        Some(Self { matrix, offset: codes.zero, max: codes.max })
    }

    /// From Y'CbCr to full range RGB; `None` unless `bits` is 8 to 16.
    #[must_use]
    pub fn ycbcr_to_rgb(encoding: ColorEncoding, range: ColorRange, bits: u32) -> Option<Self> {
        let codes = YcbcrCodes::new(range, bits)?;
        let mut matrix = encoding.ycbcr_to_rgb();
        for row in &mut matrix {
            for (coefficient, swing) in row.iter_mut().zip(codes.swing) {
                *coefficient = coefficient.checked_mul(codes.white)?.checked_div(swing)?;
            }
        }
        let mut offset = [Rational::ZERO; 3];
        for (offset, moved) in offset.iter_mut().zip(product(&matrix, codes.zero)?) {
            *offset = moved.checked_neg()?;
        }
        Some(Self { matrix, offset, max: codes.max })
    }

    /// The coefficients that codes are multiplied with.
    #[must_use]
    pub const fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// What is added after that, in codes.
    #[must_use]
    pub const fn offset(&self) -> [Rational; 3] {
        self.offset
    }

    /// The exact image of a point; `None` when it does not fit the fractions.
    #[must_use]
    pub fn apply(&self, point: [Rational; 3]) -> Option<[Rational; 3]> {
        let mut image = product(&self.matrix, point)?;
        for (value, offset) in image.iter_mut().zip(self.offset) {
            *value = value.checked_add(offset)?;
        }
        Some(image)
    }

    /// The codes nearest to the image of three codes, half upwards, held to what the bits can say.
    #[must_use]
    pub fn codes(&self, codes: [u32; 3]) -> Option<[u32; 3]> {
        let image = self.apply(codes.map(|code| Rational::integer(code.into())))?;
        let mut rounded = [0; 3];
        for (code, value) in rounded.iter_mut().zip(image) {
            *code = u32::try_from(value.round()?.clamp(0, self.max.into())).ok()?;
        }
        Some(rounded)
    }
}

/// What the codes of Y', Cb and Cr mean.
struct YcbcrCodes {
    /// The code of 0.
    zero: [Rational; 3],
    /// Codes per unit.
    swing: [Rational; 3],
    /// The greatest code, which is full range white.
    max: u32,
    /// The same as a fraction.
    white: Rational,
}

impl YcbcrCodes {
    fn new(range: ColorRange, bits: u32) -> Option<Self> {
        let scaling = range.scaling_at(bits)?;
        let whole = |luma: u32, chroma: u32| {
            [luma, chroma, chroma].map(|code| Rational::integer(code.into()))
        };
        let max = max_code(bits)?;
        Some(Self {
            zero: whole(scaling.y_offset, scaling.c_offset),
            swing: whole(scaling.y_swing, scaling.c_swing),
            max,
            white: Rational::integer(max.into()),
        })
    }
}

/// `matrix * column`.
fn product(matrix: &Matrix, column: [Rational; 3]) -> Option<[Rational; 3]> {
    let mut image = [Rational::ZERO; 3];
    for (value, row) in image.iter_mut().zip(matrix) {
        for (coefficient, component) in row.iter().zip(column) {
            *value = value.checked_add(coefficient.checked_mul(component)?)?;
        }
    }
    Some(image)
}
