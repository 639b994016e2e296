//! The tensor meta through everything that can happen to a buffer.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::sync::Arc;

use common::*;
use gst::{meta::tags, prelude::*};
use gsttensor::{BufferTensorExt, FrameImport, FrameTensorError, TensorMeta};
use tensor_core::{
    Colorimetry, CpuAccess, ImageLayout, PixelFormat, StrideAlign, TensorMemory,
    import_cache::Frame,
};

const RGB: &str = "video/x-raw,format=RGB,width=64,height=36,framerate=30/1";

fn layout() -> ImageLayout {
    ImageLayout::packed(PixelFormat::Rgb, 64, 36, StrideAlign::NONE).unwrap()
}

fn plain_memory(frame: u8) -> gst::Memory {
    let mut bytes = vec![0; layout().allocation_len(0)];
    fill_bytes(&mut bytes, &layout(), 0, frame);
    gst::Memory::from_mut_slice(bytes)
}

fn shared_memory(frame: u8) -> gst::Memory {
    fd_memory(&filled(&layout(), 0, frame))
}

/// A frame that came through `tensorimport`; the element is gone already.
fn imported(memory: gst::Memory) -> gst::Buffer {
    harness(RGB).push_and_pull(buffer([memory])).unwrap()
}

fn error(buffer: &gst::Buffer) -> FrameTensorError {
    buffer.tensor_meta().unwrap().tensor(buffer).unwrap_err()
}

#[test]
fn the_blob_names_memories_by_index_and_no_process() {
    init();
    let buffer = imported(shared_memory(1));
    let meta = buffer.tensor_meta().unwrap();
    let view = meta.blob().unwrap();
    assert_eq!((view.pid(), view.storage_kind()), (0, TensorMemory::Shm));
    assert_eq!(view.planes().map(|plane| plane.handle).collect::<Vec<_>>(), [0]);
    assert_eq!(&*meta.blob_bytes(), view.as_bytes());
}

#[test]
fn the_type_has_the_tags_of_what_belongs_to_the_memory() {
    init();
    let buffer = imported(plain_memory(1));
    let meta = buffer.tensor_meta().unwrap();
    assert!(meta.has_tag::<tags::Memory>());
    assert!(meta.has_tag::<tags::MemoryReference>());
    assert_eq!(meta.api().name(), "TensorBlobMetaAPI");
    assert_eq!(meta.type_().name(), "TensorBlobMeta");
}

#[test]
fn a_copy_over_the_same_memory_keeps_the_meta() {
    init();
    for memory in [plain_memory(3), shared_memory(3)] {
        let copy = imported(memory).copy();
        check_samples(&tensor(&copy), 3);
    }
}

#[test]
fn the_import_of_another_file_is_not_put_on_a_buffer() {
    init();
    let shared = |frame| filled(&layout(), 0, frame);
    let (one, other) = (shared(1), shared(2));
    let import = Arc::new(
        FrameImport::new(
            &Frame {
                layout: &layout(),
                colorimetry: Colorimetry::default(),
                quantization: None,
                access: CpuAccess::Read,
                fds: &[one.fd().unwrap()],
                handles: &[0],
            },
            |_, blob| gst::glib::Bytes::from_owned(Arc::clone(blob)),
        )
        .unwrap(),
    );
    for (memory, is_it) in [(fd_memory(&one), true), (fd_memory(&other), false)] {
        let mut buffer = buffer([memory]);
        let added = TensorMeta::add(buffer.get_mut().unwrap(), &import);
        assert_eq!(added.is_ok(), is_it, "{added:?}");
        assert_eq!(buffer.tensor_meta().is_some(), is_it);
    }
}

#[test]
fn other_bytes_lose_the_meta() {
    init();
    let buffer = imported(shared_memory(3));
    assert!(buffer.copy_deep().unwrap().tensor_meta().is_none());
    let region = buffer.copy_region(gst::BufferCopyFlags::all(), ..100).unwrap();
    assert!(region.tensor_meta().is_none());
}

#[test]
fn a_conversion_drops_the_meta() {
    let pipeline = parse(
        "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=36 ! tensorimport \
         ! videoconvert ! video/x-raw,format=RGB ! appsink name=sink sync=false",
    );
    assert!(pull(&pipeline, "sink").tensor_meta().is_none());
    pipeline.set_state(gst::State::Null).unwrap();
}

#[test]
fn a_second_element_replaces_the_meta() {
    init();
    let mut harness = gst_check::Harness::new_parse("tensorimport ! tensorimport");
    harness.set_src_caps_str(RGB);
    let buffer = harness.push_and_pull(buffer([shared_memory(4)])).unwrap();
    assert_eq!(buffer.iter_meta::<TensorMeta>().count(), 1);
    check_samples(&tensor(&buffer), 4);
}

#[test]
fn a_replaced_memory_is_noticed() {
    init();
    for (old, new) in [
        (plain_memory(1), plain_memory(2)),
        (plain_memory(1), shared_memory(2)),
        (shared_memory(1), plain_memory(2)),
        (shared_memory(1), shared_memory(2)),
    ] {
        let mut buffer = imported(old);
        buffer.make_mut().replace_all_memory(new);
        assert!(matches!(error(&buffer), FrameTensorError::Replaced { index: 0 }));
    }
}

#[test]
fn the_same_file_in_another_memory_is_still_the_frame() {
    init();
    let shm = filled(&layout(), 0, 5);
    let mut buffer = imported(fd_memory(&shm));
    buffer.make_mut().replace_all_memory(fd_memory(&shm));
    check_samples(&tensor(&buffer), 5);
}

#[test]
fn merged_memories_are_noticed() {
    init();
    let halves = ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA).unwrap();
    let sizes = [64 * 36, 64 * 18];
    let mut harness = harness("video/x-raw,format=NV12,width=64,height=36,framerate=30/1");
    let memories = sizes.map(gst::Memory::with_size);
    let mut buffer = harness.push_and_pull(buffer(memories)).unwrap();
    assert_eq!(tensor(&buffer).image_layout().unwrap().rows(1), halves.rows(1));
    // What a careless element does: mapping the whole buffer merges it.
    drop(buffer.make_mut().map_writable().unwrap());
    assert_eq!(buffer.n_memory(), 1);
    assert!(matches!(
        error(&buffer),
        FrameTensorError::Replaced { .. }
            | FrameTensorError::MemoryIndex { .. }
            | FrameTensorError::Bounds { .. }
    ));
}

#[test]
fn a_buffer_that_lost_bytes_is_noticed() {
    init();
    let mut buffer = imported(shared_memory(1));
    buffer.make_mut().set_size(1000);
    let text = error(&buffer).to_string();
    assert!(text.contains("1000") && text.contains("6912"), "{text}");
    buffer.make_mut().remove_all_memory();
    assert!(matches!(error(&buffer), FrameTensorError::MemoryIndex { index: 0, memories: 0 }));
}

// G09
#[test]
fn a_tensor_keeps_its_frame_from_being_filled_anew() {
    init();
    let pool = gst::BufferPool::new();
    let mut config = pool.config();
    config.set_params(None, u32::try_from(layout().allocation_len(0)).unwrap(), 1, 1);
    pool.set_config(config).unwrap();
    pool.set_active(true).unwrap();
    let mut harness = harness(RGB);
    let nowait = gst::BufferPoolAcquireParams::with_flags(gst::BufferPoolAcquireFlags::DONTWAIT);
    let frame = harness.push_and_pull(pool.acquire_buffer(None).unwrap()).unwrap();
    let tensor = tensor(&frame);
    drop(frame);
    assert_eq!(pool.acquire_buffer(Some(&nowait)).unwrap_err(), gst::FlowError::Eos);
    drop(tensor);
    assert!(pool.acquire_buffer(Some(&nowait)).is_ok());
    pool.set_active(false).unwrap();
}
