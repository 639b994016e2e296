//! The pool and the allocator, from the outside.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics fails, which is what a test is for"
)]

use std::{
    fs,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use gst::{FlowError, glib, prelude::*};
use gst_allocators::{DmaBufAllocator, DmaBufMemory, FdMemory};
use gst_video::{
    BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, BUFFER_POOL_OPTION_VIDEO_META, VideoAlignment,
    VideoBufferPoolConfig, VideoFormat, VideoFrameExt, VideoFrameRef, VideoInfo, VideoMeta,
};
use gsttensor::{
    BufferTensorExt,
    allocator::{self, TensorAllocator},
    pool::TensorBufferPool,
    video_layout::caps_formats,
};
use tensor_core::{
    StrideAlign,
    memory::{AllocPolicy, Step},
};

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn messages() -> MutexGuard<'static, Vec<String>> {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts GStreamer with criticals fatal and our logs collected. Tests run one at a time, since
/// some count the descriptors of the process.
fn start() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static STARTED: OnceLock<()> = OnceLock::new();
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    STARTED.get_or_init(|| {
        let fatal = glib::LogLevels::LEVEL_ERROR | glib::LogLevels::LEVEL_CRITICAL;
        glib::log_set_always_fatal(fatal);
        gst::init().unwrap();
        gsttensor::plugin_register_static().unwrap();
        gst::log::set_default_threshold(gst::DebugLevel::Info);
        gst::log::remove_default_log_function();
        gst::log::add_log_function(|category, level, _, _, _, _, message| {
            if category.name().starts_with("tensor") {
                messages().push(format!("{level:?} {}", message.get().unwrap_or_default()));
            }
        });
        // Threads and files that GStreamer keeps for good are there before descriptors are counted.
        drop(activated(&TensorBufferPool::new(), &caps(VideoFormat::Rgb, 64, 64)));
    });
    messages().clear();
    guard
}

fn said(part: &str) -> usize {
    messages().iter().filter(|message| message.contains(part)).count()
}

fn open_fds() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn caps(format: VideoFormat, width: i32, height: i32) -> gst::Caps {
    gst::Caps::builder("video/x-raw")
        .field("format", format.to_str())
        .field("width", width)
        .field("height", height)
        .build()
}

fn config(pool: &TensorBufferPool, caps: &gst::Caps, min: u32, max: u32) -> gst::BufferPoolConfig {
    let size = VideoInfo::from_caps(caps).map_or(0, |info| info.size());
    let mut config = pool.config();
    config.set_params(Some(caps), u32::try_from(size).unwrap(), min, max);
    config.add_option(BUFFER_POOL_OPTION_VIDEO_META);
    config
}

/// What every well-behaved user of a pool does: set, read back, set again.
fn configure(pool: &TensorBufferPool, config: gst::BufferPoolConfig) {
    if pool.set_config(config).is_err() {
        pool.set_config(pool.config()).unwrap();
    }
}

fn activated(pool: &TensorBufferPool, caps: &gst::Caps) -> gst::Buffer {
    configure(pool, config(pool, caps, 1, 0));
    pool.set_active(true).unwrap();
    pool.acquire_buffer(None).unwrap()
}

fn geometry(buffer: &gst::BufferRef) -> (Vec<i32>, Vec<usize>) {
    let meta = buffer.meta::<VideoMeta>().unwrap();
    (meta.stride().to_vec(), meta.offset().to_vec())
}

fn no_heap(steps: &[Step]) -> TensorBufferPool {
    let policy = AllocPolicy::from_steps(steps.iter().copied());
    let policy = policy.with_heap_directory("/nonexistent/heaps");
    TensorBufferPool::builder().policy(policy).build().unwrap()
}

// S-GST-06, G04
#[test]
fn strides_are_the_smallest_multiples_of_64() {
    let _one = start();
    let table = [
        (VideoFormat::Rgb, [642, 480], vec![1984], vec![0]),
        (VideoFormat::Rgbx, [321, 240], vec![1344], vec![0]),
        (VideoFormat::Nv12, [642, 481], vec![704, 704], vec![0, 704 * 481]),
        (VideoFormat::Nv12, [1920, 1080], vec![1920, 1920], vec![0, 1920 * 1080]),
        (
            VideoFormat::I420,
            [642, 480],
            vec![704, 384, 384],
            vec![0, 704 * 480, 704 * 480 + 384 * 240],
        ),
        (VideoFormat::Gray8, [30, 3], vec![64], vec![0]),
    ];
    for (format, [width, height], strides, offsets) in table {
        let pool = TensorBufferPool::new();
        let buffer = activated(&pool, &caps(format, width, height));
        assert_eq!(geometry(&buffer), (strides, offsets), "{format}");
        assert_eq!((buffer.n_memory(), buffer.peek_memory(0).offset()), (1, 0));
        assert_eq!(u32::try_from(buffer.size()).unwrap(), pool.config().params().unwrap().1);
        assert_eq!(
            buffer.peek_memory(0).is_memory_type::<DmaBufMemory>(),
            TensorAllocator::is_available()
        );
    }
    for (align, stride) in [(256, 768), (1, 704)] {
        let align = StrideAlign::new(align).unwrap();
        let pool = TensorBufferPool::builder().alignment(align).build().unwrap();
        assert_eq!(geometry(&activated(&pool, &caps(VideoFormat::Gray8, 641, 4))).0, [stride]);
    }
}

// S-STR-07: for every format of the caps, odd sizes too
#[test]
fn the_video_meta_has_the_strides_of_the_tensor() {
    let _one = start();
    for format in caps_formats() {
        for (width, height) in [(642, 480), (643, 481)] {
            let (pool, caps) = (TensorBufferPool::new(), caps(format, width, height));
            let mut harness = gst_check::Harness::new("tensorimport");
            harness.set_src_caps(caps.clone());
            let buffer = harness.push_and_pull(activated(&pool, &caps)).unwrap();
            let (strides, offsets) = geometry(&buffer);
            let tensor = buffer.tensor_meta().unwrap().tensor(&buffer).unwrap();
            let planes = tensor.image_layout().unwrap().planes();
            assert_eq!(planes.len(), strides.len(), "{format}");
            for (plane, (stride, offset)) in planes.iter().zip(strides.iter().zip(&offsets)) {
                let said = (usize::try_from(*stride).unwrap(), *offset);
                assert_eq!((plane.stride, plane.offset), said, "{format} {width}x{height}");
                assert_eq!(plane.stride % 64, 0, "{format} {width}x{height}");
            }
        }
    }
}

#[test]
fn a_changed_configuration_is_refused_once_and_then_accepted() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let rgb = caps(VideoFormat::Rgb, 642, 480);
    assert!(pool.set_config(config(&pool, &rgb, 2, 4)).is_err(), "the size was raised");
    let settled = pool.config();
    assert!(settled.validate_params(Some(&rgb), 642 * 480 * 3, 2, 4).is_ok());
    assert_eq!(settled.params().unwrap(), (Some(rgb), 1984 * 480, 2, 4));
    pool.set_config(settled).unwrap();

    // Nothing to change: accepted at once, in exchange for the first one.
    let nv12 = caps(VideoFormat::Nv12, 640, 480);
    pool.set_config(config(&pool, &nv12, 0, 0)).unwrap();
    pool.set_active(true).unwrap();
    assert_eq!(geometry(&pool.acquire_buffer(None).unwrap()).0, [640, 640]);
}

#[test]
fn whoever_does_not_ask_for_video_meta_is_told_of_it() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let nv12 = caps(VideoFormat::Nv12, 640, 480);
    let mut config = pool.config();
    config.set_params(Some(&nv12), 640 * 480 * 3 / 2, 0, 0);
    assert!(pool.set_config(config).is_err());
    assert!(pool.config().has_option(BUFFER_POOL_OPTION_VIDEO_META));
    pool.set_config(pool.config()).unwrap();
}

#[test]
fn a_configuration_that_cannot_be_is_refused_and_leaves_no_stale_one() {
    let _one = start();
    let pool = TensorBufferPool::new();
    drop(activated(&pool, &caps(VideoFormat::Rgb, 64, 64)));
    pool.set_active(false).unwrap();
    let unknown = caps(VideoFormat::Nv1210le32, 64, 64);
    for _ in 0..2 {
        let _refused = pool.set_config(config(&pool, &unknown, 1, 0));
    }
    assert_eq!(said("NV12_10LE32 is not known"), 1);
    assert!(pool.set_active(true).is_err());
    assert!(TensorBufferPool::new().set_config(pool.config()).is_err());
}

#[test]
fn linear_dma_drm_caps_are_those_of_the_format() {
    let _one = start();
    let drm: gst::Caps =
        "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=BG24,width=642,height=480"
            .parse()
            .unwrap();
    let buffer = activated(&TensorBufferPool::new(), &drm);
    assert_eq!(geometry(&buffer).0, [1984]);
    assert_eq!(buffer.meta::<VideoMeta>().unwrap().format(), VideoFormat::Rgb);
}

#[test]
fn padding_is_honoured_and_stated_when_it_can_be() {
    let _one = start();
    let nv12 = caps(VideoFormat::Nv12, 64, 36);
    let stated = |asked: &VideoAlignment| {
        let pool = TensorBufferPool::new();
        let mut config = config(&pool, &nv12, 1, 0);
        config.add_option(BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
        config.set_video_alignment(asked);
        configure(&pool, config);
        pool.set_active(true).unwrap();
        let buffer = pool.acquire_buffer(None).unwrap();
        let alignment = buffer.meta::<VideoMeta>().unwrap().alignment();
        (geometry(&buffer), buffer.size(), alignment)
    };
    // Rows begin aligned: 8 columns on the left become 64, and 184 columns 192. So does GStreamer.
    let ((strides, offsets), size, alignment) = stated(&VideoAlignment::new(4, 4, 8, 56, &[63; 4]));
    assert_eq!(strides, [192, 192]);
    assert_eq!(offsets, [4 * 192 + 64, 44 * 192 + 2 * 192 + 64]);
    assert_eq!(size, 66 * 192);
    assert!(alignment == VideoAlignment::new(4, 4, 64, 64, &[63; 4]), "{alignment:?}");

    let ((strides, _), _, alignment) = stated(&VideoAlignment::new(0, 0, 1, 1, &[0; 4]));
    assert_eq!(strides, [192, 192]);
    assert!(alignment == VideoAlignment::default(), "not what GStreamer would compute");
}

#[test]
fn min_and_max_are_respected_and_a_pool_can_be_activated_again() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let rgb = caps(VideoFormat::Rgb, 64, 64);
    for _ in 0..2 {
        configure(&pool, config(&pool, &rgb, 2, 2));
        pool.set_active(true).unwrap();
        let held = [pool.acquire_buffer(None).unwrap(), pool.acquire_buffer(None).unwrap()];
        let no_wait =
            gst::BufferPoolAcquireParams::with_flags(gst::BufferPoolAcquireFlags::DONTWAIT);
        assert_eq!(pool.acquire_buffer(Some(&no_wait)), Err(FlowError::Eos));
        drop(held);
        pool.set_active(false).unwrap();
    }
}

#[test]
fn a_buffer_that_lost_its_memory_is_not_given_again() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let mut buffer = activated(&pool, &caps(VideoFormat::Rgb, 642, 4));
    buffer.get_mut().unwrap().remove_all_memory();
    drop(buffer);
    let next = pool.acquire_buffer(None).unwrap();
    assert_eq!((next.n_memory(), next.size()), (1, 1984 * 4));
}

#[test]
fn every_byte_of_a_frame_can_be_written() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let mut buffer = activated(&pool, &caps(VideoFormat::Rgb, 642, 480));
    buffer.get_mut().unwrap().map_writable().unwrap().fill(0xa5);
    assert!(buffer.map_readable().unwrap().iter().all(|byte| *byte == 0xa5));
    assert!(buffer.peek_memory(0).is_memory_type::<FdMemory>(), "the memory was not replaced");
}

/// Lets `source` see a peer that offers `pool` and knows video meta.
fn offer(sink: &gst::Element, pool: &TensorBufferPool) {
    let pool = pool.clone();
    let answer = move |_: &gst::Pad, info: &mut gst::PadProbeInfo<'_>| {
        let Some(query) = info.query_mut() else { return gst::PadProbeReturn::Ok };
        let gst::QueryViewMut::Allocation(query) = query.view_mut() else {
            return gst::PadProbeReturn::Ok;
        };
        let caps = query.get().0.unwrap().to_owned();
        let size = VideoInfo::from_caps(&caps).unwrap().size();
        query.add_allocation_pool(Some(&pool), u32::try_from(size).unwrap(), 2, 0);
        query.add_allocation_meta::<VideoMeta>(None);
        gst::PadProbeReturn::Handled
    };
    let pad = sink.static_pad("sink").unwrap();
    pad.add_probe(gst::PadProbeType::QUERY_DOWNSTREAM, answer).unwrap();
}

fn frames(description: &str, pool: Option<&TensorBufferPool>) -> Vec<gst::Buffer> {
    let pipeline = gst::parse::launch(&format!("{description} ! appsink name=sink sync=false"));
    let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
    let sink = pipeline.by_name("sink").unwrap();
    if let Some(pool) = pool {
        offer(&sink, pool);
    }
    let sink = sink.downcast::<gst_app::AppSink>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let pull = || sink.pull_sample().ok().map(|sample| sample.buffer_owned().unwrap());
    let buffers = std::iter::from_fn(pull).collect();
    pipeline.set_state(gst::State::Null).unwrap();
    buffers
}

#[test]
fn a_source_fills_our_frames_with_the_same_picture() {
    let _one = start();
    for format in ["RGB", "NV12", "I420", "YUY2", "GRAY8"] {
        let caps = format!("video/x-raw,format={format},width=642,height=50");
        let source = format!("videotestsrc num-buffers=3 ! {caps}");
        let info = VideoInfo::from_caps(&caps.parse::<gst::Caps>().unwrap()).unwrap();
        let ours = frames(&source, Some(&TensorBufferPool::new()));
        let theirs = frames(&source, None);
        assert_eq!((ours.len(), theirs.len()), (3, 3));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!(ours.peek_memory(0).is_memory_type::<FdMemory>(), "{format}: not our memory");
            assert!(geometry(ours).0.iter().all(|stride| stride % 64 == 0), "{format}");
            let ours = VideoFrameRef::from_buffer_ref_readable(ours, &info).unwrap();
            let theirs = VideoFrameRef::from_buffer_ref_readable(theirs, &info).unwrap();
            assert_eq!(samples(&ours), samples(&theirs), "{format}");
        }
    }
}

/// The real samples of every plane, without padding.
fn samples(frame: &VideoFrameRef<&gst::BufferRef>) -> Vec<Vec<u8>> {
    let layout = gsttensor::video_layout::layout_from_info(frame.info()).unwrap();
    let row = |plane: u32, row: usize| {
        let stride =
            usize::try_from(frame.plane_stride()[usize::try_from(plane).unwrap()]).unwrap();
        let len = layout.row_bytes(usize::try_from(plane).unwrap());
        frame.plane_data(plane).unwrap()[row.strict_mul(stride)..][..len].to_vec()
    };
    (0..frame.n_planes())
        .flat_map(|plane| {
            (0..layout.rows(usize::try_from(plane).unwrap())).map(move |r| row(plane, r))
        })
        .collect()
}

// G15
#[test]
fn without_a_heap_the_pool_says_once_why_its_frames_are_shared_memory() {
    let _one = start();
    let pool = no_heap(&[Step::DmaHeap, Step::Memfd]);
    configure(&pool, config(&pool, &caps(VideoFormat::Rgb, 64, 64), 3, 0));
    pool.set_active(true).unwrap();
    let buffer = pool.acquire_buffer(None).unwrap();
    assert!(buffer.peek_memory(0).is_memory_type::<FdMemory>());
    assert!(!buffer.peek_memory(0).is_memory_type::<DmaBufMemory>(), "a memfd is no dma-buf");
    assert_eq!(said("frames are shm, not dma-buf: dma-heap /nonexistent/heaps"), 1);
    assert_eq!(said("os error 2"), 1);
}

// G15
#[test]
fn without_any_memory_activation_fails_and_names_every_path_and_errno() {
    let _one = start();
    let pool = no_heap(&[Step::DmaHeap]);
    let before = open_fds();
    configure(&pool, config(&pool, &caps(VideoFormat::Rgb, 64, 64), 3, 0));
    assert!(pool.set_active(true).is_err());
    assert_eq!(said("/nonexistent/heaps: No such file or directory (os error 2)"), 1);
    assert_eq!(open_fds(), before);
}

// G21
#[test]
fn a_pool_dies_with_its_last_reference_and_takes_its_descriptors_along() {
    let _one = start();
    let before = open_fds();
    let pool = TensorBufferPool::new();
    let idle = open_fds();
    configure(&pool, config(&pool, &caps(VideoFormat::Rgb, 642, 480), 6, 0));
    pool.set_active(true).unwrap();
    let buffers: Vec<_> = (0..8).map(|_| pool.acquire_buffer(None).unwrap()).collect();
    assert!(open_fds() >= idle.strict_add(8));
    drop(buffers);
    pool.set_active(false).unwrap();
    assert_eq!(open_fds(), idle);
    let weak = pool.downgrade();
    drop(pool);
    assert!(weak.upgrade().is_none());
    assert_eq!(open_fds(), before);
}

// G21
#[test]
fn a_pool_dropped_while_active_and_outstanding_leaks_nothing() {
    let _one = start();
    let before = open_fds();
    let pool = TensorBufferPool::new();
    let buffer = activated(&pool, &caps(VideoFormat::Rgb, 64, 64));
    let weak = pool.downgrade();
    drop(pool);
    drop(buffer);
    assert!(weak.upgrade().is_none());
    assert_eq!(open_fds(), before);
}

#[test]
fn an_allocator_that_makes_no_dma_bufs_is_replaced() {
    let _one = start();
    let plain = gst::Allocator::find(Some("SystemMemory")).unwrap();
    let stock = DmaBufAllocator::new().upcast::<gst::Allocator>();
    for wrong in [plain, stock] {
        let pool = TensorBufferPool::new();
        let config = config(&pool, &caps(VideoFormat::Nv12, 640, 480), 1, 0);
        config.set_allocator(Some(&wrong), None);
        assert!(pool.set_config(config).is_err());
        let ours = pool.config().allocator().unwrap().0.unwrap();
        assert_eq!(Some(ours), gst::Allocator::find(Some(allocator::NAME)));
        configure(&pool, pool.config());
        pool.set_active(true).unwrap();
        let buffer = pool.acquire_buffer(None).unwrap();
        assert!(buffer.peek_memory(0).is_memory_type::<FdMemory>());
    }
}

#[test]
fn a_prefix_is_taken_out_of_the_configuration() {
    let _one = start();
    let pool = TensorBufferPool::new();
    let config = config(&pool, &caps(VideoFormat::Nv12, 640, 480), 1, 0);
    let params = gst::AllocationParams::new(gst::MemoryFlags::empty(), 15, 32, 63);
    config.set_allocator(gst::Allocator::NONE, Some(&params));
    assert!(pool.set_config(config).is_err());
    let settled = pool.config().allocator().unwrap().1;
    assert_eq!((settled.prefix(), settled.padding()), (0, 63));
    configure(&pool, pool.config());
    pool.set_active(true).unwrap();
    let memory = pool.acquire_buffer(None).unwrap();
    let (size, maxsize) = (memory.peek_memory(0).size(), memory.peek_memory(0).maxsize());
    assert!(maxsize >= size.strict_add(63), "{maxsize} of {size}");
}

// S-GST-05, G22
#[test]
fn the_allocator_is_found_by_name_and_gives_dma_bufs_or_nothing() {
    let _one = start();
    let before = open_fds();
    let found = gst::Allocator::find(Some(allocator::NAME)).unwrap();
    assert!(found.is::<DmaBufAllocator>());
    let memory = found.alloc(5000, None);
    assert_eq!(memory.is_ok(), TensorAllocator::is_available());
    if let Ok(memory) = &memory {
        assert!(memory.is_memory_type::<DmaBufMemory>());
        assert_eq!((memory.size(), memory.offset()), (5000, 0));
        assert!(memory.maxsize() >= 8192, "whole pages stay inside: {}", memory.maxsize());
    } else {
        println!("skipped the dma-buf half: no dma-heap and no udmabuf on this machine");
        assert_eq!(said("no memory of 5000 bytes could be had; dma-heap /dev/dma_heap"), 1);
        assert_eq!(said("/dev/udmabuf"), 1);
    }
    drop(memory);
    assert_eq!(open_fds(), before);
}

#[test]
fn the_allocator_refuses_a_prefix_by_name() {
    let _one = start();
    let found = gst::Allocator::find(Some(allocator::NAME)).unwrap();
    let params = gst::AllocationParams::new(gst::MemoryFlags::empty(), 0, 128, 0);
    assert!(found.alloc(5000, Some(&params)).is_err());
    assert_eq!(said("a prefix of 128 bytes was asked for"), 1);
    let params = gst::AllocationParams::new(gst::MemoryFlags::empty(), 65535, 0, 0);
    assert!(found.alloc(5000, Some(&params)).is_err());
    assert_eq!(said("an alignment to 65535 + 1 bytes"), 1);
    assert!(found.alloc(usize::MAX, None).is_err());
}

// G21
#[test]
fn eight_threads_share_one_allocator_and_leave_no_descriptor() {
    let _one = start();
    let before = open_fds();
    let allocate = || {
        let found = gst::Allocator::find(Some(allocator::NAME)).unwrap();
        for _ in 0..100 {
            assert_eq!(found.alloc(5000, None).is_ok(), TensorAllocator::is_available());
        }
        found.as_ptr().addr()
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(allocate)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(found.iter().all(|address| *address == found[0]));
    assert_eq!(open_fds(), before);
}

// G16: at no time is there more than the old set and one buffer of the new.
#[test]
fn a_new_pool_takes_one_buffer_while_the_old_one_still_has_its_own() {
    let _one = start();
    let pool = |height| {
        let frames = TensorBufferPool::builder().video(VideoFormat::Nv12, 1280, height).unwrap();
        frames.buffers(6, 6).build().unwrap()
    };
    let (old, new) = (pool(720), pool(360));
    let take_six = |pool: &TensorBufferPool| {
        drop((0..6).map(|_| pool.acquire_buffer(None).unwrap()).collect::<Vec<_>>());
    };
    let before = open_fds();
    old.set_active(true).unwrap();
    let one = open_fds().strict_sub(before);
    take_six(&old);
    let full = open_fds().strict_sub(before);
    assert_eq!(full, one.strict_mul(6), "{one} descriptors for one buffer");

    // What sources do at a change of format: the new one first.
    new.set_active(true).unwrap();
    assert_eq!(open_fds().strict_sub(before), full.strict_add(one));
    old.set_active(false).unwrap();
    take_six(&new);
    assert_eq!(open_fds().strict_sub(before), full);
    new.set_active(false).unwrap();
    assert_eq!(open_fds(), before);
}

// G13
#[test]
fn samples_rows_and_memory_have_a_size_each() {
    let _one = start();
    let pool = TensorBufferPool::builder().video(VideoFormat::Rgb, 33, 17).unwrap();
    let pool = pool.build().unwrap();
    pool.set_active(true).unwrap();
    let buffer = pool.acquire_buffer(None).unwrap();
    let info = VideoInfo::builder(VideoFormat::Rgb, 33, 17).build().unwrap();
    let meta = buffer.meta::<VideoMeta>().unwrap();
    let layout = gsttensor::video_layout::layout_from_info(&info).unwrap();
    let layout = gsttensor::video_layout::layout_from_meta(&layout, &meta).unwrap();
    let samples = layout.row_bytes(0).strict_mul(layout.rows(0));
    assert_eq!((samples, layout.required_len(0)), (1683, 16 * 128 + 99));
    let asked = usize::try_from(pool.config().params().unwrap().1).unwrap();
    assert_eq!((asked, buffer.size()), (17 * 128, 17 * 128));
    assert!(buffer.peek_memory(0).maxsize() >= asked);
}

// G15: the last resort, for which rows are aligned too.
#[test]
fn without_descriptors_frames_are_plain_memory_and_aligned() {
    let _one = start();
    let pool = no_heap(&[Step::DmaHeap, Step::Heap]);
    let buffer = activated(&pool, &caps(VideoFormat::Rgb, 642, 4));
    assert_eq!(geometry(&buffer).0, [1984]);
    assert!(!buffer.peek_memory(0).is_memory_type::<FdMemory>());
    let map = buffer.map_readable().unwrap();
    assert!(map.as_ptr().addr().is_multiple_of(64));
    assert_eq!(said("frames are mem, not dma-buf: dma-heap /nonexistent/heaps"), 1);
}

// G15
#[test]
fn contiguous_memory_is_given_by_a_contiguous_heap_or_not_at_all() {
    let _one = start();
    let policy = AllocPolicy::default().with_heap_directory("/nonexistent/heaps");
    let pool = TensorBufferPool::builder().video(VideoFormat::Nv12, 64, 36).unwrap();
    let pool = pool.policy(policy).contiguous(true).build().unwrap();
    assert!(pool.set_active(true).is_err());
    assert_eq!(said("dma-heap /nonexistent/heaps: No such file or directory"), 1);
    assert_eq!(said("memfd"), 0);
}

#[test]
fn frames_that_cannot_be_are_refused_when_the_pool_is_built() {
    let _one = start();
    let caps = caps(VideoFormat::Nv1210le32, 64, 64);
    let error = TensorBufferPool::builder().caps(&caps).build().unwrap_err();
    assert!(error.to_string().contains("NV12_10LE32 is not known"), "{error}");
}
