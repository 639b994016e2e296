//! What a blob says of an image, whatever its handles are.

use super::*;

// S-MODE-03, S-MODE-04
#[test]
fn every_plane_keeps_its_handle_offset_and_stride() {
    let tensor = two_memory_nv12();
    let blob = describe(&tensor, &[3, 7]).unwrap();
    let view = BlobView::parse(&blob).unwrap();
    let planes: Vec<_> = view.planes().map(|p| (p.handle, p.offset, p.stride)).collect();
    assert_eq!(planes, [(3, 128, 96), (7, 0, 128)]);
    let used: Vec<_> = view.planes().map(|p| (p.size, p.used)).collect();
    assert_eq!(used, [(96 * 36, 96 * 35 + 64), (128 * 18, 128 * 17 + 64)]);
    assert_eq!((view.pid(), view.storage_kind()), (0, TensorMemory::Shm));

    let image = ReferencedImage::of(&view).unwrap();
    assert_eq!(&image.layout, tensor.image_layout().unwrap());
    assert_eq!(&image.handles[..], [3, 7]);
    assert_eq!(view.colorimetry(), tensor.colorimetry());
}

#[test]
fn every_format_goes_there_and_back() {
    for format in PixelFormat::ALL.iter().copied() {
        for (width, height) in [(64, 36), (33, 7), (1, 1)] {
            let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
            let memory = Memory::heap(layout.allocation_len(0)).unwrap();
            let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
            let blob = describe(&tensor, &[0]).unwrap();
            let image = ReferencedImage::of(&BlobView::parse(&blob).unwrap()).unwrap();
            assert_eq!(&image.layout, tensor.image_layout().unwrap(), "{format} {width}x{height}");
        }
    }
}

// S-BLOB-06, S-BLOB-14
#[test]
fn a_dense_image_says_so_in_184_bytes() {
    let layout = ImageLayout::packed(PixelFormat::Rgba, 640, 480, StrideAlign::NONE).unwrap();
    let memory = Memory::shm(layout.allocation_len(0)).unwrap();
    let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap();
    let blob = describe(&tensor, &[0]).unwrap();
    assert_eq!(blob.len(), 184);
    assert!(BlobView::parse(&blob).unwrap().strides().is_none());
}

#[test]
fn padding_missing_after_the_last_row_is_not_claimed() {
    let planes = [PlanePlacement { memory: 0, offset: 0, stride: 128 }];
    let layout = ImageLayout::from_planes(PixelFormat::Grey, 100, 4, &planes).unwrap();
    let memory = Memory::heap(128 * 3 + 100).unwrap();
    let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
    let blob = describe(&tensor, &[0]).unwrap();
    let record = BlobView::parse(&blob).unwrap().plane(0).unwrap();
    assert_eq!((record.size, record.used), (484, 484));
}

#[test]
fn a_memory_without_a_handle_is_refused() {
    let error = describe(&two_memory_nv12(), &[0]).unwrap_err();
    assert_eq!(error, TransferError::Handles { memories: 2, handles: 1 });
}
