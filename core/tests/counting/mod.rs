//! An allocator that counts: what includes this file can ask how often some work allocates.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hint::black_box,
};

/// The system's allocator, counting the calls of each thread.
struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on unchanged to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get().saturating_add(1));
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

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1_u8]), 1);
}
