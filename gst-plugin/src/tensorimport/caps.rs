//! The caps of both pads: every format of the table that the running GStreamer knows, and compressed
//! streams.

use gst::prelude::*;
use gst_allocators::CAPS_FEATURE_MEMORY_DMABUF;
use gst_video::VideoFormat;

use super::bitstream;
use crate::video_layout;

/// What `tensorimport` takes: [`template`], then compressed frames.
pub(crate) fn with_bitstreams() -> gst::Caps {
    let mut caps = template();
    let types = bitstream::MEDIA_TYPES.map(gst::Structure::new_empty);
    types.into_iter().for_each(|compressed| caps.make_mut().append_structure(compressed));
    caps
}

/// Plain video, then the same as dma-bufs, then linear dma-bufs by their DRM code.
///
/// Plain comes first: dma-bufs flow under these caps too, and elements that know nothing of
/// dma-bufs accept them.
pub(crate) fn template() -> gst::Caps {
    let dma_buf = || [CAPS_FEATURE_MEMORY_DMABUF];
    let formats: Vec<_> = video_layout::caps_formats().collect();
    let names = gst::List::new(formats.iter().map(|format| format.to_str().as_str()));
    let codes = formats.iter().filter_map(|format| drm_code(*format));
    let drm = video(&"DMA_DRM").field("drm-format", gst::List::new(codes)).build();
    let mut caps = gst::Caps::new_empty();
    let writable = caps.make_mut();
    writable.append_structure(video(&names).build());
    writable.append_structure_full(video(&names).build(), Some(gst::CapsFeatures::new(dma_buf())));
    writable.append_structure_full(drm, Some(gst::CapsFeatures::new(dma_buf())));
    caps
}

fn video(format: &(impl ToSendValue + Sync)) -> gst::structure::Builder {
    gst::Structure::builder("video/x-raw")
        .field("format", format.to_send_value())
        .field("width", gst::IntRange::new(1, i32::MAX))
        .field("height", gst::IntRange::new(1, i32::MAX))
        .field(
            "framerate",
            gst::FractionRange::new(gst::Fraction::new(0, 1), gst::Fraction::new(i32::MAX, 1)),
        )
}

/// The code in `drm-format`. No modifier follows it: that is how GStreamer says linear.
pub(crate) fn drm_code(format: VideoFormat) -> Option<String> {
    let code = video_layout::pixel_format(format)?.drm_fourcc()?;
    Some(code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(caps: &str) -> bool {
        gst::init().unwrap();
        template().can_intersect(&caps.parse::<gst::Caps>().unwrap())
    }

    // G10
    #[test]
    fn all_three_spellings_of_a_frame_are_accepted() {
        assert!(accepts("video/x-raw,format=NV12,width=640,height=480,framerate=30/1"));
        assert!(accepts("video/x-raw(memory:DMABuf),format=NV12,width=640,height=480"));
        assert!(accepts("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=BG24"));
    }

    #[test]
    fn what_cannot_be_addressed_is_refused() {
        assert!(!accepts(
            "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002"
        ));
        assert!(!accepts("video/x-raw,format=v210"));
        assert!(!accepts("video/x-raw(memory:GLMemory),format=NV12"));
    }
}
