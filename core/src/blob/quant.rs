//! What the quantization fields must agree on.

use super::{cursor::wide, error::BlobError};

/// `quant_axis` of a tensor that is not quantized.
pub const QUANT_NONE: i32 = -2;

/// `quant_axis` of a tensor with one scale for all elements.
pub const QUANT_PER_TENSOR: i32 = -1;

/// Refuses an axis that is none, counts that do not belong to it and scales that are no scale.
pub(super) fn check(
    axis: i32,
    mut shape: impl ExactSizeIterator<Item = u64>,
    scales: impl ExactSizeIterator<Item = f32>,
    zero_points: usize,
) -> Result<(), BlobError> {
    // What most frames are, told in one comparison.
    if (axis, scales.len(), zero_points) == (QUANT_NONE, 0, 0) {
        return Ok(());
    }
    let ndim = shape.len();
    let needed = match axis {
        QUANT_NONE => 0,
        QUANT_PER_TENSOR => 1,
        _ => usize::try_from(axis)
            .ok()
            .and_then(|axis| shape.nth(axis))
            .ok_or(BlobError::QuantAxis { axis, ndim })?,
    };
    let count = scales.len();
    if wide(count) != needed {
        return Err(BlobError::ScaleCount { scales: count, axis, needed });
    }
    if zero_points != 0 && zero_points != count {
        return Err(BlobError::ZeroPointCount { zero_points, scales: count });
    }
    for (index, value) in scales.enumerate() {
        if !value.is_finite() || value <= 0.0 {
            return Err(BlobError::Scale { index, value });
        }
    }
    Ok(())
}
