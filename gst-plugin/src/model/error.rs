use std::io;

use tensor_core::QuantizationError;
use thiserror::Error;

/// Why a model file does not tell what its input is.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read, or is longer than 2 GiB.
    #[error("the model file cannot be read: {0}")]
    Read(#[source] io::Error),
    /// Bytes of neither format.
    #[error(
        "the file is neither TensorFlow Lite (bytes 4 to 8 would be TFL3) nor ONNX: no model or a \
         damaged field in its last {0} bytes"
    )]
    Format(usize),
    /// A TensorFlow Lite file that is damaged.
    #[error("the TensorFlow Lite file is damaged: {0}")]
    FlatBuffer(String),
    /// A model without an input that is a tensor.
    #[error("the model has no input that is a tensor")]
    NoInput,
    /// An element type that is none of the tensor's.
    #[error("input {name}: element type {code} of {format} is no type of pixels")]
    DType {
        /// The input's name.
        name: String,
        /// `TensorFlow Lite` or `ONNX`.
        format: &'static str,
        /// The format's code of the type.
        code: i64,
    },
    /// An input that is no image.
    #[error(
        "input {name}: expected one image of 1, 3 or 4 channels, got the shape {}", shape(.dims)
    )]
    Shape {
        /// The input's name.
        name: String,
        /// Its dimensions, outermost first.
        dims: Vec<Option<usize>>,
    },
    /// Scales or zero points that cannot be.
    #[error("input {name}: {error}")]
    Quantization {
        /// The input's name.
        name: String,
        /// What is wrong.
        #[source]
        error: QuantizationError,
    },
}

fn shape(dims: &[Option<usize>]) -> String {
    let dims: Vec<_> =
        dims.iter().map(|dim| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", dims.join(", "))
}
