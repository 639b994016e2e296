use super::*;
use crate::{layout::PlanePlacement, layout::StrideAlign};

fn place(memory: usize, offset: usize, stride: usize) -> PlanePlacement {
    PlanePlacement { memory, offset, stride }
}

fn shm(len: usize) -> Memory {
    Memory::shm(len).unwrap()
}

/// Every row of every plane holds a value of its own, padding holds 0xEE.
fn fill(tensor: &TensorDyn) {
    let layout = tensor.image().clone();
    let mut map = tensor.map_mut().unwrap();
    for plane in 0..layout.planes().len() {
        let (stride, row_bytes) = (layout.planes()[plane].stride, layout.row_bytes(plane));
        for (y, row) in map.plane_mut(plane).unwrap().chunks_mut(stride).enumerate() {
            row.fill(0xEE);
            row[..row_bytes].fill(u8::try_from(plane * 100 + y % 100).unwrap());
        }
    }
}

// G01, S-MP-01
#[test]
fn rows_of_every_plane_are_read_without_their_padding() {
    let one = [place(0, 0, 96), place(0, 3456, 128)];
    let two = [place(0, 128, 96), place(1, 0, 128)];
    for (planes, lens) in [(one, vec![3456 + 18 * 128]), (two, vec![128 + 36 * 96, 18 * 128])] {
        let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
        let tensor =
            TensorDyn::from_image(layout, lens.into_iter().map(shm), CpuAccess::ReadWrite).unwrap();
        fill(&tensor);
        let map = tensor.map_read().unwrap();
        for (plane, rows) in [(0, 36), (1, 18)] {
            let mapped = map.plane(plane).unwrap();
            assert_eq!(mapped.rows().count(), rows);
            for (y, row) in mapped.rows().enumerate() {
                assert_eq!(row, [u8::try_from(plane * 100 + y).unwrap(); 64]);
                assert_eq!(mapped.row(y), Some(row));
            }
            assert_eq!(mapped.row(rows), None);
        }
        assert!(map.plane(2).is_none());
    }
}

// S-CLS-08, D-11
#[test]
fn a_plane_past_the_real_end_of_its_memory_is_refused_with_both_numbers() {
    let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
    let error = TensorDyn::from_image(layout, [shm(460_799)], CpuAccess::Read).unwrap_err();
    assert_eq!(error, TensorError::TooSmall { plane: 1, memory: 0, need: 460_800, have: 460_799 });
}

#[test]
fn memories_must_be_as_many_as_named_and_of_one_kind() {
    let planes = [place(0, 0, 64), place(1, 0, 64)];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let make = |memories: Vec<Memory>| {
        TensorDyn::from_image(layout.clone(), memories, CpuAccess::Read).unwrap_err()
    };
    assert_eq!(make(vec![shm(4096)]), TensorError::MemoryCount { expected: 2, given: 1 });
    assert_eq!(make(vec![shm(4096); 5]), TensorError::MemoryCount { expected: 2, given: 5 });
    assert_eq!(
        make(vec![shm(4096), Memory::heap(4096).unwrap()]),
        TensorError::MixedKinds { first: TensorMemory::Shm, other: TensorMemory::Mem }
    );
}

// S-CPU-02, S-CPU-07
#[test]
fn the_declaration_is_narrowed_and_kept() {
    let layout = ImageLayout::packed(PixelFormat::Grey, 8, 8, StrideAlign::NONE).unwrap();
    let memory = shm(64);
    let tensor = TensorDyn::from_image(layout.clone(), [memory.clone()], CpuAccess::Read).unwrap();
    assert!(matches!(tensor.map_mut(), Err(MapError::AccessDenied { .. })));
    let lent = Memory::import(memory.fd().unwrap(), CpuAccess::Read).unwrap();
    let alias = TensorDyn::from_image(layout, [lent], CpuAccess::ReadWrite).unwrap();
    assert_eq!(alias.access(), CpuAccess::Read);
}

// S-DISP-04, D-24
#[test]
fn one_tensor_cannot_be_mapped_twice_for_writing() {
    let layout = ImageLayout::packed(PixelFormat::Grey, 8, 8, StrideAlign::NONE).unwrap();
    let tensor = TensorDyn::from_image(layout, [shm(64)], CpuAccess::ReadWrite).unwrap();
    let clone = tensor.clone();
    let first = tensor.map_mut().unwrap();
    assert!(matches!(clone.map_mut(), Err(MapError::Busy { writer: true })));
    drop(first);
    assert!(clone.map_mut().is_ok());
    assert_eq!(clone.identity().id(), tensor.identity().id());
}

const fn assert_send_sync<T: Send + Sync>() {}
const _: () = assert_send_sync::<TensorDyn>();
const _: () = assert_send_sync::<TensorMap<'_>>();
