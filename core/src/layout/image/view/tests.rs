use super::*;
use crate::{
    format::PixelFormat,
    layout::{PlanePlacement, StrideAlign},
};

fn packed(format: PixelFormat, width: usize, height: usize) -> ImageLayout {
    ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap()
}

fn offsets(layout: &ImageLayout) -> Vec<usize> {
    layout.planes().iter().map(|place| place.offset).collect()
}

/// Every region of a small image.
fn regions(width: usize, height: usize) -> Vec<Region> {
    let spans = |len: usize| (0..len).flat_map(move |at| (1..=len - at).map(move |n| (at, n)));
    let rows: Vec<_> = spans(height).collect();
    spans(width)
        .flat_map(|(x, w)| rows.iter().map(move |(y, h)| Region::new(x, *y, w, *h)))
        .collect()
}

// G20
#[test]
fn a_crop_moves_every_plane() {
    let crop = packed(PixelFormat::Nv12, 64, 36).view(Region::new(16, 8, 32, 16)).unwrap();
    assert_eq!((crop.width(), crop.height()), (32, 16));
    assert_eq!(offsets(&crop), [528, 2576]);
    assert!(crop.planes().iter().all(|place| place.stride == 64));
}

// S-VIEW-07, D-35
#[test]
fn planar_images_are_cut_in_every_plane_and_memory() {
    let i420 = packed(PixelFormat::I420, 64, 36).view(Region::new(16, 8, 32, 16)).unwrap();
    let luma = 64 * 36;
    assert_eq!(offsets(&i420), [528, luma + 4 * 64 + 8, luma + 64 * 18 + 4 * 64 + 8]);
    let planes = [0, 1].map(|memory| PlanePlacement { memory, offset: 128, stride: 96 });
    let two = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let crop = two.view(Region::new(2, 2, 4, 4)).unwrap();
    assert_eq!(offsets(&crop), [128 + 2 * 96 + 2, 128 + 96 + 2]);
    assert_eq!(crop.memories(), 2);
    let rgb = packed(PixelFormat::PlanarRgb, 64, 36);
    let crop = rgb.view(Region::new(3, 1, 5, 7)).unwrap();
    assert_eq!(offsets(&crop), [67, luma + 67, 2 * luma + 67]);
    assert_eq!(crop.strides(), rgb.strides());
}

// S-VIEW-02
#[test]
fn a_view_of_a_view_adds_offsets() {
    let rgba = packed(PixelFormat::Rgba, 64, 64);
    let outer = rgba.view(Region::new(8, 8, 32, 32)).unwrap();
    let inner = outer.view(Region::new(4, 4, 8, 8)).unwrap();
    assert_eq!(offsets(&inner), [12 * 256 + 12 * 4]);
    assert_eq!(inner, rgba.view(Region::new(12, 12, 8, 8)).unwrap());
}

// S-VIEW-06, D-34
#[test]
fn a_view_that_touches_the_last_row_and_column_needs_no_more_than_the_image() {
    let rgba = ImageLayout::packed(PixelFormat::Rgba, 64, 64, StrideAlign::NONE).unwrap();
    let corner = rgba.view(Region::new(32, 32, 32, 32)).unwrap();
    assert_eq!(corner.plane_len(0), 31 * 256 + 128);
    assert_eq!(corner.required_len(0), rgba.required_len(0));
}

// S-VIEW-08, D-42
#[test]
fn a_region_that_would_cut_a_sample_is_refused_with_the_multiples_that_would_not() {
    let refused = |format, region, columns, rows| {
        let error = LayoutError::RegionAlignment { format, region, columns, rows };
        assert_eq!(packed(format, 64, 36).view(region), Err(error));
    };
    refused(PixelFormat::Yuyv, Region::new(1, 0, 2, 2), 2, 1);
    refused(PixelFormat::Yuyv, Region::new(2, 1, 3, 2), 2, 1);
    refused(PixelFormat::Nv12, Region::new(0, 1, 2, 2), 2, 2);
    refused(PixelFormat::Nv12, Region::new(0, 0, 2, 3), 2, 2);
    refused(PixelFormat::Nv16, Region::new(3, 1, 2, 3), 2, 1);
    refused(PixelFormat::BayerRggb8, Region::new(1, 0, 2, 2), 2, 2);
    assert!(packed(PixelFormat::Yuyv, 64, 36).view(Region::new(2, 1, 4, 3)).is_ok());
    assert!(packed(PixelFormat::Nv16, 64, 36).view(Region::new(2, 1, 4, 3)).is_ok());
    assert!(packed(PixelFormat::Nv24, 64, 36).view(Region::new(1, 1, 3, 3)).is_ok());
    let error = packed(PixelFormat::Nv12, 64, 36).view(Region::new(1, 0, 2, 2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the region of 2x2 at (1, 0): NV12 can only be cut at multiples of 2 columns and 2 rows, or at the image's right and bottom edge"
    );
}

#[test]
fn a_region_may_be_odd_only_where_the_image_ends() {
    let odd = packed(PixelFormat::Nv12, 65, 37);
    let corner = odd.view(Region::new(62, 34, 3, 3)).unwrap();
    assert_eq!((corner.row_bytes(1), corner.rows(1)), (4, 2));
    assert_eq!(corner.required_len(0), odd.required_len(0));
    assert!(odd.view(Region::new(62, 34, 1, 2)).is_err());
    let inner = corner.view(Region::new(2, 2, 1, 1)).unwrap();
    assert_eq!(inner, odd.view(Region::new(64, 36, 1, 1)).unwrap());
}

// S-VIEW-03, S-VIEW-09
#[test]
fn regions_outside_the_image_or_without_pixels_are_refused() {
    let bounds = Region::whole(64, 36);
    for region in [
        Region::new(0, 0, 65, 36),
        Region::new(0, 0, 64, 37),
        Region::new(2, 0, 64, 36),
        Region::new(8, 8, 0, 8),
        Region::new(usize::MAX - 1, 0, 2, 2),
    ] {
        let error = LayoutError::RegionOutOfBounds { region, bounds };
        assert_eq!(packed(PixelFormat::Nv12, 64, 36).view(region), Err(error));
    }
}

#[test]
fn the_whole_region_is_the_image() {
    for format in PixelFormat::ALL.iter().copied() {
        let layout = packed(format, 65, 37);
        assert_eq!(layout.view(Region::whole(65, 37)), Ok(layout.clone()), "{format}");
    }
}

#[test]
fn a_region_of_a_region_is_the_composed_region_for_every_format() {
    let outer_regions = regions(7, 5);
    for format in PixelFormat::ALL.iter().copied() {
        let image = packed(format, 7, 5);
        for outer in &outer_regions {
            let Ok(view) = image.view(*outer) else { continue };
            for inner in regions(outer.width, outer.height) {
                let composed = outer.region(inner).unwrap();
                match view.view(inner) {
                    Ok(twice) => assert_eq!(Ok(twice), image.view(composed), "{format}"),
                    // What cannot be cut out of the part cannot be cut out of the whole.
                    Err(_) => assert!(image.view(composed).is_err(), "{format} {composed}"),
                }
            }
        }
    }
}

#[test]
fn every_view_lies_in_its_image_and_has_samples_of_its_own() {
    for format in PixelFormat::ALL.iter().copied() {
        let image = packed(format, 9, 6);
        for region in regions(9, 6) {
            let Ok(view) = image.view(region) else { continue };
            for (plane, (place, whole)) in view.planes().iter().zip(image.planes()).enumerate() {
                assert!(place.offset >= whole.offset, "{format} {region}");
                let end = place.offset + view.plane_len(plane);
                assert!(end <= whole.offset + image.plane_len(plane), "{format} {region}");
                let column = (place.offset - whole.offset) % whole.stride;
                assert!(column + view.row_bytes(plane) <= image.row_bytes(plane));
            }
            let again =
                ImageLayout::from_planes(format, region.width, region.height, view.planes());
            assert_eq!(again.as_ref(), Ok(&view), "{format} {region}");
        }
    }
}
