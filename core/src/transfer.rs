//! Tensors as blobs and back.
//!
//! A blob names memories by handle and never says what a handle is: beside a socket it is an index
//! into the fds that travel along, on a GStreamer buffer an index into the buffer's own memories.
//! So these functions take the numbers to write and give back the numbers found; who holds the
//! memories opens them.

use std::os::fd::AsRawFd;

use arrayvec::ArrayVec;
use thiserror::Error;

use crate::{
    blob::{BlobError, BlobSpec, BlobView, Extension, PlaneRecord, QUANT_NONE, QUANT_PER_TENSOR},
    colorimetry::Colorimetry,
    desc::TensorDesc,
    dtype::DType,
    format::{MAX_PLANES, PixelFormat, PixelLayout, V4l2Fourcc},
    layout::{ImageLayout, LayoutError, PlanePlacement, c_byte_strides},
    memory::Memory,
    memory_kind::TensorMemory,
    quantization::Quantization,
    shape::{MAX_RANK, Shape, Strides},
    tensor::{Layout, TensorDyn},
};

/// Why a tensor cannot be written as a blob, or a blob read as a tensor.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TransferError {
    /// The blob is refused.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The layout is refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The tensor is no single image.
    #[error("a blob by reference describes one image; this tensor has shape {shape:?}")]
    NotAnImage {
        /// The tensor's shape.
        shape: Shape,
    },
    /// A memory has no handle.
    #[error("the image lies in {memories} memories, {handles} handles were given")]
    Handles {
        /// Memories of the image.
        memories: usize,
        /// Handles given.
        handles: usize,
    },
    /// The blob describes no image.
    #[error("the blob names no pixel format; only images can be rebuilt by reference")]
    NoFormat,
    /// The planes are carried in the blob itself.
    #[error("the blob carries its planes inline; it references no memory")]
    Inline,
    /// The shape is not one of the format.
    #[error("shape {shape:?} is not that of a {format} image")]
    Shape {
        /// The format named.
        format: PixelFormat,
        /// The shape found.
        shape: Vec<u64>,
    },
    /// The dtype is not that of the format.
    #[error("the blob says {dtype} samples, {format} has {expected}")]
    DType {
        /// The format named.
        format: PixelFormat,
        /// The format's sample type.
        expected: DType,
        /// The type found.
        dtype: DType,
    },
    /// A descriptor has one handle.
    #[error("the tensor lies in {memories} memories; a descriptor has one handle, send a blob")]
    SeveralMemories {
        /// Memories of the tensor.
        memories: usize,
    },
    /// A kind of memory without an fd.
    #[error("memory of kind {kind} has no fd to put into a descriptor")]
    NoHandle {
        /// The kind.
        kind: TensorMemory,
    },
    /// The strides contradict the plane records.
    #[error("the blob's strides do not agree with the stride of its first plane, {stride} bytes")]
    Strides {
        /// The first plane's stride.
        stride: usize,
    },
}

/// What a blob says of an image, apart from whose memory it is in.
#[derive(Clone, Copy, Debug)]
pub struct ImageDescription<'a> {
    /// Where the planes lie.
    pub layout: &'a ImageLayout,
    /// The kind of all its memories.
    pub kind: TensorMemory,
    /// The real length of each memory, in bytes.
    pub memory_lens: &'a [usize],
    /// What is known of its colours.
    pub colorimetry: Colorimetry,
    /// How its integers stand for real numbers.
    pub quantization: Option<&'a Quantization>,
}

impl ImageDescription<'_> {
    /// The description as a blob whose planes name memory `m` as `handles[m]`.
    ///
    /// # Errors
    /// [`TransferError::Handles`] unless there is a handle for each memory.
    pub fn to_blob(&self, handles: &[i64]) -> Result<Vec<u8>, TransferError> {
        let shape: ArrayVec<u64, MAX_RANK> =
            self.layout.shape().iter().filter_map(|dim| u64::try_from(*dim).ok()).collect();
        let strides: ArrayVec<i64, MAX_RANK> =
            self.layout.strides()?.iter().filter_map(|step| i64::try_from(*step).ok()).collect();
        let is_dense = self.layout.strides()? == self.layout.dense_strides()?;
        let quantization = self.quantization;
        let spec = BlobSpec {
            storage_kind: self.kind,
            pid: 0,
            fence_fd: None,
            dtype: self.layout.format().dtype(),
            shape: &shape,
            strides: (!is_dense).then_some(&strides),
            quant_axis: quant_axis(quantization),
            quant_scales: quantization.map_or(&[], Quantization::scales),
            quant_zero_points: quantization.map_or(&[], Quantization::zero_points),
            format: Some(self.layout.format()),
            colorimetry: self.colorimetry,
            planes: &self.records(handles)?,
            extension: Extension::default(),
        };
        Ok(spec.to_bytes()?)
    }

    fn records(
        &self,
        handles: &[i64],
    ) -> Result<ArrayVec<PlaneRecord<'static>, MAX_PLANES>, TransferError> {
        let wide = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let missing =
            || TransferError::Handles { memories: self.layout.memories(), handles: handles.len() };
        let record = |(plane, place): (usize, &PlanePlacement)| {
            let used = self.layout.plane_len(plane);
            let padded = place.stride.saturating_mul(self.layout.rows(plane));
            let len = self.memory_lens.get(place.memory).copied().unwrap_or(usize::MAX);
            // The padding after the last row may be missing from the memory.
            let size = padded.min(len.saturating_sub(place.offset)).max(used);
            Ok(PlaneRecord {
                handle: *handles.get(place.memory).ok_or_else(missing)?,
                offset: wide(place.offset),
                stride: wide(place.stride),
                size: wide(size),
                used: wide(used),
                modifier: 0,
                handle_bytes: &[],
                data: &[],
            })
        };
        self.layout.planes().iter().enumerate().map(record).collect()
    }
}

/// A tensor's blob, with `handles[m]` for its memory `m`.
///
/// # Errors
/// [`TransferError::Handles`] unless there is a handle for each memory,
/// [`TransferError::NotAnImage`] for a batch or a tensor that is no image.
pub fn describe(tensor: &TensorDyn, handles: &[i64]) -> Result<Vec<u8>, TransferError> {
    let memory_lens: ArrayVec<usize, MAX_PLANES> =
        tensor.memories().iter().map(Memory::len).collect();
    let Layout::Image(layout) = tensor.layout() else {
        return Err(TransferError::NotAnImage { shape: tensor.shape().clone() });
    };
    ImageDescription {
        layout,
        kind: tensor.memory(),
        memory_lens: &memory_lens,
        colorimetry: tensor.colorimetry(),
        quantization: tensor.quantization(),
    }
    .to_blob(handles)
}

/// A tensor's descriptor, borrowing its handle.
///
/// # Errors
/// [`TransferError::SeveralMemories`], [`TransferError::NoHandle`] for memory without an fd, and
/// [`TransferError::Layout`] for a format whose allocation has no single grid of rows.
pub fn descriptor(tensor: &TensorDyn) -> Result<TensorDesc, TransferError> {
    let [memory] = tensor.memories() else {
        return Err(TransferError::SeveralMemories { memories: tensor.memories().len() });
    };
    let kind = memory.kind();
    let fd = memory.fd().ok_or(TransferError::NoHandle { kind })?;
    let (shape, strides) = allocation_of(tensor)?;
    let mut desc = TensorDesc {
        kind: kind.code(),
        handle: fd.as_raw_fd().into(),
        dtype: tensor.dtype().code(),
        ndim: u32::try_from(shape.len()).unwrap_or(u32::MAX),
        fourcc: tensor.format().and_then(PixelFormat::v4l2_fourcc).map_or(0, V4l2Fourcc::code),
        format: tensor.format().map_or(0, PixelFormat::code),
        colorimetry: tensor.colorimetry().pack(),
        flags: TensorDesc::flags_of(tensor.access(), tensor.is_view()),
        capacity: u64::try_from(memory.len()).unwrap_or(u64::MAX),
        ..TensorDesc::empty()
    };
    for (slot, dim) in desc.shape.iter_mut().zip(shape.iter()) {
        *slot = u64::try_from(*dim).unwrap_or(u64::MAX);
    }
    for (slot, step) in desc.strides.iter_mut().zip(strides.iter()) {
        *slot = i64::try_from(*step).unwrap_or(i64::MAX);
    }
    Ok(desc)
}

/// Shape and strides of a tensor's allocation: a descriptor has no plane table, so chroma is rows.
fn allocation_of(tensor: &TensorDyn) -> Result<(Shape, Strides), TransferError> {
    let Layout::Image(image) = tensor.layout() else {
        return Ok((tensor.shape().clone(), tensor.strides().clone()));
    };
    let (format, width, height) = (image.format(), image.width(), image.height());
    let overflow = LayoutError::Overflow { format, width, height, plane: 0 };
    let shape = format.allocation_shape(width, height).ok_or(overflow)?;
    let row_axis = usize::from(format.layout() == PixelLayout::Planar);
    let row_stride = image.planes().first().map(|place| place.stride);
    let strides = c_byte_strides(&shape, format.dtype().size_bytes(), row_axis, row_stride)?;
    Ok((shape, strides))
}

fn quant_axis(quantization: Option<&Quantization>) -> i32 {
    match quantization.map(|quantization| (quantization.scales(), quantization.axis())) {
        None => QUANT_NONE,
        // One scale needs no axis, and the published reader takes none.
        Some((_, None) | ([_], _)) => QUANT_PER_TENSOR,
        Some((_, Some(axis))) => i32::try_from(axis).unwrap_or(i32::MAX),
    }
}

/// An image that a blob describes by reference: its layout, and the handle of each memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencedImage {
    /// Where the planes lie; memory `m` is the one with handle `handles[m]`.
    pub layout: ImageLayout,
    /// The handles, in the order the layout numbers the memories.
    pub handles: ArrayVec<i64, MAX_PLANES>,
}

impl ReferencedImage {
    /// Reads the image out of a parsed blob.
    ///
    /// # Errors
    /// See [`TransferError`]: no format, inline planes, a tiled modifier, a shape or strides that
    /// contradict the rest, a layout that cannot be.
    pub fn of(view: &BlobView<'_>) -> Result<Self, TransferError> {
        let format = view.format().ok_or(TransferError::NoFormat)?;
        if view.is_inline() {
            return Err(TransferError::Inline);
        }
        let (dtype, expected) = (view.dtype(), format.dtype());
        if dtype != expected {
            return Err(TransferError::DType { format, expected, dtype });
        }
        let (width, height) = size_of_image(format, view)?;
        let (placements, handles) = placements(format, view)?;
        let layout = ImageLayout::from_planes(format, width, height, &placements)?;
        check_strides(&layout, view)?;
        Ok(Self { layout, handles })
    }
}

/// The size in pixels that the blob's shape stands for.
fn size_of_image(
    format: PixelFormat,
    view: &BlobView<'_>,
) -> Result<(usize, usize), TransferError> {
    let refuse = || TransferError::Shape { format, shape: view.shape().collect() };
    let dims: Vec<usize> =
        view.shape().map(usize::try_from).collect::<Result<_, _>>().map_err(|_| refuse())?;
    let (height, width) = match (format.layout(), dims.as_slice()) {
        (PixelLayout::Planar, [_, height, width]) | (_, [height, width, ..]) => (*height, *width),
        _ => return Err(refuse()),
    };
    let matches = Shape::new(&dims) == Some(format.addressing_shape(width, height));
    if matches { Ok((width, height)) } else { Err(refuse()) }
}

type Placements = (ArrayVec<PlanePlacement, MAX_PLANES>, ArrayVec<i64, MAX_PLANES>);

/// Where the planes lie, with memories numbered as the planes first name them.
fn placements(format: PixelFormat, view: &BlobView<'_>) -> Result<Placements, TransferError> {
    let (expected, given) = (format.planes().len(), view.planes().len());
    if given != expected {
        return Err(LayoutError::PlaneCount { format, expected, given }.into());
    }
    let (mut placements, mut handles) = (ArrayVec::new(), ArrayVec::<i64, MAX_PLANES>::new());
    for record in view.planes() {
        record.require_linear()?;
        let memory = handles.iter().position(|known| *known == record.handle);
        let memory = memory.unwrap_or_else(|| {
            handles.push(record.handle);
            handles.len().saturating_sub(1)
        });
        // A number past the address space is past every memory too, and is refused as that.
        let narrow = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let (offset, stride) = (narrow(record.offset), narrow(record.stride));
        placements.push(PlanePlacement { memory, offset, stride });
    }
    Ok((placements, handles))
}

fn check_strides(layout: &ImageLayout, view: &BlobView<'_>) -> Result<(), TransferError> {
    let Some(given) = view.strides() else { return Ok(()) };
    let own = layout.strides()?;
    let own = own.iter().map(|step| i64::try_from(*step).unwrap_or(i64::MAX));
    let stride = layout.planes().first().map_or(0, |place| place.stride);
    if given.eq(own) { Ok(()) } else { Err(TransferError::Strides { stride }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        access::CpuAccess, colorimetry::ColorRange, layout::StrideAlign, tensor::ImageDesc,
    };

    fn two_memory_nv12() -> TensorDyn {
        let planes = [
            PlanePlacement { memory: 0, offset: 128, stride: 96 },
            PlanePlacement { memory: 1, offset: 0, stride: 128 },
        ];
        let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
        let memories = [Memory::shm(4096).unwrap(), Memory::shm(4096).unwrap()];
        let colorimetry = Colorimetry { range: Some(ColorRange::Limited), ..Default::default() };
        TensorDyn::from_image(layout, memories, CpuAccess::Read)
            .unwrap()
            .with_colorimetry(colorimetry)
    }

    // S-MODE-03, S-MODE-04
    #[test]
    fn every_plane_keeps_its_handle_offset_and_stride() {
        let tensor = two_memory_nv12();
        let blob = describe(&tensor, &[3, 7]).unwrap();
        let view = BlobView::parse(&blob).unwrap();
        let planes: Vec<_> = view.planes().map(|p| (p.handle, p.offset, p.stride)).collect();
        assert_eq!(planes, [(3, 128, 96), (7, 0, 128)]);
        let used: Vec<_> = view.planes().map(|p| (p.size, p.used)).collect();
        assert_eq!(used, [(96 * 36, 96 * 35 + 64), (128 * 18, 128 * 17 + 64)]);
        assert_eq!((view.pid(), view.storage_kind()), (0, TensorMemory::Shm));

        let image = ReferencedImage::of(&view).unwrap();
        assert_eq!(&image.layout, tensor.image_layout().unwrap());
        assert_eq!(&image.handles[..], [3, 7]);
        assert_eq!(view.colorimetry(), tensor.colorimetry());
    }

    #[test]
    fn every_format_goes_there_and_back() {
        for format in PixelFormat::ALL.iter().copied() {
            for (width, height) in [(64, 36), (33, 7), (1, 1)] {
                let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
                let memory = Memory::heap(layout.allocation_len(0)).unwrap();
                let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
                let blob = describe(&tensor, &[0]).unwrap();
                let image = ReferencedImage::of(&BlobView::parse(&blob).unwrap()).unwrap();
                assert_eq!(
                    &image.layout,
                    tensor.image_layout().unwrap(),
                    "{format} {width}x{height}"
                );
            }
        }
    }

    // S-BLOB-06, S-BLOB-14
    #[test]
    fn a_dense_image_says_so_in_184_bytes() {
        let layout = ImageLayout::packed(PixelFormat::Rgba, 640, 480, StrideAlign::NONE).unwrap();
        let memory = Memory::shm(layout.allocation_len(0)).unwrap();
        let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
        let blob = describe(&tensor, &[0]).unwrap();
        assert_eq!(blob.len(), 184);
        assert!(BlobView::parse(&blob).unwrap().strides().is_none());
    }

    #[test]
    fn padding_missing_after_the_last_row_is_not_claimed() {
        let planes = [PlanePlacement { memory: 0, offset: 0, stride: 128 }];
        let layout = ImageLayout::from_planes(PixelFormat::Grey, 100, 4, &planes).unwrap();
        let memory = Memory::heap(128 * 3 + 100).unwrap();
        let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
        let blob = describe(&tensor, &[0]).unwrap();
        let record = BlobView::parse(&blob).unwrap().plane(0).unwrap();
        assert_eq!((record.size, record.used), (484, 484));
    }

    // S-GEO-13
    #[test]
    fn every_surface_gives_the_same_strides() {
        let shm = |format, width, height, stride| {
            let layout = ImageLayout::with_row_stride(format, width, height, stride).unwrap();
            let memory = Memory::shm(layout.allocation_len(0)).unwrap();
            TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap()
        };
        let layouts = [
            (shm(PixelFormat::Rgba, 321, 4, 1344), vec![1344, 4, 1]),
            (shm(PixelFormat::Nv12, 640, 480, 704), vec![704, 1]),
            (shm(PixelFormat::PlanarRgb, 321, 4, 384), vec![1536, 384, 1]),
        ];
        for (tensor, strides) in layouts {
            let desc = descriptor(&tensor).unwrap();
            let blob = describe(&tensor, &[0]).unwrap();
            let of_blob: Vec<_> = BlobView::parse(&blob).unwrap().strides().unwrap().collect();
            assert_eq!(desc.strides[..strides.len()], strides);
            assert_eq!(of_blob, strides);
            assert!(tensor.strides().iter().zip(&strides).all(|(a, b)| *a as i64 == *b));
        }
        let batch = ImageDesc::new(PixelFormat::Rgba, 321, 4).with_memory(TensorMemory::Shm);
        let batch = TensorDyn::image_desc(&batch.with_row_stride(1344).with_batch(2)).unwrap();
        assert_eq!(batch.strides()[..], [5376, 1344, 4, 1]);
        assert_eq!(descriptor(&batch).unwrap().strides[..4], [5376, 1344, 4, 1]);
    }

    // D-04
    #[test]
    fn a_descriptor_has_one_handle_and_the_shape_of_the_allocation() {
        let two = descriptor(&two_memory_nv12());
        assert_eq!(two, Err(TransferError::SeveralMemories { memories: 2 }));
        let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
        let memories = [Memory::shm(460_800).unwrap(), Memory::heap(460_800).unwrap()];
        let [shm, heap] = memories.map(|memory| {
            descriptor(&TensorDyn::from_image(layout.clone(), [memory], CpuAccess::Read).unwrap())
        });
        let desc = shm.unwrap();
        assert_eq!((desc.shape[..2].to_vec(), desc.ndim), (vec![720, 640], 2));
        assert_eq!((desc.fourcc, desc.access()), (u32::from_le_bytes(*b"NV12"), CpuAccess::Read));
        assert!(desc.capacity >= 460_800 && desc.handle >= 0);
        assert_eq!(heap, Err(TransferError::NoHandle { kind: TensorMemory::Mem }));
    }

    #[test]
    fn a_memory_without_a_handle_is_refused() {
        let error = describe(&two_memory_nv12(), &[0]).unwrap_err();
        assert_eq!(error, TransferError::Handles { memories: 2, handles: 1 });
    }

    // D-08
    #[test]
    fn what_contradicts_itself_is_refused() {
        let blob = describe(&two_memory_nv12(), &[0, 1]).unwrap();
        let view = BlobView::parse(&blob).unwrap();
        let (shape, strides) = (view.shape().collect::<Vec<_>>(), [96, 1]);
        let planes: Vec<_> = view.planes().collect();
        let spec = BlobSpec {
            storage_kind: TensorMemory::Shm,
            pid: 0,
            fence_fd: None,
            dtype: DType::U8,
            shape: &shape,
            strides: Some(&strides),
            quant_axis: QUANT_NONE,
            quant_scales: &[],
            quant_zero_points: &[],
            format: Some(PixelFormat::Nv12),
            colorimetry: Colorimetry::default(),
            planes: &planes,
            extension: Extension::default(),
        };
        let read = |spec: BlobSpec<'_>| {
            let blob = spec.to_bytes().unwrap();
            ReferencedImage::of(&BlobView::parse(&blob).unwrap())
        };
        assert!(read(spec).is_ok());

        let wrong = BlobSpec { strides: Some(&[100, 1]), ..spec };
        assert_eq!(read(wrong), Err(TransferError::Strides { stride: 96 }));
        let wrong = BlobSpec { shape: &[36, 64, 3], strides: None, ..spec };
        assert!(matches!(read(wrong), Err(TransferError::Shape { .. })));
        let wrong = BlobSpec { dtype: DType::F32, ..spec };
        assert!(matches!(read(wrong), Err(TransferError::DType { .. })));
        let wrong = BlobSpec { format: None, ..spec };
        assert_eq!(read(wrong), Err(TransferError::NoFormat));
        let tiled: Vec<_> = planes.iter().map(|p| PlaneRecord { modifier: 1, ..*p }).collect();
        let wrong = BlobSpec { planes: &tiled, ..spec };
        assert!(matches!(read(wrong), Err(TransferError::Blob(_))));
        let far: Vec<_> = planes.iter().map(|p| PlaneRecord { offset: u64::MAX, ..*p }).collect();
        let wrong = BlobSpec { planes: &far, ..spec };
        assert!(matches!(read(wrong), Err(TransferError::Layout(_))));
    }
}
