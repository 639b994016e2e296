//! CUDA without CUDA: a table of functions that remember what they are asked and keep the rules of
//! the documentation.

use std::{
    cell::{Cell, RefCell},
    ffi::{CStr, c_char, c_int, c_uint},
    fs,
    os::{
        fd::{AsFd, FromRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::PathBuf,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use super::*;
use crate::{
    access::CpuAccess,
    memory::{
        FileIdentity, Kind, MapError,
        dma_buf::DmaBufMemory,
        pbo::tests::{BUFFER, FakeGl, Log},
    },
    sys::{
        cuda::{BufferDesc, HandleDesc, Symbols},
        memfd,
    },
};

/// `cudaErrorNotSupported`.
const NOT_SUPPORTED: c_int = 801;
/// Where the fake maps everything.
const DEVICE: usize = 0xD_0000;

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
    /// The call that is to fail.
    static FAILS: Cell<&'static str> = const { Cell::new("") };
    /// Bytes that a mapped GL resource has.
    static GL_LEN: Cell<usize> = const { Cell::new(4096) };
}

fn answer(call: &str) -> c_int {
    LOG.with_borrow(|log| log.lock().unwrap().push(call.to_owned()));
    if FAILS.get() == call { NOT_SUPPORTED } else { 0 }
}

fn log() -> Vec<String> {
    LOG.with_borrow(|log| log.lock().unwrap().clone())
}

unsafe extern "C" fn get_error_string(code: c_int) -> *const c_char {
    let text: &CStr = if code == NOT_SUPPORTED { c"operation not supported" } else { c"other" };
    text.as_ptr()
}

unsafe extern "C" fn get_last_error() -> c_int {
    answer("get_last_error")
}

unsafe extern "C" fn free(pointer: *mut c_void) -> c_int {
    assert_eq!(pointer.addr(), DEVICE);
    answer("free")
}

unsafe extern "C" fn import(memory: *mut *mut c_void, desc: *const HandleDesc) -> c_int {
    // SAFETY: the caller gives a live structure.
    let desc = unsafe { &*desc };
    assert_eq!((desc.kind, desc.size, desc.flags), (1, 4096, 0));
    let code = answer("import");
    if code == 0 {
        // SAFETY: the caller gives the descriptor away with the success of this call.
        let fd = unsafe { OwnedFd::from_raw_fd(desc.handle.fd) };
        // SAFETY: the caller gives a live pointer.
        unsafe { *memory = Box::into_raw(Box::new(fd)).cast() };
    }
    code
}

unsafe extern "C" fn get_mapped_buffer(
    pointer: *mut *mut c_void,
    memory: *mut c_void,
    desc: *const BufferDesc,
) -> c_int {
    // SAFETY: the caller gives a live structure.
    let desc = unsafe { &*desc };
    assert_eq!((desc.offset, desc.size, desc.flags), (0, 4096, 0));
    assert!(!memory.is_null());
    // SAFETY: the caller gives a live pointer.
    unsafe { *pointer = ptr::without_provenance_mut(DEVICE) };
    answer("get_mapped_buffer")
}

unsafe extern "C" fn destroy(memory: *mut c_void) -> c_int {
    // SAFETY: `import` made it, and a second call would be what the tests look for.
    drop(unsafe { Box::from_raw(memory.cast::<OwnedFd>()) });
    answer("destroy")
}

unsafe extern "C" fn register(resource: *mut *mut c_void, buffer: c_uint, flags: c_uint) -> c_int {
    assert_eq!((buffer, flags), (BUFFER, 0));
    // SAFETY: the caller gives a live pointer.
    unsafe { *resource = ptr::without_provenance_mut(7) };
    answer("register")
}

unsafe extern "C" fn map(count: c_int, resources: *mut *mut c_void, stream: *mut c_void) -> c_int {
    // SAFETY: the caller gives `count` resources, which is one.
    let resource = unsafe { *resources };
    assert_eq!((count, resource.addr(), stream.addr()), (1, 7, 0));
    answer("map_resources")
}

unsafe extern "C" fn get_mapped_pointer(
    pointer: *mut *mut c_void,
    len: *mut usize,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the caller gives a live pointer.
    unsafe { *pointer = ptr::without_provenance_mut(DEVICE) };
    // SAFETY: as above.
    unsafe { *len = GL_LEN.get() };
    answer("get_mapped_pointer")
}

unsafe extern "C" fn unmap(_: c_int, _: *mut *mut c_void, _: *mut c_void) -> c_int {
    answer("unmap_resources")
}

unsafe extern "C" fn unregister(_: *mut c_void) -> c_int {
    answer("unregister")
}

fn runtime() -> &'static Runtime {
    let symbols = Symbols {
        get_error_string,
        get_last_error,
        free,
        import_external_memory: import,
        get_mapped_buffer,
        destroy_external_memory: destroy,
        register_gl_buffer: register,
        map_resources: map,
        get_mapped_pointer,
        unmap_resources: unmap,
        unregister_resource: unregister,
    };
    // SAFETY: the fakes keep the rules of the runtime.
    Box::leak(Box::new(unsafe { Runtime::from_symbols(symbols) }))
}

/// A memfd that passes for a dma-buf.
fn dma_buf() -> Memory {
    let fd = memfd::create("t", 4096).unwrap();
    let memory = DmaBufMemory::new(fd, CpuAccess::ReadWrite).unwrap();
    Memory::new(Kind::DmaBuf(memory), CpuAccess::ReadWrite)
}

/// How many descriptors of this process are of one file.
fn descriptors_of(identity: FileIdentity) -> usize {
    let of = |path: PathBuf| {
        let file = fs::metadata(path).ok()?;
        Some(FileIdentity { dev: file.dev(), ino: file.ino() })
    };
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    entries.filter(|e| of(e.as_ref().unwrap().path()) == Some(identity)).count()
}

/// The GL thread is this one.
#[derive(Debug)]
struct Inline {
    connected: AtomicBool,
}

// SAFETY: the fakes need no context.
unsafe impl CudaGlOps for Inline {
    fn run(&self, call: &mut (dyn FnMut() + Send)) -> Result<(), CudaError> {
        if !self.connected.load(Ordering::Relaxed) {
            return Err(CudaError::GlDisconnected);
        }
        call();
        Ok(())
    }
}

/// A PBO whose GL side and CUDA write one log.
fn pbo() -> (Arc<Inline>, Memory) {
    let inline = Arc::new(Inline { connected: AtomicBool::new(true) });
    let mut gl = FakeGl::new(4096);
    gl.cuda = Some(inline.clone());
    LOG.replace(gl.log.clone());
    (inline, Memory::pbo(BUFFER, 4096, Arc::new(gl), CpuAccess::ReadWrite).unwrap())
}

// S-CUDA-03, S-CUDA-06, S-CUDA-08 (a stand-in, so stated as unsupported), D-52
#[test]
fn a_dma_buf_is_imported_once_and_by_its_first_map() {
    let memory = dma_buf();
    assert!(log().is_empty() && memory.cuda().is_none());
    for _ in 0..3 {
        let map = memory.clone().cuda_map_with(runtime()).map(|map| (map.device_ptr(), map.len()));
        assert_eq!(map.unwrap(), (ptr::without_provenance_mut(DEVICE), memory.len()));
    }
    assert!(memory.cuda().unwrap().is_persistent());
    assert_eq!(log(), ["import", "get_mapped_buffer"]);
    let (first, second) = (memory.cuda_map_with(runtime()), memory.cuda_map_with(runtime()));
    assert!(first.is_ok() && second.is_ok() && memory.map(CpuAccess::Read).is_ok());
    drop((first, second));
    drop(memory);
    assert_eq!(log(), ["import", "get_mapped_buffer", "free", "destroy"]);
}

// S-CUDA-05, G19
#[test]
fn after_an_import_the_duplicate_is_cudas_and_closed_by_it() {
    let memory = dma_buf();
    let identity = memory.identity().unwrap();
    assert_eq!(descriptors_of(identity), 1);
    drop(memory.cuda_map_with(runtime()).unwrap());
    assert_eq!(descriptors_of(identity), 2, "CUDA has one of its own, open while it is imported");
    let ours = memory.fd().unwrap().as_fd().try_clone_to_owned().unwrap();
    drop(memory);
    assert_eq!(descriptors_of(identity), 1, "the memory's and CUDA's are closed");
    assert_eq!(FileIdentity::of(ours.as_fd()).unwrap(), identity);
}

// S-CUDA-05, G19
#[test]
fn after_a_refused_import_the_duplicate_is_closed_and_nothing_is_kept() {
    let memory = dma_buf();
    let identity = memory.identity().unwrap();
    FAILS.set("import");
    for _ in 0..3 {
        let error = memory.cuda_map_with(runtime()).unwrap_err();
        let text = "cudaImportExternalMemory: operation not supported (CUDA error 801)";
        assert_eq!(error.to_string(), text);
        assert_eq!(descriptors_of(identity), 1);
        assert!(memory.cuda().is_none());
    }
    FAILS.set("");
    assert!(memory.cuda_map_with(runtime()).is_ok(), "a refusal is not for ever");
    drop(memory);
    assert_eq!(descriptors_of(identity), 0);
    let counts = ["free", "destroy"].map(|call| log().iter().filter(|c| *c == call).count());
    assert_eq!(counts, [1, 1]);
}

#[test]
fn an_import_that_cannot_be_mapped_is_destroyed_and_its_error_fetched() {
    let memory = dma_buf();
    let identity = memory.identity().unwrap();
    FAILS.set("get_mapped_buffer");
    assert!(matches!(memory.cuda_map_with(runtime()), Err(CudaError::Call(_))));
    assert_eq!(log(), ["import", "get_mapped_buffer", "get_last_error", "destroy"]);
    assert_eq!(descriptors_of(identity), 1);
}

// S-CUDA-04, S-CUDA-06
#[test]
fn a_buffer_is_registered_once_mapped_in_pairs_and_unregistered_before_it_is_deleted() {
    let (_inline, memory) = pbo();
    assert!(log().is_empty());
    for _ in 0..2 {
        let map = memory.cuda_map_with(runtime()).unwrap();
        assert_eq!((map.device_ptr().addr(), map.len()), (DEVICE, 4096));
    }
    assert!(!memory.cuda().unwrap().is_persistent());
    drop(memory);
    let pair = ["map_resources", "get_mapped_pointer", "unmap_resources"];
    let calls = [&["register"][..], &pair, &pair, &["unregister", "delete"]].concat();
    assert_eq!(log(), calls);
}

// S-CUDA-04
#[test]
fn a_buffer_is_cudas_or_the_cpus_or_nobodys() {
    let (_inline, memory) = pbo();
    let map = memory.cuda_map_with(runtime()).unwrap();
    assert!(matches!(memory.cuda_map_with(runtime()), Err(CudaError::Mapped)));
    assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::PboMapped)));
    drop(map);
    let map = memory.map(CpuAccess::Read).unwrap();
    assert!(matches!(memory.cuda_map_with(runtime()), Err(CudaError::Mapped)));
    drop(map);
    assert!(memory.cuda_map_with(runtime()).is_ok());
}

#[test]
fn a_buffer_that_cuda_maps_too_short_or_not_at_all_is_left_unmapped() {
    let (_inline, memory) = pbo();
    GL_LEN.set(4095);
    let error = memory.cuda_map_with(runtime()).unwrap_err();
    assert!(matches!(error, CudaError::Shorter { need: 4096, have: 4095 }), "{error:?}");
    GL_LEN.set(4096);
    for call in ["map_resources", "get_mapped_pointer"] {
        FAILS.set(call);
        assert!(matches!(memory.cuda_map_with(runtime()), Err(CudaError::Call(_))));
    }
    FAILS.set("");
    assert!(memory.map(CpuAccess::Read).is_ok());
    let count = |call| log().iter().filter(|c| *c == call).count();
    assert_eq!(count("map_resources") - 1, count("unmap_resources"), "one map did not succeed");
}

// S-CUDA-04, S-PBO-02
#[test]
fn without_its_gl_thread_a_buffer_answers_at_once_and_is_dropped() {
    let (inline, memory) = pbo();
    let map = memory.cuda_map_with(runtime()).unwrap();
    inline.connected.store(false, Ordering::Relaxed);
    drop(map);
    assert!(matches!(memory.cuda_map_with(runtime()), Err(CudaError::GlDisconnected)));
    drop(memory);
    assert_eq!(log().last().unwrap(), "delete");
}

// S-CUDA-07
#[test]
fn kinds_that_cuda_cannot_reach_say_so_and_start_nothing() {
    let foreign = Memory::foreign(TensorMemory::Mem, Arc::new(vec![0_u8; 8]));
    for memory in [Memory::heap(64).unwrap(), Memory::shm(64).unwrap(), foreign] {
        assert!(memory.cuda().is_none());
        let kind = memory.kind();
        assert!(matches!(memory.cuda_map(), Err(CudaError::NoRoute(k)) if k == kind));
    }
    assert!(log().is_empty());
    let gl = Arc::new(FakeGl::new(64));
    let memory = Memory::pbo(BUFFER, 64, gl, CpuAccess::Read).unwrap();
    let refused = memory.cuda_map_with(runtime());
    assert!(matches!(refused, Err(CudaError::NoRoute(TensorMemory::Pbo))), "{refused:?}");
}

// S-CUDA-03
const fn assert_send<T: Send>() {}
const fn assert_sync<T: Sync>() {}
const _: () = assert_send::<CudaMap<'_>>();
const _: () = assert_send::<CudaHandle>();
const _: () = assert_sync::<CudaHandle>();
