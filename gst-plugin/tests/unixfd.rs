//! Frames that go to another process through `unixfdsink` and arrive as tensors (S-GST-15). The
//! sender is this program again, told its case by the environment. `REQUIRE_BACKENDS=unixfd` forbids
//! to skip them where GStreamer is too old.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "what goes wrong here fails a test, and a sender is told what to do"
)]

mod common;

use std::{
    collections::HashSet,
    env,
    os::unix::fs::symlink,
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use common::*;
use gst::prelude::*;
use gst_video::{VideoFormat, VideoMeta};
use gsttensor::{BufferTensorExt, FrameTensorError, TensorMeta};
use tensor_core::{
    CpuAccess, ImageLayout, Memory, PixelFormat, PlanePlacement, TensorMemory,
    memory::{AllocPolicy, Step},
};

const CASE: &str = "TENSOR_UNIXFD_CASE";
const SOCKET: &str = "TENSOR_UNIXFD_SOCKET";

/// How many frames there are; the sender sends them again and again.
const FRAMES: u8 = 5;

struct Case {
    name: &'static str,
    /// Where the memory is from; plain memory without one.
    step: Option<Step>,
    kind: TensorMemory,
    /// Memory, offset and stride of the two planes of NV12.
    places: [[usize; 3]; 2],
    /// Where each `GstMemory` starts in its file.
    start: usize,
}

const TIGHT: [[usize; 3]; 2] = [[0, 0, 64], [0, 64 * 36, 64]];
const PADDED: [[usize; 3]; 2] = [[0, 0, 128], [0, 5120, 192]];
const TWO: [[usize; 3]; 2] = [[0, 0, 64], [1, 0, 128]];
const LATE: [[usize; 3]; 2] = [[0, 128, 64], [0, 128 + 64 * 36, 64]];

const CASES: [Case; 7] = [
    case("tight", Some(Step::Memfd), TensorMemory::Shm, TIGHT, 0),
    case("padded", Some(Step::Memfd), TensorMemory::Shm, PADDED, 0),
    case("two memories", Some(Step::Memfd), TensorMemory::Shm, TWO, 0),
    case("from byte 128", Some(Step::Memfd), TensorMemory::Shm, LATE, 128),
    case("padded", Some(Step::DmaHeap), TensorMemory::DmaBuf, PADDED, 0),
    case("two memories", Some(Step::DmaHeap), TensorMemory::DmaBuf, TWO, 0),
    case("plain", None, TensorMemory::Mem, TIGHT, 0),
];
const PLAIN: usize = 6;

const fn case(
    name: &'static str,
    step: Option<Step>,
    kind: TensorMemory,
    places: [[usize; 3]; 2],
    start: usize,
) -> Case {
    Case { name, step, kind, places, start }
}

impl Case {
    fn layout(&self) -> ImageLayout {
        let place =
            |[memory, offset, stride]: [usize; 3]| PlanePlacement { memory, offset, stride };
        ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &self.places.map(place)).unwrap()
    }

    /// The memories of one frame, or why this machine has none.
    fn memories(&self, frame: u8) -> Result<Vec<gst::Memory>, String> {
        let layout = self.layout();
        let Some(step) = self.step else {
            let mut bytes = vec![0; layout.allocation_len(0)];
            fill_bytes(&mut bytes, &layout, 0, frame);
            return Ok(vec![gst::Memory::from_mut_slice(bytes)]);
        };
        let (policy, count) = (AllocPolicy::from_steps([step]), 1 + self.places[1][0]);
        let memory = |index| {
            let len = layout.allocation_len(index);
            let shm = policy.allocate(len, CpuAccess::ReadWrite).map_err(|e| e.to_string())?.memory;
            fill(&shm, &layout, index, frame);
            let wrapped =
                if shm.kind() == TensorMemory::DmaBuf { posing_memory } else { fd_memory };
            Ok(wrapped(&shm).share(self.start..))
        };
        (0..count).map(memory).collect()
    }

    /// A frame with a video meta, whose offsets count through the buffer's memories.
    fn buffer(&self, memories: &[gst::Memory], number: u64) -> gst::Buffer {
        let mut buffer = buffer(memories.iter().cloned());
        let [[_, first, stride], [memory, second, stride_uv]] = self.places;
        let second = if memory == 1 { memories[0].size() } else { second - self.start };
        let strides = [stride, stride_uv].map(|stride| i32::try_from(stride).unwrap());
        let offsets = [first - self.start, second];
        add_video_meta(&mut buffer, VideoFormat::Nv12, [64, 36], &offsets, &strides);
        buffer.get_mut().unwrap().set_offset(number);
        buffer
    }
}

fn is_required(name: &str) -> bool {
    let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
    required.split(',').any(|required| required == name)
}

/// Whether this GStreamer is new enough, or a spoken skip.
fn has_unixfd() -> bool {
    gst::init().unwrap();
    let found =
        ["unixfdsink", "unixfdsrc"].into_iter().all(|n| gst::ElementFactory::find(n).is_some());
    if !found {
        assert!(!is_required("unixfd"), "required: unixfd; this is {}", gst::version_string());
        println!("skipped: {} has no unixfdsink", gst::version_string());
    }
    found
}

/// The process that sends a case's frames, until it is dropped.
struct Sender(Child);

impl Sender {
    fn start(case: usize, socket: &Path) -> Self {
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "the_sender", "--ignored", "--nocapture"])
            .env(CASE, case.to_string())
            .env(SOCKET, socket)
            .spawn()
            .unwrap();
        let mut sender = Self(child);
        let end = Instant::now() + Duration::from_secs(60);
        while !socket.exists() {
            assert!(Instant::now() < end, "the sender made no socket");
            assert_eq!(sender.0.try_wait().unwrap(), None, "the sender ended");
            thread::sleep(Duration::from_millis(10));
        }
        sender
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
#[ignore = "the other process of the tests here"]
fn the_sender() {
    let Ok(number) = env::var(CASE) else { return };
    init();
    let case = &CASES[number.parse::<usize>().unwrap()];
    let frames = (0..FRAMES).map(|frame| case.memories(frame).unwrap()).collect::<Vec<_>>();
    let pipeline = parse(&format!(
        "appsrc name=source format=time do-timestamp=true max-buffers=2 block=true caps={NV12} \
         ! tensorimport ! unixfdsink sync=false socket-path={}",
        env::var(SOCKET).unwrap()
    ));
    let source = pipeline.by_name("source").unwrap().downcast::<gst_app::AppSrc>().unwrap();
    let end = Instant::now() + Duration::from_secs(120);
    for (memories, number) in frames.iter().cycle().zip(0..) {
        source.push_buffer(case.buffer(memories, number)).unwrap();
        thread::sleep(Duration::from_millis(5));
        assert!(Instant::now() < end, "nobody ended this");
    }
}

/// Runs `body` with a pipeline that receives a case's frames at an appsink called `sink`.
fn receive(case: usize, body: impl FnOnce(&gst::Pipeline)) {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    let sender = Sender::start(case, &socket);
    let description =
        format!("unixfdsrc socket-path={} ! appsink name=sink sync=false", socket.display());
    let pipeline = gst::parse::launch(&description).unwrap().downcast::<gst::Pipeline>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    body(&pipeline);
    pipeline.set_state(gst::State::Null).unwrap();
    drop(sender);
}

fn frame_of(buffer: &gst::Buffer) -> u8 {
    u8::try_from(buffer.offset() % u64::from(FRAMES)).unwrap()
}

/// S-GST-15. What is received are the sender's files: each comes again, under new fd numbers.
#[test]
fn frames_arrive_in_another_process_as_tensors() {
    if !has_unixfd() {
        return;
    }
    init();
    for (number, case) in CASES.iter().enumerate().filter(|(_, case)| case.step.is_some()) {
        if let Err(why) = case.memories(0) {
            assert!(!is_required("dma_buf"), "required: {why}");
            println!("skipped: {} in {:?}: {why}", case.name, case.step);
            continue;
        }
        receive(number, |pipeline| {
            let (mut files, mut frames) = (HashSet::new(), HashSet::new());
            for _ in 0..4 * FRAMES {
                let buffer = pull(pipeline, "sink");
                let tensor = tensor(&buffer);
                assert_eq!(tensor.memory(), case.kind, "{}", case.name);
                assert_eq!(tensor.image_layout(), Some(&case.layout()), "{}", case.name);
                check_samples(&tensor, frame_of(&buffer));
                frames.insert(frame_of(&buffer));
                files.extend(tensor.memories().iter().map(Memory::identity));
                // GStreamer 1.28.8 cannot read the video meta that it wrote.
                let has_video_meta = buffer.meta::<VideoMeta>().is_some();
                assert!(has_video_meta || gst::version() >= (1, 27, 0, 0));
            }
            assert_eq!(frames.len(), usize::from(FRAMES));
            assert_eq!(files.len(), usize::from(FRAMES) * (1 + case.places[1][0]));
            println!("{} in {:?}: {} files", case.name, case.step, files.len());
        });
    }
}

/// `unixfdsink` since 1.28 sends memory without an fd as a copy in shared memory, which is not what
/// the meta speaks of. That is an error, and never other bytes.
#[test]
fn plain_memory_is_refused_on_arrival() {
    if !has_unixfd() {
        return;
    }
    init();
    if gst::version() < (1, 27, 0, 0) {
        println!("skipped: before 1.28 unixfdsink itself refuses memory without an fd");
        return;
    }
    receive(PLAIN, |pipeline| {
        let buffer = pull(pipeline, "sink");
        let error = buffer.tensor_meta().unwrap().tensor(&buffer).unwrap_err();
        assert!(matches!(error, FrameTensorError::Kind { index: 0, .. }), "{error}");
    });
}

/// GStreamer 1.28 loads the plugin for its meta alone: no element of it is in this process.
#[test]
fn the_meta_brings_the_plugin_that_knows_it() {
    if !has_unixfd() {
        return;
    }
    if gst::version() < (1, 27, 0, 0) {
        println!("skipped: before 1.28 a receiver has to load the plugin");
        return;
    }
    // Beside the tests, as `load_plugin_file` has it, but only made known.
    let file = env::current_exe().unwrap().parent().unwrap().join("libgsttensor.so");
    let directory = tempfile::tempdir().unwrap();
    symlink(file, directory.path().join("libgsttensor.so")).unwrap();
    assert!(gst::Registry::get().scan_path(directory.path()));
    assert!(gst::glib::Type::from_name("TensorBlobMeta").is_none());
    receive(0, |pipeline| {
        let buffer = pull(pipeline, "sink");
        assert!(gst::glib::Type::from_name("TensorBlobMeta").is_some());
        TensorMeta::register().unwrap();
        check_samples(&tensor(&buffer), frame_of(&buffer));
    });
}
