//! `DMA_DRM` caps from a camera, which `v4l2src` negotiates since GStreamer 1.26. `REQUIRE_BACKENDS`
//! naming `vivid_drm` forbids to skip this.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::collections::HashSet;

use gst::prelude::*;
use gst_video::{VideoFormat, VideoInfo, VideoMeta};
use gsttensor::BufferTensorExt;
use tensor_core::{PixelFormat, TensorMemory};
use tensor_tests::{
    camera::{Camera, Input, skip},
    plain_view::planes,
};

/// Frames of the camera, each with its caps' `drm-format`.
fn frames(camera: Camera, drm_format: &str) -> Vec<gst::Buffer> {
    let description = format!(
        "{} ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={drm_format},width=640,height=360 \
         ! tensorimport ! appsink name=sink sync=false max-buffers=1",
        camera.source("dmabuf", 12)
    );
    let pipeline = gst::parse::launch(&description).unwrap().downcast::<gst::Pipeline>().unwrap();
    let sink = pipeline.by_name("sink").unwrap().downcast::<gst_app::AppSink>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let mut frames = Vec::new();
    while let Ok(sample) = sink.pull_sample() {
        check(&sample.buffer_owned().unwrap(), drm_format);
        frames.push(sample.buffer_owned().unwrap().copy());
    }
    let error = pipeline.bus().unwrap().pop_filtered(&[gst::MessageType::Error]);
    assert!(error.is_none(), "{error:?}");
    pipeline.set_state(gst::State::Null).unwrap();
    frames
}

/// The tensor is what the caps say in DRM's words, and its samples those that the video meta locates.
fn check(buffer: &gst::Buffer, drm_format: &str) {
    let (format, video) = match drm_format {
        "NV12" => (PixelFormat::Nv12, VideoFormat::Nv12),
        _ => (PixelFormat::Yuyv, VideoFormat::Yuy2),
    };
    let tensor = buffer.tensor_meta().unwrap().tensor(buffer).unwrap();
    assert_eq!((tensor.format(), tensor.memory()), (Some(format), TensorMemory::DmaBuf));
    assert_eq!(buffer.meta::<VideoMeta>().unwrap().format(), video);
    let info = VideoInfo::builder(video, 640, 360).build().unwrap();
    let map = tensor.map_read().unwrap();
    for (plane, right) in planes(buffer, &info).iter().enumerate() {
        let there: Vec<u8> = map.plane(plane).unwrap().rows().flatten().copied().collect();
        assert!(there == *right, "{drm_format}, plane {plane}");
        let values: HashSet<_> = right.iter().collect();
        assert!(values.len() > 4, "a picture: {values:?}");
    }
}

// G02
#[test]
fn frames_under_dma_drm_caps_are_what_they_say() {
    gst::init().unwrap();
    gsttensor::plugin_register_static().unwrap();
    if gst::version() < (1, 25, 1, 0) {
        skip("vivid_drm", &format!("v4l2src of {} has no DMA_DRM", gst::version_string()));
        return;
    }
    for camera in [Camera::SinglePlanar, Camera::MultiPlanar] {
        for drm_format in ["NV12", "YUYV"] {
            let Some(camera) = camera.open(Input::Webcam) else { return };
            let count = frames(camera, drm_format).len();
            assert_eq!(count, 12, "{camera:?} {drm_format}");
        }
    }
}
