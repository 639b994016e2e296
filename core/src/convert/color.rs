//! From the codes of a pixel's components to pixel values, as one affine map.

use super::{ChannelOrder, Source, component::Components};
use crate::{
    colorimetry::{ColorEncoding, ColorRange, ColorTransform, Rational},
    format::ColorModel,
};

/// Rows of three coefficients and an offset; one row for luma, three for red, green and blue.
///
/// Components that a format lacks have coefficients of 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColorMap {
    /// How many rows are of meaning.
    pub(super) outputs: usize,
    /// The rows.
    pub(super) rows: [[f64; 4]; 3],
}

impl ColorMap {
    /// The map for frames like `source` with these components; `None` for a depth without a matrix.
    pub(super) fn new(
        source: &Source,
        components: &Components,
        order: ChannelOrder,
    ) -> Option<Self> {
        let colors = source.colors();
        let encoding = colors.encoding.unwrap_or(ColorEncoding::Bt601);
        let range = colors.range.unwrap_or(ColorRange::Limited);
        let is_grey = order == ChannelOrder::Grey;
        let rows = match source.format.color_model() {
            ColorModel::Yuv => yuv(encoding, range, components, is_grey)?,
            ColorModel::Grey => [luma(range, components.first()?.bits)?; 3],
            ColorModel::Rgb | ColorModel::Bayer => rgb(encoding, range, components, is_grey)?,
        };
        Some(Self { outputs: if is_grey { 1 } else { 3 }, rows })
    }

    /// The value of one output, 0 to 255, rounded half upwards.
    #[expect(
        clippy::as_conversions,
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "held to 0 to 255, whole"
    )]
    pub(super) fn pixel(&self, output: usize, codes: [f64; 3]) -> u8 {
        let [a, b, c, offset] = self.rows.get(output).copied().unwrap_or_default();
        let value = a * codes[0] + b * codes[1] + c * codes[2] + offset;
        (value.clamp(0.0, 255.0) + 0.5).floor() as u8
    }
}

/// The luma of `bits` bits as a value of 0 to 255.
fn luma(range: ColorRange, bits: u32) -> Option<[f64; 4]> {
    let scaling = range.scaling_at(bits)?;
    let scale = 255.0 / f64::from(scaling.y_swing);
    Some([scale, 0.0, 0.0, -f64::from(scaling.y_offset) * scale])
}

fn yuv(
    encoding: ColorEncoding,
    range: ColorRange,
    components: &Components,
    is_grey: bool,
) -> Option<[[f64; 4]; 3]> {
    let bits = components.first()?.bits;
    if is_grey {
        return Some([luma(range, bits)?; 3]);
    }
    let transform = ColorTransform::ycbcr_to_rgb(encoding, range, bits)?;
    // Its values are codes of as many bits.
    let scale = 255.0 / f64::from(ColorRange::Full.scaling_at(bits)?.y_swing);
    let mut rows = [[0.0; 4]; 3];
    for ((row, coefficients), offset) in
        rows.iter_mut().zip(transform.matrix()).zip(transform.offset())
    {
        let exact = coefficients.iter().copied().chain([offset]);
        for (value, exact) in row.iter_mut().zip(exact) {
            *value = Rational::to_f64(exact) * scale;
        }
    }
    Some(rows)
}

fn rgb(
    encoding: ColorEncoding,
    range: ColorRange,
    components: &Components,
    is_grey: bool,
) -> Option<[[f64; 4]; 3]> {
    let mut rows = [[0.0; 4]; 3];
    for (index, (row, component)) in rows.iter_mut().zip(components).enumerate() {
        let [scale, _, _, offset] = match component.bits {
            // Limited range is defined from 8 bits on.
            bits if bits < 8 => {
                let white = 2_f64.powi(i32::try_from(bits).ok()?) - 1.0;
                [255.0 / white, 0.0, 0.0, 0.0]
            }
            bits => luma(range, bits)?,
        };
        *row.get_mut(index)? = scale;
        row[3] = offset;
    }
    if !is_grey {
        return Some(rows);
    }
    let weights = encoding.luma_weights();
    let weights = [weights.kr, weights.kg, weights.kb].map(Rational::to_f64);
    let mut grey = [0.0; 4];
    for (row, weight) in rows.iter().zip(weights) {
        for (sum, value) in grey.iter_mut().zip(row) {
            *sum += weight * value;
        }
    }
    Some([grey; 3])
}
