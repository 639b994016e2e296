//! `tensorimport` over every kind of frame that a machine without devices can make.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::os::fd::IntoRawFd;

use common::*;
use gst::prelude::*;
use gst_allocators::prelude::*;
use gst_video::VideoFormat;
use gsttensor::BufferTensorExt;
use tensor_core::{ImageLayout, Memory, PixelFormat, PlanePlacement, StrideAlign, TensorMemory};

fn nv12(strides: [usize; 2], offsets: [usize; 2], memories: [usize; 2]) -> ImageLayout {
    let planes = [0, 1].map(|plane| PlanePlacement {
        memory: memories[plane],
        offset: offsets[plane],
        stride: strides[plane],
    });
    ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap()
}

// G02: no meta, the caps say it all.
#[test]
fn frames_of_a_software_source_are_described_from_their_caps() {
    for (name, format, strides) in [
        ("NV12", PixelFormat::Nv12, vec![324, 324]),
        ("RGB", PixelFormat::Rgb, vec![968]),
        ("GRAY8", PixelFormat::Grey, vec![324]),
        ("I420", PixelFormat::I420, vec![324, 164, 164]),
        ("YUY2", PixelFormat::Yuyv, vec![644]),
    ] {
        let pipeline = parse(&format!(
            "videotestsrc num-buffers=4 ! video/x-raw,format={name},width=322,height=242 \
             ! tensorimport name=import ! appsink name=sink sync=false"
        ));
        let import = pipeline.by_name("import").unwrap();
        for _ in 0..4 {
            let buffer = pull(&pipeline, "sink");
            let tensor = tensor(&buffer);
            assert_eq!((tensor.format(), tensor.memory()), (Some(format), TensorMemory::Mem));
            assert_eq!((tensor.width(), tensor.height()), (Some(322), Some(242)));
            let found: Vec<_> =
                tensor.image_layout().unwrap().planes().iter().map(|p| p.stride).collect();
            assert_eq!(found, strides, "{name}");
            let map = tensor.map_read().unwrap();
            let mapped = buffer.map_readable().unwrap();
            let row = map.plane(0).unwrap().rows().next().unwrap();
            assert_eq!(row, &mapped[..row.len()], "{name}");
        }
        assert_eq!(["frames", "imports", "hits"].map(|s| stat(&import, s)), [4, 1, 3]);
        assert_eq!(stat(&import, "copied-bytes"), 0);
        pipeline.set_state(gst::State::Null).unwrap();
    }
}

// G02, G03
#[test]
fn the_video_meta_is_the_truth_about_every_plane() {
    let mut harness = harness(NV12);
    for (strides, offsets) in [
        ([64, 64], [0, 64 * 36]),
        ([96, 80], [0, 96 * 36]),
        ([80, 128], [256, 256 + 80 * 40]),
        ([128, 64], [64 * 20, 0]),
    ] {
        let layout = nv12(strides, offsets, [0, 0]);
        let mut buffer = buffer([fd_memory(&filled(&layout, 0, 5))]);
        let signed = strides.map(|stride| i32::try_from(stride).unwrap());
        add_video_meta(&mut buffer, VideoFormat::Nv12, [64, 36], &offsets, &signed);
        let buffer = harness.push_and_pull(buffer).unwrap();
        let tensor = tensor(&buffer);
        assert_eq!(tensor.image_layout().unwrap(), &layout);
        check_samples(&tensor, 5);
    }
}

#[test]
fn a_video_meta_tighter_than_the_caps_is_believed() {
    let mut harness = harness("video/x-raw,format=GRAY8,width=33,height=7,framerate=30/1");
    let layout = ImageLayout::packed(PixelFormat::Grey, 33, 7, StrideAlign::NONE).unwrap();
    let mut buffer = buffer([fd_memory(&filled(&layout, 0, 2))]);
    add_video_meta(&mut buffer, VideoFormat::Gray8, [33, 7], &[0], &[33]);
    let buffer = harness.push_and_pull(buffer).unwrap();
    check_samples(&tensor(&buffer), 2);
}

// G07
/// A decoder's meta has the coded size, 1088 rows for 1080: the picture is the caps'.
#[test]
fn the_caps_say_what_is_in_the_frame_and_the_meta_where() {
    let pushed = |format, size| {
        let mut harness = harness("video/x-raw,format=NV12,width=60,height=30,framerate=30/1");
        let mut frame = buffer([fd_memory(&filled(&tight_nv12(), 0, 1))]);
        add_video_meta(&mut frame, format, size, &[0, 2304], &[64, 64]);
        harness.push(frame).map(|_| harness.pull().unwrap())
    };
    let coded = pushed(VideoFormat::Nv12, [64, 36]).unwrap();
    let tensor = tensor(&coded);
    assert_eq!(tensor.shape()[..], [30, 60]);
    assert_eq!(tensor.image_layout().unwrap().planes()[1].offset, 2304);
    assert!(pushed(VideoFormat::Nv12, [58, 30]).is_err());
    assert!(pushed(VideoFormat::Nv21, [60, 30]).is_err());
}

#[test]
fn a_memfd_that_poses_as_dma_buf_is_shared_memory() {
    let mut harness = harness(NV12);
    let memory = posing_memory(&filled(&tight_nv12(), 0, 1));
    assert!(memory.is_memory_type::<gst_allocators::DmaBufMemory>());
    let buffer = harness.push_and_pull(buffer([memory])).unwrap();
    assert_eq!(tensor(&buffer).memory(), TensorMemory::Shm);
    check_samples(&tensor(&buffer), 1);
    let stats = element(&harness).property::<gst::Structure>("stats");
    assert_eq!(stats.get::<&str>("memory"), Ok("shm"));
}

#[test]
fn planes_in_two_files_keep_their_files() {
    let mut harness = harness(NV12);
    let layout = nv12([64, 64], [0, 0], [0, 1]);
    let files = [0, 1].map(|memory| filled(&layout, memory, 7));
    for wrap in [fd_memory, posing_memory] {
        let buffer = harness.push_and_pull(buffer(files.iter().map(wrap))).unwrap();
        let tensor = tensor(&buffer);
        assert_eq!(tensor.image_layout().unwrap(), &layout);
        let found: Vec<_> = tensor.memories().iter().map(Memory::identity).collect();
        assert_eq!(found, files.iter().map(Memory::identity).collect::<Vec<_>>());
        check_samples(&tensor, 7);
    }
    assert_eq!(["imports", "hits"].map(|s| stat(&element(&harness), s)), [1, 1]);
}

#[test]
fn planes_in_two_windows_of_one_file_keep_their_offsets() {
    let mut harness = harness(NV12);
    let flat = nv12([64, 64], [0, 4096], [0, 0]);
    let whole = fd_memory(&filled(&flat, 0, 9));
    let windows = [whole.share(..64 * 36), whole.share(4096..)];
    let buffer = harness.push_and_pull(buffer(windows)).unwrap();
    let tensor = tensor(&buffer);
    assert_eq!(tensor.image_layout().unwrap(), &nv12([64, 64], [0, 4096], [0, 1]));
    check_samples(&tensor, 9);
}

#[test]
fn a_frame_that_starts_at_byte_128_is_described_there() {
    let mut harness = harness(NV12);
    let layout = nv12([64, 64], [128, 128 + 64 * 36], [0, 0]);
    for with_fd in [true, false] {
        let memory = if with_fd {
            fd_memory(&filled(&layout, 0, 3))
        } else {
            let mut bytes = vec![0; layout.allocation_len(0)];
            fill_bytes(&mut bytes, &layout, 0, 3);
            gst::Memory::from_mut_slice(bytes)
        };
        let buffer = harness.push_and_pull(buffer([memory.share(128..)])).unwrap();
        let meta = buffer.tensor_meta().unwrap();
        let offsets: Vec<_> = meta.blob().unwrap().planes().map(|plane| plane.offset).collect();
        assert_eq!(offsets, [128, 128 + 64 * 36]);
        check_samples(&tensor(&buffer), 3);
    }
}

#[test]
fn a_memory_that_comes_again_is_a_hit() {
    let mut harness = harness(NV12);
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    for _ in 0..10 {
        harness.push_and_pull(buffer([memory.clone()])).unwrap();
    }
    assert_eq!(["imports", "hits"].map(|s| stat(&element(&harness), s)), [1, 9]);
}

#[test]
fn a_file_under_a_recycled_fd_number_is_not_taken_for_the_old_one() {
    let mut harness = harness(NV12);
    for frame in 0..20 {
        let buffer = harness.push_and_pull(buffer([fd_memory(&filled(&tight_nv12(), 0, frame))]));
        check_samples(&tensor(&buffer.unwrap()), frame);
    }
    assert_eq!(stat(&element(&harness), "imports"), 20);
}

/// The text of the element error that a frame leads to.
fn refusal(caps: &str, frame: gst::Buffer) -> String {
    let mut harness = harness(caps);
    let bus = gst::Bus::new();
    element(&harness).set_bus(Some(&bus));
    assert_eq!(harness.push(frame), Err(gst::FlowError::Error));
    let message = bus.pop_filtered(&[gst::MessageType::Error]).unwrap();
    element(&harness).set_bus(None);
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    error.error().to_string()
}

#[test]
fn a_layout_that_cannot_be_is_refused_by_name() {
    init();
    let mut frame = buffer([gst::Memory::with_size(9000)]);
    add_video_meta(&mut frame, VideoFormat::Nv12, [64, 36], &[0, 2304], &[40, 64]);
    let text = refusal(NV12, frame);
    assert!(text.contains("stride of 40 bytes") && text.contains("64 bytes"), "{text}");

    let mut frame = buffer([gst::Memory::with_size(9000)]);
    add_video_meta(&mut frame, VideoFormat::Nv12, [64, 36], &[0, 100], &[64, 64]);
    assert!(refusal(NV12, frame).contains("overlap"));
}

#[test]
fn a_file_shorter_than_its_memory_claims_is_refused() {
    init();
    let shm = Memory::shm(1000).unwrap();
    let allocator = gst_allocators::FdAllocator::new();
    let fd = dup(&shm).into_raw_fd();
    let flags = gst_allocators::FdMemoryFlags::empty();
    // SAFETY: the fd is open and given away; the false length is never mapped.
    let memory = unsafe { allocator.alloc_fd(fd, 9000, flags) };
    let text = refusal(NV12, buffer([memory.unwrap()]));
    assert!(text.contains("2304") && text.contains("1000"), "{text}");
}

#[test]
fn memories_with_and_without_an_fd_are_refused_by_name() {
    init();
    let layout = nv12([64, 64], [0, 0], [0, 1]);
    let memories = [fd_memory(&filled(&layout, 0, 1)), gst::Memory::with_size(64 * 18)];
    let text = refusal(NV12, buffer(memories));
    assert!(text.contains("memory 0 has an fd") && text.contains("memory 1 has none"), "{text}");
}

#[test]
fn the_other_branch_of_a_tee_does_not_see_the_meta() {
    let pipeline = parse(
        "videotestsrc num-buffers=8 ! video/x-raw,format=NV12,width=64,height=36 ! tee name=t \
         t. ! queue ! tensorimport name=import ! appsink name=with sync=false \
         t. ! queue ! appsink name=without sync=false",
    );
    for _ in 0..8 {
        let [with, without] = ["with", "without"].map(|name| pull(&pipeline, name));
        assert!(with.tensor_meta().is_some());
        assert!(without.tensor_meta().is_none());
        assert_eq!(with.peek_memory(0).as_ptr(), without.peek_memory(0).as_ptr());
    }
    assert_eq!(stat(&pipeline.by_name("import").unwrap(), "copied-bytes"), 0);
    pipeline.set_state(gst::State::Null).unwrap();
}

// G11
#[test]
fn the_allocation_answer_names_video_meta_though_the_sink_declines() {
    init();
    for (need_pool, sink) in
        [(true, "fakesink"), (false, "fakesink"), (true, "identity ! fakesink")]
    {
        let mut harness = gst_check::Harness::new_parse(&format!("tensorimport ! {sink}"));
        harness.set_src_caps_str(NV12);
        let caps = NV12.parse::<gst::Caps>().unwrap();
        let mut query = gst::query::Allocation::new(Some(&caps), need_pool);
        assert!(harness.srcpad().unwrap().peer_query(query.get_mut().unwrap().query_mut()));
        let video_meta = query.find_allocation_meta::<gst_video::VideoMeta>().unwrap();
        let params = query.allocation_metas().nth(video_meta.try_into().unwrap()).unwrap().1;
        assert_eq!(params.is_some(), need_pool);
        assert_eq!(query.allocation_pools().count(), usize::from(need_pool));
    }
}

// G20
#[test]
fn a_crop_meta_is_applied_to_every_plane() {
    let mut harness = harness(NV12);
    let mut frame = buffer([fd_memory(&filled(&tight_nv12(), 0, 1))]);
    gst_video::VideoCropMeta::add(frame.get_mut().unwrap(), (16, 8, 32, 16));
    let frame = harness.push_and_pull(frame).unwrap();
    let tensor = tensor(&frame);
    let offsets: Vec<_> =
        tensor.image_layout().unwrap().planes().iter().map(|plane| plane.offset).collect();
    assert_eq!((tensor.width(), tensor.height()), (Some(32), Some(16)));
    assert_eq!(offsets, [528, 2576]);

    let mut odd = buffer([fd_memory(&filled(&tight_nv12(), 0, 1))]);
    gst_video::VideoCropMeta::add(odd.get_mut().unwrap(), (15, 8, 32, 16));
    assert!(refusal(NV12, odd).contains("15"), "a chroma sample is not cut");
}

// S-TILE-07
#[test]
fn a_tiled_modifier_is_refused_by_name() {
    let harness = harness(NV12);
    let bus = gst::Bus::new();
    element(&harness).set_bus(Some(&bus));
    let tiled = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,\
                 width=64,height=36,framerate=30/1";
    let pad = element(&harness).static_pad("sink").unwrap();
    assert!(!pad.query_accept_caps(&tiled.parse::<gst::Caps>().unwrap()));
    let message = bus.pop_filtered(&[gst::MessageType::Element]).unwrap();
    let reason = message.structure().unwrap().get::<String>("reason").unwrap();
    assert!(reason.contains("I915_Y_TILED (0x0100000000000002)"), "{reason}");
    element(&harness).set_bus(None);
}

#[test]
fn linear_dma_drm_caps_are_taken_and_tiled_ones_refused() {
    let mut harness =
        harness("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height=36");
    let frame = buffer([posing_memory(&filled(&tight_nv12(), 0, 6))]);
    check_samples(&tensor(&harness.push_and_pull(frame).unwrap()), 6);

    let pad = element(&harness).static_pad("sink").unwrap();
    let tiled = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,\
                 width=64,height=36";
    assert!(!pad.query_accept_caps(&tiled.parse::<gst::Caps>().unwrap()));
}

#[test]
fn new_caps_start_a_new_generation() {
    let mut harness = harness(NV12);
    let shm = Memory::shm(64 * 64).unwrap();
    fill(&shm, &tight_nv12(), 0, 1);
    harness.push_and_pull(buffer([fd_memory(&shm)])).unwrap();
    assert_eq!(stat(&element(&harness), "live"), 1);
    harness.set_src_caps_str("video/x-raw,format=GRAY8,width=64,height=36,framerate=30/1");
    assert_eq!(["live", "evictions"].map(|s| stat(&element(&harness), s)), [0, 1]);
    let grey = ImageLayout::packed(PixelFormat::Grey, 64, 36, StrideAlign::DMA).unwrap();
    fill(&shm, &grey, 0, 2);
    let buffer = harness.push_and_pull(buffer([fd_memory(&shm)])).unwrap();
    assert_eq!(tensor(&buffer).image_layout().unwrap(), &grey);
    check_samples(&tensor(&buffer), 2);
}

#[test]
fn a_flush_forgets_every_buffer() {
    let mut harness = harness(NV12);
    harness.push_and_pull(buffer([fd_memory(&filled(&tight_nv12(), 0, 1))])).unwrap();
    harness.push_event(gst::event::FlushStart::new());
    harness.push_event(gst::event::FlushStop::new(false));
    assert_eq!(["live", "pinned-bytes"].map(|s| stat(&element(&harness), s)), [0, 0]);
}

#[test]
fn a_drain_forgets_every_buffer() {
    let mut harness = harness(NV12);
    harness.push_and_pull(buffer([fd_memory(&filled(&tight_nv12(), 0, 1))])).unwrap();
    let mut drain = gst::query::Drain::new();
    harness.srcpad().unwrap().peer_query(drain.get_mut().unwrap().query_mut());
    assert_eq!(["live", "evictions"].map(|s| stat(&element(&harness), s)), [0, 1]);
}

#[test]
fn the_cache_holds_as_many_buffers_as_it_is_told() {
    init();
    let import = gst::ElementFactory::make("tensorimport").property("cache-size", 3_u32).build();
    let mut harness = gst_check::Harness::with_element(&import.unwrap(), Some("sink"), Some("src"));
    harness.set_src_caps_str(NV12);
    for frame in 0..9 {
        harness.push_and_pull(buffer([fd_memory(&filled(&tight_nv12(), 0, frame))])).unwrap();
    }
    assert_eq!(["live", "evictions"].map(|s| stat(&element(&harness), s)), [3, 6]);
}

/// The README's example, which runs as a doctest, is the shortest way there is.
// S-GST-13
#[test]
fn from_a_sample_to_mapped_bytes_takes_a_few_lines() {
    let readme = include_str!("../../README.md");
    let lines = readme.lines().skip_while(|line| !line.contains("pull_sample"));
    let until_mapped = lines.take_while(|line| !line.contains("map_read")).count() + 1;
    assert!((2..=10).contains(&until_mapped), "{until_mapped} lines");
}
