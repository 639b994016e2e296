//! Where the two differ on purpose. Each is told in `docs/blob.md`.

use ours::BlobView;

use super::*;

#[test]
fn dense_strides_are_left_out_by_us_and_written_by_them() {
    let ours = our_image(ours::PixelFormat::Rgb, (8, 4), ours::TensorMemory::Mem);
    let (blob, _) = export(&ours, TransportMode::Inline).expect("exports");
    assert!(BlobView::parse(&blob).expect("parses").strides().is_none());
    let theirs = their_image(theirs::PixelFormat::Rgb, (8, 4));
    let mode = theirs::blob::TransportMode::Inline;
    let (blob, _) = theirs::blob::export(&theirs, mode).expect("their export");
    let view = BlobView::parse(&blob).expect("parses");
    assert!(view.strides().expect("written").eq([24, 3, 1]));
}

// The chroma of NV24 has rows of twice the luma's; they describe it as twice the rows.
#[test]
fn the_chroma_rows_of_nv24_are_read_both_ways() {
    let strides = |blob: &[u8]| -> Vec<u64> {
        BlobView::parse(blob).expect("parses").planes().map(|plane| plane.stride).collect()
    };
    let tensor = our_image(ours::PixelFormat::Nv24, (64, 48), ours::TensorMemory::Mem);
    let (blob, _) = export(&tensor, TransportMode::Inline).expect("exports");
    assert_eq!(strides(&blob), [64, 128]);
    let there = theirs::blob::import(&blob, &[]).expect("their import");
    let mode = theirs::blob::TransportMode::Inline;
    let (blob, _) = theirs::blob::export(&there, mode).expect("their export");
    assert_eq!(strides(&blob), [64, 64]);
    let back = import(&blob, &[]).expect("imports");
    assert_eq!(back.image_layout(), tensor.image_layout());
    assert_eq!(our_bytes(&back), our_bytes(&tensor));
}

#[test]
fn formats_of_ours_alone_are_refused_by_name() {
    for format in ours::PixelFormat::ALL.iter().copied() {
        if FORMATS.iter().any(|(known, _)| *known == format) {
            continue;
        }
        let tensor = our_image(format, (64, 48), ours::TensorMemory::Mem);
        let (blob, _) = export(&tensor, TransportMode::Inline).expect("exports");
        let error = theirs::blob::import(&blob, &[]).expect_err("unknown to them").to_string();
        assert!(error.contains(format.name()), "{format}: {error}");
    }
}

// D-03, D-06: they open the first plane's descriptor and ignore where the second plane is.
#[test]
fn two_memories_are_read_by_us_alone() {
    let planes = [0, 1].map(|memory| ours::PlanePlacement { memory, offset: 0, stride: 64 });
    let layout = ours::ImageLayout::from_planes(ours::PixelFormat::Nv12, 64, 48, &planes);
    let memories = [ours::Memory::shm(64 * 48), ours::Memory::shm(64 * 24)];
    let memories = memories.map(|memory| memory.expect("memory"));
    let access = ours::CpuAccess::ReadWrite;
    let tensor =
        ours::TensorDyn::from_image(layout.expect("valid"), memories, access).expect("fits");
    let (blob, fds) = export(&tensor, TransportMode::Reference).expect("exports");
    let here = import(&blob, &fds).expect("imports");
    assert_eq!(here.memories().len(), 2);
    let inline = to_theirs(&tensor);
    assert_eq!(their_bytes(&inline), our_bytes(&tensor));
}

// D-14: a name they cannot read is dropped, and the image with it; here it is refused.
#[test]
fn a_spoilt_name_is_refused() {
    let tensor = our_image(ours::PixelFormat::Nv12, (64, 48), ours::TensorMemory::Mem);
    let (mut blob, _) = export(&tensor, TransportMode::Inline).expect("exports");
    let at = blob.windows(4).position(|bytes| bytes == b"NV12").expect("the name");
    blob[at] = 0xff;
    assert!(import(&blob, &[]).is_err());
}

// At odd widths the last chroma pair ends a byte past the rows that they allocate, so that they
// neither write nor read such an image.
#[test]
fn odd_widths_with_chroma_pairs_stay_here() {
    let tensor = our_image(ours::PixelFormat::Nv12, (33, 8), ours::TensorMemory::Mem);
    let (blob, _) = export(&tensor, TransportMode::Inline).expect("exports");
    assert!(theirs::blob::import(&blob, &[]).is_err());
    assert_eq!(our_bytes(&import(&blob, &[]).expect("imports")), our_bytes(&tensor));
    let mode = theirs::blob::TransportMode::Inline;
    let there = their_image(theirs::PixelFormat::Nv12, (33, 8));
    assert!(theirs::blob::export(&there, mode).is_err());
}
