//! GStreamer's description of a video frame as an [`ImageLayout`], and back.
//!
//! Formats are matched by the name both sides give them in `video/x-raw` caps, so the table in
//! [`tensor_core::format`] is the only list of formats. Nothing here touches a buffer.

mod aligned;
mod color;
#[cfg(test)]
mod tests;

use gst_video::{VideoCropMeta, VideoFormat, VideoInfo, VideoMeta};
use tensor_core::{
    DrmFormat, ImageLayout, LayoutError, MAX_PLANES, Modifier, PixelFormat, PlanePlacement, Region,
    format::DrmFormatError,
};
use thiserror::Error;

pub use aligned::{FrameGeometry, aligned_layout, stated_alignment};
pub use color::colorimetry;

/// Why a frame as GStreamer describes it has no layout here.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VideoLayoutError {
    /// Caps that are not those of one raw video format and size.
    #[error("{caps} are not the caps of raw video of one format and size")]
    Caps {
        /// The caps.
        caps: String,
    },
    /// A pixel format that is not in the table.
    #[error("the pixel format {format} is not known")]
    Format {
        /// The name GStreamer or DRM has for it.
        format: String,
    },
    /// A dma-buf that is tiled or compressed.
    #[error(
        "{drm_format} is {modifier}; only linear dma-bufs, which have no modifier, can be addressed"
    )]
    Modifier {
        /// The `drm-format` of the caps.
        drm_format: String,
        /// The modifier, which has a name if it is a known one.
        modifier: Modifier,
    },
    /// A `drm-format` that is not spelled as GStreamer spells it.
    #[error(transparent)]
    DrmFormat(#[from] DrmFormatError),
    /// A video meta that is not of the caps' frame.
    #[error(
        "the video meta is of {format} {width}x{height}, which cannot hold the caps' {caps_format} {caps_width}x{caps_height}"
    )]
    Meta {
        /// The meta's format.
        format: String,
        /// The meta's width in pixels.
        width: usize,
        /// The meta's height in pixels.
        height: usize,
        /// The caps' format.
        caps_format: PixelFormat,
        /// The caps' width in pixels.
        caps_width: usize,
        /// The caps' height in pixels.
        caps_height: usize,
    },
    /// Rows that go backwards.
    #[error("plane {plane} has a stride of {stride} bytes; rows must follow each other")]
    Stride {
        /// Which plane.
        plane: usize,
        /// The stride, in bytes.
        stride: i32,
    },
    /// Padding that does not fit the address space.
    #[error("{width}x{height} pixels and the asked padding do not fit the address space")]
    Padding {
        /// Width without padding, in pixels.
        width: usize,
        /// Height without padding, in pixels.
        height: usize,
    },
    /// Planes that cannot be as they are said to be.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The table's row for a GStreamer format.
#[must_use]
pub fn pixel_format(format: VideoFormat) -> Option<PixelFormat> {
    // The bindings have no name for formats newer than themselves.
    if matches!(format, VideoFormat::__Unknown(_)) {
        return None;
    }
    PixelFormat::from_gst_name(format.to_str())
}

/// GStreamer's value for a row of the table, where the running GStreamer has one.
#[must_use]
pub fn video_format(format: PixelFormat) -> Option<VideoFormat> {
    format.gst_name().and_then(|name| name.parse().ok())
}

/// Every format that both the table and the running GStreamer know, in the table's order.
pub fn caps_formats() -> impl Iterator<Item = VideoFormat> {
    PixelFormat::ALL.iter().copied().filter_map(video_format)
}

/// The video info of fixed `caps`, those of a linear dma-buf (`format=DMA_DRM`) among them.
///
/// GStreamer 1.22 has no answer for `DMA_DRM` and newer ones answer with a size of 0, so its real
/// format is put in here.
///
/// # Errors
/// [`VideoLayoutError::Caps`], [`VideoLayoutError::Format`] or [`VideoLayoutError::Modifier`].
pub fn info_from_caps(caps: &gst::CapsRef) -> Result<VideoInfo, VideoLayoutError> {
    let refused = || VideoLayoutError::Caps { caps: caps.to_string() };
    let structure = caps.structure(0).filter(|_| caps.is_fixed()).ok_or_else(refused)?;
    if structure.get::<&str>("format") != Ok("DMA_DRM") {
        return VideoInfo::from_caps(caps).map_err(|_| refused());
    }
    let drm_format = structure.get::<&str>("drm-format").map_err(|_| refused())?;
    let format = linear_drm_format(drm_format)?;
    let mut plain = structure.to_owned();
    plain.remove_field("drm-format");
    plain.set("format", format.to_str().as_str());
    VideoInfo::from_caps(&gst::Caps::from(plain)).map_err(|_| refused())
}

/// The format of a `drm-format` field: a fourcc, followed by `:` and a modifier unless linear.
pub(crate) fn linear_drm_format(drm_format: &str) -> Result<VideoFormat, VideoLayoutError> {
    let parsed: DrmFormat = drm_format.parse()?;
    let modifier = parsed.modifier();
    if !modifier.is_mappable() {
        return Err(VideoLayoutError::Modifier { drm_format: drm_format.to_owned(), modifier });
    }
    parsed
        .pixel_format()
        .and_then(video_format)
        .ok_or_else(|| VideoLayoutError::Format { format: drm_format.to_owned() })
}

/// The layout that frames of these caps have when nothing else is said about them: all planes in
/// one memory.
///
/// # Errors
/// See [`VideoLayoutError`].
pub fn layout_from_info(info: &VideoInfo) -> Result<ImageLayout, VideoLayoutError> {
    let size = [info.width(), info.field_height()].map(to_usize);
    place(known(info.format())?, size, info.offset(), info.stride())
}

/// The layout of a frame whose caps say `caps` and whose video meta says where its planes are, were
/// all its memories one.
///
/// The picture is the caps'; the meta may be of a larger one around it, as decoders write it.
///
/// # Errors
/// [`VideoLayoutError::Meta`] for a meta of another format or a smaller picture; else see
/// [`VideoLayoutError`].
pub fn layout_from_meta(
    caps: &ImageLayout,
    meta: &VideoMeta,
) -> Result<ImageLayout, VideoLayoutError> {
    let (width, height) = (to_usize(meta.width()), to_usize(meta.height()));
    let is_of_caps = pixel_format(meta.format()) == Some(caps.format())
        && width >= caps.width()
        && height >= caps.height();
    if !is_of_caps {
        return Err(VideoLayoutError::Meta {
            format: meta.format().to_string(),
            width,
            height,
            caps_format: caps.format(),
            caps_width: caps.width(),
            caps_height: caps.height(),
        });
    }
    place(caps.format(), [caps.width(), caps.height()], meta.offset(), meta.stride())
}

/// The layout of a frame in `buffer`, were all its memories one: as its video meta says, else as
/// `caps` say, and of that the part that its crop meta leaves, in every plane.
///
/// # Errors
/// As [`layout_from_meta`], and [`VideoLayoutError::Layout`] for a crop that reaches past the
/// picture or cuts a chroma sample.
pub fn layout_of_buffer(
    caps: &ImageLayout,
    buffer: &gst::BufferRef,
) -> Result<ImageLayout, VideoLayoutError> {
    let (whole, crop) = whole_of_buffer(caps, buffer)?;
    Ok(match crop {
        Some(crop) => whole.view(crop)?,
        None => whole,
    })
}

/// The layout of the whole picture in `buffer`, and the part of it that a crop meta leaves.
pub(crate) fn whole_of_buffer(
    caps: &ImageLayout,
    buffer: &gst::BufferRef,
) -> Result<(ImageLayout, Option<Region>), VideoLayoutError> {
    let meta = buffer.meta::<VideoMeta>();
    let Some(crop) = buffer.meta::<VideoCropMeta>() else {
        let whole = meta.map_or_else(|| Ok(caps.clone()), |meta| layout_from_meta(caps, &meta));
        return Ok((whole?, None));
    };
    let whole = match meta {
        // The crop is of the whole picture, which the caps' size says nothing of.
        Some(meta) if pixel_format(meta.format()) == Some(caps.format()) => {
            let size = [meta.width(), meta.height()].map(to_usize);
            place(caps.format(), size, meta.offset(), meta.stride())?
        }
        Some(meta) => layout_from_meta(caps, &meta)?,
        None => caps.clone(),
    };
    let (x, y, width, height) = crop.rect();
    let [x, y, width, height] = [x, y, width, height].map(to_usize);
    Ok((whole, Some(Region::new(x, y, width, height))))
}

fn place(
    format: PixelFormat,
    [width, height]: [usize; 2],
    offsets: &[usize],
    strides: &[i32],
) -> Result<ImageLayout, VideoLayoutError> {
    // Asked for every frame with a video meta: on the stack, not in a Vec.
    let mut planes = [PlanePlacement { memory: 0, offset: 0, stride: 0 }; MAX_PLANES];
    let given = offsets.iter().zip(strides).zip(&mut planes).enumerate();
    for (plane, ((offset, stride), place)) in given {
        let stride = usize::try_from(*stride)
            .map_err(|_| VideoLayoutError::Stride { plane, stride: *stride })?;
        *place = PlanePlacement { memory: 0, offset: *offset, stride };
    }
    let count = offsets.len().min(strides.len());
    let planes = planes.get(..count).unwrap_or_default();
    Ok(ImageLayout::from_planes(format, width, height, planes)?)
}

fn known(format: VideoFormat) -> Result<PixelFormat, VideoLayoutError> {
    let name = || VideoLayoutError::Format { format: format.to_string() };
    pixel_format(format).ok_or_else(name)
}

/// A `u32` always fits: Linux has no narrower address space.
fn to_usize(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
