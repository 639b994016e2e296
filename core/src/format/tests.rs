use std::collections::HashSet;

use super::*;

fn all() -> impl Iterator<Item = PixelFormat> {
    PixelFormat::ALL.iter().copied()
}

#[test]
fn codes_names_and_fourccs_are_unique_and_round_trip() {
    let mut seen = HashSet::new();
    let mut is_new = |what: String| assert!(seen.insert(what.clone()), "{what} twice");
    for format in all() {
        is_new(format!("code {}", format.code()));
        assert_eq!(PixelFormat::from_code(format.code()), Some(format));
        is_new(format!("name {}", format.name()));
        assert_eq!(PixelFormat::from_name(format.name()), Some(format));
        assert_eq!(format.to_string(), format.name());
        is_new(format!("description {}", format.description()));
        if let Some(name) = format.gst_name() {
            is_new(format!("gst {name}"));
            assert_eq!(PixelFormat::from_gst_name(name), Some(format));
        }
        if let Some(name) = format.gst_bayer_name() {
            is_new(format!("gst {name}"));
            assert_eq!(PixelFormat::from_gst_bayer_name(name), Some(format));
        }
        if let Some(fourcc) = format.drm_fourcc() {
            is_new(format!("drm {fourcc}"));
            assert_eq!(PixelFormat::from_drm_fourcc(fourcc), Some(format));
        }
        for fourcc in format.v4l2_fourccs() {
            is_new(format!("v4l2 {fourcc}"));
            assert_eq!(PixelFormat::from_v4l2_fourcc(fourcc), Some(format));
        }
    }
}

#[test]
fn what_nobody_knows_is_no_format() {
    assert_eq!(PixelFormat::from_code(0), None);
    assert_eq!(PixelFormat::from_name("nv12"), None);
    assert_eq!(PixelFormat::from_name("RGB8"), None);
    assert_eq!(PixelFormat::from_gst_name("bggr"), None);
    assert_eq!(PixelFormat::from_gst_bayer_name("NV12"), None);
    assert_eq!(PixelFormat::from_drm_fourcc(DrmFourcc([0; 4])), None);
    assert_eq!(PixelFormat::from_v4l2_fourcc(V4l2Fourcc([0; 4])), None);
}

// S-TYPE-02
#[test]
fn the_published_codes_and_names_stand() {
    let published = [
        (1, "rgb8"),
        (2, "rgba8"),
        (3, "bgra8"),
        (4, "mono8"),
        (5, "YUYV"),
        (6, "VYUY"),
        (7, "NV12"),
        (8, "NV16"),
        (9, "rgb8_planar"),
        (10, "rgba8_planar"),
        (11, "NV24"),
    ];
    for (code, name) in published {
        assert_eq!(PixelFormat::from_code(code).map(PixelFormat::name), Some(name));
    }
    assert!(all().all(|format| format.code() <= 11 || format.code() >= 64));
}

/// A blob written today must be readable for ever: codes are given once, in a row without gaps.
#[test]
fn our_codes_stand() {
    let ours: Vec<_> = all().filter(|f| f.code() >= 64).map(|f| (f.code(), f.name())).collect();
    assert!((64..).zip(&ours).all(|(code, row)| row.0 == code), "a gap");
    let given = [
        "I420 UYVY YVYU YV12 NV21 NV61 bgr8 rgbx8 bgrx8 Y42B Y444 P010 P012 P016 mono16",
        "argb8 abgr8 xrgb8 xbgr8 rgb565 bgr8_planar",
        "bayer_bggr8 bayer_gbrg8 bayer_grbg8 bayer_rggb8",
        "bayer_bggr10 bayer_gbrg10 bayer_grbg10 bayer_rggb10",
        "bayer_bggr12 bayer_gbrg12 bayer_grbg12 bayer_rggb12",
        "bayer_bggr16 bayer_gbrg16 bayer_grbg16 bayer_rggb16",
        "rgb16f_planar rgb32f_planar",
    ]
    .join(" ");
    let names: Vec<_> = ours.iter().map(|(_, name)| *name).collect();
    assert_eq!(names.join(" "), given);
}

// S-TYPE-03
#[test]
fn v4l2_codes_are_the_kernels() {
    let kernel = [
        (PixelFormat::Rgb, *b"RGB3"),
        (PixelFormat::Rgba, *b"AB24"),
        (PixelFormat::Bgra, *b"AR24"),
        (PixelFormat::Grey, *b"GREY"),
        (PixelFormat::Yuyv, *b"YUYV"),
        (PixelFormat::Vyuy, *b"VYUY"),
        (PixelFormat::Nv12, *b"NV12"),
        (PixelFormat::Nv16, *b"NV16"),
        (PixelFormat::Nv24, *b"NV24"),
    ];
    for (format, fourcc) in kernel {
        assert_eq!(format.v4l2_fourcc(), Some(V4l2Fourcc(fourcc)));
        assert_eq!(format.v4l2_fourccs().next(), Some(V4l2Fourcc(fourcc)));
    }
    assert_eq!(PixelFormat::PlanarRgb.v4l2_fourccs().next(), None);
    assert_eq!(PixelFormat::Nv12.v4l2_multi_fourcc(), Some(V4l2Fourcc(*b"NM12")));
    assert_eq!(PixelFormat::Y444.v4l2_fourcc(), None);
    assert_eq!(PixelFormat::Y444.v4l2_fourccs().next(), Some(V4l2Fourcc(*b"YM24")));
}

// S-TYPE-04, D-43
#[test]
fn what_cameras_offer_is_supported_or_refused_by_name() {
    let offered = "NV21 YU12 YV12 UYVY P010 XR24 BGR3 Y16  BA81 GBRG GRBG RGGB BG10 GB10 BA10 RG10 \
                   BG12 RG12 RGBP YUYV YVYU NV16 NV61 422P NM12 YM12 BX24 BA24 GREY RGB3";
    let refused = "pBAA pgAA pRCC MM21 ST12 VT12 NV15 BGR4 RGB4 PAL8";
    let codes = |text: &'static str| {
        // Not by white space: it is part of "Y16 ".
        text.as_bytes().chunks(5).map(|code| V4l2Fourcc(code[..4].try_into().unwrap()))
    };
    for fourcc in codes(offered) {
        assert!(PixelFormat::from_v4l2_fourcc(fourcc).is_some(), "{fourcc}");
    }
    for fourcc in codes(refused) {
        assert!(PixelFormat::v4l2_refusal(fourcc).is_some(), "{fourcc}");
    }
}

// S-TYPE-05, S-TYPE-06
#[test]
fn channels_and_layouts_are_the_published_ones() {
    use PixelLayout::{Packed, Planar, SemiPlanar};
    let rows = [
        (PixelFormat::Rgb, 3, Packed),
        (PixelFormat::Rgba, 4, Packed),
        (PixelFormat::Bgra, 4, Packed),
        (PixelFormat::Grey, 1, Packed),
        (PixelFormat::Yuyv, 2, Packed),
        (PixelFormat::Vyuy, 2, Packed),
        (PixelFormat::Nv12, 1, SemiPlanar),
        (PixelFormat::Nv16, 1, SemiPlanar),
        (PixelFormat::Nv24, 1, SemiPlanar),
        (PixelFormat::PlanarRgb, 3, Planar),
        (PixelFormat::PlanarRgba, 4, Planar),
    ];
    for (format, channels, layout) in rows {
        assert_eq!((format.channels(), format.layout()), (channels, layout), "{format}");
    }
}

#[test]
fn every_row_has_one_to_four_planes_and_no_zero() {
    for format in all() {
        assert!((1..=MAX_PLANES).contains(&format.planes().len()), "{format}");
        for plane in format.planes() {
            let PlaneFormat { block_bytes, block_width, hsub, vsub } = *plane;
            assert!(block_bytes > 0, "{format}");
            let steps = [block_width, hsub, vsub];
            assert!(steps.iter().all(|step| step.is_power_of_two()), "{format}");
            assert!(block_bytes.is_multiple_of(format.dtype().size_bytes()), "{format}");
        }
        let planes = match format.layout() {
            PixelLayout::Packed => 1,
            PixelLayout::SemiPlanar => 2,
            PixelLayout::PlanarChroma => 3,
            PixelLayout::Planar => format.channels(),
        };
        assert_eq!(format.planes().len(), planes, "{format}");
    }
}

/// The addressing grid lies in the first plane: a row of it has as many bytes as the grid counts.
#[test]
fn a_row_of_the_grid_is_a_row_of_the_plane() {
    for format in all() {
        let across = if format.layout() == PixelLayout::Packed { format.channels() } else { 1 };
        let grid = 640 * across * format.dtype().size_bytes();
        assert_eq!(format.planes()[0].row_bytes(640), Some(grid), "{format}");
    }
}

#[test]
fn alpha_is_a_fourth_component_and_a_model_has_its_number() {
    for format in all() {
        let colours = match format.color_model() {
            ColorModel::Grey | ColorModel::Bayer => 1,
            ColorModel::Rgb | ColorModel::Yuv => 3,
        };
        let alpha = usize::from(format.has_alpha());
        assert_eq!(format.components(), colours + alpha, "{format}");
        assert!(!format.has_alpha() || format.components() == 4, "{format}");
        let is_named = format.name().contains('a') && format.color_model() == ColorModel::Rgb;
        let says_planar = format.name().ends_with("_planar");
        assert!(says_planar || is_named == format.has_alpha(), "{format}");
    }
}

#[test]
fn bits_fit_their_sample_as_their_packing_says() {
    for format in all() {
        let sample = format.dtype().bits();
        let bits: Vec<_> = (0..format.components()).map(|c| format.component_bits(c)).collect();
        let bits: Vec<_> = bits.into_iter().map(Option::unwrap).collect();
        assert_eq!(format.component_bits(format.components()), None, "{format}");
        match format.packing() {
            BitPacking::Whole => assert!(bits.iter().all(|bits| *bits == sample), "{format}"),
            BitPacking::Low | BitPacking::High => {
                assert!(bits.iter().all(|bits| *bits < sample), "{format}");
            }
            BitPacking::Shared => assert_eq!(bits.iter().sum::<u32>(), sample, "{format}"),
        }
    }
    assert_eq!(PixelFormat::P010.packing(), BitPacking::High);
    assert_eq!(PixelFormat::BayerBggr10.packing(), BitPacking::Low);
    let rgb16 = [0, 1, 2].map(|c| PixelFormat::Rgb16.component_bits(c).unwrap());
    assert_eq!(rgb16, [5, 6, 5]);
}

#[test]
fn row_bytes_grow_with_width_and_refuse_to_wrap() {
    for format in all() {
        for plane in format.planes() {
            for size in 1..300 {
                assert!(plane.row_bytes(size) <= plane.row_bytes(size + 1), "{format}");
                assert!(plane.rows(size) <= plane.rows(size + 1), "{format}");
            }
            assert_eq!((plane.row_bytes(0), plane.rows(0)), (Some(0), 0), "{format}");
            for width in [1 << 62, 1 << 63, usize::MAX / 2, usize::MAX - 1, usize::MAX] {
                let columns = width.div_ceil(plane.hsub).div_ceil(plane.block_width);
                let wide = columns as u128 * plane.block_bytes as u128;
                assert_eq!(plane.row_bytes(width), usize::try_from(wide).ok(), "{format} {width}");
            }
        }
    }
}

#[test]
fn a_region_may_begin_at_whole_blocks_and_chroma() {
    for format in all() {
        let (columns, rows) = format.region_step();
        for plane in format.planes() {
            assert!(columns.is_multiple_of(plane.hsub * plane.block_width), "{format}");
            assert!(rows.is_multiple_of(plane.vsub), "{format}");
        }
    }
    assert_eq!(PixelFormat::Rgb.region_step(), (1, 1));
    assert_eq!(PixelFormat::Y42b.region_step(), (2, 1));
    assert_eq!(PixelFormat::Nv24.region_step(), (1, 1));
}

#[test]
fn a_float_tensor_is_the_planar_format_with_another_dtype() {
    for format in all() {
        assert_eq!(format.with_dtype(format.dtype()), Some(format));
        assert_eq!(format.with_dtype(DType::I64), None);
    }
    assert_eq!(PixelFormat::PlanarRgb.with_dtype(DType::F32), Some(PixelFormat::PlanarRgbF32));
    assert_eq!(PixelFormat::PlanarRgbF32.with_dtype(DType::U8), Some(PixelFormat::PlanarRgb));
    assert_eq!(PixelFormat::Rgba.with_dtype(DType::F16), None);
}
