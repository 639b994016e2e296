//! Ten thousand frames through a `tee` into two branches that describe them, with changes of caps and
//! stops between: what the process holds afterwards is what it held before.
//!
//! The first needs a camera of the test machine (`tests/vm/run`); elsewhere it skips aloud.

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
    fs,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use gst::prelude::*;
use gst_allocators::FdMemory;
use tensor_tests::{
    camera::{Camera, Input},
    watch::{dma_bufs, open_fds},
};

/// Two cameras run at once, so each cycle is two starts, two changes of caps and two stops.
const CYCLES: usize = 10;
const FRAMES: usize = 500;
/// Frames of a cycle of the control, which shows what a stop and a change of caps leave behind.
const FEW: usize = 40;
/// Cycles after which threads, arenas and caches are there.
const WARM: usize = 2;
/// What the frames of the cycles after that may add to the process: eighty bytes a tensor would be
/// more.
const SLACK_KIB: usize = 1024;

/// How long no frame may come before a pipeline counts as stuck.
const STALL: Duration = Duration::from_secs(20);

/// The caps of a camera, before and after the change: what each does in one buffer or in several.
const fn formats(camera: Camera) -> [&'static str; 2] {
    match camera {
        Camera::SinglePlanar => ["NV12", "YUY2"],
        Camera::MultiPlanar => ["NV12", "I420"],
    }
}

fn caps(format: &str) -> String {
    format!("video/x-raw,format={format},width=320,height=180,framerate=120/1")
}

/// What a process holds when its pipeline is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    fds: usize,
    /// Dma-bufs of the whole machine, by the kernel's account.
    dma_bufs: usize,
    /// Dma-bufs that are mapped here.
    maps: usize,
    /// Lines of the memory map, and resident memory.
    regions: usize,
    rss_kib: usize,
}

impl Held {
    fn now() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            fds: open_fds(),
            dma_bufs: dma_bufs().0,
            maps: maps.lines().filter(|line| line.contains("dmabuf")).count(),
            regions: maps.lines().count(),
            rss_kib: rss.trim().trim_end_matches(" kB").parse().unwrap(),
        }
    }
}

/// A source, a `tee` and two branches.
struct Forked {
    pipeline: gst::Pipeline,
    /// Frames that left the source, and the files they began in.
    seen: Arc<Mutex<(usize, HashSet<u64>)>>,
}

impl Forked {
    fn new(source: &str, branch: &str) -> Self {
        gst::init().unwrap();
        gsttensor::plugin_register_static().unwrap();
        let sink = "fakesink sync=false enable-last-sample=false";
        let pipeline = gst::parse::launch(&format!(
            "{source} ! tee name=fork fork. ! queue ! {branch} name=one ! {sink} \
             fork. ! queue ! {branch} name=two ! {sink}"
        ));
        let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
        let seen = Arc::new(Mutex::new((0, HashSet::new())));
        let pad = pipeline.by_name("fork").unwrap().static_pad("sink").unwrap();
        let noted = Arc::clone(&seen);
        pad.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
            let memory = info.buffer().unwrap().peek_memory(0);
            let mut noted = noted.lock().unwrap();
            noted.0 += 1;
            noted.1.extend(memory.downcast_memory_ref::<FdMemory>().map(inode));
            gst::PadProbeReturn::Ok
        });
        Self { pipeline, seen }
    }

    fn frames(&self) -> usize {
        self.seen.lock().unwrap().0
    }

    fn stat(&self, branch: &str, name: &str) -> usize {
        let stats: gst::Structure = self.pipeline.by_name(branch).unwrap().property("stats");
        usize::try_from(stats.get::<u64>(name).unwrap()).unwrap()
    }

    fn set_format(&self, format: &str) {
        let filter = self.pipeline.by_name("caps").unwrap();
        filter.set_property("caps", caps(format).parse::<gst::Caps>().unwrap());
    }

    fn start(&self) {
        *self.seen.lock().unwrap() = (0, HashSet::new());
        self.pipeline.set_state(gst::State::Playing).unwrap();
    }

    /// Waits until so many frames have come, or for the end of the stream. Frames must keep coming.
    fn wait_for(&self, frames: usize) {
        let bus = self.pipeline.bus().unwrap();
        let kinds = [gst::MessageType::Eos, gst::MessageType::Error];
        let mut progress = (0, Instant::now());
        while self.frames() < frames {
            if let Some(end) = bus.timed_pop_filtered(gst::ClockTime::from_mseconds(2), &kinds) {
                return assert_eq!(end.type_(), gst::MessageType::Eos, "{end:?}");
            }
            if self.frames() != progress.0 {
                progress = (self.frames(), Instant::now());
            }
            assert!(progress.1.elapsed() < STALL, "stalled after {} frames", progress.0);
        }
    }

    fn stop(&self) {
        self.pipeline.set_state(gst::State::Null).unwrap();
    }

    /// A start, a change of caps midway, and the end of the stream, not yet stopped.
    fn play_with_a_change_of_caps(&self, [first, second]: [&str; 2], frames: usize) {
        self.set_format(first);
        self.start();
        self.wait_for(frames / 2);
        self.set_format(second);
        self.wait_for(usize::MAX);
        assert_eq!(self.frames(), frames);
        let found = self.pipeline.by_name("fork").unwrap().static_pad("sink").unwrap();
        let found = found.current_caps().unwrap();
        assert!(found.can_intersect(&caps(second).parse::<gst::Caps>().unwrap()), "{found}");
    }
}

fn inode(memory: &gst_allocators::FdMemoryRef) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(format!("/proc/self/fd/{}", memory.fd())).unwrap().ino()
}

fn camera_source(camera: Camera, frames: usize) -> String {
    let (frames, caps) = (u32::try_from(frames).unwrap(), caps(formats(camera)[0]));
    format!("{} ! capsfilter name=caps caps={caps}", camera.source("dmabuf", frames))
}

/// Both cameras at once, cycle after cycle; what was held after each.
fn cycles(
    cameras: [Camera; 2],
    branch: &str,
    frames: usize,
    look: &mut dyn FnMut(&Forked),
) -> Vec<Held> {
    let forked = cameras.map(|camera| Forked::new(&camera_source(camera, frames), branch));
    let cycle = |_| {
        thread::scope(|scope| {
            for (camera, forked) in cameras.into_iter().zip(&forked) {
                scope.spawn(move || forked.play_with_a_change_of_caps(formats(camera), frames));
            }
        });
        for forked in &forked {
            look(forked);
            forked.stop();
        }
        Held::now()
    };
    (0..CYCLES).map(cycle).collect()
}

// G05, G06, S-GST-09, S-ID-09. v4l2src of GStreamer 1.22.0 leaves descriptors behind at every stop,
// so they are compared with those of the same pipelines without tensorimport.
#[test]
fn ten_thousand_frames_of_cameras_leave_nothing_behind() {
    let Some(single) = Camera::SinglePlanar.open(Input::Webcam) else { return };
    let Some(multi) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    let (cameras, before) = ([single, multi], dma_bufs().0);
    let control = cycles(cameras, "identity", FEW, &mut |_| ());
    let (mut imports, mut buffers, mut frames) = (0, 0, 0);
    let held = cycles(cameras, "tensorimport", FRAMES, &mut |forked| {
        let seen = forked.seen.lock().unwrap().1.len();
        for branch in ["one", "two"] {
            let stat = |name| forked.stat(branch, name);
            assert_eq!((stat("frames"), stat("copied-bytes")), (FRAMES, 0), "{branch}");
            assert!(stat("imports") <= seen, "{branch}: {} of {seen}", stat("imports"));
            imports += stat("imports");
            frames += stat("frames");
        }
        buffers += seen;
    });
    let grown = |held: &[Held], part: fn(&Held) -> usize| {
        part(&held[CYCLES - 1]).saturating_sub(part(&held[WARM]))
    };
    println!(
        "{} starts, as many changes of caps, {frames} tensors: {imports} imports of {buffers} \
         buffers; since cycle {WARM}, in brackets without tensorimport: fds +{} [+{}], regions \
         +{} [+{}], RSS +{} KiB [+{} KiB]",
        2 * CYCLES,
        grown(&held, |held| held.fds),
        grown(&control, |held| held.fds),
        grown(&held, |held| held.regions),
        grown(&control, |held| held.regions),
        grown(&held, |held| held.rss_kib),
        grown(&control, |held| held.rss_kib),
    );
    assert_eq!(frames, 2 * 2 * CYCLES * FRAMES);
    assert!(held.iter().all(|held| (held.dma_bufs, held.maps) == (before, 0)), "{held:?}");
    assert_eq!(grown(&held, |held| held.fds), grown(&control, |held| held.fds));
    let allowed = grown(&control, |held| held.rss_kib) + SLACK_KIB;
    assert!(grown(&held, |held| held.rss_kib) <= allowed, "{held:?}");
}

// S-GST-08: nothing is held that a source waits for.
#[test]
fn a_source_with_two_buffers_never_waits_in_vain() {
    let source = "videotestsrc num-buffers=10000 ! video/x-raw,format=NV12,width=64,height=36 \
                  ! tensorpool name=pool min-buffers=2 max-buffers=2";
    let forked = Forked::new(source, "tensorimport");
    forked.start();
    forked.wait_for(usize::MAX);
    assert_eq!(forked.seen.lock().unwrap().1.len(), 2, "buffers of the pool");
    for branch in ["one", "two"] {
        let found = ["frames", "imports", "hits"].map(|name| forked.stat(branch, name));
        assert_eq!(found, [10_000, 0, 10_000]);
    }
    forked.stop();
}
