//! The flags of `GstAllocator` and `GstMemory`, which the bindings do not have or cannot set.

use gst::prelude::*;
use gst_allocators::DmaBufAllocator;

/// `GST_ALLOCATOR_FLAG_CUSTOM_ALLOC`: `gst_allocator_alloc` gives nothing.
pub(super) const CUSTOM_ALLOC: gst::ObjectFlags = gst::ObjectFlags::from_bits_retain(16);

/// `GST_ALLOCATOR_FLAG_NO_COPY`, of GStreamer 1.24: a copy goes to system memory, not to another
/// dma-buf. Older ones ignore it.
pub(super) const NO_COPY: gst::ObjectFlags = gst::ObjectFlags::from_bits_retain(32);

/// Whether an allocator makes dma-bufs when asked, rather than only taking in those of others.
pub(crate) fn makes_dma_bufs(allocator: &gst::Allocator) -> bool {
    let object: *mut gst::ffi::GstObject = allocator.upcast_ref::<gst::Object>().as_ptr();
    // SAFETY: the object is live, borrowed from `allocator`, and its flags are initialised. (The
    // bindings' own getter drops the flags that it does not know.)
    let flags = unsafe { (*object).flags };
    allocator.is::<DmaBufAllocator>() && flags & CUSTOM_ALLOC.bits() == 0
}

/// Says of a memory that its pages are one run.
pub(super) fn mark_contiguous(memory: &mut gst::MemoryRef) {
    let object: *mut gst::ffi::GstMiniObject = memory.as_mut_ptr().cast();
    // SAFETY: a `GstMemory` begins with its mini object, which is live and borrowed alone.
    unsafe { (*object).flags |= gst::ffi::GST_MEMORY_FLAG_PHYSICALLY_CONTIGUOUS };
}
