//! A frame whose memory came before costs no allocation of ours.

#![allow(clippy::unwrap_used, reason = "a test that fails is what a test is for")]

mod common;
#[path = "../../core/tests/counting/mod.rs"]
mod counting;
mod steady;

use common::*;
use counting::allocations;
use gst_video::VideoFormat;
use steady::{Line, Source};

fn allocations_of_100_frames(memory: &gst::Memory, with_meta: bool) -> usize {
    let mut harness = harness(NV12);
    let mut frames: Vec<_> = (0..110).map(|_| buffer([memory.clone()])).collect();
    if with_meta {
        let (size, offsets) = ([64, 36], [0, 64 * 36]);
        let add = |frame| add_video_meta(frame, VideoFormat::Nv12, size, &offsets, &[64, 64]);
        frames.iter_mut().for_each(add);
    }
    let measured = frames.split_off(10);
    frames.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    // GStreamer's own memory comes from elsewhere.
    allocations(|| {
        measured.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    })
}

fn memories() -> [gst::Memory; 2] {
    init();
    [fd_memory(&filled(&tight_nv12(), 0, 1)), gst::Memory::with_size(64 * 54)]
}

#[test]
fn nothing_is_allocated_for_a_memory_that_came_before() {
    for memory in memories() {
        assert_eq!(allocations_of_100_frames(&memory, false), 0);
    }
}

#[test]
fn nothing_is_allocated_for_a_layout_from_the_video_meta() {
    for memory in memories() {
        assert_eq!(allocations_of_100_frames(&memory, true), 0);
    }
}

/// Only a `GstMemory` that never came before is given something to remember by: its memo.
#[test]
fn a_frame_of_a_running_stream_costs_its_meta_alone() {
    init();
    for (source, most) in [(Source::Pooled, 0), (Source::Recycled, 0), (Source::Fresh, 1)] {
        let [ours, identity] = ["tensorimport", "identity"].map(|element| {
            let line = Line::new(element);
            line.push(source, 10);
            allocations(|| line.push(source, 100))
        });
        assert_eq!(ours - identity, most * 100, "{}", source.name());
    }
}

/// Whether it passes or is copied: the pool for copies has its buffers after the first frames.
#[test]
fn tensorpool_allocates_nothing_for_a_frame() {
    init();
    for source in Source::ALL {
        let [ours, identity] = ["tensorpool", "identity"].map(|element| {
            let line = Line::new(element);
            line.push(source, 10);
            allocations(|| line.push(source, 100))
        });
        assert_eq!(ours, identity, "{}", source.name());
    }
    let mut harness = gst_check::Harness::new("tensorpool");
    harness.set_src_caps_str(NV12);
    let mut frames: Vec<_> = (0..110).map(|_| gst::Buffer::with_size(64 * 54).unwrap()).collect();
    let measured = frames.split_off(10);
    frames.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    let copying = allocations(|| {
        measured.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    });
    assert_eq!(copying, 0);
}
