//! What a model file says of its first input: size, order of axes, dtype, quantization.
//!
//! TensorFlow Lite files (identifier `TFL3`) are read through the verifier of the `flatbuffers` crate,
//! ONNX files field by field with `prost`'s wire decoder. No schema compiler and no generated code is
//! involved: of hundreds of fields a dozen matter. Weights are passed over, nothing is allocated that
//! is larger than the file, and any bytes give an answer or an error.
//!
//! An ONNX file does not say how integers of its input stand for real numbers, so there is no
//! quantization from one.

mod error;
mod input;
mod onnx;
#[cfg(test)]
mod tests;
mod tflite;

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

pub use error::ModelError;
pub use input::ModelInput;

/// The most bytes a model file has: what both formats can express.
pub const MAX_LEN: u64 = 0x7fff_ffff;

/// Bytes 4 to 8 of a TensorFlow Lite file.
const TFLITE_IDENTIFIER: &[u8] = b"TFL3";

/// A first input as the file has it, before it is taken for an image.
#[derive(Clone, Debug, PartialEq)]
struct RawInput {
    name: String,
    dtype: tensor_core::DType,
    /// The dimensions, outermost first; `None` is decided when the model runs.
    dims: Vec<Option<usize>>,
    quantization: Option<tensor_core::Quantization>,
    /// Which order the format's models have when the dimensions do not tell.
    usual: tensor_core::convert::TensorOrder,
}

/// The first input of the model in a file.
///
/// # Errors
/// [`ModelError`], which names the file's problem and the numbers of it.
pub fn read(path: &Path) -> Result<ModelInput, ModelError> {
    let file = File::open(path).map_err(ModelError::Read)?;
    let mut bytes = Vec::new();
    // One byte past the limit is enough to know that the file is too long.
    file.take(MAX_LEN.saturating_add(1)).read_to_end(&mut bytes).map_err(ModelError::Read)?;
    parse(&bytes)
}

/// The first input of the model in `bytes`.
///
/// # Errors
/// See [`read`].
///
/// ```
/// use gsttensor::model;
/// let error = model::parse(b"\x1f\x8b packed").unwrap_err();
/// assert!(error.to_string().contains("neither"), "{error}");
/// ```
pub fn parse(bytes: &[u8]) -> Result<ModelInput, ModelError> {
    let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if len > MAX_LEN {
        return Err(ModelError::Read(io::Error::from(io::ErrorKind::FileTooLarge)));
    }
    let raw = if bytes.get(4..8) == Some(TFLITE_IDENTIFIER) {
        tflite::first_input(bytes)?
    } else {
        onnx::first_input(bytes)?
    };
    ModelInput::of(raw)
}
