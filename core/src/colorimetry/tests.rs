use super::*;

/// Every combination of answers and missing answers: 5 * 6 * 4 * 3.
fn all() -> Vec<Colorimetry> {
    fn maybe<A: Copy>(answers: &[A]) -> Vec<Option<A>> {
        answers.iter().copied().map(Some).chain([None]).collect()
    }
    let mut all = Vec::new();
    for space in maybe(ColorSpace::ALL) {
        for transfer in maybe(ColorTransfer::ALL) {
            for encoding in maybe(ColorEncoding::ALL) {
                for range in maybe(ColorRange::ALL) {
                    all.push(Colorimetry { space, transfer, encoding, range });
                }
            }
        }
    }
    assert_eq!(all.len(), 360);
    all
}

macro_rules! words_round_trip {
    ($($test:ident: $question:ident $($name:literal)+;)*) => { $(
        #[test]
        fn $test() {
            assert_eq!($question::NAMES, [$($name),+]);
            for (code, answer) in (1..).zip($question::ALL) {
                assert_eq!(answer.code(), code);
                assert_eq!($question::from_code(code), Some(*answer));
                assert_eq!($question::from_name(answer.name()), Some(*answer));
                assert_ne!(answer.code_point(), UNSPECIFIED);
            }
            assert_eq!($question::from_code(0), None);
            assert_eq!($question::from_name(""), None);
            assert_eq!($question::from_name("BT709"), None);
        }
    )* };
}

words_round_trip! {
    words_of_spaces_round_trip: ColorSpace "bt709" "bt2020" "srgb" "smpte170m";
    words_of_transfers_round_trip: ColorTransfer "bt709" "srgb" "pq" "hlg" "linear";
    words_of_encodings_round_trip: ColorEncoding "bt601" "bt709" "bt2020";
    words_of_ranges_round_trip: ColorRange "full" "limited";
}

#[test]
fn code_points_are_those_of_h273() {
    let spaces = ColorSpace::ALL.iter().map(|answer| answer.code_point());
    assert_eq!(spaces.collect::<Vec<_>>(), [1, 9, 1, 6]);
    let transfers = ColorTransfer::ALL.iter().map(|answer| answer.code_point());
    assert_eq!(transfers.collect::<Vec<_>>(), [1, 13, 16, 18, 8]);
    let encodings = ColorEncoding::ALL.iter().map(|answer| answer.code_point());
    assert_eq!(encodings.collect::<Vec<_>>(), [6, 1, 9]);
    for same in [1, 6, 14, 15] {
        assert_eq!(ColorTransfer::from_code_point(same), Some(ColorTransfer::Bt709));
    }
    assert_eq!(ColorEncoding::from_code_point(5), Some(ColorEncoding::Bt601));
    assert_eq!(ColorEncoding::from_code_point(0), None); // identity: RGB
    assert_eq!(ColorEncoding::from_code_point(10), None); // constant luminance
    assert_eq!(ColorSpace::from_code_point(UNSPECIFIED), None);
    assert_eq!(ColorRange::from_code_point(0), Some(ColorRange::Limited));
}

#[test]
fn code_points_bring_the_answers_back() {
    for colorimetry in all() {
        let [primaries, transfer, matrix] = colorimetry.code_points();
        let full = colorimetry.range.map(|range| range == ColorRange::Full);
        let again = Colorimetry::from_code_points(primaries, transfer, matrix, full);
        let is_709 = |space| matches!(space, Some(ColorSpace::Bt709 | ColorSpace::Srgb));
        assert!(again.space == colorimetry.space || is_709(again.space));
        assert_eq!(again.space.is_some(), colorimetry.space.is_some());
        assert_eq!(Colorimetry { space: colorimetry.space, ..again }, colorimetry);
    }
}

// S-COL-05
#[test]
fn packing_is_undone_for_every_combination() {
    for colorimetry in all() {
        assert_eq!(Colorimetry::unpack(colorimetry.pack()), colorimetry);
    }
    assert_eq!(Colorimetry::default().pack(), 0);
    assert_eq!(Colorimetry::default().with_space(ColorSpace::Smpte170m).pack(), 4);
    assert_eq!(Colorimetry::default().with_transfer(ColorTransfer::Linear).pack(), 5 << 8);
    assert_eq!(Colorimetry::default().with_encoding(ColorEncoding::Bt2020).pack(), 3 << 16);
    assert_eq!(Colorimetry::default().with_range(ColorRange::Limited).pack(), 2 << 24);
    assert_eq!(Colorimetry::unpack(u32::MAX), Colorimetry::default());
}

// S-COL-06
#[test]
fn jfif_is_bt601_full_range() {
    let jfif = Colorimetry::jfif();
    assert_eq!(jfif.encoding, Some(ColorEncoding::Bt601));
    assert_eq!(jfif.range, Some(ColorRange::Full));
    assert_eq!((jfif.space, jfif.transfer), (Some(ColorSpace::Srgb), Some(ColorTransfer::Srgb)));
}

// S-COL-01
#[test]
fn v4l2_spaces_have_their_words() {
    let space = |colorspace| Colorimetry::from_v4l2(colorspace, 0, 0, 0, false).space;
    assert_eq!(space(1), Some(ColorSpace::Smpte170m));
    assert_eq!(space(3), Some(ColorSpace::Bt709));
    assert_eq!(space(7), Some(ColorSpace::Srgb));
    assert_eq!(space(8), Some(ColorSpace::Srgb));
    assert_eq!(space(10), Some(ColorSpace::Bt2020));
    let transfers = [1, 2, 5, 7].map(|n| Colorimetry::from_v4l2(0, n, 0, 0, false).transfer);
    let words =
        [ColorTransfer::Bt709, ColorTransfer::Srgb, ColorTransfer::Linear, ColorTransfer::Pq];
    assert_eq!(transfers, words.map(Some));
}

// S-COL-01
#[test]
fn an_unknown_v4l2_number_leaves_only_its_own_question_open() {
    let whole = Colorimetry::from_v4l2(3, 1, 2, 1, false);
    let expected = Colorimetry { range: Some(ColorRange::Full), ..Colorimetry::BT709 };
    assert_eq!(whole, expected);
    let open = [
        (Colorimetry::from_v4l2(99, 1, 2, 1, false), Colorimetry { space: None, ..expected }),
        (Colorimetry::from_v4l2(3, 99, 2, 1, false), Colorimetry { transfer: None, ..expected }),
        (Colorimetry::from_v4l2(3, 1, 99, 1, false), Colorimetry { encoding: None, ..expected }),
        (Colorimetry::from_v4l2(3, 1, 2, 99, false), Colorimetry { range: None, ..expected }),
    ];
    for (got, expected) in open {
        assert_eq!(got, expected);
    }
}

// S-COL-02
#[test]
fn a_v4l2_default_is_derived_from_the_colorspace() {
    let derived = |colorspace| Colorimetry::from_v4l2(colorspace, 0, 0, 0, false);
    assert_eq!(derived(0), Colorimetry::default());
    assert_eq!(derived(1), Colorimetry::BT601);
    assert_eq!(derived(3), Colorimetry::BT709);
    assert_eq!(derived(7), Colorimetry::JFIF);
    assert_eq!(derived(8), Colorimetry::JFIF.with_range(ColorRange::Limited));
    assert_eq!(derived(10), Colorimetry::BT2020);
    let range = |colorspace| Colorimetry::from_v4l2(colorspace, 0, 0, 0, true).range;
    for colorspace in 0..=13 {
        assert_eq!(range(colorspace), Some(ColorRange::Full), "RGB in {colorspace}");
    }
    let said = Colorimetry::from_v4l2(7, 0, 2, 2, false);
    assert_eq!(said.encoding, Some(ColorEncoding::Bt709));
    assert_eq!(said.range, Some(ColorRange::Limited));
}

// S-COL-07
#[test]
fn gstreamer_text_has_the_four_answers() {
    let read = |text| Colorimetry::from_gstreamer(text).unwrap();
    assert_eq!(read("bt601"), Colorimetry::BT601);
    assert_eq!(read("bt709"), Colorimetry::BT709);
    assert_eq!(read("bt2020"), Colorimetry::BT2020);
    assert_eq!(read("bt2020-10"), Colorimetry::BT2020);
    assert_eq!(read("bt2100-pq"), Colorimetry::BT2100_PQ);
    assert_eq!(read("bt2100-hlg"), Colorimetry::BT2100_HLG);
    assert_eq!(read("sRGB"), Colorimetry::SRGB);
    assert_eq!(read("2:4:7:1"), Colorimetry::JFIF.with_range(ColorRange::Limited));
    assert_eq!(read("2:4:7:1"), Colorimetry::from_v4l2(8, 0, 0, 0, false));
    let grey = Colorimetry { space: None, transfer: None, ..Colorimetry::JFIF };
    assert_eq!(read("1:4:0:0"), grey);
    let only_range = Colorimetry::default().with_range(ColorRange::Limited);
    assert_eq!(read("smpte240m"), only_range);
    assert_eq!(read("0:0:0:0"), Colorimetry::default());
}

// S-COL-07
#[test]
fn gstreamer_text_is_written_as_gstreamer_writes_it() {
    let written = |colorimetry: Colorimetry, is_rgb| {
        colorimetry.to_gstreamer(is_rgb).map(|text| text.to_string())
    };
    for text in ["bt601", "bt709", "bt2020", "bt2100-pq", "bt2100-hlg", "2:4:7:1", "1:4:0:0"]
        .into_iter()
        .chain(["1:4:16:4", "1:3:5:1", "2:0:0:0", "1:4:7:1", "0:0:0:7"])
    {
        let read = Colorimetry::from_gstreamer(text).unwrap();
        assert_eq!(written(read, false).as_deref(), Some(text));
    }
    assert_eq!(written(Colorimetry::SRGB, true).as_deref(), Some("sRGB"));
    assert_eq!(written(Colorimetry::SRGB, false).as_deref(), Some("1:0:7:1"));
    assert_eq!(written(Colorimetry::default(), true), None);
}

// S-COL-07
#[test]
fn gstreamer_text_brings_every_answer_back() {
    for colorimetry in all() {
        let Some(text) = colorimetry.to_gstreamer(false) else { continue };
        let again = Colorimetry::from_gstreamer(&text.to_string()).unwrap();
        // sRGB and BT.709 primaries are one number.
        assert_eq!(Colorimetry { space: colorimetry.space, ..again }, colorimetry, "{text}");
    }
}

#[test]
fn other_text_is_refused_with_the_names() {
    for text in ["", "BT709", "jpeg", "1:2:3", "1:2:3:4:5", "1:-2:3:4", "1:2:3:x", " 2:3:5:1"] {
        let error = Colorimetry::from_gstreamer(text).unwrap_err();
        assert_eq!(error.given, text);
        assert!(error.to_string().contains("bt2100-hlg"), "{error}");
    }
}

/// What GStreamer 1.22 answers for `VideoInfo` without colorimetry (measured for widths 1 to 4096
/// and heights 1 to 2400).
#[test]
fn the_guess_is_the_one_gstreamer_makes() {
    let text = |guess: Colorimetry, is_rgb| guess.to_gstreamer(is_rgb).map(|text| text.to_string());
    for (height, expected) in
        [(1, "bt601"), (480, "bt601"), (576, "bt601"), (577, "bt709"), (2160, "bt709")]
    {
        assert_eq!(text(Colorimetry::guess_yuv(height), false).as_deref(), Some(expected));
    }
    assert_eq!(text(Colorimetry::guess_rgb(), true).as_deref(), Some("sRGB"));
    assert_eq!(text(Colorimetry::guess_grey(), false).as_deref(), Some("1:4:0:0"));
}

#[test]
fn a_merge_fills_only_what_is_open() {
    for ours in all() {
        assert_eq!(Colorimetry::default().merge(ours), ours);
        let merged = ours.merge(Colorimetry::BT2100_HLG);
        assert_eq!(merged.space, ours.space.or(Some(ColorSpace::Bt2020)));
        assert_eq!(merged.transfer, ours.transfer.or(Some(ColorTransfer::Hlg)));
        assert_eq!(merged.encoding, ours.encoding.or(Some(ColorEncoding::Bt2020)));
        assert_eq!(merged.range, ours.range.or(Some(ColorRange::Limited)));
    }
}

// S-COL-03
#[test]
fn luma_weights_are_the_standards_and_add_up_to_one() {
    let weights = ColorEncoding::ALL.iter().map(|encoding| {
        let MatrixWeights { kr, kg, kb } = encoding.luma_weights();
        assert_eq!(kr.checked_add(kg).unwrap().checked_add(kb), Some(Rational::ONE));
        [kr, kg, kb].map(Rational::to_f64)
    });
    let expected = [[0.299, 0.587, 0.114], [0.2126, 0.7152, 0.0722], [0.2627, 0.678, 0.0593]];
    assert_eq!(weights.collect::<Vec<_>>(), expected);
}

// S-COL-04
#[test]
fn ranges_are_those_of_every_depth() {
    let scaling = |range: ColorRange, bits| {
        let RangeScaling { y_offset, y_swing, c_offset, c_swing } = range.scaling_at(bits).unwrap();
        [y_offset, y_swing, c_offset, c_swing]
    };
    for range in ColorRange::ALL {
        assert_eq!(range.scaling_at(8), Some(range.scaling()));
        for bits in [0, 7, 17, 32, u32::MAX] {
            assert_eq!(range.scaling_at(bits), None);
        }
    }
    assert_eq!(scaling(ColorRange::Limited, 8), [16, 219, 128, 224]);
    assert_eq!(scaling(ColorRange::Full, 8), [0, 255, 128, 255]);
    assert_eq!(scaling(ColorRange::Limited, 10), [64, 876, 512, 896]);
    assert_eq!(scaling(ColorRange::Full, 10), [0, 1023, 512, 1023]);
    assert_eq!(scaling(ColorRange::Limited, 16), [4096, 56_064, 32_768, 57_344]);
    assert_eq!(scaling(ColorRange::Full, 16), [0, 65_535, 32_768, 65_535]);
}

#[test]
fn the_matrices_undo_each_other_exactly() {
    let zero = Rational::ZERO;
    for encoding in ColorEncoding::ALL {
        let (forward, inverse) = (encoding.rgb_to_ycbcr(), encoding.ycbcr_to_rgb());
        let product = |i: usize, j: usize| {
            inverse[i].iter().zip(forward).fold(zero, |sum, (a, row)| {
                sum.checked_add(a.checked_mul(row[j]).unwrap()).unwrap()
            })
        };
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let unit = if i == j { Rational::ONE } else { zero };
            assert_eq!(product(i, j), unit, "{encoding} {i} {j}");
        }
    }
}

#[test]
fn code_transforms_undo_each_other_exactly() {
    for encoding in ColorEncoding::ALL {
        for range in ColorRange::ALL {
            for bits in 8..=16 {
                let there = ColorTransform::rgb_to_ycbcr(*encoding, *range, bits).unwrap();
                let back = ColorTransform::ycbcr_to_rgb(*encoding, *range, bits).unwrap();
                for codes in [[0, 0, 0], [255, 255, 255], [255, 0, 1], [17, 200, 99]] {
                    let point = codes.map(Rational::integer);
                    let image = there.apply(point).unwrap();
                    assert_eq!(back.apply(image), Some(point), "{encoding} {range} {bits}");
                }
            }
        }
    }
    let none = ColorTransform::rgb_to_ycbcr(ColorEncoding::Bt601, ColorRange::Full, 7);
    assert_eq!(none, None);
}

#[test]
fn known_colours_have_known_codes() {
    use {ColorEncoding as E, ColorRange as R};
    let known = [
        (E::Bt601, R::Limited, 8, [255, 255, 255], [235, 128, 128]),
        (E::Bt601, R::Limited, 8, [0, 0, 0], [16, 128, 128]),
        (E::Bt601, R::Limited, 8, [255, 0, 0], [81, 90, 240]),
        (E::Bt601, R::Limited, 8, [0, 255, 0], [145, 54, 34]),
        (E::Bt601, R::Limited, 8, [0, 0, 255], [41, 240, 110]),
        (E::Bt601, R::Full, 8, [255, 0, 0], [76, 85, 255]),
        (E::Bt709, R::Limited, 8, [255, 0, 0], [63, 102, 240]),
        (E::Bt709, R::Limited, 8, [0, 255, 0], [173, 42, 26]),
        (E::Bt709, R::Limited, 8, [0, 0, 255], [32, 240, 118]),
        (E::Bt2020, R::Limited, 10, [1023, 1023, 1023], [940, 512, 512]),
        (E::Bt2020, R::Limited, 10, [0, 0, 0], [64, 512, 512]),
    ];
    for (encoding, range, bits, rgb, ycbcr) in known {
        let there = ColorTransform::rgb_to_ycbcr(encoding, range, bits).unwrap();
        assert_eq!(there.codes(rgb), Some(ycbcr), "{encoding} {range} {bits} {rgb:?}");
        let back = ColorTransform::ycbcr_to_rgb(encoding, range, bits).unwrap().codes(ycbcr);
        for (got, sent) in back.unwrap().into_iter().zip(rgb) {
            assert!(got.abs_diff(sent) <= 1, "{encoding} {range} {bits} {rgb:?}: {back:?}");
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn json_has_the_wire_names() {
    let json = serde_json::to_string(&Colorimetry::jfif()).unwrap();
    let golden = r#"{"space":"srgb","transfer":"srgb","encoding":"bt601","range":"full"}"#;
    assert_eq!(json, golden);
    for colorimetry in all() {
        let json = serde_json::to_string(&colorimetry).unwrap();
        assert_eq!(serde_json::from_str::<Colorimetry>(&json).unwrap(), colorimetry);
    }
    assert_eq!(serde_json::from_str::<Colorimetry>("{}").unwrap(), Colorimetry::default());
}
