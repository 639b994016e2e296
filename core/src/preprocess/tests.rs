use super::*;
use crate::shape::Region;

const CENTER: LetterboxPlacement = LetterboxPlacement::Center;
const TOP_LEFT: LetterboxPlacement = LetterboxPlacement::TopLeft;

// S-PRE-01
#[test]
fn hd_in_a_square_is_letterboxed() {
    assert_eq!(letterbox_rect(1280, 720, 640, 640, CENTER), Region::new(0, 140, 640, 360));
    assert_eq!(letterbox_rect(1280, 720, 640, 640, TOP_LEFT), Region::new(0, 0, 640, 360));
}

// S-PRE-02
#[test]
fn odd_sizes_round_and_the_odd_pixel_goes_right_or_down() {
    assert_eq!(letterbox_rect(641, 479, 640, 640, CENTER), Region::new(0, 81, 640, 478));
    assert_eq!(letterbox_rect(479, 641, 640, 640, CENTER), Region::new(81, 0, 478, 640));
    assert_eq!(letterbox_rect(1, 3, 320, 256, CENTER), Region::new(117, 0, 85, 256));
    assert_eq!(letterbox_rect(3, 1, 320, 256, CENTER), Region::new(0, 74, 320, 107));
    assert_eq!(letterbox_rect(10_000, 1, 64, 64, TOP_LEFT), Region::new(0, 0, 64, 1));
    assert_eq!(letterbox_rect(640, 640, 320, 320, CENTER), Region::new(0, 0, 320, 320));
    // 2 * 3 / 4 = 1.5, which rounds upwards.
    assert_eq!(letterbox_rect(4, 3, 2, 8, TOP_LEFT), Region::new(0, 0, 2, 2));
}

// S-PRE-03
#[test]
fn a_size_of_zero_fills_the_destination() {
    for (width, height) in [(0, 5), (5, 0), (0, 0)] {
        assert_eq!(letterbox_rect(width, height, 32, 16, CENTER), Region::new(0, 0, 32, 16));
        assert_eq!(letterbox_rect(32, 16, width, height, CENTER), Region::new(0, 0, width, height));
        assert!(ContentRegion::full(width, height).is_full());
    }
}

#[test]
fn a_letterbox_lies_in_its_destination_at_every_size() {
    let sizes = [1, 2, 3, 7, 64, 479, 641, usize::MAX - 1, usize::MAX];
    for src in sizes.into_iter().flat_map(|w| sizes.map(|h| (w, h))) {
        for dst in sizes.into_iter().flat_map(|w| sizes.map(|h| (w, h))) {
            for placement in LetterboxPlacement::ALL {
                let rect = letterbox_rect(src.0, src.1, dst.0, dst.1, *placement);
                assert!(!rect.is_empty() && rect.fits(dst.0, dst.1), "{src:?} {dst:?}: {rect}");
                assert!(rect.width == dst.0 || rect.height == dst.1, "{src:?} {dst:?}: {rect}");
            }
        }
    }
}

// S-PRE-04
#[test]
fn content_is_given_as_parts_of_the_destination() {
    let content = ContentRegion::new(Region::new(0, 140, 640, 360), 640, 640);
    assert_eq!(content.normalized(), [0.0, 0.21875, 1.0, 0.78125]);
    assert_eq!(content.pixels(), Region::new(0, 140, 640, 360));
    assert_eq!(content.letterboxed(), Some(content.normalized()));
    assert_eq!(ContentRegion::full(32, 16).letterboxed(), None);
    assert_eq!(ContentRegion::full(32, 16), ContentRegion::new(Region::new(0, 0, 32, 16), 32, 16));
}

// S-PRE-05
#[test]
fn taking_a_letterbox_off_undoes_it() {
    for (width, height) in [(1280, 720), (479, 641), (7, 3), (1, 1)] {
        for placement in LetterboxPlacement::ALL {
            let rect = letterbox_rect(width, height, 640, 512, *placement);
            let content = ContentRegion::new(rect, 640, 512);
            let [left, top, right, bottom] = content.normalized();
            let put = |[x0, y0, x1, y1]: [f32; 4]| {
                let (w, h) = (right - left, bottom - top);
                [left + x0 * w, top + y0 * h, left + x1 * w, top + y1 * h]
            };
            for found in [[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 0.875], [0.1, 0.2, 0.3, 0.4]] {
                let back = content.unletter(put(found));
                for (got, sent) in back.into_iter().zip(found) {
                    assert!((got - sent).abs() < 1e-5, "{width}x{height} {found:?}: {back:?}");
                }
            }
        }
    }
}

// S-PRE-05
#[test]
fn a_box_is_ordered_and_held_to_the_image() {
    let full = [0.0, 0.0, 1.0, 1.0];
    assert_eq!(unletter_norm([0.25, 0.5, 0.75, 1.0], full), [0.25, 0.5, 0.75, 1.0]);
    assert_eq!(unletter_norm([0.75, 1.0, 0.25, 0.5], full), [0.25, 0.5, 0.75, 1.0]);
    let content = [0.0, 0.25, 1.0, 0.75];
    assert_eq!(unletter_norm([-1.0, 0.0, 2.0, 1.0], content), full);
    assert_eq!(unletter_norm([0.25, 0.5, 0.5, 0.75], [0.5, 0.5, 0.5, 1.0]), [0.0, 0.0, 0.0, 0.5]);
}

// S-PRE-06
#[test]
fn presets_have_their_numbers() {
    let numbers = NormalizationPreset::ALL.iter().map(|preset| {
        let normalization = Normalization::from(*preset);
        assert_eq!(normalization.as_preset(), Some(*preset));
        (preset.name(), normalization.mean(), normalization.std())
    });
    let expected = [
        ("unsigned", [0.0; 3], [255.0; 3]),
        ("signed", [127.5; 3], [127.5; 3]),
        ("raw", [0.0; 3], [1.0; 3]),
        ("imagenet", [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    ];
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
    assert_eq!(Normalization::default(), Normalization::unsigned());
    assert_eq!(Normalization::raw().apply([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    assert_eq!(Normalization::signed().invert([-1.0, 0.0, 1.0]), [0.0, 127.5, 255.0]);
}

// S-PRE-07
#[test]
fn mean_and_std_need_one_or_three_good_values() {
    let count = |field, got| Err(NormalizationError::Count { field, got });
    assert_eq!(Normalization::mean_std(&[], &[1.0]), count("mean", 0));
    assert_eq!(Normalization::mean_std(&[0.0; 2], &[1.0]), count("mean", 2));
    assert_eq!(Normalization::mean_std(&[0.0], &[1.0; 4]), count("std", 4));
    let mixed = Normalization::mean_std(&[0.0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((mixed.mean(), mixed.std()), ([0.0; 3], [1.0, 2.0, 3.0]));
    assert_eq!(mixed.as_preset(), None);
    for std in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = Normalization::mean_std(&[0.0], &[1.0, std, 1.0]).unwrap_err();
        assert!(matches!(error, NormalizationError::Std { channel: 1, .. }), "{error}");
    }
    let error = Normalization::mean_std(&[0.0, 0.0, f32::NAN], &[1.0]).unwrap_err();
    assert_eq!(error.to_string(), "mean: expected a finite number for blue, got NaN");
    let error = Normalization::unit_mean_std(&[f32::MAX], &[1.0], 255.0).unwrap_err();
    assert!(matches!(error, NormalizationError::Mean { channel: 0, .. }), "{error}");
    assert_eq!(Normalization::unit_mean_std(&[0.5], &[0.5], 255.0), Ok(Normalization::signed()));
}

// S-PRE-08
#[test]
fn padding_is_114_in_the_space_it_is_declared_in() {
    let mut spec = PreprocessSpec::new();
    assert_eq!((spec.pad, spec.pad_space), ([114.0; 3], PadSpace::Pixel));
    spec.normalization = Normalization::imagenet();
    assert_eq!(spec.pad_seen(), Normalization::imagenet().apply([114.0; 3]));
    assert_eq!(spec.pad_pixel(), [114.0; 3]);
    spec.pad_space = PadSpace::Normalized;
    spec.pad = [0.0; 3];
    assert_eq!(spec.pad_seen(), [0.0; 3]);
    assert_eq!(spec.pad_pixel(), [123.675, 116.28, 103.53]);
}

// S-PRE-08
#[test]
fn the_default_is_that_of_silent_metadata() {
    let spec = PreprocessSpec::default();
    assert_eq!((spec.fit, spec.placement), (FitMode::Letterbox, CENTER));
    assert_eq!(spec.normalization, Normalization::unsigned());
    assert_eq!((spec.interpolation, spec.size), (Interpolation::Bilinear, None));
}

// S-PRE-09
#[test]
fn only_nearest_stays_nearest() {
    for filter in Interpolation::ALL {
        let nearest = *filter == Interpolation::Nearest;
        let expected = if nearest { Interpolation::Nearest } else { Interpolation::Bilinear };
        assert_eq!(filter.supported(), expected, "{filter}");
    }
}

// S-PRE-11
#[test]
fn broadcasting_takes_one_value_or_three() {
    assert_eq!(broadcast_rgb(&[7]), Some([7, 7, 7]));
    assert_eq!(broadcast_rgb(&[1, 2, 3]), Some([1, 2, 3]));
    for values in [&[][..], &[1, 2], &[1, 2, 3, 4]] {
        assert_eq!(broadcast_rgb(values), None);
    }
}

#[test]
fn a_spec_says_where_the_image_lies() {
    let mut spec = PreprocessSpec::new();
    let content = spec.content_region(1280, 720, 640, 640).unwrap();
    assert_eq!(content.pixels(), Region::new(0, 140, 640, 360));
    spec.placement = TOP_LEFT;
    let content = spec.content_region(1280, 720, 640, 640).unwrap();
    assert_eq!(content.pixels(), Region::new(0, 0, 640, 360));
    spec.fit = FitMode::Stretch;
    assert!(spec.content_region(1280, 720, 640, 640).unwrap().is_full());
    assert_eq!(Fit::Letterbox { pad: [114, 114, 114, 255] }.mode(), FitMode::Letterbox);
    assert_eq!(Fit::default().mode(), FitMode::Stretch);
}

/// Wire codes and names, which metadata files and C callers have.
#[test]
fn codes_and_names_are_the_published_ones() {
    assert_eq!(LetterboxPlacement::NAMES, ["center", "topleft"]);
    assert_eq!(NormalizationPreset::NAMES, ["unsigned", "signed", "raw", "imagenet"]);
    assert_eq!(FitMode::NAMES, ["stretch", "letterbox"]);
    assert_eq!(Interpolation::NAMES, ["bilinear", "nearest", "bicubic", "area"]);
    assert_eq!(PadSpace::NAMES, ["pixel", "normalized"]);
    assert_eq!(FitMode::default(), FitMode::Stretch);
    for (code, filter) in (0..).zip(Interpolation::ALL) {
        assert_eq!((filter.code(), Interpolation::from_code(code)), (code, Some(*filter)));
    }
}

// S-PRE-10
#[cfg(feature = "serde")]
mod json {
    use serde::{Serialize, de::DeserializeOwned};

    use super::*;

    fn golden<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
        value: &T,
        json: &str,
    ) {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
    }

    #[test]
    fn words_are_their_names() {
        golden(&LetterboxPlacement::ALL.to_vec(), r#"["center","topleft"]"#);
        golden(&NormalizationPreset::ALL.to_vec(), r#"["unsigned","signed","raw","imagenet"]"#);
        golden(&FitMode::ALL.to_vec(), r#"["stretch","letterbox"]"#);
        golden(&Interpolation::ALL.to_vec(), r#"["bilinear","nearest","bicubic","area"]"#);
        golden(&PadSpace::ALL.to_vec(), r#"["pixel","normalized"]"#);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = serde_json::from_str::<Interpolation>(r#""lanczos""#).unwrap_err().to_string();
        for word in ["lanczos", "bilinear", "nearest", "bicubic", "area"] {
            assert!(error.contains(word), "{error}");
        }
        assert!(serde_json::from_str::<LetterboxPlacement>(r#""top_left""#).is_err());
        let error = serde_json::from_str::<Normalization>(r#""imagenet2""#).unwrap_err();
        assert!(error.to_string().contains("unsigned"), "{error}");
    }

    #[test]
    fn values_are_their_parts() {
        golden(&Fit::Stretch, r#""stretch""#);
        golden(
            &Fit::Letterbox { pad: [114, 114, 114, 255] },
            r#"{"letterbox":{"pad":[114,114,114,255]}}"#,
        );
        golden(&Normalization::imagenet(), r#""imagenet""#);
        let custom = Normalization::mean_std(&[1.5], &[2.0, 4.0, 8.0]).unwrap();
        golden(&custom, r#"{"mean":[1.5,1.5,1.5],"std":[2.0,4.0,8.0]}"#);
        assert!(serde_json::from_str::<Normalization>(r#"{"mean":[0],"std":[0]}"#).is_err());
    }

    #[test]
    fn a_spec_is_its_fields_and_silence_is_the_default() {
        let mut spec = PreprocessSpec::default();
        golden(
            &spec,
            concat!(
                r#"{"normalization":"unsigned","fit":"letterbox","placement":"center","#,
                r#""pad":[114.0,114.0,114.0],"pad_space":"pixel","interpolation":"bilinear","#,
                r#""size":null}"#
            ),
        );
        assert_eq!(serde_json::from_str::<PreprocessSpec>("{}").unwrap(), spec);
        spec.size = Some((640, 480));
        let read = serde_json::from_str::<PreprocessSpec>(r#"{"size":[640,480]}"#).unwrap();
        assert_eq!(read, spec);
    }
}
