//! Blobs that carry the bytes.

use super::*;
use crate::quantization::Quantization;

/// Inline, in a memory of its own, with the same elements.
fn carried(tensor: &TensorDyn) -> (Vec<u8>, TensorDyn) {
    let (blob, fds) = export(tensor, TransportMode::Inline).unwrap();
    assert!(fds.is_empty());
    let back = import(&blob, &[]).unwrap();
    assert_same(tensor, &back);
    assert_eq!(flat(tensor), flat(&back));
    assert_eq!(back.memory(), TensorMemory::Mem);
    (blob, back)
}

// S-MODE-06, S-MODE-09, S-IPC-03
#[test]
fn a_dense_nv12_carries_its_bytes_and_nothing_of_its_origin() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Nv12, (640, 480), 640);
    fill(&tensor);
    let (blob, _) = carried(&tensor);
    let view = BlobView::parse(&blob).unwrap();
    let data: usize = view.planes().map(|plane| plane.data.len()).sum();
    assert_eq!(data, 460_800);
    // The header, the shape, the strings, the plane records.
    assert_eq!(blob.len(), 460_800 + 72 + 16 + 24 + 2 * 56);
    assert_eq!((view.pid(), view.fence_fd()), (0, None));
    assert!(view.planes().all(|plane| plane.offset == 0 && plane.is_inline()));
}

// S-MODE-07, D-01
#[test]
fn padding_stays_behind() {
    let nv12 = image(TensorMemory::Mem, PixelFormat::Nv12, (100, 100), 128);
    let rgba = image(TensorMemory::Mem, PixelFormat::Rgba, (100, 10), 448);
    for (tensor, bytes) in [(nv12, 15_000), (rgba, 4000)] {
        fill(&tensor);
        let (blob, back) = carried(&tensor);
        let view = BlobView::parse(&blob).unwrap();
        assert_eq!(view.planes().map(|plane| plane.data.len()).sum::<usize>(), bytes);
        assert!(view.strides().is_none());
        assert_eq!(back.memories()[0].len(), bytes);
    }
}

// S-MODE-08, D-02
#[test]
fn a_frame_in_two_memories_keeps_both_planes_and_its_size() {
    let tensor = two_memory_nv12();
    for (memory, byte) in tensor.memories().iter().zip([11, 22]) {
        memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(byte);
    }
    let (_, back) = carried(&tensor);
    assert_eq!((back.width(), back.height()), (Some(64), Some(36)));
    let map = back.map_read().unwrap();
    assert_eq!(
        (map.plane(0).unwrap().row(35).unwrap()[63], map.plane(1).unwrap().row(17).unwrap()[63]),
        (11, 22)
    );
}

// S-MODE-10, S-MODE-11
#[test]
fn the_tensor_does_not_change_with_the_blob() {
    let tensor = image(TensorMemory::Mem, PixelFormat::Nv12, (64, 36), 64);
    fill(&tensor);
    let (mut blob, fds) = export(&tensor, TransportMode::Inline).unwrap();
    let back = import(&blob, &fds).unwrap();
    blob.fill(0);
    assert_eq!(flat(&tensor), flat(&back));
    let chroma = back.image_layout().unwrap().planes()[1];
    assert_eq!((chroma.memory, chroma.offset, chroma.stride), (0, 64 * 36, 64));
}

// S-MODE-12, D-20
#[test]
fn views_and_elements_of_batches_are_carried() {
    let frame = image(TensorMemory::Mem, PixelFormat::Rgba, (64, 64), 256);
    fill(&frame);
    carried(&frame.view(Region::new(8, 8, 16, 4)).unwrap());
    let desc =
        ImageDesc::new(PixelFormat::Nv12, 32, 8).with_batch(3).with_memory(TensorMemory::Mem);
    let batch = TensorDyn::image_desc(&desc).unwrap();
    fill(&batch);
    let plain = raw(&[3, 5, 2], DType::I16, Memory::heap(60).unwrap());
    fill(&plain);
    for n in 0..3 {
        carried(&batch.batch(n).unwrap());
        carried(&plain.batch(n).unwrap());
    }
}

// S-MODE-13, D-21
#[test]
fn a_pooled_buffer_carries_only_the_image_now_in_it() {
    let desc = ImageDesc::new(PixelFormat::Rgba, 640, 480).with_memory(TensorMemory::Mem);
    let pooled = TensorDyn::image_desc(&desc).unwrap();
    let small = pooled.configure_image(PixelFormat::Grey, 100, 10).unwrap();
    fill(&small);
    let (blob, _) = carried(&small);
    assert!(blob.len() < 1000 + 300);
}

// S-BLOB-17, D-22
#[test]
fn parts_of_a_plain_tensor_are_gathered() {
    let whole = raw(&[4, 6], DType::F32, Memory::heap(96).unwrap());
    fill(&whole);
    let part = whole.slice(&[1..3, 2..5]).unwrap();
    let (blob, back) = carried(&part);
    assert_eq!(BlobView::parse(&blob).unwrap().plane(0).unwrap().data.len(), 24);
    assert_eq!(back.strides().unwrap()[..], [12, 4]);
}

#[test]
fn a_tensor_without_elements_travels() {
    let nothing = raw(&[0, 3], DType::F64, Memory::heap(1).unwrap());
    carried(&nothing);
}

// S-BLOB-16
#[test]
fn every_word_travels_inline_and_by_reference() {
    let quantizations = [
        Quantization::per_tensor_symmetric(0.5).unwrap(),
        Quantization::per_tensor(0.25, 128).unwrap(),
        Quantization::per_channel_symmetric(vec![1.0, 2.0, 3.0], 2).unwrap(),
        Quantization::per_channel(vec![1.0, 2.0, 3.0], vec![1, 2, 3], 2).unwrap(),
    ];
    let colorimetry = Colorimetry::unpack(0x0102_0304);
    for quantization in quantizations {
        for access in [CpuAccess::Read, CpuAccess::ReadWrite] {
            let desc = ImageDesc::new(PixelFormat::Rgb, 8, 4).with_memory(TensorMemory::Shm);
            let tensor = TensorDyn::image_desc(&desc.with_access(access)).unwrap();
            let tensor = tensor.with_colorimetry(colorimetry).with_name("images");
            let tensor = tensor.with_quantization(quantization.clone()).unwrap();
            for mode in [TransportMode::Inline, TransportMode::Reference] {
                assert_same(&tensor, &travel(&tensor, mode));
                let view = tensor.view(Region::new(0, 0, 4, 2)).unwrap();
                assert_same(&view, &travel(&view, mode));
            }
        }
    }
}

// D-19
#[test]
fn the_cpu_may_not_read_what_was_declared_for_writing() {
    let desc = ImageDesc::new(PixelFormat::Rgb, 8, 4).with_access(CpuAccess::Write);
    let tensor = TensorDyn::image_desc(&desc.with_memory(TensorMemory::Shm)).unwrap();
    let error = export(&tensor, TransportMode::Inline).unwrap_err();
    assert!(error.to_string().contains("cannot be read to be carried inline"), "{error}");
    let back = travel(&tensor, TransportMode::Reference);
    assert_eq!(back.access(), CpuAccess::Write);
    assert!(back.map_read().is_err());
}

#[test]
fn every_format_is_carried() {
    for format in PixelFormat::ALL.iter().copied() {
        for (width, height) in [(64, 36), (33, 7), (1, 1)] {
            let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
            let memory = Memory::heap(layout.allocation_len(0)).unwrap();
            let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap();
            fill(&tensor);
            carried(&tensor);
        }
    }
}

// S-MODE-12
#[test]
fn a_whole_batch_is_refused_in_both_modes() {
    let desc = ImageDesc::new(PixelFormat::Rgb, 8, 4).with_batch(2).with_memory(TensorMemory::Shm);
    let batch = TensorDyn::image_desc(&desc).unwrap();
    for mode in [TransportMode::Inline, TransportMode::Reference] {
        let error = export(&batch, mode).unwrap_err();
        assert!(matches!(error, ExportError::Transfer(TransferError::Batch { .. })), "{error}");
    }
}

#[test]
fn a_second_export_into_the_same_bytes_allocates_nothing() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Nv12, (64, 36), 64);
    let mut out = Vec::new();
    for mode in [TransportMode::Inline, TransportMode::Reference] {
        export_into(&tensor, mode, &mut out).unwrap();
        let (at, capacity) = (out.as_ptr(), out.capacity());
        export_into(&tensor, mode, &mut out).unwrap();
        assert_eq!((out.as_ptr(), out.capacity()), (at, capacity));
    }
}
