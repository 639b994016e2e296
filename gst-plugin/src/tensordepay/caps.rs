//! What caps say of the tensors of a packet.

use gst_video::VideoInfo;
use tensor_core::{BlobView, ColorModel, ImageLayout, Layout, transfer::Carried};

use crate::{tensor_caps, video_layout};

/// The media type of buffers that only their metas describe.
pub(super) const OTHER: &str = "application/x-tensor";

/// Caps for a packet of these tensors; `rate` is what the stream's own caps said.
pub(super) fn caps(tensors: &[(BlobView<'_>, Carried)], rate: gst::Fraction) -> gst::Caps {
    let video = match tensors {
        [(view, carried)] => video(view, carried, rate),
        [] | [_, _, ..] => None,
    };
    video.or_else(|| plain(tensors, rate)).unwrap_or_else(|| gst::Caps::new_empty_simple(OTHER))
}

fn video(view: &BlobView<'_>, carried: &Carried, rate: gst::Fraction) -> Option<gst::Caps> {
    let image = image(carried)?;
    let format = video_layout::video_format(image.format())?;
    let size = |pixels| u32::try_from(pixels).ok();
    let info = VideoInfo::builder(format, size(image.width())?, size(image.height())?);
    let mut caps = info.fps(rate).build().ok()?.to_caps().ok()?;
    let is_rgb = image.format().color_model() == ColorModel::Rgb;
    if let Some(colorimetry) = view.colorimetry().to_gstreamer(is_rgb) {
        caps.make_mut().set("colorimetry", colorimetry.to_string());
    }
    Some(caps)
}

/// The one image of a packet.
pub(super) fn image(carried: &Carried) -> Option<&ImageLayout> {
    carried.layout.image()
}

/// NNStreamer's static tensors: dimensions innermost first, a dense memory for each tensor.
fn plain(tensors: &[(BlobView<'_>, Carried)], rate: gst::Fraction) -> Option<gst::Caps> {
    let (mut dimensions, mut types) = (Vec::new(), Vec::new());
    for (view, carried) in tensors {
        let Layout::Strided(layout) = &carried.layout else { return None };
        if !layout.is_dense() || layout.required_len() != carried.len {
            return None;
        }
        let dims = tensor_caps::dimensions(layout.shape());
        dimensions.push(if dims.is_empty() { "1".to_owned() } else { dims });
        types.push(tensor_caps::type_name(view.dtype())?);
    }
    let count = i32::try_from(tensors.len()).ok()?;
    let caps = tensor_caps::fixed(count).field("dimensions", dimensions.join(","));
    Some(caps.field("types", types.join(",")).field("framerate", rate).build())
}
