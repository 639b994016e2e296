//! Images whose planes are in memories of their own: every question covers all planes, or is refused.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use std::os::fd::{AsFd, OwnedFd};

use tensor_core::{
    CpuAccess, LayoutError, Memory, PixelFormat, PlaneDescriptor, TensorDyn, TensorError,
    memory::MapError,
    sys::memfd,
    transfer::{TransportMode, export, import},
};

fn file(len: u64) -> OwnedFd {
    memfd::create("plane", len).unwrap()
}

fn plane(file: &OwnedFd, offset: usize, stride: usize) -> PlaneDescriptor {
    PlaneDescriptor::new(file.as_fd(), offset, stride).unwrap()
}

/// NV12 of 64x36 with a chroma plane whose offset and stride are not those of the luma.
fn nv12() -> TensorDyn {
    let planes = [plane(&file(96 * 36), 0, 96), plane(&file(4096), 256, 128)];
    let image =
        TensorDyn::from_planes(PixelFormat::Nv12, 64, 36, &planes, CpuAccess::ReadWrite).unwrap();
    let flat: Vec<u8> = (0..=255).cycle().take(image.flat_len()).collect();
    image.copy_from_flat(&flat).unwrap();
    image
}

fn flat(image: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; image.flat_len()];
    image.copy_to_flat(&mut flat).unwrap();
    flat
}

// S-MP-05, D-56, S-MP-01
#[test]
fn each_plane_has_its_own_offset_and_stride() {
    let image = nv12();
    let places = image.image_layout().unwrap().planes();
    assert_eq!([places[0].offset, places[1].offset], [0, 256]);
    assert_eq!([places[0].stride, places[1].stride], [96, 128]);
    let map = image.map_read().unwrap();
    assert_eq!(map.plane(1).unwrap().rows().count(), 18);
    let expected: Vec<u8> = (0..=255).cycle().skip(64 * 36).take(64).collect();
    assert_eq!(map.memory(1).unwrap()[256..320], expected, "the first row of chroma");
}

// S-MP-05, D-56, S-MAP-01: what chroma lacks is refused, with both numbers
#[test]
fn a_chroma_plane_that_does_not_fit_is_refused() {
    let luma = file(96 * 36);
    let refused = |chroma: PlaneDescriptor| {
        let planes = [plane(&luma, 0, 96), chroma];
        TensorDyn::from_planes(PixelFormat::Nv12, 64, 36, &planes, CpuAccess::Read).unwrap_err()
    };
    // 17 rows of 128 and the 64 bytes of the last.
    let short = refused(plane(&file(2239), 0, 128));
    let both =
        matches!(short, TensorError::TooSmall { plane: 1, memory: 1, need: 2240, have: 2239 });
    assert!(both, "{short:?}");
    let narrow = refused(plane(&file(4096), 0, 32));
    assert!(matches!(narrow, TensorError::Layout(LayoutError::Stride { .. })), "{narrow:?}");
    let far = refused(plane(&file(4096), usize::MAX, 128));
    assert!(matches!(far, TensorError::Layout(_) | TensorError::TooSmall { .. }), "{far:?}");
}

// S-MP-05, D-56: the narrowest of the planes' declarations is the image's
#[test]
fn a_chroma_plane_for_reading_makes_an_image_for_reading() {
    let layout = nv12().image_layout().unwrap().clone();
    let memory = |len, access| Memory::import(file(len).as_fd(), access).unwrap();
    let memories = [memory(4096, CpuAccess::ReadWrite), memory(4096, CpuAccess::Read)];
    let image = TensorDyn::from_image(layout, memories, CpuAccess::ReadWrite).unwrap();
    assert_eq!(image.access(), CpuAccess::Read);
    assert!(matches!(image.map_write(), Err(MapError::AccessDenied { .. })));
}

// S-MP-04, D-41
#[test]
fn another_format_or_size_is_refused_and_leaves_the_image_as_it_was() {
    let image = nv12();
    let before = flat(&image);
    for format in [PixelFormat::Nv16, PixelFormat::Grey, PixelFormat::Nv12] {
        assert!(image.with_format(format).is_err());
        let refused = image.configure_image(format, 32, 18);
        assert!(matches!(refused, Err(TensorError::NotA { .. })), "{refused:?}");
    }
    assert!(image.is_multiplane());
    assert_eq!(flat(&image), before);
}

// S-MP-06, D-02, D-03
#[test]
fn a_blob_carries_every_plane_by_reference_and_inline() {
    let image = nv12();
    let (blob, fds) = export(&image, TransportMode::Reference).unwrap();
    assert_eq!(fds.len(), 2);
    let referenced = import(&blob, &fds).unwrap();
    assert!(referenced.is_multiplane());
    assert_eq!(referenced.image_layout().unwrap().planes(), image.image_layout().unwrap().planes());
    let (blob, fds) = export(&image, TransportMode::Inline).unwrap();
    assert!(fds.is_empty());
    let copied = import(&blob, &[]).unwrap();
    for same in [referenced, copied] {
        assert_eq!((same.width(), same.height()), (Some(64), Some(36)));
        assert_eq!(flat(&same), flat(&image));
    }
}
