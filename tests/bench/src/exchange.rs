//! Questions about blobs and dma-bufs.

use std::{cell::RefCell, hint::black_box, os::fd::AsRawFd};

use edgefirst_tensor::{self as theirs, TensorMapTrait};
use tensor_core::{
    self as ours, BlobView,
    transfer::{TransportMode, export, export_into, import},
};

use crate::question::{Question, Side, repeat};

/// A blob that both read, its memory, and a dma-buf of each side where there is a heap.
pub struct Exchange {
    shared: ours::TensorDyn,
    blob: Vec<u8>,
    dma_bufs: Option<(ours::TensorDyn, theirs::TensorDyn)>,
    out: RefCell<Vec<u8>>,
}

fn dma_bufs() -> Option<(ours::TensorDyn, theirs::TensorDyn)> {
    let desc = ours::ImageDesc::new(ours::PixelFormat::Nv12, 1920, 1080);
    let ours = ours::TensorDyn::image_desc(&desc.with_memory(ours::TensorMemory::DmaBuf)).ok()?;
    let theirs = theirs::TensorDyn::image(
        1920,
        1080,
        theirs::PixelFormat::Nv12,
        theirs::DType::U8,
        Some(theirs::TensorMemory::DmaBuf),
        theirs::CpuAccess::ReadWrite,
    );
    Some((ours, theirs.ok()?))
}

impl Exchange {
    pub fn new() -> Self {
        let desc = ours::ImageDesc::new(ours::PixelFormat::Nv12, 1920, 1080);
        let shared = ours::TensorDyn::image_desc(&desc.with_memory(ours::TensorMemory::Shm));
        let shared = shared.expect("memory").with_colorimetry(ours::Colorimetry::BT709);
        let (blob, _) = export(&shared, TransportMode::Reference).expect("exports");
        Self { shared, blob, dma_bufs: dma_bufs(), out: RefCell::default() }
    }

    pub fn has_dma_buf(&self) -> bool {
        self.dma_bufs.is_some()
    }

    pub fn ask(&self, question: Question, side: Side, times: usize) {
        match (question, side) {
            (Question::ParseBlob, Side::Ours) => repeat(times, || read_ours(black_box(&self.blob))),
            (Question::ParseBlob, Side::Theirs) => {
                repeat(times, || read_theirs(black_box(&self.blob)));
            }
            (Question::ImportBlob, Side::Ours) => {
                let fds = [self.shared.memories()[0].fd().expect("an fd")];
                repeat(times, || import(black_box(&self.blob), black_box(&fds)).expect("imports"));
            }
            (Question::ImportBlob, Side::Theirs) => {
                let fds = [self.shared.memories()[0].fd().expect("an fd").as_raw_fd()];
                let import = || theirs::blob::import(black_box(&self.blob), black_box(&fds));
                repeat(times, || import().expect("imports"));
            }
            _ => self.ask_dma_buf(question, side, times),
        }
    }

    fn ask_dma_buf(&self, question: Question, side: Side, times: usize) {
        let Some((ours, theirs)) = &self.dma_bufs else { return };
        match (question, side) {
            (Question::ExportBlob, Side::Ours) => repeat(times, || {
                let out = &mut self.out.borrow_mut();
                let fds = export_into(black_box(ours), TransportMode::Reference, out);
                fds.expect("exports").len()
            }),
            (Question::ExportBlob, Side::Theirs) => repeat(times, || {
                let mode = theirs::blob::TransportMode::Reference;
                theirs::blob::export(black_box(theirs), mode).expect("exports")
            }),
            (_, Side::Ours) => repeat(times, || {
                let map = black_box(ours).map_read().expect("maps");
                map.memory(0).and_then(|bytes| bytes.first().copied())
            }),
            (_, Side::Theirs) => repeat(times, || {
                let map = black_box(theirs).map_bytes(theirs::CpuAccess::Read).expect("maps");
                map.as_slice().first().copied()
            }),
        }
    }
}

/// Not inlined, as no caller of a whole reader would be.
#[inline(never)]
fn read_ours(blob: &[u8]) -> u64 {
    let view = BlobView::parse(blob).expect("parses");
    let shape: u64 = view.shape().sum();
    let strides: i64 = view.strides().map_or(0, Iterator::sum);
    let planes: u64 =
        view.planes().map(|p| p.offset ^ p.stride ^ p.size ^ p.used ^ p.modifier).sum();
    black_box((view.format(), view.colorimetry(), view.dtype(), view.storage_kind(), strides));
    black_box((view.quant_scales().len(), view.quant_zero_points().len(), view.fence_fd()));
    shape ^ planes
}

#[inline(never)]
fn read_theirs(blob: &[u8]) -> u64 {
    let view = theirs::blob::BlobView::parse(blob).expect("parses");
    let header = view.header();
    let shape: u64 = view.shape().iter().sum();
    let strides: i64 = view.strides().iter().sum();
    let planes = view.planes().expect("planes");
    let planes: u64 =
        planes.iter().map(|p| p.offset ^ p.stride ^ p.size ^ p.used ^ p.modifier).sum();
    let strings = view.strings();
    black_box((theirs::PixelFormat::from_str_code(strings.format), header.dtype, strides));
    black_box((
        theirs::ColorSpace::from_str_code(strings.color_space),
        theirs::ColorTransfer::from_str_code(strings.color_transfer),
        theirs::ColorEncoding::from_str_code(strings.color_encoding),
        theirs::ColorRange::from_str_code(strings.color_range),
    ));
    black_box((header.quant_scales_len, header.quant_zero_points_len, header.fence_fd));
    shape ^ planes
}
