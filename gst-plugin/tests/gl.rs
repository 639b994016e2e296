//! Frames of our pool in OpenGL: imported as dma-bufs, not uploaded, and read back.
//!
//! This needs a dma-heap, and GL without a display, which GStreamer has since 1.24: set
//! `GST_GL_PLATFORM=egl GST_GL_WINDOW=surfaceless GST_GL_API=gles2`. `REQUIRE_BACKENDS=gl_upload`
//! forbids to skip it.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "what goes wrong here fails a test"
)]

mod common;

use std::{
    env,
    sync::{Arc, Mutex},
};

use common::*;
use gst::prelude::*;
use gst_video::{VideoFrameRef, VideoInfo, VideoMeta};
use gsttensor::pool::TensorBufferPool;
use tensor_core::memory::{AllocPolicy, Step};

/// Rows of 600 bytes that are 640 apart in the pool's frames.
const WIDTH: usize = 600;
const HEIGHT: usize = 340;
const CAPS: &str = "video/x-raw,format=NV12,width=600,height=340,framerate=30/1,colorimetry=bt601";

/// Four colours, in blocks that are larger than what GL filters across.
const CHROMA: [[u8; 2]; 4] = [[128, 128], [100, 150], [150, 100], [110, 110]];
const BLOCK: usize = 50;

fn luma(x: usize, y: usize, frame: usize) -> u8 {
    u8::try_from(80 + (x / 8 + y / 4 + 20 * frame) % 100).unwrap()
}

fn chroma(x: usize, y: usize) -> [u8; 2] {
    CHROMA[(x / BLOCK + 2 * (y / BLOCK)) % 4]
}

/// What BT.601 in limited range makes of a sample.
fn rgb(y: u8, [cb, cr]: [u8; 2]) -> [f64; 3] {
    let y = 255.0 / 219.0 * (f64::from(y) - 16.0);
    let [cb, cr] = [cb, cr].map(|c| 255.0 / 224.0 * (f64::from(c) - 128.0));
    let (kr, kb) = (0.299, 0.114);
    let (r, b) = (y + 2.0 * (1.0 - kr) * cr, y + 2.0 * (1.0 - kb) * cb);
    [r, (y - kr * r - kb * b) / (1.0 - kr - kb), b].map(|c| c.clamp(0.0, 255.0))
}

/// A pool of dma-bufs, or a spoken skip.
fn pool() -> Option<TensorBufferPool> {
    init();
    let policy = AllocPolicy::from_steps([Step::DmaHeap]);
    let frames = TensorBufferPool::builder().caps(&CAPS.parse().unwrap()).policy(policy);
    let pool = frames.buffers(2, 2).build().unwrap();
    let why = if env::var("GST_GL_WINDOW").is_ok_and(|window| window == "surfaceless") {
        pool.set_active(true).err().map(|error| format!("no dma-heap: {error}"))
    } else {
        Some("GST_GL_WINDOW is not surfaceless".to_owned())
    };
    let Some(why) = why else { return Some(pool) };
    let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "gl_upload"), "required: {why}");
    println!("skipped: {why}");
    None
}

fn painted(pool: &TensorBufferPool, number: usize) -> gst::Buffer {
    let mut buffer = pool.acquire_buffer(None).unwrap();
    assert!(buffer.peek_memory(0).is_memory_type::<gst_allocators::DmaBufMemory>());
    assert_eq!(buffer.meta::<VideoMeta>().unwrap().stride(), [640, 640]);
    let info = VideoInfo::from_caps(&CAPS.parse::<gst::Caps>().unwrap()).unwrap();
    let mut frame = VideoFrameRef::from_buffer_ref_writable(buffer.make_mut(), &info).unwrap();
    for (y, row) in frame.plane_data_mut(0).unwrap().chunks_mut(640).enumerate().take(HEIGHT) {
        (0..WIDTH).for_each(|x| row[x] = luma(x, y, number));
    }
    for (y, row) in frame.plane_data_mut(1).unwrap().chunks_mut(640).enumerate().take(HEIGHT / 2) {
        for x in 0..WIDTH / 2 {
            row[2 * x..2 * x + 2].copy_from_slice(&chroma(2 * x, 2 * y));
        }
    }
    drop(frame);
    buffer
}

/// Every pixel but those at the edges of blocks, where chroma is between two.
fn check(rgba: &[u8], number: usize) {
    assert_eq!(rgba.len(), WIDTH * HEIGHT * 4);
    let is_inside = |at: usize| (4..BLOCK - 4).contains(&(at % BLOCK));
    for (at, pixel) in rgba.chunks(4).enumerate() {
        let (x, y) = (at % WIDTH, at / WIDTH);
        if !is_inside(x) || !is_inside(y) {
            continue;
        }
        let right = rgb(luma(x, y, number), chroma(x, y));
        for (there, right) in pixel.iter().zip(right) {
            let away = (f64::from(*there) - right).abs();
            assert!(away <= 4.0, "frame {number}, {x} {y}: {pixel:?}, not {right:?}");
        }
    }
}

/// What GStreamer's uploader says of the way it takes, one word a frame.
fn watch_uploader() -> Arc<Mutex<Vec<String>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    gst::log::remove_default_log_function();
    gst::log::set_threshold_from_string("glupload:6", false);
    gst::log::add_log_function(move |category, _, _, _, _, _, message| {
        let message = message.get().map(|message| message.to_string()).unwrap_or_default();
        if category.name() == "glupload"
            && let Some((_, rest)) = message.split_once("uploader ")
            && let Some((uploader, _)) = rest.split_once(" returned 1")
        {
            into.lock().unwrap().push(uploader.to_owned());
        }
    });
    seen
}

#[test]
fn gl_imports_frames_of_the_pool_and_sees_what_was_written() {
    let Some(pool) = pool() else { return };
    let uploader = watch_uploader();
    let pipeline = parse(&format!(
        "appsrc name=source format=time caps={CAPS} ! tensorimport ! glupload ! glcolorconvert \
         ! video/x-raw(memory:GLMemory),format=RGBA ! gldownload ! video/x-raw,format=RGBA \
         ! appsink name=sink sync=false"
    ));
    let source = pipeline.by_name("source").unwrap().downcast::<gst_app::AppSrc>().unwrap();
    for number in 0..3 {
        let frame = painted(&pool, number);
        source.push_buffer(frame).unwrap();
        let rgba = pull(&pipeline, "sink");
        check(&rgba.map_readable().unwrap(), number);
    }
    pipeline.set_state(gst::State::Null).unwrap();
    assert_eq!(*uploader.lock().unwrap(), ["Dmabuf"; 3]);
}
