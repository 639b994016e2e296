//! `tensorconvert`: what a frame costs whose crop meta is another than that of the frame before.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;
#[path = "../../core/tests/counting/mod.rs"]
mod counting;

use std::{collections::BTreeSet, fs};

use common::*;
use counting::allocations_anywhere;
use gst_check::Harness;
use gst_video::VideoCropMeta;
use tensor_core::{ContentRegion, Region};

fn convert(properties: &str) -> Harness {
    init();
    let mut harness = Harness::new_parse(&format!("tensorconvert {properties}"));
    harness.set_src_caps_str(NV12);
    harness
}

fn cropped(memory: &gst::Memory, rect: (u32, u32, u32, u32)) -> gst::Buffer {
    let mut frame = buffer([memory.clone()]);
    VideoCropMeta::add(frame.get_mut().unwrap(), rect);
    frame
}

/// What the process has open and mapped of shared memory.
fn held() -> (usize, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    (fd_count(), maps.lines().filter(|line| line.contains("memfd")).count())
}

/// G20: the frame is imported and mapped once and whole, wherever the crop is, and so is the input.
#[test]
fn a_crop_that_moves_opens_and_maps_nothing() {
    let mut harness = convert("width=16 height=16");
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    let mut push = |x: u32, y: u32| {
        let out = harness.push_and_pull(cropped(&memory, (x, y, 16, 16))).unwrap();
        let [x, y] = [x, y].map(|it| usize::try_from(it).unwrap());
        let taken = tensor(&out).origin().unwrap().taken;
        assert_eq!(taken, Some(ContentRegion::new(Region::new(x, y, 16, 16), 64, 36)));
    };
    push(0, 0);
    let first = held();
    for x in 0..20 {
        push(2 * x, x / 2 * 2);
        assert_eq!(held(), first, "at {}", 2 * x);
    }
}

/// The blob of the input, which says where the pixels come from, is all that is made.
#[test]
fn a_crop_that_moves_allocates_a_blob() {
    let mut harness = convert("width=16 height=16");
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    // No two are the same.
    let rects = (0..60).map(|n| (2 * (n % 24), 2 * (n / 24), 16, 16));
    let mut frames: Vec<_> = rects.map(|rect| cropped(&memory, rect)).collect();
    let mut push_ten = || {
        frames.drain(..10).for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    };
    push_ten();
    let count = allocations_anywhere(push_ten);
    assert!(count <= 10 * BLOB_ALLOCATIONS, "{count} in ten frames");
}

/// The tensor's description, its blob as it is written, kept and shared, and the import of them.
const BLOB_ALLOCATIONS: usize = 5;

fn workers() -> BTreeSet<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path());
    let is_worker = |name: String| name.starts_with("tensor-");
    let workers = threads.filter(|path| fs::read_to_string(path.join("comm")).is_ok_and(is_worker));
    workers.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// No other test of this file has threads.
#[test]
fn a_crop_of_another_size_keeps_the_threads() {
    let mut harness = convert("width=16 height=16 threads=3");
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    let mut push =
        |side| drop(harness.push_and_pull(cropped(&memory, (0, 0, side, side))).unwrap());
    push(36);
    let first = workers();
    assert_eq!(first.len(), 2);
    for side in [16, 20, 24, 28] {
        push(side);
        assert_eq!(workers(), first, "a crop of {side}x{side}");
    }
}

/// Who remembers what it needs on the same memories further on takes nothing from the element.
#[test]
fn an_import_further_on_costs_no_frame() {
    init();
    let mut harness = Harness::new_parse(
        "tensorconvert width=16 height=16 ! video/x-raw,format=RGB \
         ! tensorimport quantization=quantization,scale=0.5,zero-point=0",
    );
    harness.set_src_caps_str(NV12);
    let memory = fd_memory(&filled(&tight_nv12(), 0, 4));
    let mut frames: Vec<_> = (0..60).map(|_| buffer([memory.clone()])).collect();
    let mut push_ten = || {
        frames.drain(..10).for_each(|frame| drop(harness.push_and_pull(frame).unwrap()));
    };
    push_ten();
    assert_eq!(allocations_anywhere(push_ten), 0);
}
