//! `videoconvertscale`, which ends at bytes: what comes after it is not counted.

use gst::prelude::*;

use crate::cell::{Cell, Work};

pub fn work(cell: &Cell, threads: usize) -> Option<Work> {
    let ((from_width, from_height), (width, height)) = (cell.from, cell.to);
    let method = if cell.area { "bilinear2" } else { "bilinear" };
    let text = format!(
        "appsrc name=in format=time max-bytes=0 caps=video/x-raw,format=NV12,width={from_width},\
         height={from_height},framerate=30/1,pixel-aspect-ratio=1/1 \
         ! videoconvertscale n-threads={threads} method={method} add-borders={} \
         ! video/x-raw,format=RGB,width={width},height={height}{} \
         ! appsink name=out sync=false",
        cell.is_letterbox(),
        if cell.is_letterbox() { ",pixel-aspect-ratio=1/1" } else { "" },
    );
    let pipeline = gst::parse::launch(&text).ok()?.downcast::<gst::Pipeline>().ok()?;
    let source = pipeline.by_name("in")?.downcast::<gst_app::AppSrc>().ok()?;
    let sink = pipeline.by_name("out")?.downcast::<gst_app::AppSink>().ok()?;
    pipeline.set_state(gst::State::Playing).ok()?;
    let frame = gst::Buffer::from_slice(cell.frame());
    let work = move |times: usize| {
        for _ in 0..times {
            // The header alone is copied.
            source.push_buffer(frame.copy()).expect("runs");
        }
        for _ in 0..times {
            sink.pull_sample().expect("runs");
        }
    };
    work(1);
    // The pipeline ends with the process.
    std::mem::forget(pipeline);
    Some(Box::new(work))
}
