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
        Self { blend, components: [index].into_iter().collect(), offset, step, taps }
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
        true
    }

    /// Whether each pixel has one sample of each component.
    pub(super) fn is_one_each(&self) -> bool {
        self.taps.count == 1
    }

    /// Sums up the components of a row of pixels into their `codes`.
    #[inline(always)]
    pub(super) fn sum(&self, row: &[f32], codes: &mut [Vec<f32>; 3]) {
        match self.components.len() {
            1 => self.each::<1>(row, self.own(codes)),
            2 => self.each::<2>(row, self.own(codes)),
            _ => self.each::<3>(row, self.own(codes)),
        }
    }

    /// Copies the components of a row of pixels from the bytes of a plane, where that is
    /// [all there is to it](Self::is_one_each).
    #[inline(always)]
    pub(super) fn copy(&self, row: &[u8], codes: &mut [Vec<f32>; 3]) {
        match self.components.len() {
            1 => copies::<1>(row, &self.taps, self.own(codes)),
            2 => copies::<2>(row, &self.taps, self.own(codes)),
            _ => copies::<3>(row, &self.taps, self.own(codes)),
        }
    }

    /// The codes of each of the components.
    #[inline(always)]
    fn own<'a, const C: usize>(&self, codes: &'a mut [Vec<f32>; 3]) -> [&'a mut [f32]; C] {
        let mut codes = codes.each_mut().map(Some);
        let mut own = self.components.iter().map(|index| codes[*index].take());
        [(); C].map(|()| own.next().flatten().map(Vec::as_mut_slice).unwrap_or_default())
    }

    #[inline(always)]
    fn each<const C: usize>(&self, row: &[f32], out: [&mut [f32]; C]) {
        let Self { step, taps, .. } = self;
        match (taps.count, step) {
            (1, _) => copies::<C>(row, taps, out),
            // The steps of packed pixels, since what is known need not be computed.
            (2, 1) => sums::<C, 2>(row, 1, taps, out),
            (2, 2) => sums::<C, 2>(row, 2, taps, out),
            (2, 3) => sums::<C, 2>(row, 3, taps, out),
            (2, 4) => sums::<C, 2>(row, 4, taps, out),
            (4, step) => sums::<C, 4>(row, *step, taps, out),
            (_, step) => any_sums(row, *step, taps, out),
        }
    }
}

/// One sample for each output, which has all the weight.
#[inline(always)]
fn copies<const C: usize>(row: &[impl Copy + Into<f32>], taps: &Taps, out: [&mut [f32]; C]) {
    let out = out.map(|out| &mut out[..taps.first.len()]);
    for (x, first) in taps.first.iter().enumerate() {
        let samples = &row[*first..][..C];
        for component in 0..C {
            out[component][x] = samples[component].into();
        }
    }
}

/// `N` samples for each output.
#[inline(always)]
fn sums<const C: usize, const N: usize>(
    row: &[f32],
    step: usize,
    taps: &Taps,
    out: [&mut [f32]; C],
) {
    let weights = taps.weights.as_chunks::<N>().0;
    let out = out.map(|out| &mut out[..weights.len()]);
    for ((x, weights), first) in weights.iter().enumerate().zip(&taps.first) {
        let samples = &row[*first..][..(N - 1) * step + C];
        for component in 0..C {
            let mut sum = samples[component] * weights[0];
            for tap in 1..N {
                sum += samples[tap * step + component] * weights[tap];
            }
            out[component][x] = sum;
        }
    }
}

/// As many samples as there are for each output.
#[inline(always)]
fn any_sums<const C: usize>(row: &[f32], step: usize, taps: &Taps, out: [&mut [f32]; C]) {
    for (component, out) in out.into_iter().enumerate() {
        let weights = taps.weights.chunks_exact(taps.count);
        for ((out, first), weights) in out.iter_mut().zip(&taps.first).zip(weights) {
            let samples = row[first + component..].iter().step_by(step);
            *out = samples.zip(weights).map(|(sample, weight)| sample * weight).sum();
        }
    }
}
