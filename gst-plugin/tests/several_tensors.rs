//! Tensors that are no image, and several on one buffer.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::sync::Arc;

use common::*;
use gst::glib;
use gsttensor::{BufferTensorExt, FrameImport, TensorMeta, TensorMetaError};
use tensor_core::{
    Colorimetry, CpuAccess, DType, Extension, Layout, Memory, Quantization, Shape, TensorDyn,
    TensorMemory, layout::StridedLayout, transfer::StridedDescription,
};

fn dense(shape: &[usize], dtype: DType) -> StridedLayout {
    StridedLayout::dense(&Shape::new(shape).unwrap(), dtype.size_bytes()).unwrap()
}

/// A tensor in shared memory, every byte `value`.
fn shared(shape: &[usize], dtype: DType, value: u8) -> TensorDyn {
    let layout = dense(shape, dtype);
    let shm = Memory::shm(layout.required_len()).unwrap();
    shm.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(value);
    TensorDyn::from_memories(Layout::Strided(layout), dtype, [shm], CpuAccess::Read).unwrap()
}

fn import(tensor: TensorDyn, handle: i64) -> Arc<FrameImport> {
    let attach = |_: &_, blob: &Arc<[u8]>| glib::Bytes::from_owned(Arc::clone(blob));
    Arc::new(FrameImport::of_tensor(tensor, &[handle], attach).unwrap())
}

fn described(shape: &[usize], dtype: DType, kind: TensorMemory, handle: i64) -> glib::Bytes {
    let description = StridedDescription {
        layout: &dense(shape, dtype),
        dtype,
        kind,
        colorimetry: Colorimetry::default(),
        quantization: None,
        extension: Extension { name: "ids", ..Extension::default() },
    };
    glib::Bytes::from_owned(description.to_blob(handle).unwrap())
}

/// An image, a mask in the same kind of memory, and token ids in plain memory, as three inputs.
fn three_inputs() -> gst::Buffer {
    init();
    let image = shared(&[1, 3, 8, 8], DType::F32, 1).with_name("images");
    let mask = shared(&[1, 8, 8, 1], DType::I8, 2)
        .with_quantization(Quantization::new(vec![0.5], vec![3], None).unwrap())
        .unwrap();
    let ids = gst::Memory::from_mut_slice(vec![3_u8; 80]);
    let memories = [fd_memory(&image.memories()[0]), fd_memory(&mask.memories()[0]), ids];
    let mut buffer = buffer(memories);
    let writable = buffer.get_mut().unwrap();
    TensorMeta::add_at(writable, 0, &import(image, 0)).unwrap();
    TensorMeta::add_at(writable, 7, &import(mask, 1)).unwrap();
    let ids = described(&[1, 10], DType::I64, TensorMemory::Mem, 2);
    TensorMeta::add_blob(writable, 1, &ids).unwrap();
    buffer
}

fn check_three(buffer: &gst::Buffer) {
    let indices: Vec<_> = buffer.tensor_metas().map(|meta| meta.index()).collect();
    assert_eq!(indices, [0, 7, 1]);
    let at = |index| buffer.tensor_meta_at(index).unwrap().tensor(buffer).unwrap();
    let (image, mask, ids) = (at(0), at(7), at(1));
    assert_eq!((&**image.shape(), image.dtype()), (&[1, 3, 8, 8][..], DType::F32));
    assert_eq!((image.name(), ids.name()), (Some("images"), Some("ids")));
    assert_eq!((&**mask.shape(), mask.dtype()), (&[1, 8, 8, 1][..], DType::I8));
    assert_eq!(mask.quantization().unwrap().scales(), [0.5]);
    assert_eq!((&**ids.shape(), ids.memory()), (&[1, 10][..], TensorMemory::Mem));
    for (tensor, value) in [(image, 1), (mask, 2), (ids, 3)] {
        let map = tensor.map_read().unwrap();
        assert!(map.memory(0).unwrap().iter().all(|byte| *byte == value));
    }
    assert!(buffer.tensor_meta_at(2).is_none());
}

// S-GST-03
#[test]
fn a_buffer_holds_several_tensors_and_its_copies_do_too() {
    let buffer = three_inputs();
    check_three(&buffer);
    check_three(&buffer.copy());
    assert_eq!(buffer.copy_deep().unwrap().tensor_metas().count(), 0);
}

/// Across two copies of the bytes nothing is shared but the blob: what a receiver has.
#[test]
fn what_a_blob_says_is_read_without_the_import() {
    let sent = three_inputs();
    let mut received = gst::Buffer::new();
    let writable = received.get_mut().unwrap();
    (0..3).for_each(|index| writable.append_memory(sent.memory(index).unwrap()));
    for meta in sent.tensor_metas() {
        TensorMeta::add_blob(writable, meta.index(), &meta.blob_bytes()).unwrap();
    }
    check_three(&received);
}

#[test]
fn a_tensor_is_replaced_by_index() {
    let mut buffer = three_inputs();
    let writable = buffer.make_mut();
    let bytes = described(&[80], DType::U8, TensorMemory::Mem, 2);
    TensorMeta::add_blob(writable, 1, &bytes).unwrap();
    assert_eq!(buffer.tensor_metas().count(), 3);
    let tensor = buffer.tensor_meta_at(1).unwrap().tensor(&buffer).unwrap();
    assert_eq!(&**tensor.shape(), [80]);
}

/// A window of a plain memory: its bytes start behind the memory's own offset.
#[test]
fn a_tensor_behind_a_memorys_offset_is_found() {
    init();
    let mut bytes = vec![9_u8; 100];
    bytes[40..].fill(5);
    let mut memory = gst::Memory::from_mut_slice(bytes);
    memory.get_mut().unwrap().resize(32..);
    let mut buffer = buffer([memory]);
    let layout = StridedLayout::new(
        Shape::new(&[4]).unwrap(),
        tensor_core::Strides::new(&[4]).unwrap(),
        40,
        4,
    );
    let description = StridedDescription {
        layout: &layout.unwrap(),
        dtype: DType::F32,
        kind: TensorMemory::Mem,
        colorimetry: Colorimetry::default(),
        quantization: None,
        extension: Extension::default(),
    };
    let blob = glib::Bytes::from_owned(description.to_blob(0).unwrap());
    TensorMeta::add_blob(buffer.get_mut().unwrap(), 0, &blob).unwrap();
    let mut flat = vec![0; 16];
    tensor(&buffer).copy_to_flat(&mut flat).unwrap();
    assert_eq!(flat, [5; 16]);
}

#[test]
fn a_blob_that_is_not_true_of_the_buffer_is_refused() {
    init();
    let shm = Memory::shm(64).unwrap();
    let mut buffer = buffer([gst::Memory::with_size(64), fd_memory(&shm)]);
    let writable = buffer.get_mut().unwrap();
    let mut add = |blob: glib::Bytes| TensorMeta::add_blob(writable, 0, &blob).unwrap_err();
    assert!(matches!(
        add(described(&[64], DType::U8, TensorMemory::Mem, 2)),
        TensorMetaError::MemoryIndex { plane: 0, handle: 2, memories: 2 }
    ));
    assert!(matches!(
        add(described(&[65], DType::U8, TensorMemory::Mem, 0)),
        TensorMetaError::Bounds { handle: 0, start: 0, end: 65, from: 0, to: 64 }
    ));
    for (kind, handle) in [(TensorMemory::Shm, 0), (TensorMemory::Mem, 1)] {
        let error = add(described(&[64], DType::U8, kind, handle));
        assert!(matches!(error, TensorMetaError::Kind { .. }), "{error}");
    }
    assert!(matches!(add(glib::Bytes::from_static(b"no blob")), TensorMetaError::Blob(_)));
    assert_eq!(buffer.tensor_metas().count(), 0);
}
