//! The few fields of an ONNX file that tell its first input, by their numbers in `onnx.proto3`.

use std::collections::HashSet;

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use tensor_core::{DType, convert::TensorOrder};

use super::{ModelError, RawInput};

/// The most axes that are read: no tensor here has more.
const MAX_DIMS: usize = 16;

const MODEL_GRAPH: u32 = 7;
const GRAPH_INITIALIZER: u32 = 5;
const GRAPH_INPUT: u32 = 11;
const TENSOR_NAME: u32 = 8;
const VALUE_NAME: u32 = 1;
const VALUE_TYPE: u32 = 2;
const TYPE_TENSOR: u32 = 1;
const TENSOR_ELEMENT: u32 = 1;
const TENSOR_SHAPE: u32 = 2;
const SHAPE_DIM: u32 = 1;
const DIM_VALUE: u32 = 1;

/// ONNX's codes of element types.
const TYPES: [(u64, DType); 11] = [
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
];

pub(super) fn first_input(bytes: &[u8]) -> Result<RawInput, ModelError> {
    let graph = last_message(bytes, MODEL_GRAPH)?;
    let graph = graph.ok_or(ModelError::Format(bytes.len()))?;
    // Old files list weights among the inputs. A set keeps equal names once.
    let mut weights = HashSet::new();
    for field in Fields(graph) {
        if let (GRAPH_INITIALIZER, Value::Bytes(tensor)) = field? {
            weights.extend(last_message(tensor, TENSOR_NAME)?);
        }
    }
    for field in Fields(graph) {
        let (GRAPH_INPUT, Value::Bytes(input)) = field? else { continue };
        let name = last_message(input, VALUE_NAME)?.unwrap_or_default();
        if weights.contains(name) {
            continue;
        }
        if let Some(tensor) = tensor_type(input)? {
            return raw_input(name, tensor);
        }
    }
    Err(ModelError::NoInput)
}

/// The tensor type of an input, if it is a tensor.
fn tensor_type(input: &[u8]) -> Result<Option<&[u8]>, ModelError> {
    match last_message(input, VALUE_TYPE)? {
        Some(value_type) => last_message(value_type, TYPE_TENSOR),
        None => Ok(None),
    }
}

fn raw_input(name: &[u8], tensor: &[u8]) -> Result<RawInput, ModelError> {
    let name = String::from_utf8_lossy(name).into_owned();
    let code = last_number(tensor, TENSOR_ELEMENT)?.unwrap_or(0);
    let dtype = TYPES.iter().find(|(known, _)| *known == code).map(|(_, dtype)| *dtype);
    let Some(dtype) = dtype else {
        let code = i64::try_from(code).unwrap_or(i64::MAX);
        return Err(ModelError::DType { name, format: "ONNX", code });
    };
    let mut dims = Vec::new();
    for field in Fields(last_message(tensor, TENSOR_SHAPE)?.unwrap_or_default()) {
        if let (SHAPE_DIM, Value::Bytes(dim)) = field? {
            if dims.len() == MAX_DIMS {
                return Err(ModelError::Shape { name, dims });
            }
            // A dimension that has a name, or is below 1, is decided later.
            let value = last_number(dim, DIM_VALUE)?.and_then(|value| i64::try_from(value).ok());
            dims.push(value.filter(|value| *value > 0).and_then(|dim| usize::try_from(dim).ok()));
        }
    }
    Ok(RawInput { name, dtype, dims, quantization: None, usual: TensorOrder::Nchw })
}

/// The last message, string or byte array with this number, as protobuf takes the last.
fn last_message(bytes: &[u8], number: u32) -> Result<Option<&[u8]>, ModelError> {
    let mut found = None;
    for field in Fields(bytes) {
        match field? {
            (this, Value::Bytes(value)) if this == number => found = Some(value),
            _ => {}
        }
    }
    Ok(found)
}

/// The last integer with this number.
fn last_number(bytes: &[u8], number: u32) -> Result<Option<u64>, ModelError> {
    let mut found = None;
    for field in Fields(bytes) {
        match field? {
            (this, Value::Number(value)) if this == number => found = Some(value),
            _ => {}
        }
    }
    Ok(found)
}

/// The value of a field, as far as it matters.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

/// The fields of a message, one after the other; after an error there are none.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), ModelError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let left = self.0.len();
        let field = next_field(&mut self.0);
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or(ModelError::Format(left)))
    }
}

fn next_field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let (number, wire_type) = decode_key(rest).ok()?;
    let value = match wire_type {
        WireType::Varint => Value::Number(decode_varint(rest).ok()?),
        WireType::LengthDelimited => {
            let len = usize::try_from(decode_varint(rest).ok()?).ok()?;
            let (value, after) = rest.split_at_checked(len)?;
            *rest = after;
            Value::Bytes(value)
        }
        WireType::SixtyFourBit
        | WireType::StartGroup
        | WireType::EndGroup
        | WireType::ThirtyTwoBit => {
            skip_field(wire_type, number, rest, DecodeContext::default()).ok()?;
            Value::Other
        }
    };
    Some((number, value))
}
