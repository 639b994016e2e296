//! Takes frames in: a tensor where each lies, or what `fallback` says.

use gst_video::{VideoFrameFlags, VideoMeta};
use tensor_core::{ImageLayout, MAX_PLANES, TensorMemory};

use super::{
    choices::{Attach, Fallback},
    copier::{self, Copier},
    frame::FrameError,
    importer::{Content, Imported, Importer, Says},
    settings::Options,
    stats::Stats,
};
use crate::{allocation::downstream::Downstream, analytics, video_layout};

/// What there is while the element runs.
#[derive(Debug)]
pub(super) struct Intake {
    options: Options,
    caps: Option<gst::Caps>,
    downstream: Downstream,
    importer: Importer,
    copier: Option<Copier>,
}

/// A frame whose buffer has the metas.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) imported: Imported,
    /// The statistics, when they are asked for after this frame.
    pub(super) report: Option<gst::Structure>,
}

/// A frame that was looked at.
#[derive(Debug)]
pub(super) enum Taken {
    /// It stays in its buffer.
    Here(Described),
    /// Its samples are in another buffer, which has no metas yet.
    Moved {
        /// The other buffer.
        to: gst::Buffer,
        /// Why it did not stay.
        why: FrameError,
        /// Bytes that were copied.
        bytes: u64,
    },
}

impl Intake {
    pub(super) fn new(options: Options) -> Self {
        let (access, quantization) = (options.access, options.quantization.clone());
        let says = Says { access, quantization, ..Says::default() };
        let importer = Importer::saying(options.cache_size, says);
        Self { options, caps: None, downstream: Downstream::default(), importer, copier: None }
    }

    /// What comes from now on.
    pub(super) fn set_caps(&mut self, caps: &gst::Caps) -> Result<Content, FrameError> {
        let mut content = Content::from_caps(caps)?;
        match &mut content {
            Content::Video(stream) => {
                let (format, layout) = (stream.layout.format(), &stream.layout);
                let shape = format.addressing_shape(layout.width(), layout.height());
                if let Some(quantization) = &self.options.quantization {
                    quantization.validate(&shape, format.dtype())?;
                }
                stream.colorimetry = self.options.colorimetry.unwrap_or(stream.colorimetry);
            }
            Content::Bitstream(colorimetry) => {
                *colorimetry = self.options.colorimetry.unwrap_or(*colorimetry);
            }
        }
        self.copier = None;
        self.caps = Some(caps.clone());
        self.importer.set_content(content.clone());
        Ok(content)
    }

    /// How frames are wanted that do not stay where they are.
    pub(super) fn set_downstream(&mut self, said: Downstream) {
        self.copier = None;
        self.downstream = said;
    }

    pub(super) fn importer(&mut self) -> &mut Importer {
        &mut self.importer
    }

    pub(super) fn stats(&self) -> Stats {
        self.importer.stats()
    }

    pub(super) fn caps(&self) -> Option<&gst::Caps> {
        self.caps.as_ref()
    }

    pub(super) fn fallback(&self) -> Fallback {
        self.options.fallback
    }

    pub(super) fn set_stats_interval(&mut self, frames: u64) {
        self.options.stats_interval = frames;
    }

    /// Counts bytes that went from one memory to another before the frame was looked at.
    pub(super) fn count_copied(&mut self, bytes: u64) {
        self.importer.counters.count_copied(bytes);
    }

    /// Frees what was for this stream; what was counted stays.
    pub(super) fn stop(&mut self) {
        self.copier = None;
        self.caps = None;
    }

    /// Whether statistics are asked for at all.
    pub(super) fn reports(&self) -> bool {
        self.options.stats_interval > 0
    }

    /// Puts the metas on a frame, or moves its samples elsewhere.
    pub(super) fn take(&mut self, buffer: &mut gst::BufferRef) -> Result<Taken, FrameError> {
        let why = match self.importer.find(buffer) {
            Ok(imported) => match self.reason_to_move(imported.memory)? {
                None => return self.put(buffer, imported).map(Taken::Here),
                Some(why) => why,
            },
            Err(why) => why,
        };
        if self.options.fallback != Fallback::Copy || matches!(why, FrameError::NoCaps) {
            return Err(why);
        }
        let (to, bytes) = self.copy(buffer)?;
        self.importer.counters.count_copied(bytes);
        Ok(Taken::Moved { to, why, bytes })
    }

    /// Puts the metas on a buffer that does not move any more.
    pub(super) fn attach(&mut self, buffer: &mut gst::BufferRef) -> Result<Described, FrameError> {
        let imported = self.importer.find(buffer)?;
        self.put(buffer, imported)
    }

    fn put(
        &mut self,
        buffer: &mut gst::BufferRef,
        imported: Imported,
    ) -> Result<Described, FrameError> {
        if self.options.attach.contains(Attach::VIDEO)
            && buffer.meta::<VideoMeta>().is_none()
            && let Some(layout) = self.importer.layout()
        {
            add_video_meta(buffer, layout);
        }
        let is_said = self.options.attach.contains(Attach::TENSOR);
        self.importer.put(buffer, &imported, is_said)?;
        if self.options.attach.contains(Attach::ANALYTICS) {
            analytics::attach_or_log(buffer);
        }
        let interval = self.options.stats_interval;
        let is_due = interval > 0 && self.importer.counters.frames.is_multiple_of(interval);
        Ok(Described { imported, report: is_due.then(|| self.stats().to_structure()) })
    }

    /// Why a frame in `memory` should be elsewhere, if it should.
    fn reason_to_move(&mut self, memory: TensorMemory) -> Result<Option<FrameError>, FrameError> {
        if self.options.fallback == Fallback::Wrap || memory == TensorMemory::DmaBuf {
            return Ok(None);
        }
        if self.options.fallback == Fallback::Copy {
            if self.importer.layout().is_none() {
                // Nothing imports compressed frames better than plain memory holds them.
                return Ok(None);
            }
            if rank(self.copier()?.memory) <= rank(memory) {
                return Ok(None);
            }
        }
        Ok(Some(FrameError::NotDmaBuf { memory }))
    }

    fn copy(&mut self, buffer: &gst::BufferRef) -> Result<(gst::Buffer, u64), FrameError> {
        let Some(caps) = self.importer.layout().cloned() else {
            let joined = copier::join(buffer)?;
            let bytes = u64::try_from(joined.size()).unwrap_or(u64::MAX);
            return Ok((joined, bytes));
        };
        let flat = video_layout::layout_of_buffer(&caps, buffer)?;
        self.copier()?.copy(buffer, &flat, &caps)
    }

    fn copier(&mut self) -> Result<&Copier, FrameError> {
        let caps = self.caps.as_ref().ok_or(FrameError::NoCaps)?;
        let copier = match self.copier.take() {
            Some(copier) => copier,
            None => Copier::new(caps, &self.downstream)?,
        };
        Ok(self.copier.insert(copier))
    }
}

/// How well an accelerator takes memory of a kind.
fn rank(memory: TensorMemory) -> u8 {
    if memory == TensorMemory::DmaBuf { 2 } else { u8::from(memory == TensorMemory::Shm) }
}

/// Says in GStreamer's own words where the planes are.
fn add_video_meta(buffer: &mut gst::BufferRef, layout: &ImageLayout) {
    let Some(format) = video_layout::video_format(layout.format()) else { return };
    let size = [layout.width(), layout.height()].map(|pixels| u32::try_from(pixels).unwrap_or(0));
    let (mut offsets, mut strides) = ([0; MAX_PLANES], [0; MAX_PLANES]);
    for ((place, offset), stride) in layout.planes().iter().zip(&mut offsets).zip(&mut strides) {
        *offset = place.offset;
        *stride = i32::try_from(place.stride).unwrap_or(i32::MAX);
    }
    let count = layout.planes().len();
    let offsets = offsets.get(..count).unwrap_or_default();
    let strides = strides.get(..count).unwrap_or_default();
    let flags = VideoFrameFlags::empty();
    // Refused only if the caps were no video of this layout.
    let _meta = VideoMeta::add_full(buffer, flags, format, size[0], size[1], offsets, strides);
}
