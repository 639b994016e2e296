//! What every target watches: how much is allocated, and which descriptors are open.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The largest single allocation since it was last asked for.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, watched.
pub struct Watched;

// SAFETY: every call is the system allocator's, with the arguments given.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller's word.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        LARGEST.fetch_max(len, Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.realloc(at, layout, len) }
    }
}

/// What a handle on memory and a message may take, whatever the input's length.
const SMALL: usize = 4096;

/// Runs `body` on an input of `len` bytes.
///
/// # Panics
/// When one allocation in it is larger than the input, small ones apart.
pub fn within(len: usize, body: impl FnOnce()) {
    LARGEST.store(0, Ordering::Relaxed);
    body();
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= len.max(SMALL), "{largest} bytes allocated for an input of {len}");
}

/// Compares the number of open descriptors with the first time, once in many calls.
///
/// # Panics
/// When it has changed.
pub fn no_descriptor_is_left() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static OPEN: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    if call.is_multiple_of(4096) {
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        // The fuzzer's own files settle within the first calls.
        if call <= 4096 {
            OPEN.store(open, Ordering::Relaxed);
        }
        assert_eq!(open, OPEN.load(Ordering::Relaxed), "descriptors are left open");
    }
}
