//! Which samples along one axis an output sample is made of, and how much of each.

#![expect(
    clippy::as_conversions,
    reason = "sides are at most MAX_SIDE, so every whole number here is exact as an f64 and back"
)]

use crate::preprocess::Interpolation;

/// The taps of every output sample along one axis: always the same number of samples in a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// Samples that each output is made of; at least 1.
    pub(super) taps: usize,
    /// The first sample of each output.
    pub(super) first: Vec<usize>,
    /// `taps` weights for each output; they add up to 1.
    pub(super) weights: Vec<f64>,
}

/// A run of image columns or rows, seen in a plane that has one sample for every `sub` of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The first column or row.
    pub(super) start: usize,
    /// How many.
    pub(super) len: usize,
    /// Columns or rows for one sample.
    pub(super) sub: usize,
}

impl Span {
    /// The least and the greatest sample that the run touches.
    fn ends(self) -> (f64, f64) {
        let Self { start, len, sub } = self;
        let last = start.saturating_add(len).div_ceil(sub).saturating_sub(1);
        (start.checked_div(sub).unwrap_or(0) as f64, last as f64)
    }

    /// Where `part` of `of` equal parts of the run is, in samples. The sums are exact and the
    /// quotient is rounded once, so a position on a sample is found on it.
    fn position(self, part: f64, of: usize) -> f64 {
        let above = part * self.len as f64 + (self.start as f64) * of as f64;
        above / (of as f64 * self.sub as f64)
    }
}

impl Axis {
    /// The taps of `out` samples over `span`.
    pub(super) fn new(interpolation: Interpolation, span: Span, out: usize) -> Self {
        let (least, greatest) = span.ends();
        let mut all: Vec<Vec<(f64, f64)>> = Vec::with_capacity(out);
        for index in 0..out {
            let mut taps = Vec::new();
            for (position, weight) in taps_of(interpolation, span, index, out) {
                let position = position.clamp(least, greatest);
                match taps.last_mut() {
                    Some((last, sum)) if *last == position => *sum += weight,
                    _ => taps.push((position, weight)),
                }
            }
            taps.retain(|(_, weight)| *weight != 0.0);
            all.push(taps);
        }
        Self::aligned(&all, greatest)
    }

    /// Taps of equal number: the shorter lists get samples of weight 0.
    fn aligned(all: &[Vec<(f64, f64)>], greatest: f64) -> Self {
        let width = |taps: &Vec<(f64, f64)>| match (taps.first(), taps.last()) {
            (Some((first, _)), Some((last, _))) => last - first + 1.0,
            _ => 1.0,
        };
        let widest = all.iter().map(width).fold(1.0, f64::max);
        let taps = widest as usize;
        let mut axis = Self { taps, first: Vec::new(), weights: Vec::new() };
        for list in all {
            let first = list.first().map_or(0.0, |(first, _)| *first);
            let first = first.min(greatest + 1.0 - widest).max(0.0);
            axis.first.push(first as usize);
            let weights = (0..taps).map(|tap| {
                let found = list.iter().find(|(position, _)| *position == first + tap as f64);
                found.map_or(0.0, |(_, weight)| *weight)
            });
            axis.weights.extend(weights);
        }
        axis
    }

    /// The first sample and the weights of output `index`.
    pub(super) fn at(&self, index: usize) -> (usize, &[f64]) {
        let first = self.first.get(index).copied().unwrap_or(0);
        let start = index.saturating_mul(self.taps);
        (first, self.weights.get(start..start.saturating_add(self.taps)).unwrap_or_default())
    }
}

/// The samples, in rising order, that output `index` of `out` is made of; some may lie outside.
fn taps_of(kind: Interpolation, span: Span, index: usize, out: usize) -> Vec<(f64, f64)> {
    let index = index as f64;
    match kind {
        Interpolation::Nearest => {
            // The chroma of the pixel that is nearest, not the nearest chroma.
            let pixel = Span { sub: 1, ..span }.position(index + 0.5, out).floor();
            vec![((pixel / span.sub as f64).floor(), 1.0)]
        }
        Interpolation::Bilinear => {
            let center = span.position(index + 0.5, out) - 0.5;
            let part = center - center.floor();
            vec![(center.floor(), 1.0 - part), (center.floor() + 1.0, part)]
        }
        Interpolation::Bicubic => {
            let center = span.position(index + 0.5, out) - 0.5;
            let at = |tap: f64| {
                let position = center.floor() + tap;
                (position, cubic((center - position).abs()))
            };
            vec![at(-1.0), at(0.0), at(1.0), at(2.0)]
        }
        Interpolation::Area => {
            let (from, to) = (span.position(index, out), span.position(index + 1.0, out));
            let mut taps = Vec::new();
            let mut position = from.floor();
            while position < to {
                let covered = (position + 1.0).min(to) - position.max(from);
                taps.push((position, covered / (to - from)));
                position += 1.0;
            }
            taps
        }
    }
}

/// Keys' cubic kernel with a = -0.75, which is OpenCV's.
fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.75;
    let x = distance;
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(kind: Interpolation, start: usize, len: usize, sub: usize, out: usize) -> Axis {
        Axis::new(kind, Span { start, len, sub }, out)
    }

    #[test]
    fn a_third_in_size_takes_the_middle_of_three() {
        let thirds = axis(Interpolation::Bilinear, 0, 1920, 1, 640);
        assert_eq!((thirds.taps, thirds.first[0], thirds.first[639]), (1, 1, 1918));
        let area = axis(Interpolation::Area, 0, 1920, 1, 640);
        assert_eq!((area.taps, area.first[5]), (3, 15));
    }

    #[test]
    fn chroma_lies_between_its_pixels_and_stays_in_the_crop() {
        let chroma = axis(Interpolation::Bilinear, 0, 4, 2, 4);
        assert_eq!(chroma.first, [0, 0, 0, 0]);
        assert_eq!(chroma.weights, [1.0, 0.0, 0.75, 0.25, 0.25, 0.75, 0.0, 1.0]);
        let odd = axis(Interpolation::Nearest, 3, 5, 2, 5);
        assert_eq!(odd.first, [1, 2, 2, 3, 3]);
    }

    #[test]
    fn weights_add_up_and_samples_are_in_the_run() {
        for kind in Interpolation::ALL.iter().copied() {
            for (start, len, sub, out) in
                [(0, 1, 1, 7), (3, 8, 2, 5), (5, 1, 2, 3), (0, 789, 2, 100), (7, 100, 4, 789)]
            {
                let axis = axis(kind, start, len, sub, out);
                for index in 0..out {
                    let (first, weights) = axis.at(index);
                    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{kind}");
                    assert!(first >= start / sub, "{kind}");
                    assert!(first + axis.taps <= (start + len).div_ceil(sub), "{kind} {len}");
                }
            }
        }
    }
}
