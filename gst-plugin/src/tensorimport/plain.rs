//! Blobs of frames in plain memory. There is nothing to import, so a blob is made once for each
//! layout and every such frame gets the same.

use gst::glib;
use tensor_core::{
    Extension, ImageLayout, MAX_PLANES, TensorMemory,
    transfer::{ImageDescription, TransferError},
};

use super::{frame::Placed, importer::Says};

/// Layouts kept: a stream has one, or a few when its buffers have different offsets.
const CAPACITY: usize = 8;

#[derive(Debug)]
struct Entry {
    placed: Placed,
    says: Says,
    blob: glib::Bytes,
}

/// The blobs of the layouts seen last.
#[derive(Debug, Default)]
pub(super) struct PlainBlobs(Vec<Entry>);

impl PlainBlobs {
    /// The blob of a frame, and whether it was there already.
    pub(super) fn get(
        &mut self,
        placed: &Placed,
        says: &Says,
    ) -> Result<(glib::Bytes, bool), TransferError> {
        let wanted = |entry: &&Entry| entry.placed == *placed && entry.says == *says;
        if let Some(entry) = self.0.iter().find(wanted) {
            return Ok((entry.blob.clone(), true));
        }
        let blob = glib::Bytes::from_owned(blob(placed, says)?);
        if self.0.len() >= CAPACITY {
            self.0.remove(0);
        }
        self.0.push(Entry { placed: placed.clone(), says: says.clone(), blob: blob.clone() });
        Ok((blob, false))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn blob(placed: &Placed, says: &Says) -> Result<Vec<u8>, TransferError> {
    let layout: &ImageLayout = &placed.layout;
    let mut memory_lens = [0; MAX_PLANES];
    for (memory, len) in memory_lens.iter_mut().enumerate() {
        // What every buffer of this layout has for sure.
        *len = layout.required_len(memory);
    }
    let description = ImageDescription {
        layout,
        kind: TensorMemory::Mem,
        memory_lens: &memory_lens,
        colorimetry: says.colorimetry,
        quantization: says.quantization.as_ref(),
        extension: Extension::default(),
    };
    description.to_blob(placed.handles.as_slice())
}

#[cfg(test)]
mod tests {
    use tensor_core::{BlobView, PixelFormat, StrideAlign};

    use super::*;
    use crate::handles::Handles;

    fn placed(width: usize) -> Placed {
        let layout = ImageLayout::packed(PixelFormat::Rgb, width, 2, StrideAlign::NONE).unwrap();
        let mut handles = Handles::default();
        handles.note(0);
        Placed { layout, handles }
    }

    #[test]
    fn a_layout_gets_one_blob() {
        let mut blobs = PlainBlobs::default();
        let (first, known) = blobs.get(&placed(8), &Says::default()).unwrap();
        assert!(!known);
        let (second, known) = blobs.get(&placed(8), &Says::default()).unwrap();
        assert!(known);
        assert_eq!(first.as_ptr(), second.as_ptr());
        let view = BlobView::parse(&first).unwrap();
        assert_eq!((view.storage_kind(), view.pid()), (TensorMemory::Mem, 0));
    }

    #[test]
    fn layouts_without_end_do_not_pile_up() {
        let mut blobs = PlainBlobs::default();
        for width in 1..100 {
            blobs.get(&placed(width), &Says::default()).unwrap();
        }
        assert_eq!(blobs.0.len(), CAPACITY);
    }
}
