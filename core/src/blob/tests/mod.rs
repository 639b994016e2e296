//! Tests of the blob, by what they try: exact bytes, each refusal, hostile bytes, round trips.

mod extension;
mod golden;
mod hostile;
mod packet;
mod plane_refusals;
mod refusals;
mod round_trip;

use super::*;
use crate::{colorimetry::Colorimetry, dtype::DType, memory_kind::TensorMemory};

/// A plane record by handle.
fn referenced(handle: i64, offset: u64, size: u64) -> PlaneRecord<'static> {
    PlaneRecord { handle, offset, size, used: size, ..PlaneRecord::inline(&[], 64) }
}

/// A spec that says as little as possible.
fn plain<'a>(shape: &'a [u64], planes: &'a [PlaneRecord<'a>]) -> BlobSpec<'a> {
    BlobSpec {
        storage_kind: TensorMemory::Mem,
        pid: 0,
        fence_fd: None,
        dtype: DType::U8,
        shape,
        strides: None,
        quant_axis: QUANT_NONE,
        quant_scales: &[],
        quant_zero_points: &[],
        format: None,
        colorimetry: Colorimetry::default(),
        planes,
        extension: Extension::default(),
    }
}

/// Byte of the shape, the scales, the strings, and the first and second plane of [`sample`].
const SHAPE: usize = 72;
const SCALES: usize = 88;
const STRINGS: usize = 96;
const PLANES: usize = 120;
const PLANE_1: usize = 176;
const SIZE: usize = 232;

/// A 2x2 tensor in two planes by handle with a scale for each row, dense, all strings empty.
fn sample() -> Vec<u8> {
    let planes = [referenced(0, 0, 8), referenced(1, 0, 8)];
    let spec = BlobSpec { quant_axis: 0, quant_scales: &[1.0, 2.0], ..plain(&[2, 2], &planes) };
    let blob = spec.to_bytes().unwrap();
    assert_eq!(blob.len(), SIZE);
    blob
}

/// Parses the sample with some bytes changed.
fn poked(at: usize, bytes: &[u8]) -> BlobError {
    let mut blob = sample();
    assert!(BlobView::parse(&blob).is_ok());
    poke(&mut blob, at, bytes);
    BlobView::parse(&blob).expect_err("the change went unnoticed")
}

/// Writes a spec that must be refused.
fn refused(spec: &BlobSpec<'_>) -> BlobError {
    let mut out = vec![1, 2, 3];
    let error = spec.write_into(&mut out).expect_err("the spec was written");
    assert!(out.is_empty());
    assert_eq!(spec.encoded_len().as_ref(), Err(&error));
    error
}

/// Overwrites bytes of a blob.
fn poke(blob: &mut [u8], at: usize, bytes: &[u8]) {
    blob[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Checks that the view says what the spec says.
fn assert_says(view: &BlobView<'_>, spec: &BlobSpec<'_>) {
    assert_eq!(view.storage_kind(), spec.storage_kind);
    assert_eq!(view.pid(), spec.pid);
    assert_eq!(view.fence_fd(), spec.fence_fd);
    assert_eq!(view.dtype(), spec.dtype);
    assert_eq!(view.ndim(), spec.shape.len());
    assert!(view.shape().eq(spec.shape.iter().copied()));
    let strides = view.strides().map(Iterator::collect::<Vec<_>>);
    assert_eq!(strides.as_deref(), spec.strides);
    assert_eq!(view.quant_axis(), spec.quant_axis);
    assert!(view.quant_scales().eq(spec.quant_scales.iter().copied()));
    assert!(view.quant_zero_points().eq(spec.quant_zero_points.iter().copied()));
    assert_eq!(view.format(), spec.format);
    assert_eq!(view.colorimetry(), spec.colorimetry);
    assert_has_planes(view, spec);
}

fn assert_has_planes(view: &BlobView<'_>, spec: &BlobSpec<'_>) {
    assert!(view.planes().eq(spec.planes.iter().copied()));
    for (index, plane) in spec.planes.iter().enumerate() {
        assert_eq!(view.plane(index).as_ref(), Some(plane));
    }
    assert_eq!(view.plane(spec.planes.len()), None);
}
