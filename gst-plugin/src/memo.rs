//! What is remembered on a `GstMemory` itself, so that a frame that comes again needs no syscall.
//!
//! A memo is put on a memory once and stays until the memory is freed. It gives the memory a
//! serial number that no other memory of this process ever has, and it names the import of which
//! the memory is part:
//!
//! * *born*: set by the pool that made the memory. Strong; dies with the memory.
//! * *seen*: set by `tensorimport`. Weak; dies with the cache's entry.
//!
//! Two elements may hold one memory at once (after a `tee`); every function here may be called from
//! any thread. Looking up allocates nothing.

mod imp;

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
    atomic::{AtomicU64, Ordering},
};

use gst::glib;
use tensor_core::{Import, MAX_PLANES, TensorDyn, TensorMemory};

/// One import: a tensor and its blob, and the blob as the `GBytes` that every meta shares.
pub type FrameImport = Import<glib::Bytes>;

/// The blob of an import, as the bytes that metas share.
pub(crate) fn share(_tensor: &TensorDyn, blob: &Arc<[u8]>) -> glib::Bytes {
    glib::Bytes::from_owned(Arc::clone(blob))
}

/// A memory without a serial number has this one.
pub(crate) const NO_SERIAL: u64 = 0;

static NEXT_SERIAL: AtomicU64 = AtomicU64::new(1);

#[derive(Debug)]
struct Memo {
    serial: u64,
    born: OnceLock<Arc<FrameImport>>,
    seen: Mutex<Weak<FrameImport>>,
    kind: OnceLock<TensorMemory>,
}

impl Memo {
    fn new() -> Self {
        let serial = NEXT_SERIAL.fetch_add(1, Ordering::Relaxed);
        Self { serial, born: OnceLock::new(), seen: Mutex::default(), kind: OnceLock::new() }
    }

    fn seen(&self) -> MutexGuard<'_, Weak<FrameImport>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The serial number of a memory, given now if it has none.
#[must_use]
pub(crate) fn serial(memory: &gst::MemoryRef) -> u64 {
    imp::get_or_create(memory).serial
}

/// The serial numbers of memories, given now to those that have none.
pub(crate) fn serials<'a>(
    memories: impl Iterator<Item = Option<&'a gst::MemoryRef>>,
) -> [u64; MAX_PLANES] {
    let mut serials = [NO_SERIAL; MAX_PLANES];
    for (place, memory) in serials.iter_mut().zip(memories) {
        *place = memory.map_or(NO_SERIAL, serial);
    }
    serials
}

/// The serial number of a memory, or [`NO_SERIAL`].
#[must_use]
pub(crate) fn known_serial(memory: &gst::MemoryRef) -> u64 {
    imp::get(memory).map_or(NO_SERIAL, |memo| memo.serial)
}

/// The kind of a memory, which `find` tells the first time.
pub(crate) fn kind<E>(
    memory: &gst::MemoryRef,
    find: impl FnOnce() -> Result<TensorMemory, E>,
) -> Result<TensorMemory, E> {
    let kind = &imp::get_or_create(memory).kind;
    if let Some(known) = kind.get() {
        return Ok(*known);
    }
    find().map(|found| *kind.get_or_init(|| found))
}

/// Remembers that `import`, which a cache holds, was made from this memory.
pub(crate) fn set_seen(memory: &gst::MemoryRef, import: &Arc<FrameImport>) {
    let mut seen = imp::get_or_create(memory).seen();
    if !std::ptr::eq(seen.as_ptr(), Arc::as_ptr(import)) {
        *seen = Arc::downgrade(import);
    }
}

/// Remembers the import this memory was made with. The first one stays.
pub(crate) fn set_born(memory: &gst::MemoryRef, import: Arc<FrameImport>) {
    // A memory is born once; whoever says so again has the same import.
    let _first = imp::get_or_create(memory).born.set(import);
}

/// Whether a pool of ours made this memory.
pub(crate) fn is_born(memory: &gst::MemoryRef) -> bool {
    imp::get(memory).is_some_and(|memo| memo.born.get().is_some())
}

/// The import of which this memory is part and that `wanted` accepts.
pub(crate) fn find(
    memory: &gst::MemoryRef,
    wanted: impl Fn(&FrameImport) -> bool,
) -> Option<Arc<FrameImport>> {
    let memo = imp::get(memory)?;
    let born = memo.born.get().filter(|import| wanted(import)).cloned();
    born.or_else(|| memo.seen().upgrade().filter(|import| wanted(import)))
}

/// The import of which all of `memories` are part and that `wanted` accepts.
pub(crate) fn find_all<'a>(
    mut memories: impl Iterator<Item = Option<&'a gst::MemoryRef>>,
    wanted: impl Fn(&FrameImport) -> bool,
) -> Option<Arc<FrameImport>> {
    let import = find(memories.next().flatten()?, wanted)?;
    let all = memories.all(|memory| memory.is_some_and(|memory| is_part_of(memory, &import)));
    all.then_some(import)
}

/// Whether this memory is part of `import`.
pub(crate) fn is_part_of(memory: &gst::MemoryRef, import: &Arc<FrameImport>) -> bool {
    find(memory, |found| std::ptr::eq(found, Arc::as_ptr(import))).is_some()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tensor_core::{
        Colorimetry, CpuAccess, ImageLayout, Memory, PixelFormat, StrideAlign, import_cache::Frame,
    };

    use super::*;

    fn import() -> Arc<FrameImport> {
        let layout = ImageLayout::packed(PixelFormat::Grey, 8, 8, StrideAlign::DMA).unwrap();
        let shm = Memory::shm(layout.allocation_len(0)).unwrap();
        let frame = Frame {
            layout: &layout,
            colorimetry: Colorimetry::default(),
            quantization: None,
            access: CpuAccess::Read,
            fds: &[shm.fd().unwrap()],
            handles: &[0],
        };
        Arc::new(FrameImport::new(&frame, |_, _| glib::Bytes::from_static(&[])).unwrap())
    }

    fn memory() -> gst::Memory {
        gst::init().unwrap();
        gst::Memory::with_size(16)
    }

    #[test]
    fn what_is_seen_dies_with_the_entry() {
        let (memory, import) = (memory(), import());
        assert!(find(&memory, |_| true).is_none());
        set_seen(&memory, &import);
        assert!(is_part_of(&memory, &import));
        assert!(find(&memory, |_| false).is_none());
        drop(import);
        assert!(find(&memory, |_| true).is_none());
    }

    #[test]
    fn what_is_born_dies_with_the_memory_and_comes_before_what_is_seen() {
        let (memory, born, seen) = (memory(), import(), import());
        set_born(&memory, Arc::clone(&born));
        set_seen(&memory, &seen);
        assert!(Arc::ptr_eq(&find(&memory, |_| true).unwrap(), &born));
        assert!(is_part_of(&memory, &seen));
        drop(memory);
        assert_eq!(Arc::strong_count(&born), 1);
    }

    #[test]
    fn no_two_memories_have_one_serial() {
        let (one, two) = (memory(), memory());
        assert_eq!(known_serial(&one), NO_SERIAL);
        assert_eq!(serial(&one), serial(&one));
        assert_eq!(known_serial(&one), serial(&one));
        assert_ne!(serial(&one), serial(&two));
        let share = one.share(..);
        assert_eq!(known_serial(&share), NO_SERIAL);
    }

    #[test]
    fn threads_may_remember_at_once() {
        for _ in 0..200 {
            let memory = memory();
            let imports = [import(), import()];
            let serials = thread::scope(|scope| {
                let remember = |import| {
                    let memory = &memory;
                    scope.spawn(move || {
                        set_seen(memory, import);
                        assert!(find(memory, |_| true).is_some());
                        serial(memory)
                    })
                };
                let threads = imports.each_ref().map(remember);
                threads.map(|thread| thread.join().unwrap())
            });
            assert_eq!(serials[0], serials[1]);
        }
    }
}
