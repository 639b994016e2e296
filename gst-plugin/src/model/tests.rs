use tensor_core::{DType, Quantization, convert::TensorOrder};

use super::{ModelError, ModelInput, parse, read};

const SUMS: &[u8] = include_bytes!("../../../tests/data/model/sums.onnx");
const WEIGHTS_FIRST: &[u8] = include_bytes!("../../../tests/data/model/weights-first.onnx");
const QUANTIZED: &[u8] = include_bytes!("../../../tests/data/model/quantized.tflite");

#[test]
fn an_onnx_file_tells_its_first_input() {
    let expected = ModelInput {
        name: "images".to_owned(),
        dtype: DType::F32,
        layout: TensorOrder::Nchw,
        channels: 3,
        width: Some(12),
        height: Some(8),
        quantization: None,
        rank: 4,
    };
    assert_eq!(parse(SUMS).unwrap(), expected);
}

#[test]
fn weights_are_no_inputs_and_a_size_may_be_open() {
    let input = parse(WEIGHTS_FIRST).unwrap();
    assert_eq!(
        (input.name.as_str(), input.dtype, input.layout),
        ("frame", DType::U8, TensorOrder::Nhwc)
    );
    assert_eq!((input.width, input.height, input.channels), (None, None, 3));
}

#[test]
fn a_tflite_file_tells_its_quantization_too() {
    let input = parse(QUANTIZED).unwrap();
    assert_eq!((input.dtype, input.layout, input.channels), (DType::I8, TensorOrder::Nhwc, 3));
    assert_eq!((input.width, input.height), (Some(128), Some(96)));
    assert_eq!(input.quantization, Some(Quantization::per_tensor(0.007_812_5, -1).unwrap()));
    assert_eq!(input.name, "serving_default_image:0");
}

#[test]
fn other_files_are_refused_by_what_they_are() {
    let error = read("/nonexistent/model.tflite".as_ref()).unwrap_err();
    assert!(matches!(error, ModelError::Read(_)), "{error}");
    for bytes in [&b""[..], b"#!/bin/sh\nexit 0\n", b"\x89PNG\r\n\x1a\n", &[0xff; 64]] {
        let error = parse(bytes).unwrap_err();
        assert!(matches!(error, ModelError::Format(..)), "{bytes:?}: {error}");
    }
    // Eight bytes that claim to be TensorFlow Lite.
    let error = parse(b"\x04\0\0\0TFL3").unwrap_err();
    assert!(matches!(error, ModelError::FlatBuffer(_)), "{error}");
}

/// Every truncation and every flipped byte: an answer or an error, never a panic.
#[test]
fn damaged_files_give_an_answer_or_an_error() {
    for model in [SUMS, WEIGHTS_FIRST, QUANTIZED] {
        let mut refused = 0;
        for len in 0..model.len() {
            refused += u32::from(parse(&model[..len]).is_err());
        }
        assert!(refused > 0);
        let mut bytes = model.to_vec();
        for at in 0..bytes.len() {
            for flip in [0x01, 0x7f, 0x80, 0xff] {
                bytes[at] ^= flip;
                let _judged = parse(&bytes);
                bytes[at] ^= flip;
            }
        }
    }
}

/// A group that opens groups without end must not use up the stack.
#[test]
fn nested_groups_are_refused() {
    let groups = vec![0x0b; 1 << 20];
    assert!(matches!(parse(&groups), Err(ModelError::Format(..))));
}
