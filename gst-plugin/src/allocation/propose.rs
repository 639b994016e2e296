//! What upstream is told when it asks how frames should be allocated.

use gst::query;
use gst_video::{VIDEO_MAX_PLANES, VideoAlignment, VideoInfo, VideoMeta};
use tensor_core::StrideAlign;

use crate::video_layout;

/// Frames that are out at once: one that is read, one that a sink keeps as its last.
pub(crate) const MIN_BUFFERS: u32 = 2;

/// What an element asks of the frames that upstream makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What row strides are to be multiples of.
    pub(crate) align: StrideAlign,
    /// Buffers that there are to be at least.
    pub(crate) min: u32,
    /// And at most; 0 sets no bound.
    pub(crate) max: u32,
}

impl Default for Request {
    fn default() -> Self {
        Self { align: StrideAlign::DMA, min: MIN_BUFFERS, max: 0 }
    }
}

impl Request {
    /// The numbers of buffers that suit both this and what another asked.
    pub(crate) fn buffers(&self, min: u32, max: u32) -> (u32, u32) {
        let min = self.min.max(min);
        let max = match (self.max, max) {
            (0, bound) | (bound, 0) => bound,
            (ours, theirs) => ours.min(theirs),
        };
        (min, if max == 0 { 0 } else { max.max(min) })
    }
}

/// Where frames can be allocated so that an accelerator takes them.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) pool: gst::BufferPool,
    pub(crate) allocator: Option<gst::Allocator>,
}

/// Completes the answer that downstream gave, or did not give.
///
/// Video meta is named in every case: a producer that does not find it copies every frame whose
/// rows are padded or whose planes are in several memories. When a pool is wanted and nobody
/// downstream has one, aligned rows are asked for: `v4l2src` sets its driver to them, other
/// producers take the provider if there is one. (A `tee` wants no pool, and would drop a video
/// meta that comes with parameters.) Crop meta stays as downstream has it: a tensor is of the
/// cropped part, but the frame goes on whole.
pub(crate) fn complete(
    query: &mut query::Allocation,
    request: &Request,
    provider: impl FnOnce() -> Option<Provider>,
) {
    let (caps, need_pool) = query.get_owned();
    let info = caps.and_then(|caps| video_layout::info_from_caps(&caps).ok());
    let has_pool = query.allocation_pools().any(|(pool, ..)| pool.is_some());
    let info = info.filter(|_| need_pool && !has_pool);
    let aligned = info.and_then(|info| Aligned::of(&info, request.align));
    name_video_meta(query, aligned.as_ref());
    if let Some(size) = aligned.and_then(|aligned| u32::try_from(aligned.size).ok()) {
        offer(query, size, request, provider());
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

fn offer(query: &mut query::Allocation, size: u32, request: &Request, provider: Option<Provider>) {
    let (pool, allocator) = provider.map(|from| (from.pool, from.allocator)).unzip();
    let allocator = allocator.flatten();
    if allocator.is_some() && query.allocation_params().next().is_none() {
        query.add_allocation_param(allocator.as_ref(), gst::AllocationParams::default());
    }
    // An entry without a pool is still downstream's word on size and number.
    let asked = query.allocation_pools().next().map(|(_, size, min, max)| (size, min, max));
    match asked {
        Some((theirs, min, max)) => {
            let (min, max) = request.buffers(min, max);
            query.set_nth_allocation_pool(0, pool.as_ref(), size.max(theirs), min, max);
        }
        None => query.add_allocation_pool(pool.as_ref(), size, request.min, request.max),
    }
}

/// A frame whose rows are aligned, as columns added to the right of it: the one way of
/// asking that `v4l2src` of every version understands.
#[derive(Debug)]
struct Aligned {
    padding_right: u32,
    /// Bytes of the frame, by the function with which `v4l2src` computes them too: it ignores the
    /// request when its own sum is another.
    size: usize,
}

impl Aligned {
    fn of(info: &VideoInfo, align: StrideAlign) -> Option<Self> {
        let bytes = align.bytes();
        let is_aligned =
            |stride: &i32| usize::try_from(*stride).is_ok_and(|s| s.is_multiple_of(bytes));
        // Half-width chroma of one byte needs a width that is a multiple of twice the alignment.
        let most = u32::try_from(bytes.saturating_mul(2)).unwrap_or(u32::MAX);
        (0..most).find_map(|padding_right| {
            let mut padded = info.clone();
            let no_masks = [0; VIDEO_MAX_PLANES];
            padded.align(&mut VideoAlignment::new(0, 0, 0, padding_right, &no_masks)).ok()?;
            let size = padded.size();
            padded.stride().iter().all(is_aligned).then_some(Self { padding_right, size })
        })
    }

    fn structure(&self) -> gst::Structure {
        let mut asked = gst::Structure::builder("video-meta")
            .field("padding-top", 0_u32)
            .field("padding-bottom", 0_u32)
            .field("padding-left", 0_u32)
            .field("padding-right", self.padding_right)
            .build();
        // v4l2src of 1.22 ignores a request that has these fields, that of 1.26 one that has not.
        if gst::version() >= (1, 25, 0, 0) {
            for plane in 0..VIDEO_MAX_PLANES {
                asked.set(format!("stride-align{plane}"), 0_u32);
            }
        }
        asked
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
        complete(answer, &Request::default(), || None);
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
            let aligned = Aligned::of(&info, StrideAlign::DMA).unwrap();
            (aligned.padding_right, aligned.size)
        };
        assert_eq!(asked(VideoFormat::Nv12, 640), (0, 640 * 242 * 3 / 2));
        assert_eq!(asked(VideoFormat::Nv12, 322), (384 - 322 - 3, 384 * 242 * 3 / 2));
        assert_eq!(asked(VideoFormat::Rgb, 322), (341 - 322, 1024 * 242));
        assert_eq!(asked(VideoFormat::Rgba, 322), (336 - 322, 336 * 4 * 242));
        for format in video_layout::caps_formats() {
            for width in 1..300 {
                let info = VideoInfo::builder(format, width, 8).build().unwrap();
                assert!(Aligned::of(&info, StrideAlign::DMA).is_some(), "{format:?} {width}");
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
    fn numbers_of_buffers_suit_both_sides() {
        let request = |min, max| Request { align: StrideAlign::DMA, min, max };
        assert_eq!(request(2, 0).buffers(4, 0), (4, 0));
        assert_eq!(request(2, 8).buffers(4, 0), (4, 8));
        assert_eq!(request(2, 0).buffers(1, 3), (2, 3));
        assert_eq!(request(2, 8).buffers(0, 5), (2, 5));
        assert_eq!(request(2, 3).buffers(6, 0), (6, 6));
    }

    #[test]
    fn a_size_without_a_pool_is_raised() {
        let none = None::<&gst::BufferPool>;
        let query = answer(true, |query| query.add_allocation_pool(none, 7, 4, 3));
        let pools: Vec<_> = query.allocation_pools().collect();
        assert_eq!(pools, [(None, 704 * 480 * 3 / 2, 4, 4)]);
    }
}
