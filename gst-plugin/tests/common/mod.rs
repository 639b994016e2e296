//! Frames made by hand, in memory whose bytes say where they are.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that fails is what a test is for"
)]

use std::{
    env, fs,
    os::fd::{AsFd, IntoRawFd, OwnedFd},
    sync::Once,
};

use gst::prelude::*;
use gst_allocators::{FdMemory, prelude::*};
use gst_check::Harness;
use gst_video::{VideoFormat, VideoFrameFlags, VideoMeta};
use gsttensor::{BufferTensorExt, FrameTensor};
use tensor_core::{CpuAccess, ImageLayout, Memory, PixelFormat, StrideAlign, TensorMemory};

/// What padding is filled with.
pub(crate) const PADDING: u8 = 0xEE;

pub(crate) const NV12: &str = "video/x-raw,format=NV12,width=64,height=36,framerate=30/1";

/// What frames of [`NV12`] are when nothing else is said.
pub(crate) fn tight_nv12() -> ImageLayout {
    ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA).unwrap()
}

/// GStreamer and the plugin, with every critical fatal.
pub(crate) fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        gst::init().unwrap();
        fatal_criticals();
        gsttensor::plugin_register_static().unwrap();
    });
}

pub(crate) fn fatal_criticals() {
    use gst::glib::{LogLevels, log_set_always_fatal};
    log_set_always_fatal(LogLevels::LEVEL_CRITICAL | LogLevels::LEVEL_ERROR);
}

pub(crate) fn fd_count() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The byte that is right at `row` of `plane` in frame `frame`.
pub(crate) fn sample(frame: u8, plane: usize, row: usize) -> u8 {
    let value = usize::from(frame) * 31 + plane * 97 + row * 3;
    u8::try_from(value % 200).unwrap()
}

/// Shared memory for all of `layout`'s memory `memory`, samples filled in, the rest padding.
pub(crate) fn filled(layout: &ImageLayout, memory: usize, frame: u8) -> Memory {
    let shm = Memory::shm(layout.allocation_len(memory).max(1)).unwrap();
    fill(&shm, layout, memory, frame);
    shm
}

pub(crate) fn fill(shm: &Memory, layout: &ImageLayout, memory: usize, frame: u8) {
    let mut map = shm.map(CpuAccess::ReadWrite).unwrap();
    fill_bytes(map.as_mut_slice().unwrap(), layout, memory, frame);
}

pub(crate) fn fill_bytes(bytes: &mut [u8], layout: &ImageLayout, memory: usize, frame: u8) {
    bytes.fill(PADDING);
    for (plane, place) in layout.planes().iter().enumerate().filter(|(_, p)| p.memory == memory) {
        for row in 0..layout.rows(plane) {
            let start = place.offset + row * place.stride;
            bytes[start..start + layout.row_bytes(plane)].fill(sample(frame, plane, row));
        }
    }
}

/// Whether every sample of the tensor is that of frame `frame`.
pub(crate) fn check_samples(tensor: &FrameTensor, frame: u8) {
    let map = tensor.map_read().unwrap();
    for plane in 0..tensor.image_layout().unwrap().planes().len() {
        let rows = tensor.image_layout().unwrap().rows(plane);
        let mapped = map.plane(plane).unwrap();
        assert_eq!(mapped.rows().count(), rows);
        for (row, bytes) in mapped.rows().enumerate() {
            let right = sample(frame, plane, row);
            assert!(bytes.iter().all(|byte| *byte == right), "plane {plane} row {row}");
        }
    }
}

pub(crate) fn dup(shm: &Memory) -> OwnedFd {
    shm.fd().unwrap().as_fd().try_clone_to_owned().unwrap()
}

/// A `GstFdMemory` over a new fd of `shm`.
pub(crate) fn fd_memory(shm: &Memory) -> gst::Memory {
    let allocator = gst_allocators::FdAllocator::new();
    let (fd, len) = (dup(shm).into_raw_fd(), shm.len());
    // SAFETY: the fd is open and given away; the memory closes it.
    unsafe { allocator.alloc_fd(fd, len, gst_allocators::FdMemoryFlags::empty()) }.unwrap()
}

/// A `GstDmaBufMemory` over a new fd of `shm`, which is no dma-buf.
pub(crate) fn posing_memory(shm: &Memory) -> gst::Memory {
    let allocator = gst_allocators::DmaBufAllocator::new();
    // SAFETY: the fd is open and given away; the memory closes it.
    unsafe { allocator.alloc_dmabuf(dup(shm), shm.len()) }.unwrap()
}

pub(crate) fn buffer(memories: impl IntoIterator<Item = gst::Memory>) -> gst::Buffer {
    let mut buffer = gst::Buffer::new();
    let writable = buffer.get_mut().unwrap();
    memories.into_iter().for_each(|memory| writable.append_memory(memory));
    buffer
}

/// Puts on the video meta that a producer of `format` with these planes would.
pub(crate) fn add_video_meta(
    buffer: &mut gst::Buffer,
    format: VideoFormat,
    size: [u32; 2],
    offsets: &[usize],
    strides: &[i32],
) {
    let (buffer, flags) = (buffer.get_mut().unwrap(), VideoFrameFlags::empty());
    VideoMeta::add_full(buffer, flags, format, size[0], size[1], offsets, strides).unwrap();
}

/// A `tensorimport` that frames of `caps` can be pushed into.
pub(crate) fn harness(caps: &str) -> Harness {
    init();
    let mut harness = Harness::new("tensorimport");
    harness.set_src_caps_str(caps);
    harness
}

pub(crate) fn element(harness: &Harness) -> gst::Element {
    harness.element().unwrap()
}

/// The tensor of a buffer that must have one.
pub(crate) fn tensor(buffer: &gst::Buffer) -> FrameTensor {
    buffer.tensor_meta().expect("a tensor meta").tensor(buffer).expect("a tensor")
}

pub(crate) fn stat(element: &gst::Element, name: &str) -> u64 {
    element.property::<gst::Structure>("stats").get::<u64>(name).unwrap()
}

/// Says aloud that a test is skipped, and why; `REQUIRE_BACKENDS` naming what is missing forbids it.
pub(crate) fn skip(missing: &str, why: &str) {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == missing), "required but missing: {why}");
    println!("skipped: {why}");
}

/// The next buffer at an appsink of a running pipeline.
pub(crate) fn pull(pipeline: &gst::Pipeline, name: &str) -> gst::Buffer {
    let sink = pipeline.by_name(name).unwrap().downcast::<gst_app::AppSink>().unwrap();
    let sample = sink.try_pull_sample(gst::ClockTime::from_seconds(30));
    let sample = sample.unwrap_or_else(|| panic!("{:?}", pipeline.bus().unwrap().pop()));
    sample.buffer_owned().unwrap()
}

/// A running pipeline, by its description.
pub(crate) fn parse(description: &str) -> gst::Pipeline {
    init();
    let pipeline = gst::parse::launch(description).unwrap().downcast::<gst::Pipeline>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    pipeline
}

/// Loads the plugin file into a process that has this copy of the code too. Elements are the
/// file's; what reads their metas here is this copy's.
pub(crate) fn load_plugin_file() {
    // Beside the tests; the file one folder up is only renewed by `cargo build`.
    let test = env::current_exe().unwrap();
    let file = test.parent().unwrap().join("libgsttensor.so");
    gst::Plugin::load_file(&file).unwrap();
}

/// Makes each element of the plugin once, whichever copy of the code registered it last.
pub(crate) fn make_every_element() {
    for name in ["tensorimport", "tensorconvert", "tensorpay", "tensordepay", "tensorpool"] {
        let element = gst::ElementFactory::make(name).build().unwrap();
        element.set_state(gst::State::Ready).unwrap();
        element.set_state(gst::State::Null).unwrap();
    }
}

/// Reads frames of the plugin file's `tensorimport` with this copy of the code.
pub(crate) fn read_across_copies() {
    let pipeline = gst::parse::launch(
        "videotestsrc num-buffers=3 pattern=white ! video/x-raw,format=GRAY8,width=64,height=36 \
         ! tensorimport ! appsink name=sink sync=false",
    );
    let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    for _ in 0..3 {
        let buffer = pull(&pipeline, "sink");
        // A copy made here goes through the callbacks of the copy that registered first.
        for buffer in [buffer.copy(), buffer] {
            let tensor = tensor(&buffer);
            assert_eq!(tensor.format(), Some(PixelFormat::Grey));
            assert_eq!(tensor.memory(), TensorMemory::Mem);
            let map = tensor.map_read().unwrap();
            assert!(map.plane(0).unwrap().rows().all(|row| row.iter().all(|byte| *byte > 200)));
        }
    }
    pipeline.set_state(gst::State::Null).unwrap();
}

/// All buffers that a pipeline of a source gives, and the stats of its `tensorpool`.
pub(crate) fn run(description: &str) -> (Vec<gst::Buffer>, Option<gst::Structure>) {
    let pipeline = parse(&format!("{description} ! appsink name=sink sync=false"));
    let sink = pipeline.by_name("sink").unwrap().downcast::<gst_app::AppSink>().unwrap();
    let pull = || sink.pull_sample().ok().map(|sample| sample.buffer_owned().unwrap());
    let buffers: Vec<_> = std::iter::from_fn(pull).collect();
    let error = pipeline.bus().unwrap().pop_filtered(&[gst::MessageType::Error]);
    assert!(error.is_none(), "{error:?}");
    let stats = pipeline.by_name("pool").map(|pool| pool.property("stats"));
    pipeline.set_state(gst::State::Null).unwrap();
    (buffers, stats)
}

pub(crate) fn count(stats: &gst::Structure, name: &str) -> u64 {
    stats.get(name).unwrap()
}

pub(crate) fn assert_is_of_our_kind(buffer: &gst::Buffer, align: i32) {
    assert_eq!((buffer.n_memory(), buffer.peek_memory(0).offset()), (1, 0));
    assert!(buffer.peek_memory(0).is_memory_type::<FdMemory>());
    let meta = buffer.meta::<VideoMeta>().unwrap();
    let align_bytes = usize::try_from(align).unwrap();
    assert!(meta.stride().iter().all(|stride| stride % align == 0), "{:?}", meta.stride());
    assert!(meta.offset().iter().all(|offset| offset % align_bytes == 0), "{:?}", meta.offset());
}

/// Lets the source see a peer that answers allocation queries by `answer`.
pub(crate) fn answered(
    harness: &Harness,
    answer: impl Fn(&mut gst::query::Allocation) + Send + Sync + 'static,
) {
    let pad = harness.sinkpad().unwrap();
    pad.add_probe(gst::PadProbeType::QUERY_DOWNSTREAM, move |_, info| {
        let Some(query) = info.query_mut() else { return gst::PadProbeReturn::Ok };
        let gst::QueryViewMut::Allocation(query) = query.view_mut() else {
            return gst::PadProbeReturn::Ok;
        };
        answer(query);
        gst::PadProbeReturn::Handled
    })
    .unwrap();
}

/// What the element answers upstream.
pub(crate) fn asked(harness: &mut Harness, caps: &str) -> gst::query::Allocation<gst::Query> {
    let mut query = gst::query::Allocation::new(Some(&caps.parse().unwrap()), true);
    assert!(harness.srcpad().unwrap().peer_query(query.query_mut()));
    query
}
