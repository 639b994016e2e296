//! What `tensorimport` does not take, and what it says then.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::{MessageType, prelude::*};
use gst_check::Harness;

/// Caps, and what the reason names.
const REFUSED: [(&str, &str); 9] = [
    ("audio/x-raw,format=S16LE,rate=8000,channels=1", "not the caps of raw video"),
    ("video/x-raw,format=NV12,height=36,framerate=30/1", "not the caps of raw video"),
    ("video/x-raw,width=64,height=36,framerate=30/1", "not the caps of raw video"),
    ("video/x-raw,format=NV12,width=0,height=36,framerate=30/1", "0x36 pixels"),
    ("video/x-raw,format=v210,width=64,height=36,framerate=30/1", "v210"),
    ("video/x-raw(memory:GLMemory),format=NV12,width=64,height=36,framerate=30/1", "around"),
    (
        "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=36,framerate=30/1",
        "not the caps of raw video",
    ),
    (
        "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=XXXX,width=64,height=36,framerate=30/1",
        "XXXX",
    ),
    (
        "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,width=64,\
         height=36,framerate=30/1",
        "I915_Y_TILED",
    ),
];

// S-GST-16
#[test]
fn refused_caps_are_not_negotiated_and_the_reason_is_said() {
    for (caps, reason) in REFUSED {
        init();
        let mut harness = Harness::new("tensorimport");
        let bus = gst::Bus::new();
        element(&harness).set_bus(Some(&bus));
        harness.play();
        let caps = caps.parse::<gst::Caps>().unwrap();
        harness.push_event(gst::event::StreamStart::new("stream"));
        harness.push_event(gst::event::Caps::new(&caps));
        let segment = gst::FormattedSegment::<gst::ClockTime>::new();
        harness.push_event(gst::event::Segment::new(&segment));
        let frame = buffer([gst::Memory::with_size(64 * 54)]);
        assert_eq!(harness.push(frame), Err(gst::FlowError::NotNegotiated), "{caps}");
        let message = bus
            .pop_filtered(&[MessageType::Element])
            .unwrap_or_else(|| panic!("nothing said of {caps}"));
        let said = message.structure().unwrap();
        assert!(said.has_name("tensor-refused"));
        let text = said.get::<&str>("reason").unwrap();
        assert!(text.contains(reason), "{caps}: {text}");
        assert_eq!(said.get::<gst::Caps>("caps").unwrap(), caps);
        element(&harness).set_bus(None);
    }
}

/// In a pipeline the source stops with not-negotiated, and the application has both messages.
// S-GST-16
#[test]
fn a_pipeline_of_refused_caps_ends_with_an_error_and_the_reason() {
    let pipeline = parse(
        "appsrc name=source caps=\"video/x-raw(memory:DMABuf),format=DMA_DRM,\
         drm-format=NV12:0x0100000000000002,width=64,height=36,framerate=30/1\" \
         ! tensorimport ! fakesink",
    );
    let source = pipeline.by_name("source").unwrap().downcast::<gst_app::AppSrc>().unwrap();
    source.push_buffer(buffer([gst::Memory::with_size(64 * 54)])).unwrap();
    let bus = pipeline.bus().unwrap();
    let kinds = [MessageType::Element, MessageType::Error];
    let mut reason = String::new();
    loop {
        let message = bus.timed_pop_filtered(gst::ClockTime::from_seconds(30), &kinds).unwrap();
        if let gst::MessageView::Error(error) = message.view() {
            assert!(error.debug().unwrap().contains("not-negotiated"), "{error:?}");
            break;
        }
        reason = message.structure().unwrap().get::<String>("reason").unwrap();
    }
    assert!(reason.contains("I915_Y_TILED"), "{reason}");
    pipeline.set_state(gst::State::Null).unwrap();
}

#[test]
fn frames_before_caps_are_not_negotiated() {
    init();
    let mut harness = Harness::new("tensorimport");
    harness.play();
    harness.push_event(gst::event::StreamStart::new("stream"));
    let segment = gst::FormattedSegment::<gst::ClockTime>::new();
    harness.push_event(gst::event::Segment::new(&segment));
    let frame = buffer([gst::Memory::with_size(64 * 54)]);
    assert_eq!(harness.push(frame), Err(gst::FlowError::NotNegotiated));
}

#[test]
fn elements_that_share_no_caps_do_not_link() {
    init();
    for description in
        ["audiotestsrc ! tensorimport ! fakesink", "videotestsrc ! tensorimport ! wavenc"]
    {
        assert!(gst::parse::launch(description).is_err(), "{description}");
    }
}
