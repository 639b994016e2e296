//! A frame whose memory came before costs no allocation of ours.

#![allow(clippy::unwrap_used, reason = "a test that fails is what a test is for")]

mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use common::*;
use gst_video::VideoFormat;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what this thread allocates from Rust; GStreamer's own memory comes from elsewhere.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(1));
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations_of_100_frames(memory: &gst::Memory, with_meta: bool) -> u64 {
    let mut harness = harness(NV12);
    let mut frames: Vec<_> = (0..110).map(|_| buffer([memory.clone()])).collect();
    if with_meta {
        let (size, offsets) = ([64, 36], [0, 64 * 36]);
        let add = |frame| add_video_meta(frame, VideoFormat::Nv12, size, &offsets, &[64, 64]);
        frames.iter_mut().for_each(add);
    }
    let measured = frames.split_off(10);
    frames.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    let before = ALLOCATIONS.get();
    measured.into_iter().for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    ALLOCATIONS.get().wrapping_sub(before)
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
