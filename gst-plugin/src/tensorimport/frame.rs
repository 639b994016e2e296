//! Where a frame's planes are in its buffer's memories. Nothing here maps a byte.

use tensor_core::{
    ImageLayout, LayoutError, MAX_PLANES, PlanePlacement, QuantizationError, TensorMemory,
    import_cache, layout::StridedError, memory, transfer::TransferError,
};
use thiserror::Error;

use crate::{
    allocation::copy::CopyError, handles::Handles, meta::TensorMetaError, pool::PoolError,
    video_layout::VideoLayoutError,
};

/// Why a frame gets no tensor.
#[derive(Debug, Error)]
pub(crate) enum FrameError {
    /// The buffer ends before the frame does.
    #[error(
        "the buffer is too small for its frame: {need} bytes are needed, it has {have} in {memories} memories"
    )]
    TooSmall {
        /// Bytes the frame needs.
        need: usize,
        /// Bytes the buffer has.
        have: usize,
        /// Memories of the buffer.
        memories: usize,
    },
    /// A plane that runs from one memory into the next.
    #[error(
        "plane {plane} needs {need} bytes of memory {memory}, which has {have} from its start on; a plane must lie in one memory"
    )]
    Split {
        /// Which plane.
        plane: usize,
        /// The memory it starts in.
        memory: usize,
        /// Bytes of the plane.
        need: usize,
        /// Bytes of the memory from the plane's first on.
        have: usize,
    },
    /// Memories with and without an fd in one frame.
    #[error("memory {with_fd} has an fd and memory {without} has none; a tensor lies in one kind")]
    MixedMemories {
        /// A memory with an fd.
        with_fd: i64,
        /// A memory without.
        without: i64,
    },
    /// Memory that the element was told not to leave frames in.
    #[error("the frame is in {memory} memory, not in a dma-buf")]
    NotDmaBuf {
        /// The kind it is.
        memory: TensorMemory,
    },
    /// A picture that is smaller than the frames of the stream.
    #[error(
        "the crop meta leaves {width}x{height} of {caps_width}x{caps_height}; such a frame is not copied"
    )]
    Cropped {
        /// Width of the crop, in pixels.
        width: usize,
        /// Height of the crop, in pixels.
        height: usize,
        /// Width in the caps, in pixels.
        caps_width: usize,
        /// Height in the caps, in pixels.
        caps_height: usize,
    },
    /// A frame that should be copied and cannot be.
    #[error("the frame cannot be mapped for copying")]
    NoCopy,
    /// A compressed frame in several memories, or none.
    #[error("a compressed frame in {memories} memories; it must be in one")]
    Pieces {
        /// Memories of the buffer.
        memories: usize,
    },
    /// A compressed frame without bytes.
    #[error("a compressed frame of 0 bytes")]
    Empty,
    /// The samples cannot be read or written.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The pool for copies does not start, or gives nothing.
    #[error("no memory to copy the frame to: {0}")]
    Pool(#[from] PoolError),
    /// The bytes of a compressed frame have no layout.
    #[error(transparent)]
    Strided(#[from] StridedError),
    /// The fd of a compressed frame is refused.
    #[error("memory 0: {0}")]
    Descriptor(#[from] memory::ImportError),
    /// A quantization that is not for this kind of image.
    #[error("quantization: {0}")]
    Quantization(#[from] QuantizationError),
    /// No caps came before the frame.
    #[error("no caps were set before the first frame")]
    NoCaps,
    #[error(transparent)]
    Video(#[from] VideoLayoutError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Import(#[from] import_cache::FrameError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
    #[error(transparent)]
    Meta(#[from] TensorMetaError),
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The frame is not what the stream says.
    Stream,
    /// Its memory is not what is needed.
    Memory,
    /// There is no memory for a copy of it.
    NoMemory,
    /// The meta cannot be put on.
    Meta,
}

impl FrameError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Import(_)
            | Self::Descriptor(_)
            | Self::NotDmaBuf { .. }
            | Self::NoCopy
            | Self::Copy(_) => Cause::Memory,
            Self::Pool(_) => Cause::NoMemory,
            Self::Meta(_) => Cause::Meta,
            Self::TooSmall { .. }
            | Self::Split { .. }
            | Self::MixedMemories { .. }
            | Self::Cropped { .. }
            | Self::Pieces { .. }
            | Self::Empty
            | Self::Strided(_)
            | Self::Quantization(_)
            | Self::NoCaps
            | Self::Video(_)
            | Self::Layout(_)
            | Self::Transfer(_) => Cause::Stream,
        }
    }
}

/// A frame's true layout: offsets count from the start of each memory's backing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) layout: ImageLayout,
    /// Which of the buffer's memories the layout's memories are.
    pub(crate) handles: Handles,
}

/// Finds every plane of `flat`, a layout over the buffer's memories laid end to end, in the memory
/// that holds it. The `GstMemory`'s own offset is added.
pub(crate) fn place(buffer: &gst::BufferRef, flat: &ImageLayout) -> Result<Placed, FrameError> {
    let (need, have) = (flat.required_len(0), buffer.size());
    if need > have {
        return Err(FrameError::TooSmall { need, have, memories: buffer.n_memory() });
    }
    let mut handles = Handles::default();
    let mut planes = [PlanePlacement { memory: 0, offset: 0, stride: 0 }; MAX_PLANES];
    for ((plane, from), to) in flat.planes().iter().enumerate().zip(&mut planes) {
        let too_small = || FrameError::TooSmall { need, have, memories: buffer.n_memory() };
        let start = find(buffer, from.offset).ok_or_else(too_small)?;
        let (memory, need, have) = (start.memory, flat.plane_len(plane), start.left);
        if need > have {
            return Err(FrameError::Split { plane, memory, need, have });
        }
        let handle = i64::try_from(memory).unwrap_or(i64::MAX);
        let memory = handles.note(handle);
        *to = PlanePlacement { memory, offset: start.offset, stride: from.stride };
    }
    let planes = planes.get(..flat.planes().len()).unwrap_or_default();
    let layout = ImageLayout::from_planes(flat.format(), flat.width(), flat.height(), planes)?;
    Ok(Placed { layout, handles })
}

/// A byte of the buffer, in the memory that holds it.
struct Start {
    memory: usize,
    /// Bytes from the start of the memory's backing.
    offset: usize,
    /// Bytes of the memory from there on.
    left: usize,
}

fn find(buffer: &gst::BufferRef, offset: usize) -> Option<Start> {
    let mut rest = offset;
    for index in 0..buffer.n_memory() {
        let memory = buffer.peek_memory(index);
        match memory.size().checked_sub(rest) {
            Some(left) if left > 0 => {
                let offset = memory.offset().checked_add(rest)?;
                return Some(Start { memory: index, offset, left });
            }
            _ => rest = rest.checked_sub(memory.size())?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tensor_core::{PixelFormat, StrideAlign};

    use super::*;

    fn buffer(sizes: &[usize]) -> gst::Buffer {
        gst::init().unwrap();
        let mut buffer = gst::Buffer::new();
        let writable = buffer.get_mut().unwrap();
        sizes.iter().for_each(|size| writable.append_memory(gst::Memory::with_size(*size)));
        buffer
    }

    fn nv12() -> ImageLayout {
        ImageLayout::packed(PixelFormat::Nv12, 64, 36, StrideAlign::DMA).unwrap()
    }

    fn placements(placed: &Placed) -> Vec<(usize, usize)> {
        placed.layout.planes().iter().map(|place| (place.memory, place.offset)).collect()
    }

    #[test]
    fn one_memory_holds_both_planes() {
        let placed = place(&buffer(&[64 * 54]), &nv12()).unwrap();
        assert_eq!(placements(&placed), [(0, 0), (0, 64 * 36)]);
        assert_eq!(placed.handles.as_slice(), [0]);
    }

    #[test]
    fn a_plane_each_lies_in_its_own_memory() {
        let placed = place(&buffer(&[64 * 36, 64 * 18]), &nv12()).unwrap();
        assert_eq!(placements(&placed), [(0, 0), (1, 0)]);
        assert_eq!(placed.handles.as_slice(), [0, 1]);
    }

    #[test]
    fn memories_that_no_plane_lies_in_are_passed_over() {
        let planes = [64, 64 * 40].map(|offset| PlanePlacement { memory: 0, offset, stride: 64 });
        let flat = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
        let placed = place(&buffer(&[64, 64 * 39, 64 * 18]), &flat).unwrap();
        assert_eq!(placements(&placed), [(0, 0), (1, 0)]);
        assert_eq!(placed.handles.as_slice(), [1, 2]);
    }

    #[test]
    fn the_memorys_own_offset_is_added() {
        let mut buffer = buffer(&[64 * 60]);
        let memory = buffer.get_mut().unwrap().peek_memory_mut(0).unwrap();
        memory.resize(128..);
        let placed = place(&buffer, &nv12()).unwrap();
        assert_eq!(placements(&placed), [(0, 128), (0, 128 + 64 * 36)]);
    }

    #[test]
    fn a_short_buffer_is_refused_with_both_numbers() {
        let error = place(&buffer(&[100]), &nv12()).unwrap_err().to_string();
        assert!(error.contains("3456 bytes") && error.contains("has 100"), "{error}");
        assert!(place(&buffer(&[]), &nv12()).is_err());
    }

    #[test]
    fn a_plane_across_two_memories_is_refused() {
        let error = place(&buffer(&[64 * 30, 64 * 24]), &nv12()).unwrap_err();
        assert!(matches!(error, FrameError::Split { plane: 0, memory: 0, need: 2304, have: 1920 }));
    }
}
