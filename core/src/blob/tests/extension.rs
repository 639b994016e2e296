//! What the published format has no field for: written, read, skipped, refused.

use super::*;
use crate::{
    access::CpuAccess,
    compression::{CompressionScheme, Contiguity},
    preprocess::{ContentRegion, Origin},
    shape::Region,
};

const EXTENSION: Extension<'_> = Extension {
    access: CpuAccess::Read,
    is_view: true,
    contiguity: Contiguity::Contiguous,
    compression: Some(CompressionScheme::Afbc),
    name: "camera",
    origin: None,
};

fn with(extension: Extension<'_>) -> Vec<u8> {
    BlobSpec { extension, ..plain(&[4], &[]) }.to_bytes().unwrap()
}

/// Where the region starts in a blob of [`with`].
fn start() -> usize {
    with(Extension::default()).len()
}

// S-BLOB-16, D-19, D-23
#[test]
fn every_field_comes_back() {
    let name = "ein längerer Name";
    for access in CpuAccess::ALL {
        for contiguity in Contiguity::ALL.iter().copied() {
            for compression in CompressionScheme::ALL.iter().copied().map(Some).chain([None]) {
                for is_view in [false, true] {
                    let origin = None;
                    let said = Extension { access, is_view, contiguity, compression, name, origin };
                    let blob = with(said);
                    assert!(blob.len().is_multiple_of(8));
                    assert_eq!(BlobView::parse(&blob).unwrap().extension(), said);
                }
            }
        }
    }
}

// S-BLOB-05, S-BLOB-14
#[test]
fn what_says_nothing_takes_no_byte() {
    let blob = with(Extension::default());
    let view = BlobView::parse(&blob).unwrap();
    assert_eq!(view.extension(), Extension::default());
    assert_eq!(with(EXTENSION).len(), blob.len() + 32);
}

#[test]
fn the_bytes_are_these() {
    let region = &with(EXTENSION)[start()..];
    let golden = b"GTX1\x20\0\0\0\x05\0\0\0\x01\0\0\0\x02\0\0\0\x06\0\0\0camera\0\0";
    assert_eq!(region, golden);
}

// S-BLOB-05
#[test]
fn bytes_of_another_origin_are_not_judged() {
    for foreign in [&b"GTX2\xff\xff\xff\xff"[..], b"GTX", b"\0\0\0\0\0\0\0\0\0"] {
        let mut blob = with(Extension::default());
        blob.extend_from_slice(foreign);
        let size = wide_len(&blob);
        poke(&mut blob, 0, &size);
        assert_eq!(BlobView::parse(&blob).unwrap().extension(), Extension::default());
    }
}

#[test]
fn a_longer_region_of_a_later_version_is_read_as_far_as_it_is_known() {
    let mut blob = with(EXTENSION);
    // Records of kinds that are not known, the last without its padding.
    blob.extend_from_slice(b"\xff\xff\xff\xff\x08\0\0\0\x03\0\0\0\x0a\0\0\0##");
    let size = wide_len(&blob);
    poke(&mut blob, 0, &size);
    poke(&mut blob, start() + 4, &50_u32.to_le_bytes());
    // A flag that is not known either.
    poke(&mut blob, start() + 11, &[0x80]);
    assert_eq!(BlobView::parse(&blob).unwrap().extension(), EXTENSION);
}

// S-PARSE-10
#[test]
fn each_wrong_field_is_refused() {
    let refuse = |at: usize, value: u32| {
        let mut blob = with(EXTENSION);
        poke(&mut blob, start() + at, &value.to_le_bytes());
        BlobView::parse(&blob).expect_err("the change went unnoticed")
    };
    let left = 32;
    assert_eq!(refuse(4, 23), BlobError::ExtensionBounds { len: 23, left });
    assert_eq!(refuse(4, 33), BlobError::ExtensionBounds { len: 33, left });
    assert_eq!(refuse(12, 3), BlobError::ExtensionCode { field: "contiguity", code: 3 });
    assert_eq!(refuse(16, 5), BlobError::ExtensionCode { field: "compression", code: 5 });
    let bounds = |need| BlobError::StringBounds { field: "name", need, left: 8 };
    assert_eq!(refuse(20, 9), bounds(9));
    assert_eq!(refuse(20, u32::MAX), bounds(u32::MAX.into()));
    let utf8 = BlobError::InvalidUtf8 { field: "name", valid_up_to: 0 };
    assert_eq!(refuse(24, u32::MAX), utf8);
}

#[test]
fn a_region_cut_short_is_refused() {
    let blob = with(EXTENSION);
    for end in start() + 4..blob.len() {
        let mut cut = blob[..end].to_vec();
        let size = wide_len(&cut);
        poke(&mut cut, 0, &size);
        let error = BlobView::parse(&cut).expect_err("the cut went unnoticed");
        assert!(matches!(error, BlobError::ExtensionBounds { .. }), "{end}: {error}");
    }
}

pub(super) const ORIGIN: Origin = Origin {
    content: ContentRegion::new(Region::new(0, 140, 640, 360), 640, 640),
    taken: Some(ContentRegion::new(Region::new(640, 0, 640, 360), 1280, 720)),
};

fn with_origin() -> Vec<u8> {
    with(Extension { origin: Some(ORIGIN), ..EXTENSION })
}

#[test]
fn where_pixels_come_from_is_carried() {
    let records = &with_origin()[start() + 32..];
    let golden = [[1, 32, 0, 140, 640, 360, 640, 640], [2, 32, 640, 0, 640, 360, 1280, 720]];
    let golden: Vec<u8> =
        golden.as_flattened().iter().flat_map(|it| u32::to_le_bytes(*it)).collect();
    assert_eq!(records, golden);
    for name in ["", "a", "images__"] {
        for taken in [None, ORIGIN.taken] {
            let origin = Some(Origin { taken, ..ORIGIN });
            let said = Extension { name, origin, ..Extension::default() };
            let blob = with(said);
            assert!(blob.len().is_multiple_of(8));
            assert_eq!(BlobView::parse(&blob).unwrap().extension(), said);
        }
    }
}

// S-PARSE-10
#[test]
fn each_wrong_record_is_refused() {
    let at = start() + 32;
    let changed = |field: usize, value: u32| {
        let mut blob = with_origin();
        poke(&mut blob, at + field, &value.to_le_bytes());
        BlobView::parse(&blob).map(|view| view.extension().origin)
    };
    let refuse = |field, value| changed(field, value).expect_err("the change went unnoticed");
    for len in [0, 7, 65, u32::MAX] {
        assert_eq!(refuse(4, len), BlobError::ExtensionRecord { len: len.into(), left: 64 });
    }
    assert_eq!(refuse(4, 31), BlobError::ExtensionRecord { len: 31, left: 32 });
    for (field, value) in [(8, 1), (12, 281), (16, 0), (16, u32::MAX), (20, 0), (24, 639), (28, 0)]
    {
        let error = refuse(field, value);
        assert!(matches!(error, BlobError::ExtensionRegion { kind: 1, .. }), "{field}: {error}");
    }
    // An unknown kind is passed over; which part of a frame it is says nothing of no image.
    assert_eq!(changed(0, 3), Ok(None));
    assert_eq!(changed(32, 7), Ok(Some(Origin { taken: None, ..ORIGIN })));
    // A longer record of a later version.
    assert_eq!(changed(4, 64), Ok(Some(Origin { taken: None, ..ORIGIN })));
}

#[test]
fn a_rectangle_that_no_reader_takes_is_not_written() {
    let outside = ContentRegion::new(Region::new(1, 0, 640, 640), 640, 640);
    let origin = Some(Origin { content: outside, taken: None });
    let spec = BlobSpec { extension: Extension { origin, ..EXTENSION }, ..plain(&[4], &[]) };
    assert!(matches!(spec.to_bytes(), Err(BlobError::ExtensionRegion { kind: 1, .. })));
}

fn wide_len(blob: &[u8]) -> [u8; 8] {
    u64::try_from(blob.len()).unwrap().to_le_bytes()
}
