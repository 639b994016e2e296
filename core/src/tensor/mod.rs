//! Tensors: memories, a layout in them, and a description.

mod error;
mod identity;
mod map;

use arrayvec::ArrayVec;

pub use error::TensorError;
pub use identity::{BufferIdentity, WeakIdentity};
pub use map::{MappedPlane, TensorMap};

use crate::{
    access::CpuAccess,
    colorimetry::Colorimetry,
    dtype::DType,
    format::{MAX_PLANES, PixelFormat},
    layout::ImageLayout,
    memory::{MapError, Memory},
    memory_kind::TensorMemory,
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
    layout: ImageLayout,
    memories: ArrayVec<Memory, MAX_PLANES>,
    shape: Shape,
    strides: Strides,
    colorimetry: Colorimetry,
    quantization: Option<Quantization>,
    access: CpuAccess,
    identity: BufferIdentity,
}

impl TensorDyn {
    /// An image over memories that exist already: one for each memory the layout names.
    ///
    /// `access` narrows what the CPU may do; it never widens what a memory was declared with.
    ///
    /// # Errors
    /// [`TensorError::MemoryCount`] unless there is a memory for each index,
    /// [`TensorError::MixedKinds`] unless all are of one kind, [`TensorError::TooSmall`] when a
    /// plane ends past the real length of its memory.
    pub fn from_image(
        layout: ImageLayout,
        memories: impl IntoIterator<Item = Memory>,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        let mut own = ArrayVec::<Memory, MAX_PLANES>::new();
        let expected = layout.memories();
        for memory in memories {
            let given = own.len().saturating_add(1);
            own.try_push(memory).map_err(|_| TensorError::MemoryCount { expected, given })?;
        }
        check_memories(&layout, &own)?;
        let access = own.iter().fold(access, |narrow, memory| narrow.intersection(memory.access()));
        Ok(Self {
            shape: layout.shape(),
            strides: layout.strides()?,
            layout,
            memories: own,
            colorimetry: Colorimetry::default(),
            quantization: None,
            access,
            identity: BufferIdentity::new(),
        })
    }

    /// The same tensor, with its colours described.
    #[must_use]
    pub fn with_colorimetry(mut self, colorimetry: Colorimetry) -> Self {
        self.colorimetry = colorimetry;
        self
    }

    /// The same tensor, with its integers standing for real numbers.
    #[must_use]
    pub fn with_quantization(mut self, quantization: Quantization) -> Self {
        self.quantization = Some(quantization);
        self
    }

    /// Dimensions, outermost first: how a consumer indexes it.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The byte step of each axis.
    #[must_use]
    pub fn strides(&self) -> &Strides {
        &self.strides
    }

    /// The type of one element.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.layout.format().dtype()
    }

    /// The pixel format.
    #[must_use]
    pub fn format(&self) -> Option<PixelFormat> {
        Some(self.layout.format())
    }

    /// Where the planes lie.
    #[must_use]
    pub fn image(&self) -> &ImageLayout {
        &self.layout
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.layout.width()
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.layout.height()
    }

    /// The kind of memory the bytes are in.
    #[must_use]
    pub fn memory(&self) -> TensorMemory {
        self.memories.first().map_or(TensorMemory::Mem, Memory::kind)
    }

    /// The memories, in the order the layout numbers them.
    #[must_use]
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// What is known of its colours.
    #[must_use]
    pub fn colorimetry(&self) -> Colorimetry {
        self.colorimetry
    }

    /// How its integers stand for real numbers.
    #[must_use]
    pub fn quantization(&self) -> Option<&Quantization> {
        self.quantization.as_ref()
    }

    /// What the CPU may do with the bytes.
    #[must_use]
    pub fn access(&self) -> CpuAccess {
        self.access
    }

    /// Which tensor this is: a key for caches of what was made from it.
    #[must_use]
    pub fn identity(&self) -> &BufferIdentity {
        &self.identity
    }

    /// All planes for reading, until the guard is dropped.
    ///
    /// # Errors
    /// See [`Memory::map`].
    pub fn map_read(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::Read)
    }

    /// All planes for reading and writing, until the guard is dropped.
    ///
    /// # Errors
    /// See [`Memory::map`].
    pub fn map_mut(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::ReadWrite)
    }

    fn map(&self, requested: CpuAccess) -> Result<TensorMap<'_>, MapError> {
        let declared = self.access;
        if !declared.covers(requested) {
            return Err(MapError::AccessDenied { declared, requested });
        }
        let maps = self.memories.iter().map(|memory| memory.map(requested));
        Ok(TensorMap::new(&self.layout, maps.collect::<Result<_, _>>()?))
    }
}

fn check_memories(layout: &ImageLayout, memories: &[Memory]) -> Result<(), TensorError> {
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
        check_len(layout, index, memory.len())?;
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
