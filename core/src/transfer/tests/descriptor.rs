//! The C struct.

use std::ptr;

use super::*;
use crate::desc::TensorDesc;

// S-GEO-13
#[test]
fn every_surface_gives_the_same_strides() {
    let shm = |format, width, height, stride| {
        let layout = ImageLayout::with_row_stride(format, width, height, stride).unwrap();
        let memory = Memory::shm(layout.allocation_len(0)).unwrap();
        TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap()
    };
    let layouts = [
        (shm(PixelFormat::Rgba, 321, 4, 1344), vec![1344, 4, 1]),
        (shm(PixelFormat::Nv12, 640, 480, 704), vec![704, 1]),
        (shm(PixelFormat::PlanarRgb, 321, 4, 384), vec![1536, 384, 1]),
    ];
    for (tensor, strides) in layouts {
        let desc = descriptor(&tensor).unwrap();
        let blob = describe(&tensor, &[0]).unwrap();
        let of_blob: Vec<_> = BlobView::parse(&blob).unwrap().strides().unwrap().collect();
        assert_eq!(desc.strides[..strides.len()], strides);
        assert_eq!(of_blob, strides);
        assert!(tensor.strides().iter().zip(&strides).all(|(a, b)| *a as i64 == *b));
    }
    let batch = ImageDesc::new(PixelFormat::Rgba, 321, 4).with_memory(TensorMemory::Shm);
    let batch = TensorDyn::image_desc(&batch.with_row_stride(1344).with_batch(2)).unwrap();
    assert_eq!(batch.strides()[..], [5376, 1344, 4, 1]);
    assert_eq!(descriptor(&batch).unwrap().strides[..4], [5376, 1344, 4, 1]);
}

// D-04
#[test]
fn a_descriptor_has_one_handle_and_the_shape_of_the_allocation() {
    let two = descriptor(&two_memory_nv12());
    assert_eq!(two, Err(TransferError::SeveralMemories { memories: 2 }));
    let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
    let memories = [Memory::shm(460_800).unwrap(), Memory::heap(460_800).unwrap()];
    let [shm, heap] = memories.map(|memory| {
        descriptor(&TensorDyn::from_image(layout.clone(), [memory], CpuAccess::Read).unwrap())
    });
    let desc = shm.unwrap();
    assert_eq!((desc.shape[..2].to_vec(), desc.ndim), (vec![720, 640], 2));
    assert_eq!((desc.fourcc, desc.access()), (u32::from_le_bytes(*b"NV12"), CpuAccess::Read));
    assert!(desc.capacity >= 460_800 && desc.handle >= 0);
    let heap = heap.unwrap();
    assert!(heap.handle == -1 && !heap.ptr.is_null());
}

// S-PRT-02
#[test]
fn another_version_is_refused_before_anything_is_followed() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Grey, (64, 4), 64);
    let desc = descriptor(&tensor).unwrap();
    let memory = tensor.memories()[0].clone();
    let other = TensorDesc { version: 3, handle: -77, ndim: 99, ..desc };
    assert!(matches!(import_descriptor(&other, memory), Err(ImportError::Desc(_))));
}

// S-PRT-01, D-25
#[test]
fn a_forged_descriptor_is_followed_nowhere() {
    let tensor = image(TensorMemory::Mem, PixelFormat::Grey, (64, 4), 64);
    let forged = TensorDesc { ptr: ptr::without_provenance(16), ..descriptor(&tensor).unwrap() };
    let back = import_descriptor(&forged, tensor.memories()[0].clone()).unwrap();
    assert_eq!(flat(&back), flat(&tensor));
    let far = TensorDesc { shape: [1 << 40; 8], ..forged };
    assert!(import_descriptor(&far, tensor.memories()[0].clone()).is_err());
}

// S-IPC-06
#[test]
fn descriptor_and_blob_give_the_same_tensor() {
    for format in PixelFormat::ALL.iter().copied() {
        for kind in [TensorMemory::Shm, TensorMemory::Mem] {
            let desc = ImageDesc::new(format, 64, 36).with_memory(kind);
            let tensor = TensorDyn::image_desc(&desc).unwrap();
            fill(&tensor);
            let Ok(desc) = descriptor(&tensor) else {
                assert!(format.allocation_shape(64, 36).is_none(), "{format}");
                continue;
            };
            // SAFETY: the tensor is alive, and nobody writes it.
            let memory = unsafe { Memory::described(&desc) }.unwrap();
            let by_desc = import_descriptor(&desc, memory).unwrap();
            let by_reference = kind == TensorMemory::Shm;
            let mode = if by_reference { TransportMode::Reference } else { TransportMode::Inline };
            let by_blob = travel(&tensor, mode);
            assert_eq!(by_desc.image_layout(), by_blob.image_layout(), "{format}");
            assert_eq!(flat(&by_desc), flat(&tensor), "{format}");
            assert_eq!(by_desc.shape(), tensor.shape());
        }
    }
}

#[test]
fn a_batch_is_described_by_the_allocation_of_each_image() {
    for format in [PixelFormat::Rgba, PixelFormat::Nv12] {
        let desc = ImageDesc::new(format, 64, 36).with_memory(TensorMemory::Shm).with_batch(3);
        let batch = TensorDyn::image_desc(&desc).unwrap();
        let desc = descriptor(&batch).unwrap();
        let back = import_descriptor(&desc, batch.memories()[0].clone()).unwrap();
        assert_eq!(back.layout(), batch.layout());
    }
}

// S-CPU-07
#[test]
fn the_declaration_and_the_view_mark_come_back() {
    for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
        let desc = ImageDesc::new(PixelFormat::Rgba, 64, 36).with_memory(TensorMemory::Shm);
        let tensor = TensorDyn::image_desc(&desc.with_access(access)).unwrap();
        let view = tensor.view(Region::new(4, 2, 16, 8)).unwrap();
        let mut desc = descriptor(&view).unwrap();
        // It begins inside, so it is described by address alone.
        assert!(desc.handle == -1 && !desc.ptr.is_null());
        desc.restrict_cpu_access(CpuAccess::Read);
        // SAFETY: the tensor is alive, and nobody writes it.
        let memory = unsafe { Memory::described(&desc) }.unwrap();
        let back = import_descriptor(&desc, memory).unwrap();
        assert!(back.is_view());
        assert_eq!(back.access(), access.intersection(CpuAccess::Read));
        assert_eq!(back.image_layout().unwrap().planes()[0].stride, 256);
    }
}

#[test]
fn planes_elsewhere_need_a_blob() {
    let frame = image(TensorMemory::Shm, PixelFormat::Nv12, (64, 64), 128);
    let view = frame.view(Region::new(0, 0, 32, 16)).unwrap();
    assert_eq!(descriptor(&view), Err(TransferError::Placement));
}

#[test]
fn a_descriptor_of_nothing_is_refused() {
    let nothing = TensorDesc { capacity: 0, handle: -1, ptr: ptr::null(), ..TensorDesc::empty() };
    // SAFETY: there is neither a descriptor nor an address.
    let error = unsafe { Memory::described(&nothing) }.unwrap_err();
    assert!(error.to_string().contains("names no memory"), "{error}");
}
