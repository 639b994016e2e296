//! `tensorconvert`: buffers of its own pool, and of pools that downstream offers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::collections::HashSet;

use common::*;
use gst::{glib, prelude::*, subclass::prelude::*};
use gst_check::Harness;
use gst_video::VideoMeta;
use gsttensor::pool::TensorBufferPool;
use tensor_core::Memory;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct SharedPool;

    #[glib::object_subclass]
    impl ObjectSubclass for SharedPool {
        const NAME: &'static str = "SharedPool";
        type Type = super::SharedPool;
        type ParentType = gst::BufferPool;
    }

    impl ObjectImpl for SharedPool {}
    impl GstObjectImpl for SharedPool {}

    impl BufferPoolImpl for SharedPool {
        fn alloc_buffer(
            &self,
            _params: Option<&gst::BufferPoolAcquireParams>,
        ) -> Result<gst::Buffer, gst::FlowError> {
            let (_, size, ..) = self.obj().config().params().unwrap();
            let shm = Memory::shm(usize::try_from(size).unwrap()).unwrap();
            Ok(buffer([fd_memory(&shm)]))
        }
    }
}

glib::wrapper! {
    /// Shared memory of whatever size is asked.
    pub struct SharedPool(ObjectSubclass<imp::SharedPool>) @extends gst::BufferPool, gst::Object;
}

fn frame() -> gst::Buffer {
    buffer([fd_memory(&filled(&tight_nv12(), 0, 4))])
}

/// Frames into inputs of 16x16, of a downstream that wants `caps` and answers with a pool, if it has
/// one, of buffers of `size` bytes.
fn convert(caps: &str, pool: Option<gst::BufferPool>, size: u32) -> Harness {
    convert_with(caps, move || pool.clone(), size)
}

/// As [`convert`], of a downstream that answers with a pool of its own each time.
fn convert_with(
    caps: &str,
    pool: impl Fn() -> Option<gst::BufferPool> + Send + Sync + 'static,
    size: u32,
) -> Harness {
    let mut harness = Harness::new_parse("tensorconvert width=16 height=16");
    harness.set_sink_caps_str(caps);
    let pad = harness.sinkpad().unwrap();
    pad.add_probe(gst::PadProbeType::QUERY_DOWNSTREAM, move |_, info| {
        let Some(query) = info.query_mut() else { return gst::PadProbeReturn::Ok };
        let gst::QueryViewMut::Allocation(query) = query.view_mut() else {
            return gst::PadProbeReturn::Ok;
        };
        query.add_allocation_pool(pool().as_ref(), size, 2, 0);
        gst::PadProbeReturn::Handled
    })
    .unwrap();
    harness.set_src_caps_str(NV12);
    harness
}

const LEN: usize = 16 * 16 * 3;

/// Pushes frames one after the other; how many memories what leaves lies in.
fn memories(harness: &mut Harness) -> usize {
    let mut push = |_| {
        let out = harness.push_and_pull(frame()).unwrap();
        assert_eq!((out.size(), tensor(&out).flat_len()), (LEN, LEN));
        // Held by descriptor, so that none takes the place of another that is gone.
        tensor(&out).memories()[0].clone()
    };
    let all: Vec<_> = (0..8).map(&mut push).collect();
    all.iter().map(|memory| memory.identity().unwrap()).collect::<HashSet<_>>().len()
}

/// Who reads a tensor wants its exact size, whatever size a pool of ours was asked to have, and the
/// memory comes back.
#[test]
fn what_downstream_asks_for_makes_no_buffer_larger() {
    init();
    for asked in [0, 800, 5000, 1 << 20] {
        let mut harness = convert("other/tensors", None, asked);
        // As many as were asked for at least.
        assert_eq!(memories(&mut harness), 2, "{asked} bytes asked");
    }
}

#[test]
fn a_tensor_in_a_larger_buffer_of_downstreams_is_all_of_it() {
    init();
    for size in [800, 5000] {
        let pool = glib::Object::new::<SharedPool>().upcast::<gst::BufferPool>();
        let mut harness = convert("other/tensors", Some(pool.clone()), size);
        let memories = memories(&mut harness);
        assert!(pool.is_active());
        assert_eq!(memories, 2, "{size} bytes");
    }
}

/// G01: a pool whose rows are not where the caps say is not for a downstream that reads no meta.
#[test]
fn a_pool_with_padded_rows_is_for_who_reads_the_meta() {
    init();
    let pool = TensorBufferPool::new().upcast::<gst::BufferPool>();
    let caps = "video/x-raw,format=RGB,width=16,height=16";
    let mut harness = convert(caps, Some(pool.clone()), 0);
    let out = harness.push_and_pull(frame()).unwrap();
    assert!(!pool.is_active());
    assert_eq!((out.size(), out.meta::<VideoMeta>().is_none()), (LEN, true));
}

/// What was imported of a pool is closed with it, however often there is another one.
#[test]
fn a_pool_that_is_gone_is_not_held() {
    init();
    let pool = || Some(glib::Object::new::<SharedPool>().upcast());
    let mut harness = convert_with("other/tensors", pool, 800);
    let frame = frame();
    let counts = (0..6).map(|_| {
        drop(harness.push_and_pull(frame.clone()).unwrap());
        drop(harness.push_and_pull(frame.clone()).unwrap());
        let open = fd_count();
        harness.push_upstream_event(gst::event::Reconfigure::new());
        open
    });
    let counts: Vec<_> = counts.collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
}

#[test]
fn a_flush_forgets_what_was_imported_of_a_pool() {
    init();
    let pool = glib::Object::new::<SharedPool>().upcast::<gst::BufferPool>();
    let mut harness = convert("other/tensors", Some(pool), 800);
    // Held, so that its own descriptors count before and after.
    let out = harness.push_and_pull(frame()).unwrap();
    let held = fd_count();
    harness.push_event(gst::event::FlushStart::new());
    harness.push_event(gst::event::FlushStop::new(false));
    assert_eq!(fd_count(), held - 1, "the frame's; the meta still has the output's");
    drop(out);
    assert_eq!(fd_count(), held - 2, "and the output's");
}
