//! What views, strides, maps and identities promise, line by line.

use std::{collections::HashSet, fs::File};

use super::*;
use crate::{colorimetry::ColorRange, memory::Step};

fn new(dims: &[usize], step: Step) -> TensorDyn {
    let policy = AllocPolicy::from_steps([step]);
    TensorDyn::new(&Shape::new(dims).unwrap(), DType::U8, &policy, CpuAccess::ReadWrite).unwrap()
}

fn grey(kind: TensorMemory, width: usize, height: usize) -> TensorDyn {
    let desc = ImageDesc::new(PixelFormat::Grey, width, height).with_memory(kind);
    TensorDyn::image_desc(&desc).unwrap()
}

fn imported(tensor: &TensorDyn, offset: usize, stride: usize) -> Result<TensorDyn, TensorError> {
    let fd = tensor.memories()[0].fd().unwrap();
    let planes = [PlaneDescriptor::new(fd, offset, stride).unwrap()];
    TensorDyn::from_planes(PixelFormat::Grey, 64, 8, &planes, CpuAccess::ReadWrite)
}

// S-VIEW-03, S-VIEW-09, D-36
#[test]
fn a_region_that_is_empty_or_too_large_is_refused_as_out_of_bounds() {
    let frame = coordinates(64, 36);
    for region in [
        Region::new(33, 0, 32, 8),
        Region::new(0, 29, 8, 8),
        Region::new(0, 0, 0, 8),
        Region::new(4, 4, 8, 0),
        Region::new(usize::MAX, 0, 2, 2),
    ] {
        let expected = LayoutError::RegionOutOfBounds { region, bounds: Region::new(0, 0, 64, 36) };
        match frame.view(region) {
            Err(TensorError::Layout(refused)) => assert_eq!(refused, expected),
            other => panic!("{region}: {other:?}"),
        }
    }
}

// S-VIEW-01, S-VIEW-15
#[test]
fn a_view_says_of_itself_what_its_parent_says() {
    let colorimetry = Colorimetry { range: Some(ColorRange::Full), ..Default::default() };
    let quantization = Quantization::per_tensor(0.5, 128).unwrap();
    let desc = ImageDesc::new(PixelFormat::Rgb, 8, 8).with_memory(TensorMemory::Shm).with_batch(2);
    let batch = TensorDyn::image_desc(&desc.with_access(CpuAccess::Read)).unwrap();
    let batch = batch.with_colorimetry(colorimetry).with_name("images");
    let batch = batch.with_quantization(quantization.clone()).unwrap();
    let image = batch.batch(1).unwrap();
    for part in [&image, &image.view(Region::new(2, 2, 4, 4)).unwrap()] {
        assert_eq!((part.colorimetry(), part.access()), (colorimetry, CpuAccess::Read));
        assert_eq!((part.quantization(), part.name()), (Some(&quantization), Some("images")));
        assert_eq!((part.dtype(), part.memory()), (batch.dtype(), batch.memory()));
        assert_eq!(part.contiguity(), batch.contiguity());
        assert_eq!(part.identity().id(), batch.identity().id());
    }
}

/// What is said of a clone is not said of the tensor it was cloned from.
#[test]
fn a_description_belongs_to_the_tensor_it_was_given_to() {
    let tensor = grey(TensorMemory::Mem, 8, 8);
    let named = tensor.clone().with_name("luma");
    assert_eq!((tensor.name(), named.name()), (None, Some("luma")));
    assert_eq!(tensor.identity().id(), named.identity().id());
    assert!(named.aliases(&tensor));
}

// S-VIEW-10: where a tensor begins is a number of its layout; nothing else writes it
#[test]
fn a_new_shape_keeps_the_bytes_it_is_over_and_a_new_image_begins_at_the_start() {
    for step in [Step::Heap, Step::Memfd] {
        let batch = new(&[2, 64, 64], step);
        batch.batch(1).unwrap().copy_from_flat(&[7; 4096]).unwrap();
        let second = batch.batch(1).unwrap();
        for same in [
            second.reshape(&Shape::new(&[4096]).unwrap()).unwrap(),
            second.with_format(PixelFormat::Grey).unwrap(),
        ] {
            let mut flat = vec![0; 4096];
            same.copy_to_flat(&mut flat).unwrap();
            assert!(flat.iter().all(|byte| *byte == 7));
        }
        let anew = second.configure_image(PixelFormat::Grey, 32, 32).unwrap();
        assert_eq!(anew.image_layout().unwrap().planes()[0].offset, 0);
    }
}

// S-VIEW-11, D-26, S-MAP-01
#[test]
fn a_plane_maps_up_to_the_last_byte_of_its_file_and_not_past_it() {
    let own = new(&[1024], Step::Memfd);
    own.copy_from_flat(&[3; 1024]).unwrap();
    // Eight rows of 64: the last ends at its last sample, so rows 96 apart need 736 bytes.
    for (offset, stride) in [(0, 64), (512, 64), (0, 96), (1024 - 736, 96)] {
        let image = imported(&own, offset, stride).unwrap();
        let map = image.map_read().unwrap();
        assert!(map.plane(0).unwrap().rows().all(|row| row == [3; 64]));
        assert_eq!(map.plane(0).unwrap().rows().count(), 8);
    }
    for (offset, stride, need) in [(513, 64, 1025), (1024 - 735, 96, 1025), (4096, 64, 4608)] {
        let refused = imported(&own, offset, stride);
        let is_told = |error: &TensorError| {
            matches!(error, TensorError::TooSmall { plane: 0, memory: 0, need: told, have: 1024 }
                if *told == need)
        };
        assert!(refused.as_ref().is_err_and(is_told), "{offset} {stride}: {refused:?}");
    }
}

// S-STR-02, S-STR-03
#[test]
fn an_allocation_is_its_stride_for_every_row() {
    for (width, stride) in [(320, 1280), (321, 1344), (322, 1344)] {
        let layout = ImageLayout::packed(PixelFormat::Rgba, width, 4, StrideAlign::DMA).unwrap();
        assert_eq!(layout.planes()[0].stride, stride);
        let len = layout.allocation_len(0);
        assert_eq!(len, stride * 4);
        let tensor = TensorDyn::from_image(layout, [shm(len)], CpuAccess::Read).unwrap();
        let fd = tensor.memories()[0].fd().unwrap().try_clone_to_owned().unwrap();
        assert_eq!(File::from(fd).metadata().unwrap().len(), len as u64);
    }
}

// S-STR-06, D-44
#[test]
fn an_imported_stride_is_kept_and_flagged_when_no_gpu_takes_it() {
    let own = new(&[8192], Step::Memfd);
    for (stride, aligned) in [(401, false), (448, true)] {
        let image = imported(&own, 0, stride).unwrap();
        let layout = image.image_layout().unwrap();
        assert_eq!(
            (layout.planes()[0].stride, layout.is_aligned(StrideAlign::DMA)),
            (stride, aligned)
        );
    }
}

// S-MAP-03, D-55
#[test]
fn every_kind_of_memory_refuses_a_map_alike() {
    for kind in [TensorMemory::Mem, TensorMemory::Shm] {
        let tensor = grey(kind, 8, 8);
        let view = tensor.view(Region::new(0, 0, 4, 4)).unwrap();
        let reader = view.map_read().unwrap();
        assert!(matches!(tensor.map_mut(), Err(MapError::Busy { writer: false })), "{kind}");
        drop(reader);
        assert!(
            matches!(tensor.map(CpuAccess::None), Err(MapError::AccessDenied { .. })),
            "{kind}"
        );
        let short = tensor.copy_to_flat(&mut [0; 63]);
        assert!(matches!(short, Err(MapError::Length { need: 64, have: 63 })), "{kind}");
    }
}

// S-ID-01, S-ID-03, S-ID-04, D-30, D-31, D-32
#[test]
fn no_two_tensors_of_any_kind_or_size_share_an_identity() {
    let steps = [Step::Heap, Step::Memfd];
    let make = |n: usize| new(&[n % 3, 4], steps[n % 2]).identity().id();
    let ids: HashSet<u64> = (0..1000).map(make).collect();
    assert_eq!(ids.len(), 1000);
}

// S-ID-02, D-29: made new at every import, as the documentation says
#[test]
fn two_imports_of_one_file_live_and_die_apart() {
    let own = new(&[512], Step::Memfd);
    let (one, two) = (imported(&own, 0, 64).unwrap(), imported(&own, 0, 64).unwrap());
    assert_ne!(one.identity().id(), two.identity().id());
    assert_eq!(one.memories()[0].identity(), two.memories()[0].identity());
    let weak = [one.identity().weak(), two.identity().weak()];
    drop(one);
    assert_eq!(weak.each_ref().map(WeakIdentity::is_alive), [false, true]);
}

// S-ID-05
#[test]
fn an_identity_lives_as_long_as_any_clone_view_or_renamed_tensor() {
    let frame = coordinates(8, 8);
    let weak = frame.identity().weak();
    let mut held = vec![
        frame.clone(),
        frame.view(Region::new(0, 0, 4, 4)).unwrap(),
        frame.batch(0).unwrap(),
        frame.clone().with_name("copy"),
        frame.configure_image(PixelFormat::Grey, 4, 4).unwrap(),
    ];
    drop(frame);
    while held.pop().is_some() {
        assert_eq!(weak.is_alive(), !held.is_empty());
    }
}
