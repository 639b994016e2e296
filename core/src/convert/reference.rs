//! The scalar kernel: what the numbers are, with nothing rounded before the pixel value.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "indices come from the axes, which are within the planes that the plan was made for"
)]

use super::{
    component::{Component, Store},
    plan::Plan,
};
use crate::tensor::MappedPlane;

/// Writes the pixel values of row `y` of the content: for each output of the colour map a row of
/// `pixels`, one after the other.
pub(super) fn row(plan: &Plan, planes: &[MappedPlane<'_>], y: usize, pixels: &mut [u8]) {
    let width = plan.content.pixels().width;
    for x in 0..width {
        let mut codes = [0.0; 3];
        for ((code, component), (across, down)) in
            codes.iter_mut().zip(&plan.components).zip(&plan.axes)
        {
            let (first_row, row_weights) = down.at(y);
            let (first, weights) = across.at(x);
            for (row, row_weight) in (first_row..).zip(row_weights) {
                let row = planes[component.plane].row(row).unwrap_or_default();
                let taps = (first..).zip(weights);
                let sum: f64 = taps.map(|(at, w)| w * sample(component, row, at)).sum();
                *code += row_weight * sum;
            }
        }
        for output in 0..plan.colors.outputs {
            pixels[output * width + x] = plan.colors.pixel(output, codes);
        }
    }
}

/// The code of sample `index` of a row.
fn sample(component: &Component, row: &[u8], index: usize) -> f64 {
    let at = component.offset + index * component.step;
    match component.store {
        Store::Byte => f64::from(row[at]),
        Store::Word { shift, bits } => {
            let word = u32::from(u16::from_le_bytes([row[at], row[at + 1]]));
            f64::from((word >> shift) & ((1 << bits) - 1))
        }
    }
}
