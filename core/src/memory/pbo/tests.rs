//! A GL side that is none: it keeps a buffer on the heap and remembers what it is asked.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::*;

/// What the fakes of a test were asked, in order.
pub(in crate::memory) type Log = Arc<Mutex<Vec<String>>>;

/// The only buffer the fake knows.
pub(in crate::memory) const BUFFER: u32 = 42;

#[derive(Debug)]
pub(in crate::memory) struct FakeGl {
    start: NonNull<u8>,
    layout: Layout,
    pub(in crate::memory) log: Log,
    pub(in crate::memory) connected: AtomicBool,
    pub(in crate::memory) cuda: Option<Arc<dyn CudaGlOps>>,
}

// SAFETY: the address is used only by whoever mapped it.
unsafe impl Send for FakeGl {}
// SAFETY: as above.
unsafe impl Sync for FakeGl {}

impl FakeGl {
    pub(in crate::memory) fn new(len: usize) -> Self {
        let layout = Layout::from_size_align(len, 64).unwrap();
        // SAFETY: the tests ask for some bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
        let (log, connected) = (Log::default(), AtomicBool::new(true));
        Self { start, layout, log, connected, cuda: None }
    }

    fn call(&self, call: String) -> Result<(), PboError> {
        if !self.connected.load(Ordering::Relaxed) {
            return Err(PboError::Disconnected);
        }
        self.log.lock().unwrap().push(call);
        Ok(())
    }

    fn count(&self, call: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|c| c.starts_with(call)).count()
    }
}

impl Drop for FakeGl {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

// SAFETY: the bytes are on the heap as long as the fake, which whoever maps them holds.
unsafe impl PboOps for FakeGl {
    fn map(&self, buffer: u32, len: usize, access: CpuAccess) -> Result<NonNull<u8>, PboError> {
        assert_eq!(buffer, BUFFER);
        if len > self.layout.size() {
            return Err(PboError::Call { call: "glMapBufferRange", code: 0x501 });
        }
        self.call(format!("map {len} {access}"))?;
        Ok(self.start)
    }

    fn unmap(&self, buffer: u32) -> Result<(), PboError> {
        assert_eq!(buffer, BUFFER);
        self.call("unmap".to_owned())
    }

    fn delete(&self, buffer: u32) {
        assert_eq!(buffer, BUFFER);
        let _deleted = self.call("delete".to_owned());
    }

    fn cuda(&self) -> Option<Arc<dyn CudaGlOps>> {
        self.cuda.clone()
    }
}

fn memory(len: usize) -> (Arc<FakeGl>, Memory) {
    let gl = Arc::new(FakeGl::new(len));
    let memory = Memory::pbo(BUFFER, len, gl.clone(), CpuAccess::ReadWrite).unwrap();
    (gl, memory)
}

// S-PBO-01
#[test]
fn a_buffer_is_a_memory_of_its_kind_and_length_without_a_descriptor() {
    let (gl, memory) = memory(1683);
    assert_eq!((memory.kind(), memory.len()), (TensorMemory::Pbo, 1683));
    assert!(memory.fd().is_none() && memory.identity().is_none());
    assert!(gl.log.lock().unwrap().is_empty(), "nothing is mapped before it is asked for");
}

#[test]
fn each_guard_is_one_map_and_one_unmap_also_by_a_panic() {
    let (gl, memory) = memory(64);
    memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(9);
    assert_eq!(memory.map(CpuAccess::Read).unwrap()[..], [9; 64]);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _map = memory.map(CpuAccess::ReadWrite).unwrap();
        panic!("while mapped");
    }));
    assert!(panicked.is_err());
    drop(memory);
    let calls = ["map 64 write", "unmap", "map 64 read", "unmap", "map 64 readwrite", "unmap"];
    assert_eq!(gl.log.lock().unwrap()[..6], calls);
    assert_eq!(gl.log.lock().unwrap()[6..], ["delete"]);
}

// S-PBO-02
#[test]
fn without_its_gl_side_every_operation_says_so() {
    let (gl, memory) = memory(64);
    let map = memory.map(CpuAccess::Read).unwrap();
    gl.connected.store(false, Ordering::Relaxed);
    drop(map);
    for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
        assert!(matches!(memory.map(access), Err(MapError::PboDisconnected)));
    }
    drop(memory);
    assert_eq!(gl.count("delete"), 0);
}

// S-PBO-03
#[test]
fn the_last_of_many_handles_on_many_threads_deletes_once() {
    for _ in 0..100 {
        let (gl, memory) = memory(64);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let view = memory.clone();
                thread::spawn(move || view.map(CpuAccess::Read).map(|map| map.len()).ok())
            })
            .collect();
        drop(memory);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(gl.count("delete"), 1);
        assert_eq!(gl.count("map"), gl.count("unmap"));
        assert_eq!(gl.log.lock().unwrap().last().unwrap(), "delete");
    }
}

// S-PBO-04
#[test]
fn the_way_to_the_gl_side_is_let_go_with_the_last_handle() {
    let (gl, memory) = memory(64);
    let views = [memory.clone(), memory.clone()];
    assert_eq!(Arc::strong_count(&gl), 2, "handles share one way");
    drop(memory);
    assert_eq!(Arc::strong_count(&gl), 2);
    drop(views);
    assert_eq!(Arc::strong_count(&gl), 1);
}

// S-PBO-05
#[test]
fn a_mapped_buffer_is_not_mapped_again() {
    let (gl, memory) = memory(64);
    for first in [CpuAccess::Read, CpuAccess::Write] {
        let map = memory.map(first).unwrap();
        for second in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            assert!(matches!(memory.clone().map(second), Err(MapError::PboMapped)));
        }
        drop(map);
    }
    assert!(memory.map(CpuAccess::Read).is_ok());
    assert_eq!(gl.count("map"), 3, "a refused map does not reach GL");
}

#[test]
fn what_gl_refuses_is_told_and_leaves_the_buffer_unmapped() {
    let gl = Arc::new(FakeGl::new(64));
    let memory = Memory::pbo(BUFFER, 65, gl, CpuAccess::ReadWrite).unwrap();
    for _ in 0..2 {
        let error = memory.map(CpuAccess::Read).unwrap_err();
        assert!(matches!(error, MapError::Pbo { code: 0x501, .. }), "{error:?}");
        assert_eq!(error.to_string(), "glMapBufferRange: GL error 0x0501");
    }
}

#[test]
fn a_refused_buffer_stays_the_callers() {
    let gl = Arc::new(FakeGl::new(64));
    for len in [0, usize::MAX] {
        let refused = Memory::pbo(BUFFER, len, gl.clone(), CpuAccess::Read);
        assert!(matches!(refused, Err(ImportError::Length { len: l }) if l == len));
    }
    assert_eq!((gl.count("delete"), Arc::strong_count(&gl)), (0, 1));
}

#[test]
fn the_declaration_is_checked_before_gl_is_asked() {
    let gl = Arc::new(FakeGl::new(64));
    let memory = Memory::pbo(BUFFER, 64, gl.clone(), CpuAccess::Read).unwrap();
    assert!(matches!(memory.map(CpuAccess::Write), Err(MapError::AccessDenied { .. })));
    assert_eq!(gl.count("map"), 0);
}
