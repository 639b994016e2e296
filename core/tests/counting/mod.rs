//! An allocator that counts: what includes this file can ask how often some work allocates.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The system's allocator, counting the calls of each thread and of all.
struct Counting;

static ALL_CALLS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get().saturating_add(1));
        ALL_CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller vouches for `layout`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller vouches that `ptr` came from `alloc` with this `layout`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that `work` makes from Rust on this thread.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> usize {
    let before = CALLS.get();
    drop(black_box(work()));
    CALLS.get().saturating_sub(before)
}

/// Allocations that `work` makes from Rust on any thread: the least of some tries, because another test
/// may run beside them.
#[allow(dead_code, reason = "not everything that counts has threads")]
pub(crate) fn allocations_anywhere<T>(mut work: impl FnMut() -> T) -> usize {
    let tries = [0; 5].map(|_| {
        let before = ALL_CALLS.load(Ordering::Relaxed);
        drop(black_box(work()));
        ALL_CALLS.load(Ordering::Relaxed).saturating_sub(before)
    });
    tries.into_iter().min().unwrap_or_default()
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1_u8]), 1);
    let elsewhere = || std::thread::scope(|scope| scope.spawn(|| vec![1_u8]).join());
    assert!(allocations_anywhere(elsewhere) > allocations(elsewhere));
}
