//! The tensor that each output buffer is written as, whoever's pool it is of.

use std::{collections::VecDeque, sync::Arc};

use tensor_core::{
    Colorimetry, CpuAccess, DType, ImageLayout, Layout, MAX_PLANES, Memory, Origin, Quantization,
    TensorDyn, TensorError,
    layout::{StridedError, StridedLayout},
    memory::ImportError,
    transfer::TransferError,
};
use thiserror::Error;

use crate::{
    handles::{self, Handles},
    memo::{self, FrameImport},
    tensorimport::frame::{FrameError, place},
    video_layout::{self, VideoLayoutError},
};

/// Memories of other pools that are remembered: more than a pool has in flight.
const REMEMBERED: usize = 64;

/// Why an output buffer cannot be written.
#[derive(Debug, Error)]
pub(crate) enum OutputError {
    /// A memory that only GStreamer can map.
    #[error("memory {index} of the output buffer has no descriptor")]
    NoFd {
        /// Which memory of the buffer.
        index: i64,
    },
    #[error(transparent)]
    Place(#[from] FrameError),
    #[error(transparent)]
    Video(#[from] VideoLayoutError),
    #[error(transparent)]
    Strided(#[from] StridedError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Tensor(#[from] TensorError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

/// The layout of an output buffer.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// One dense tensor.
    Tensor(StridedLayout),
    /// An image, laid out as its caps alone say unless its buffer says otherwise, and the bytes that
    /// GStreamer gives it.
    Image(ImageLayout, usize),
}

impl Form {
    /// Bytes of a buffer.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Tensor(dense) => dense.required_len(),
            Self::Image(image, len) => image.required_len(0).max(*len),
        }
    }
}

impl From<Form> for Layout {
    fn from(form: Form) -> Self {
        match form {
            Form::Tensor(dense) => Self::Strided(dense),
            Form::Image(image, _) => Self::Image(image),
        }
    }
}

/// What every output buffer of one pair of caps holds.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) form: Form,
    pub(crate) dtype: DType,
    pub(crate) quantization: Option<Quantization>,
    pub(crate) colorimetry: Colorimetry,
}

impl Described {
    /// The tensor, laid out like `layout` in `memories`.
    pub(crate) fn tensor(
        &self,
        layout: Layout,
        memories: impl IntoIterator<Item = Memory>,
    ) -> Result<TensorDyn, TensorError> {
        let access = CpuAccess::ReadWrite;
        let tensor = TensorDyn::from_memories(layout, self.dtype, memories, access)?
            .with_colorimetry(self.colorimetry);
        match &self.quantization {
            Some(quantization) => tensor.with_quantization(quantization.clone()),
            None => Ok(tensor),
        }
    }

    /// Whether that is what `tensor` is.
    fn is(&self, tensor: &TensorDyn, layout: &Layout) -> bool {
        tensor.layout() == layout
            && tensor.dtype() == self.dtype
            && tensor.quantization() == self.quantization.as_ref()
            && tensor.colorimetry() == self.colorimetry
            && tensor.access().writes()
    }

    /// Where it lies in `buffer`, and in which of its memories. No syscall, no allocation.
    fn place(&self, buffer: &gst::BufferRef) -> Result<(Layout, Handles), OutputError> {
        match &self.form {
            Form::Image(image, _) => {
                let placed = place(buffer, &video_layout::layout_of_buffer(image, buffer)?)?;
                Ok((Layout::Image(placed.layout), placed.handles))
            }
            Form::Tensor(dense) => {
                let (need, memories) = (dense.required_len(), buffer.n_memory());
                let first = (memories > 0).then(|| buffer.peek_memory(0));
                let have = first.map_or(0, gst::MemoryRef::size);
                if need > have {
                    return Err(FrameError::TooSmall { need, have, memories }.into());
                }
                let mut handles = Handles::default();
                handles.note(0);
                let offset = first.map_or(0, gst::MemoryRef::offset);
                let (shape, strides) = (dense.shape().clone(), dense.strides().clone());
                let there = StridedLayout::new(shape, strides, offset, dense.element_bytes())?;
                Ok((Layout::Strided(there), handles))
            }
        }
    }

    /// Whether buffers like this one can be written, which is whether their memories have descriptors
    /// that can be mapped for it, and be read by who looks at the video meta, if it `reads_meta`, and
    /// at the caps.
    pub(crate) fn fits(&self, buffer: &gst::BufferRef, reads_meta: bool) -> bool {
        let is_told = match &self.form {
            Form::Image(image, _) => {
                let flat = || video_layout::layout_of_buffer(image, buffer);
                reads_meta || flat().is_ok_and(|flat| flat == *image)
            }
            // Cutting a buffer to a tensor takes no memory from it.
            Form::Tensor(_) => buffer.n_memory() == 1,
        };
        let tensor = || {
            let (layout, handles) = self.place(buffer)?;
            Ok::<_, OutputError>(self.tensor(layout, memories(buffer, &handles)?)?)
        };
        is_told && tensor().is_ok_and(|tensor| tensor.map_write().is_ok())
    }

    /// Cuts `buffer` to what it holds: a tensor's buffer has no byte more, but a pool of downstream's
    /// may give some.
    pub(crate) fn cut(&self, buffer: &mut gst::BufferRef) {
        if let Form::Tensor(dense) = &self.form
            && buffer.size() > dense.required_len()
        {
            buffer.set_size(dense.required_len());
        }
    }
}

/// The memories that a tensor lies in, by the serial numbers that no others ever have.
type Serials = [u64; MAX_PLANES];

/// The tensors of output buffers, and those that are remembered.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) described: Described,
    /// The imports of memories that were not born with the one they need, the newest last. Here and
    /// not in the memories' memos, where whoever imports them further on remembers what it needs.
    remembered: VecDeque<(Serials, Arc<FrameImport>)>,
}

impl Output {
    pub(crate) fn new(described: Described) -> Self {
        Self { described, remembered: VecDeque::new() }
    }

    /// Buffers are about to be others; gives what was remembered of those there were, to be dropped
    /// where no lock is held.
    pub(crate) fn new_generation(&mut self) -> impl Sized + use<> {
        std::mem::take(&mut self.remembered)
    }

    /// The tensor that `buffer` is to be written as, with `origin` said of it, and which of the
    /// buffer's memories it lies in.
    ///
    /// For a memory that came before with the same origin there is no syscall and no allocation; with
    /// another one there is no syscall.
    pub(crate) fn tensor(
        &mut self,
        buffer: &gst::BufferRef,
        origin: Origin,
    ) -> Result<(Arc<FrameImport>, Handles), OutputError> {
        let (layout, handles) = self.described.place(buffer)?;
        let is_it = |import: &FrameImport| self.described.is(&import.tensor, &layout);
        let same = |import: &FrameImport| is_it(import) && import.tensor.origin() == Some(origin);
        if let Some(born) = memo::find_all(handles.memories(buffer), same) {
            return Ok((born, handles));
        }
        let serials = memo::serials(handles.memories(buffer));
        let is_ours =
            |(theirs, import): &(Serials, Arc<FrameImport>)| *theirs == serials && is_it(import);
        let position = self.remembered.iter().position(is_ours);
        let known = position.and_then(|position| self.remembered.get(position));
        let known = known.map(|(_, import)| Arc::clone(import));
        if let Some(known) = known.as_ref().filter(|known| same(known)) {
            return Ok((Arc::clone(known), handles));
        }
        let known = known.or_else(|| memo::find_all(handles.memories(buffer), is_it));
        let tensor = match known {
            Some(of_other_origin) => of_other_origin.tensor.clone(),
            None => self.described.tensor(layout, memories(buffer, &handles)?)?,
        };
        let tensor = tensor.with_origin(origin);
        let import = Arc::new(FrameImport::of_tensor(tensor, handles.as_slice(), memo::share)?);
        self.remember(position, (serials, Arc::clone(&import)));
        Ok((import, handles))
    }

    /// Puts an import in the place of the one at `position`, else of the oldest if there is no more
    /// room.
    fn remember(&mut self, position: Option<usize>, import: (Serials, Arc<FrameImport>)) {
        if let Some(position) = position {
            self.remembered.remove(position);
        } else if self.remembered.len() >= REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back(import);
    }
}

/// The memories themselves, by their descriptors.
fn memories(buffer: &gst::BufferRef, handles: &Handles) -> Result<Vec<Memory>, OutputError> {
    let mut memories = Vec::with_capacity(MAX_PLANES);
    for (index, memory) in handles.as_slice().iter().zip(handles.memories(buffer)) {
        let fd = memory.and_then(handles::fd).ok_or(OutputError::NoFd { index: *index })?;
        memories.push(Memory::import(fd, CpuAccess::ReadWrite)?);
    }
    Ok(memories)
}
