//! Common factors and multiples of the numbers in a format's row.

/// The greatest number that divides both.
pub(super) const fn gcd(a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// The least number that both divide; `None` when it does not fit, or for 0 and 0.
pub(super) fn lcm(a: usize, b: usize) -> Option<usize> {
    a.checked_div(gcd(a, b))?.checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_factors_and_multiples_are_the_least_and_greatest() {
        assert_eq!((gcd(12, 18), gcd(7, 1), gcd(0, 5), gcd(5, 0)), (6, 1, 5, 5));
        assert_eq!((lcm(4, 6), lcm(1, 64), lcm(0, 0)), (Some(12), Some(64), None));
        assert_eq!(lcm(usize::MAX, 2), None);
    }
}
