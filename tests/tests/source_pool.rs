//! Our pool filled by a driver that knows nothing of us, and shown by another.
//!
//! These need the cameras, the heaps and the display of the test machine (`tests/vm/run`); elsewhere
//! they skip aloud.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::{
    collections::HashSet,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gst::prelude::*;
use gsttensor::allocator::TensorAllocator;
use tensor_core::{
    CpuAccess,
    memory::{AllocPolicy, Step},
};
use tensor_tests::{
    camera::{Camera, Input, skip},
    v4l2,
    watch::{Watch, Watched, dma_bufs, plain_sums},
};

const CMA: &str = "/dev/dma_heap/reserved";

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Collects what the category says from now on.
fn listen(category: &'static str, level: gst::DebugLevel) {
    gst::init().unwrap();
    gst::log::remove_default_log_function();
    gst::log::set_threshold_for_name(category, level);
    gst::log::add_log_function(move |from, _, _, _, _, _, message| {
        if from.name() == category {
            lines().push(message.get().unwrap_or_default().to_string());
        }
    });
}

fn said(part: &str) -> usize {
    lines().iter().filter(|line| line.contains(part)).count()
}

struct Shot {
    camera: Camera,
    format: &'static str,
    size: (u32, u32),
}

impl Shot {
    fn source(&self, io_mode: &str) -> String {
        let Self { camera, format, size: (width, height) } = self;
        format!(
            "{} ! video/x-raw,format={format},width={width},height={height}",
            camera.source(io_mode, 30)
        )
    }

    /// Thirty frames written by the driver into the pool of `tensorpool`.
    fn through_the_pool(&self, properties: &str) -> (Watched, gst::Structure) {
        let watch = Watch::new(&format!(
            "{} ! tensorpool name=pool {properties} ! tensorimport name=import ! fakesink",
            self.source("dmabuf-import")
        ));
        let watched = watch.run();
        (watched, watch.element("pool").property("stats"))
    }

    fn assert_pool_is_filled(&self, properties: &str) {
        let what = format!("{} {:?} {properties}", self.format, self.size);
        let still = plain_sums(&format!("{} ! appsink name=sink", self.source("mmap")));
        let (watched, stats) = self.through_the_pool(properties);
        assert_eq!((watched.error.as_ref(), watched.frames.len()), (None, 30), "{what}");
        let count = |name| stats.get::<u64>(name).unwrap();
        assert_eq!(["pooled", "copied-bytes"].map(count), [30, 0], "{what}");
        assert_eq!((stats.get("mode"), stats.get("memory")), (Ok("pool"), Ok("dmabuf")));
        // A frame of the pool is known from birth.
        assert_eq!(["imports", "hits"].map(|name| watched.counter(name)), [0, 30], "{what}");
        for (number, frame) in watched.frames.iter().enumerate() {
            assert_eq!(frame.memories.len(), 1, "{what} frame {number}");
            assert!(frame.memories[0].is_dmabuf, "{what} frame {number}");
            assert!(frame.planes.iter().all(|(place, _)| place.stride % 64 == 0), "{what}");
            assert_eq!(frame.tensor_sums, still[29], "{what} frame {number}");
            assert_eq!(frame.plain_sums, still[29], "{what} frame {number}");
        }
        let files: HashSet<_> = watched.frames.iter().map(|frame| frame.memories[0].file).collect();
        println!("{what}: 30 frames in {} buffers of the pool, 0 bytes copied", files.len());
    }
}

/// Formats with one buffer a frame, whichever camera.
fn formats(camera: Camera) -> &'static [&'static str] {
    match camera {
        Camera::SinglePlanar => &["NV12", "RGB", "YUY2", "GRAY8"],
        Camera::MultiPlanar => &["RGB", "GRAY8"],
    }
}

// S-GST-07, G04
#[test]
fn a_camera_writes_into_our_pool() {
    let Some(camera) = Camera::any(Input::Webcam) else { return };
    let has_cma = Path::new(CMA).exists();
    if Camera::needs_contiguous() && !has_cma {
        return println!("skipped: the camera needs contiguous memory, there is none");
    }
    for format in formats(camera) {
        Shot { camera, format, size: (320, 180) }.assert_pool_is_filled("");
        if has_cma {
            Shot { camera, format, size: (320, 180) }.assert_pool_is_filled("contiguous=true");
        }
    }
    let camera = camera.open(Input::Hdmi).unwrap();
    for format in formats(camera) {
        Shot { camera, format, size: (322, 242) }.assert_pool_is_filled("");
    }
}

/// A directory with the system heap alone.
fn system_heap() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("heaps-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let _there_already = symlink("/dev/dma_heap/system", directory.join("system"));
    directory
}

/// The driver's own answer to memory of `policy`.
fn queued(camera: Camera, policy: &AllocPolicy) -> std::io::Result<()> {
    let memory = policy.allocate(320 * 180, CpuAccess::ReadWrite).unwrap().memory;
    let len = u32::try_from(memory.len()).unwrap();
    v4l2::queue(camera.device(), *b"GREY", (320, 180), memory.fd().unwrap(), len)
}

#[test]
fn a_device_without_an_iommu_takes_contiguous_memory_alone() {
    let Some(camera) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    let heap = AllocPolicy::from_steps([Step::DmaHeap]);
    let system = queued(camera, &heap.clone().with_heap_directory(system_heap()));
    if Camera::needs_contiguous() {
        assert_eq!(system.unwrap_err().raw_os_error(), Some(14), "EFAULT");
    } else {
        system.unwrap();
    }
    if Path::new(CMA).exists() {
        queued(camera, &heap.contiguous()).unwrap();
    } else {
        skip("cma", &format!("there is no {CMA}"));
    }
}

/// GStreamer's source only says that its pool could not be activated.
#[test]
fn the_reason_why_a_camera_refuses_the_pool_is_said_with_its_cure() {
    let Some(camera) = Camera::any(Input::Webcam) else { return };
    if !Camera::needs_contiguous() {
        return skip("no_iommu", "the camera takes any memory");
    }
    if Path::new(CMA).exists() {
        return println!("skipped: the pool of this machine is contiguous without being asked");
    }
    listen("tensorpool", gst::DebugLevel::Warning);
    let shot = Shot { camera, format: "GRAY8", size: (320, 180) };
    let (watched, _) = shot.through_the_pool("");
    assert!(watched.error.is_some() && watched.frames.is_empty());
    for part in ["EFAULT", "set contiguous=true", "here there is none: ", "/dev/dma_heap"] {
        assert_eq!(said(part), 1, "{part} in {:?} after {:?}", lines(), watched.error);
    }
    let (watched, _) = shot.through_the_pool("contiguous=true");
    let error = watched.error.unwrap();
    assert!(error.contains("/dev/dma_heap"), "{error}");
}

/// What a sink saw that keeps frames until it has six of one size.
#[derive(Debug, Default)]
struct Hoarder {
    held: Vec<gst::Buffer>,
    frames: usize,
    /// The most bytes that all dma-bufs had, up to the last frame of the old caps and after.
    peaks: [usize; 2],
}

fn nv12(height: i32) -> gst::Caps {
    gst::Caps::builder("video/x-raw")
        .field("format", "NV12")
        .field("width", height / 9 * 16)
        .field("height", height)
        .build()
}

impl Hoarder {
    /// Twenty frames of 640x360, then twenty of 320x180; nothing is kept when the caps change.
    fn watch(pipeline: &gst::Pipeline) -> Arc<Mutex<Self>> {
        let hoarder = Arc::new(Mutex::new(Self::default()));
        let noted = Arc::clone(&hoarder);
        let filter = pipeline.by_name("caps").unwrap();
        filter.set_property("caps", nv12(360));
        let filter = filter.downgrade();
        let pad = pipeline.by_name("sink").unwrap().static_pad("sink").unwrap();
        let kinds = gst::PadProbeType::BUFFER | gst::PadProbeType::EVENT_DOWNSTREAM;
        pad.add_probe(kinds, move |pad, info| {
            let mut hoarder = noted.lock().unwrap();
            let is_new = pad.current_caps().is_some_and(|caps| caps.can_intersect(&nv12(180)));
            let peak = &mut hoarder.peaks[usize::from(is_new)];
            *peak = dma_bufs().1.max(*peak);
            let Some(frame) = info.buffer() else {
                hoarder.held.clear();
                return gst::PadProbeReturn::Ok;
            };
            hoarder.held.push(frame.clone());
            hoarder.frames += 1;
            if hoarder.held.len() == 6 {
                hoarder.held.clear();
            }
            if hoarder.frames == 20 {
                filter.upgrade().unwrap().set_property("caps", nv12(180));
            }
            gst::PadProbeReturn::Ok
        })
        .unwrap();
        hoarder
    }
}

// G16: written into the pool, and copied into it.
#[test]
fn a_change_of_caps_takes_one_new_buffer_beside_the_old_set() {
    if !TensorAllocator::is_available() || dma_bufs_are_not_told() {
        return skip("dma_buf", "no dma-buf, or the kernel does not tell which there are");
    }
    gst::init().unwrap();
    gsttensor::plugin_register_static().unwrap();
    for between in ["", "! identity drop-allocation=true"] {
        let before = dma_bufs().1;
        let pipeline = gst::parse::launch(&format!(
            "videotestsrc num-buffers=40 ! capsfilter name=caps {between} ! tensorpool \
             ! fakesink name=sink sync=false enable-last-sample=false"
        ));
        let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
        let hoarder = Hoarder::watch(&pipeline);
        play_to_the_end(&pipeline);
        let [old, most] = hoarder.lock().unwrap().peaks.map(|peak| peak - before);
        pipeline.set_state(gst::State::Null).unwrap();
        let one = (320_usize * 180 * 3 / 2).next_multiple_of(4096);
        println!("{old} bytes with the old caps, then {most} at most ({between})");
        assert!(old >= 6 * 640 * 360 * 3 / 2 && most >= 6 * one, "{old}, {most}");
        assert!(most <= old + one, "{most} is more than {old} and {one}");
        assert_eq!(dma_bufs().1, before);
    }
}

fn play_to_the_end(pipeline: &gst::Pipeline) {
    pipeline.set_state(gst::State::Playing).unwrap();
    let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
    let limit = gst::ClockTime::from_seconds(60);
    let end = pipeline.bus().unwrap().timed_pop_filtered(limit, &kinds).unwrap();
    assert_eq!(end.type_(), gst::MessageType::Eos, "{end:?}");
}

fn dma_bufs_are_not_told() -> bool {
    std::fs::read("/sys/kernel/debug/dma_buf/bufinfo").is_err()
}

/// Plain frames for an element that takes nothing but dma-bufs.
#[test]
fn frames_leave_under_the_caps_of_dma_bufs() {
    if !TensorAllocator::is_available() {
        return skip("dma_buf", "there is no dma-buf");
    }
    gst::init().unwrap();
    gsttensor::plugin_register_static().unwrap();
    for format in ["format=NV12", "format=DMA_DRM,drm-format=NV12"] {
        let pipeline = gst::parse::launch(&format!(
            "videotestsrc num-buffers=5 ! video/x-raw,format=NV12,width=322,height=242 \
             ! tensorpool name=pool ! video/x-raw(memory:DMABuf),{format} \
             ! tensorimport name=import ! fakesink"
        ));
        let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
        play_to_the_end(&pipeline);
        let stats = |name| pipeline.by_name(name).unwrap().property::<gst::Structure>("stats");
        assert_eq!(stats("pool").get("mode"), Ok("pool"), "{format}");
        assert_eq!(stats("import").get("memory"), Ok("dmabuf"), "{format}");
        assert_eq!(stats("import").get::<u64>("hits"), Ok(5), "{format}");
        pipeline.set_state(gst::State::Null).unwrap();
    }
}

#[test]
fn a_display_shows_frames_where_they_lie() {
    if !Path::new("/sys/module/vkms").exists() || !TensorAllocator::is_available() {
        return skip("vkms", "there is no virtual display, or no dma-buf");
    }
    listen("kmssink", gst::DebugLevel::Trace);
    gsttensor::plugin_register_static().unwrap();
    let pipeline = gst::parse::launch(
        "videotestsrc num-buffers=20 ! video/x-raw,format=BGRx,width=640,height=480 \
         ! tensorpool name=pool ! kmssink driver-name=vkms force-modesetting=true sync=false",
    );
    let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
    play_to_the_end(&pipeline);
    let stats: gst::Structure = pipeline.by_name("pool").unwrap().property("stats");
    pipeline.set_state(gst::State::Null).unwrap();
    assert_eq!(["frames", "pooled"].map(|name| stats.get::<u64>(name).unwrap()), [20, 20]);
    // Each buffer of the pool is imported once, and shown as often as it comes.
    let imported = said("setting KMS mem");
    assert_eq!(imported + said("found KMS mem"), said("Found a dmabuf"), "{:?}", lines());
    assert!(said("Found a dmabuf") >= 20 && (1..=4).contains(&imported), "{:?}", lines());
    println!("20 frames shown, {imported} buffers imported by the display");
}
