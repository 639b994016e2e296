//! The few fields of a TensorFlow Lite file that tell its first input.

mod sys;

use tensor_core::{DType, Quantization, convert::TensorOrder};

use self::sys::{Model, Tensor};
use super::{ModelError, RawInput};

/// TensorFlow Lite's codes of element types.
const TYPES: [(i8, DType); 11] = [
    (0, DType::F32),
    (1, DType::F16),
    (2, DType::I32),
    (3, DType::U8),
    (4, DType::I64),
    (7, DType::I16),
    (9, DType::I8),
    (10, DType::F64),
    (12, DType::U64),
    (15, DType::U32),
    (16, DType::U16),
];

/// The greatest alignment in a file: numbers of 8 bytes, which are read where they lie.
const ALIGN: usize = 8;

pub(super) fn first_input(bytes: &[u8]) -> Result<RawInput, ModelError> {
    if bytes.as_ptr().align_offset(ALIGN) == 0 {
        return read(bytes);
    }
    let mut room = vec![0; bytes.len().saturating_add(ALIGN)];
    let start = room.as_ptr().align_offset(ALIGN);
    match room.get_mut(start..).and_then(|room| room.get_mut(..bytes.len())) {
        Some(aligned) => {
            aligned.copy_from_slice(bytes);
            read(aligned)
        }
        None => Err(ModelError::FlatBuffer("it cannot be aligned in memory".to_owned())),
    }
}

fn read(bytes: &[u8]) -> Result<RawInput, ModelError> {
    let model = Model::verified(bytes)?;
    let tensor = model.first_input().ok_or(ModelError::NoInput)?;
    let name = tensor.name().unwrap_or_default().to_owned();
    let code = tensor.element_type();
    let dtype = TYPES.iter().find(|(known, _)| *known == code).map(|(_, dtype)| *dtype);
    let Some(dtype) = dtype else {
        return Err(ModelError::DType { name, format: "TensorFlow Lite", code: code.into() });
    };
    let quantization = match quantization(&tensor) {
        None => None,
        Some(Ok(quantization)) => Some(quantization),
        Some(Err(error)) => return Err(ModelError::Quantization { name, error }),
    };
    Ok(RawInput { name, dtype, dims: dims(&tensor), quantization, usual: TensorOrder::Nhwc })
}

/// The signature's dimensions where the file has one, which say -1 for what is decided later.
fn dims(tensor: &Tensor<'_>) -> Vec<Option<usize>> {
    let positive = |dim: i32| usize::try_from(dim).ok().filter(|dim| *dim > 0);
    // No tensor here has more axes; one more is enough to be refused.
    tensor.shape().take(16).map(positive).collect()
}

fn quantization(
    tensor: &Tensor<'_>,
) -> Option<Result<Quantization, tensor_core::QuantizationError>> {
    let (scales, zero_points, axis) = tensor.quantization()?;
    if scales.is_empty() {
        return None;
    }
    let zero_points: Vec<i32> =
        zero_points.into_iter().map(|zero| i32::try_from(zero).unwrap_or(i32::MAX)).collect();
    let axis = if scales.len() == 1 { None } else { Some(usize::try_from(axis).unwrap_or(0)) };
    Some(Quantization::new(scales, zero_points, axis))
}
