use super::*;

fn place(memory: usize, offset: usize, stride: usize) -> PlanePlacement {
    PlanePlacement { memory, offset, stride }
}

fn nv12(planes: &[PlanePlacement]) -> Result<ImageLayout, LayoutError> {
    ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, planes)
}

// S-GEO-03, S-GEO-06
#[test]
fn nv12_planes_lie_where_the_published_table_says() {
    let tight = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
    assert_eq!(tight.planes(), [place(0, 0, 640), place(0, 307_200, 640)]);
    assert_eq!(tight.allocation_len(0), 460_800);

    let padded = [place(0, 0, 704), place(0, 337_920, 704)];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 640, 480, &padded).unwrap();
    assert_eq!(layout.allocation_len(0), 337_920 + 168_960);
}

// S-GEO-04, S-GEO-05
#[test]
fn odd_sizes_round_chroma_up() {
    let tall = ImageLayout::packed(PixelFormat::Nv12, 64, 483, StrideAlign::DMA).unwrap();
    assert_eq!(tall.rows(1), 242);
    let wide = ImageLayout::packed(PixelFormat::Nv12, 789, 384, StrideAlign::DMA).unwrap();
    assert_eq!(&*wide.shape(), [384, 789]);
    assert_eq!((wide.row_bytes(1), wide.planes()[0].stride), (790, 832));
}

// S-STR-01, S-STR-02
#[test]
fn every_plane_of_an_aligned_layout_is_64_aligned_and_holds_its_rows() {
    for format in PixelFormat::ALL.iter().copied() {
        for width in 1..=130 {
            let layout = ImageLayout::packed(format, width, 7, StrideAlign::DMA).unwrap();
            for (plane, place) in layout.planes().iter().enumerate() {
                assert_eq!((place.stride % 64, place.offset % 64), (0, 0), "{format} {width}");
                assert!(place.stride >= layout.row_bytes(plane));
                assert!(place.stride - layout.row_bytes(plane) < 64);
            }
        }
    }
    let rgba = ImageLayout::packed(PixelFormat::Rgba, 321, 4, StrideAlign::DMA).unwrap();
    assert_eq!((rgba.planes()[0].stride, rgba.allocation_len(0)), (1344, 5376));
}

// S-GEO-07
#[test]
fn allocation_is_the_end_of_the_last_plane_for_every_format_and_size() {
    for format in PixelFormat::ALL.iter().copied() {
        for width in 1..=65 {
            for height in 1..=65 {
                let layout = ImageLayout::packed(format, width, height, StrideAlign::NONE).unwrap();
                let bytes: usize = (0..layout.planes().len())
                    .map(|plane| layout.row_bytes(plane) * layout.rows(plane))
                    .sum();
                assert_eq!(layout.allocation_len(0), bytes, "{format} {width}x{height}");
                assert_eq!(layout.required_len(0), bytes, "{format} {width}x{height}");
            }
        }
    }
}

// G13
#[test]
fn the_last_row_ends_at_its_last_sample() {
    let layout = ImageLayout::from_planes(PixelFormat::Rgb, 17, 33, &[place(0, 0, 128)]).unwrap();
    assert_eq!(layout.required_len(0), 32 * 128 + 51);
    assert_eq!(layout.allocation_len(0), 33 * 128);
}

// G03
#[test]
fn every_plane_keeps_its_own_stride() {
    let layout = nv12(&[place(0, 0, 96), place(0, 3456, 128)]).unwrap();
    assert_eq!(layout.planes()[1], place(0, 3456, 128));
    let planes = [place(0, 0, 64), place(1, 0, 48), place(2, 0, 40)];
    let i420 = ImageLayout::from_planes(PixelFormat::I420, 64, 36, &planes).unwrap();
    assert_eq!(i420.planes(), planes);
    assert_eq!(i420.memories(), 3);
}

#[test]
fn planes_may_come_in_any_order() {
    let layout = nv12(&[place(0, 1152, 64), place(0, 0, 64)]).unwrap();
    assert_eq!(layout.required_len(0), 1152 + 64 * 36);
}

#[test]
fn what_cannot_be_is_refused_with_its_numbers() {
    assert_eq!(
        nv12(&[place(0, 0, 63), place(0, 4096, 64)]),
        Err(LayoutError::Stride { format: PixelFormat::Nv12, plane: 0, stride: 63, row_bytes: 64 })
    );
    assert_eq!(
        nv12(&[place(0, 0, 64), place(0, 2303, 64)]),
        Err(LayoutError::Overlap { format: PixelFormat::Nv12, first: 0, second: 1, memory: 0 })
    );
    assert_eq!(
        nv12(&[place(0, 0, 64), place(0, 0, 64)]),
        Err(LayoutError::Overlap { format: PixelFormat::Nv12, first: 0, second: 1, memory: 0 })
    );
    assert_eq!(
        nv12(&[place(0, 0, 64), place(2, 0, 64)]),
        Err(LayoutError::MemoryIndex { plane: 1, memory: 2 })
    );
    assert_eq!(
        nv12(&[place(0, 0, 64)]),
        Err(LayoutError::PlaneCount { format: PixelFormat::Nv12, expected: 2, given: 1 })
    );
    assert_eq!(
        ImageLayout::packed(PixelFormat::Rgb, 0, 4, StrideAlign::NONE),
        Err(LayoutError::Empty { width: 0, height: 4 })
    );
}

// S-PARSE-05, D-16: the same answer with and without overflow checks compiled in
#[test]
fn sizes_past_the_address_space_are_refused() {
    for format in PixelFormat::ALL.iter().copied() {
        for (width, height) in [(usize::MAX, 1), (1 << 40, 1 << 40), (1 << 63, 1), (1, 1 << 63)] {
            let packed = ImageLayout::packed(format, width, height, StrideAlign::DMA);
            assert!(packed.is_err(), "{format} {width}x{height}: {packed:?}");
        }
    }
    let far = nv12(&[place(0, 0, 64), place(1, usize::MAX - 8, 64)]);
    assert!(matches!(far, Err(LayoutError::Overflow { plane: 1, .. })));
}
