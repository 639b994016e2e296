//! The memo's place on a `GstMemory`: qdata.

use std::{
    ffi::c_void,
    sync::{LazyLock, Mutex, PoisonError},
};

use gst::{ffi, glib, glib::translate::IntoGlib};

use super::Memo;

/// Held while a memo is put on a memory, so that none is ever put in the place of another.
static CREATION: Mutex<()> = Mutex::new(());

/// The key of our qdata. Two copies of this code in one process must not read each other's memos,
/// so the name holds an address that only this copy has.
static QUARK: LazyLock<glib::Quark> =
    LazyLock::new(|| glib::Quark::from_str(format!("tensor-memo-{:p}", &raw const CREATION)));

/// The memo of a memory, if it has one.
pub(super) fn get(memory: &gst::MemoryRef) -> Option<&Memo> {
    let object = mini_object(memory);
    // SAFETY: `object` is a live mini object, borrowed from `memory`; the call does its own locking.
    let data = unsafe { ffi::gst_mini_object_get_qdata(object, QUARK.into_glib()) };
    // SAFETY: only `get_or_create` stores under this quark, a boxed `Memo` that it never replaces,
    // so the memo lives as long as the memory, which the result borrows.
    unsafe { data.cast::<Memo>().as_ref() }
}

/// The memo of a memory, made now if it has none.
pub(super) fn get_or_create(memory: &gst::MemoryRef) -> &Memo {
    if let Some(memo) = get(memory) {
        return memo;
    }
    let _creation = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(memo) = get(memory) {
        return memo;
    }
    let (object, quark) = (mini_object(memory), QUARK.into_glib());
    let memo = Box::into_raw(Box::new(Memo::new()));
    // SAFETY: `object` is live, `free` takes back exactly the box given here, and nothing is stored
    // under the quark yet: we hold the lock under which alone it is stored.
    unsafe { ffi::gst_mini_object_set_qdata(object, quark, memo.cast(), Some(free)) };
    // SAFETY: the box was stored just now and is freed with the memory, which the result borrows.
    unsafe { &*memo }
}

fn mini_object(memory: &gst::MemoryRef) -> *mut ffi::GstMiniObject {
    memory.as_ptr().cast_mut().cast()
}

/// Called once, when the memory is freed.
unsafe extern "C" fn free(data: *mut c_void) {
    // SAFETY: `data` is the box that `get_or_create` gave away.
    drop(unsafe { Box::from_raw(data.cast::<Memo>()) });
}
