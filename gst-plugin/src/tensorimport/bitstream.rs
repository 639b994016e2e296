//! Compressed frames: each is a tensor of as many bytes as it has, whatever they mean.

use tensor_core::{
    Colorimetry, CpuAccess, DType, Extension, Memory, Shape, TensorMemory, layout::StridedLayout,
    transfer::StridedDescription,
};

use super::frame::FrameError;
use crate::{
    handles::{self, Handles},
    memo,
};

/// The media types whose buffers are taken as they come, one frame or a part of one each.
pub(crate) const MEDIA_TYPES: [&str; 7] = [
    "image/jpeg",
    "video/x-h264",
    "video/x-h265",
    "video/x-vp8",
    "video/x-vp9",
    "video/x-av1",
    "video/mpeg",
];

/// The colours that caps of a compressed stream say its frames will have; `None` for other caps.
pub(crate) fn of_caps(caps: &gst::CapsRef) -> Option<Colorimetry> {
    let structure = caps.structure(0).filter(|_| caps.is_fixed())?;
    MEDIA_TYPES.iter().find(|name| structure.has_name(name))?;
    let said = structure.get::<&str>("colorimetry").ok();
    Some(said.and_then(|text| Colorimetry::from_gstreamer(text).ok()).unwrap_or_default())
}

/// The bytes of one buffer.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Where they are in the memory's backing.
    pub(crate) layout: StridedLayout,
    pub(crate) handles: Handles,
    pub(crate) memory: TensorMemory,
}

/// Finds the bytes, all of them in one memory.
pub(crate) fn place(buffer: &gst::BufferRef) -> Result<Piece, FrameError> {
    let pieces = FrameError::Pieces { memories: buffer.n_memory() };
    let memory = handles::memory(buffer, 0).filter(|_| buffer.n_memory() == 1).ok_or(pieces)?;
    let (offset, len) = (memory.offset(), memory.size());
    let dense = Shape::new(&[len]).and_then(|shape| StridedLayout::dense(&shape, 1).ok());
    let dense = dense.filter(|_| len > 0).ok_or(FrameError::Empty)?;
    let layout = StridedLayout::new(dense.shape().clone(), dense.strides().clone(), offset, 1)?;
    let mut handles = Handles::default();
    handles.note(0);
    Ok(Piece { layout, handles, memory: kind(memory)? })
}

fn kind(memory: &gst::MemoryRef) -> Result<TensorMemory, FrameError> {
    let Some(fd) = handles::fd(memory) else { return Ok(TensorMemory::Mem) };
    memo::kind(memory, || Ok(Memory::import(fd, CpuAccess::None)?.kind()))
}

/// The blob of a piece. Its length is another with every frame, so none is kept.
pub(crate) fn blob(piece: &Piece, colorimetry: Colorimetry) -> Result<Vec<u8>, FrameError> {
    let description = StridedDescription {
        layout: &piece.layout,
        dtype: DType::U8,
        kind: piece.memory,
        colorimetry,
        quantization: None,
        extension: Extension::default(),
    };
    Ok(description.to_blob(0)?)
}

#[cfg(test)]
mod tests {
    use tensor_core::BlobView;

    use super::*;

    // S-GEO-17
    #[test]
    fn a_compressed_frame_is_its_bytes() {
        gst::init().unwrap();
        let memory = gst::Memory::with_size(5000).share(100..4100);
        let mut buffer = gst::Buffer::new();
        buffer.get_mut().unwrap().append_memory(memory);
        let piece = place(&buffer).unwrap();
        let blob = blob(&piece, Colorimetry::BT709).unwrap();
        let view = BlobView::parse(&blob).unwrap();
        assert_eq!(view.shape().collect::<Vec<_>>(), [4000]);
        assert_eq!((view.dtype(), view.format()), (DType::U8, None));
        assert_eq!(view.colorimetry(), Colorimetry::BT709);
        assert_eq!(view.planes().map(|plane| (plane.handle, plane.offset)).next(), Some((0, 100)));
    }

    #[test]
    fn nothing_and_pieces_are_refused() {
        gst::init().unwrap();
        let mut buffer = gst::Buffer::new();
        assert!(matches!(place(&buffer), Err(FrameError::Pieces { memories: 0 })));
        buffer.get_mut().unwrap().append_memory(gst::Memory::with_size(0));
        assert!(matches!(place(&buffer), Err(FrameError::Empty)));
        buffer.get_mut().unwrap().append_memory(gst::Memory::with_size(8));
        assert!(matches!(place(&buffer), Err(FrameError::Pieces { memories: 2 })));
    }

    #[test]
    fn caps_say_what_is_compressed_and_in_which_colours() {
        gst::init().unwrap();
        let of = |caps: &str| of_caps(&caps.parse::<gst::Caps>().unwrap());
        assert_eq!(of("video/x-h264,colorimetry=bt709"), Some(Colorimetry::BT709));
        assert_eq!(of("image/jpeg"), Some(Colorimetry::default()));
        assert_eq!(of("video/x-raw,format=NV12"), None);
        assert_eq!(of("audio/x-raw"), None);
    }
}
