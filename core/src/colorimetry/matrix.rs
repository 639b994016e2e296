//! The numbers between RGB and Y'CbCr: luma weights, matrices and code ranges, exactly.

use super::{ColorEncoding, ColorRange, Rational};

/// Three rows of three coefficients.
pub type Matrix = [[Rational; 3]; 3];

/// How much of each colour is in the luma; the three add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MatrixWeights {
    /// Red.
    pub kr: Rational,
    /// Green.
    pub kg: Rational,
    /// Blue.
    pub kb: Rational,
}

/// All that follows from one standard's luma weights.
struct Coefficients {
    weights: MatrixWeights,
    forward: Matrix,
    inverse: Matrix,
}

/// ITU-R BT.601-7, section 2.5.1.
const BT601: Coefficients = coefficients(299, 587, 114, 1_000);
/// ITU-R BT.709-6, section 3.2.
const BT709: Coefficients = coefficients(2_126, 7_152, 722, 10_000);
/// ITU-R BT.2020-2, table 4, non-constant luminance.
const BT2020: Coefficients = coefficients(2_627, 6_780, 593, 10_000);

/// A value of a constant; one that did not fit would not compile.
const fn exact(value: Option<Rational>) -> Rational {
    match value {
        Some(value) => value,
        None => panic!("a constant coefficient does not fit"),
    }
}

const fn coefficients(red: i128, green: i128, blue: i128, whole: i128) -> Coefficients {
    let (kr, kg) = (exact(Rational::new(red, whole)), exact(Rational::new(green, whole)));
    let kb = exact(Rational::new(blue, whole));
    // The chroma components are the colour differences scaled to +-1/2: Cb = (B - Y) / blue_span.
    let two = Rational::integer(2);
    let red_span = exact(two.checked_mul(exact(Rational::ONE.checked_sub(kr))));
    let blue_span = exact(two.checked_mul(exact(Rational::ONE.checked_sub(kb))));
    let half = exact(Rational::new(1, 2));
    Coefficients {
        weights: MatrixWeights { kr, kg, kb },
        forward: [
            [kr, kg, kb],
            [negated_ratio(kr, blue_span), negated_ratio(kg, blue_span), half],
            [half, negated_ratio(kg, red_span), negated_ratio(kb, red_span)],
        ],
        // Green is what the luma leaves: G = (Y - kr R - kb B) / kg.
        inverse: [
            [Rational::ONE, Rational::ZERO, red_span],
            [
                Rational::ONE,
                negated_ratio(exact(kb.checked_mul(blue_span)), kg),
                negated_ratio(exact(kr.checked_mul(red_span)), kg),
            ],
            [Rational::ONE, blue_span, Rational::ZERO],
        ],
    }
}

/// `-above / below`.
const fn negated_ratio(above: Rational, below: Rational) -> Rational {
    exact(exact(above.checked_div(below)).checked_neg())
}

impl ColorEncoding {
    const fn coefficients(self) -> &'static Coefficients {
        match self {
            Self::Bt601 => &BT601,
            Self::Bt709 => &BT709,
            Self::Bt2020 => &BT2020,
        }
    }

    /// The luma weights of red, green and blue.
    ///
    /// ```
    /// use tensor_core::ColorEncoding;
    /// let weights = ColorEncoding::Bt601.luma_weights();
    /// assert_eq!(weights.kr.to_f64(), 0.299);
    /// assert_eq!(weights.kb.to_f64(), 0.114);
    /// ```
    #[must_use]
    pub const fn luma_weights(self) -> MatrixWeights {
        self.coefficients().weights
    }

    /// The matrix from R', G', B' of 0 to 1 to Y' of 0 to 1 and Cb, Cr of -1/2 to 1/2.
    #[must_use]
    pub const fn rgb_to_ycbcr(self) -> Matrix {
        self.coefficients().forward
    }

    /// The matrix back from Y', Cb, Cr: the exact inverse of [`rgb_to_ycbcr`](Self::rgb_to_ycbcr).
    #[must_use]
    pub const fn ycbcr_to_rgb(self) -> Matrix {
        self.coefficients().inverse
    }
}

/// Which code values stand for black, white and no colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RangeScaling {
    /// The luma code of black.
    pub y_offset: u32,
    /// Luma codes from black to white.
    pub y_swing: u32,
    /// The chroma code of no colour.
    pub c_offset: u32,
    /// Chroma codes from the least to the greatest.
    pub c_swing: u32,
}

impl ColorRange {
    /// The code values of 8 bits: 16, 219 and 224 when limited, 0, 255 and 255 when full.
    ///
    /// ```
    /// use tensor_core::ColorRange;
    /// let limited = ColorRange::Limited.scaling();
    /// assert_eq!((limited.y_offset, limited.y_swing, limited.c_swing), (16, 219, 224));
    /// ```
    #[must_use]
    pub const fn scaling(self) -> RangeScaling {
        match self {
            Self::Full => RangeScaling { y_offset: 0, y_swing: 255, c_offset: 128, c_swing: 255 },
            Self::Limited => {
                RangeScaling { y_offset: 16, y_swing: 219, c_offset: 128, c_swing: 224 }
            }
        }
    }

    /// The code values of `bits` bits, 8 to 16; `None` for any other depth.
    ///
    /// Limited ranges are those of 8 bits shifted up; a full range ends at `2^bits - 1` (H.273
    /// section 8.3).
    ///
    /// ```
    /// use tensor_core::ColorRange;
    /// assert_eq!(ColorRange::Limited.scaling_at(10).unwrap().y_swing, 876);
    /// assert_eq!(ColorRange::Full.scaling_at(10).unwrap().y_swing, 1023);
    /// assert_eq!(ColorRange::Full.scaling_at(7), None);
    /// ```
    #[must_use]
    pub fn scaling_at(self, bits: u32) -> Option<RangeScaling> {
        let shift = bits.checked_sub(8).filter(|shift| *shift <= 8)?;
        let RangeScaling { y_offset, y_swing, c_offset, c_swing } = self.scaling();
        let swing = |of_8_bits: u32| match self {
            Self::Full => max_code(bits),
            Self::Limited => of_8_bits.checked_shl(shift),
        };
        Some(RangeScaling {
            y_offset: y_offset.checked_shl(shift)?,
            y_swing: swing(y_swing)?,
            c_offset: c_offset.checked_shl(shift)?,
            c_swing: swing(c_swing)?,
        })
    }
}

/// The greatest code of `bits` bits.
pub(super) fn max_code(bits: u32) -> Option<u32> {
    1_u32.checked_shl(bits)?.checked_sub(1)
}
