//! What `tensorpool` is told to make of frames holds, whatever memory downstream offers.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::{glib, prelude::*, subclass::prelude::*};
use gst_allocators::DmaBufMemory;
use gst_check::Harness;
use gst_video::{VideoFormat, VideoMeta};
use gsttensor::{allocator::TensorAllocator, pool::TensorBufferPool};
use tensor_core::{CpuAccess, Memory, StrideAlign, memory::AllocPolicy};

const NV12_ODD: &str = "video/x-raw,format=NV12,width=642,height=36,framerate=30/1";

/// Whether a memory is of the kind that was promised.
type Kept = fn(&gst::MemoryRef) -> bool;

/// `tensorimport` offers a pool of its own, in the best memory of the machine and rows of 64 bytes.
#[test]
fn a_promise_holds_in_front_of_tensorimport() {
    init();
    let promises: [(&str, i32, Kept); 3] = [
        ("alignment=256", 256, |_| true),
        ("memory=shm", 64, |memory| !memory.is_memory_type::<DmaBufMemory>()),
        ("contiguous=true", 64, |memory| {
            memory.flags().contains(gst::MemoryFlags::PHYSICALLY_CONTIGUOUS)
        }),
    ];
    for (properties, align, is_kept) in promises {
        let contiguous = AllocPolicy::dma_buf_only().contiguous();
        if properties.starts_with("contiguous") && contiguous.allocate(1, CpuAccess::Read).is_err()
        {
            skip("cma", "no contiguous dma-heap on this machine");
            continue;
        }
        for (between, mode) in [("", "pooled"), ("! identity drop-allocation=true", "copied")] {
            let (frames, stats) = run(&format!(
                "videotestsrc num-buffers=4 ! {NV12_ODD} {between} \
                 ! tensorpool name=pool {properties} ! tensorimport"
            ));
            assert_eq!(frames.len(), 4);
            assert_eq!(count(&stats.unwrap(), mode), 4, "{properties} {between}");
            for frame in &frames {
                assert_is_of_our_kind(frame, align);
                assert!(is_kept(frame.peek_memory(0)), "{properties} {between}");
            }
        }
    }
}

/// The pool that a `tensorpool` with `properties` offers upstream, and a copy that it makes, when
/// downstream offers `theirs`.
fn beside(
    theirs: &gst::BufferPool,
    caps: &str,
    properties: &str,
) -> (Option<gst::BufferPool>, Vec<gst::Buffer>) {
    init();
    let mut harness = Harness::new_parse(&format!("tensorpool {properties}"));
    let offer = theirs.clone();
    answered(&harness, move |query| query.add_allocation_pool(Some(&offer), 1 << 16, 2, 0));
    harness.set_src_caps_str(caps);
    let query = asked(&mut harness, caps);
    let pool = query.allocation_pools().next().and_then(|(pool, ..)| pool);
    let plain = || gst::Buffer::with_size(1 << 16).unwrap();
    let copies = (0..3).map(|_| harness.push_and_pull(plain()).unwrap()).collect();
    (pool, copies)
}

// S-GST-07
#[test]
fn a_pool_of_lesser_frames_is_not_used() {
    init();
    let ours = |align| {
        let pool = TensorBufferPool::builder().alignment(StrideAlign::new(align).unwrap());
        pool.build().unwrap().upcast::<gst::BufferPool>()
    };
    // Rows of whole words, in dma-bufs where there are any; else it gives nothing.
    let words = gst_video::VideoBufferPool::new().upcast::<gst::BufferPool>();
    let mut config = words.config();
    config.set_params(Some(&NV12_ODD.parse().unwrap()), 1 << 16, 2, 0);
    config.set_allocator(Some(&TensorAllocator::get()), None);
    words.set_config(config).unwrap();
    for (theirs, properties, align) in
        [(ours(128), "alignment=512", 512), (ours(512), "memory=shm", 64), (words, "", 64)]
    {
        let (offered, copies) = beside(&theirs, NV12_ODD, properties);
        assert!(offered.is_some_and(|pool| pool != theirs), "{properties}");
        assert!(!theirs.is_active(), "{properties}");
        copies.iter().for_each(|copy| assert_is_of_our_kind(copy, align));
        let strides = copies.iter().map(|copy| copy.meta::<VideoMeta>().unwrap().stride()[0]);
        assert!(strides.eq([(642 + align - 1) / align * align; 3]), "{properties}: ours");
    }
}

mod fickle {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A pool whose first buffer alone has aligned rows.
    #[derive(Debug, Default)]
    pub struct Fickle(AtomicUsize);

    #[glib::object_subclass]
    impl ObjectSubclass for Fickle {
        const NAME: &'static str = "FicklePool";
        type Type = super::Fickle;
        type ParentType = gst::BufferPool;
    }

    impl ObjectImpl for Fickle {}
    impl GstObjectImpl for Fickle {}

    impl BufferPoolImpl for Fickle {
        fn alloc_buffer(
            &self,
            _params: Option<&gst::BufferPoolAcquireParams>,
        ) -> Result<gst::Buffer, gst::FlowError> {
            let is_first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
            let stride = if is_first { 64 } else { 80 };
            let offset = usize::try_from(stride).unwrap() * 36;
            let mut frame = buffer([posing_memory(&Memory::shm(1 << 16).unwrap())]);
            let offsets = [0, offset];
            add_video_meta(&mut frame, VideoFormat::Nv12, [64, 36], &offsets, &[stride, stride]);
            Ok(frame)
        }
    }
}

glib::wrapper! {
    pub struct Fickle(ObjectSubclass<fickle::Fickle>) @extends gst::BufferPool, gst::Object;
}

#[test]
fn a_pool_that_breaks_its_word_later_is_given_up() {
    init();
    let theirs = glib::Object::new::<Fickle>().upcast::<gst::BufferPool>();
    let mut config = theirs.config();
    config.set_params(Some(&NV12.parse().unwrap()), 1 << 16, 2, 0);
    config.set_allocator(Some(&TensorAllocator::get()), None);
    theirs.set_config(config).unwrap();
    let (offered, copies) = beside(&theirs, NV12, "");
    assert_eq!(offered, Some(theirs.clone()), "it looked good");
    copies.iter().for_each(|copy| assert_is_of_our_kind(copy, 64));
    assert!(!theirs.is_active());
}
