//! Runs a pipeline and writes down what passes `tensorimport`, on both sides of it.

use std::{
    fs,
    os::fd::{AsRawFd, BorrowedFd},
    sync::{Arc, Mutex},
};

use gst::prelude::*;
use gst_allocators::{DmaBufMemory, FdMemory};
use gst_video::VideoInfo;
use gsttensor::BufferTensorExt;
use tensor_core::{FileIdentity, Memory, PixelFormat, PlanePlacement, TensorMemory};

use crate::plain_view::{PlaneSums, plane_sums};

/// One `GstMemory` as it reached `tensorimport`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFacts {
    /// Whether GStreamer calls it a dma-buf.
    pub is_dmabuf: bool,
    /// The descriptor's number and the file behind it, where there is one.
    pub file: Option<(i32, FileIdentity)>,
    /// Bytes of the fd before the memory's window.
    pub offset: usize,
}

/// One frame, seen before `tensorimport` and as the tensor after it.
#[derive(Clone, Debug)]
pub struct FrameFacts {
    /// The memories that arrived.
    pub memories: Vec<MemoryFacts>,
    /// The memories that left, to compare.
    pub memories_after: Vec<MemoryFacts>,
    /// What the tensor says of its memory.
    pub kind: TensorMemory,
    /// What the tensor says of its format.
    pub format: Option<PixelFormat>,
    /// The tensor's planes, with the identity of the file each is in.
    pub planes: Vec<(PlanePlacement, Option<FileIdentity>)>,
    /// Checksums of the planes read through the tensor.
    pub tensor_sums: PlaneSums,
    /// Checksums of the planes read through GStreamer.
    pub plain_sums: PlaneSums,
    /// Descriptors open while the frame passed.
    pub fds: usize,
}

/// Everything a run gave.
#[derive(Debug)]
pub struct Watched {
    /// The frames, in order.
    pub frames: Vec<FrameFacts>,
    /// The element's own counters at the end.
    pub stats: gst::Structure,
    /// The error the pipeline ended with, if it did not end by itself.
    pub error: Option<String>,
}

impl Watched {
    /// A counter of the element.
    ///
    /// # Panics
    /// When there is none of this name.
    #[must_use]
    pub fn counter(&self, name: &str) -> u64 {
        self.stats.get(name).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// A pipeline with one `tensorimport name=import`, built once and run as often as wanted.
#[derive(Debug)]
pub struct Watch {
    pipeline: gst::Pipeline,
    import: gst::Element,
    frames: Arc<Mutex<Vec<FrameFacts>>>,
}

impl Watch {
    /// Builds the pipeline.
    ///
    /// # Panics
    /// When it cannot be built or has no element named `import`.
    #[must_use]
    pub fn new(description: &str) -> Self {
        init();
        let pipeline = gst::parse::launch(description).expect("a pipeline");
        let pipeline = pipeline.downcast::<gst::Pipeline>().expect("several elements");
        let import = pipeline.by_name("import").expect("an element named import");
        let frames = Arc::default();
        record(&import, &frames);
        Self { pipeline, import, frames }
    }

    /// Another element of the pipeline.
    ///
    /// # Panics
    /// When there is none of this name.
    #[must_use]
    pub fn element(&self, name: &str) -> gst::Element {
        self.pipeline.by_name(name).unwrap_or_else(|| panic!("no element named {name}"))
    }

    /// Runs from start to end of stream, or to the error.
    ///
    /// # Panics
    /// When the pipeline neither ends nor fails within a minute.
    #[must_use]
    pub fn run(&self) -> Watched {
        self.frames.lock().expect("no panic").clear();
        let error = play(&self.pipeline);
        let stats = self.import.property("stats");
        self.pipeline.set_state(gst::State::Null).expect("stops");
        let frames = self.frames.lock().expect("no panic").clone();
        Watched { frames, stats, error }
    }
}

/// A pipeline that nobody looks into, to compare with.
#[derive(Debug)]
pub struct Bare(gst::Pipeline);

impl Bare {
    /// Builds the pipeline.
    ///
    /// # Panics
    /// When it cannot be built.
    #[must_use]
    pub fn new(description: &str) -> Self {
        init();
        let pipeline = gst::parse::launch(description).expect("a pipeline");
        Self(pipeline.downcast().expect("several elements"))
    }

    /// Runs from start to end of stream.
    ///
    /// # Panics
    /// When it fails.
    pub fn run(&self) {
        assert_eq!(play(&self.0), None);
        self.0.set_state(gst::State::Null).expect("stops");
    }
}

/// Plays to the end of the stream; gives the error if there was one.
fn play(pipeline: &gst::Pipeline) -> Option<String> {
    let started = pipeline.set_state(gst::State::Playing);
    let bus = pipeline.bus().expect("a bus");
    let ends = [gst::MessageType::Eos, gst::MessageType::Error];
    let end = bus.timed_pop_filtered(gst::ClockTime::from_seconds(60), &ends);
    match end.as_ref().map(|message| message.view()) {
        Some(gst::MessageView::Eos(_)) => None,
        Some(gst::MessageView::Error(error)) => {
            Some(format!("{} {}", error.error(), error.debug().unwrap_or_default()))
        }
        _ => panic!("neither an end nor an error within a minute; started: {started:?}"),
    }
}

/// Builds and runs once.
#[must_use]
pub fn watch(description: &str) -> Watched {
    Watch::new(description).run()
}

/// The checksums of every frame of a pipeline ending in `appsink name=sink`, without
/// `tensorimport`.
///
/// # Panics
/// When the pipeline cannot be run.
#[must_use]
pub fn plain_sums(description: &str) -> Vec<PlaneSums> {
    init();
    let pipeline = gst::parse::launch(description).expect("a pipeline");
    let bin = pipeline.downcast_ref::<gst::Bin>().expect("several elements");
    let sink = bin.by_name("sink").and_downcast::<gst_app::AppSink>().expect("an appsink");
    // Takes video meta, so that the camera hands over its own buffers.
    sink.set_property("sync", false);
    pipeline.set_state(gst::State::Playing).expect("starts");
    let mut sums = Vec::new();
    while let Ok(sample) = sink.pull_sample() {
        let info = VideoInfo::from_caps(sample.caps().expect("caps")).expect("video");
        sums.push(plane_sums(sample.buffer().expect("a buffer"), &info));
    }
    pipeline.set_state(gst::State::Null).expect("stops");
    sums
}

fn init() {
    gst::init().expect("GStreamer");
    gsttensor::plugin_register_static().expect("the plugin");
}

/// Descriptors this process has open.
///
/// # Panics
/// Without `/proc`.
#[must_use]
pub fn open_fds() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

/// Dma-bufs of the whole machine and their bytes, by the kernel's account; zeros where it is not told.
///
/// # Panics
/// When the kernel tells it in another way.
#[must_use]
pub fn dma_bufs() -> (usize, usize) {
    let table = fs::read_to_string("/sys/kernel/debug/dma_buf/bufinfo").unwrap_or_default();
    // `Total 2 objects, 696320 bytes`, after a total of devices for each.
    let total = table.lines().rfind(|line| line.contains(" objects, "));
    let words = total.into_iter().flat_map(str::split_whitespace);
    let mut numbers = words.filter_map(|word| word.parse().ok());
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next())
}

fn record(import: &gst::Element, frames: &Arc<Mutex<Vec<FrameFacts>>>) {
    let arrived = Arc::new(Mutex::new(Vec::<Vec<MemoryFacts>>::new()));
    let sink = import.static_pad("sink").expect("a sink pad");
    let before = Arc::clone(&arrived);
    sink.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
        let buffer = info.buffer().expect("a buffer");
        before.lock().expect("no panic").push(memory_facts(buffer));
        gst::PadProbeReturn::Ok
    });
    let src = import.static_pad("src").expect("a src pad");
    let frames = Arc::clone(frames);
    src.add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
        let caps = pad.current_caps().expect("caps");
        let buffer = info.buffer().expect("a buffer");
        let memories = arrived.lock().expect("no panic").pop().expect("the same buffer before");
        let facts = frame_facts(buffer, &VideoInfo::from_caps(&caps).expect("video"), memories);
        frames.lock().expect("no panic").push(facts);
        gst::PadProbeReturn::Ok
    });
}

fn frame_facts(buffer: &gst::Buffer, info: &VideoInfo, memories: Vec<MemoryFacts>) -> FrameFacts {
    let tensor = buffer.tensor_meta().expect("a meta").tensor(buffer).expect("a tensor");
    let map = tensor.map_read().expect("a readable tensor");
    let tensor_sums = map.planes().map(|plane| {
        let mut sum = crc32fast::Hasher::new();
        plane.rows().for_each(|row| sum.update(row));
        sum.finalize()
    });
    let plane = |place: &PlanePlacement| {
        (*place, tensor.memories().get(place.memory).and_then(Memory::identity))
    };
    FrameFacts {
        memories,
        memories_after: memory_facts(buffer),
        kind: tensor.memory(),
        format: tensor.format(),
        planes: tensor.image_layout().unwrap().planes().iter().map(plane).collect(),
        tensor_sums: tensor_sums.collect(),
        plain_sums: plane_sums(buffer, info),
        fds: open_fds(),
    }
}

fn memory_facts(buffer: &gst::BufferRef) -> Vec<MemoryFacts> {
    let facts = |memory: &gst::MemoryRef| {
        let fd = memory.downcast_memory_ref::<FdMemory>().map(|memory| memory.fd());
        MemoryFacts {
            is_dmabuf: memory.is_memory_type::<DmaBufMemory>(),
            file: fd.map(|fd| (fd, identity(fd))),
            offset: memory.offset(),
        }
    };
    buffer.iter_memories().map(facts).collect()
}

fn identity(fd: i32) -> FileIdentity {
    // SAFETY: the number comes from a memory that is alive and keeps it open for this call.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    assert!(fd.as_raw_fd() >= 0);
    FileIdentity::of(fd).expect("an open descriptor")
}
