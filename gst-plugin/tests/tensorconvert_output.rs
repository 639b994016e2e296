//! `tensorconvert`: what leaves it, in whose memory, and the way back to the frame.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;
#[path = "../../core/tests/counting/mod.rs"]
mod counting;

use common::*;
use counting::allocations_anywhere;
use gst::prelude::*;
use gst_check::Harness;
use gst_video::{VideoCropMeta, VideoInfo, VideoMeta};
use gsttensor::{BufferTensorExt, pool::TensorBufferPool};
use tensor_core::{
    ColorEncoding, ColorRange, ColorTransfer, ContentRegion, CpuAccess, Memory, Origin,
    PixelFormat, Region, TensorDyn,
    convert::{ChannelOrder, ConvertOptions, Converter, Destination, Source, TensorOrder},
};

const HD: &str = "video/x-raw,format=NV12,width=64,height=36,framerate=30/1,colorimetry=bt709";

fn convert(properties: &str, caps: &str) -> Harness {
    convert_to("ANY", properties, caps)
}

fn convert_to(wanted: &str, properties: &str, caps: &str) -> Harness {
    init();
    let mut harness = Harness::new_parse(&format!("tensorconvert {properties}"));
    harness.set_sink_caps_str(wanted);
    harness.set_src_caps_str(caps);
    harness
}

fn frame() -> gst::Buffer {
    buffer([fd_memory(&filled(&tight_nv12(), 0, 4))])
}

/// The frame's tensor, converted by the core alone.
fn expected(destination: &Destination) -> Vec<u8> {
    let memory = filled(&tight_nv12(), 0, 4);
    let frame = TensorDyn::from_image(tight_nv12(), [memory], CpuAccess::Read).unwrap();
    let frame = frame.with_colorimetry(tensor_core::Colorimetry::BT709);
    let input =
        TensorDyn::new(&destination.shape(), destination.dtype, &Default::default(), RW).unwrap();
    let mut spec = tensor_core::PreprocessSpec::default();
    spec.normalization = tensor_core::Normalization::raw();
    let options = ConvertOptions::default();
    let source = Source::of(&frame).unwrap();
    let mut converter = Converter::new(&source, &spec, destination, &options).unwrap();
    converter.run(&frame, &input).unwrap();
    let mut flat = vec![0; input.flat_len()];
    input.copy_to_flat(&mut flat).unwrap();
    flat
}

const RW: CpuAccess = CpuAccess::ReadWrite;

/// What downstream answers to an allocation query.
fn answer_with(
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

fn answer_with_pool(harness: &Harness, pool: &gst::BufferPool, size: u32) {
    let pool = pool.clone();
    answer_with(harness, move |query| {
        query.add_allocation_pool(Some(&pool), size, 2, 2);
        query.add_allocation_meta::<VideoMeta>(None);
    });
}

/// Raw video of every format there is, with 64-byte rows, and colours that say what is left of the
/// camera's: full range, and no matrix but for luma.
#[test]
fn an_input_of_bytes_may_leave_as_raw_video() {
    for (name, format, layout, order) in [
        ("RGB", PixelFormat::Rgb, TensorOrder::Nhwc, ChannelOrder::Rgb),
        ("BGR", PixelFormat::Bgr, TensorOrder::Nhwc, ChannelOrder::Bgr),
        ("RGBx", PixelFormat::Rgbx, TensorOrder::Nhwc, ChannelOrder::Rgbx),
        ("BGRx", PixelFormat::Bgrx, TensorOrder::Nhwc, ChannelOrder::Bgrx),
        ("GRAY8", PixelFormat::Grey, TensorOrder::Nhwc, ChannelOrder::Grey),
        ("RGBP", PixelFormat::PlanarRgb, TensorOrder::Nchw, ChannelOrder::Rgb),
        ("BGRP", PixelFormat::PlanarBgr, TensorOrder::Nchw, ChannelOrder::Bgr),
    ] {
        let caps = format!("video/x-raw,format={name},width=50,height=50");
        init();
        let mut harness = Harness::new("tensorconvert");
        harness.set_sink_caps_str(&caps);
        answer_with(&harness, |query| query.add_allocation_meta::<VideoMeta>(None));
        harness.set_src_caps_str(HD);
        let out = harness.push_and_pull(frame()).unwrap();
        let caps = harness.sinkpad().unwrap().current_caps().unwrap();
        let info = VideoInfo::from_caps(&caps).unwrap();
        assert_eq!((info.format().to_str().as_str(), info.fps().numer()), (name, 30));
        let tensor = tensor(&out);
        assert_eq!(tensor.format(), Some(format));
        let colors = tensor.colorimetry();
        let is_grey = order == ChannelOrder::Grey;
        assert_eq!(colors.range, Some(ColorRange::Full), "{name}");
        assert_eq!(colors.encoding, is_grey.then_some(ColorEncoding::Bt709), "{name}");
        assert_eq!(colors.transfer, Some(ColorTransfer::Bt709), "{name}");
        assert_eq!(gsttensor::video_layout::colorimetry(&info.colorimetry()), colors, "{name}");
        let meta = out.meta::<VideoMeta>().unwrap();
        assert!(meta.stride().iter().all(|stride| stride % 64 == 0), "{:?}", meta.stride());
        let destination = Destination::new(50, 50).with_layout(layout).with_order(order);
        let mut flat = vec![0; tensor.flat_len()];
        tensor.copy_to_flat(&mut flat).unwrap();
        assert!(flat == expected(&destination), "{name}");
    }
}

/// G01: who does not promise to read the video meta finds the rows where the caps say, which no
/// padding to 64 bytes moves.
#[test]
fn rows_are_where_the_caps_say_for_who_reads_no_meta() {
    let mut harness = convert_to("video/x-raw,format=RGB,width=50,height=50", "", HD);
    let out = harness.push_and_pull(frame()).unwrap();
    let info = VideoInfo::from_caps(&harness.sinkpad().unwrap().current_caps().unwrap()).unwrap();
    assert_eq!((info.stride(), out.size()), (&[152][..], info.size()));
    let expected = expected(&Destination::new(50, 50));
    let bytes = out.map_readable().unwrap();
    for (row, expected) in bytes.chunks(152).zip(expected.chunks(150)) {
        assert_eq!(row[..150], *expected);
    }
}

#[test]
fn raw_video_is_not_offered_of_what_is_none() {
    init();
    for (properties, formats) in [
        ("", 7),
        ("layout=nchw", 2),
        ("order=grey layout=nhwc", 1),
        ("dtype=f32", 0),
        ("scale=0.5 dtype=u8", 0),
        ("order=grey layout=nchw", 0),
    ] {
        let element = gst::parse::launch(&format!("tensorconvert {properties}")).unwrap();
        let caps = element.static_pad("src").unwrap().query_caps(None);
        let video = caps.iter().find(|caps| caps.name() == "video/x-raw");
        let offered = video.map_or(0, |video| {
            let list = video.get::<gst::List>("format");
            list.map_or(1, |list| list.len())
        });
        assert_eq!(offered, formats, "{properties}: {caps}");
    }
}

fn origin(buffer: &gst::Buffer) -> Origin {
    let origin = tensor(buffer).origin().unwrap();
    // The blob says it too, to whoever has nothing but the blob.
    assert_eq!(buffer.tensor_meta().unwrap().blob().unwrap().extension().origin, Some(origin));
    origin
}

/// A box of the input is led back to the frame over letterbox and crop, by the meta alone.
#[test]
fn a_box_is_led_back_to_the_frame() {
    let mut harness = convert("width=64 height=64 crop=16,4,32,16", NV12);
    let out = harness.push_and_pull(frame()).unwrap();
    let origin = origin(&out);
    assert_eq!(origin.content, ContentRegion::new(Region::new(0, 16, 64, 32), 64, 64));
    assert_eq!(origin.taken, Some(ContentRegion::new(Region::new(16, 4, 32, 16), 64, 36)));
    let [left, top, right, bottom] = origin.to_frame([0.0, 0.25, 0.5, 0.75]);
    assert_eq!([left * 64.0, right * 64.0], [16.0, 32.0]);
    assert!((top * 36.0 - 4.0).abs() < 1e-4 && (bottom * 36.0 - 20.0).abs() < 1e-4);
}

/// G20: of a frame with a crop meta that part is converted, whatever the next frame's is, and the
/// way back leads to the whole frame.
#[test]
fn a_crop_meta_is_honoured_and_told() {
    let mut harness = convert("width=16 height=16", NV12);
    let cropped = |rect| {
        let mut frame = frame();
        VideoCropMeta::add(frame.get_mut().unwrap(), rect);
        frame
    };
    let mut seen = Vec::new();
    for rect in [(0, 0, 16, 16), (32, 20, 16, 16), (0, 4, 32, 32), (0, 0, 64, 36)] {
        let out = harness.push_and_pull(cropped(rect)).unwrap();
        let (x, y, width, height) = rect;
        let [x, y, width, height] = [x, y, width, height].map(|it| usize::try_from(it).unwrap());
        let taken = origin(&out).taken;
        assert_eq!(taken, Some(ContentRegion::new(Region::new(x, y, width, height), 64, 36)));
        seen.push(out.map_readable().unwrap()[..].to_vec());
    }
    let out = harness.push_and_pull(frame()).unwrap();
    assert_eq!(out.map_readable().unwrap()[..], seen[3]);
    // Rows of the test frame differ, and so do its parts.
    assert!(seen[0] != seen[1] && seen[1] != seen[2]);
}

const VIDEO: &str = "video/x-raw,format=RGB,width=50,height=50,framerate=30/1";

#[test]
fn a_pool_of_downstream_that_serves_is_used() {
    init();
    let pool = TensorBufferPool::new().upcast::<gst::BufferPool>();
    let mut harness = Harness::new("tensorconvert");
    harness.set_sink_caps_str(VIDEO);
    answer_with_pool(&harness, &pool, 0);
    harness.set_src_caps_str(NV12);
    for _ in 0..3 {
        let out = harness.push_and_pull(frame()).unwrap();
        assert!(pool.is_active());
        // SAFETY: a live buffer, of which a field is read.
        let of = unsafe { (*out.as_ptr()).pool };
        assert_eq!(of, pool.as_ptr());
        assert_eq!(tensor(&out).format(), Some(PixelFormat::Rgb));
    }
}

/// Plain memory has no descriptor to write by; the element's own has.
#[test]
fn a_pool_of_downstream_that_does_not_serve_is_left_alone() {
    init();
    let pool = gst_video::VideoBufferPool::new().upcast::<gst::BufferPool>();
    let mut harness = Harness::new("tensorconvert");
    harness.set_sink_caps_str(VIDEO);
    answer_with_pool(&harness, &pool, 8000);
    harness.set_src_caps_str(NV12);
    let out = harness.push_and_pull(frame()).unwrap();
    assert!(!pool.is_active());
    assert_eq!(tensor(&out).format(), Some(PixelFormat::Rgb));
}

/// Threads share out the rows and change no number.
#[test]
fn threads_change_nothing() {
    let one = convert("width=50 height=50", HD).push_and_pull(frame()).unwrap();
    for threads in [2, 3, 8] {
        let properties = format!("width=50 height=50 threads={threads}");
        let out = convert(&properties, HD).push_and_pull(frame()).unwrap();
        assert_eq!(out.map_readable().unwrap()[..], one.map_readable().unwrap()[..], "{threads}");
    }
}

/// A frame whose memory came before, into memory that came before: nothing of ours is allocated.
#[test]
fn no_frame_allocates() {
    for (wanted, threads) in [("other/tensors", 1), (VIDEO, 1), (VIDEO, 2)] {
        let properties = format!("width=50 height=50 threads={threads}");
        let mut harness = convert_to(wanted, &properties, NV12);
        let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
        let mut frames: Vec<_> = (0..60).map(|_| buffer([memory.clone()])).collect();
        let mut push_ten = || {
            let ten = frames.drain(..10);
            ten.for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
        };
        push_ten();
        let count = allocations_anywhere(push_ten);
        assert_eq!(count, 0, "{wanted}");
    }
}

/// Writes and reads through the same memory: what a consumer maps is what was converted.
#[test]
fn the_descriptor_shows_what_was_written() {
    let mut harness = convert("width=50 height=50", HD);
    let out = harness.push_and_pull(frame()).unwrap();
    let memory = out.peek_memory(0).downcast_memory_ref::<gst_allocators::FdMemory>().unwrap();
    // SAFETY: the memory's descriptor is open as long as the buffer lives.
    let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(memory.fd()) };
    let memory = Memory::import(fd, CpuAccess::Read).unwrap();
    let map = memory.map(CpuAccess::Read).unwrap();
    assert!(map[..50 * 50 * 3] == expected(&Destination::new(50, 50)));
}
