//! Tensors told as `GstTensorMeta` (S-GST-14), read back through GStreamer's own functions, which are
//! there since 1.26. `REQUIRE_BACKENDS=analytics` forbids to skip them where GStreamer is too old.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    reason = "a test that fails is what a test is for; what C declares is read as it declares it"
)]

mod common;

use std::{
    env,
    ffi::{c_int, c_void},
    fs,
    mem::transmute_copy,
    slice,
    sync::Arc,
};

use common::*;
use gst::{ffi, glib, glib::translate::from_glib_none};
use gst_check::Harness;
use gst_video::VideoFormat;
use gsttensor::{
    FrameImport, TensorMeta,
    analytics::{self, AnalyticsError},
};
use libloading::os::unix::{Library, RTLD_LAZY};
use tensor_core::{
    CpuAccess, DType, FileIdentity, ImageLayout, Layout, Memory, PixelFormat, PlanePlacement,
    Shape, TensorDyn, layout::StridedLayout,
};

/// `GstTensor` as gst/analytics/gsttensor.h has it; the dimensions follow.
#[repr(C)]
struct Tensor {
    id: glib::ffi::GQuark,
    layout: c_int,
    data_type: c_int,
    data: *mut ffi::GstBuffer,
    dims_order: c_int,
    num_dims: usize,
    dims: [usize; 0],
}

/// What a reader sees of a tensor.
#[derive(Debug)]
struct Seen {
    id: String,
    data_type: c_int,
    dims: Vec<usize>,
    data: gst::Buffer,
}

/// GStreamer's functions, by name.
struct Analytics(Library);

impl Analytics {
    /// The library, if it knows tensors, or a spoken skip.
    fn find() -> Option<Self> {
        init();
        let library = unsafe { Library::open(Some("libgstanalytics-1.0.so.0"), RTLD_LAZY) };
        let found = library.ok().map(Self).filter(|found| {
            let symbol = unsafe { found.0.get::<*const c_void>(c"gst_buffer_get_tensor_meta") };
            symbol.is_ok()
        });
        if found.is_none() {
            let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
            let is_required = required.split(',').any(|name| name == "analytics");
            assert!(!is_required, "required: analytics; this is {}", gst::version_string());
            println!("skipped: {} has no GstTensorMeta", gst::version_string());
        }
        found
    }

    /// A function as C declares it: `F` is its type.
    fn function<F>(&self, name: &str) -> F {
        let symbol = unsafe { self.0.get::<*const c_void>(name) }.unwrap();
        unsafe { transmute_copy(&*symbol) }
    }

    fn meta(&self, buffer: &gst::Buffer) -> *mut c_void {
        type Get = unsafe extern "C" fn(*const ffi::GstBuffer) -> *mut c_void;
        let get: Get = self.function("gst_buffer_get_tensor_meta");
        unsafe { get(buffer.as_ptr()) }
    }

    fn read(&self, buffer: &gst::Buffer) -> Vec<Seen> {
        type Get = unsafe extern "C" fn(*const c_void, usize) -> *const Tensor;
        let (meta, get) = (self.meta(buffer), self.function::<Get>("gst_tensor_meta_get"));
        assert!(!meta.is_null());
        // The number of them follows the `GstMeta`.
        let count = unsafe { *meta.cast::<ffi::GstMeta>().add(1).cast::<usize>() };
        let seen = (0..count).map(|index| {
            let tensor = unsafe { &*get(meta, index) };
            assert_eq!((tensor.layout, tensor.dims_order), (0, 0), "contiguous and row-major");
            let dims = unsafe { slice::from_raw_parts(tensor.dims.as_ptr(), tensor.num_dims) };
            let id: glib::Quark = unsafe { glib::translate::from_glib(tensor.id) };
            Seen {
                id: id.as_str().to_string(),
                data_type: tensor.data_type,
                dims: dims.to_vec(),
                data: unsafe { from_glib_none(tensor.data) },
            }
        });
        seen.collect()
    }
}

const UINT8: c_int = 6;
const FLOAT32: c_int = 11;

/// What leaves a `tensorimport` that attaches both metas.
fn told(caps: &str, buffer: gst::Buffer) -> gst::Buffer {
    let mut harness = Harness::new_parse("tensorimport attach=tensor+analytics");
    harness.set_src_caps_str(caps);
    harness.push_and_pull(buffer).unwrap()
}

fn identity(buffer: &gst::Buffer) -> FileIdentity {
    let memory = buffer.peek_memory(0);
    let memory = memory.downcast_memory_ref::<gst_allocators::FdMemory>().unwrap();
    let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(memory.fd()) };
    FileIdentity::of(fd).unwrap()
}

/// S-GST-14.
#[test]
fn a_frame_is_told_plane_by_plane_over_its_own_memory() {
    let Some(analytics) = Analytics::find() else { return };
    let layout = tight_nv12();
    let frame = told(NV12, buffer([fd_memory(&filled(&layout, 0, 2))]));
    let seen = analytics.read(&frame);
    let ids: Vec<_> = seen.iter().map(|tensor| tensor.id.as_str()).collect();
    assert_eq!(ids, ["tensor-blob-0-plane-0", "tensor-blob-0-plane-1"]);
    assert_eq!((&seen[0].dims[..], &seen[1].dims[..]), (&[36, 64][..], &[18, 32, 2][..]));
    for (plane, tensor) in seen.iter().enumerate() {
        assert_eq!(tensor.data_type, UINT8);
        assert_eq!(tensor.data.size(), tensor.dims.iter().product::<usize>());
        assert_eq!(identity(&tensor.data), identity(&frame));
        let map = tensor.data.map_readable().unwrap();
        for (row, bytes) in map.chunks(64).enumerate() {
            assert!(bytes.iter().all(|byte| *byte == sample(2, plane, row)));
        }
    }
    check_samples(&tensor(&frame), 2);
}

/// Rows of 256 bytes for 60 pixels, behind byte 128 of the memory.
#[test]
fn padding_between_rows_is_counted_or_nothing_is_told() {
    let Some(analytics) = Analytics::find() else { return };
    for (format, pixel, video, dims) in [
        (PixelFormat::Rgba, 4, VideoFormat::Rgba, Some([4, 64, 4])),
        (PixelFormat::Rgb, 3, VideoFormat::Rgb, None),
    ] {
        let place = PlanePlacement { memory: 0, offset: 128, stride: 256 };
        let layout = ImageLayout::from_planes(format, 60, 4, &[place]).unwrap();
        let mut frame = buffer([fd_memory(&filled(&layout, 0, 1))]);
        add_video_meta(&mut frame, video, [60, 4], &[128], &[256]);
        let caps =
            format!("video/x-raw,format={},width=60,height=4,framerate=30/1", video.to_str());
        let frame = told(&caps, frame);
        check_samples(&tensor(&frame), 1);
        let Some(dims) = dims else {
            assert!(analytics.meta(&frame).is_null(), "no multiple of {pixel}");
            continue;
        };
        let seen = analytics.read(&frame);
        assert_eq!((seen.len(), &seen[0].dims[..]), (1, &dims[..]));
        let map = seen[0].data.map_readable().unwrap();
        for (row, bytes) in map.chunks(256).enumerate() {
            assert!(bytes[..240].iter().all(|byte| *byte == sample(1, 0, row)));
            assert!(bytes[240..].iter().all(|byte| *byte == PADDING));
        }
    }
}

/// A tensor of this name in shared memory, and its bytes.
fn named(name: &str, values: &[f32]) -> (Memory, Arc<FrameImport>) {
    let shape = Shape::new(&[1, values.len()]).unwrap();
    let layout = Layout::Strided(StridedLayout::dense(&shape, 4).unwrap());
    let shm = Memory::shm(values.len() * 4).unwrap();
    let bytes: Vec<_> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    shm.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().copy_from_slice(&bytes);
    let memories = [shm.clone()];
    let tensor = TensorDyn::from_memories(layout, DType::F32, memories, CpuAccess::Read).unwrap();
    let attach = |_: &_, blob: &Arc<[u8]>| glib::Bytes::from_owned(Arc::clone(blob));
    (shm, Arc::new(FrameImport::of_tensor(tensor.with_name(name), &[0], attach).unwrap()))
}

#[test]
fn tensors_are_told_by_name_and_each_once() {
    let Some(analytics) = Analytics::find() else { return };
    let ids = |buffer: &_| analytics.read(buffer).into_iter().map(|t| t.id).collect::<Vec<_>>();
    let (scores, import) = named("scores", &[0.5, 1.5]);
    let mut buffer = buffer([fd_memory(&scores)]);
    TensorMeta::add_at(buffer.get_mut().unwrap(), 0, &import).unwrap();
    TensorMeta::add_at(buffer.get_mut().unwrap(), 4, &named_like(&scores, &import)).unwrap();
    for _ in 0..2 {
        analytics::attach(buffer.get_mut().unwrap()).unwrap();
        assert_eq!(ids(&buffer), ["scores"]);
    }
    for _ in 0..2 {
        analytics::attach_at(buffer.get_mut().unwrap(), 4).unwrap();
        assert_eq!(ids(&buffer), ["scores", "tensor-blob-4"]);
    }
    let seen = analytics.read(&buffer);
    assert_eq!((seen[1].data_type, &seen[1].dims[..]), (FLOAT32, &[1, 2][..]));
    let refused = analytics::attach_at(buffer.get_mut().unwrap(), 1).unwrap_err();
    assert!(matches!(refused, AnalyticsError::NoTensor { index: 1 }), "{refused}");
    // What was told is gone with the buffer: nobody else holds the data.
    let mut data = seen.into_iter().next().unwrap().data;
    assert!(data.get_mut().is_none());
    drop(buffer);
    assert!(data.get_mut().is_some());
}

/// The same tensor without its name.
fn named_like(shm: &Memory, import: &FrameImport) -> Arc<FrameImport> {
    let layout = import.tensor.layout().clone();
    let memories = [shm.clone()];
    let tensor = TensorDyn::from_memories(layout, DType::F32, memories, CpuAccess::Read).unwrap();
    let attach = |_: &_, blob: &Arc<[u8]>| glib::Bytes::from_owned(Arc::clone(blob));
    Arc::new(FrameImport::of_tensor(tensor, &[0], attach).unwrap())
}

/// A decoder of GStreamer 1.28 finds the class in scores that a model left in our memory.
#[test]
fn a_stock_decoder_reads_scores_from_our_memory() {
    let Some(analytics) = Analytics::find() else { return };
    init();
    if gst::ElementFactory::find("classifiertensordecoder").is_none() {
        println!("skipped: {} has no classifiertensordecoder", gst::version_string());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let labels = directory.path().join("labels");
    fs::write(&labels, "cat\ndog\nbird\n").unwrap();
    let (scores, import) = named("classification-generic-out", &[0.0, 9.0, 1.0]);
    let mut frame = buffer([fd_memory(&scores)]);
    TensorMeta::add(frame.get_mut().unwrap(), &import).unwrap();
    analytics::attach(frame.get_mut().unwrap()).unwrap();

    let mut harness = Harness::new_parse(&format!(
        "classifiertensordecoder labels-file={} class-confidence-threshold=0.5",
        labels.display()
    ));
    harness.set_src_caps_str(
        "video/x-raw,format=GRAY8,width=4,height=3,framerate=30/1,tensors=(structure)\
         [tensorgroups,classification-generic-out=(/uniquelist){(GstCaps)[tensor/strided,\
         tensor-id=classification-generic-out,dims=<1,3>,dims-order=(string)row-major,\
         type=(string)float32]}]",
    );
    let decoded = harness.push_and_pull(frame).unwrap();
    assert_eq!(class(&analytics, &decoded), "dog");
}

/// The class with the highest level in a buffer's first classification.
fn class(analytics: &Analytics, buffer: &gst::Buffer) -> String {
    #[repr(C)]
    struct Mtd {
        id: u32,
        meta: *mut c_void,
    }
    type Relation = unsafe extern "C" fn(*const ffi::GstBuffer) -> *mut c_void;
    type Get = unsafe extern "C" fn(*mut c_void, u32, *mut Mtd) -> glib::ffi::gboolean;
    type Length = unsafe extern "C" fn(*const Mtd) -> usize;
    type Level = unsafe extern "C" fn(*const Mtd, usize) -> f32;
    type Quark = unsafe extern "C" fn(*const Mtd, usize) -> glib::ffi::GQuark;
    let relation: Relation = analytics.function("gst_buffer_get_analytics_relation_meta");
    let get: Get = analytics.function("gst_analytics_relation_meta_get_cls_mtd");
    let length: Length = analytics.function("gst_analytics_cls_mtd_get_length");
    let level: Level = analytics.function("gst_analytics_cls_mtd_get_level");
    let quark: Quark = analytics.function("gst_analytics_cls_mtd_get_quark");
    let meta = unsafe { relation(buffer.as_ptr()) };
    assert!(!meta.is_null(), "nothing decoded");
    let mut found = Mtd { id: 0, meta: std::ptr::null_mut() };
    assert_ne!(unsafe { get(meta, 0, &raw mut found) }, 0);
    let classes = 0..unsafe { length(&raw const found) };
    let level = |index: &usize| unsafe { level(&raw const found, *index) };
    let best = classes.max_by(|a, b| level(a).total_cmp(&level(b))).unwrap();
    let name: glib::Quark = unsafe { glib::translate::from_glib(quark(&raw const found, best)) };
    name.as_str().to_string()
}

/// Where GStreamer is too old, frames are as without.
#[test]
fn an_old_gstreamer_gets_the_tensor_alone() {
    init();
    let library = unsafe { Library::open(Some("libgstanalytics-1.0.so.0"), RTLD_LAZY) };
    let is_there = library.is_ok_and(|library| {
        unsafe { library.get::<*const c_void>(c"gst_buffer_get_tensor_meta") }.is_ok()
    });
    if is_there {
        println!("skipped: {} has GstTensorMeta", gst::version_string());
        return;
    }
    let mut frame = told(NV12, buffer([fd_memory(&filled(&tight_nv12(), 0, 2))]));
    check_samples(&tensor(&frame), 2);
    let refused = analytics::attach(frame.make_mut()).unwrap_err();
    assert!(matches!(refused, AnalyticsError::Absent), "{refused}");
}
