//! Blobs.

use std::os::fd::AsRawFd;

use ours::{BlobSpec, BlobView, PlaneRecord};

use super::*;

// S-IPC-05: what the published writer writes is read in full, and written again byte for byte.
#[test]
fn their_blobs_are_written_again_byte_for_byte() {
    for (_, format) in FORMATS {
        for size in SIZES {
            let tensor = their_image(format, size);
            let mode = theirs::blob::TransportMode::Inline;
            let (blob, _) = theirs::blob::export(&tensor, mode).expect("their export");
            assert_eq!(rewritten(&blob), blob, "{format:?} {size:?}");
        }
    }
}

fn rewritten(blob: &[u8]) -> Vec<u8> {
    let view = BlobView::parse(blob).expect("parses");
    let shape: Vec<u64> = view.shape().collect();
    let strides: Option<Vec<i64>> = view.strides().map(Iterator::collect);
    let scales: Vec<f32> = view.quant_scales().collect();
    let zero_points: Vec<i32> = view.quant_zero_points().collect();
    let planes: Vec<PlaneRecord<'_>> = view.planes().collect();
    let spec = BlobSpec {
        storage_kind: view.storage_kind(),
        pid: view.pid(),
        fence_fd: view.fence_fd(),
        dtype: view.dtype(),
        shape: &shape,
        strides: strides.as_deref(),
        quant_axis: view.quant_axis(),
        quant_scales: &scales,
        quant_zero_points: &zero_points,
        format: view.format(),
        colorimetry: view.colorimetry(),
        planes: &planes,
        extension: view.extension(),
    };
    spec.to_bytes().expect("writes")
}

#[test]
fn every_format_goes_to_them_and_back() {
    for (format, their_format) in FORMATS {
        for size in SIZES {
            let tensor = our_image(format, size, ours::TensorMemory::Mem);
            let there = to_theirs(&tensor);
            assert_eq!(there.format(), Some(their_format), "{format} {size:?}");
            assert_eq!((there.width(), there.height()), (Some(size.0), Some(size.1)), "{format}");
            let back = to_ours(&there);
            assert_eq!(back.format(), Some(format));
            assert_eq!(back.shape(), tensor.shape());
            assert_eq!(our_bytes(&back), our_bytes(&tensor), "{format} {size:?}");
        }
    }
}

#[test]
fn every_format_comes_from_them_and_goes_back() {
    for (format, their_format) in FORMATS {
        for size in SIZES {
            let tensor = their_image(their_format, size);
            let here = to_ours(&tensor);
            assert_eq!(here.format(), Some(format), "{format} {size:?}");
            assert_eq!((here.width(), here.height()), (Some(size.0), Some(size.1)));
            let again = to_theirs(&here);
            assert_eq!(their_bytes(&again), their_bytes(&tensor), "{format} {size:?}");
        }
    }
}

#[test]
fn every_dtype_goes_both_ways_without_a_format() {
    for (dtype, their_dtype) in DTYPES {
        for dims in [&[6][..], &[2, 3], &[1, 2, 3, 4, 5]] {
            let shape = ours::Shape::new(dims).expect("rank");
            let policy = ours::memory::AllocPolicy::only(ours::TensorMemory::Mem).expect("heap");
            let access = ours::CpuAccess::ReadWrite;
            let tensor = ours::TensorDyn::new(&shape, dtype, &policy, access).expect("memory");
            fill(&tensor);
            let there = to_theirs(&tensor);
            assert_eq!((there.dtype(), there.shape()), (their_dtype, dims));
            assert_eq!(their_bytes(&there), our_bytes(&tensor));
            let back = to_ours(&there);
            assert_eq!((back.dtype(), back.shape()), (dtype, &shape));
            assert_eq!(our_bytes(&back), our_bytes(&tensor));
        }
    }
}

#[test]
fn colours_and_quantization_go_both_ways() {
    let kinds = [
        ours::Quantization::per_tensor_symmetric(0.5),
        ours::Quantization::per_tensor(0.25, 128),
        ours::Quantization::per_channel_symmetric(vec![1.0, 2.0, 3.0], 2),
        ours::Quantization::per_channel(vec![1.0, 2.0, 3.0], vec![1, 2, 3], 2),
    ];
    for quantization in kinds {
        let quantization = quantization.expect("valid");
        for word in colour_words() {
            let colorimetry = ours::Colorimetry::unpack(word);
            let tensor = our_image(ours::PixelFormat::Rgb, (8, 4), ours::TensorMemory::Mem);
            let tensor = tensor.with_colorimetry(colorimetry);
            let tensor = tensor.with_quantization(quantization.clone()).expect("fits");
            let there = to_theirs(&tensor);
            let said = there.quantization().expect("quantized");
            assert_eq!(said.scale(), quantization.scales());
            assert_eq!(said.zero_point().unwrap_or_default(), quantization.zero_points());
            let back = to_ours(&there);
            assert_eq!(back.quantization(), Some(&quantization));
            assert_eq!(back.colorimetry(), colorimetry);
        }
    }
}

/// Each value of each of the four colour questions, and none.
fn colour_words() -> impl Iterator<Item = u32> {
    let counts = [4_u32, 5, 3, 2];
    (0..5).map(move |value| {
        counts
            .iter()
            .enumerate()
            .fold(0, |word, (axis, count)| word | value.min(*count) << (8 * axis))
    })
}

// S-MODE-02: the published reader takes shared memory by reference, though its writer refuses it.
#[test]
fn shared_memory_goes_to_them_by_reference() {
    for (format, their_format) in FORMATS {
        for stride in [0, 32] {
            let width = 64;
            let row = width * format.planes()[0].row_bytes(1).unwrap_or(1).max(1) + stride;
            let desc = ours::ImageDesc::new(format, width, 48).with_memory(ours::TensorMemory::Shm);
            let tensor = ours::TensorDyn::image_desc(&desc.with_row_stride(row));
            let Ok(tensor) = tensor else { continue };
            fill(&tensor);
            let (blob, fds) = export(&tensor, TransportMode::Reference).expect("exports");
            let raw: Vec<_> = fds.iter().map(AsRawFd::as_raw_fd).collect();
            let there = theirs::blob::import(&blob, &raw).expect("their import");
            assert_eq!(there.format(), Some(their_format));
            assert_eq!(there.effective_row_stride(), Some(row), "{format}");
            let map = tensor.map_read().expect("maps");
            let whole = map.memory(0).expect("one memory");
            let seen = their_bytes(&there);
            let len = seen.len().min(whole.len());
            assert!(len >= row * 47, "{format}: {len}");
            assert_eq!(seen[..len], whole[..len], "{format}");
        }
    }
}

// S-BLOB-05: the published reader looks at nothing after the plane records.
#[test]
fn what_they_have_no_field_for_is_skipped() {
    let desc = ours::ImageDesc::new(ours::PixelFormat::Rgb, 8, 4)
        .with_memory(ours::TensorMemory::Mem)
        .with_access(ours::CpuAccess::Read);
    let tensor = ours::TensorDyn::image_desc(&desc).expect("memory");
    let content = ours::ContentRegion::new(ours::Region::new(0, 1, 8, 2), 8, 4);
    let origin = ours::Origin { content, taken: Some(ours::ContentRegion::full(64, 16)) };
    let tensor = tensor.with_origin(origin);
    let (blob, _) = export(&tensor, TransportMode::Inline).expect("exports");
    let extension = BlobView::parse(&blob).expect("parses").extension();
    assert_eq!((extension.access, extension.origin), (ours::CpuAccess::Read, Some(origin)));
    let there = theirs::blob::import(&blob, &[]).expect("their import");
    assert_eq!(there.shape(), [4, 8, 3]);
    assert_eq!(there.cpu_access(), theirs::CpuAccess::ReadWrite);
}
