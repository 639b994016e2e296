//! What keeps a pooled buffer out until a copy of it is freed, on GStreamer before 1.22.8.

use std::sync::OnceLock;

use gst::{ffi, glib::translate::from_glib_none, meta::ParentBufferMeta};

type Free = unsafe extern "C" fn(*mut ffi::GstMiniObject);

/// `GstBuffer`'s own free function.
static FREE: OnceLock<Free> = OnceLock::new();

/// The buffer with a reference of its own, if it goes back to a pool.
pub(super) fn pooled(buffer: &gst::BufferRef) -> Option<gst::Buffer> {
    // SAFETY: a borrowed buffer is live; its pool does not change while others hold it too.
    let pool = unsafe { (*buffer.as_ptr()).pool };
    if pool.is_null() {
        return None;
    }
    // SAFETY: a live buffer, whose reference count is atomic.
    Some(unsafe { from_glib_none(buffer.as_ptr()) })
}

/// Lets a buffer give up its memories before its parents.
///
/// The old `gst_buffer` code frees the metas first. The parent then goes home while its memories
/// are still shared, and its pool throws it away, which the meta was to prevent.
pub(super) fn release_parents_last(buffer: &mut gst::BufferRef) {
    let object = buffer.as_mut_ptr().cast::<ffi::GstMiniObject>();
    // SAFETY: a buffer begins with its mini object, and `&mut` says that nobody else has it.
    let object = unsafe { &mut *object };
    let Some(free) = object.free else { return };
    if std::ptr::fn_addr_eq(*FREE.get_or_init(|| free), free) {
        object.free = Some(free_before_parents);
    }
}

/// Called once, when the last reference to a buffer is gone.
unsafe extern "C" fn free_before_parents(object: *mut ffi::GstMiniObject) {
    // SAFETY: set by `release_parents_last` only, on a buffer, which is intact until it is freed.
    let buffer = unsafe { gst::BufferRef::from_ptr(object.cast::<ffi::GstBuffer>()) };
    let parents: Vec<_> =
        buffer.iter_meta::<ParentBufferMeta>().map(|meta| meta.parent_owned()).collect();
    if let Some(free) = FREE.get() {
        // SAFETY: the function that the buffer had before ours, called in its place.
        unsafe { free(object) };
    }
    drop(parents);
}
