//! What a pool is asked to be, and whether it is: only a buffer of it tells.

use gst::{AllocationParams, BufferPoolAcquireFlags, BufferPoolAcquireParams, glib, prelude::*};
use gst_video::{
    BUFFER_POOL_OPTION_VIDEO_ALIGNMENT, BUFFER_POOL_OPTION_VIDEO_META, VideoAlignment,
    VideoBufferPoolConfig,
};

use crate::pool::TensorBufferPool;

/// A configuration, of whoever's pool.
#[derive(Clone, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) caps: &'a gst::Caps,
    /// Bytes of a buffer, at least.
    pub(crate) size: u32,
    /// Buffers that there are to be at least.
    pub(crate) min: u32,
    /// And at most; 0 sets no bound.
    pub(crate) max: u32,
    pub(crate) allocator: Option<(Option<gst::Allocator>, AllocationParams)>,
    /// Whether rows may be longer than the caps let one think.
    pub(crate) video_meta: bool,
    /// Padding around the picture.
    pub(crate) alignment: Option<VideoAlignment>,
}

impl Asked<'_> {
    /// Configures `pool`, which may change what was asked as long as it still keeps it. One
    /// that refused everything may say so only when it is activated.
    pub(crate) fn configure(&self, pool: &gst::BufferPool) -> Result<(), glib::BoolError> {
        let mut config = pool.config();
        config.set_params(Some(self.caps), self.size, self.min, self.max);
        if self.video_meta && pool.has_option(BUFFER_POOL_OPTION_VIDEO_META) {
            config.add_option(BUFFER_POOL_OPTION_VIDEO_META);
        }
        let asked = self.alignment.as_ref();
        let has_option = || pool.has_option(BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
        if let Some(asked) = asked.filter(|_| has_option()) {
            config.add_option(BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
            config.set_video_alignment(asked);
        }
        if let Some((allocator, params)) = &self.allocator {
            config.set_allocator(allocator.as_ref(), Some(params));
        }
        // A pool says no to what it had to change; reading it back and setting it again agrees.
        pool.set_config(config).or_else(|refused| {
            let config = pool.config();
            let kept = config.validate_params(Some(self.caps), self.size, self.min, self.max);
            kept.map_err(|_| refused)?;
            pool.set_config(config)
        })
    }

    /// Whether `pool` gives buffers as they are `wanted`. One that does is left active, any other as
    /// it was found.
    pub(crate) fn serves(
        &self,
        pool: &gst::BufferPool,
        wanted: impl FnOnce(&gst::BufferRef) -> bool,
    ) -> bool {
        let was_active = pool.is_active();
        if self.configure(pool).is_err() || pool.set_active(true).is_err() {
            return false;
        }
        let now = BufferPoolAcquireParams::with_flags(BufferPoolAcquireFlags::DONTWAIT);
        let serves = pool.acquire_buffer(Some(&now)).is_ok_and(|buffer| wanted(&buffer));
        if let Some(ours) = pool.downcast_ref::<TensorBufferPool>() {
            ours.untake();
        }
        if !serves && !was_active {
            // A pool that cannot be stopped is not used either way.
            let _stopped = pool.set_active(false);
        }
        serves
    }
}

#[cfg(test)]
mod tests {
    use gst_video::{VideoBufferPool, VideoMeta};

    use super::*;

    fn caps() -> gst::Caps {
        gst::init().unwrap();
        "video/x-raw,format=GRAY8,width=66,height=2,framerate=30/1".parse().unwrap()
    }

    fn asked(caps: &gst::Caps, video_meta: bool) -> Asked<'_> {
        let (size, min, max) = (68 * 2, 1, 1);
        Asked { caps, size, min, max, allocator: None, video_meta, alignment: None }
    }

    #[test]
    fn a_pool_that_does_not_serve_is_left_as_it_was_found() {
        let (caps, pool) = (caps(), VideoBufferPool::new().upcast::<gst::BufferPool>());
        let asked = asked(&caps, true);
        assert!(!asked.serves(&pool, |buffer| buffer.meta::<VideoMeta>().is_none()));
        assert!(!pool.is_active());
        assert!(asked.serves(&pool, |buffer| buffer.meta::<VideoMeta>().is_some()));
        assert!(pool.is_active());
        // Somebody else may be using it.
        assert!(!asked.serves(&pool, |_| false) && pool.is_active());
        let only = pool.acquire_buffer(None).unwrap();
        assert!(!asked.serves(&pool, |_| true), "it would be waited for");
        drop(only);
        pool.set_active(false).unwrap();
    }

    #[test]
    fn a_pool_may_give_larger_buffers_and_not_others() {
        let (caps, pool) = (caps(), TensorBufferPool::new().upcast::<gst::BufferPool>());
        assert!(asked(&caps, false).serves(&pool, |_| true));
        let looked_at = pool.downcast_ref::<TensorBufferPool>().unwrap().taken_scattered();
        assert!(looked_at.is_none_or(|taken| taken == 0), "{looked_at:?}: nobody used it");
        pool.set_active(false).unwrap();
        let (_, size, min, max) = pool.config().params().unwrap();
        assert_eq!((size, min, max), (128 * 2, 1, 1), "rows of 64 bytes");
        let text = gst::Caps::new_empty_simple("text/plain");
        assert!(!asked(&text, false).serves(&pool, |_| true));
    }
}
