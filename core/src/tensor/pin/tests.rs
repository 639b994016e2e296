//! What of a tensor a pin holds.

use super::*;
use crate::{
    dtype::DType,
    format::PixelFormat,
    layout::{ImageLayout, PlanePlacement},
    memory::{AllocPolicy, Memory},
    memory_kind::TensorMemory,
    shape::{Region, Shape},
    tensor::ImageDesc,
    transfer::{descriptor, descriptor_pinned},
};

fn image(kind: TensorMemory, format: PixelFormat, width: usize, height: usize) -> TensorDyn {
    TensorDyn::image_desc(&ImageDesc::new(format, width, height).with_memory(kind)).unwrap()
}

fn pin(tensor: &TensorDyn) -> HostPin {
    tensor.pin_host(CpuAccess::Read).unwrap()
}

// S-PIN-01
#[test]
fn a_pin_has_the_bytes_of_the_tensor_and_not_of_its_memory() {
    let policy = AllocPolicy::only(TensorMemory::Mem).unwrap();
    for dtype in DType::ALL.iter().copied() {
        let shape = Shape::new(&[3, 5]).unwrap();
        let tensor = TensorDyn::new(&shape, dtype, &policy, CpuAccess::ReadWrite).unwrap();
        let (all, row) = (pin(&tensor), pin(&tensor.batch(1).unwrap()));
        let bytes = dtype.size_bytes();
        assert_eq!((all.len(), row.len()), (15 * bytes, 5 * bytes));
        assert!(row.as_ptr().addr().get().is_multiple_of(bytes));
    }
    // A buffer of a pool, used for a smaller frame.
    let pooled = image(TensorMemory::Shm, PixelFormat::Rgba, 640, 480);
    let frame = pooled.configure_image(PixelFormat::Rgba, 320, 240).unwrap();
    let last = frame.image_layout().unwrap().required_len(0);
    assert_eq!(pin(&frame).len(), last);
    assert!(last < pooled.memories()[0].len());
}

// S-PIN-01, D-01: with the padding between the rows, so that every plane is in it
#[test]
fn a_pin_holds_every_plane_of_a_padded_image() {
    for kind in [TensorMemory::Mem, TensorMemory::Shm] {
        let padded = image(kind, PixelFormat::Nv12, 100, 100);
        let (held, layout) = (pin(&padded), padded.image_layout().unwrap());
        for (plane, place) in layout.planes().iter().enumerate() {
            assert!(place.offset + layout.plane_len(plane) <= held.len(), "{kind} {plane}");
        }
    }
}

// S-PIN-01, S-VIEW-11, D-26: no offset leads a pin out of its memory
#[test]
fn an_offset_past_the_memory_makes_no_tensor_to_pin() {
    let place = |offset| [PlanePlacement { memory: 0, offset, stride: 64 }];
    for offset in [4096 - 64 * 3, 4096, 1 << 40] {
        let layout = ImageLayout::from_planes(PixelFormat::Grey, 64, 4, &place(offset)).unwrap();
        let memory = Memory::heap(4096).unwrap();
        assert!(TensorDyn::from_image(layout, [memory], CpuAccess::Read).is_err(), "{offset}");
    }
    let layout = ImageLayout::from_planes(PixelFormat::Grey, 64, 4, &place(4096 - 256)).unwrap();
    let last = TensorDyn::from_image(layout, [Memory::heap(4096).unwrap()], CpuAccess::Read);
    assert_eq!(pin(&last.unwrap()).len(), 256);
}

// S-PIN-01, S-CPU-04: a part shares cache lines with what is around it
#[test]
fn the_pin_of_a_view_is_never_for_writing_alone() {
    let whole = image(TensorMemory::Mem, PixelFormat::Rgba, 64, 64);
    let part = whole.view(Region::new(8, 8, 16, 16)).unwrap();
    assert_eq!(whole.pin_host(CpuAccess::Write).unwrap().access(), CpuAccess::Write);
    assert_eq!(part.pin_host(CpuAccess::Write).unwrap().access(), CpuAccess::ReadWrite);
    let write_only = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_memory(TensorMemory::Mem);
    let write_only = TensorDyn::image_desc(&write_only.with_access(CpuAccess::Write)).unwrap();
    let part = write_only.view(Region::new(8, 8, 16, 16)).unwrap();
    assert!(matches!(part.pin_host(CpuAccess::Write), Err(MapError::AccessDenied { .. })));
    assert!(matches!(write_only.pin_host(CpuAccess::Read), Err(MapError::AccessDenied { .. })));
}

#[test]
fn a_tensor_in_two_memories_is_pinned_memory_by_memory() {
    let places = [0, 1].map(|memory| PlanePlacement { memory, offset: 0, stride: 64 });
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 4, &places).unwrap();
    let memories = [Memory::heap(256).unwrap(), Memory::heap(128).unwrap()];
    let two = TensorDyn::from_image(layout, memories, CpuAccess::Read).unwrap();
    assert!(matches!(two.pin_host(CpuAccess::Read), Err(MapError::NotElements)));
    assert!(two.memories().iter().all(|memory| memory.pin_host(CpuAccess::Read).is_ok()));
}

// S-PIN-02
#[test]
fn a_pinned_descriptor_differs_in_the_pin_alone() {
    let mut tensors = vec![
        image(TensorMemory::Mem, PixelFormat::Nv12, 100, 100),
        image(TensorMemory::Shm, PixelFormat::Rgba, 321, 4),
    ];
    let dma = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_memory(TensorMemory::DmaBuf);
    match TensorDyn::image_desc(&dma) {
        Ok(tensor) => tensors.push(tensor),
        Err(error) => println!("skipped: {error}"),
    }
    for tensor in tensors {
        let plain = descriptor(&tensor).unwrap();
        let (pinned, pin) = descriptor_pinned(&tensor).unwrap();
        assert_eq!(pinned.ptr, pin.as_ptr().as_ptr().cast_const());
        let is_pin_alone = crate::desc::TensorDesc { ptr: plain.ptr, ..pinned } == plain;
        assert!(is_pin_alone, "{plain:?} {pinned:?}");
        assert_eq!(plain.ptr.is_null(), tensor.memory() == TensorMemory::DmaBuf);
    }
}
