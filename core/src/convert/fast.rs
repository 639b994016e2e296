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
    clippy::inline_always,
    reason = "indices come from the axes, which are within the planes that the plan was made for; \
              vectors are as wide as the caller's"
)]

use arrayvec::ArrayVec;

use super::{axis::Axis, blend::Blend, color::ColorMap, columns::Columns, component::Component};
use crate::tensor::MappedPlane;

/// What the kernel has for a plan.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    blends: ArrayVec<Blend, 3>,
    columns: ArrayVec<Columns, 3>,
    matrix: [[f32; 4]; 3],
    /// Whether there is but one component.
    is_grey: bool,
    width: usize,
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
        let mut columns = ArrayVec::<Columns, 3>::new();
        for ((component, axes), blend) in components.iter().enumerate().zip(axes).zip(serving) {
            let own = Columns::new(component, &axes.0, (blend, blends[blend].start()));
            if !columns.iter_mut().any(|columns| columns.join(&own)) {
                columns.push(own);
            }
        }
        #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounded")]
        let matrix = colors.rows.map(|[a, b, c, offset]| {
            [a as f32, b as f32, c as f32, (offset + f64::from(UPWARDS)) as f32]
        });
        Self { blends, columns, matrix, is_grey: components.len() == 1, width }
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
        for (index, (blend, out)) in self.blends.iter().zip(&mut *blended).enumerate() {
            let served = self.columns.iter().filter(|columns| columns.blend == index);
            let is_one_each = served.clone().all(Columns::is_one_each);
            if let Some(row) = blend.one(planes, y).filter(|_| is_one_each) {
                served.clone().for_each(|columns| columns.copy(row, codes));
            } else {
                blend.row(planes, y, out);
                served.clone().for_each(|columns| columns.sum(out, codes));
            }
        }
        let [a, b, c] = &*codes;
        for (row, pixels) in self.matrix.iter().zip(pixels.chunks_exact_mut(self.width)) {
            if self.is_grey {
                colors_of_one(*row, a, pixels);
            } else {
                colors_of_three(*row, [a, b, c], pixels);
            }
        }
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
