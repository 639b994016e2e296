//! Elements of a Rust type, by rows and with strides of either sign.

use super::*;
use crate::layout::StridedLayout;

/// `[[0, 1, 2], [3, 4, 5]]` as numbers, with the layout that `change` makes of it.
fn counted(change: impl Fn(StridedLayout) -> StridedLayout) -> TensorDyn {
    let dense = StridedLayout::dense(&Shape::new(&[2, 3]).unwrap(), 2).unwrap();
    let memory = Memory::heap(12).unwrap();
    let make = |layout| {
        let layout = Layout::Strided(layout);
        TensorDyn::from_memories(layout, DType::I16, [memory.clone()], CpuAccess::ReadWrite)
    };
    let whole = make(dense.clone()).unwrap();
    let elements = whole.as_i16().unwrap();
    elements.elements(CpuAccess::Write).unwrap().copy_from_slice(&[0, 1, 2, 3, 4, 5]);
    make(change(dense)).unwrap()
}

fn rows(tensor: &TensorDyn) -> Vec<Vec<i16>> {
    let elements = tensor.as_i16().unwrap().elements(CpuAccess::Read).unwrap();
    elements.rows().map(<[i16]>::to_vec).collect()
}

#[test]
fn rows_are_the_elements_in_order_as_strides_lead() {
    assert_eq!(rows(&counted(|dense| dense)), [[0, 1, 2, 3, 4, 5]]);
    assert_eq!(rows(&counted(|dense| dense.narrow(1, 1..3).unwrap())), [[1, 2], [4, 5]]);
    assert_eq!(rows(&counted(|dense| dense.flip(0).unwrap())), [[3, 4, 5], [0, 1, 2]]);
    let transposed = counted(|dense| dense.transpose(0, 1).unwrap());
    assert_eq!(rows(&transposed).concat(), [0, 3, 1, 4, 2, 5]);
    let frame = coordinates(8, 4).view(Region::new(2, 1, 3, 2)).unwrap();
    let bytes = frame.as_u8().unwrap().elements(CpuAccess::Read).unwrap();
    let pixels: Vec<_> = bytes.rows().map(|row| (row.len(), row[0], row[1])).collect();
    assert_eq!(pixels, [(12, 2, 1), (12, 2, 2)]);
}

#[cfg(feature = "ndarray")]
#[test]
fn an_ndarray_view_follows_steps_of_either_sign() {
    let flipped = counted(|dense| dense.flip(1).unwrap().narrow(1, 0..2).unwrap());
    let typed = flipped.as_i16().unwrap();
    let elements = typed.elements(CpuAccess::Read).unwrap();
    assert_eq!(elements.view().unwrap(), ndarray::array![[2, 1], [5, 4]].into_dyn());
    drop(elements);
    let mut elements = typed.elements(CpuAccess::ReadWrite).unwrap();
    elements.view_mut().unwrap()[[1, 0]] = -7;
    drop(elements);
    assert_eq!(rows(&flipped).concat(), [2, 1, -7, 4]);
    assert!(typed.elements(CpuAccess::Read).unwrap().view_mut().is_none());
}

/// A repeated axis is read as often as it is long; written it would be written twice.
#[cfg(feature = "ndarray")]
#[test]
fn elements_that_share_bytes_are_viewed_for_reading_only() {
    let repeated = counted(|dense| {
        let strides = Strides::new(&[0, 2]).unwrap();
        StridedLayout::new(dense.shape().clone(), strides, 0, 2).unwrap()
    });
    let typed = repeated.as_i16().unwrap();
    let mut elements = typed.elements(CpuAccess::ReadWrite).unwrap();
    assert!(elements.view_mut().is_none());
    assert_eq!(elements.view().unwrap(), ndarray::array![[0, 1, 2], [0, 1, 2]].into_dyn());
}

// S-CPU-04, D-45: a write map of a view keeps the bytes that it shares cache lines with
#[test]
fn elements_of_a_view_are_read_and_written() {
    let desc = ImageDesc::new(PixelFormat::Grey, 8, 8).with_memory(TensorMemory::Shm);
    let frame = TensorDyn::image_desc(&desc.with_access(CpuAccess::Write)).unwrap();
    assert!(frame.as_u8().unwrap().elements(CpuAccess::Write).is_ok());
    let view = frame.view(Region::new(0, 0, 4, 4)).unwrap();
    let refused = view.as_u8().unwrap().elements(CpuAccess::Write).unwrap_err();
    assert!(matches!(
        refused,
        MapError::AccessDenied { declared: CpuAccess::Write, requested: CpuAccess::ReadWrite }
    ));
}
