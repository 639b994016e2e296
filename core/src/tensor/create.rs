//! New tensors, and tensors over descriptors.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Layout, TensorDyn, TensorError};
use crate::{
    access::CpuAccess,
    compression::Compression,
    dtype::DType,
    format::PixelFormat,
    layout::{BatchLayout, ImageLayout, PlanePlacement, StridedLayout, default_align},
    memory::{AlignmentError, AllocPolicy, Memory},
    memory_kind::TensorMemory,
    shape::Shape,
};

/// Images that asked for any compression and came out linear.
static COMPRESSION_FALLBACKS: AtomicU64 = AtomicU64::new(0);

/// How many images of this process asked for [`Compression::Any`] and came out with linear rows.
///
/// ```
/// use tensor_core::{Compression, CpuAccess, ImageDesc, PixelFormat, TensorDyn};
/// let desc = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_access(CpuAccess::None);
/// let before = tensor_core::tensor::compression_fallback_count();
/// TensorDyn::image_desc(&desc.with_compression(Compression::Any))?;
/// assert_eq!(tensor_core::tensor::compression_fallback_count(), before + 1);
/// # Ok::<(), tensor_core::TensorError>(())
/// ```
#[must_use]
pub fn compression_fallback_count() -> u64 {
    COMPRESSION_FALLBACKS.load(Ordering::Relaxed)
}

/// What an image should be; see [`TensorDyn::image_desc`].
///
/// ```
/// use tensor_core::{CpuAccess, ImageDesc, PixelFormat, TensorDyn, TensorMemory};
/// let desc = ImageDesc::new(PixelFormat::Nv12, 640, 480)
///     .with_access(CpuAccess::Read)
///     .with_memory(TensorMemory::Shm);
/// assert_eq!(TensorDyn::image_desc(&desc)?.memory(), TensorMemory::Shm);
/// # Ok::<(), tensor_core::TensorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImageDesc {
    format: PixelFormat,
    width: usize,
    height: usize,
    batch: Option<usize>,
    access: CpuAccess,
    row_stride: Option<usize>,
    policy: AllocPolicy,
    memory: Option<TensorMemory>,
    compression: Option<Compression>,
}

impl ImageDesc {
    /// An image in the best memory there is, for reading and writing, with linear rows.
    #[must_use]
    pub fn new(format: PixelFormat, width: usize, height: usize) -> Self {
        Self {
            format,
            width,
            height,
            batch: None,
            access: CpuAccess::default(),
            row_stride: None,
            policy: AllocPolicy::image(),
            memory: None,
            compression: None,
        }
    }

    /// What the CPU will do with it.
    #[must_use]
    pub fn with_access(mut self, access: CpuAccess) -> Self {
        self.access = access;
        self
    }

    /// Rows of the first plane this many bytes apart.
    #[must_use]
    pub fn with_row_stride(mut self, bytes: usize) -> Self {
        self.row_stride = Some(bytes);
        self
    }

    /// `count` such images, one after the other.
    #[must_use]
    pub fn with_batch(mut self, count: usize) -> Self {
        self.batch = Some(count);
        self
    }

    /// In memory of this kind or not at all.
    #[must_use]
    pub fn with_memory(mut self, kind: TensorMemory) -> Self {
        self.memory = Some(kind);
        self
    }

    /// In memory that this policy finds.
    #[must_use]
    pub fn with_policy(mut self, policy: AllocPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// In one run of physical pages or not at all.
    #[must_use]
    pub fn with_contiguous(mut self, contiguous: bool) -> Self {
        if contiguous {
            self.policy = self.policy.contiguous();
        }
        self
    }

    /// At a multiple of `align` bytes; see [`AllocPolicy::with_alignment`].
    ///
    /// # Errors
    /// [`AlignmentError`] when `align` is no power of two.
    pub fn with_alignment(mut self, align: usize) -> Result<Self, AlignmentError> {
        self.policy = self.policy.with_alignment(align)?;
        Ok(self)
    }

    /// In the device's compressed tiles; goes with [`CpuAccess::None`] alone.
    ///
    /// [`Compression::Any`] never fails for want of tiles: the image then has linear rows and is
    /// counted by [`compression_fallback_count`].
    #[must_use]
    pub fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = Some(compression);
        self
    }

    fn check_compression(&self) -> Result<(), TensorError> {
        let access = self.access;
        match self.compression {
            Some(_) if access != CpuAccess::None => Err(TensorError::CompressionAccess { access }),
            Some(Compression::Scheme(scheme)) => Err(TensorError::Compression { scheme }),
            // Linux has no allocator of compressed tiles: what asked for any gets linear rows.
            Some(Compression::Any) | None => Ok(()),
        }
    }

    /// The layout of one image in memory of `kind`.
    fn layout_in(&self, kind: TensorMemory) -> Result<ImageLayout, TensorError> {
        let (format, width, height) = (self.format, self.width, self.height);
        Ok(match self.row_stride {
            Some(stride) => ImageLayout::with_row_stride(format, width, height, stride)?,
            None => ImageLayout::packed(format, width, height, default_align(kind, format))?,
        })
    }

    fn whole_in(&self, kind: TensorMemory) -> Result<(Layout, usize), TensorError> {
        let image = self.layout_in(kind)?;
        Ok(match self.batch {
            None => {
                let len = image.allocation_len(0);
                (Layout::Image(image), len)
            }
            Some(count) => {
                let batch = BatchLayout::stacked(image, count)?;
                let len = batch.allocation_len();
                (Layout::Batch(batch), len)
            }
        })
    }
}

/// One plane of a frame in descriptors: a duplicate of the descriptor, and where the plane is.
#[derive(Debug)]
pub struct PlaneDescriptor {
    fd: OwnedFd,
    offset: usize,
    stride: usize,
}

impl PlaneDescriptor {
    /// The plane that begins at byte `offset` of the file behind `fd`, with rows `stride` bytes
    /// apart. The caller's descriptor stays the caller's.
    ///
    /// # Errors
    /// [`TensorError::Dup`] when the descriptor cannot be duplicated.
    pub fn new(fd: BorrowedFd<'_>, offset: usize, stride: usize) -> Result<Self, TensorError> {
        Ok(Self { fd: fd.try_clone_to_owned().map_err(TensorError::Dup)?, offset, stride })
    }
}

impl TensorDyn {
    /// A new tensor of zeros in the first memory that `policy` finds.
    ///
    /// # Errors
    /// [`TensorError::Strided`] for a shape that does not fit the address space,
    /// [`TensorError::Alloc`] with every step that was tried.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, DType, Shape, TensorDyn, memory::AllocPolicy};
    /// let shape = Shape::new(&[1, 1000]).unwrap();
    /// let scores =
    ///     TensorDyn::new(&shape, DType::F32, &AllocPolicy::default(), CpuAccess::ReadWrite)?;
    /// assert_eq!(scores.strides()?[..], [4000, 4]);
    /// # Ok::<(), tensor_core::TensorError>(())
    /// ```
    pub fn new(
        shape: &Shape,
        dtype: DType,
        policy: &AllocPolicy,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let layout = StridedLayout::dense(shape, dtype.size_bytes())?;
        // A tensor without elements has a memory all the same, and with it an identity.
        let memory = policy.allocate(layout.required_len().max(1), access)?.memory;
        Self::from_memories(Layout::Strided(layout), dtype, [memory], access)
    }

    /// A new image in the best memory there is.
    ///
    /// # Errors
    /// As for [`image_desc`](Self::image_desc).
    pub fn image(
        format: PixelFormat,
        width: usize,
        height: usize,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        Self::image_desc(&ImageDesc::new(format, width, height).with_access(access))
    }

    /// A new image whose rows are `row_stride` bytes apart.
    ///
    /// # Errors
    /// As for [`image_desc`](Self::image_desc).
    pub fn image_with_stride(
        format: PixelFormat,
        width: usize,
        height: usize,
        row_stride: usize,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let desc = ImageDesc::new(format, width, height).with_access(access);
        Self::image_desc(&desc.with_row_stride(row_stride))
    }

    /// A new image as described. In a dma-buf every row is 64-byte aligned, in plain memory rows
    /// follow each other, unless the description says otherwise.
    ///
    /// # Errors
    /// [`TensorError::Layout`] for a size or stride that cannot be, [`TensorError::Alloc`] with
    /// every step that was tried, [`TensorError::Unsupported`] for a kind of memory that this build
    /// cannot allocate, [`TensorError::CompressionAccess`] and [`TensorError::Compression`].
    pub fn image_desc(desc: &ImageDesc) -> Result<Self, TensorError> {
        desc.check_compression()?;
        let policy = match desc.memory {
            None => desc.policy.clone(),
            Some(kind) => desc.policy.clone().with_kind(kind).ok_or(unsupported(kind))?,
        };
        // Padded for a device, so that whatever is found is large enough.
        let (_, len) = desc.whole_in(TensorMemory::DmaBuf)?;
        let memory = policy.allocate(len, desc.access)?.memory;
        let (layout, _) = desc.whole_in(memory.kind())?;
        let image = Self::from_memories(layout, desc.format.dtype(), [memory], desc.access)?;
        if desc.compression == Some(Compression::Any) {
            COMPRESSION_FALLBACKS.fetch_add(1, Ordering::Relaxed);
        }
        Ok(image)
    }

    /// The elements from the start of the file behind `fd`, which is duplicated.
    ///
    /// # Errors
    /// [`TensorError::Import`] for a descriptor that is no memory, [`TensorError::Short`] when the
    /// file has fewer bytes than the tensor.
    pub fn from_fd(
        fd: BorrowedFd<'_>,
        shape: &Shape,
        dtype: DType,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let layout = StridedLayout::dense(shape, dtype.size_bytes())?;
        let memory = Memory::import(fd, access)?;
        Self::from_memories(Layout::Strided(layout), dtype, [memory], access)
    }

    /// An image whose planes lie in descriptors. Descriptors of one file are one memory, so that who
    /// writes one plane is known to whoever maps another, and planes may not overlap.
    ///
    /// # Errors
    /// [`TensorError::Layout`] for planes that cannot be, [`TensorError::Import`] for a descriptor
    /// that is no memory, [`TensorError::TooSmall`] for a plane past the end of its file.
    pub fn from_planes(
        format: PixelFormat,
        width: usize,
        height: usize,
        planes: &[PlaneDescriptor],
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let (mut places, mut memories) = (Vec::new(), Vec::<Memory>::new());
        for PlaneDescriptor { fd, offset, stride } in planes {
            let new = Memory::import(fd.as_fd(), access)?;
            let file = new.identity();
            let known = memories.iter().position(|one| file.is_some() && one.identity() == file);
            let memory = known.unwrap_or(memories.len());
            if known.is_none() {
                memories.push(new);
            }
            places.push(PlanePlacement { memory, offset: *offset, stride: *stride });
        }
        let layout = ImageLayout::from_planes(format, width, height, &places)?;
        Self::from_image(layout, memories, access)
    }

    /// The same memory as an image of another size or format: how a pooled buffer is used again.
    ///
    /// In a dma-buf rows stay 64-byte aligned, at the earlier stride where that serves.
    ///
    /// # Errors
    /// [`LayoutError::Capacity`](crate::LayoutError::Capacity) when the image does not fit,
    /// [`TensorError::NotA`] for a tensor in several memories.
    pub fn configure_image(
        &self,
        format: PixelFormat,
        width: usize,
        height: usize,
    ) -> Result<Self, TensorError> {
        let [memory] = self.memories() else {
            let what = "in several memories; import its planes anew";
            return Err(TensorError::NotA { shape: self.shape.clone(), what });
        };
        let align = default_align(memory.kind(), format);
        let earlier = self.image_layout().and_then(|image| image.planes().first());
        let earlier = earlier.map_or(0, |place| place.stride);
        let layout = if align == crate::layout::StrideAlign::NONE {
            ImageLayout::packed(format, width, height, align)?
        } else {
            ImageLayout::reconfigured(format, width, height, earlier, memory.len())?
        };
        let mut anew = Self::from_image(layout, [memory.clone()], self.access())?;
        Arc::make_mut(&mut anew.storage).identity = self.identity().clone();
        Ok(anew)
    }
}

fn unsupported(kind: TensorMemory) -> TensorError {
    let instead = match kind {
        TensorMemory::Pbo => "wrap a buffer of your GL context with Memory::pbo",
        TensorMemory::Cuda => "map a dma-buf or pixel buffer tensor for CUDA",
        TensorMemory::IoSurface | TensorMemory::D3d11Texture => "it belongs to another platform",
        TensorMemory::Mem | TensorMemory::Shm | TensorMemory::DmaBuf => "no policy serves it",
    };
    TensorError::Unsupported { kind, instead }
}

#[cfg(test)]
mod tests;
