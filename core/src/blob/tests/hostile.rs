//! Bytes from an enemy: each ends in an error or in a view that answers every question.

use super::{extension::ORIGIN, *};
use crate::format::PixelFormat;

/// The values that break sums and products.
const NASTY: [u64; 7] = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 63, u64::MAX];

/// Blobs with every region in use: by handle, and inline.
fn victims() -> [Vec<u8>; 2] {
    with_extension(Extension { name: "images", origin: Some(ORIGIN), ..Extension::default() })
}

fn with_extension(extension: Extension<'_>) -> [Vec<u8>; 2] {
    let by_handle = [
        PlaneRecord { handle_bytes: &[1, 2, 3], ..referenced(0, 64, 4096) },
        referenced(1, 4096, 2048),
    ];
    let inline = [PlaneRecord::inline(&[5; 9], 3), PlaneRecord::inline(&[6; 5], 2)];
    [&by_handle, &inline].map(|planes| {
        let spec = BlobSpec {
            strides: Some(&[8, 1]),
            quant_axis: 1,
            quant_scales: &[0.5, 1.0, 2.0],
            quant_zero_points: &[1, 2, 3],
            format: Some(PixelFormat::Nv12),
            extension,
            ..plain(&[2, 3], planes)
        };
        spec.to_bytes().unwrap()
    })
}

/// Parses, and on success asks everything. What is found must fit the bytes given.
fn survive(blob: &[u8]) {
    let Ok(view) = BlobView::parse(blob) else { return };
    assert!(view.as_bytes().len() <= blob.len());
    assert_eq!(view.shape().count(), view.ndim());
    assert!(view.strides().is_none_or(|strides| strides.count() == view.ndim()));
    assert!(view.quant_scales().all(|scale| scale > 0.0));
    let zero_points = view.quant_zero_points().count();
    assert!(zero_points == 0 || zero_points == view.quant_scales().len());
    assert_eq!(view.format().map_or("", PixelFormat::name), view.format_name());
    let names = [view.color_space_name(), view.color_transfer_name(), view.color_encoding_name()];
    assert!(names.iter().all(|name| name.len() < blob.len()));
    assert_eq!(view.planes().count(), view.planes().len());
    for (index, plane) in view.planes().enumerate() {
        assert_eq!(view.plane(index), Some(plane));
        assert_eq!(plane.is_inline(), view.is_inline());
        assert_eq!(plane.fd_index().is_none(), view.is_inline());
        assert!(plane.used <= plane.size);
        assert_eq!(plane.require_linear().is_ok(), plane.modifier == 0);
    }
    survive_origin(&view);
    let _ = (view.pid(), view.fence_fd(), view.colorimetry(), format!("{view:?}"));
}

fn survive_origin(view: &BlobView<'_>) {
    for region in view.extension().origin.iter().flat_map(|it| [Some(it.content), it.taken]) {
        let (width, height) = region.map_or((0, 0), |region| region.size());
        assert!(region.is_none_or(|region| region.pixels().fits(width, height)));
    }
}

// S-PARSE-01, S-PARSE-02, D-15, D-16
#[test]
fn nasty_values_in_every_word() {
    for victim in victims() {
        survive(&victim);
        for width in [4, 8] {
            for at in (0..victim.len() - width).step_by(4) {
                for value in NASTY {
                    let mut blob = victim.clone();
                    poke(&mut blob, at, &value.to_le_bytes()[..width]);
                    survive(&blob);
                }
            }
        }
    }
}

#[test]
fn nasty_values_in_two_header_words_at_once() {
    for victim in victims() {
        for (first, second) in (0..18).flat_map(|first| (0..first).map(move |s| (first, s))) {
            for (a, b) in NASTY.iter().flat_map(|a| NASTY.map(move |b| (*a, b))) {
                let mut blob = victim.clone();
                poke(&mut blob, first * 4, &a.to_le_bytes()[..4]);
                poke(&mut blob, second * 4, &b.to_le_bytes()[..4]);
                survive(&blob);
            }
        }
    }
}

// S-BLOB-04
#[test]
fn every_truncation_is_refused() {
    // A blob that ends where its extension begins is one without it.
    for victim in with_extension(Extension::default()) {
        for len in 0..victim.len() {
            assert!(BlobView::parse(&victim[..len]).is_err());
            let mut blob = victim[..len].to_vec();
            if len >= 8 {
                // The size agrees with the bytes, the regions no longer do.
                poke(&mut blob, 0, &(len as u64).to_le_bytes());
                assert!(BlobView::parse(&blob).is_err());
            }
        }
    }
}

#[test]
fn every_flipped_byte() {
    for victim in victims() {
        for at in 0..victim.len() {
            for flip in 1..=255 {
                let mut blob = victim.clone();
                blob[at] ^= flip;
                survive(&blob);
            }
        }
    }
}

// S-PARSE-05: a blob may say a shape whose product fits nowhere; nothing here multiplies it.
#[test]
fn a_shape_past_every_memory_is_said_as_it_is() {
    let shape = [1 << 32, 1 << 32, u64::MAX];
    let blob = plain(&shape, &[]).to_bytes().unwrap();
    assert!(BlobView::parse(&blob).unwrap().shape().eq(shape));
}
