//! Tensors that go from tensor-core to the published crate and back, and the other way.
//!
//! What both can express must come back equal. Where the two differ on purpose, `docs/blob.md` says
//! why, and a test here shows the difference.

mod blob;
mod descriptor;
mod differences;
mod golden;

use edgefirst_tensor as theirs;
use tensor_core::{
    self as ours,
    transfer::{TransportMode, export, import},
};
use theirs::TensorMapTrait as _;

/// The formats that both know.
const FORMATS: [(ours::PixelFormat, theirs::PixelFormat); 11] = [
    (ours::PixelFormat::Rgb, theirs::PixelFormat::Rgb),
    (ours::PixelFormat::Rgba, theirs::PixelFormat::Rgba),
    (ours::PixelFormat::Bgra, theirs::PixelFormat::Bgra),
    (ours::PixelFormat::Grey, theirs::PixelFormat::Grey),
    (ours::PixelFormat::Yuyv, theirs::PixelFormat::Yuyv),
    (ours::PixelFormat::Vyuy, theirs::PixelFormat::Vyuy),
    (ours::PixelFormat::Nv12, theirs::PixelFormat::Nv12),
    (ours::PixelFormat::Nv16, theirs::PixelFormat::Nv16),
    (ours::PixelFormat::PlanarRgb, theirs::PixelFormat::PlanarRgb),
    (ours::PixelFormat::PlanarRgba, theirs::PixelFormat::PlanarRgba),
    (ours::PixelFormat::Nv24, theirs::PixelFormat::Nv24),
];

/// The element types that both know.
const DTYPES: [(ours::DType, theirs::DType); 11] = [
    (ours::DType::U8, theirs::DType::U8),
    (ours::DType::I8, theirs::DType::I8),
    (ours::DType::U16, theirs::DType::U16),
    (ours::DType::I16, theirs::DType::I16),
    (ours::DType::U32, theirs::DType::U32),
    (ours::DType::I32, theirs::DType::I32),
    (ours::DType::U64, theirs::DType::U64),
    (ours::DType::I64, theirs::DType::I64),
    (ours::DType::F16, theirs::DType::F16),
    (ours::DType::F32, theirs::DType::F32),
    (ours::DType::F64, theirs::DType::F64),
];

/// Even and odd, but wide enough for a row of half as many chroma samples in whole bytes.
const SIZES: [(usize, usize); 3] = [(64, 48), (34, 7), (2, 1)];

/// One of our images, filled.
fn our_image(
    format: ours::PixelFormat,
    (width, height): (usize, usize),
    kind: ours::TensorMemory,
) -> ours::TensorDyn {
    let desc = ours::ImageDesc::new(format, width, height).with_memory(kind);
    let tensor = ours::TensorDyn::image_desc(&desc).expect("memory");
    fill(&tensor);
    tensor
}

fn fill(tensor: &ours::TensorDyn) {
    let mut map = tensor.map_write().expect("maps");
    for (at, byte) in map.memory_mut(0).expect("one memory").iter_mut().enumerate() {
        *byte = u8::try_from((at * 31 + at / 251) % 251).expect("below 251");
    }
}

fn our_bytes(tensor: &ours::TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).expect("maps");
    flat
}

/// One of their images, filled.
fn their_image(format: theirs::PixelFormat, (width, height): (usize, usize)) -> theirs::TensorDyn {
    let access = theirs::CpuAccess::ReadWrite;
    // Their own image constructor pads rows, and what is padded they do not export (D-01).
    let shape = format.allocation_shape(width, height).expect("shape");
    let memory = Some(theirs::TensorMemory::Mem);
    let tensor = theirs::TensorDyn::new(&shape, theirs::DType::U8, memory, None).expect("memory");
    let tensor = tensor.with_format(format).expect("is one");
    let mut map = tensor.map_bytes(access).expect("maps");
    for (at, byte) in map.as_mut_slice().iter_mut().enumerate() {
        *byte = u8::try_from((at * 17 + at / 241) % 241).expect("below 241");
    }
    drop(map);
    tensor
}

fn their_bytes(tensor: &theirs::TensorDyn) -> Vec<u8> {
    let map = tensor.map_bytes(theirs::CpuAccess::Read).expect("maps");
    map.as_slice().to_vec()
}

/// Inline, from us to them.
fn to_theirs(tensor: &ours::TensorDyn) -> theirs::TensorDyn {
    let (blob, _) = export(tensor, TransportMode::Inline).expect("exports");
    theirs::blob::import(&blob, &[]).expect("their import")
}

/// Inline, from them to us.
fn to_ours(tensor: &theirs::TensorDyn) -> ours::TensorDyn {
    let (blob, _) =
        theirs::blob::export(tensor, theirs::blob::TransportMode::Inline).expect("their export");
    import(&blob, &[]).expect("imports")
}
