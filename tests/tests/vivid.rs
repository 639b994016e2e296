//! The main job on a real V4L2 driver: frames of the kernel's `vivid` cameras, as real dma-bufs.
//!
//! These need the cameras of the test machine (`tests/vm/run`); elsewhere they skip aloud.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::{collections::HashSet, os::fd::AsFd};

use gst_allocators::prelude::*;
use gsttensor::BufferTensorExt;
use tensor_core::{CpuAccess, FileIdentity, Memory, PixelFormat, TensorMemory};
use tensor_tests::{
    camera::{Camera, Input, skip},
    v4l2,
    watch::{Bare, FrameFacts, Watch, Watched, plain_sums, watch},
};

const VGA: (u32, u32) = (640, 360);

fn pipeline(camera: Camera, frames: u32, format: &str, (width, height): (u32, u32)) -> String {
    format!(
        "{} ! video/x-raw,format={format},width={width},height={height} \
         ! tensorimport name=import ! fakesink",
        camera.source("dmabuf", frames)
    )
}

/// The files that arrived at the element, by the kernel's account.
fn inodes(frames: &[FrameFacts]) -> HashSet<FileIdentity> {
    let memories = frames.iter().flat_map(|frame| &frame.memories);
    memories.filter_map(|memory| memory.file.map(|(_, identity)| identity)).collect()
}

/// Every frame: dma-bufs that pass unchanged, described as what they are, read as what they hold.
fn assert_frames_are_true(watched: &Watched, format: PixelFormat, memories: usize) {
    assert_eq!(watched.error, None);
    for (number, frame) in watched.frames.iter().enumerate() {
        assert_eq!(frame.memories.len(), memories, "frame {number}");
        assert!(frame.memories.iter().all(|memory| memory.is_dmabuf), "frame {number}");
        assert_eq!(frame.memories, frame.memories_after, "frame {number}");
        assert_eq!((frame.kind, frame.format), (TensorMemory::DmaBuf, Some(format)));
        assert_eq!(frame.tensor_sums, frame.plain_sums, "frame {number}");
        for (place, identity) in &frame.planes {
            let arrived = frame.memories[place.memory].file.map(|(_, identity)| identity);
            assert_eq!(*identity, arrived, "frame {number}");
        }
    }
    assert_eq!(watched.counter("copied-bytes"), 0);
}

fn assert_counts(watched: &Watched, frames: usize, buffers: usize) {
    let count = |name| usize::try_from(watched.counter(name)).unwrap();
    assert_eq!(watched.frames.len(), frames);
    assert_eq!((count("frames"), count("imports")), (frames, buffers));
    assert_eq!(count("hits"), frames - buffers);
}

// S-GST-02, S-PERF-03, G05
#[test]
fn three_hundred_frames_are_imported_once_a_buffer() {
    let Some(camera) = Camera::SinglePlanar.open(Input::Webcam) else { return };
    let watched = watch(&pipeline(camera, 300, "NV12", VGA));
    assert_frames_are_true(&watched, PixelFormat::Nv12, 1);
    assert_counts(&watched, 300, inodes(&watched.frames).len());
    let fds: HashSet<_> = watched.frames[20..].iter().map(|frame| frame.fds).collect();
    assert_eq!(fds.len(), 1, "descriptors from frame 20 on: {fds:?}");
    println!(
        "300 frames, {} imports, {} hits, {} bytes copied, {} fds",
        watched.counter("imports"),
        watched.counter("hits"),
        watched.counter("copied-bytes"),
        watched.frames[299].fds
    );
}

// S-MP-07
#[test]
fn planes_in_buffers_of_their_own_are_described_there() {
    let Some(camera) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    for (format, pixel, planes) in [("NV12", PixelFormat::Nv12, 2), ("I420", PixelFormat::I420, 3)]
    {
        let watched = watch(&pipeline(camera, 300, format, VGA));
        assert_frames_are_true(&watched, pixel, planes);
        assert_counts(&watched, 300, inodes(&watched.frames).len() / planes);
        for frame in &watched.frames {
            let files: HashSet<_> = frame.planes.iter().map(|(_, file)| file.unwrap()).collect();
            assert_eq!(files.len(), planes);
            assert!(frame.planes.iter().all(|(place, _)| place.offset == 0));
        }
    }
}

/// A still picture read through the tensor is the picture the driver's plain mappings show.
fn assert_same_as_mmap(camera: Camera, format: &str, size: (u32, u32)) -> Watched {
    let (width, height) = size;
    let watched = watch(&pipeline(camera, 30, format, size));
    assert_eq!(watched.error, None, "{format}");
    assert_eq!(watched.frames.len(), 30, "{format}");
    let plain = plain_sums(&format!(
        "{} ! video/x-raw,format={format},width={width},height={height} ! appsink name=sink",
        camera.source("mmap", 30)
    ));
    assert_eq!(plain.len(), 30, "{format}");
    let still = &plain[29];
    for (number, frame) in watched.frames.iter().enumerate() {
        assert!(frame.memories.iter().all(|memory| memory.is_dmabuf), "{format} frame {number}");
        assert_eq!(&frame.tensor_sums, still, "{format} frame {number}");
        assert_eq!(&frame.plain_sums, still, "{format} frame {number}");
    }
    watched
}

#[test]
fn a_still_picture_is_the_same_in_every_plane_of_several_buffers() {
    let Some(camera) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    for (format, planes) in [("NV12", 2), ("I420", 3)] {
        let watched = assert_same_as_mmap(camera, format, VGA);
        assert_eq!(watched.frames[0].planes.len(), planes);
    }
}

#[test]
fn every_format_is_the_same_as_through_plain_maps() {
    let Some(camera) = Camera::SinglePlanar.open(Input::Webcam) else { return };
    for format in ["NV12", "YUY2", "UYVY", "RGB", "GRAY8"] {
        assert_same_as_mmap(camera, format, VGA);
    }
}

// G04, G11, S-MAP-02
#[test]
fn the_camera_pads_its_rows_as_the_allocation_answer_asks() {
    let Some(camera) = Camera::SinglePlanar.open(Input::Hdmi) else { return };
    for format in ["NV12", "RGB"] {
        let watched = assert_same_as_mmap(camera, format, (322, 242));
        for (place, _) in watched.frames.iter().flat_map(|frame| &frame.planes) {
            assert_eq!(place.stride % 64, 0, "{format}: {place:?}");
        }
    }
}

/// vivid's multi-planar YUYV begins at byte 128 of its buffer, unless a single-planar camera is
/// there too. v4l2src of GStreamer 1.22 drops such frames, so this one is captured and exported by
/// hand.
#[test]
fn a_frame_that_begins_inside_its_buffer_is_described_there() {
    let Some(camera) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    let captured = v4l2::capture(camera.device(), *b"YUYV", VGA).unwrap();
    let (offset, end) = (captured.data_offset, captured.bytesused);
    if offset == 0 {
        return skip("data_offset", "vivid gives no data offset beside a single-planar camera");
    }
    assert_eq!((offset, end - offset), (128, 640 * 360 * 2));
    gst::init().unwrap();

    let memory = Memory::import(captured.dmabuf.as_fd(), CpuAccess::Read).unwrap();
    let own = memory.map(CpuAccess::Read).unwrap()[offset..end].to_vec();
    let mut frame = gst::Buffer::new();
    let fd = captured.dmabuf.try_clone().unwrap();
    // SAFETY: the descriptor is a dma-buf of at least `end` bytes, and is given away.
    let memory = unsafe { gst_allocators::DmaBufAllocator::new().alloc_dmabuf(fd, end) };
    let mut memory = memory.unwrap();
    memory.get_mut().unwrap().resize(offset..end);
    frame.get_mut().unwrap().append_memory(memory);

    let frame = through_tensorimport("video/x-raw,format=YUY2,width=640,height=360", frame);
    let tensor = frame.tensor_meta().unwrap().tensor(&frame).unwrap();
    assert_eq!(
        (tensor.memory(), tensor.image_layout().unwrap().planes()[0].offset),
        (TensorMemory::DmaBuf, 128)
    );
    let map = tensor.map_read().unwrap();
    assert!(map.plane(0).unwrap().rows().flatten().eq(&own));
    assert!(own.iter().any(|byte| *byte != own[0]), "a picture");
}

/// Pushes one buffer and gives back what comes out.
fn through_tensorimport(caps: &str, frame: gst::Buffer) -> gst::Buffer {
    gsttensor::plugin_register_static().unwrap();
    let mut harness = gst_check::Harness::new("tensorimport");
    harness.set_src_caps_str(&format!("{caps},framerate=30/1"));
    harness.push_and_pull(frame).unwrap()
}

// G06, S-ID-08
#[test]
fn a_restart_brings_fd_numbers_back_with_other_files_and_no_stale_frame() {
    let Some(camera) = Camera::MultiPlanar.open(Input::Webcam) else { return };
    let watch = Watch::new(&pipeline(camera, 30, "NV12", VGA));
    let first = watch.run();
    let second = watch.run();
    for watched in [&first, &second] {
        assert_frames_are_true(watched, PixelFormat::Nv12, 2);
    }
    let numbers = |watched: &Watched| -> HashSet<i32> {
        let memories = watched.frames.iter().flat_map(|frame| &frame.memories);
        memories.filter_map(|memory| memory.file.map(|(number, _)| number)).collect()
    };
    assert!(!numbers(&first).is_disjoint(&numbers(&second)), "fd numbers are reused");
    assert!(inodes(&first.frames).is_disjoint(&inodes(&second.frames)), "files are not");
    assert_counts(&second, 30, inodes(&second.frames).len() / 2);
}

/// Descriptors that stay open after a stop, all of them and dma-bufs alone, and dma-bufs mapped.
fn left_open() -> (usize, usize, usize) {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let links: Vec<_> =
        links.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok()).collect();
    let is_dmabuf = |text: &str| text.contains("dmabuf");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (
        links.len(),
        links.iter().filter(|link| is_dmabuf(&link.to_string_lossy())).count(),
        maps.lines().filter(|line| is_dmabuf(line)).count(),
    )
}

// G06. v4l2src of GStreamer 1.22.0 leaves its device and two pools behind at every stop, so the
// descriptors are compared with those of the same pipeline without tensorimport.
#[test]
fn twenty_starts_and_stops_leave_no_descriptor_and_no_mapping() {
    let Some(camera) = Camera::SinglePlanar.open(Input::Webcam) else { return };
    let description = pipeline(camera, 5, "NV12", VGA);
    let grown = |cycle: &dyn Fn()| {
        cycle();
        let (before, ..) = left_open();
        for _ in 0..20 {
            cycle();
            let (_, dmabufs, mapped) = left_open();
            assert_eq!((dmabufs, mapped), (0, 0));
        }
        left_open().0 - before
    };
    let watch = Watch::new(&description);
    let with = grown(&|| assert_eq!(watch.run().error, None));
    let bare = Bare::new(&description.replace("! tensorimport name=import", ""));
    let without = grown(&|| bare.run());
    assert_eq!(with, without, "descriptors grown in twenty cycles");
}
