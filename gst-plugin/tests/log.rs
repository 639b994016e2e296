//! What `GST_DEBUG=tensor*:6` shows.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use common::*;
use gst::{DebugLevel, prelude::*};
use gst_check::Harness;
use tensor_core::Memory;

/// Lines of our categories from now on: level, category, message.
type Lines = Arc<Mutex<Vec<(DebugLevel, String, String)>>>;

fn listen() -> Lines {
    init();
    gst::log::remove_default_log_function();
    gst::log::set_threshold_from_string("tensor*:6", true);
    let lines = Lines::default();
    let kept = Arc::clone(&lines);
    gst::log::add_log_function(move |category, level, _, _, _, _, message| {
        if category.name().starts_with("tensor") {
            let text = message.get().map(|text| text.to_string()).unwrap_or_default();
            kept.lock().unwrap().push((level, category.name().to_owned(), text));
        }
    });
    lines
}

/// The one line that begins so.
fn line(lines: &Lines, begins: &str) -> (DebugLevel, String) {
    let lines = lines.lock().unwrap();
    let found: Vec<_> = lines.iter().filter(|(_, _, text)| text.starts_with(begins)).collect();
    assert_eq!(found.len(), 1, "{begins}: {lines:?}");
    let (level, category, text) = found[0];
    assert_eq!(category, "tensorimport");
    assert!(!text.contains('\n'), "{text}");
    (*level, text.clone())
}

fn assert_names(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "{part} is not in: {text}"));
}

fn harness_of(fallback: &str) -> Harness {
    let import = gst::ElementFactory::make("tensorimport").build().unwrap();
    import.set_property_from_str("fallback", fallback);
    let mut harness = Harness::with_element(&import, Some("sink"), Some("src"));
    harness.set_src_caps_str(NV12);
    harness
}

/// Whoever reads the log may ask the element what it counted.
#[test]
fn statistics_can_be_read_by_a_log_function() {
    let lines = listen();
    let mut harness = harness_of("copy");
    let import = element(&harness);
    let read = Arc::new(Mutex::new(0));
    let is_reading = AtomicBool::new(false);
    let (asked, counted) = (import.downgrade(), Arc::clone(&read));
    gst::log::set_threshold_from_string("*:6", true);
    gst::log::add_log_function(move |_, _, _, _, _, _, _| {
        // Making a structure is logged too.
        if is_reading.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some(import) = asked.upgrade() {
            drop(import.property::<gst::Structure>("stats"));
            *counted.lock().unwrap() += 1;
        }
        is_reading.store(false, Ordering::Relaxed);
    });
    harness.push_and_pull(buffer([gst::Memory::with_size(64 * 54)])).unwrap();
    assert!(*read.lock().unwrap() > 10);
    assert!(!lines.lock().unwrap().is_empty());
}

// S-GST-17
#[test]
fn a_miss_says_in_one_line_what_was_imported_and_a_hit_says_nothing() {
    let lines = listen();
    let mut harness = harness_of("wrap");
    let shm = filled(&tight_nv12(), 0, 1);
    let memory = fd_memory(&shm);
    for _ in 0..5 {
        harness.push_and_pull(buffer([memory.clone()])).unwrap();
    }
    let (level, text) = line(&lines, "miss");
    assert_eq!(level, DebugLevel::Debug);
    let inode = shm.identity().unwrap().ino.to_string();
    let plane = "plane 1 at byte 2304 of memory 0 with a stride of 64 bytes";
    assert_names(&text, &["new", "NV12 64x36", plane, "shm", &inode, "1 of 64 imports held"]);
}

#[test]
fn a_miss_of_known_bytes_says_that_they_were_known_otherwise() {
    let lines = listen();
    let mut harness = harness_of("wrap");
    let shm = Memory::shm(128 * 54).unwrap();
    for stride in [64, 128] {
        let mut frame = buffer([fd_memory(&shm)]);
        let format = gst_video::VideoFormat::Nv12;
        add_video_meta(&mut frame, format, [64, 36], &[0, 4608], &[stride, stride]);
        harness.push_and_pull(frame).unwrap();
    }
    let (_, text) = line(&lines, "miss, known by another description");
    assert_names(&text, &["stride of 128 bytes", "1 of 64 imports held"]);
}

// S-GST-17
#[test]
fn a_refusal_says_in_one_line_what_was_needed_what_there_was_and_the_caps() {
    let lines = listen();
    let mut harness = harness_of("wrap");
    let frame = buffer([gst::Memory::with_size(100)]);
    assert_eq!(harness.push(frame), Err(gst::FlowError::Error));
    let (level, text) = line(&lines, "refused");
    assert_eq!(level, DebugLevel::Error);
    assert_names(&text, &["3456 bytes", "has 100 in 1 memories", "format=(string)NV12"]);
}

// S-GST-17
#[test]
fn a_fallback_says_in_one_line_why_how_much_and_where_to() {
    let lines = listen();
    let mut harness = harness_of("copy");
    harness.push_and_pull(buffer([gst::Memory::with_size(64 * 54)])).unwrap();
    let (level, text) = line(&lines, "fallback");
    assert_eq!(level, DebugLevel::Info);
    assert_names(&text, &["3456 bytes copied", "in mem memory, not in a dma-buf", "NV12 64x36"]);
    lines.lock().unwrap().clear();
    // Later ones are said too, for who looks closer.
    harness.push_and_pull(buffer([gst::Memory::with_size(64 * 54)])).unwrap();
    assert_eq!(line(&lines, "fallback").0, DebugLevel::Log);
}

#[test]
fn what_is_forgotten_is_said_with_the_reason_and_the_number() {
    let lines = listen();
    let mut harness = harness_of("wrap");
    for frame in 0..3 {
        let memory = fd_memory(&filled(&tight_nv12(), 0, frame));
        harness.push_and_pull(buffer([memory])).unwrap();
    }
    let mut drain = gst::query::Drain::new();
    harness.srcpad().unwrap().peer_query(drain.get_mut().unwrap().query_mut());
    let (level, text) = line(&lines, "drain query");
    assert_eq!(
        (level, text.as_str()),
        (DebugLevel::Debug, "drain query: a new generation, 3 imports dropped")
    );
}

/// `core` logs nothing itself: what it has to say is in its errors, and the elements log those.
// S-GST-17
#[test]
fn every_element_has_a_category_with_a_description() {
    init();
    for name in ["tensorimport", "tensorconvert", "tensorpay", "tensordepay", "tensorpool"] {
        let category = gst::DebugCategory::get(name);
        let described = category.and_then(|category| category.description().map(str::to_owned));
        assert!(described.is_some_and(|text| text.len() > 10), "{name}");
    }
}
