//! Refusals of planes. A bad record is refused by the writer, and by the parser once it is on the
//! wire.

use super::*;

/// Appends a record to a blob that ends with its planes, as a careless writer would.
fn with_record(first: PlaneRecord<'_>, second: PlaneRecord<'_>) -> Vec<u8> {
    let mut blob = plain(&[4], &[first]).to_bytes().unwrap();
    second.write(&mut blob).unwrap();
    let second_len = second.encoded_len().unwrap();
    let planes_bytes = (first.encoded_len().unwrap() + second_len) as u64;
    let size = blob.len() as u64;
    poke(&mut blob, 0, &size.to_le_bytes());
    poke(&mut blob, 16, &planes_bytes.to_le_bytes());
    poke(&mut blob, 48, &[2]);
    blob
}

/// Both doors must give the same refusal of the second plane.
#[track_caller]
fn assert_refused(first: PlaneRecord<'_>, second: PlaneRecord<'_>, expected: &BlobError) {
    assert_eq!(plain(&[4], &[first, second]).to_bytes().as_ref(), Err(expected));
    assert_eq!(BlobView::parse(&with_record(first, second)).err().as_ref(), Some(expected));
}

const DATA: [u8; 4] = [1, 2, 3, 4];

// S-IPC-02
#[test]
fn mixed_planes() {
    let (inline, by_handle) = (PlaneRecord::inline(&DATA, 4), referenced(0, 0, 4));
    assert_refused(by_handle, inline, &BlobError::MixedPlanes { plane: 1, inline: true });
    let expected = BlobError::MixedPlanes { plane: 1, inline: false };
    assert_refused(inline, by_handle, &expected);
    assert_eq!(expected.to_string(), "plane 1 is by handle, the planes before it are not");
}

#[test]
fn plane_handle() {
    for handle in [-2, i64::MIN] {
        let expected = BlobError::PlaneHandle { plane: 1, handle };
        assert_refused(referenced(0, 0, 4), referenced(handle, 0, 4), &expected);
        assert_refused(PlaneRecord::inline(&DATA, 4), referenced(handle, 0, 4), &expected);
    }
}

// S-IPC-03
#[test]
fn inline_plane() {
    let good = PlaneRecord::inline(&DATA, 4);
    let bad = [
        ("offset", 8, 0, PlaneRecord { offset: 8, ..good }),
        ("size", 5, 4, PlaneRecord { size: 5, ..good }),
        ("size", 3, 4, PlaneRecord { size: 3, ..good }),
        ("used", 3, 4, PlaneRecord { used: 3, ..good }),
        ("modifier", 1, 0, PlaneRecord { modifier: 1, ..good }),
        ("handle_bytes_len", 2, 0, PlaneRecord { handle_bytes: &[0, 0], ..good }),
    ];
    for (field, value, needed, plane) in bad {
        let expected = BlobError::InlinePlane { plane: 1, field, value, needed };
        assert_refused(good, plane, &expected);
    }
}

#[test]
fn referenced_data() {
    let plane = PlaneRecord { data: &DATA, ..referenced(0, 0, 4) };
    let expected = BlobError::ReferencedData { plane: 1, data_len: 4 };
    assert_refused(referenced(0, 0, 4), plane, &expected);
}

#[test]
fn used() {
    let plane = PlaneRecord { used: 5, ..referenced(0, 0, 4) };
    assert_refused(referenced(0, 0, 4), plane, &BlobError::Used { plane: 1, used: 5, size: 4 });
}

// S-MODE-04, D-08
#[test]
fn modifier() {
    let modifier = 0x0800_0000_0000_0001;
    let planes = [PlaneRecord { modifier, ..referenced(0, 0, 4) }];
    let blob = plain(&[4], &planes).to_bytes().unwrap();
    let plane = BlobView::parse(&blob).unwrap().plane(0).unwrap();
    assert_eq!(plane.modifier, modifier);
    assert_eq!(plane.require_linear(), Err(BlobError::Modifier { modifier }));
    assert_eq!(referenced(0, 0, 4).require_linear(), Ok(()));
}

// S-BLOB-09, D-18
#[test]
#[cfg(target_pointer_width = "64")]
fn field_limit() {
    // Zeroed pages that nobody touches: the refusal must come before the bytes are read.
    let len = (1_usize << 32) + 16;
    let huge = vec![0; len];
    let planes = [PlaneRecord::inline(&huge, 4)];
    let refusal = plain(&[len as u64], &planes).to_bytes();
    assert_eq!(refusal, Err(BlobError::FieldLimit { field: "data_len", len }));
    let planes = [PlaneRecord { handle_bytes: &huge, ..referenced(0, 0, 4) }];
    let refusal = plain(&[4], &planes).to_bytes();
    assert_eq!(refusal, Err(BlobError::FieldLimit { field: "handle_bytes_len", len }));
}

#[test]
fn too_long() {
    // The same gigabyte many times over: no memory holds it, and nothing tries.
    let big = vec![0; 1 << 30];
    let planes = vec![PlaneRecord::inline(&big, 4); 1 << 18];
    assert_eq!(plain(&[1], &planes).to_bytes(), Err(BlobError::TooLong));
}

// S-IPC-04
#[test]
fn planes_past_the_fourth_are_found() {
    let planes: Vec<_> = (0..9).map(|index| referenced(index, 0, 8)).collect();
    let blob = plain(&[4], &planes).to_bytes().unwrap();
    let view = BlobView::parse(&blob).unwrap();
    for (index, plane) in planes.iter().enumerate() {
        assert_eq!(view.plane(index), Some(*plane));
        assert_eq!(plane.fd_index(), Some(index));
    }
    assert_eq!(view.plane(9), None);
    assert_eq!(view.plane(usize::MAX), None);
}

// S-PARSE-03, S-PARSE-10
#[test]
fn plane_count() {
    let expected = BlobError::PlaneCount { plane_count: 1000, planes_bytes: 112 };
    let error = poked(48, &1000_u32.to_le_bytes());
    assert_eq!(error, expected);
    assert_eq!(error.to_string(), "plane_count 1000 does not fit planes_bytes 112");
    assert_eq!(poked(48, &[3]), BlobError::PlaneCount { plane_count: 3, planes_bytes: 112 });
}

#[test]
fn plane_bounds() {
    for (offset, field) in [(48, "handle_bytes_len"), (52, "data_len")] {
        let need = u64::from(u32::MAX);
        let expected = BlobError::PlaneBounds { plane: 1, field, need, left: 0 };
        assert_eq!(poked(PLANE_1 + offset, &[0xFF; 4]), expected);
    }
    // The first plane's handle swallows the second record's front.
    let expected = BlobError::PlaneBounds { plane: 1, field: "record", need: 56, left: 48 };
    assert_eq!(poked(PLANES + 48, &[8]), expected);

    let mut blob = plain(&[3], &[PlaneRecord::inline(&[1, 2, 3], 3)]).to_bytes().unwrap();
    let short = blob.len() - 1;
    poke(&mut blob, 0, &[short as u8]);
    poke(&mut blob, 16, &[63]);
    let expected = BlobError::PlaneBounds { plane: 0, field: "padding", need: 5, left: 4 };
    assert_eq!(BlobView::parse(&blob).err(), Some(expected));
}

#[test]
fn planes_leftover() {
    assert_eq!(poked(48, &[1]), BlobError::PlanesLeftover { left: 56, planes: 1 });
    assert_eq!(poked(48, &[0]), BlobError::PlanesLeftover { left: 112, planes: 0 });
}
