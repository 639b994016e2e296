//! The table of formats against GStreamer's: names, sizes, strides, offsets, components.
//!
//! GStreamer lays a frame out as we do when rows are padded to 4 bytes and heights to a whole row of
//! chroma (`fill_planes` in `gst-libs/gst/video/video-info.c`). That is all of its rule, for every
//! format of the table.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "GStreamer counts in i32 what we count in usize; what goes wrong here fails a test"
)]

use gst_video::{VideoAlignment, VideoFormat, VideoFormatFlags, VideoFormatInfo, VideoInfo};
use gsttensor::video_layout::{caps_formats, layout_from_info, pixel_format, video_format};
use tensor_core::{
    BitPacking, ColorModel, ImageLayout, LayoutError, PixelFormat, PixelLayout, PlanePlacement,
    StrideAlign,
};

/// What cameras and displays give.
const CAMERA_SIZES: [(u32, u32); 5] =
    [(640, 480), (1280, 720), (1920, 1080), (3840, 2160), (4056, 3040)];

fn formats() -> impl Iterator<Item = (PixelFormat, VideoFormat)> {
    gst::init().unwrap();
    caps_formats().map(|theirs| (pixel_format(theirs).unwrap(), theirs))
}

fn sizes() -> impl Iterator<Item = (u32, u32)> {
    (1..=70).flat_map(|w| (1..=40).map(move |h| (w, h))).chain(CAMERA_SIZES)
}

fn info(format: VideoFormat, width: u32, height: u32) -> VideoInfo {
    VideoInfo::builder(format, width, height).build().unwrap()
}

fn info_of(format: VideoFormat) -> VideoFormatInfo {
    VideoFormatInfo::from_format(format)
}

/// The image that GStreamer describes, by our rules for planes.
fn described(format: PixelFormat, info: &VideoInfo) -> Result<ImageLayout, LayoutError> {
    let places = info.offset().iter().zip(info.stride());
    let places: Vec<_> = places
        .map(|(offset, stride)| PlanePlacement {
            memory: 0,
            offset: *offset,
            stride: usize::try_from(*stride).unwrap(),
        })
        .collect();
    let (width, height) = (info.width() as usize, info.height() as usize);
    ImageLayout::from_planes(format, width, height, &places)
}

/// Our default layout by the rule that this file states, as strides, offsets and size.
fn default_planes(format: PixelFormat, width: u32, height: u32) -> (Vec<usize>, Vec<usize>, usize) {
    let chroma = format.planes().iter().map(|plane| plane.vsub).max().unwrap();
    let (width, height) = (width as usize, (height as usize).next_multiple_of(chroma));
    let align = StrideAlign::new(4).unwrap();
    let layout = ImageLayout::packed(format, width, height, align).unwrap();
    let places = layout.planes().iter();
    let (strides, offsets) = places.map(|place| (place.stride, place.offset)).unzip();
    (strides, offsets, layout.allocation_len(0))
}

fn numbers(info: &VideoInfo) -> (Vec<usize>, Vec<usize>, usize) {
    let strides = info.stride().iter().map(|stride| usize::try_from(*stride).unwrap()).collect();
    (strides, info.offset().to_vec(), info.size())
}

#[test]
fn names_are_gstreamers_and_refused_ones_exist_there() {
    let named = PixelFormat::ALL.iter().filter(|format| format.gst_name().is_some());
    assert_eq!(formats().count(), named.count());
    for (ours, theirs) in formats() {
        assert_eq!(video_format(ours), Some(theirs));
        assert_eq!(PixelFormat::refusal(theirs.to_str()), None);
    }
    // What 1.22 knows of them; the rest came later.
    let known = ["NV12_10LE32", "NV12_10LE40", "NV12_4L4", "NV12_32L32", "NV12_64Z32", "v210"];
    for name in known {
        assert!(name.parse::<VideoFormat>().is_ok_and(|f| f != VideoFormat::Unknown), "{name}");
        assert!(PixelFormat::refusal(name).is_some(), "{name}");
    }
    for name in ["NV12_4L4", "NV12_32L32", "NV12_16L32S", "NV12_64Z32"] {
        let format: VideoFormat = name.parse().unwrap();
        assert!(info_of(format).flags().contains(VideoFormatFlags::TILED), "{name}");
    }
}

#[test]
fn components_bits_and_alpha_are_gstreamers() {
    for (ours, theirs) in formats() {
        let info = info_of(theirs);
        assert_eq!(ours.components(), info.n_components() as usize, "{ours}");
        assert_eq!(ours.has_alpha(), info.has_alpha(), "{ours}");
        assert_eq!(ours.planes().len(), info.n_planes() as usize, "{ours}");
        let models = [
            (ColorModel::Yuv, info.is_yuv()),
            (ColorModel::Rgb, info.is_rgb()),
            (ColorModel::Grey, info.is_gray()),
        ];
        assert!(models.contains(&(ours.color_model(), true)), "{ours}");
        let is_little = info.flags().contains(VideoFormatFlags::LE);
        assert!(is_little || ours.dtype().bits() == 8 || is_rgb16(ours), "{ours}");
        for component in 0..ours.components() {
            let bits = ours.component_bits(component).unwrap();
            assert_eq!(bits, info.depth()[component], "{ours}");
            let below = if ours.packing() == BitPacking::High {
                ours.dtype().bits() - bits
            } else if ours.packing() == BitPacking::Shared {
                let lower = (component + 1..ours.components()).map(|c| ours.component_bits(c));
                lower.map(Option::unwrap).sum()
            } else {
                0
            };
            assert_eq!(below, info.shift()[component], "{ours}");
        }
    }
}

/// GStreamer reads 5-6-5 as a number of the host, which is what DRM's and V4L2's are on ours.
fn is_rgb16(format: PixelFormat) -> bool {
    format == PixelFormat::Rgb16 && cfg!(target_endian = "little")
}

#[test]
fn samples_are_subsampled_and_placed_as_gstreamer_says() {
    for (ours, theirs) in formats() {
        let info = info_of(theirs);
        for component in 0..ours.components() {
            let plane = ours.planes()[info.plane()[component] as usize];
            let (w_sub, h_sub) = (info.w_sub()[component], info.h_sub()[component]);
            assert_eq!(plane.vsub, 1 << h_sub, "{ours}");
            // A column of a packed 4:2:2 plane is a pixel; only its block is shared.
            if ours.layout() != PixelLayout::Packed {
                assert_eq!(plane.hsub, 1 << w_sub, "{ours}");
                assert_eq!(plane.block_bytes, info.pixel_stride()[component] as usize, "{ours}");
            }
            let last = info.poffset()[component] as usize + ours.dtype().size_bytes();
            let is_inside = last <= plane.block_bytes || ours.packing() == BitPacking::Shared;
            assert!(is_inside, "{ours}");
        }
    }
}

#[test]
fn our_default_layout_is_gstreamers() {
    for (ours, theirs) in formats() {
        for (width, height) in sizes() {
            let info = info(theirs, width, height);
            let default = default_planes(ours, width, height);
            assert_eq!(default, numbers(&info), "{ours} {width}x{height}");
        }
    }
}

#[test]
fn every_frame_of_gstreamer_is_an_image_that_fits() {
    for (ours, theirs) in formats() {
        for (width, height) in sizes() {
            let what = format!("{ours} {width}x{height}");
            let info = info(theirs, width, height);
            let layout = described(ours, &info).unwrap();
            assert_eq!(layout, layout_from_info(&info).unwrap(), "{what}");
            assert_eq!(layout.planes().len(), info.n_planes() as usize, "{what}");
            assert!(layout.required_len(0) <= info.size(), "{what}");
            for component in 0..info.n_components() as u8 {
                let plane = info.comp_plane(component) as usize;
                assert_eq!(layout.rows(plane), info.comp_height(component) as usize, "{what}");
                let last = info.comp_width(component) as usize - 1;
                let start = last * info.comp_pstride(component) as usize;
                let end = start + info.comp_poffset(component) as usize;
                assert!(end < layout.row_bytes(plane), "{what}: a sample past its row");
                assert!(layout.row_bytes(plane) <= layout.planes()[plane].stride, "{what}");
            }
        }
    }
}

/// Padding as `gst_video_info_align` lays it out: it widens and heightens the frame to the padding
/// and lets strides follow, so that offsets name the first sample inside it.
#[test]
fn padded_frames_are_images_inside_the_larger_default() {
    let paddings =
        [[0, 0, 0, 0], [1, 2, 3, 4], [2, 6, 4, 10], [0, 8, 0, 0], [16, 16, 16, 16], [0, 3, 0, 5]];
    for (ours, theirs) in formats() {
        for (width, height) in sizes().filter(|(w, h)| w % 3 != 1 || *h > 40) {
            for [top, bottom, left, right] in paddings {
                // Where GStreamer would begin inside a block or between two rows of chroma.
                let (columns, rows) = ours.region_step();
                if !(left as usize).is_multiple_of(columns) || !(top as usize).is_multiple_of(rows)
                {
                    continue;
                }
                let what = format!("{ours} {width}x{height} {top} {bottom} {left} {right}");
                let mut info = info(theirs, width, height);
                let mut asked = VideoAlignment::new(top, bottom, left, right, &[0; 4]);
                info.align(&mut asked).unwrap();
                let layout = described(ours, &info).unwrap();
                assert!(layout.required_len(0) <= info.size(), "{what}");
                let (width, height) = (width + left + right, height + top + bottom);
                let (strides, offsets, size) = default_planes(ours, width, height);
                assert_eq!(numbers(&info).0, strides, "{what}");
                assert_eq!(info.size(), size, "{what}");
                let first = ours.planes().iter().zip(strides).zip(offsets);
                let first: Vec<_> = first
                    .map(|((plane, stride), offset)| {
                        let above = plane.rows(top as usize) * stride;
                        offset + above + plane.row_bytes(left as usize).unwrap()
                    })
                    .collect();
                assert_eq!(info.offset(), first, "{what}");
            }
        }
    }
}

/// Masks ask for strides that are multiples of a power of two; GStreamer widens until they are.
#[test]
fn masked_strides_hold_our_rows() {
    for (ours, theirs) in formats() {
        for (width, height) in (1..=70).map(|w| (w, 7)).chain(CAMERA_SIZES) {
            for mask in [15, 63, 255] {
                let mut info = info(theirs, width, height);
                let mut asked = VideoAlignment::new(0, 0, 0, 0, &[mask; 4]);
                info.align(&mut asked).unwrap();
                let layout = described(ours, &info).unwrap();
                let strides = layout.planes().iter().map(|place| place.stride);
                let what = format!("{ours} {width}x{height} {mask}");
                assert!(strides.into_iter().all(|s| s.is_multiple_of(mask as usize + 1)), "{what}");
                assert!(layout.required_len(0) <= info.size(), "{what}");
            }
        }
    }
}
