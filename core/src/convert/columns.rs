//! Samples of a blended row, summed up into the components of pixels.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::inline_always,
    reason = "indices come from the axes, which are within the planes that the plan was made for; \
              vectors are as wide as the caller's"
)]

use arrayvec::ArrayVec;

use super::{
    axis::Axis,
    blend::{Taps, place},
    component::Component,
};

/// The columns of a blended row that some components of each pixel are made of.
///
/// Components that lie next to each other, as red, green and blue or both of chroma do, are taken
/// together: what is looked up of a pixel is looked up once.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Which blended row.
    pub(super) blend: usize,
    /// Which components, one sample after the other.
    components: ArrayVec<usize, 3>,
    /// Where the first of them is in a row of the plane.
    offset: usize,
    step: usize,
    /// With the first sample in the blended row.
    taps: Taps,
    /// The weights of the taps, each as often as there are components.
    weights: Vec<f32>,
}

impl Columns {
    /// The columns of `component`, the one with this `index`, in `blend`, which begins with sample
    /// `start`.
    pub(super) fn new(
        (index, component): (usize, &Component),
        across: &Axis,
        (blend, start): (usize, usize),
    ) -> Self {
        let (offset, step) = place(component);
        let mut taps = Taps::new(across);
        for first in &mut taps.first {
            *first = *first * step + offset - start;
        }
        let weights = taps.weights.clone();
        Self { blend, components: [index].into_iter().collect(), offset, step, taps, weights }
    }

    /// Takes the component of `other` too, if it lies next to these.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let same = (self.blend, self.step, &self.taps.weights)
            == (other.blend, other.step, &other.taps.weights);
        let after = self.offset + self.components.len() == other.offset;
        let before = other.offset + 1 == self.offset;
        if !same || !(before || after) {
            return false;
        }
        let at = if after { self.components.len() } else { 0 };
        if before {
            (self.offset, self.taps) = (other.offset, other.taps.clone());
        }
        other.components.iter().for_each(|index| self.components.insert(at, *index));
        let each = self.taps.weights.iter();
        let often = self.components.len();
        self.weights = each.flat_map(|weight| std::iter::repeat_n(*weight, often)).collect();
        true
    }

    /// The components, in the order in which their codes lie together.
    pub(super) fn components(&self) -> &[usize] {
        &self.components
    }

    /// Codes of a row of pixels.
    pub(super) fn len(&self) -> usize {
        self.taps.first.len() * self.components.len()
    }

    /// Whether each pixel has one sample of each component.
    pub(super) fn is_one_each(&self) -> bool {
        self.taps.count == 1
    }

    /// Sums up the components of a row of pixels into their `codes`, those of a pixel together.
    #[inline(always)]
    pub(super) fn sum(&self, row: &[f32], codes: &mut [f32]) {
        match self.components.len() {
            1 => self.each::<1>(row, codes.as_chunks_mut().0),
            2 => self.each::<2>(row, codes.as_chunks_mut().0),
            _ => self.each::<3>(row, codes.as_chunks_mut().0),
        }
    }

    /// Copies the components of a row of pixels from the bytes of a plane, where that is
    /// [all there is to it](Self::is_one_each).
    #[inline(always)]
    pub(super) fn copy(&self, row: &[u8], codes: &mut [f32]) {
        match self.components.len() {
            1 => self.copies::<1>(row, codes.as_chunks_mut().0),
            2 => self.copies::<2>(row, codes.as_chunks_mut().0),
            _ => self.copies::<3>(row, codes.as_chunks_mut().0),
        }
    }

    #[inline(always)]
    fn each<const C: usize>(&self, row: &[f32], codes: &mut [[f32; C]]) {
        match (self.taps.count, self.step) {
            (1, _) => self.copies(row, codes),
            // The steps of packed pixels, since what is known need not be computed.
            (2, 1) => self.sums::<C, 2>(row, 1, codes),
            (2, 2) => self.sums::<C, 2>(row, 2, codes),
            (2, 3) => self.sums::<C, 2>(row, 3, codes),
            (2, 4) => self.sums::<C, 2>(row, 4, codes),
            (4, step) => self.sums::<C, 4>(row, step, codes),
            _ => self.any_sums(row, codes),
        }
    }

    /// One sample for each code, which has all the weight.
    #[inline(always)]
    fn copies<const C: usize>(&self, row: &[impl Copy + Into<f32>], codes: &mut [[f32; C]]) {
        for (codes, first) in codes.iter_mut().zip(&self.taps.first) {
            let samples = &row[*first..][..C];
            for component in 0..C {
                codes[component] = samples[component].into();
            }
        }
    }

    /// `N` samples for each code.
    #[inline(always)]
    fn sums<const C: usize, const N: usize>(
        &self,
        row: &[f32],
        step: usize,
        codes: &mut [[f32; C]],
    ) {
        let weights = self.weights.chunks_exact(N * C);
        for ((codes, first), weights) in codes.iter_mut().zip(&self.taps.first).zip(weights) {
            let samples = &row[*first..][..(N - 1) * step + C];
            let mut sums = [0.0; C];
            for component in 0..C {
                sums[component] = samples[component] * weights[component];
            }
            for tap in 1..N {
                for component in 0..C {
                    let weight = weights[tap * C + component];
                    sums[component] += samples[tap * step + component] * weight;
                }
            }
            *codes = sums;
        }
    }

    /// As many samples as there are for each code.
    #[inline(always)]
    fn any_sums<const C: usize>(&self, row: &[f32], codes: &mut [[f32; C]]) {
        let weights = self.taps.weights.chunks_exact(self.taps.count);
        for ((codes, first), weights) in codes.iter_mut().zip(&self.taps.first).zip(weights) {
            for (component, code) in codes.iter_mut().enumerate() {
                let samples = row[first + component..].iter().step_by(self.step);
                *code = samples.zip(weights).map(|(sample, weight)| sample * weight).sum();
            }
        }
    }
}
