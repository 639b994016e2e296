//! A pool configuration, worked out.

use std::sync::Arc;

use gst::{AllocationParams, BufferPoolConfigRef, prelude::*};
use gst_video::{
    BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, BUFFER_POOL_OPTION_VIDEO_META, VideoAlignment,
    VideoBufferPoolConfig, VideoFrameFlags, VideoInfo, VideoMeta,
};
use tensor_core::{CpuAccess, StrideAlign, import_cache::Frame};

use super::error::PoolError;
use crate::{
    allocator::{TensorAllocator, makes_dma_bufs, supported_params},
    handles,
    memo::{self, FrameImport},
    video_layout::{FrameGeometry, aligned_layout, colorimetry, info_from_caps, stated_alignment},
};

/// What every buffer of a configuration is like.
#[derive(Debug)]
pub(super) struct Plan {
    info: VideoInfo,
    geometry: FrameGeometry,
    offsets: Vec<usize>,
    strides: Vec<i32>,
    alignment: Option<VideoAlignment>,
    /// Bytes of a buffer.
    pub(super) size: usize,
    /// An allocator of dma-bufs that is not ours.
    pub(super) allocator: Option<gst::Allocator>,
    pub(super) params: AllocationParams,
}

impl Plan {
    /// Works out `config` and writes back what it comes to. The flag says whether anything that the
    /// caller asked for had to be changed.
    pub(super) fn settle(
        config: &mut BufferPoolConfigRef,
        align: StrideAlign,
    ) -> Result<(Self, bool), PoolError> {
        let (caps, asked, min, max) = config.params().ok_or(PoolError::Incomplete)?;
        let caps = caps.ok_or(PoolError::Incomplete)?;
        let info = info_from_caps(&caps)?;
        let is_aligned = config.has_option(BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
        let alignment = config.video_alignment().filter(|_| is_aligned);
        let geometry = aligned_layout(&info, align, alignment.as_ref())?;

        // A peer may check a buffer against the size that GStreamer derives from the caps.
        let bytes = geometry.allocation_len.max(info.size());
        let size = u32::try_from(bytes).map_err(|_| PoolError::TooLarge { bytes })?.max(asked);
        let has_meta = config.has_option(BUFFER_POOL_OPTION_VIDEO_META);
        config.set_params(Some(&caps), size, min, max);
        config.add_option(BUFFER_POOL_OPTION_VIDEO_META);
        let (allocator, params, replaced) = settle_allocator(config);

        let size_bytes = usize::try_from(size).map_err(|_| PoolError::TooLarge { bytes })?;
        let planes = geometry.layout.planes();
        let strides = planes.iter().map(|place| i32::try_from(place.stride));
        let strides = strides.collect::<Result<_, _>>();
        let plan = Self {
            offsets: planes.iter().map(|place| place.offset).collect(),
            strides: strides.map_err(|_| PoolError::TooLarge { bytes })?,
            alignment: alignment
                .and_then(|asked| stated_alignment(&info, &asked, &geometry.layout)),
            info,
            geometry,
            size: size_bytes,
            allocator,
            params,
        };
        Ok((plan, size != asked || !has_meta || replaced))
    }

    /// A buffer over `memory`, which learns its import; plain memory has none.
    pub(super) fn buffer(
        &self,
        memory: gst::Memory,
        access: CpuAccess,
    ) -> Result<gst::Buffer, PoolError> {
        if !memory.is_type("SystemMemory") {
            self.bear(&memory, access)?;
        }
        let mut buffer = gst::Buffer::new();
        let new = buffer.make_mut();
        new.append_memory(memory);
        let mut meta = VideoMeta::add_full(
            new,
            VideoFrameFlags::empty(),
            self.info.format(),
            self.info.width(),
            self.info.height(),
            &self.offsets,
            &self.strides,
        )?;
        if let Some(alignment) = &self.alignment {
            meta.set_alignment(alignment)?;
        }
        Ok(buffer)
    }

    /// Imports the memory now, so that no frame in it ever has to be looked up.
    fn bear(&self, memory: &gst::MemoryRef, access: CpuAccess) -> Result<(), PoolError> {
        let name = || memory.allocator().map(|allocator| allocator.name().to_string());
        let no_fd = || PoolError::NoFd { name: name().unwrap_or_default() };
        let frame = Frame {
            layout: &self.geometry.layout,
            colorimetry: colorimetry(&self.info.colorimetry()),
            quantization: None,
            access: CpuAccess::Read.intersection(access),
            fds: &[handles::fd(memory).ok_or_else(no_fd)?],
            handles: &[0],
        };
        let import = FrameImport::new(&frame, memo::share)?;
        memo::set_born(memory, Arc::new(import));
        Ok(())
    }
}

/// Keeps the configuration's allocator if it makes dma-bufs on request, and its params if they can
/// be met. The allocator is given back if it is somebody else's; the flag tells of a replacement.
///
/// Sources overwrite the allocator with whatever the allocation query lists first, so a wrong one
/// says nothing about what the caller wants.
fn settle_allocator(
    config: &BufferPoolConfigRef,
) -> (Option<gst::Allocator>, AllocationParams, bool) {
    let (asked, asked_params) = config.allocator().unwrap_or_default();
    let params = match supported_params(&asked_params) {
        Ok(()) => asked_params,
        Err(_) => AllocationParams::new(asked_params.flags(), 0, 0, asked_params.padding()),
    };
    let is_wrong = asked.as_ref().is_some_and(|allocator| !makes_dma_bufs(allocator));
    let kept = if is_wrong { Some(TensorAllocator::get().upcast()) } else { asked };
    config.set_allocator(kept.as_ref(), Some(&params));
    let replaced = is_wrong || supported_params(&asked_params).is_err();
    (kept.filter(|allocator| !allocator.is::<TensorAllocator>()), params, replaced)
}

#[cfg(test)]
mod tests {
    use gst_video::VideoFormat;
    use tensor_core::{
        PixelFormat, TensorMemory,
        memory::{AllocPolicy, Step},
    };

    use super::*;
    use crate::pool::TensorBufferPool;

    #[test]
    fn a_frame_is_born_with_its_import_and_keeps_it_when_recycled() {
        gst::init().unwrap();
        let memfd = AllocPolicy::from_steps([Step::Memfd]);
        let pool = TensorBufferPool::builder().video(VideoFormat::Rgb, 642, 4).unwrap();
        let pool = pool.buffers(1, 1).policy(memfd).build().unwrap();
        pool.set_active(true).unwrap();

        let mut buffer = pool.acquire_buffer(None).unwrap();
        buffer.get_mut().unwrap().map_writable().unwrap().fill(7);
        let import = memo::find(buffer.peek_memory(0), |_| true).unwrap();
        let tensor = &import.tensor;
        assert_eq!(
            (tensor.image_layout().unwrap().format(), tensor.memory()),
            (PixelFormat::Rgb, TensorMemory::Shm)
        );
        assert_eq!(tensor.image_layout().unwrap().planes()[0].stride, 1984);
        assert_eq!(*import.attachment, *import.blob);
        assert_eq!(tensor.memories()[0].map(CpuAccess::Read).unwrap()[1983], 7);

        drop(buffer);
        let again = pool.acquire_buffer(None).unwrap();
        assert!(memo::is_part_of(again.peek_memory(0), &import));
    }
}
