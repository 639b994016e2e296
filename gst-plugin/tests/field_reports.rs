//! What went wrong for users of other software, as tests of `tensorimport`. Each names its report;
//! those that are not here are in `fds.rs`, `identity.rs`, `lifecycle.rs`, `pool.rs`, `properties.rs`
//! and `tensorimport.rs`.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::prelude::*;
use gst_check::Harness;
use gst_video::VideoFormat;
use tensor_core::{ImageLayout, PixelFormat, PlanePlacement, TensorMemory};

fn placed(layout: &ImageLayout) -> Vec<(usize, usize)> {
    layout.planes().iter().map(|place| (place.offset, place.stride)).collect()
}

fn image(format: PixelFormat, size: [usize; 2], planes: &[(usize, usize)]) -> ImageLayout {
    let place = |&(offset, stride)| PlanePlacement { memory: 0, offset, stride };
    let planes: Vec<_> = planes.iter().map(place).collect();
    ImageLayout::from_planes(format, size[0], size[1], &planes).unwrap()
}

fn plain(layout: &ImageLayout, frame: u8) -> gst::Memory {
    let mut bytes = vec![0; layout.allocation_len(0)];
    fill_bytes(&mut bytes, layout, 0, frame);
    gst::Memory::from_mut_slice(bytes)
}

// G01
#[test]
fn padding_is_never_among_the_samples() {
    for (caps, format, size, stride) in [
        ("RGB,width=642,height=4", PixelFormat::Rgb, [642, 4], 1928),
        ("GRAY8,width=641,height=4", PixelFormat::Grey, [641, 4], 644),
        ("RGB,width=33,height=17", PixelFormat::Rgb, [33, 17], 100),
    ] {
        let mut harness = harness(&format!("video/x-raw,format={caps},framerate=30/1"));
        let layout = image(format, size, &[(0, stride)]);
        let mut bytes = vec![0; stride * size[1]];
        fill_bytes(&mut bytes, &layout, 0, 1);
        let got = harness.push_and_pull(buffer([gst::Memory::from_mut_slice(bytes)])).unwrap();
        let tensor = tensor(&got);
        assert_eq!(placed(tensor.image_layout().unwrap()), [(0, stride)], "{caps}");
        check_samples(&tensor, 1);
    }
}

// G02
#[test]
fn the_layout_is_the_metas_and_without_one_that_of_the_caps() {
    let mut harness = harness("video/x-raw,format=NV12,width=320,height=240,framerate=30/1");
    let (tight, padded) = ([(0, 320), (76_800, 320)], [(0, 384), (92_160, 384)]);
    for (planes, has_meta, has_fd) in
        [(tight, false, true), (padded, true, true), (padded, true, false), (tight, false, false)]
    {
        let layout = image(PixelFormat::Nv12, [320, 240], &planes);
        let memory = if has_fd { posing_memory(&filled(&layout, 0, 3)) } else { plain(&layout, 3) };
        let mut sent = buffer([memory]);
        if has_meta {
            let (offsets, strides) = (planes.map(|(offset, _)| offset), [384, 384]);
            add_video_meta(&mut sent, VideoFormat::Nv12, [320, 240], &offsets, &strides);
        }
        let got = harness.push_and_pull(sent).unwrap();
        let tensor = tensor(&got);
        assert_eq!(placed(tensor.image_layout().unwrap()), planes);
        check_samples(&tensor, 3);
    }
}

// G03
#[test]
fn every_plane_has_a_stride_of_its_own() {
    for (name, theirs, format, planes) in [
        ("NV12", VideoFormat::Nv12, PixelFormat::Nv12, vec![(0, 96), (96 * 36, 128)]),
        (
            "I420",
            VideoFormat::I420,
            PixelFormat::I420,
            vec![(0, 64), (64 * 36, 48), (64 * 36 + 48 * 18, 40)],
        ),
    ] {
        let caps = format!("video/x-raw,format={name},width=64,height=36,framerate=30/1");
        let mut harness = harness(&caps);
        let layout = image(format, [64, 36], &planes);
        let mut sent = buffer([fd_memory(&filled(&layout, 0, 2))]);
        let (offsets, strides): (Vec<_>, Vec<_>) = planes
            .iter()
            .map(|(offset, stride)| (*offset, i32::try_from(*stride).unwrap()))
            .unzip();
        add_video_meta(&mut sent, theirs, [64, 36], &offsets, &strides);
        let got = harness.push_and_pull(sent).unwrap();
        let tensor = tensor(&got);
        assert_eq!(placed(tensor.image_layout().unwrap()), planes);
        let map = tensor.map_read().unwrap();
        let row_bytes = map.plane(1).unwrap().row(0).unwrap().len();
        assert_eq!(row_bytes, if name == "NV12" { 64 } else { 32 });
        check_samples(&tensor, 2);
    }
}

/// A producer with four buffers writes the next number into one as soon as it has it back.
// G09
#[test]
fn a_tensor_that_is_kept_keeps_its_numbers_and_its_buffer() {
    let mut harness = harness("video/x-raw,format=GRAY8,width=64,height=36,framerate=30/1");
    let layout = image(PixelFormat::Grey, [64, 36], &[(0, 64)]);
    let pool = gsttensor::pool::TensorBufferPool::builder()
        .policy(tensor_core::memory::AllocPolicy::only(TensorMemory::Shm).unwrap())
        .video(VideoFormat::Gray8, 64, 36)
        .unwrap()
        .buffers(8, 8)
        .build()
        .unwrap();
    pool.set_active(true).unwrap();
    let nowait = gst::BufferPoolAcquireParams::with_flags(gst::BufferPoolAcquireFlags::DONTWAIT);
    let mut produce = |number: u8| {
        let mut sent = pool.acquire_buffer(Some(&nowait)).unwrap();
        let mut map = sent.make_mut().map_writable().unwrap();
        fill_bytes(&mut map, &layout, 0, number);
        drop(map);
        harness.push_and_pull(sent).unwrap()
    };
    let kept: Vec<_> = (1..=3).map(|number| tensor(&produce(number))).collect();
    for number in 4..54 {
        check_samples(&tensor(&produce(number)), number);
    }
    for (tensor, number) in kept.iter().zip(1..) {
        check_samples(tensor, number);
    }
    let all = |pool: &gsttensor::pool::TensorBufferPool| {
        let given = std::iter::from_fn(|| pool.acquire_buffer(Some(&nowait)).ok());
        given.collect::<Vec<_>>().len()
    };
    assert_eq!(all(&pool), 5);
    drop(kept);
    assert_eq!(all(&pool), 8);
    pool.set_active(false).unwrap();
}

// G10
#[test]
fn every_spelling_of_a_frame_links_and_plays() {
    for caps in [
        "video/x-raw,format=NV12",
        "video/x-raw(memory:DMABuf),format=NV12",
        "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12",
    ] {
        let pipeline = parse(&format!(
            "appsrc name=source format=time caps=\"{caps},width=64,height=36,framerate=30/1\" \
             ! tensorimport ! appsink name=sink sync=false"
        ));
        let source = pipeline.by_name("source").unwrap().downcast::<gst_app::AppSrc>().unwrap();
        source.push_buffer(buffer([posing_memory(&filled(&tight_nv12(), 0, 4))])).unwrap();
        check_samples(&tensor(&pull(&pipeline, "sink")), 4);
        assert_eq!(pipeline.state(gst::ClockTime::from_seconds(30)).1, gst::State::Playing);
        pipeline.set_state(gst::State::Null).unwrap();
    }
}

// G11
#[test]
fn the_memory_that_goes_in_comes_out() {
    let mut harness = harness(NV12);
    for memory in [plain(&tight_nv12(), 1), fd_memory(&filled(&tight_nv12(), 0, 1))] {
        let (address, sent) = (memory.as_ptr(), buffer([memory]));
        // Somebody else holds the buffer too, as after a tee.
        let held = sent.clone();
        let got = harness.push_and_pull(sent).unwrap();
        assert_eq!(got.peek_memory(0).as_ptr(), address);
        drop(held);
    }
    assert_eq!(stat(&element(&harness), "copied-bytes"), 0);
}

// G12
#[test]
fn rows_come_first_then_columns_then_channels() {
    let mut harness = harness("video/x-raw,format=RGB,width=640,height=480,framerate=30/1");
    let mut bytes = vec![0_u8; 640 * 480 * 3];
    bytes[2 * 640 * 3 + 5 * 3 + 1] = 77;
    let got = harness.push_and_pull(buffer([gst::Memory::from_mut_slice(bytes)])).unwrap();
    let tensor = tensor(&got);
    assert_eq!(tensor.shape()[..], [480, 640, 3]);
    assert_eq!(tensor.strides().unwrap()[..], [1920, 3, 1]);
    let map = tensor.map_read().unwrap();
    assert_eq!(map.plane(0).unwrap().row(2).unwrap()[5 * 3 + 1], 77);
    assert_eq!(gsttensor::tensor_caps::dimensions(tensor.shape()), "3:640:480");
}

// G13
#[test]
fn samples_span_and_memory_are_three_numbers() {
    let mut harness = harness("video/x-raw,format=RGB,width=33,height=17,framerate=30/1");
    let layout = image(PixelFormat::Rgb, [33, 17], &[(0, 128)]);
    let mut sent = buffer([fd_memory(&filled(&layout, 0, 1))]);
    add_video_meta(&mut sent, VideoFormat::Rgb, [33, 17], &[0], &[128]);
    let got = harness.push_and_pull(sent).unwrap();
    let tensor = tensor(&got);
    let layout = tensor.image_layout().unwrap();
    assert_eq!(tensor.shape().iter().product::<usize>(), 1683);
    assert_eq!(layout.required_len(0), 16 * 128 + 99);
    assert!(tensor.memories()[0].len() >= layout.required_len(0));
}

/// Where frames are copied to is what the machine has, and the tensor says which.
// G15
#[test]
fn without_a_heap_copies_are_in_the_next_best_memory() {
    init();
    let import = gst::ElementFactory::make("tensorimport").build().unwrap();
    import.set_property_from_str("fallback", "copy");
    let mut harness = Harness::with_element(&import, Some("sink"), Some("src"));
    harness.set_src_caps_str(NV12);
    let got = harness.push_and_pull(buffer([plain(&tight_nv12(), 9)])).unwrap();
    let has_dma_bufs = gsttensor::allocator::TensorAllocator::is_available();
    let best = if has_dma_bufs { TensorMemory::DmaBuf } else { TensorMemory::Shm };
    assert_eq!(tensor(&got).memory(), best);
    check_samples(&tensor(&got), 9);
    let stats = import.property::<gst::Structure>("stats");
    assert_eq!(stats.get::<&str>("memory"), Ok(best.name()));
}
