//! The fast kernel: the reference's sums in single precision, a row at a time.
//!
//! 1. The rows of a plane that an output row is made of are blended into one row, all samples of it
//!    at once.
//! 2. Each component of an output pixel is summed up over the columns of that row.
//! 3. The matrix leads to pixel values.
//!
//! Nothing is rounded before the pixel value. Singles have 24 bits, so a sum of codes of 16 bits is
//! off by less than a hundredth of a level; only a value next to the middle of two levels is rounded
//! to the other one. Multiplications and additions are neither fused nor reordered, so the pixel
//! values are the same on every processor.

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
    blend::{Blend, Taps, place},
    color::ColorMap,
    component::Component,
};
use crate::tensor::MappedPlane;

/// What the kernel has for a plan.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    blends: ArrayVec<Blend, 3>,
    columns: ArrayVec<Columns, 3>,
    matrix: [[f32; 4]; 3],
    width: usize,
}

/// The columns of a blended row that one component of each output pixel is made of.
#[derive(Clone, Debug)]
struct Columns {
    blend: usize,
    step: usize,
    taps: Taps,
}

/// What a row needs on its way; one for each thread.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    blended: ArrayVec<Vec<f32>, 3>,
    codes: [Vec<f32>; 3],
}

impl Kernel {
    /// For components with these axes.
    pub(super) fn new(
        components: &[Component],
        axes: &[(Axis, Axis)],
        colors: &ColorMap,
        width: usize,
    ) -> Self {
        let mut blends = ArrayVec::<Blend, 3>::new();
        let mut serving = ArrayVec::<usize, 3>::new();
        for (component, axes) in components.iter().zip(axes) {
            let found = blends.iter_mut().position(|blend| blend.serve(component, &axes.0));
            serving.push(found.unwrap_or(blends.len()));
            if found.is_none() {
                blends.push(Blend::new(component, axes));
            }
        }
        let columns = components.iter().zip(axes).zip(serving).map(|((component, axes), blend)| {
            let (offset, step) = place(component);
            let mut taps = Taps::new(&axes.0);
            for first in &mut taps.first {
                *first = *first * step + offset - blends[blend].start();
            }
            Columns { blend, step, taps }
        });
        #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounded")]
        let matrix = colors.rows.map(|[a, b, c, offset]| {
            [a as f32, b as f32, c as f32, (offset + f64::from(UPWARDS)) as f32]
        });
        Self { columns: columns.collect(), blends, matrix, width }
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch {
            blended: self.blends.iter().map(|blend| vec![0.0; blend.len()]).collect(),
            codes: [(); 3].map(|()| vec![0.0; self.width]),
        }
    }

    /// Writes the pixel values of row `y` of the content, as the reference does.
    #[inline(always)]
    pub(super) fn row(
        &self,
        planes: &[MappedPlane<'_>],
        y: usize,
        scratch: &mut Scratch,
        pixels: &mut [u8],
    ) {
        let Scratch { blended, codes } = scratch;
        for (blend, out) in self.blends.iter().zip(&mut *blended) {
            blend.row(planes, y, out);
        }
        for (columns, out) in self.columns.iter().zip(&mut *codes) {
            columns.sum(&blended[columns.blend], out);
        }
        let [a, b, c] = &*codes;
        for (row, pixels) in self.matrix.iter().zip(pixels.chunks_exact_mut(self.width)) {
            match self.columns.len() {
                1 => colors_of_one(*row, a, pixels),
                _ => colors_of_three(*row, [a, b, c], pixels),
            }
        }
    }
}

impl Columns {
    /// Sums up the component of each output pixel.
    #[inline(always)]
    fn sum(&self, row: &[f32], out: &mut [f32]) {
        let Self { step, taps, .. } = self;
        match (taps.count, step) {
            (1, _) => {
                // Its weight is 1.
                for (out, first) in out.iter_mut().zip(&taps.first) {
                    *out = row[*first];
                }
            }
            (2, 1) => sums::<2>(row, 1, taps, out),
            (2, 2) => sums::<2>(row, 2, taps, out),
            (2, 3) => sums::<2>(row, 3, taps, out),
            (2, _) => sums::<2>(row, *step, taps, out),
            (4, _) => sums::<4>(row, *step, taps, out),
            (count, _) => {
                let weights = taps.weights.chunks_exact(count);
                for ((out, first), weights) in out.iter_mut().zip(&taps.first).zip(weights) {
                    let samples = row[*first..].iter().step_by(*step);
                    *out = samples.zip(weights).map(|(sample, weight)| sample * weight).sum();
                }
            }
        }
    }
}

#[inline(always)]
fn sums<const N: usize>(row: &[f32], step: usize, taps: &Taps, out: &mut [f32]) {
    let weights = taps.weights.as_chunks::<N>().0;
    for ((out, first), weights) in out.iter_mut().zip(&taps.first).zip(weights) {
        let samples = &row[*first..][..(N - 1) * step + 1];
        let mut sum = samples[0] * weights[0];
        for tap in 1..N {
            sum += samples[tap * step] * weights[tap];
        }
        *out = sum;
    }
}

#[inline(always)]
fn colors_of_one([a, _, _, offset]: [f32; 4], codes: &[f32], pixels: &mut [u8]) {
    for (pixel, code) in pixels.iter_mut().zip(codes) {
        *pixel = rounded(a * code + offset);
    }
}

#[inline(always)]
fn colors_of_three([a, b, c, offset]: [f32; 4], codes: [&[f32]; 3], pixels: &mut [u8]) {
    let [x, y, z] = codes;
    for (((pixel, x), y), z) in pixels.iter_mut().zip(x).zip(y).zip(z) {
        *pixel = rounded(a * x + b * y + c * z + offset);
    }
}

/// What is added to a value so that a middle is rounded upwards.
const UPWARDS: f32 = 1.0 / 32_768.0;

/// The least float from which on all are whole numbers, the low bits of their own.
const WHOLE: f32 = 8_388_608.0;

/// Held to 0 to 255 and rounded. A conversion, which would look for what is no number too, is made for
/// one value at a time; this for as many as there are.
#[inline(always)]
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "the low bits")]
fn rounded(value: f32) -> u8 {
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 255.0 { value } else { 255.0 };
    (value + WHOLE).to_bits() as u8
}
