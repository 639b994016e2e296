//! Which buffers `tensorimport` takes for the same, and which not. These tests count descriptors, so
//! one runs at a time.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::{
    cmp::Ordering,
    collections::HashSet,
    os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd},
    sync::{Mutex, MutexGuard, PoisonError},
};

use common::*;
use gst_allocators::prelude::*;
use gst_check::Harness;
use tensor_core::{FileIdentity, ImageLayout, Memory, PixelFormat, StrideAlign};

const GREY: &str = "video/x-raw,format=GRAY8,width=64,height=36,framerate=30/1";

fn grey() -> ImageLayout {
    ImageLayout::packed(PixelFormat::Grey, 64, 36, StrideAlign::DMA).unwrap()
}

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stats<const N: usize>(harness: &Harness, names: [&str; N]) -> [u64; N] {
    names.map(|name| stat(&element(harness), name))
}

/// A `GstFdMemory` that owns `fd`.
fn memory_of(fd: impl Into<OwnedFd>, len: usize) -> gst::Memory {
    let allocator = gst_allocators::FdAllocator::new();
    let flags = gst_allocators::FdMemoryFlags::empty();
    // SAFETY: the fd is open and given away; the memory closes it.
    unsafe { allocator.alloc_fd(fd.into().into_raw_fd(), len, flags) }.unwrap()
}

// S-ID-06
#[test]
fn four_buffers_that_cycle_are_four_imports_with_constant_ids() {
    let _alone = alone();
    let mut harness = harness(NV12);
    let pool = [0, 1, 2, 3].map(|frame| filled(&tight_nv12(), 0, frame));
    let mut ids: Vec<u64> = Vec::new();
    for frame in 0..1000 {
        let got = harness.push_and_pull(buffer([fd_memory(&pool[frame % 4])])).unwrap();
        let tensor = tensor(&got);
        let id = tensor.identity().id();
        if frame < 4 {
            ids.push(id);
        } else {
            assert_eq!(id, ids[frame % 4], "frame {frame}");
        }
        check_samples(&tensor, u8::try_from(frame % 4).unwrap());
    }
    assert_eq!(stats(&harness, ["imports", "hits", "evictions", "live"]), [4, 996, 0, 4]);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 4);
}

// S-ID-07
#[test]
fn the_same_buffer_with_another_geometry_is_another_entry() {
    let _alone = alone();
    let caps = |width, height| {
        format!("video/x-raw,format=NV12,width={width},height={height},framerate=30/1")
    };
    let layout = |width, height| {
        ImageLayout::packed(PixelFormat::Nv12, width, height, StrideAlign::DMA).unwrap()
    };
    let (large, small) = (layout(640, 480), layout(320, 240));
    let shm = filled(&large, 0, 1);
    let mut harness = harness(&caps(640, 480));
    for (round, layout) in [&large, &small, &large].into_iter().enumerate() {
        harness.set_src_caps_str(&caps(layout.width(), layout.height()));
        let number = u8::try_from(round + 1).unwrap();
        fill(&shm, layout, 0, number);
        for _ in 0..2 {
            let got = harness.push_and_pull(buffer([fd_memory(&shm)])).unwrap();
            assert_eq!(tensor(&got).image_layout().unwrap(), layout);
            check_samples(&tensor(&got), number);
        }
    }
    assert_eq!(stats(&harness, ["imports", "hits", "live"]), [3, 3, 1]);
}

/// Within one stream too: a video meta may change from frame to frame.
// S-ID-07
#[test]
fn another_stride_in_the_same_stream_is_another_entry() {
    let _alone = alone();
    let mut harness = harness(GREY);
    let shm = Memory::shm(128 * 36).unwrap();
    for stride in [64, 128, 64] {
        let place = tensor_core::PlanePlacement { memory: 0, offset: 0, stride };
        let layout = ImageLayout::from_planes(PixelFormat::Grey, 64, 36, &[place]).unwrap();
        fill(&shm, &layout, 0, 7);
        let mut frame = buffer([fd_memory(&shm)]);
        let strides = [i32::try_from(stride).unwrap()];
        add_video_meta(&mut frame, gst_video::VideoFormat::Gray8, [64, 36], &[0], &strides);
        check_samples(&tensor(&harness.push_and_pull(frame).unwrap()), 7);
    }
    assert_eq!(stats(&harness, ["imports", "hits", "live"]), [3, 0, 1]);
}

// S-ID-08
#[test]
fn a_recycled_descriptor_number_is_no_hit() {
    let _alone = alone();
    let mut harness = harness(GREY);
    let mut numbers = HashSet::new();
    for frame in 0..20 {
        let memory = fd_memory(&filled(&grey(), 0, frame));
        let fd_memory = memory.downcast_memory_ref::<gst_allocators::FdMemory>().unwrap();
        numbers.insert(fd_memory.fd());
        // Every second frame forgets, so that numbers come free and are given again.
        let got = harness.push_and_pull(buffer([memory])).unwrap();
        check_samples(&tensor(&got), frame);
        if frame % 2 == 1 {
            harness.push_event(gst::event::FlushStart::new());
            harness.push_event(gst::event::FlushStop::new(false));
            harness.set_src_caps_str(GREY);
            harness.push_event(gst::event::Segment::new(
                &gst::FormattedSegment::<gst::ClockTime>::new(),
            ));
        }
    }
    assert!(numbers.len() < 20, "no number came twice: {numbers:?}");
    assert_eq!(stats(&harness, ["imports", "hits"]), [20, 0]);
}

/// The entry of a buffer that its producer freed is not found again, and goes when it has not been
/// seen for a while.
// S-ID-08
#[test]
fn what_the_producer_freed_is_forgotten_while_the_stream_goes_on() {
    let _alone = alone();
    let mut harness = harness(GREY);
    let (freed, kept) = (filled(&grey(), 0, 1), filled(&grey(), 0, 2));
    let weak = {
        let got = harness.push_and_pull(buffer([fd_memory(&freed)])).unwrap();
        tensor(&got).identity().weak()
    };
    drop(freed);
    assert!(weak.is_alive(), "the entry keeps the file, so its number is not given anew");
    for _ in 0..2 * tensor_core::import_cache::IDLE_FRAMES {
        drop(harness.push_and_pull(buffer([fd_memory(&kept)])).unwrap());
    }
    assert!(!weak.is_alive());
    assert_eq!(stats(&harness, ["live", "evictions"]), [1, 1]);
}

// S-ID-09
#[test]
fn a_producer_that_never_recycles_fills_nothing() {
    let _alone = alone();
    let mut harness = harness(GREY);
    let before = fd_count();
    let mut most = 0;
    for _ in 0..10_000 {
        let shm = Memory::shm(grey().allocation_len(0)).unwrap();
        drop(harness.push_and_pull(buffer([fd_memory(&shm)])).unwrap());
        most = most.max(fd_count());
    }
    assert!(most <= before + 64 + 4, "{most} descriptors, {before} before");
    assert_eq!(stats(&harness, ["imports", "hits", "evictions", "live"]), [10_000, 0, 9936, 64]);
}

/// Two files of one inode number, on the filesystem of memfds and on that of `/dev/shm`.
fn equal_inodes() -> Result<[OwnedFd; 2], String> {
    const TRIES: usize = 3_000_000;
    let len = u64::try_from(grey().allocation_len(0)).unwrap();
    let anonymous = || Memory::shm(grey().allocation_len(0)).map_err(|error| error.to_string());
    let named = || tempfile::tempfile_in("/dev/shm").map_err(|error| error.to_string());
    let identity = |fd: &dyn AsFd| FileIdentity::of(fd.as_fd()).map_err(|error| error.to_string());
    let (mut memfd, mut file) = (anonymous()?, named()?);
    for _ in 0..TRIES {
        let ids = [identity(&memfd.fd().unwrap())?, identity(&file)?];
        if ids[0].dev == ids[1].dev {
            return Err("memfds and /dev/shm are one filesystem".into());
        }
        match ids[0].ino.cmp(&ids[1].ino) {
            Ordering::Equal => {
                file.set_len(len).map_err(|error| error.to_string())?;
                return Ok([dup(&memfd), file.into()]);
            }
            // Both count up.
            Ordering::Less => memfd = anonymous()?,
            Ordering::Greater => file = named()?,
        }
    }
    Err(format!("no equal inode numbers in {TRIES} tries"))
}

#[test]
fn equal_inodes_on_two_filesystems_are_two_buffers() {
    let _alone = alone();
    let fds = match equal_inodes() {
        Ok(fds) => fds,
        Err(why) => return skip("inodes", &why),
    };
    let mut harness = harness(GREY);
    for _ in 0..3 {
        for fd in &fds {
            let memory = memory_of(fd.try_clone().unwrap(), grey().allocation_len(0));
            let got = harness.push_and_pull(buffer([memory])).unwrap();
            let found = tensor(&got).memories()[0].identity();
            assert_eq!(found, FileIdentity::of(fd.as_fd()).ok(), "fd {}", fd.as_raw_fd());
        }
    }
    assert_eq!(stats(&harness, ["imports", "hits", "live"]), [2, 4, 2]);
}
