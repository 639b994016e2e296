//! One test for each refusal, named by it. Each names the field and what was there (S-PARSE-10).

use super::*;

// S-BLOB-04
#[test]
fn truncated() {
    let blob = sample();
    for have in 0..SIZE {
        let need = if have < HEADER_LEN { 72 } else { 232 };
        assert_eq!(BlobView::parse(&blob[..have]).err(), Some(BlobError::Truncated { need, have }));
    }
    let error = BlobView::parse(&blob[..231]).unwrap_err();
    assert_eq!(error.to_string(), "the blob needs 232 bytes, has 231");
    assert_eq!(
        poked(0, &u64::MAX.to_le_bytes()),
        BlobError::Truncated { need: u64::MAX, have: SIZE }
    );
}

// S-BLOB-02, S-BLOB-03
#[test]
fn unsupported_requirement_is_told_before_anything_else() {
    for bit in 0..64 {
        let bits = 1_u64 << bit;
        let expected = Some(BlobError::UnsupportedRequirement { bits });
        let mut garbage = [0xFF; HEADER_LEN];
        poke(&mut garbage, 8, &bits.to_le_bytes());
        assert_eq!(BlobView::parse(&garbage).err(), expected);
        assert_eq!(BlobView::parse(&garbage[..16]).err(), expected);
    }
    let error = poked(8, &[1]);
    assert_eq!(error.to_string(), "unsupported requirement 0x1 in required_mask");
}

#[test]
fn size() {
    assert_eq!(poked(0, &[71]), BlobError::Size { size: 71 });
    assert_eq!(poked(0, &[0]), BlobError::Size { size: 0 });
}

// S-BLOB-05
#[test]
fn bytes_after_size_and_regions_after_the_planes_are_no_refusal() {
    let mut blob = sample();
    blob.extend([0xFF; 24]);
    assert_eq!(BlobView::parse(&blob).unwrap().as_bytes(), sample());
    poke(&mut blob, 0, &[240]);
    let view = BlobView::parse(&blob).unwrap();
    assert_eq!(view.as_bytes().len(), 240);
    assert_eq!(view.planes().len(), 2);
}

// S-PARSE-08
#[test]
fn reserved() {
    assert_eq!(poked(68, &[0, 0, 0, 1]), BlobError::Reserved { value: 0x0100_0000 });
}

#[test]
fn unknown_dtype() {
    assert_eq!(poked(36, &[11]), BlobError::UnknownDType { code: 11 });
}

#[test]
fn unknown_storage_kind() {
    assert_eq!(poked(24, &[7]), BlobError::UnknownStorageKind { code: 7 });
}

#[test]
fn fence_fd() {
    let value = -2_i32;
    assert_eq!(poked(32, &value.to_le_bytes()), BlobError::FenceFd { value });
    for value in [-1, i32::MIN] {
        let spec = BlobSpec { fence_fd: Some(value), ..plain(&[], &[]) };
        assert_eq!(refused(&spec), BlobError::FenceFd { value });
    }
}

// S-BLOB-06
#[test]
fn strides_len() {
    assert_eq!(poked(64, &[1]), BlobError::StridesLen { strides_len: 1, ndim: 2 });
    for strides in [&[][..], &[1], &[1, 1, 1]] {
        let spec = BlobSpec { strides: Some(strides), ..plain(&[2, 2], &[]) };
        let strides_len = strides.len();
        assert_eq!(refused(&spec), BlobError::StridesLen { strides_len, ndim: 2 });
    }
}

#[test]
fn region_bounds() {
    let fields = [
        (44, "ndim", 8, SHAPE),
        (52, "quant_scales_len", 4, SCALES),
        (56, "quant_zero_points_len", 4, STRINGS),
        (60, "strings_bytes", 1, STRINGS),
    ];
    for (at, field, width, start) in fields {
        let count = u64::from(u32::MAX);
        let expected = BlobError::RegionBounds { field, count, width, start, size: SIZE };
        assert_eq!(poked(at, &[0xFF; 4]), expected);
    }
    for count in [113, u64::MAX] {
        let (field, width, start) = ("planes_bytes", 1, PLANES);
        let expected = BlobError::RegionBounds { field, count, width, start, size: SIZE };
        assert_eq!(poked(16, &count.to_le_bytes()), expected);
    }
    let field = "strides_len";
    let expected = BlobError::RegionBounds { field, count: 200, width: 8, start: 88, size: SIZE };
    assert_eq!(poked(64, &[200]), expected);
}

#[test]
fn planes_unaligned() {
    assert_eq!(poked(60, &[20]), BlobError::PlanesUnaligned { start: 116 });
}

// S-BLOB-18
#[test]
fn quant_axis() {
    for axis in [-3, 2, i32::MIN, i32::MAX] {
        let expected = BlobError::QuantAxis { axis, ndim: 2 };
        assert_eq!(poked(40, &axis.to_le_bytes()), expected);
        assert_eq!(refused(&BlobSpec { quant_axis: axis, ..plain(&[2, 2], &[]) }), expected);
    }
}

// S-QNT-02
#[test]
fn scale_count() {
    for (axis, needed) in [(QUANT_NONE, 0), (QUANT_PER_TENSOR, 1)] {
        let expected = BlobError::ScaleCount { scales: 2, axis, needed };
        assert_eq!(poked(40, &axis.to_le_bytes()), expected);
        let spec = BlobSpec { quant_axis: axis, quant_scales: &[1.0, 2.0], ..plain(&[2], &[]) };
        assert_eq!(refused(&spec), expected);
    }
    assert_eq!(poked(SHAPE, &[3]), BlobError::ScaleCount { scales: 2, axis: 0, needed: 3 });
}

// S-QNT-02
#[test]
fn zero_point_count() {
    let expected = BlobError::ZeroPointCount { zero_points: 1, scales: 2 };
    // A zero point where the strings' padding was.
    assert_eq!(poked(56, &[1, 0, 0, 0, 20]), expected);
    let scales = &[1.0, 2.0];
    let spec = BlobSpec { quant_axis: 0, quant_scales: scales, ..plain(&[2], &[]) };
    assert_eq!(refused(&BlobSpec { quant_zero_points: &[5], ..spec }), expected);
}

// S-QNT-03, D-39
#[test]
fn scale() {
    for value in [0.0, -1.0, f32::INFINITY, f32::NEG_INFINITY] {
        let expected = BlobError::Scale { index: 1, value };
        assert_eq!(poked(SCALES + 4, &value.to_le_bytes()), expected);
        let spec = BlobSpec { quant_axis: 0, quant_scales: &[1.0, value], ..plain(&[2], &[]) };
        assert_eq!(refused(&spec), expected);
    }
    assert!(matches!(
        poked(SCALES, &f32::NAN.to_le_bytes()),
        BlobError::Scale { index: 0, value } if value.is_nan()
    ));
}

/// Each string with the byte of its length, all strings being empty.
const FIELDS: [(&str, usize); 5] = [
    ("format", STRINGS),
    ("color_space", STRINGS + 4),
    ("color_transfer", STRINGS + 8),
    ("color_encoding", STRINGS + 12),
    ("color_range", STRINGS + 16),
];

// S-BLOB-11, D-14
#[test]
fn string_bounds() {
    for (field, at) in FIELDS {
        let (need, left) = (u64::from(u32::MAX) + 4, PLANES - at);
        assert_eq!(poked(at, &[0xFF; 4]), BlobError::StringBounds { field, need, left });
    }
    let need = 24;
    let field = "format";
    assert_eq!(poked(STRINGS, &[21]), BlobError::StringBounds { field, need: 25, left: need });
    // The first string leaves no bytes for the length of the second.
    let mut blob = plain(&[], &[]).to_bytes().unwrap();
    blob.truncate(HEADER_LEN);
    blob.extend(*b"\x04\0\0\0NV12");
    let size = blob.len() as u64;
    poke(&mut blob, 0, &size.to_le_bytes());
    poke(&mut blob, 60, &8_u32.to_le_bytes());
    let error = BlobError::StringBounds { field: "color_space", need: 4, left: 0 };
    assert_eq!(BlobView::parse(&blob).err(), Some(error));
}

// S-BLOB-10, D-14
#[test]
fn invalid_utf8() {
    for (field, at) in FIELDS {
        let expected = BlobError::InvalidUtf8 { field, valid_up_to: 1 };
        assert_eq!(poked(at, &[2, 0, 0, 0, b'a', 0xFF]), expected);
    }
}

#[test]
fn unknown_name() {
    // Every string that is longer than the padding leaves less for those after it, so only the
    // last four bytes of the region can be given away.
    for (field, at) in FIELDS {
        let mut strings = vec![0; PLANES - at];
        poke(&mut strings, 0, &[3, 0, 0, 0, b'B', b'T', b'9']);
        assert_eq!(poked(at, &strings), BlobError::UnknownName { field, name: "BT9".into() });
    }
    let long = "é".repeat(5000);
    let mut blob = plain(&[], &[]).to_bytes().unwrap();
    blob.truncate(HEADER_LEN);
    blob.extend(10_000_u32.to_le_bytes());
    blob.extend(long.as_bytes());
    blob.extend([0; 20]);
    let (size, strings_bytes) = (blob.len() as u64, (blob.len() - HEADER_LEN) as u32);
    poke(&mut blob, 0, &size.to_le_bytes());
    poke(&mut blob, 60, &strings_bytes.to_le_bytes());
    let name = "é".repeat(32);
    assert_eq!(
        BlobView::parse(&blob).err(),
        Some(BlobError::UnknownName { field: "format", name })
    );
}
