//! Blobs that say where the bytes are.

use std::{
    fs,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
};

use super::*;
use crate::tensor::PlaneDescriptor;

/// Descriptors of this process that are open.
fn open_fds() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

// S-MODE-02, S-OWN-01, D-05
#[test]
fn shared_memory_is_lent_and_seen_by_both() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Rgba, (64, 36), 256);
    let (blob, fds) = export(&tensor, TransportMode::Reference).unwrap();
    let own = tensor.memories()[0].fd().unwrap();
    assert_eq!(fds.iter().map(AsRawFd::as_raw_fd).collect::<Vec<_>>(), [own.as_raw_fd()]);
    let back = import(&blob, &fds).unwrap();
    assert_same(&tensor, &back);
    assert_eq!(tensor.image_layout(), back.image_layout());
    tensor.map_write().unwrap().plane_mut(0).unwrap()[9] = 99;
    assert_eq!(back.map_read().unwrap().plane(0).unwrap().row(0).unwrap()[9], 99);
    assert_eq!(BlobView::parse(&blob).unwrap().pid(), std::process::id());
}

// S-MODE-01
#[test]
fn memory_without_a_descriptor_is_refused() {
    let tensor = image(TensorMemory::Mem, PixelFormat::Rgba, (4, 4), 16);
    let error = export(&tensor, TransportMode::Reference).unwrap_err();
    let expected = TransferError::NoHandle { kind: TensorMemory::Mem };
    assert!(matches!(&error, ExportError::Transfer(e) if *e == expected), "{error}");
}

// S-MODE-03, S-MODE-04, D-03, D-06
#[test]
fn each_memory_is_lent_once_and_each_plane_stays_in_its_own() {
    let two = two_memory_nv12();
    let (blob, fds) = export(&two, TransportMode::Reference).unwrap();
    let handles: Vec<_> = BlobView::parse(&blob).unwrap().planes().map(|p| p.handle).collect();
    assert_eq!((handles, fds.len()), (vec![0, 1], 2));
    let back = import(&blob, &fds).unwrap();
    assert_eq!(back.image_layout(), two.image_layout());
    for (memory, byte) in two.memories().iter().zip([11, 22]) {
        memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(byte);
    }
    let map = back.map_read().unwrap();
    assert_eq!(map.plane(0).unwrap().row(0).unwrap()[0], 11);
    assert_eq!(map.plane(1).unwrap().row(17).unwrap()[63], 22);

    let one = image(TensorMemory::Shm, PixelFormat::Nv12, (64, 36), 64);
    let (blob, fds) = export(&one, TransportMode::Reference).unwrap();
    let handles: Vec<_> = BlobView::parse(&blob).unwrap().planes().map(|p| p.handle).collect();
    assert_eq!((handles, fds.len()), (vec![0, 0], 1));
}

// S-MODE-05, D-07
#[test]
fn chroma_below_padded_luma_rows_is_found() {
    let planes = [
        PlanePlacement { memory: 0, offset: 0, stride: 64 },
        PlanePlacement { memory: 0, offset: 64 * 64, stride: 64 },
    ];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 60, &planes).unwrap();
    let memory = Memory::shm(64 * 96).unwrap();
    memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap()[64 * 64] = 0x99;
    let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap();
    let back = travel(&tensor, TransportMode::Reference);
    assert_eq!(back.map_read().unwrap().plane(1).unwrap().row(0).unwrap()[0], 0x99);
}

// S-OWN-02, S-OWN-03
#[test]
fn an_import_is_independent_and_closes_what_it_opened() {
    let before = open_fds();
    for _ in 0..1000 {
        let tensor = two_memory_nv12();
        tensor.memories()[1].map(CpuAccess::Write).unwrap().as_mut_slice().unwrap()[0] = 5;
        let (blob, fds) = export(&tensor, TransportMode::Reference).unwrap();
        let back = import(&blob, &fds).unwrap();
        drop(fds);
        drop(tensor);
        assert_eq!(back.map_read().unwrap().plane(1).unwrap().row(0).unwrap()[0], 5);
    }
    assert_eq!(open_fds(), before);
}

// S-OWN-04, D-25
#[test]
fn a_handle_beyond_the_table_is_an_error() {
    let tensor = two_memory_nv12();
    let (blob, fds) = export(&tensor, TransportMode::Reference).unwrap();
    let before = open_fds();
    for given in 0..2 {
        let error = import(&blob, &fds[..given]).unwrap_err();
        let fine = matches!(error, ImportError::Handle { handle, fds } if fds == given && handle == given as i64);
        assert!(fine, "{error}");
    }
    assert_eq!(open_fds(), before);
    // What the blob does not name stays the caller's.
    let more: Vec<BorrowedFd<'_>> = fds.iter().chain(fds.iter()).copied().collect();
    import(&blob, &more).unwrap();
    assert_eq!(open_fds(), before);
}

// S-MODE-15, D-10
#[test]
fn a_memfd_is_no_dma_buf() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Rgba, (4, 4), 16);
    let (mut blob, fds) = export(&tensor, TransportMode::Reference).unwrap();
    blob[24..28].copy_from_slice(&TensorMemory::DmaBuf.code().to_le_bytes());
    let error = import(&blob, &fds).unwrap_err();
    let (said, found) = (TensorMemory::DmaBuf, TensorMemory::Shm);
    assert!(
        matches!(error, ImportError::Kind { handle: 0, said: s, found: f } if (s, f) == (said, found))
    );
}

// S-PARSE-07, D-11
#[test]
fn a_plane_past_the_real_end_of_its_file_is_refused() {
    let small = Memory::shm(4096).unwrap();
    let tensor = image(TensorMemory::Shm, PixelFormat::Rgba, (64, 36), 256);
    let (blob, _) = export(&tensor, TransportMode::Reference).unwrap();
    let error = import(&blob, &[small.fd().unwrap()]).unwrap_err();
    assert!(matches!(error, ImportError::PlaneEnd { plane: 0, end: 9216, have: 4096 }), "{error}");
}

// S-MODE-14, D-09
#[test]
fn what_should_be_a_fence_must_be_one() {
    let tensor = image(TensorMemory::Shm, PixelFormat::Rgba, (4, 4), 16);
    let (mut blob, mut fds) = export(&tensor, TransportMode::Reference).unwrap();
    blob[32..36].copy_from_slice(&1_i32.to_le_bytes());
    assert!(matches!(import(&blob, &fds), Err(ImportError::Fenced { handle: 1 })));
    let error = import_with_fence(&blob, &fds).unwrap_err();
    assert!(matches!(error, ImportError::Handle { handle: 1, fds: 1 }), "{error}");
    let before = open_fds();
    fds.push(tensor.memories()[0].fd().unwrap());
    let error = import_with_fence(&blob, &fds).unwrap_err();
    assert!(matches!(error, ImportError::Fence(_)), "{error}");
    assert_eq!(open_fds(), before);
}

// S-BLOB-17, D-22
#[test]
fn a_plain_tensor_keeps_its_strides_and_offset() {
    let layout = crate::layout::StridedLayout::new(
        Shape::new(&[2, 4]).unwrap(),
        crate::shape::Strides::new(&[8, 1]).unwrap(),
        100,
        1,
    );
    let layout = crate::tensor::Layout::Strided(layout.unwrap());
    let memory = Memory::shm(4096).unwrap();
    fill(&raw(&[4096], DType::U8, memory.clone()));
    let tensor = TensorDyn::from_memories(layout, DType::U8, [memory], CpuAccess::Read).unwrap();
    let back = travel(&tensor, TransportMode::Reference);
    assert_same(&tensor, &back);
    assert_eq!((back.layout(), flat(&back)), (tensor.layout(), flat(&tensor)));
    assert_eq!(back.strides().unwrap()[..], [8, 1]);
}

#[test]
fn a_view_is_found_again_and_said_to_be_one() {
    let frame = image(TensorMemory::Shm, PixelFormat::Nv12, (64, 64), 128);
    fill(&frame);
    let view = frame.view(Region::new(16, 8, 32, 16)).unwrap();
    let back = travel(&view, TransportMode::Reference);
    assert_same(&view, &back);
    assert_eq!(flat(&view), flat(&back));
    assert!(back.is_view());
}

// S-BLOB-06
#[test]
fn dense_stays_dense_and_explicit_strides_stay_explicit() {
    let frame = image(TensorMemory::Shm, PixelFormat::Rgba, (64, 4), 256);
    let (blob, fds) = export(&frame, TransportMode::Reference).unwrap();
    assert!(BlobView::parse(&blob).unwrap().strides().is_none());
    let again = export(&import(&blob, &fds).unwrap(), TransportMode::Reference).unwrap().0;
    assert_eq!(blob, again);
}

#[test]
fn planes_of_one_file_under_two_descriptors_are_read() {
    let memory = Memory::shm(64 * 54).unwrap();
    let fd = memory.fd().unwrap();
    let planes = [
        PlaneDescriptor::new(fd.as_fd(), 0, 64).unwrap(),
        PlaneDescriptor::new(fd.as_fd(), 64 * 36, 64).unwrap(),
    ];
    let frame = TensorDyn::from_planes(PixelFormat::Nv12, 64, 36, &planes, CpuAccess::ReadWrite);
    let frame = frame.unwrap();
    fill(&raw(&[64 * 54], DType::U8, memory.clone()));
    let back = travel(&frame, TransportMode::Reference);
    assert_eq!(flat(&back), flat(&frame));
}

/// What models take and bitstreams are: no image, by reference and back.
// S-GEO-17
#[test]
fn tensors_that_are_no_image_are_seen_by_both() {
    for (shape, dtype) in [
        (&[5000][..], DType::U8),
        (&[1, 16, 16, 3], DType::U8),
        (&[1, 16, 16, 3], DType::I8),
        (&[1, 3, 16, 16], DType::F16),
        (&[2, 3, 16, 16], DType::F32),
        (&[1, 1, 2, 3, 4, 5, 6, 7], DType::I64),
    ] {
        let shm = Memory::shm(1 << 16).unwrap();
        let tensor = raw(shape, dtype, shm).with_name("images");
        fill(&tensor);
        let back = travel(&tensor, TransportMode::Reference);
        assert_same(&tensor, &back);
        assert_eq!((tensor.layout(), flat(&tensor)), (back.layout(), flat(&back)));
        tensor.map_write().unwrap().memory_mut(0).unwrap()[0] = 0xAB;
        assert_eq!(back.map_read().unwrap().memory(0).unwrap()[0], 0xAB);
        assert_same(&tensor, &travel(&tensor, TransportMode::Inline));
    }
}

#[test]
fn a_described_tensor_names_the_bytes_it_takes_of_each_memory() {
    let two = describe(&two_memory_nv12(), &[4, 9]).unwrap();
    let found = Referenced::of(&BlobView::parse(&two).unwrap()).unwrap();
    let parts: Vec<_> = found.parts().collect();
    assert_eq!(parts, [(4, 128..128 + 96 * 35 + 64), (9, 0..128 * 17 + 64)]);
    let seen = found.seen_from(&[128, 0]).unwrap();
    assert_eq!(seen.parts().next(), Some((4, 0..96 * 35 + 64)));

    let flipped = crate::layout::StridedLayout::dense(&Shape::new(&[4, 2]).unwrap(), 2).unwrap();
    let flipped = flipped.flip(0).unwrap();
    let description = StridedDescription {
        layout: &flipped,
        dtype: DType::F16,
        kind: TensorMemory::Shm,
        colorimetry: Colorimetry::default(),
        quantization: None,
        extension: Extension::default(),
    };
    let blob = description.to_blob(3).unwrap();
    let found = Referenced::of(&BlobView::parse(&blob).unwrap()).unwrap();
    assert_eq!(found.parts().collect::<Vec<_>>(), [(3, 0..16)]);
    assert!(matches!(found.seen_from(&[8]), Err(ImportError::Strided(_))));
}
