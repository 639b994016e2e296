//! Images whose planes lie in memories of their own, told and found again.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use tensor_core::{
    BlobView, CpuAccess, ImageLayout, Memory, PixelFormat, PlanePlacement, StrideAlign, TensorDyn,
    transfer::{ReferencedImage, describe},
};

// S-MP-06, D-02, D-03, D-04
#[test]
fn a_blob_finds_every_plane_of_every_format_in_its_own_memory() {
    for format in PixelFormat::ALL.iter().copied() {
        let packed = ImageLayout::packed(format, 34, 18, StrideAlign::DMA).unwrap();
        let apart = |(plane, place): (usize, &PlanePlacement)| PlanePlacement {
            memory: plane,
            offset: [0, 128, 64, 192][plane],
            stride: place.stride,
        };
        let planes: Vec<_> = packed.planes().iter().enumerate().map(apart).collect();
        let layout = ImageLayout::from_planes(format, 34, 18, &planes).unwrap();
        let memory = |n| Memory::shm(layout.allocation_len(n)).unwrap();
        let memories: Vec<_> = (0..planes.len()).map(memory).collect();
        let frame = TensorDyn::from_image(layout.clone(), memories, CpuAccess::ReadWrite).unwrap();
        let handles = &[10, 11, 12, 13][..planes.len()];
        let blob = describe(&frame, handles).unwrap();
        let found = ReferencedImage::of(&BlobView::parse(&blob).unwrap()).unwrap();
        assert_eq!(found.layout, layout);
        assert_eq!(&found.handles[..], handles);
    }
}
