//! What is asked of a layout for every frame allocates nothing.

#![allow(clippy::unwrap_used, reason = "what goes wrong here fails a test")]

mod counting;

use std::cell::RefCell;

use counting::allocations;
use tensor_core::{
    DType, ImageDesc, ImageLayout, PixelFormat, PlanePlacement, Region, Shape, StrideAlign,
    TensorDyn, TensorMemory,
    layout::{BatchLayout, Carrier, RowAlign, StridedLayout, c_byte_strides, default_align},
};

#[test]
fn questions_about_images_allocate_nothing() {
    let region = Region::new(2, 2, 4, 4);
    for format in PixelFormat::ALL.iter().copied() {
        let layout = ImageLayout::packed(format, 64, 36, StrideAlign::DMA).unwrap();
        let planes = layout.planes();
        let batch = BatchLayout::stacked(layout.clone(), 4).unwrap();
        let rows = RowAlign::new(16).unwrap();
        let made = [
            allocations(|| ImageLayout::packed(format, 1920, 1080, StrideAlign::DMA)),
            allocations(|| ImageLayout::packed_with(format, 64, 36, StrideAlign::DMA, rows)),
            allocations(|| ImageLayout::from_planes(format, 64, 36, planes)),
            allocations(|| ImageLayout::with_row_stride(format, 64, 36, 1024)),
            allocations(|| ImageLayout::reconfigured(format, 64, 36, 1024, 1 << 24)),
            allocations(|| layout.clone()),
        ];
        assert_eq!(made, [0; 6], "{format}");
        let asked = [
            allocations(|| layout.view(region).and_then(|view| view.view(Region::whole(2, 2)))),
            allocations(|| (layout.shape(), layout.strides(), layout.dense_strides())),
            allocations(|| (layout.required_len(0), layout.allocation_len(0), layout.plane_len(0))),
            allocations(|| layout.planes().iter().copied().map(|p: PlanePlacement| p.offset).max()),
            allocations(|| (batch.batch(3), batch.shape(), batch.strides(), batch.required_len())),
            allocations(|| format.plane_table(64, 36, 1024)),
            allocations(|| (format.row_stride_for_dma(64), format.combined_plane_height(36))),
            allocations(|| {
                (format.allocation_shape(64, 36), format.image_height_from_combined(54))
            }),
            allocations(|| Carrier::of(format, DType::F16, 64, 36)),
            allocations(|| default_align(TensorMemory::DmaBuf, format)),
        ];
        assert_eq!(asked, [0; 10], "{format}");
    }
}

#[test]
fn questions_about_tensors_of_the_highest_rank_allocate_nothing() {
    let shape = Shape::new(&[2; 8]).unwrap();
    let dense = StridedLayout::dense(&shape, 4).unwrap();
    let asked = [
        allocations(|| c_byte_strides(&shape, 4, 0, Some(4096))),
        allocations(|| StridedLayout::dense(&shape, 4)),
        allocations(|| (dense.bounds(), dense.is_dense(), dense.may_overlap_itself())),
        allocations(|| dense.offset_of(&[1; 8])),
        allocations(|| dense.flip(7).and_then(|flipped| flipped.transpose(0, 7))),
        allocations(|| dense.narrow(3, 1..2).and_then(|part| part.select(3, 0))),
        allocations(|| dense.flip(7).map(|flipped| flipped.rows().max())),
    ];
    assert_eq!(asked, [0; 7]);
}

// S-VIEW-01
#[test]
fn parts_maps_and_copies_of_tensors_allocate_nothing() {
    let heap = |desc: ImageDesc| TensorDyn::image_desc(&desc.with_memory(TensorMemory::Mem));
    for format in PixelFormat::ALL.iter().copied() {
        let image = heap(ImageDesc::new(format, 64, 36)).unwrap().with_name("frame");
        let batch = heap(ImageDesc::new(format, 64, 36).with_batch(3)).unwrap();
        let view = image.view(Region::new(4, 4, 32, 16)).unwrap();
        let (flat, all) = (vec![0; view.flat_len()], vec![0; batch.flat_len()]);
        let made = [
            allocations(|| image.view(Region::new(4, 4, 32, 16))),
            allocations(|| batch.batch(2)),
            allocations(|| (image.clone(), view.name(), view.strides(), view.aliases(&image))),
            allocations(|| view.map_read().map(|map| map.planes().flat_map(|p| p.rows()).count())),
            allocations(|| view.copy_from_flat(&flat)),
            allocations(|| batch.copy_from_flat(&all)),
        ];
        assert_eq!(made, [0; 6], "{format}");
        let (flat, all) = (RefCell::new(flat), RefCell::new(all));
        assert_eq!(allocations(|| view.copy_to_flat(&mut flat.borrow_mut())), 0, "{format}");
        assert_eq!(allocations(|| batch.copy_to_flat(&mut all.borrow_mut())), 0, "{format}");
    }
}

#[test]
fn refusals_of_regions_allocate_nothing() {
    let nv12 = ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA).unwrap();
    assert_eq!(allocations(|| nv12.view(Region::whole(65, 36)).is_err()), 0);
    assert_eq!(allocations(|| nv12.view(Region::new(1, 0, 2, 2)).is_err()), 0);
}
