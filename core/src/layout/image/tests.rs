use super::*;
use crate::layout::StridedLayout;

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

// S-GEO-07, G04: with the alignment a device asks for
#[test]
fn an_allocation_holds_every_plane_and_grows_with_the_image() {
    for format in PixelFormat::ALL.iter().copied() {
        for align in [StrideAlign::NONE, StrideAlign::DMA, StrideAlign::new(256).unwrap()] {
            let len = |width, height| {
                let layout = ImageLayout::packed(format, width, height, align).unwrap();
                let samples: usize = (0..layout.planes().len())
                    .map(|plane| layout.row_bytes(plane) * layout.rows(plane))
                    .sum();
                assert!(samples <= layout.required_len(0), "{format} {width}x{height}");
                assert!(layout.required_len(0) <= layout.allocation_len(0));
                layout.allocation_len(0)
            };
            for size in 1..=70 {
                assert!(len(size, 9) <= len(size + 1, 9), "{format} {size}");
                assert!(len(33, size) < len(33, size + 1), "{format} {size}");
            }
        }
    }
}

#[test]
fn heights_are_padded_as_a_decoder_pads_them() {
    let rows = RowAlign::new(16).unwrap();
    let nv12 =
        ImageLayout::packed_with(PixelFormat::Nv12, 1920, 1080, StrideAlign::DMA, rows).unwrap();
    assert_eq!(nv12.planes(), [place(0, 0, 1920), place(0, 1920 * 1088, 1920)]);
    assert_eq!(nv12.allocation_len_with(0, rows), Ok(1920 * 1088 * 3 / 2));
    assert_eq!(nv12.required_len(0), 1920 * (1088 + 540));
    let odd = ImageLayout::packed_with(PixelFormat::I420, 33, 17, StrideAlign::NONE, rows).unwrap();
    let (luma, chroma) = (33 * 32, 17 * 16);
    assert_eq!(odd.planes(), [place(0, 0, 33), place(0, luma, 17), place(0, luma + chroma, 17)]);
    assert_eq!(odd.allocation_len_with(0, rows), Ok(luma + 2 * chroma));
    assert_eq!(odd.allocation_len_with(1, rows), Ok(0));
    let huge = RowAlign::new(1 << 63).unwrap();
    assert!(ImageLayout::packed_with(PixelFormat::Rgb, 9, 9, StrideAlign::NONE, huge).is_err());
    assert!(nv12.allocation_len_with(0, huge).is_err());
}

#[test]
fn height_padding_of_1_row_is_none_and_of_more_is_what_the_taller_image_has() {
    for format in PixelFormat::ALL.iter().copied() {
        for (height, rows) in [(7, 1), (7, 8), (483, 16), (16, 16)] {
            let rows = RowAlign::new(rows).unwrap();
            let padded =
                ImageLayout::packed_with(format, 33, height, StrideAlign::DMA, rows).unwrap();
            let tall = rows.round_up(height).unwrap();
            let taller = ImageLayout::packed(format, 33, tall, StrideAlign::DMA).unwrap();
            assert_eq!(padded.planes(), taller.planes(), "{format}");
            assert_eq!(padded.allocation_len_with(0, rows), Ok(taller.allocation_len(0)));
        }
    }
}

// S-GEO-09
#[test]
fn a_planar_image_steps_from_plane_to_plane_wherever_they_lie() {
    let planar = |planes: &[PlanePlacement]| {
        ImageLayout::from_planes(PixelFormat::PlanarRgb, 321, 4, planes).unwrap().strides()
    };
    let packed = ImageLayout::packed(PixelFormat::PlanarRgb, 321, 4, StrideAlign::DMA).unwrap();
    assert_eq!(&*packed.strides().unwrap(), [1536, 384, 1]);
    let apart = planar(&[place(0, 0, 384), place(0, 4096, 384), place(0, 8192, 384)]);
    assert_eq!(&*apart.unwrap(), [4096, 384, 1]);
    let reversed = planar(&[place(0, 8192, 384), place(0, 4096, 384), place(0, 0, 384)]);
    assert_eq!(&*reversed.unwrap(), [-4096, 384, 1]);
    let none = Err(LayoutError::PlaneStep { format: PixelFormat::PlanarRgb });
    assert_eq!(planar(&[place(0, 0, 384), place(0, 4096, 384), place(0, 9000, 384)]), none);
    assert_eq!(planar(&[place(0, 0, 384), place(0, 4096, 400), place(0, 8192, 384)]), none);
    assert_eq!(planar(&[place(0, 0, 384), place(1, 4096, 384), place(2, 8192, 384)]), none);
}

#[test]
fn every_packed_layout_has_strides() {
    for format in PixelFormat::ALL.iter().copied() {
        for align in [StrideAlign::NONE, StrideAlign::DMA] {
            let layout = ImageLayout::packed(format, 33, 7, align).unwrap();
            assert_eq!(layout.strides().unwrap().len(), layout.shape().len(), "{format}");
        }
    }
}

// G12: rows outermost; a value planted at column 5, row 2, component 1 is at [2, 5, 1].
#[test]
fn the_order_of_axes_is_rows_columns_components() {
    let rgb = ImageLayout::packed(PixelFormat::Rgb, 640, 480, StrideAlign::NONE).unwrap();
    assert_eq!((&*rgb.shape(), &*rgb.strides().unwrap()), (&[480, 640, 3][..], &[1920, 3, 1][..]));
    let grid = StridedLayout::new(rgb.shape(), rgb.strides().unwrap(), 0, 1).unwrap();
    assert_eq!(grid.offset_of(&[2, 5, 1]), Some(2 * 1920 + 5 * 3 + 1));
}

// G01: strides GStreamer gives by default
#[test]
fn rows_skip_the_padding_whatever_the_stride() {
    for (format, width, height, stride) in [
        (PixelFormat::Rgb, 642, 4, 1928),
        (PixelFormat::Grey, 641, 4, 644),
        (PixelFormat::Rgb, 33, 17, 100),
    ] {
        let layout =
            ImageLayout::from_planes(format, width, height, &[place(0, 0, stride)]).unwrap();
        let grid = StridedLayout::new(layout.shape(), layout.strides().unwrap(), 0, 1).unwrap();
        let samples: usize = grid.rows().map(|_| grid.rows().row_bytes()).sum();
        assert_eq!(grid.rows().len(), height);
        assert_eq!(samples, layout.row_bytes(0) * height);
        assert!(grid.rows().all(|at| at % stride + layout.row_bytes(0) <= stride));
    }
}

// G02: the layout the frame carries, not the one its caps would have
#[test]
fn a_frame_that_says_where_its_planes_are_is_believed() {
    let planes = [place(0, 0, 384), place(0, 92_160, 384)];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 320, 240, &planes).unwrap();
    assert_eq!(layout.planes(), planes);
    let caps = ImageLayout::packed(PixelFormat::Nv12, 320, 240, StrideAlign::NONE).unwrap();
    assert_eq!(caps.planes(), [place(0, 0, 320), place(0, 76_800, 320)]);
}
