//! `tensorconvert` over time: what it remembers, what it gives back, what it says when a frame is wrong.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::prelude::*;
use gst_check::Harness;
use gst_video::VideoCropMeta;
use tensor_core::{ContentRegion, Region};

const WIDE: &str = "video/x-raw,format=NV12,width=128,height=36,framerate=30/1";

fn convert(properties: &str) -> Harness {
    init();
    let mut harness = Harness::new_parse(&format!("tensorconvert {properties}"));
    harness.set_src_caps_str(NV12);
    harness
}

fn frame() -> gst::Buffer {
    init();
    buffer([fd_memory(&filled(&tight_nv12(), 0, 4))])
}

/// What upstream's buffers were is held until they are about to be others, and no longer.
#[test]
fn a_flush_and_a_drain_forget_every_buffer() {
    let flush = |harness: &mut Harness| {
        harness.push_event(gst::event::FlushStart::new());
        harness.push_event(gst::event::FlushStop::new(false));
    };
    let drain = |harness: &mut Harness| {
        let mut drain = gst::query::Drain::new();
        harness.srcpad().unwrap().peer_query(drain.get_mut().unwrap().query_mut());
    };
    let ways: [&dyn Fn(&mut Harness); 2] = [&flush, &drain];
    for forget in ways {
        let mut harness = convert("width=16 height=16");
        // Held, so that the output's descriptor counts before and after.
        let _out = harness.push_and_pull(frame()).unwrap();
        let held = fd_count();
        forget(&mut harness);
        assert_eq!(fd_count(), held - 1, "the frame's descriptor");
    }
}

// S-GST-09
#[test]
fn a_stopped_element_gives_every_descriptor_back() {
    init();
    for to in ["other/tensors", "video/x-raw"] {
        let pipeline = gst::parse::launch(&format!(
            "videotestsrc num-buffers=3 ! tensorimport ! tensorconvert width=16 height=16 threads=2 \
             ! {to} ! fakesink"
        ));
        let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
        let cycle = || {
            pipeline.set_state(gst::State::Playing).unwrap();
            let ends = [gst::MessageType::Eos, gst::MessageType::Error];
            let end =
                pipeline.bus().unwrap().timed_pop_filtered(gst::ClockTime::from_seconds(60), &ends);
            assert_eq!(end.unwrap().type_(), gst::MessageType::Eos);
            pipeline.set_state(gst::State::Null).unwrap();
            fd_count()
        };
        cycle();
        let counts: Vec<_> = (0..20).map(|_| cycle()).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{to}: {counts:?}");
    }
}

/// Each pool's memories go with it, although the tensors over them were remembered.
#[test]
fn a_new_pool_leaves_nothing_of_the_old_one() {
    init();
    let mut harness = Harness::new("tensorconvert");
    harness.set_sink_caps_str("video/x-raw,format=RGB,width=16,height=16");
    harness.set_src_caps_str(NV12);
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    let mut counts = Vec::new();
    for _ in 0..6 {
        let frames = (0..3).map(|_| buffer([memory.clone()]));
        let out: Vec<_> = frames.map(|frame| harness.push_and_pull(frame).unwrap()).collect();
        counts.push(fd_count());
        drop(out);
        harness.push_upstream_event(gst::event::Reconfigure::new());
    }
    assert!(counts[1..].iter().all(|count| *count == counts[1]), "{counts:?}");
}

#[test]
fn frames_of_another_size_are_planned_anew() {
    let mut harness = convert("width=32 height=32");
    let content = |out: &gst::Buffer| tensor(out).origin().unwrap().content;
    let narrow = harness.push_and_pull(frame()).unwrap();
    assert_eq!(content(&narrow), ContentRegion::new(Region::new(0, 7, 32, 18), 32, 32));
    harness.set_src_caps_str(WIDE);
    let wide = gst::Buffer::with_size(128 * 54).unwrap();
    let wide = harness.push_and_pull(wide).unwrap();
    assert_eq!(content(&wide), ContentRegion::new(Region::new(0, 11, 32, 9), 32, 32));
    // What left before says what it said.
    assert_eq!(content(&narrow).pixels().height, 18);
}

/// The error that a frame ends with, and its domain.
fn error_of(properties: &str, frame: gst::Buffer) -> gst::glib::Error {
    let mut harness = convert(properties);
    let bus = gst::Bus::new();
    harness.element().unwrap().set_bus(Some(&bus));
    assert_eq!(harness.push(frame), Err(gst::FlowError::Error));
    let message = bus.pop_filtered(&[gst::MessageType::Error]).unwrap();
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    error.error()
}

#[test]
fn a_frame_that_is_wrong_is_an_error_with_numbers() {
    init();
    let short = error_of("", buffer([gst::Memory::with_size(100)]));
    assert!(short.matches(gst::StreamError::Format), "{short:?}");
    assert!(short.to_string().contains("has 100"), "{short}");

    let mut cropped = frame();
    VideoCropMeta::add(cropped.get_mut().unwrap(), (8, 8, 16, 16));
    let outside = error_of("crop=0,0,32,8", cropped);
    assert!(outside.matches(gst::StreamError::Format), "{outside:?}");
    let said = outside.to_string();
    assert!(said.contains("crop") && said.contains("16x16") && said.contains("32x8"), "{said}");
}

/// What properties and downstream do not agree on makes no stream.
#[test]
fn what_downstream_does_not_take_is_refused_at_negotiation() {
    init();
    for (properties, wanted) in [
        ("dtype=f32", "video/x-raw,format=RGB"),
        ("dtype=f32", "other/tensors,format=static,num_tensors=1,types=(string)uint8"),
        ("width=16 height=16", "video/x-raw,format=RGB,width=17,height=16"),
        ("order=grey", "video/x-raw,format=RGB"),
        (
            "",
            "other/tensors,format=static,num_tensors=1,types=(string)uint8,dimensions=(string)3:0:4",
        ),
        (
            "",
            "other/tensors,format=static,num_tensors=1,types=(string)uint8,dimensions=(string)5:8:7",
        ),
    ] {
        let mut harness = Harness::new_parse(&format!("tensorconvert {properties}"));
        harness.set_sink_caps_str(wanted);
        harness.set_src_caps_str(NV12);
        let refused = harness.push(frame());
        assert_eq!(refused, Err(gst::FlowError::NotNegotiated), "{properties} to {wanted}");
    }
}
