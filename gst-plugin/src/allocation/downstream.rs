//! What downstream said when it was asked how frames should be allocated.

use gst::{AllocationParams, prelude::*, query};
use gst_video::{VIDEO_MAX_PLANES, VideoAlignment, VideoMeta};

use crate::{allocator::makes_dma_bufs, pool::TensorBufferPool};

/// An answered allocation query, as far as it bears on frames that an accelerator takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Downstream {
    /// A pool, if it makes frames of our kind and not just any of them.
    pub(crate) pool: Option<gst::BufferPool>,
    /// An allocator, if it makes dma-bufs.
    pub(crate) allocator: Option<gst::Allocator>,
    pub(crate) params: AllocationParams,
    /// Bytes of a buffer, at least.
    pub(crate) size: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Padding around the picture.
    pub(crate) alignment: Option<VideoAlignment>,
    /// Whether rows may be longer than the caps let one think.
    pub(crate) reads_video_meta: bool,
}

impl Downstream {
    pub(crate) fn of(query: &query::Allocation) -> Self {
        let (pool, size, min, max) = query.allocation_pools().next().unwrap_or_default();
        let (allocator, params) = query.allocation_params().next().unwrap_or_default();
        let meta = query.find_allocation_meta::<VideoMeta>();
        let asked = meta.and_then(|index| {
            let index = usize::try_from(index).ok()?;
            query.allocation_metas().nth(index)?.1.map(alignment)
        });
        Self {
            pool: pool.filter(is_worth_more),
            allocator: allocator.filter(makes_dma_bufs),
            params,
            size,
            min,
            max,
            alignment: asked,
            reads_video_meta: meta.is_some(),
        }
    }
}

/// Whether a pool gives memory of the kind that ours does, and is worth more to downstream than ours.
/// One that would put frames into memory which no accelerator takes is of no use, however near to its
/// sink; one like ours asks for nothing that ours would not give.
fn is_worth_more(pool: &gst::BufferPool) -> bool {
    let allocator = || pool.config().allocator()?.0;
    match pool.downcast_ref::<TensorBufferPool>() {
        Some(ours) => !ours.is_plain(),
        None => allocator().is_some_and(|found| makes_dma_bufs(&found)),
    }
}

/// The parameters that come with a video meta.
fn alignment(params: &gst::StructureRef) -> VideoAlignment {
    let pixels = |name: &str| params.get::<u32>(name).unwrap_or(0);
    let mut masks = [0; VIDEO_MAX_PLANES];
    for (mask, name) in masks.iter_mut().zip(["0", "1", "2", "3"]) {
        *mask = pixels(&format!("stride-align{name}"));
    }
    VideoAlignment::new(
        pixels("padding-top"),
        pixels("padding-bottom"),
        pixels("padding-left"),
        pixels("padding-right"),
        &masks,
    )
}

#[cfg(test)]
mod tests {
    use tensor_core::StrideAlign;

    use super::*;

    fn answered(prepare: impl FnOnce(&mut query::Allocation)) -> Downstream {
        gst::init().unwrap();
        let caps = gst::Caps::new_empty_simple("video/x-raw");
        let mut query = query::Allocation::new(Some(&caps), true);
        prepare(query.get_mut().unwrap());
        Downstream::of(&query)
    }

    #[test]
    fn no_answer_asks_for_nothing() {
        let said = answered(|_| ());
        assert!(said.pool.is_none() && said.allocator.is_none() && said.alignment.is_none());
        assert_eq!((said.size, said.min, said.max, said.reads_video_meta), (0, 0, 0, false));
    }

    #[test]
    fn a_pool_of_plain_memory_is_heard_for_its_numbers_alone() {
        let said = answered(|query| {
            query.add_allocation_pool(Some(&gst_video::VideoBufferPool::new()), 7, 3, 5);
            query.add_allocation_param(gst::Allocator::find(None).as_ref(), Default::default());
        });
        assert!(said.pool.is_none() && said.allocator.is_none());
        assert_eq!((said.size, said.min, said.max), (7, 3, 5));
    }

    #[test]
    fn a_pool_like_ours_counts_if_it_asks_for_more() {
        gst::init().unwrap();
        let wide = TensorBufferPool::builder().alignment(StrideAlign::new(512).unwrap());
        let contiguous = TensorBufferPool::builder().contiguous(true);
        for (pool, counts) in [
            (TensorBufferPool::new(), false),
            (TensorBufferPool::builder().build().unwrap(), false),
            (wide.build().unwrap(), true),
            (contiguous.build().unwrap(), true),
        ] {
            let said = answered(|query| query.add_allocation_pool(Some(&pool), 7, 3, 5));
            assert_eq!(said.pool, counts.then(|| pool.upcast()));
        }
    }

    #[test]
    fn padding_is_read_from_the_video_metas_parameters() {
        gst::init().unwrap();
        let params = gst::Structure::builder("video-meta")
            .field("padding-top", 1_u32)
            .field("padding-bottom", 2_u32)
            .field("padding-left", 3_u32)
            .field("padding-right", 4_u32)
            .field("stride-align1", 127_u32)
            .build();
        let said = answered(|query| query.add_allocation_meta::<VideoMeta>(Some(&params)));
        let expected = VideoAlignment::new(1, 2, 3, 4, &[0, 127, 0, 0]);
        assert!(said.reads_video_meta && said.alignment == Some(expected));
    }
}
