use super::*;
use crate::layout::ImageLayout;

fn rows(table: &PlaneTable) -> Vec<(usize, isize, usize)> {
    table.iter().map(|plane| (plane.offset, plane.stride, plane.size)).collect()
}

// S-GEO-01
#[test]
fn allocation_shapes_are_the_published_ones() {
    let shapes: [(PixelFormat, &[usize]); 6] = [
        (PixelFormat::Rgb, &[480, 640, 3]),
        (PixelFormat::Grey, &[480, 640, 1]),
        (PixelFormat::PlanarRgb, &[3, 480, 640]),
        (PixelFormat::Nv12, &[720, 640]),
        (PixelFormat::Nv16, &[960, 640]),
        (PixelFormat::Nv24, &[1440, 640]),
    ];
    for (format, shape) in shapes {
        assert_eq!(&*format.allocation_shape(640, 480).unwrap(), shape, "{format}");
    }
}

// S-GEO-02
#[test]
fn the_grid_differs_from_the_allocation_where_chroma_is_separate() {
    let both = |format: PixelFormat| {
        (
            format.addressing_shape(640, 480).to_vec(),
            format.allocation_shape(640, 480).unwrap().to_vec(),
        )
    };
    assert_eq!(both(PixelFormat::Nv12), (vec![480, 640], vec![720, 640]));
    assert_eq!(both(PixelFormat::Grey), (vec![480, 640], vec![480, 640, 1]));
    assert_eq!(both(PixelFormat::Rgb), (vec![480, 640, 3], vec![480, 640, 3]));
}

// S-GEO-03, S-GEO-06
#[test]
fn nv12_tables_are_the_published_ones() {
    let tight = PixelFormat::Nv12.plane_table(640, 480, 640).unwrap();
    assert_eq!(rows(&tight), [(0, 640, 307_200), (307_200, 640, 153_600)]);
    assert_eq!(tight.allocation_len(), 460_800);
    let padded = PixelFormat::Nv12.plane_table(640, 480, 704).unwrap();
    assert_eq!(rows(&padded), [(0, 704, 337_920), (337_920, 704, 168_960)]);
}

// S-GEO-04, S-GEO-05
#[test]
fn odd_sizes_round_chroma_up() {
    assert_eq!(PixelFormat::Nv12.combined_plane_height(483), Some(725));
    assert_eq!(&*PixelFormat::Nv12.allocation_shape(64, 483).unwrap(), [725, 64]);
    assert_eq!(&*PixelFormat::Nv12.allocation_shape(789, 384).unwrap(), [576, 789]);
    let tall = PixelFormat::Nv12.plane_table(64, 483, 64).unwrap();
    assert_eq!(rows(&tall), [(0, 64, 483 * 64), (483 * 64, 64, 242 * 64)]);
    assert_eq!(tall.allocation_len(), 725 * 64);
    let odd = PixelFormat::Nv12.plane_table(789, 384, 789);
    let error =
        LayoutError::Stride { format: PixelFormat::Nv12, plane: 1, stride: 789, row_bytes: 790 };
    assert_eq!(odd, Err(error));
    assert_eq!(PixelFormat::Nv12.row_stride_for_dma(789), Ok(832));
}

// G03: one stride a plane; a chroma row is not half a luma row just because it is chroma.
#[test]
fn chroma_strides_follow_the_bytes_of_their_blocks() {
    let strides = |format: PixelFormat| {
        let table = format.plane_table(64, 36, 128).unwrap();
        table.iter().map(|plane| plane.stride).collect::<Vec<_>>()
    };
    assert_eq!(strides(PixelFormat::Nv12), [128, 128]);
    assert_eq!(strides(PixelFormat::Nv24), [128, 256]);
    assert_eq!(strides(PixelFormat::I420), [128, 64, 64]);
    assert_eq!(strides(PixelFormat::PlanarRgb), [128, 128, 128]);
}

// S-GEO-18
#[test]
fn combined_rows_are_exact_and_their_inverse_refuses_what_no_height_has() {
    for height in 1..=2000_usize {
        let nv12 = height + height.div_ceil(2);
        assert_eq!(PixelFormat::Nv12.combined_plane_height(height), Some(nv12));
        assert_eq!(PixelFormat::Nv16.combined_plane_height(height), Some(2 * height));
        for format in [PixelFormat::Nv12, PixelFormat::Nv16, PixelFormat::Nv24, PixelFormat::I420] {
            let rows = format.combined_plane_height(height).unwrap();
            assert_eq!(format.image_height_from_combined(rows), Some(height), "{format}");
        }
    }
    for rows in 0..3000 {
        let height = PixelFormat::Nv12.image_height_from_combined(rows);
        assert_eq!(height.is_none(), rows % 3 == 1, "{rows} rows");
    }
    assert_eq!(PixelFormat::Rgb.image_height_from_combined(480), None);
}

// S-GEO-19, D-57: steps are counted in bits, so the largest count is as quick as any.
#[test]
fn the_inverse_is_bounded_at_any_size() {
    let rows = PixelFormat::Nv12.combined_plane_height(1 << 62).unwrap();
    assert_eq!(PixelFormat::Nv12.image_height_from_combined(rows), Some(1 << 62));
    assert_eq!(
        PixelFormat::Nv12.image_height_from_combined(usize::MAX),
        Some((usize::MAX / 3) * 2)
    );
    assert_eq!(PixelFormat::Nv12.combined_plane_height(usize::MAX), None);
}

// S-GEO-07
#[test]
fn a_table_agrees_with_the_layout_of_the_same_stride_for_every_format_and_size() {
    for format in PixelFormat::ALL.iter().copied() {
        for (width, height) in (1..=65).flat_map(|w| (1..=65).map(move |h| (w, h))) {
            let stride = format.row_stride_for_dma(width).unwrap();
            let table = format.plane_table(width, height, stride).unwrap();
            let layout = ImageLayout::with_row_stride(format, width, height, stride).unwrap();
            let mut end = 0;
            for (plane, place) in table.iter().zip(layout.planes()) {
                assert_eq!(plane.offset, end, "{format} {width}x{height}");
                assert_eq!((plane.offset, plane.stride), (place.offset, place.stride as isize));
                end += plane.size;
            }
            assert_eq!((table.allocation_len(), layout.allocation_len(0)), (end, end));
        }
    }
}

// S-STR-01: one row stride from which every plane's stride is a multiple of 64.
#[test]
fn a_dma_row_stride_makes_every_plane_aligned_and_is_the_smallest() {
    for format in PixelFormat::ALL.iter().copied() {
        let aligned = |width, stride| {
            let table = format.plane_table(width, 7, stride);
            table.is_ok_and(|t| t.iter().all(|p| p.stride % 64 == 0 && p.offset % 64 == 0))
        };
        for width in 1..=330 {
            let stride = format.row_stride_for_dma(width).unwrap();
            assert!(aligned(width, stride), "{format} {width}: {stride}");
            let smaller = (1..stride / 64).map(|n| n * 64).find(|s| aligned(width, *s));
            assert_eq!(smaller, None, "{format} {width}: {stride}");
        }
    }
}

#[test]
fn tables_past_the_address_space_are_refused() {
    for format in PixelFormat::ALL.iter().copied() {
        for (width, height, stride) in
            [(64, 1 << 63, 1 << 10), (64, 1 << 32, 1 << 31), (1, 1, 1 << 63), (1, 1, usize::MAX)]
        {
            let table = format.plane_table(width, height, stride);
            assert!(matches!(table, Err(LayoutError::Overflow { .. })), "{format}: {table:?}");
        }
        assert_eq!(format.plane_table(0, 4, 64), Err(LayoutError::Empty { width: 0, height: 4 }));
        assert!(format.row_stride_for_dma(usize::MAX).is_err(), "{format}");
    }
}
