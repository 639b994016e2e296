//! The blobs that are kept as files: those of the published crate are read, ours are written again.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use std::{env, fs, path::PathBuf};

use tensor_core::{
    BlobView, ColorEncoding, ColorRange, CpuAccess, DType, ImageDesc, ImageLayout, Memory,
    PixelFormat, PlanePlacement, QuantMode, Region, TensorDyn, TensorMemory,
    transfer::{TransportMode, describe, export, import},
};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/blob").join(name)
}

fn read(name: &str) -> TensorDyn {
    import(&fs::read(file(name)).unwrap(), &[]).unwrap()
}

fn flat(tensor: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).unwrap();
    flat
}

// S-IPC-01, S-BLOB-01: shape, strides and planes as the published crate writes them.
#[test]
fn the_published_nv12() {
    let tensor = read("theirs-nv12.blob");
    assert_eq!((tensor.format(), &tensor.shape()[..]), (Some(PixelFormat::Nv12), &[4, 8][..]));
    let planes = tensor.image_layout().unwrap().planes();
    assert_eq!(planes.iter().map(|p| (p.offset, p.stride)).collect::<Vec<_>>(), [(0, 8), (32, 8)]);
    let colours = tensor.colorimetry();
    let expected = (Some(ColorEncoding::Bt601), Some(ColorRange::Limited));
    assert_eq!((colours.encoding, colours.range), expected);
    assert_eq!(flat(&tensor), (0..48).collect::<Vec<u8>>());
}

#[test]
fn the_published_quantization() {
    let tensor = read("theirs-rgb-per-channel.blob");
    let quantization = tensor.quantization().unwrap();
    let QuantMode::PerChannel { scales, zero_points, axis } = quantization.mode() else {
        panic!("{quantization:?}");
    };
    assert_eq!((scales, zero_points, axis), (&[0.5, 1.0, 2.0][..], &[0, 128, 255][..], 2));
    assert_eq!(flat(&tensor), (0..24).collect::<Vec<u8>>());
}

#[test]
fn the_published_floats() {
    let tensor = read("theirs-f32.blob");
    assert_eq!((tensor.dtype(), &tensor.shape()[..]), (DType::F32, &[2, 3][..]));
    let numbers: Vec<u8> = (0_u8..6).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    assert_eq!(flat(&tensor), numbers);
}

/// Compares with the file, or writes it when asked to.
#[expect(clippy::disallowed_methods, reason = "whoever asks for new files says so")]
fn assert_written(name: &str, blob: &[u8]) {
    if env::var_os("BLESS").is_some() {
        fs::write(file(name), blob).unwrap();
    }
    assert_eq!(fs::read(file(name)).unwrap(), blob, "{name}");
}

#[test]
fn our_frame_in_two_memories() {
    let planes = [
        PlanePlacement { memory: 0, offset: 128, stride: 96 },
        PlanePlacement { memory: 1, offset: 0, stride: 128 },
    ];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let memories = [Memory::shm(4096).unwrap(), Memory::shm(4096).unwrap()];
    let tensor = TensorDyn::from_image(layout, memories, CpuAccess::ReadWrite).unwrap();
    assert_written("ours-nv12-two-memories.blob", &describe(&tensor, &[0, 1]).unwrap());
}

#[test]
fn our_view() {
    let desc = ImageDesc::new(PixelFormat::Rgb, 4, 4).with_memory(TensorMemory::Mem);
    let frame = TensorDyn::image_desc(&desc).unwrap();
    for (at, byte) in (0_u8..).zip(frame.map_write().unwrap().plane_mut(0).unwrap()) {
        *byte = at;
    }
    let view = frame.view(Region::new(1, 1, 2, 2)).unwrap();
    let (blob, _) = export(&view, TransportMode::Inline).unwrap();
    assert!(BlobView::parse(&blob).unwrap().extension().is_view);
    assert_written("ours-view.blob", &blob);
}
