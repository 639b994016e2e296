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
    /// Rows of a coefficient for each code of a pixel, in their order, and an offset.
    matrix: [[f32; 4]; 3],
    width: usize,
}

/// What a row needs on its way; one for each thread.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    blended: ArrayVec<Vec<f32>, 3>,
    /// For each of the columns.
    codes: ArrayVec<Vec<f32>, 3>,
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
        Self { matrix: matrix(colors, &columns), blends, columns, width }
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch {
            blended: self.blends.iter().map(|blend| vec![0.0; blend.len()]).collect(),
            codes: self.columns.iter().map(|columns| vec![0.0; columns.len()]).collect(),
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
            let served = self.columns.iter().zip(&mut *codes);
            let served = served.filter(|(columns, _)| columns.blend == index);
            let is_served = |columns: &&Columns| columns.blend == index;
            let is_one_each = self.columns.iter().filter(is_served).all(Columns::is_one_each);
            if let Some(row) = blend.one(planes, y).filter(|_| is_one_each) {
                served.for_each(|(columns, codes)| columns.copy(row, codes));
            } else {
                blend.row(planes, y, out);
                served.for_each(|(columns, codes)| columns.sum(out, codes));
            }
        }
        match &**codes {
            // Luma, or all three together.
            [x] if x.len() == self.width => self.colors(x.iter().map(|x| [*x, 0.0, 0.0]), pixels),
            [xyz] => self.colors(xyz.as_chunks().0.iter().copied(), pixels),
            // Luma and both of chroma.
            [x, yz] => {
                let codes = x.iter().zip(yz.as_chunks().0);
                self.colors(codes.map(|(x, [y, z])| [*x, *y, *z]), pixels);
            }
            [x, y, z] => {
                let codes = x.iter().zip(y).zip(z);
                self.colors(codes.map(|((x, y), z)| [*x, *y, *z]), pixels);
            }
            _ => {}
        }
    }

    /// The pixel values of pixels with these codes, a row for each output.
    #[inline(always)]
    fn colors(&self, codes: impl Iterator<Item = [f32; 3]>, pixels: &mut [u8]) {
        let value = |[a, b, c, offset]: [f32; 4], [x, y, z]: [f32; 3]| {
            rounded(a * x + b * y + c * z + offset)
        };
        let [red, green, blue] = self.matrix;
        let (first, rest) = pixels.split_at_mut(self.width);
        if rest.is_empty() {
            for (pixel, codes) in first.iter_mut().zip(codes) {
                *pixel = value(red, codes);
            }
            return;
        }
        let (second, third) = rest.split_at_mut(self.width);
        for (((r, g), b), codes) in first.iter_mut().zip(second).zip(third).zip(codes) {
            (*r, *g, *b) = (value(red, codes), value(green, codes), value(blue, codes));
        }
    }
}

/// The matrix of `colors` for codes in the order of `columns`.
fn matrix(colors: &ColorMap, columns: &[Columns]) -> [[f32; 4]; 3] {
    #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounded")]
    colors.rows.map(|row| {
        let order = columns.iter().flat_map(Columns::components);
        let mut exact = [0.0, 0.0, 0.0, row[3] + f64::from(UPWARDS)];
        exact.iter_mut().zip(order).for_each(|(to, component)| *to = row[*component]);
        exact.map(|value| value as f32)
    })
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
