//! Tensors: memories, a layout in them, and a description.

mod copy;
mod create;
mod element;
mod error;
mod identity;
mod layout;
mod map;
mod pin;
mod storage;
mod typed;
mod view;

use std::sync::Arc;

use arrayvec::ArrayVec;

pub use create::{ImageDesc, PlaneDescriptor, compression_fallback_count};
pub use element::Element;
pub use error::TensorError;
pub use identity::{BufferIdentity, WeakIdentity};
pub use layout::Layout;
pub use map::{MappedPlane, TensorMap};
pub use typed::{Elements, Tensor};

use self::storage::Storage;
use crate::{
    access::CpuAccess,
    colorimetry::Colorimetry,
    compression::Contiguity,
    dtype::DType,
    format::{MAX_PLANES, PixelFormat},
    layout::{ImageLayout, LayoutError},
    memory::Memory,
    memory_kind::TensorMemory,
    preprocess::Origin,
    quantization::Quantization,
    shape::{Shape, Strides},
};

/// A tensor whose element type is a value.
///
/// It owns its memories; clones are the same bytes. What it says about them is true: planes lie
/// inside the real length of the memory that holds them.
///
/// ```
/// use tensor_core::{CpuAccess, ImageLayout, Memory, PixelFormat, StrideAlign, TensorDyn};
/// let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::DMA)?;
/// let memory = Memory::shm(layout.allocation_len(0))?;
/// let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite)?;
/// assert_eq!(&**tensor.shape(), [480, 640]);
/// let map = tensor.map_read()?;
/// assert_eq!(map.plane(1).unwrap().rows().count(), 240);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensorDyn {
    storage: Arc<Storage>,
    layout: Layout,
    shape: Shape,
    is_view: bool,
}

impl TensorDyn {
    /// A tensor over memories that exist already: one for each memory the layout names.
    ///
    /// `access` narrows what the CPU may do; it never widens what a memory was declared with.
    ///
    /// # Errors
    /// [`TensorError::MemoryCount`] unless there is a memory for each index,
    /// [`TensorError::MixedKinds`] unless all are of one kind, [`TensorError::TooSmall`] when a
    /// plane, or [`TensorError::Short`] when an element, ends past the real length of its memory,
    /// [`TensorError::ElementBytes`] when the layout is of elements of another size.
    pub fn from_memories(
        layout: Layout,
        dtype: DType,
        memories: impl IntoIterator<Item = Memory>,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        check_dtype(&layout, dtype)?;
        let mut own = ArrayVec::<Memory, MAX_PLANES>::new();
        let expected = layout.memories();
        for memory in memories {
            let given = own.len().saturating_add(1);
            own.try_push(memory).map_err(|_| TensorError::MemoryCount { expected, given })?;
        }
        check_memories(&layout, &own)?;
        let access = own.iter().fold(access, |narrow, memory| narrow.intersection(memory.access()));
        let storage = Storage {
            memories: own,
            identity: BufferIdentity::new(),
            dtype,
            access,
            colorimetry: Colorimetry::default(),
            quantization: None,
            name: None,
            origin: None,
        };
        let shape = layout.shape()?;
        Ok(Self { storage: Arc::new(storage), layout, shape, is_view: false })
    }

    /// An image over memories that exist already; see [`from_memories`](Self::from_memories).
    ///
    /// # Errors
    /// As for [`from_memories`](Self::from_memories).
    pub fn from_image(
        layout: ImageLayout,
        memories: impl IntoIterator<Item = Memory>,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let dtype = layout.format().dtype();
        Self::from_memories(Layout::Image(layout), dtype, memories, access)
    }

    /// The same tensor, with its colours described.
    #[must_use]
    pub fn with_colorimetry(mut self, colorimetry: Colorimetry) -> Self {
        Arc::make_mut(&mut self.storage).colorimetry = colorimetry;
        self
    }

    /// The same tensor, with its integers standing for real numbers.
    ///
    /// # Errors
    /// [`TensorError::Quantization`] when the pairs do not fit the tensor's shape and dtype.
    pub fn with_quantization(mut self, quantization: Quantization) -> Result<Self, TensorError> {
        quantization.validate(&self.shape, self.dtype())?;
        Arc::make_mut(&mut self.storage).quantization = Some(quantization);
        Ok(self)
    }

    /// The same tensor, with the name its producer calls it by.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, PixelFormat, Region, TensorDyn};
    /// let input = TensorDyn::image(PixelFormat::Rgb, 8, 8, CpuAccess::ReadWrite)?;
    /// let input = input.with_name("images");
    /// assert_eq!(input.view(Region::new(0, 0, 4, 4))?.name(), Some("images"));
    /// # Ok::<(), tensor_core::TensorError>(())
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        Arc::make_mut(&mut self.storage).name = Some(name.into());
        self
    }

    /// The same tensor, with where its pixels come from described: how a box that a model finds in it
    /// is led back to the frame.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, PixelFormat, Region, TensorDyn};
    /// use tensor_core::preprocess::{ContentRegion, Origin};
    /// let content = ContentRegion::new(Region::new(0, 2, 8, 4), 8, 8);
    /// let input = TensorDyn::image(PixelFormat::Rgb, 8, 8, CpuAccess::ReadWrite)?;
    /// let input = input.with_origin(Origin { content, taken: None });
    /// assert_eq!(input.origin().map(|it| it.to_frame([0.0, 0.25, 0.5, 0.75])), Some([0.0, 0.0, 0.5, 1.0]));
    /// # Ok::<(), tensor_core::TensorError>(())
    /// ```
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        Arc::make_mut(&mut self.storage).origin = Some(origin);
        self
    }

    /// Dimensions, outermost first: how a consumer indexes it.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The byte step of each axis.
    ///
    /// # Errors
    /// [`LayoutError::PlaneStep`] for an image whose shape counts planes that are not equal steps
    /// apart in one memory: these are reached plane by plane.
    pub fn strides(&self) -> Result<Strides, LayoutError> {
        self.layout.strides()
    }

    /// The type of one element.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.storage.dtype
    }

    /// Where the elements are.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the planes of an image are; of a batch, those of its first image.
    #[must_use]
    pub fn image_layout(&self) -> Option<&ImageLayout> {
        self.layout.image()
    }

    /// The pixel format, when it is an image or a batch of them.
    #[must_use]
    pub fn format(&self) -> Option<PixelFormat> {
        self.image_layout().map(ImageLayout::format)
    }

    /// Width in pixels of one image.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.image_layout().map(ImageLayout::width)
    }

    /// Height in pixels of one image.
    #[must_use]
    pub fn height(&self) -> Option<usize> {
        self.image_layout().map(ImageLayout::height)
    }

    /// Whether the planes are in several memories.
    #[must_use]
    pub fn is_multiplane(&self) -> bool {
        self.storage.memories.len() > 1
    }

    /// The kind of memory the bytes are in.
    #[must_use]
    pub fn memory(&self) -> TensorMemory {
        self.storage.memories.first().map_or(TensorMemory::Mem, Memory::kind)
    }

    /// The memories, in the order the layout numbers them.
    #[must_use]
    pub fn memories(&self) -> &[Memory] {
        &self.storage.memories
    }

    /// Whether the physical pages of the memory are one run.
    #[must_use]
    pub fn contiguity(&self) -> Contiguity {
        self.storage.memories.first().map_or(Contiguity::Unknown, Memory::contiguity)
    }

    /// What is known of its colours.
    #[must_use]
    pub fn colorimetry(&self) -> Colorimetry {
        self.storage.colorimetry
    }

    /// How its integers stand for real numbers.
    #[must_use]
    pub fn quantization(&self) -> Option<&Quantization> {
        self.storage.quantization.as_ref()
    }

    /// What its producer calls it, as a model calls its inputs and outputs. Views keep it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.storage.name.as_deref()
    }

    /// Where the pixels of a model's input come from, where that is known. A view of a part is
    /// another image, of which it is not.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.storage.origin.filter(|_| !self.is_view)
    }

    /// What the CPU may do with the bytes.
    #[must_use]
    pub fn access(&self) -> CpuAccess {
        self.storage.access
    }

    /// Which tensor this is: a key for caches of what was made from it. Views share it.
    #[must_use]
    pub fn identity(&self) -> &BufferIdentity {
        &self.storage.identity
    }

    /// Whether this is a part of another tensor, whose rows share cache lines with bytes outside.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.is_view
    }

    /// Whether both lie in the same memories.
    #[must_use]
    pub fn aliases(&self, other: &Self) -> bool {
        let shared =
            |memory: &Memory| other.storage.memories.iter().any(|theirs| theirs.is_same(memory));
        self.storage.memories.iter().any(shared)
    }
}

fn check_dtype(layout: &Layout, dtype: DType) -> Result<(), TensorError> {
    let (element_bytes, dtype_bytes) = match layout {
        Layout::Strided(strided) => (strided.element_bytes(), dtype.size_bytes()),
        Layout::Image(image) => (image.format().dtype().size_bytes(), dtype.size_bytes()),
        Layout::Batch(batch) => (batch.image().format().dtype().size_bytes(), dtype.size_bytes()),
    };
    if element_bytes == dtype_bytes {
        Ok(())
    } else {
        Err(TensorError::ElementBytes { dtype, element_bytes })
    }
}

fn check_memories(layout: &Layout, memories: &[Memory]) -> Result<(), TensorError> {
    let (expected, given) = (layout.memories(), memories.len());
    if expected != given {
        return Err(TensorError::MemoryCount { expected, given });
    }
    if let Some((first, other)) = memories.first().and_then(|first| {
        let other = memories.iter().find(|memory| memory.kind() != first.kind())?;
        Some((first.kind(), other.kind()))
    }) {
        return Err(TensorError::MixedKinds { first, other });
    }
    for (index, memory) in memories.iter().enumerate() {
        let have = memory.len();
        if let Layout::Image(image) = layout {
            check_len(image, index, have)?;
        }
        let need = layout.required_len(index);
        if need > have {
            return Err(TensorError::Short { need, have });
        }
    }
    Ok(())
}

/// Whether a memory of `have` bytes holds every plane placed in it.
///
/// # Errors
/// [`TensorError::TooSmall`] with the first plane that does not fit.
pub fn check_len(layout: &ImageLayout, memory: usize, have: usize) -> Result<(), TensorError> {
    for (plane, place) in layout.planes().iter().enumerate() {
        let need = place.offset.saturating_add(layout.plane_len(plane));
        if place.memory == memory && need > have {
            return Err(TensorError::TooSmall { plane, memory, need, have });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
