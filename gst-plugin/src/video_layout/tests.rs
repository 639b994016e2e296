#![expect(
    clippy::as_conversions,
    reason = "GStreamer counts in u32 and i32 what we count in usize"
)]

use gst_video::{VideoAlignment, VideoColorimetry, VideoInterlaceMode};
use tensor_core::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry, StrideAlign};

use super::*;

fn info(format: VideoFormat, width: u32, height: u32) -> VideoInfo {
    VideoInfo::builder(format, width, height).build().unwrap()
}

fn strides(layout: &ImageLayout) -> Vec<usize> {
    layout.planes().iter().map(|place| place.stride).collect()
}

fn offsets(layout: &ImageLayout) -> Vec<usize> {
    layout.planes().iter().map(|place| place.offset).collect()
}

#[test]
fn formats_round_trip_and_every_named_row_is_known_to_gstreamer() {
    gst::init().unwrap();
    let named = PixelFormat::ALL.iter().filter(|format| format.gst_name().is_some());
    assert_eq!(caps_formats().count(), named.count());
    for format in caps_formats() {
        assert_eq!(pixel_format(format).and_then(video_format), Some(format));
    }
    assert_eq!(pixel_format(VideoFormat::Unknown), None);
    assert_eq!(pixel_format(VideoFormat::Encoded), None);
    assert_eq!(pixel_format(VideoFormat::Nv1210le32), None);
}

/// The law: whatever strides and offsets GStreamer computes for a frame, the table agrees with.
#[test]
fn every_format_agrees_with_video_info() {
    gst::init().unwrap();
    for format in caps_formats() {
        for (width, height) in (1..=70).flat_map(|w| [1, 2, 3, 36].map(|h| (w, h))) {
            let theirs = info(format, width, height);
            let ours = layout_from_info(&theirs).unwrap();
            let what = format!("{format} {width}x{height}");
            assert_eq!(ours.planes().len(), theirs.n_planes() as usize, "{what}");
            assert_eq!(ours.allocation_len(0), theirs.size(), "{what}");
            assert!(ours.required_len(0) <= theirs.size(), "{what}");
            for component in 0..theirs.n_components() as u8 {
                let plane = theirs.comp_plane(component) as usize;
                assert_eq!(ours.rows(plane), theirs.comp_height(component) as usize, "{what}");
                let last = theirs.comp_width(component) as usize - 1;
                let end = last * theirs.comp_pstride(component) as usize
                    + theirs.comp_poffset(component) as usize;
                assert!(end < ours.row_bytes(plane), "{what}: a sample past its row");
                assert!(ours.row_bytes(plane) <= ours.planes()[plane].stride, "{what}");
            }
        }
    }
}

/// The law for what is allocated: aligned, minimal, and never less than GStreamer needs.
#[test]
fn every_aligned_format_has_the_smallest_aligned_strides() {
    gst::init().unwrap();
    for format in caps_formats() {
        for (width, height) in (1..=70).flat_map(|w| [1, 2, 3, 36].map(|h| (w, h))) {
            let FrameGeometry { layout, allocation_len } =
                aligned_layout(&info(format, width, height), StrideAlign::DMA, None).unwrap();
            assert_eq!(allocation_len, layout.allocation_len(0));
            for (plane, place) in layout.planes().iter().enumerate() {
                assert_eq!((place.stride % 64, place.offset % 64), (0, 0));
                assert!(place.stride - layout.row_bytes(plane) < 64, "{format} {width}: minimal");
            }
        }
    }
}

// S-GST-06, G04
#[test]
fn the_published_strides_hold() {
    gst::init().unwrap();
    let of = |format, width, height, align| {
        aligned_layout(&info(format, width, height), align, None).unwrap().layout
    };
    let dma = StrideAlign::DMA;
    assert_eq!(strides(&of(VideoFormat::Rgb, 642, 480, dma)), [1984]);
    assert_eq!(strides(&of(VideoFormat::Rgbx, 321, 240, dma)), [1344]);
    assert_eq!(strides(&of(VideoFormat::I420, 642, 480, dma)), [704, 384, 384]);
    let nv12 = of(VideoFormat::Nv12, 642, 481, dma);
    assert_eq!((strides(&nv12), offsets(&nv12)), (vec![704, 704], vec![0, 704 * 481]));
    let wide = of(VideoFormat::Gray8, 641, 4, StrideAlign::new(256).unwrap());
    assert_eq!(strides(&wide), [768]);
}

#[test]
fn padding_moves_offsets_to_the_first_real_sample() {
    gst::init().unwrap();
    let asked = VideoAlignment::new(4, 6, 64, 10, &[0; 4]);
    let nv12 = info(VideoFormat::Nv12, 64, 36);
    let FrameGeometry { layout, allocation_len } =
        aligned_layout(&nv12, StrideAlign::DMA, Some(&asked)).unwrap();
    // 64 + 64 + 10 columns and 4 + 36 + 6 rows.
    assert_eq!(strides(&layout), [192, 192]);
    assert_eq!(offsets(&layout), [4 * 192 + 64, 46 * 192 + 2 * 192 + 64]);
    assert_eq!(allocation_len, (46 + 23) * 192);
    assert_eq!((layout.width(), layout.height()), (64, 36));
}

#[test]
fn padding_is_raised_to_where_every_plane_has_an_aligned_row() {
    gst::init().unwrap();
    let asked = VideoAlignment::new(1, 0, 1, 0, &[0; 4]);
    for format in caps_formats() {
        let FrameGeometry { layout, allocation_len } =
            aligned_layout(&info(format, 3, 3), StrideAlign::DMA, Some(&asked)).unwrap();
        assert!(layout.required_len(0) <= allocation_len, "{format}");
        assert!(offsets(&layout).iter().all(|offset| offset % 64 == 0), "{format}");
        if format == VideoFormat::I420 {
            // Two rows up; 128 columns left, which are 64 of chroma.
            assert_eq!(layout.planes()[0].offset, 2 * 192 + 128);
        }
    }
}

#[test]
fn masks_raise_the_alignment_and_never_lower_it() {
    gst::init().unwrap();
    let rgb = info(VideoFormat::Rgb, 642, 4);
    let stride = |masks: &[u32; 4]| {
        let asked = VideoAlignment::new(0, 0, 0, 0, masks);
        strides(&aligned_layout(&rgb, StrideAlign::DMA, Some(&asked)).unwrap().layout)
    };
    assert_eq!(stride(&[15, 0, 0, 0]), [1984]);
    assert_eq!(stride(&[255, 0, 0, 0]), [2048]);
    assert_eq!(stride(&[0, 255, 0, 0]), [2048]);
}

#[test]
fn unreasonable_padding_is_refused_not_overflowed() {
    gst::init().unwrap();
    let asked = VideoAlignment::new(u32::MAX, u32::MAX, u32::MAX, u32::MAX, &[u32::MAX; 4]);
    let rgbx = info(VideoFormat::Rgbx, 64, 64);
    assert!(aligned_layout(&rgbx, StrideAlign::DMA, Some(&asked)).is_err());
}

#[test]
fn a_field_of_alternating_video_is_half_as_high() {
    gst::init().unwrap();
    let fields = VideoInfo::builder(VideoFormat::Gray8, 64, 36)
        .interlace_mode(VideoInterlaceMode::Alternate)
        .build()
        .unwrap();
    assert_eq!(layout_from_info(&fields).unwrap().height(), 18);
}

#[test]
fn linear_dma_drm_caps_are_read_by_hand_and_tiled_ones_refused_by_name() {
    gst::init().unwrap();
    let caps = |drm_format: &str| {
        gst::Caps::builder("video/x-raw")
            .features(["memory:DMABuf"])
            .field("format", "DMA_DRM")
            .field("drm-format", drm_format)
            .field("width", 64)
            .field("height", 36)
            .field("colorimetry", "bt709")
            .build()
    };
    let info = info_from_caps(&caps("BG24")).unwrap();
    assert_eq!((info.format(), info.width(), info.height()), (VideoFormat::Rgb, 64, 36));
    assert_eq!(info_from_caps(&caps("NV12")).unwrap().colorimetry().to_string(), "bt709");
    assert_eq!(info_from_caps(&caps("R8  ")).unwrap().format(), VideoFormat::Gray8);
    let tiled = "NV12:0x0100000000000002".to_owned();
    let refused = VideoLayoutError::Modifier {
        drm_format: tiled.clone(),
        modifier: Modifier(0x0100_0000_0000_0002),
    };
    assert_eq!(info_from_caps(&caps(&tiled)).unwrap_err(), refused);
    let unknown = VideoLayoutError::Format { format: "NV15".to_owned() };
    assert_eq!(info_from_caps(&caps("NV15")).unwrap_err(), unknown);
    assert!(info_from_caps(&gst::Caps::new_any()).is_err());
    assert!(info_from_caps(&gst::Caps::new_empty_simple("audio/x-raw")).is_err());
}

// S-COL-07
#[test]
fn colorimetry_of_caps_maps_to_the_four_axes() {
    gst::init().unwrap();
    let of = |text: &str| {
        let Colorimetry { space, transfer, encoding, range } =
            colorimetry(&text.parse::<VideoColorimetry>().unwrap());
        (space, transfer, encoding, range)
    };
    let bt709 = Some(ColorTransfer::Bt709);
    let (full, limited) = (Some(ColorRange::Full), Some(ColorRange::Limited));
    let srgb = (Some(ColorSpace::Srgb), Some(ColorTransfer::Srgb));
    let bt601 = Some(ColorEncoding::Bt601);
    assert_eq!(of("bt601"), (Some(ColorSpace::Smpte170m), bt709, bt601, limited));
    let hd = (Some(ColorSpace::Bt709), bt709, Some(ColorEncoding::Bt709), limited);
    assert_eq!(of("bt709"), hd);
    let uhd = (Some(ColorSpace::Bt2020), bt709, Some(ColorEncoding::Bt2020), limited);
    assert_eq!(of("bt2020"), uhd);
    assert_eq!(of("sRGB"), (srgb.0, srgb.1, None, full));
    assert_eq!(of("2:4:7:1"), (srgb.0, srgb.1, bt601, limited));
    assert_eq!(of("1:4:0:0"), (None, None, bt601, full));
}
