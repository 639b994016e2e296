//! Exact fractions, for coefficients that must not depend on rounding.

use std::fmt;

/// A fraction in lowest terms with a positive denominator.
///
/// Every operation that could leave `i128` is checked; `None` is that it did, or a division by 0.
///
/// ```
/// use tensor_core::colorimetry::Rational;
/// let third = Rational::new(2, 6).unwrap();
/// assert_eq!((third.numerator(), third.denominator()), (1, 3));
/// assert_eq!(third.checked_mul(Rational::integer(3)), Some(Rational::ONE));
/// assert_eq!(Rational::new(1, 0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

/// The value of an option, or `None` from a const function, where `?` is not allowed.
macro_rules! attempt {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return None,
        }
    };
}

impl Rational {
    /// 0.
    pub const ZERO: Self = Self::integer(0);
    /// 1.
    pub const ONE: Self = Self::integer(1);

    /// `numerator / denominator`.
    #[must_use]
    pub const fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest != 0 {
            (divisor, rest) = (rest, attempt!(divisor.checked_rem(rest)));
        }
        if denominator < 0 && divisor > 0 || denominator > 0 && divisor < 0 {
            divisor = attempt!(divisor.checked_neg());
        }
        if denominator == 0 {
            return None;
        }
        let numerator = attempt!(numerator.checked_div(divisor));
        Some(Self { numerator, denominator: attempt!(denominator.checked_div(divisor)) })
    }

    /// A whole number.
    #[must_use]
    pub const fn integer(value: i128) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    /// What stands above the line.
    #[must_use]
    pub const fn numerator(self) -> i128 {
        self.numerator
    }

    /// What stands below the line; above 0.
    #[must_use]
    pub const fn denominator(self) -> i128 {
        self.denominator
    }

    /// `self + other`.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        let left = attempt!(self.numerator.checked_mul(other.denominator));
        let right = attempt!(other.numerator.checked_mul(self.denominator));
        let sum = attempt!(left.checked_add(right));
        Self::new(sum, attempt!(self.denominator.checked_mul(other.denominator)))
    }

    /// `self - other`.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(attempt!(other.checked_neg()))
    }

    /// `self * other`.
    #[must_use]
    pub const fn checked_mul(self, other: Self) -> Option<Self> {
        let above = attempt!(self.numerator.checked_mul(other.numerator));
        Self::new(above, attempt!(self.denominator.checked_mul(other.denominator)))
    }

    /// `self / other`.
    #[must_use]
    pub const fn checked_div(self, other: Self) -> Option<Self> {
        self.checked_mul(attempt!(Self::new(other.denominator, other.numerator)))
    }

    /// `-self`.
    #[must_use]
    pub const fn checked_neg(self) -> Option<Self> {
        let numerator = attempt!(self.numerator.checked_neg());
        Some(Self { numerator, denominator: self.denominator })
    }

    /// The nearest whole number, half upwards.
    #[must_use]
    pub const fn round(self) -> Option<i128> {
        let twice = attempt!(self.numerator.checked_mul(2));
        let raised = attempt!(twice.checked_add(self.denominator));
        raised.checked_div_euclid(attempt!(self.denominator.checked_mul(2)))
    }

    /// A float near it: the quotient of the nearest floats.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "rounds to the nearest float, as said")]
    pub const fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: i128, denominator: i128) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    #[test]
    fn equal_fractions_are_equal_values() {
        for (a, b) in [((1, 2), (-3, -6)), ((-1, 2), (3, -6)), ((0, 5), (0, -7)), ((4, 2), (2, 1))]
        {
            assert_eq!(ratio(a.0, a.1), ratio(b.0, b.1));
            assert!(ratio(b.0, b.1).denominator() > 0);
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(ratio(1, 3).checked_add(ratio(1, 6)), Some(ratio(1, 2)));
        assert_eq!(ratio(1, 3).checked_sub(ratio(1, 2)), Some(ratio(-1, 6)));
        assert_eq!(ratio(2, 3).checked_mul(ratio(-3, 4)), Some(ratio(-1, 2)));
        assert_eq!(ratio(2, 3).checked_div(ratio(-4, 9)), Some(ratio(-3, 2)));
        assert_eq!(ratio(2, 3).checked_div(Rational::ZERO), None);
        assert_eq!(ratio(299, 1000).to_f64(), 0.299);
    }

    #[test]
    fn halves_round_upwards() {
        let rounded =
            [(1, 2), (3, 2), (-1, 2), (-3, 2), (7, 3), (-7, 3)].map(|(a, b)| ratio(a, b).round());
        assert_eq!(rounded, [1, 2, 0, -1, 2, -2].map(Some));
    }

    #[test]
    fn past_i128_there_is_no_value() {
        let huge = Rational::integer(i128::MAX);
        assert_eq!(huge.checked_add(Rational::ONE), None);
        assert_eq!(huge.checked_mul(huge), None);
        assert_eq!(huge.round(), None);
        assert_eq!(Rational::integer(i128::MIN).checked_neg(), None);
        assert_eq!(Rational::new(1, i128::MIN), None);
        assert_eq!(Rational::new(i128::MIN, -1), None);
        assert_eq!(Rational::new(i128::MIN, i128::MIN), Some(Rational::ONE));
        assert_eq!(Rational::new(0, 0), None);
    }
}
