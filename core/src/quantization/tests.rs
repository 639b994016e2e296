use super::*;

// S-QNT-03, S-QNT-04, D-39
#[test]
fn a_scale_that_is_no_scale_is_refused_by_every_constructor() {
    for value in [0.0, -0.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        assert!(Quantization::per_tensor(value, 0).is_err(), "{value}");
        assert!(Quantization::per_tensor_symmetric(value).is_err(), "{value}");
        let scales = vec![1.0, value];
        assert!(Quantization::per_channel_symmetric(scales.clone(), 0).is_err(), "{value}");
        let error = Quantization::per_channel(scales, vec![0, 0], 0).unwrap_err();
        let QuantizationError::Scale { index: 1, .. } = error else { panic!("{error}") };
        assert_eq!(error.field(), "scales");
    }
}

// S-QNT-02
#[test]
fn counts_that_disagree_are_refused_with_both_numbers() {
    assert_eq!(
        Quantization::new(vec![1.0, 2.0], vec![0], Some(0)),
        Err(QuantizationError::ZeroPoints { zero_points: 1, scales: 2 })
    );
    assert_eq!(
        Quantization::per_channel(vec![1.0, 2.0], vec![], 0),
        Err(QuantizationError::ZeroPoints { zero_points: 0, scales: 2 })
    );
    assert_eq!(
        Quantization::new(vec![1.0, 2.0], vec![], None),
        Err(QuantizationError::NoAxis { scales: 2 })
    );
    assert_eq!(Quantization::new(vec![], vec![], None), Err(QuantizationError::NoScale));
    assert_eq!(Quantization::per_channel(vec![], vec![], 0), Err(QuantizationError::NoScale));
}

// S-QNT-01
#[test]
fn the_four_modes_are_told_apart() {
    let symmetric = Quantization::per_tensor_symmetric(0.5).unwrap();
    assert_eq!(symmetric.mode(), QuantMode::PerTensorSymmetric { scale: 0.5 });
    let tensor = Quantization::per_tensor(0.5, 3).unwrap();
    assert_eq!(tensor.mode(), QuantMode::PerTensor { scale: 0.5, zero_point: 3 });
    let channels = Quantization::per_channel_symmetric(vec![1.0, 2.0], 3).unwrap();
    let scales = &[1.0, 2.0][..];
    assert_eq!(channels.mode(), QuantMode::PerChannelSymmetric { scales, axis: 3 });
    let all = Quantization::per_channel(vec![1.0, 2.0], vec![0, 0], 3).unwrap();
    let zero_points = &[0, 0][..];
    assert_eq!(all.mode(), QuantMode::PerChannel { scales, zero_points, axis: 3 });
    let symmetric = [&symmetric, &tensor, &channels, &all].map(Quantization::is_symmetric);
    assert_eq!(symmetric, [true, false, true, true]);
}

// S-QNT-01
#[test]
fn the_fields_rebuild_the_value() {
    let values = [
        Quantization::per_tensor_symmetric(0.25),
        Quantization::per_tensor(0.25, -7),
        Quantization::per_channel_symmetric(vec![1.0, 2.0, 4.0], 0),
        Quantization::per_channel(vec![1.0, 2.0, 4.0], vec![1, 2, 3], 0),
        Quantization::per_channel(vec![1.0], vec![1], 2),
    ];
    for value in values.map(Result::unwrap) {
        let again =
            Quantization::new(value.scales().into(), value.zero_points().into(), value.axis());
        assert_eq!(again, Ok(value));
    }
}

// S-QNT-02
#[test]
fn a_shape_that_does_not_fit_is_refused_with_field_expected_and_got() {
    let q = Quantization::per_channel_symmetric(vec![1.0; 3], 2).unwrap();
    assert_eq!(q.validate(&[4, 4, 3], DType::I8), Ok(()));
    let axis = q.validate(&[4, 3], DType::I8).unwrap_err();
    assert_eq!(axis, QuantizationError::Axis { axis: 2, rank: 2 });
    assert_eq!(
        (axis.field(), axis.to_string().as_str()),
        ("axis", "axis: expected below the rank 2, got 2")
    );
    let channels = q.validate(&[4, 3, 4], DType::I8).unwrap_err();
    assert_eq!(channels, QuantizationError::Channels { axis: 2, dim: 4, scales: 3 });
    assert_eq!(channels.to_string(), "scales: expected 4, one for each index of axis 2, got 3");
}

// S-QNT-03, D-39
#[test]
fn a_zero_point_outside_the_dtype_is_refused() {
    let fits = |zero_point, dtype| {
        Quantization::per_tensor(1.0, zero_point).unwrap().validate(&[1], dtype).is_ok()
    };
    let ends = [
        (DType::U8, 0, 255),
        (DType::I8, -128, 127),
        (DType::U16, 0, 65_535),
        (DType::I16, -32_768, 32_767),
    ];
    for (dtype, least, greatest) in ends {
        assert!(fits(least, dtype) && fits(greatest, dtype), "{dtype}");
        assert!(!fits(least - 1, dtype) && !fits(greatest + 1, dtype), "{dtype}");
    }
    for dtype in [DType::I32, DType::I64] {
        assert!(fits(i32::MIN, dtype) && fits(i32::MAX, dtype), "{dtype}");
    }
    for dtype in [DType::U32, DType::U64] {
        assert!(!fits(-1, dtype) && fits(i32::MAX, dtype), "{dtype}");
    }
    let error = Quantization::per_tensor(1.0, 1_000_000_000).unwrap().validate(&[1], DType::U8);
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "zero_points: expected 0 to 255 for u8 at index 0, got 1000000000");
}

// S-QNT-05
#[test]
fn a_float_tensor_is_refused() {
    let q = Quantization::per_tensor(1.0, 0).unwrap();
    for dtype in [DType::F16, DType::F32, DType::F64] {
        let error = q.validate(&[4], dtype);
        assert_eq!(error, Err(QuantizationError::FloatDType { dtype }));
    }
}

// S-QNT-04, D-39
#[test]
fn one_channel_builds_and_fits_an_axis_of_one() {
    let q = Quantization::per_channel(vec![0.5], vec![3], 0).unwrap();
    assert_eq!(q.validate(&[1, 8], DType::U8), Ok(()));
    assert!(q.validate(&[2, 8], DType::U8).is_err());
}

#[test]
fn every_u8_survives_a_round_trip() {
    for (scale, zero_point) in [(0.007_843_138_f32, 127), (1.0, 0), (3.5e-5, 255), (1e30, 12)] {
        let params = AffineParams { scale, zero_point };
        for stored in 0..=u8::MAX {
            assert_eq!(params.quantize::<u8>(params.dequantize(stored)), stored, "{scale}");
        }
    }
}

#[test]
fn halves_go_to_even_and_ends_saturate() {
    let params = AffineParams { scale: 0.5, zero_point: -10 };
    let stored: Vec<i8> =
        [0.25, 0.75, -0.25, -0.75, 1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]
            .map(|real| params.quantize(real))
            .into();
    assert_eq!(stored, [-10, -8, -10, -12, 127, -128, 127, -128, -10]);
    let whole = AffineParams { scale: 1.0, zero_point: 0 };
    assert_eq!(whole.quantize::<u32>(-1.0), 0);
    assert_eq!(whole.quantize::<i32>(3e9), i32::MAX);
}

#[test]
fn the_extremes_of_32_bits_do_not_wrap() {
    let params = AffineParams { scale: 1.0, zero_point: i32::MIN };
    assert_eq!(params.dequantize(i32::MAX), 4_294_967_295.0_f64 as f32);
    assert_eq!(
        AffineParams { scale: 1.0, zero_point: i32::MAX }.dequantize(0_u32),
        -2_147_483_648.0
    );
    assert_eq!(AffineParams { scale: 1.0, zero_point: i32::MAX }.quantize::<i32>(5.0), i32::MAX);
}

#[test]
fn channels_follow_their_axis_wherever_it_is() {
    let stored: Vec<u8> = (0..12).collect();
    for (axis, channels) in [(0, 2), (1, 3), (2, 2)] {
        let scales: Vec<f32> = [1.0, 10.0, 100.0].into_iter().take(channels).collect();
        let zero_points = (0..).take(channels).collect();
        let q = Quantization::per_channel(scales.clone(), zero_points, axis).unwrap();
        let mut real = [0.0; 12];
        q.dequantize(&[2, 3, 2], &stored, &mut real).unwrap();
        for (index, value) in real.iter().enumerate() {
            let channel = [index / 6, index / 2 % 3, index % 2][axis];
            let expected = scales[channel] * (index as f32 - channel as f32);
            assert_eq!(*value, expected, "axis {axis}, element {index}");
        }
        let mut again = [0_u8; 12];
        q.quantize(&[2, 3, 2], &real, &mut again).unwrap();
        assert_eq!(again[..], stored);
    }
}

#[test]
fn slices_that_are_not_the_shape_are_refused() {
    let q = Quantization::per_tensor(1.0, 0).unwrap();
    let short = q.dequantize(&[2, 2], &[0_u8; 3], &mut [0.0; 4]);
    assert_eq!(short, Err(QuantizationError::Length { field: "stored", expected: 4, got: 3 }));
    let long = q.quantize(&[2, 2], &[0.0; 5], &mut [0_u8; 4]);
    assert_eq!(long, Err(QuantizationError::Length { field: "real", expected: 4, got: 5 }));
    let huge = q.quantize::<u8>(&[usize::MAX, 2], &[], &mut []);
    assert_eq!(huge, Err(QuantizationError::Elements));
    assert_eq!(q.quantize::<u8>(&[0, 5], &[], &mut []), Ok(()));
    let channels = Quantization::per_channel_symmetric(vec![1.0, 2.0], 0).unwrap();
    assert_eq!(channels.dequantize::<i8>(&[2, 0], &[], &mut []), Ok(()));
}

#[cfg(feature = "serde")]
#[test]
fn json_is_stable_and_checked() {
    let tensor = Quantization::per_tensor(0.5, 128).unwrap();
    let channel = Quantization::per_channel_symmetric(vec![0.5, 2.0], 3).unwrap();
    let golden = [
        (&tensor, r#"{"scale":[0.5],"zero_point":[128]}"#),
        (&channel, r#"{"scale":[0.5,2.0],"axis":3}"#),
    ];
    for (value, json) in golden {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(&serde_json::from_str::<Quantization>(json).unwrap(), value);
    }
    let bare = r#"{"scale": 0.5, "zero_point": 128, "axis": null}"#;
    assert_eq!(serde_json::from_str::<Quantization>(bare).unwrap(), tensor);
    for wrong in [r#"{"scale":[]}"#, r#"{"scale":-1.0}"#, r#"{"scale":[1.0,2.0]}"#] {
        assert!(serde_json::from_str::<Quantization>(wrong).is_err(), "{wrong}");
    }
}
