//! Every fd that is taken is given back. These tests count, so one runs at a time.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::*;
use gst::prelude::*;
use tensor_core::Memory;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

// G05
#[test]
fn a_buffer_under_new_fd_numbers_is_imported_once() {
    let _alone = alone();
    let mut harness = harness(NV12);
    let shm = filled(&tight_nv12(), 0, 4);
    let mut fds = 0;
    for frame in 0..300 {
        let buffer = harness.push_and_pull(buffer([fd_memory(&shm)])).unwrap();
        check_samples(&tensor(&buffer), 4);
        match frame {
            20 => fds = fd_count(),
            21.. => assert_eq!(fd_count(), fds, "frame {frame}"),
            _ => (),
        }
    }
    let stats = ["frames", "imports", "hits", "live"].map(|s| stat(&element(&harness), s));
    assert_eq!(stats, [300, 1, 299, 1]);
}

// G08
#[test]
fn a_buffer_too_small_is_an_error_with_both_numbers_and_leaks_nothing() {
    let _alone = alone();
    let mut harness = harness(NV12);
    let bus = gst::Bus::new();
    element(&harness).set_bus(Some(&bus));
    let shm = Memory::shm(1000).unwrap();
    let mut fds = 0;
    for push in 0..1000 {
        assert_eq!(harness.push(buffer([fd_memory(&shm)])), Err(gst::FlowError::Error));
        let message = bus.pop_filtered(&[gst::MessageType::Error]).unwrap();
        let gst::MessageView::Error(error) = message.view() else { unreachable!() };
        let text = error.error().to_string();
        assert!(text.contains("3456") && text.contains("1000"), "{text}");
        match push {
            10 => fds = fd_count(),
            11.. => assert_eq!(fd_count(), fds, "push {push}"),
            _ => (),
        }
    }
    let good = buffer([fd_memory(&filled(&tight_nv12(), 0, 1))]);
    check_samples(&tensor(&harness.push_and_pull(good).unwrap()), 1);
    element(&harness).set_bus(None);
}

// G06
#[test]
fn stopping_gives_every_fd_back() {
    let _alone = alone();
    init();
    let mut fds = 0;
    for cycle in 0..20 {
        let mut harness = harness(NV12);
        for frame in 0..5 {
            let memory = fd_memory(&filled(&tight_nv12(), 0, frame));
            check_samples(&tensor(&harness.push_and_pull(buffer([memory])).unwrap()), frame);
        }
        assert_eq!(stat(&element(&harness), "live"), 5);
        let element = element(&harness);
        drop(harness);
        assert_eq!(stat(&element, "live"), 0);
        drop(element);
        match cycle {
            1 => fds = fd_count(),
            2.. => assert_eq!(fd_count(), fds, "cycle {cycle}"),
            _ => (),
        }
    }
}

#[test]
fn a_memory_outlives_no_element_that_remembered_it() {
    let _alone = alone();
    init();
    let memory = fd_memory(&filled(&tight_nv12(), 0, 1));
    let fds = fd_count();
    let buffer = harness(NV12).push_and_pull(buffer([memory.clone()])).unwrap();
    assert_eq!(fd_count(), fds + 1, "the tensor in the meta holds the file");
    drop(buffer);
    assert_eq!(fd_count(), fds, "the memory remembers, and holds nothing");
}
