//! `tensorimport` in running pipelines that are started, stopped, sought and renegotiated.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::{
    fs,
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use common::*;
use gst::prelude::*;
use gsttensor::BufferTensorExt;

/// These tests count descriptors, so one runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mappings of shared memory and dma-bufs.
fn map_count() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains("memfd:") || line.contains("dmabuf")).count()
}

fn video(width: i32, height: i32) -> gst::Caps {
    let caps = gst::Caps::builder("video/x-raw").field("format", "NV12");
    let caps = caps.field("width", width).field("height", height);
    caps.field("framerate", gst::Fraction::new(1000, 1)).build()
}

/// The widths of the tensors that come by `pad`. Nothing of a frame is kept.
fn widths(pad: &gst::Pad) -> Receiver<usize> {
    let (send, receive) = channel();
    pad.add_probe(gst::PadProbeType::BUFFER, move |_, info| {
        let buffer = info.buffer().unwrap();
        let _after_the_test = send.send(tensor(buffer).width().unwrap());
        gst::PadProbeReturn::Ok
    });
    receive
}

fn wait_for_width(widths: &Receiver<usize>, width: usize) {
    while widths.recv_timeout(Duration::from_secs(30)).expect("a frame") != width {}
}

/// Frames are copied into the element's own pool, so that there are descriptors and maps to lose.
/// A critical of GStreamer would end the test.
// S-GST-09, S-GST-10, G06
#[test]
fn a_hundred_starts_stops_seeks_and_caps_changes_leave_nothing_behind() {
    let _alone = alone();
    let pipeline = parse(
        "videotestsrc is-live=true ! capsfilter name=caps ! tensorimport name=import fallback=copy \
         ! fakesink name=sink sync=false enable-last-sample=false",
    );
    pipeline.set_state(gst::State::Null).unwrap();
    let [caps, import, sink] =
        ["caps", "import", "sink"].map(|name| pipeline.by_name(name).unwrap());
    let widths = widths(&sink.static_pad("sink").unwrap());
    let bus = pipeline.bus().unwrap();
    let mut first = 0;
    for cycle in 0..100 {
        caps.set_property("caps", video(64, 36));
        pipeline.set_state(gst::State::Playing).unwrap();
        wait_for_width(&widths, 64);
        pipeline.seek_simple(gst::SeekFlags::FLUSH, gst::ClockTime::ZERO).unwrap();
        wait_for_width(&widths, 64);
        caps.set_property("caps", video(322, 242));
        wait_for_width(&widths, 322);
        import.static_pad("sink").unwrap().send_event(gst::event::Eos::new());
        let ends = [gst::MessageType::Eos, gst::MessageType::Error];
        let end = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &ends);
        assert_eq!(end.expect("an end").type_(), gst::MessageType::Eos);
        let state = if cycle % 2 == 0 { gst::State::Ready } else { gst::State::Null };
        pipeline.set_state(state).unwrap();
        while widths.try_recv().is_ok() {}
        assert_eq!(["live", "pinned-bytes"].map(|name| stat(&import, name)), [0, 0]);
        assert_eq!(map_count(), 0, "cycle {cycle}");
        match cycle {
            1 => first = fd_count(),
            2.. if cycle % 2 == 1 => assert_eq!(fd_count(), first, "cycle {cycle}"),
            _ => (),
        }
    }
    pipeline.set_state(gst::State::Null).unwrap();
}

// S-GST-03
#[test]
fn the_meta_goes_through_elements_that_leave_the_memory_alone() {
    let _alone = alone();
    let pipeline = parse(
        "videotestsrc num-buffers=6 ! video/x-raw,format=NV12,width=64,height=36,framerate=30/1 \
         ! tensorimport ! queue ! identity ! videorate ! video/x-raw,framerate=15/1 ! tee name=t \
         t. ! queue ! appsink name=one sync=false t. ! queue ! appsink name=two sync=false",
    );
    for _ in 0..3 {
        let [one, two] = ["one", "two"].map(|name| pull(&pipeline, name));
        for buffer in [&one, &two] {
            assert_eq!(tensor(buffer).shape()[..], [36, 64]);
            assert_eq!(buffer.tensor_metas().count(), 1);
        }
        assert_eq!(one.peek_memory(0).as_ptr(), two.peek_memory(0).as_ptr());
    }
    pipeline.set_state(gst::State::Null).unwrap();
}

/// What is for frames of the old caps is gone before anything is there for the new.
// G16
#[test]
fn new_caps_free_the_old_buffers_first() {
    let _alone = alone();
    init();
    let import = gst::ElementFactory::make("tensorimport").build().unwrap();
    import.set_property_from_str("fallback", "copy");
    let mut harness = gst_check::Harness::with_element(&import, Some("sink"), Some("src"));
    harness.set_src_caps_str(NV12);
    let before = fd_count();
    for _ in 0..3 {
        let got: Vec<_> = (0..4)
            .map(|_| {
                let frame = buffer([gst::Memory::with_size(64 * 54)]);
                harness.push_and_pull(frame).unwrap()
            })
            .collect();
        assert!(fd_count() >= before + 4);
        drop(got);
        harness.set_src_caps_str("video/x-raw,format=GRAY8,width=64,height=54,framerate=30/1");
        assert_eq!(fd_count(), before);
        harness.set_src_caps_str(NV12);
    }
    let held = harness.push_and_pull(buffer([gst::Memory::with_size(64 * 54)])).unwrap();
    drop(harness);
    assert!(fd_count() > before, "a frame that is out keeps its memory");
    // G21
    drop(held);
    assert_eq!(fd_count(), before, "and the pool goes with the last one");
}
