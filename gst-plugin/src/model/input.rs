//! A model's input as an image.

use tensor_core::{DType, Quantization, convert::TensorOrder};

use super::{ModelError, RawInput};

/// What a model takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelInput {
    /// The input's name.
    pub name: String,
    /// The type of one sample.
    pub dtype: DType,
    /// The order of the axes.
    pub layout: TensorOrder,
    /// How many channels a pixel has: 1, 3 or 4.
    pub channels: usize,
    /// Width in pixels; `None` where the model takes any.
    pub width: Option<usize>,
    /// Height in pixels; `None` where the model takes any.
    pub height: Option<usize>,
    /// How integers stand for real numbers, where the file says it.
    pub quantization: Option<Quantization>,
    /// Axes, the batch among them.
    pub rank: usize,
}

impl ModelInput {
    pub(super) fn of(raw: RawInput) -> Result<Self, ModelError> {
        let RawInput { name, dtype, dims, quantization, usual } = raw;
        let rank = dims.len();
        let image = match dims.as_slice() {
            [Some(1) | None, a, b, c] | [a, b, c] => [*a, *b, *c],
            _ => return Err(ModelError::Shape { name, dims }),
        };
        let Some((layout, [height, width, channels])) = ordered(image, usual) else {
            return Err(ModelError::Shape { name, dims });
        };
        let channels = channels.unwrap_or(0);
        Ok(Self { name, dtype, layout, channels, width, height, quantization, rank })
    }
}

/// The order, and height, width and channels. Where both ends could count channels the format's
/// usual order decides.
fn ordered(
    [first, second, third]: [Option<usize>; 3],
    usual: TensorOrder,
) -> Option<(TensorOrder, [Option<usize>; 3])> {
    let counts_channels = |dim: Option<usize>| matches!(dim, Some(1 | 3 | 4));
    let has_pixels = |dims: [Option<usize>; 2]| !dims.contains(&Some(0));
    let layout = match (counts_channels(first), counts_channels(third)) {
        (true, true) => usual,
        (true, false) => TensorOrder::Nchw,
        (false, true) => TensorOrder::Nhwc,
        (false, false) => return None,
    };
    let ordered =
        if layout == TensorOrder::Nchw { [second, third, first] } else { [first, second, third] };
    has_pixels([ordered[0], ordered[1]]).then_some((layout, ordered))
}
