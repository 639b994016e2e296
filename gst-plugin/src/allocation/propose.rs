//! What upstream is told when it asks how frames should be allocated.

use gst::query;
use gst_video::{VIDEO_MAX_PLANES, VideoAlignment, VideoInfo, VideoMeta};
use tensor_core::StrideAlign;

use crate::video_layout;

/// The most columns that must be added to a row of any format before every plane's stride is a
/// multiple of 64: half-width chroma of one byte needs a width that is a multiple of 128.
const MOST_PADDING: u32 = 127;

/// Frames that are out at once: one that is read, one that a sink keeps as its last.
const MIN_BUFFERS: u32 = 2;

/// Where frames can be allocated so that an accelerator takes them.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) pool: gst::BufferPool,
    pub(crate) allocator: gst::Allocator,
}

/// Completes the answer that downstream gave, or did not give.
///
/// Video meta is named in every case: a producer that does not find it copies every frame whose
/// rows are padded or whose planes are in several memories. When a pool is wanted and nobody
/// downstream has one, 64-byte rows are asked for: `v4l2src` sets its driver to them, other
/// producers take the provider if there is one. (A `tee` wants no pool, and would drop a video
/// meta that comes with parameters.) Crop meta stays as downstream has it: a tensor is of the
/// cropped part, but the frame goes on whole.
pub(crate) fn complete(query: &mut query::Allocation, provider: impl FnOnce() -> Option<Provider>) {
    let (caps, need_pool) = query.get_owned();
    let info = caps.and_then(|caps| video_layout::info_from_caps(&caps).ok());
    let has_pool = query.allocation_pools().any(|(pool, ..)| pool.is_some());
    let aligned = info.filter(|_| need_pool && !has_pool).and_then(|info| Aligned::of(&info));
    name_video_meta(query, aligned.as_ref());
    if let Some(size) = aligned.and_then(|aligned| u32::try_from(aligned.size).ok()) {
        offer(query, size, provider());
    }
}

/// Names video meta, with the rows to ask for unless downstream asks for its own.
fn name_video_meta(query: &mut query::Allocation, aligned: Option<&Aligned>) {
    if let Some(named) = query.find_allocation_meta::<VideoMeta>() {
        let place = usize::try_from(named).unwrap_or(usize::MAX);
        let asks = query.allocation_metas().nth(place).is_some_and(|(_, asked)| asked.is_some());
        if asks || aligned.is_none() {
            return;
        }
        query.remove_nth_allocation_meta(named);
    }
    query.add_allocation_meta::<VideoMeta>(aligned.map(Aligned::structure).as_deref());
}

fn offer(query: &mut query::Allocation, size: u32, provider: Option<Provider>) {
    let (pool, allocator) = provider.map(|from| (from.pool, from.allocator)).unzip();
    if allocator.is_some() && query.allocation_params().next().is_none() {
        query.add_allocation_param(allocator.as_ref(), gst::AllocationParams::default());
    }
    // An entry without a pool is still downstream's word on size and number.
    let asked = query.allocation_pools().next().map(|(_, size, min, max)| (size, min, max));
    match asked {
        Some((theirs, min, max)) => {
            let (size, min) = (size.max(theirs), min.max(MIN_BUFFERS));
            let max = if max == 0 { 0 } else { max.max(min) };
            query.set_nth_allocation_pool(0, pool.as_ref(), size, min, max);
        }
        None => query.add_allocation_pool(pool.as_ref(), size, MIN_BUFFERS, 0),
    }
}

/// A frame whose rows are 64-byte aligned, as columns added to the right of it: the one way of
/// asking that `v4l2src` of every version understands. (Stride alignments 1.22 refuses.)
#[derive(Debug)]
struct Aligned {
    padding_right: u32,
    /// Bytes of the frame, by the function with which `v4l2src` computes them too: it ignores the
    /// request when its own sum is another.
    size: usize,
}

impl Aligned {
    fn of(info: &VideoInfo) -> Option<Self> {
        let is_aligned = |stride: &i32| {
            usize::try_from(*stride).is_ok_and(|s| s.is_multiple_of(StrideAlign::DMA.bytes()))
        };
        (0..=MOST_PADDING).find_map(|padding_right| {
            let mut padded = info.clone();
            let no_masks = [0; VIDEO_MAX_PLANES];
            padded.align(&mut VideoAlignment::new(0, 0, 0, padding_right, &no_masks)).ok()?;
            let size = padded.size();
            padded.stride().iter().all(is_aligned).then_some(Self { padding_right, size })
        })
    }

    fn structure(&self) -> gst::Structure {
        gst::Structure::builder("video-meta")
            .field("padding-top", 0_u32)
            .field("padding-bottom", 0_u32)
            .field("padding-left", 0_u32)
            .field("padding-right", self.padding_right)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use gst_video::{VideoCropMeta, VideoFormat};

    use super::*;

    fn answer(
        need_pool: bool,
        prepare: impl FnOnce(&mut query::Allocation),
    ) -> query::Allocation<gst::Query> {
        gst::init().unwrap();
        let info = VideoInfo::builder(VideoFormat::Nv12, 642, 480).build().unwrap();
        let mut query = query::Allocation::new(Some(&info.to_caps().unwrap()), need_pool);
        let answer = query.get_mut().unwrap();
        prepare(answer);
        complete(answer, || None);
        query
    }

    fn video_meta(query: &query::Allocation<gst::Query>) -> Option<gst::Structure> {
        let index = usize::try_from(query.find_allocation_meta::<VideoMeta>().unwrap()).unwrap();
        query.allocation_metas().nth(index).unwrap().1.map(|params| params.to_owned())
    }

    // G04: the smallest width whose planes are all aligned, whatever the format
    #[test]
    fn columns_are_added_until_every_stride_is_aligned() {
        gst::init().unwrap();
        let asked = |format, width| {
            let info = VideoInfo::builder(format, width, 242).build().unwrap();
            let aligned = Aligned::of(&info).unwrap();
            (aligned.padding_right, aligned.size)
        };
        assert_eq!(asked(VideoFormat::Nv12, 640), (0, 640 * 242 * 3 / 2));
        assert_eq!(asked(VideoFormat::Nv12, 322), (384 - 322 - 3, 384 * 242 * 3 / 2));
        assert_eq!(asked(VideoFormat::Rgb, 322), (341 - 322, 1024 * 242));
        assert_eq!(asked(VideoFormat::Rgba, 322), (336 - 322, 336 * 4 * 242));
        for format in video_layout::caps_formats() {
            for width in 1..300 {
                let info = VideoInfo::builder(format, width, 8).build().unwrap();
                assert!(Aligned::of(&info).is_some(), "{format:?} {width}");
            }
        }
    }

    #[test]
    fn rows_of_64_bytes_are_asked_for_when_a_pool_is_wanted() {
        let query = answer(true, |_| ());
        let params = video_meta(&query).unwrap();
        assert!(params.get::<u32>("padding-right").unwrap() > 0, "{params}");
        let pools: Vec<_> = query.allocation_pools().collect();
        assert_eq!(pools, [(None, 704 * 480 * 3 / 2, MIN_BUFFERS, 0)]);
    }

    #[test]
    fn rows_are_asked_for_although_downstream_takes_any() {
        let query = answer(true, |query| query.add_allocation_meta::<VideoMeta>(None));
        assert!(video_meta(&query).is_some());
        let own = gst::Structure::builder("video-meta").field("padding-top", 4_u32).build();
        let asks = own.clone();
        let query = answer(true, |query| query.add_allocation_meta::<VideoMeta>(Some(&asks)));
        assert_eq!(video_meta(&query), Some(own));
    }

    #[test]
    fn a_tee_gets_video_meta_without_parameters() {
        let query = answer(false, |_| ());
        assert_eq!(video_meta(&query), None);
        assert_eq!(query.allocation_pools().count(), 0);
    }

    // G20
    #[test]
    fn cropping_by_meta_is_downstreams_to_promise() {
        let query = answer(false, |query| query.add_allocation_meta::<VideoCropMeta>(None));
        assert!(query.find_allocation_meta::<VideoCropMeta>().is_some());
        let query = answer(false, |_| ());
        assert_eq!(query.find_allocation_meta::<VideoCropMeta>(), None);
    }

    #[test]
    fn downstreams_pool_stays_first() {
        gst::init().unwrap();
        let pool = gst_video::VideoBufferPool::new();
        let query = answer(true, |query| query.add_allocation_pool(Some(&pool), 7, 1, 4));
        assert_eq!(video_meta(&query), None);
        let pools: Vec<_> = query.allocation_pools().collect();
        assert_eq!(pools.len(), 1);
        assert_eq!((pools[0].1, pools[0].2, pools[0].3), (7, 1, 4));
    }

    #[test]
    fn a_size_without_a_pool_is_raised() {
        let none = None::<&gst::BufferPool>;
        let query = answer(true, |query| query.add_allocation_pool(none, 7, 4, 3));
        let pools: Vec<_> = query.allocation_pools().collect();
        assert_eq!(pools, [(None, 704 * 480 * 3 / 2, 4, 4)]);
    }
}
