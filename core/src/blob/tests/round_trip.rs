//! What is written is read.

use proptest::prelude::*;

use super::*;
use crate::{
    colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer},
    format::PixelFormat,
};

// S-BLOB-16, S-TYPE-01, S-TYPE-02
#[test]
fn every_format_with_every_dtype_and_kind() {
    let formats = PixelFormat::ALL.iter().copied().map(Some).chain([None]);
    let planes = [PlaneRecord::inline(&[1, 2, 3], 3)];
    let mut blob = Vec::new();
    for (format, dtype) in formats.flat_map(|format| DType::all().map(move |d| (format, d))) {
        for storage_kind in TensorMemory::all() {
            let spec = BlobSpec { format, dtype, storage_kind, ..plain(&[1, 3], &planes) };
            spec.write_into(&mut blob).unwrap();
            assert_says(&BlobView::parse(&blob).unwrap(), &spec);
        }
    }
}

#[test]
fn writing_again_reuses_the_memory() {
    let planes = [PlaneRecord::inline(&[1; 100], 10)];
    let spec = plain(&[100], &planes);
    let mut out = spec.to_bytes().unwrap();
    let (first, memory) = (out.clone(), out.as_ptr());
    spec.write_into(&mut out).unwrap();
    assert_eq!(out, first);
    assert_eq!(out.as_ptr(), memory);
}

/// The parts of a spec that it borrows.
#[derive(Clone, Debug)]
struct Parts {
    words: (u32, Option<i32>, TensorMemory, DType),
    shape: Vec<u64>,
    strides: Option<Vec<i64>>,
    quant: (i32, Vec<f32>, Vec<i32>),
    format: Option<PixelFormat>,
    colorimetry: Colorimetry,
    inline: bool,
    planes: Vec<([u64; 6], Vec<u8>)>,
}

impl Parts {
    fn planes(&self) -> Vec<PlaneRecord<'_>> {
        let planes = self.planes.iter();
        planes
            .map(|([index, offset, stride, size, used, modifier], payload)| {
                if self.inline {
                    return PlaneRecord::inline(payload, *stride);
                }
                PlaneRecord {
                    handle: i64::try_from(index >> 1).unwrap(),
                    offset: *offset,
                    stride: *stride,
                    size: *size.max(used),
                    used: *size.min(used),
                    modifier: *modifier,
                    handle_bytes: payload,
                    data: &[],
                }
            })
            .collect()
    }

    fn spec<'a>(&'a self, planes: &'a [PlaneRecord<'a>]) -> BlobSpec<'a> {
        let (pid, fence_fd, storage_kind, dtype) = self.words;
        BlobSpec {
            storage_kind,
            pid,
            fence_fd,
            dtype,
            shape: &self.shape,
            strides: self.strides.as_deref(),
            quant_axis: self.quant.0,
            quant_scales: &self.quant.1,
            quant_zero_points: &self.quant.2,
            format: self.format,
            colorimetry: self.colorimetry,
            planes,
            extension: Extension::default(),
        }
    }
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(
    values: impl IntoIterator<Item = T>,
) -> impl Strategy<Value = T> {
    prop::sample::select(values.into_iter().collect::<Vec<_>>())
}

fn maybe<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = Option<T>> {
    prop::option::of(one_of(values.to_vec()))
}

fn colorimetry() -> impl Strategy<Value = Colorimetry> {
    let answers = (
        maybe(ColorSpace::ALL),
        maybe(ColorTransfer::ALL),
        maybe(ColorEncoding::ALL),
        maybe(ColorRange::ALL),
    );
    answers.prop_map(|(space, transfer, encoding, range)| Colorimetry {
        space,
        transfer,
        encoding,
        range,
    })
}

/// An axis of 1 to 19 entries that is in the shape, or no axis.
fn quant() -> impl Strategy<Value = (i32, Vec<f32>, Vec<i32>)> {
    let scale = (1_u32..0x7F80_0000).prop_map(f32::from_bits);
    let zero_points = prop::collection::vec(any::<i32>(), 20);
    let scales = prop::collection::vec(scale, 1..20);
    (-2..3, scales, zero_points, any::<bool>()).prop_map(
        |(axis, mut scales, mut zeros, symmetric)| {
            match axis {
                QUANT_NONE => scales.clear(),
                QUANT_PER_TENSOR => scales.truncate(1),
                _ => {}
            }
            zeros.truncate(if symmetric { 0 } else { scales.len() });
            (axis, scales, zeros)
        },
    )
}

fn parts() -> impl Strategy<Value = Parts> {
    let words = (
        any::<u32>(),
        prop::option::of(0..i32::MAX),
        one_of(TensorMemory::all()),
        one_of(DType::all()),
    );
    let shape = prop::collection::vec((any::<u64>(), any::<i64>()), 3..12);
    let payload = prop::collection::vec(any::<u8>(), 0..70);
    let planes = prop::collection::vec((any::<[u64; 6]>(), payload), 0..7);
    let picture = (maybe(PixelFormat::ALL), colorimetry());
    (words, shape, any::<bool>(), quant(), picture, any::<bool>(), planes).prop_map(
        |(words, axes, strided, quant, (format, colorimetry), inline, planes)| {
            let (mut shape, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            if let Ok(axis) = usize::try_from(quant.0) {
                shape[axis] = quant.1.len() as u64;
            }
            let strides = strided.then_some(strides);
            Parts { words, shape, strides, quant, format, colorimetry, inline, planes }
        },
    )
}

proptest! {
    // S-IPC-05, S-BLOB-16, S-QNT-05
    #[test]
    fn any_spec_is_read_as_written(parts in parts()) {
        let planes = parts.planes();
        let spec = parts.spec(&planes);
        let blob = spec.to_bytes().unwrap();
        prop_assert_eq!(spec.encoded_len(), Ok(blob.len()));
        let view = BlobView::parse(&blob).unwrap();
        prop_assert_eq!(view.as_bytes(), &blob[..]);
        assert_says(&view, &spec);
    }

    #[test]
    fn any_bytes_parse_or_are_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if bytes.len() >= 16 {
            poke(&mut bytes, 8, &[0; 8]);
        }
        let _ = BlobView::parse(&bytes);
    }
}
