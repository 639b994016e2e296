//! The meta put on by hand, and its way to bytes and back.

use std::{ffi::c_int, ptr};

use gst::ffi;
use tensor_core::{
    Colorimetry, CpuAccess, ImageLayout, Memory, PixelFormat, StrideAlign, import_cache::Frame,
};

use super::*;
use crate::allocator::wrap;

fn layout() -> ImageLayout {
    ImageLayout::packed(PixelFormat::Rgb, 64, 36, StrideAlign::DMA).unwrap()
}

fn import(shm: &Memory, handle: i64) -> Arc<FrameImport> {
    let frame = Frame {
        layout: &layout(),
        colorimetry: Colorimetry::default(),
        quantization: None,
        access: CpuAccess::Read,
        fds: &[shm.fd().unwrap()],
        handles: &[handle],
    };
    Arc::new(FrameImport::new(&frame, memo::share).unwrap())
}

/// Shared memory, and a buffer over it.
fn frame() -> (Memory, gst::Buffer) {
    gst::init().unwrap();
    let shm = Memory::shm(layout().allocation_len(0)).unwrap();
    let memory = wrap(&shm, shm.len()).unwrap();
    let mut buffer = gst::Buffer::new();
    buffer.make_mut().append_memory(memory);
    (shm, buffer)
}

#[test]
fn a_meta_is_replaced_not_doubled_and_lets_go_of_the_old_import() {
    let (shm, mut buffer) = frame();
    let (first, second) = (import(&shm, 0), import(&shm, 0));
    TensorMeta::add(buffer.make_mut(), &first).unwrap();
    assert_eq!(Arc::strong_count(&first), 2);
    TensorMeta::add(buffer.make_mut(), &second).unwrap();
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2));
    assert_eq!(buffer.iter_meta::<TensorMeta>().count(), 1);

    let copy = buffer.copy();
    assert_eq!(Arc::strong_count(&second), 3);
    let found = copy.tensor_meta().unwrap().import().unwrap();
    assert!(Arc::ptr_eq(&found, &second));
    drop((found, buffer, copy));
    assert_eq!(Arc::strong_count(&second), 1);
}

#[test]
fn the_blob_is_handed_out_without_a_copy() {
    let (shm, mut buffer) = frame();
    let import = import(&shm, 0);
    TensorMeta::add(buffer.make_mut(), &import).unwrap();
    let bytes = buffer.tensor_meta().unwrap().blob_bytes();
    assert_eq!(bytes[..].as_ptr(), import.blob.as_ptr());
}

#[test]
fn a_memory_the_buffer_does_not_have_is_refused() {
    let (shm, mut buffer) = frame();
    let error = TensorMeta::add(buffer.make_mut(), &import(&shm, 1)).unwrap_err();
    let refused = TensorMetaError::MemoryIndex { plane: 0, handle: 1, memories: 1 };
    assert_eq!(error.to_string(), refused.to_string());
    assert!(buffer.tensor_meta().is_none());
}

/// A writer as `gst_meta_serialize` has it. It never says its own length.
#[repr(C)]
struct Writer {
    interface: ffi::GstByteArrayInterface,
    bytes: Vec<u8>,
}

unsafe extern "C" fn resize(writer: *mut ffi::GstByteArrayInterface, len: usize) -> c_int {
    // SAFETY: only called with the interface at the front of a `Writer`.
    let writer = unsafe { &mut *writer.cast::<Writer>() };
    writer.bytes.resize(len, 0);
    writer.interface.data = writer.bytes.as_mut_ptr();
    1
}

fn serialized(buffer: &gst::BufferRef) -> Vec<u8> {
    let mut writer = Writer {
        interface: ffi::GstByteArrayInterface {
            data: ptr::null_mut(),
            len: 3,
            resize: Some(resize),
            _gst_reserved: [ptr::null_mut(); 4],
        },
        bytes: vec![1, 2, 3],
    };
    let meta = buffer.tensor_meta().unwrap();
    let mut version = 0;
    let writer_ptr = (&raw mut writer).cast();
    // SAFETY: the meta is one of ours and alive, the writer and the version are ours alone.
    let done = unsafe { imp::serialize(meta.upcast_ref().as_ptr(), writer_ptr, &raw mut version) };
    assert_ne!(done, 0);
    assert_eq!((version, writer.interface.len), (1, writer.bytes.len()));
    writer.bytes.split_off(3)
}

fn deserialized(buffer: &mut gst::BufferRef, data: &[u8], version: u8) -> bool {
    let (info, at, len) = (registration::info().unwrap(), data.as_ptr(), data.len());
    // SAFETY: the registration is ours, the buffer is writable and the bytes are there.
    let meta = unsafe { imp::deserialize(info, buffer.as_mut_ptr(), at, len, version) };
    !meta.is_null()
}

#[test]
fn the_serialized_form_is_the_blob_and_comes_back_without_memories() {
    let (shm, mut sent) = frame();
    TensorMeta::add(sent.make_mut(), &import(&shm, 0)).unwrap();
    let bytes = serialized(&sent);
    assert_eq!(bytes[..8], [0; 8]);
    assert_eq!(bytes[8..], sent.tensor_meta().unwrap().blob_bytes());

    let mut received = gst::Buffer::new();
    assert!(deserialized(received.make_mut(), &bytes, 1));
    let meta = received.tensor_meta().unwrap();
    assert_eq!((meta.index(), meta.blob_bytes()), (0, sent.tensor_meta().unwrap().blob_bytes()));
    assert!(meta.import().is_none() && meta.serials().is_none());
    assert!(matches!(
        meta.tensor(&received),
        Err(FrameTensorError::MemoryIndex { index: 0, memories: 0 })
    ));
}

#[test]
fn what_is_no_blob_is_not_deserialized() {
    let (shm, mut sent) = frame();
    TensorMeta::add(sent.make_mut(), &import(&shm, 0)).unwrap();
    let bytes = serialized(&sent);
    let mut received = gst::Buffer::new();
    assert!(!deserialized(received.make_mut(), &bytes, 2));
    assert!(!deserialized(received.make_mut(), &[], 1));
    for len in 0..bytes.len() {
        assert!(!deserialized(received.make_mut(), &bytes[..len], 1), "{len}");
    }
    assert!(received.tensor_meta().is_none());
}
