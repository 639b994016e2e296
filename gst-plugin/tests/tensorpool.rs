//! `tensorpool`: frames that are written where they should be, and frames that are brought there.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use common::*;
use gst::prelude::*;
use gst_check::Harness;
use gst_video::{
    VideoCropMeta, VideoFormat, VideoFrameExt, VideoFrameRef, VideoInfo, VideoMeta,
    VideoRegionOfInterestMeta,
};
use gsttensor::{allocator::TensorAllocator, pool::TensorBufferPool};
use tensor_core::{
    CpuAccess, ImageLayout, PixelFormat, PlanePlacement, StrideAlign, memory::AllocPolicy,
};

/// Some tests count the descriptors of the process.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    init();
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const FORMATS: [&str; 7] = ["RGB", "NV12", "I420", "YUY2", "GRAY8", "NV16", "RGBA"];
/// Every row and frame differs, and two runs do not.
const MOVING: &str = "videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=9";
const SIZES: [(u32, u32); 3] = [(641, 47), (64, 36), (322, 242)];

fn caps(format: &str, (width, height): (u32, u32)) -> String {
    // Of the last pair of an odd width, videotestsrc writes half.
    let width = if format == "YUY2" { width.next_multiple_of(2) } else { width };
    format!("video/x-raw,format={format},width={width},height={height},framerate=30/1")
}

fn info(caps: &str) -> VideoInfo {
    VideoInfo::from_caps(&caps.parse::<gst::Caps>().unwrap()).unwrap()
}

/// Plane after plane, the real samples of each row.
fn samples(buffer: &gst::Buffer, info: &VideoInfo) -> Vec<Vec<u8>> {
    let frame = VideoFrameRef::from_buffer_ref_readable(buffer, info).unwrap();
    let layout = gsttensor::video_layout::layout_from_info(info).unwrap();
    let mut all = Vec::new();
    for plane in 0..layout.planes().len() {
        let stride = usize::try_from(frame.plane_stride()[plane]).unwrap();
        let data = frame.plane_data(u32::try_from(plane).unwrap()).unwrap();
        all.extend((0..layout.rows(plane)).map(|row| {
            let start = row * stride;
            data[start..start + layout.row_bytes(plane)].to_vec()
        }));
    }
    all
}

fn sample_bytes(info: &VideoInfo) -> u64 {
    let layout = gsttensor::video_layout::layout_from_info(info).unwrap();
    u64::try_from(layout.sample_bytes()).unwrap()
}

// G04, G11, S-GST-07
#[test]
fn a_source_that_takes_the_pool_fills_it_and_nothing_is_copied() {
    let _one = one_at_a_time();
    for (format, size) in FORMATS.iter().flat_map(|format| SIZES.map(|size| (*format, size))) {
        let caps = caps(format, size);
        let source = format!("{MOVING} num-buffers=4 ! {caps}");
        let (ours, stats) = run(&format!("{source} ! tensorpool name=pool"));
        let (theirs, _) = run(&source);
        let stats = stats.unwrap();
        assert_eq!(["frames", "pooled"].map(|name| count(&stats, name)), [4, 4], "{caps}");
        assert_eq!(["copied", "copied-bytes"].map(|name| count(&stats, name)), [0, 0], "{caps}");
        assert_eq!(stats.get("mode"), Ok("pool"));
        let memory = if TensorAllocator::is_available() { "dmabuf" } else { "shm" };
        assert_eq!(stats.get("memory"), Ok(memory));
        assert_eq!((ours.len(), theirs.len()), (4, 4));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_is_of_our_kind(ours, 64);
            assert!(samples(ours, &info(&caps)) == samples(theirs, &info(&caps)), "{caps}");
        }
    }
}

// G01, G04
#[test]
fn a_source_that_keeps_its_own_memory_is_copied_once_row_by_row() {
    let _one = one_at_a_time();
    for (format, size) in FORMATS.iter().flat_map(|format| SIZES.map(|size| (*format, size))) {
        let caps = caps(format, size);
        let source = format!("{MOVING} num-buffers=4 ! {caps} ! identity drop-allocation=true");
        let (ours, stats) = run(&format!("{source} ! tensorpool name=pool alignment=256"));
        let (theirs, _) = run(&source);
        let stats = stats.unwrap();
        assert_eq!(["frames", "copied"].map(|name| count(&stats, name)), [4, 4], "{caps}");
        assert_eq!(stats.get("mode"), Ok("copy"));
        let bytes = sample_bytes(&info(&caps)) * 4;
        assert_eq!(count(&stats, "copied-bytes"), bytes, "{caps}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_is_of_our_kind(ours, 256);
            assert_eq!(ours.pts(), theirs.pts());
            assert!(samples(ours, &info(&caps)) == samples(theirs, &info(&caps)), "{caps}");
        }
    }
}

/// A `tensorpool` with `properties`, into which frames of `caps` can be pushed.
fn pool_harness(properties: &str, caps: &str) -> Harness {
    init();
    let mut harness = Harness::new_parse(&format!("tensorpool name=pool {properties}"));
    harness.set_src_caps_str(caps);
    harness
}

fn pool_of(harness: &Harness) -> gst::Element {
    let bin = harness.element().unwrap();
    bin.clone().downcast::<gst::Bin>().map_or(bin, |bin| bin.by_name("pool").unwrap())
}

fn stats(harness: &Harness) -> gst::Structure {
    pool_of(harness).property("stats")
}

fn assert_is_frame(buffer: &gst::Buffer, frame: u8) {
    let info = info(NV12);
    let rows = samples(buffer, &info);
    for (index, row) in rows.iter().enumerate() {
        let (plane, row_of_plane) = if index < 36 { (0, index) } else { (1, index - 36) };
        let right = sample(frame, plane, row_of_plane);
        assert!(row.iter().all(|byte| *byte == right), "plane {plane} row {row_of_plane}");
    }
}

fn nv12(strides: [usize; 2], offsets: [usize; 2], memories: [usize; 2]) -> ImageLayout {
    let planes = [0, 1].map(|plane| PlanePlacement {
        memory: memories[plane],
        offset: offsets[plane],
        stride: strides[plane],
    });
    ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap()
}

// G02, G03
#[test]
fn planes_are_found_wherever_they_lie() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm", NV12);
    // In one memory, at strides of their own and in any order.
    for (strides, offsets) in [([96, 80], [0, 96 * 36]), ([80, 128], [128 * 18, 0])] {
        let layout = nv12(strides, offsets, [0, 0]);
        let mut frame = buffer([fd_memory(&filled(&layout, 0, 5))]);
        let signed = strides.map(|stride| i32::try_from(stride).unwrap());
        add_video_meta(&mut frame, VideoFormat::Nv12, [64, 36], &offsets, &signed);
        let frame = harness.push_and_pull(frame).unwrap();
        assert_is_of_our_kind(&frame, 64);
        assert_is_frame(&frame, 5);
    }
    // In two files, and from byte 128 of one.
    let two = nv12([64, 64], [0, 0], [0, 1]);
    let frame = buffer([0, 1].map(|memory| fd_memory(&filled(&two, memory, 7))));
    assert_is_frame(&harness.push_and_pull(frame).unwrap(), 7);
    let inside = nv12([64, 64], [128, 128 + 64 * 36], [0, 0]);
    let frame = buffer([fd_memory(&filled(&inside, 0, 9)).share(128..)]);
    assert_is_frame(&harness.push_and_pull(frame).unwrap(), 9);
    // One plane over two memories.
    let whole = gst::Memory::from_mut_slice(bytes_of(&tight_nv12(), 11));
    let frame = buffer([whole.share(..1000), whole.share(1000..)]);
    assert_is_frame(&harness.push_and_pull(frame).unwrap(), 11);
    assert_eq!(count(&stats(&harness), "copied"), 5);
}

#[test]
fn memory_of_upstream_that_is_as_good_passes_untouched() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm", NV12);
    let frame = buffer([fd_memory(&filled(&tight_nv12(), 0, 3))]);
    let memory = frame.peek_memory(0).as_ptr();
    let passed = harness.push_and_pull(frame).unwrap();
    assert_eq!(passed.peek_memory(0).as_ptr(), memory);
    let stats = stats(&harness);
    assert_eq!(["foreign", "copied"].map(|name| count(&stats, name)), [1, 0]);
    assert_eq!((stats.get("mode"), stats.get("memory")), (Ok("foreign"), Ok("shm")));
}

// G07
#[test]
fn shared_memory_is_no_dma_buf() {
    let _one = one_at_a_time();
    if !TensorAllocator::is_available() {
        return skip("dma_buf", "neither a dma-heap nor udmabuf on this machine");
    }
    let mut harness = pool_harness("memory=dmabuf", NV12);
    let passed = harness.push_and_pull(buffer([fd_memory(&filled(&tight_nv12(), 0, 3))])).unwrap();
    assert!(passed.peek_memory(0).is_memory_type::<gst_allocators::DmaBufMemory>());
    assert_is_frame(&passed, 3);
    assert_eq!(count(&stats(&harness), "copied"), 1);
}

#[test]
fn what_is_said_of_a_frame_is_said_of_its_copy() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm", NV12);
    let mut frame = gst::Buffer::from_slice(bytes_of(&tight_nv12(), 4));
    let writable = frame.get_mut().unwrap();
    writable.set_pts(gst::ClockTime::from_mseconds(40));
    writable.set_duration(gst::ClockTime::from_mseconds(33));
    writable.set_offset(7);
    writable.set_flags(gst::BufferFlags::DELTA_UNIT);
    VideoRegionOfInterestMeta::add(writable, "face", (1, 2, 3, 4));
    let copy = harness.push_and_pull(frame).unwrap();
    assert_is_frame(&copy, 4);
    assert_eq!(copy.pts(), Some(gst::ClockTime::from_mseconds(40)));
    assert_eq!((copy.duration(), copy.offset()), (Some(gst::ClockTime::from_mseconds(33)), 7));
    assert!(copy.flags().contains(gst::BufferFlags::DELTA_UNIT));
    assert_eq!(copy.meta::<VideoRegionOfInterestMeta>().unwrap().rect(), (1, 2, 3, 4));
    assert_eq!(copy.iter_meta::<VideoMeta>().count(), 1);
}

fn bytes_of(layout: &ImageLayout, frame: u8) -> Vec<u8> {
    let mut bytes = vec![0; layout.allocation_len(0)];
    fill_bytes(&mut bytes, layout, 0, frame);
    bytes
}

// G20
#[test]
fn a_crop_to_the_size_of_the_caps_is_done_in_the_copy_in_every_plane() {
    let _one = one_at_a_time();
    let crop = "video/x-raw,format=NV12,width=32,height=16,framerate=30/1";
    let mut harness = pool_harness("memory=shm", crop);
    let mut frame = gst::Buffer::from_slice(bytes_of(&tight_nv12(), 2));
    add_video_meta(&mut frame, VideoFormat::Nv12, [64, 36], &[0, 64 * 36], &[64, 64]);
    VideoCropMeta::add(frame.get_mut().unwrap(), (16, 8, 32, 16));
    let copy = harness.push_and_pull(frame).unwrap();
    assert!(copy.meta::<VideoCropMeta>().is_none());
    let rows = samples(&copy, &info(crop));
    assert!((0..16).all(|row| rows[row] == [sample(2, 0, 8 + row); 32]));
    assert!((0..8).all(|row| rows[16 + row] == [sample(2, 1, 4 + row); 32]));
}

// G16: the set of the old caps is gone before the first buffer of the new one is made.
#[test]
fn new_caps_free_the_old_buffers_first() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm min-buffers=3", NV12);
    let before = fd_count();
    for (round, (width, height)) in [(64, 36), (322, 242), (64, 36), (96, 54)].iter().enumerate() {
        let caps = caps("NV12", (*width, *height));
        harness.set_src_caps_str(&caps);
        assert_eq!(fd_count(), before, "round {round}: what is new is made when it is needed");
        let size = info(&caps).size();
        let held: Vec<_> = (0..5)
            .map(|_| harness.push_and_pull(gst::Buffer::with_size(size).unwrap()).unwrap())
            .collect();
        assert!(fd_count() >= before + 5);
        drop(held);
    }
    drop(harness);
}

// S-GST-09, G06
#[test]
fn a_hundred_starts_and_stops_leave_nothing_open() {
    let _one = one_at_a_time();
    for between in ["", "! identity drop-allocation=true"] {
        let description = format!(
            "videotestsrc num-buffers=3 ! {} {between} ! tensorpool name=pool ! fakesink",
            caps("RGB", (642, 48))
        );
        let pipeline = gst::parse::launch(&description).unwrap();
        let cycle = || {
            pipeline.set_state(gst::State::Playing).unwrap();
            let bus = pipeline.bus().unwrap();
            let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
            let last = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &kinds).unwrap();
            assert_eq!(last.type_(), gst::MessageType::Eos, "{last:?}");
            pipeline.set_state(gst::State::Null).unwrap();
        };
        cycle();
        let before = fd_count();
        (0..100).for_each(|_| cycle());
        assert_eq!(fd_count(), before, "{description}");
    }
}

// S-GST-07
#[test]
fn downstreams_numbers_and_padding_are_kept() {
    let _one = one_at_a_time();
    init();
    let mut harness = Harness::new_parse("tensorpool name=pool memory=shm max-buffers=8");
    answered(&harness, |query| {
        let plain = gst_video::VideoBufferPool::new();
        query.add_allocation_pool(Some(&plain), 1 << 16, 5, 6);
        let padding = gst::Structure::builder("video-meta").field("padding-bottom", 12_u32).build();
        query.add_allocation_meta::<VideoMeta>(Some(&padding));
    });
    harness.set_src_caps_str(NV12);
    let frame = harness.push_and_pull(gst::Buffer::with_size(64 * 54).unwrap()).unwrap();
    assert_is_of_our_kind(&frame, 64);
    let meta = frame.meta::<VideoMeta>().unwrap();
    assert_eq!((meta.offset()[1], meta.alignment().padding_bottom()), (64 * 48, 12));
    assert_eq!(frame.size(), 1 << 16, "at least as large as was asked");

    let query = asked(&mut harness, NV12);
    let (pool, size, min, max) = query.allocation_pools().next().unwrap();
    assert!(pool.unwrap().is::<TensorBufferPool>(), "not the plain one");
    assert_eq!((size, min, max), (1 << 16, 5, 6));
    let named = query.find_allocation_meta::<VideoMeta>().unwrap();
    let (_, params) = query.allocation_metas().nth(usize::try_from(named).unwrap()).unwrap();
    assert_eq!(params.unwrap().get("padding-bottom"), Ok(12_u32));
}

// S-GST-07
#[test]
fn downstreams_own_pool_of_such_memory_is_preferred() {
    let _one = one_at_a_time();
    init();
    let theirs = TensorBufferPool::builder().alignment(StrideAlign::new(512).unwrap());
    let theirs = theirs.build().unwrap();
    let mut harness =
        Harness::new_parse("tensorpool name=pool alignment=256 min-buffers=4 max-buffers=6");
    let offer = theirs.clone();
    answered(&harness, move |query| query.add_allocation_pool(Some(&offer), 0, 2, 8));
    harness.set_src_caps_str(NV12);
    let query = asked(&mut harness, NV12);
    let offered = query.allocation_pools().next().unwrap();
    assert_eq!(offered, (Some(theirs.clone().upcast()), 0, 4, 6), "with the numbers of both");
    assert!(!theirs.is_active(), "who fills it configures it");
    let frame = harness.push_and_pull(gst::Buffer::with_size(64 * 54).unwrap()).unwrap();
    assert_is_of_our_kind(&frame, 512);
    assert!(theirs.is_active());
    drop(harness);
    assert!(!theirs.is_active());
}

// G15
#[test]
fn what_the_machine_does_not_have_is_an_error_with_every_path_and_errno() {
    let _one = one_at_a_time();
    let dma_bufs = AllocPolicy::dma_buf_only();
    for (policy, properties, path) in [
        (dma_bufs.clone().contiguous(), "contiguous=true", "/dev/dma_heap"),
        (dma_bufs, "memory=dmabuf", "/dev/udmabuf"),
    ] {
        let Err(error) = policy.allocate(1, CpuAccess::ReadWrite) else {
            println!("skipped: this machine has what {properties} asks for");
            continue;
        };
        let text = failure(properties);
        assert!(text.contains(path) && text.contains(&error.to_string()), "{properties}: {text}");
    }
    let text = failure("min-buffers=4 max-buffers=3");
    assert!(text.contains("max-buffers: 3 are fewer than min-buffers, 4"), "{text}");
}

/// The error with which a pipeline ends.
fn failure(properties: &str) -> String {
    let pipeline =
        gst::parse::launch(&format!("videotestsrc ! tensorpool {properties} ! fakesink")).unwrap();
    let _may_fail_at_once = pipeline.set_state(gst::State::Playing);
    let bus = pipeline.bus().unwrap();
    let limit = gst::ClockTime::from_seconds(30);
    let message = bus.timed_pop_filtered(limit, &[gst::MessageType::Error]).unwrap();
    pipeline.set_state(gst::State::Null).unwrap();
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    error.error().to_string()
}

/// The text of an error that memory has run out, and nothing else.
fn no_space(bus: &gst::Bus) -> String {
    let message = bus.pop_filtered(&[gst::MessageType::Error]).expect("an error is posted");
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    assert!(error.error().matches(gst::ResourceError::NoSpaceLeft), "{error:?}");
    error.error().to_string()
}

/// With no descriptor left there is no memory for the second copy.
#[test]
fn memory_that_runs_out_later_is_an_error_with_every_path_and_errno() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm", NV12);
    let bus = gst::Bus::new();
    pool_of(&harness).set_bus(Some(&bus));
    let plain = || gst::Buffer::with_size(64 * 54).unwrap();
    let held = harness.push_and_pull(plain()).unwrap();
    let open = || std::fs::File::open("/dev/null").ok();
    let files: Vec<_> = std::iter::from_fn(open).collect();
    let failed = harness.push(plain());
    drop((held, files));
    assert_eq!(failed, Err(gst::FlowError::Error));
    let text = no_space(&bus);
    assert!(text.contains("memfd") && text.contains("os error 24"), "{text}");
    pool_of(&harness).set_bus(None);
}

/// One that waits for a buffer of a full pool is let go when the pipeline stops.
#[test]
fn a_full_pool_does_not_keep_a_pipeline_from_stopping() {
    let _one = one_at_a_time();
    let pipeline = parse(&format!(
        "videotestsrc ! {} ! identity drop-allocation=true \
         ! tensorpool min-buffers=2 max-buffers=2 memory=shm ! appsink name=sink sync=false",
        caps("RGB", (64, 48))
    ));
    let held = [pull(&pipeline, "sink"), pull(&pipeline, "sink")];
    std::thread::sleep(Duration::from_millis(100));
    pipeline.set_state(gst::State::Null).unwrap();
    drop(held);
}

/// One line when the mode changes, with the reason.
#[test]
fn the_log_says_what_happens_to_frames_and_why() {
    let _one = one_at_a_time();
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let lines = || LINES.lock().unwrap_or_else(PoisonError::into_inner);
    gst::log::set_threshold_for_name("tensorpool", gst::DebugLevel::Info);
    gst::log::add_log_function(move |category, _, _, _, _, _, message| {
        if category.name() == "tensorpool" {
            lines().push(message.get().unwrap_or_default().to_string());
        }
    });
    let mut harness = pool_harness("memory=shm", NV12);
    let good = || buffer([fd_memory(&filled(&tight_nv12(), 0, 3))]);
    let plain = || gst::Buffer::with_size(64 * 54).unwrap();
    for frame in [good(), good(), plain(), plain(), good()] {
        harness.push_and_pull(frame).unwrap();
    }
    let said: Vec<_> = lines().iter().filter(|line| line.contains("bytes")).cloned().collect();
    assert_eq!(
        said,
        [
            "upstream's own shm is as good, 0 bytes copied",
            "frames are copied to shm, 3456 bytes: its memory has no file descriptor",
            "upstream's own shm is as good, 0 bytes copied",
        ]
    );
}

/// A log function runs wherever something is logged; it may ask for anything.
#[test]
fn statistics_can_be_read_from_a_log_function() {
    let _one = one_at_a_time();
    let pipeline = gst::parse::launch(&format!(
        "videotestsrc num-buffers=20 ! capsfilter name=caps caps={} ! tensorpool name=pool \
         ! fakesink",
        caps("RGB", (642, 48))
    ));
    let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
    let pool = pipeline.by_name("pool").unwrap().downgrade();
    let filter = pipeline.by_name("caps").unwrap();
    gst::log::set_default_threshold(gst::DebugLevel::Trace);
    gst::log::remove_default_log_function();
    let busy = Mutex::new(());
    let function = gst::log::add_log_function(move |_, _, _, _, _, _, _| {
        // What is read is logged too.
        if let (Ok(_once), Some(pool)) = (busy.try_lock(), pool.upgrade()) {
            pool.property::<gst::Structure>("stats");
        }
    });
    for format in ["RGB", "NV12"] {
        filter.set_property("caps", caps(format, (642, 48)).parse::<gst::Caps>().unwrap());
        pipeline.set_state(gst::State::Playing).unwrap();
        let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
        let limit = gst::ClockTime::from_seconds(30);
        let end = pipeline.bus().unwrap().timed_pop_filtered(limit, &kinds).unwrap();
        assert_eq!(end.type_(), gst::MessageType::Eos, "{end:?}");
        pipeline.set_state(gst::State::Null).unwrap();
    }
    gst::log::remove_log_function(function);
    gst::log::set_default_threshold(gst::DebugLevel::None);
}

// G10
#[test]
fn every_spelling_of_a_frame_is_taken_and_tiles_are_not() {
    let _one = one_at_a_time();
    let accepts = |caps: &str| {
        let element = gst::ElementFactory::make("tensorpool").build().unwrap();
        element.static_pad("sink").unwrap().query_accept_caps(&caps.parse().unwrap())
    };
    assert!(accepts(NV12));
    assert!(accepts(&NV12.replace("x-raw", "x-raw(memory:DMABuf)")));
    let drm = "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=36,framerate=30/1";
    assert!(accepts(&format!("{drm},drm-format=NV12")));
    assert!(!accepts(&format!("{drm},drm-format=NV12:0x0100000000000002")));
    assert!(!accepts(&NV12.replace("NV12", "v210")));
}

#[test]
fn a_frame_that_ends_early_is_an_error_with_numbers() {
    let _one = one_at_a_time();
    let mut harness = pool_harness("memory=shm", NV12);
    let bus = gst::Bus::new();
    pool_of(&harness).set_bus(Some(&bus));
    let before = fd_count();
    for _ in 0..100 {
        let pushed = harness.push(gst::Buffer::with_size(100).unwrap());
        assert_eq!(pushed, Err(gst::FlowError::Error));
    }
    let message = bus.pop_filtered(&[gst::MessageType::Error]).unwrap();
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    assert!(error.error().to_string().contains("3456 bytes are needed, it has 100"), "{error:?}");
    assert_eq!(fd_count(), before);
    pool_of(&harness).set_bus(None);
}
