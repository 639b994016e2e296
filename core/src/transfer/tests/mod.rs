//! Tests of the transfer, by what they try.

mod description;
mod descriptor;
mod inline;
mod reference;
mod refusals;

use super::*;
use crate::{
    access::CpuAccess,
    blob::{BlobSpec, BlobView, Extension, PlaneRecord, QUANT_NONE},
    colorimetry::{ColorRange, Colorimetry},
    dtype::DType,
    format::PixelFormat,
    layout::{ImageLayout, PlanePlacement, StrideAlign},
    memory::Memory,
    memory_kind::TensorMemory,
    shape::{Region, Shape},
    tensor::{ImageDesc, TensorDyn},
};

fn two_memory_nv12() -> TensorDyn {
    let planes = [
        PlanePlacement { memory: 0, offset: 128, stride: 96 },
        PlanePlacement { memory: 1, offset: 0, stride: 128 },
    ];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let memories = [Memory::shm(4096).unwrap(), Memory::shm(4096).unwrap()];
    let colorimetry = Colorimetry { range: Some(ColorRange::Limited), ..Default::default() };
    TensorDyn::from_image(layout, memories, CpuAccess::Read).unwrap().with_colorimetry(colorimetry)
}

/// An image of `kind` whose rows are `stride` bytes apart.
fn image(
    kind: TensorMemory,
    format: PixelFormat,
    size: (usize, usize),
    stride: usize,
) -> TensorDyn {
    let desc = ImageDesc::new(format, size.0, size.1).with_memory(kind).with_row_stride(stride);
    TensorDyn::image_desc(&desc).unwrap()
}

/// A tensor of bytes that is no image.
fn raw(shape: &[usize], dtype: DType, memory: Memory) -> TensorDyn {
    let layout =
        crate::layout::StridedLayout::dense(&Shape::new(shape).unwrap(), dtype.size_bytes());
    let layout = crate::tensor::Layout::Strided(layout.unwrap());
    TensorDyn::from_memories(layout, dtype, [memory], CpuAccess::ReadWrite).unwrap()
}

/// Fills every byte of every memory with numbers that do not repeat soon.
fn fill(tensor: &TensorDyn) {
    for (index, memory) in tensor.memories().iter().enumerate() {
        let mut map = memory.map(CpuAccess::ReadWrite).unwrap();
        for (at, byte) in map.as_mut_slice().unwrap().iter_mut().enumerate() {
            *byte = u8::try_from((at * 31 + at / 251 + index * 7) % 251).unwrap();
        }
    }
}

/// The elements alone.
fn flat(tensor: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).unwrap();
    flat
}

/// Exports and imports again, as two processes would.
fn travel(tensor: &TensorDyn, mode: TransportMode) -> TensorDyn {
    let (blob, fds) = export(tensor, mode).unwrap();
    import(&blob, &fds).unwrap()
}

/// Checks that everything which a tensor says of itself is said by the other.
fn assert_same(a: &TensorDyn, b: &TensorDyn) {
    assert_eq!((a.shape(), a.dtype(), a.format()), (b.shape(), b.dtype(), b.format()));
    assert_eq!((a.colorimetry(), a.quantization()), (b.colorimetry(), b.quantization()));
    assert_eq!((a.access(), a.is_view()), (b.access(), b.is_view()));
    assert_eq!(a.name(), b.name());
}
