//! The CUDA runtime library, opened when first asked for (`cuda_runtime_api.h`,
//! `cuda_gl_interop.h`).
//!
//! Nothing links to CUDA. `libcudart` opens the driver, `libcuda`, by itself, so this is the only
//! library looked for.
//!
//! See the [runtime API](https://docs.nvidia.com/cuda/cuda-runtime-api/).

use std::{
    error::Error,
    ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void},
    fmt,
    os::fd::{AsRawFd, IntoRawFd, OwnedFd},
    ptr::{self, NonNull},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use libloading::Library;

/// The names the library goes by, tried in this order, each once in the life of the process.
pub const LIBRARY_NAMES: [&str; 4] =
    ["libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"];

/// How often a name was given to `dlopen` by [`Runtime::get`].
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// `cudaExternalMemoryHandleTypeOpaqueFd`.
const OPAQUE_FD: c_int = 1;

/// `struct cudaExternalMemoryHandleDesc`, with the reserved tail that newer headers give it: an
/// older library reads less of it.
#[repr(C)]
#[derive(Debug)]
pub struct HandleDesc {
    /// `cudaExternalMemoryHandleType`.
    pub kind: c_int,
    /// A union of a descriptor and two pointers.
    pub handle: Handle,
    /// Bytes of the memory object.
    pub size: u64,
    /// Zero, or `cudaExternalMemoryDedicated`.
    pub flags: c_uint,
    reserved: [c_uint; 16],
}

/// The union in [`HandleDesc`], of which only the descriptor is used here.
#[repr(C, align(8))]
#[derive(Debug)]
pub struct Handle {
    /// The descriptor; the library owns it after a successful import.
    pub fd: c_int,
    unused: [c_uint; 3],
}

/// `struct cudaExternalMemoryBufferDesc`, with the reserved tail that newer headers give it.
#[repr(C)]
#[derive(Debug)]
pub struct BufferDesc {
    /// Where the buffer begins in the memory object.
    pub offset: u64,
    /// Bytes of the buffer.
    pub size: u64,
    /// Zero.
    pub flags: c_uint,
    reserved: [c_uint; 16],
}

const _: () = assert!(size_of::<HandleDesc>() == 40 + 64);
const _: () = assert!(size_of::<BufferDesc>() == 24 + 64);

/// Makes the table of functions and how it is filled from a library.
macro_rules! symbols {
    ($($field:ident = $name:literal($($argument:ty),*) -> $answer:ty;)*) => {
        /// The functions of the runtime that this crate calls.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "each field is the function of that name")]
        pub struct Symbols {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> $answer,)*
        }

        impl Symbols {
            fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self { $($field: {
                    // SAFETY: the signature is the one that the runtime's headers give this name;
                    // whoever opened the library vouches that it is the runtime.
                    let symbol = unsafe { library.get($name) }?;
                    *symbol
                },)* })
            }
        }
    };
}

symbols! {
    get_error_string = "cudaGetErrorString"(c_int) -> *const c_char;
    get_last_error = "cudaGetLastError"() -> c_int;
    free = "cudaFree"(*mut c_void) -> c_int;
    import_external_memory =
        "cudaImportExternalMemory"(*mut *mut c_void, *const HandleDesc) -> c_int;
    get_mapped_buffer =
        "cudaExternalMemoryGetMappedBuffer"(*mut *mut c_void, *mut c_void, *const BufferDesc) -> c_int;
    destroy_external_memory = "cudaDestroyExternalMemory"(*mut c_void) -> c_int;
    register_gl_buffer = "cudaGraphicsGLRegisterBuffer"(*mut *mut c_void, c_uint, c_uint) -> c_int;
    map_resources = "cudaGraphicsMapResources"(c_int, *mut *mut c_void, *mut c_void) -> c_int;
    get_mapped_pointer =
        "cudaGraphicsResourceGetMappedPointer"(*mut *mut c_void, *mut usize, *mut c_void) -> c_int;
    unmap_resources = "cudaGraphicsUnmapResources"(c_int, *mut *mut c_void, *mut c_void) -> c_int;
    unregister_resource = "cudaGraphicsUnregisterResource"(*mut c_void) -> c_int;
}

/// A call that the runtime answered with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Which call.
    pub call: &'static str,
    /// The `cudaError_t`; zero when the call gave nothing without saying why.
    pub code: i32,
    /// The runtime's words for it.
    pub text: String,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (CUDA error {})", self.call, self.text, self.code)
    }
}

impl Error for CallError {}

/// The CUDA runtime.
#[derive(Debug)]
pub struct Runtime {
    symbols: Symbols,
    /// What the symbols point into.
    _library: Option<Library>,
}

impl Runtime {
    /// The runtime of this process, or `None` where there is none.
    ///
    /// The first call looks for it; every later one, whatever the first found, only reads.
    #[must_use]
    pub fn get() -> Option<&'static Self> {
        static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
        let find = || {
            LIBRARY_NAMES.iter().find_map(|name| {
                OPENED.fetch_add(1, Ordering::Relaxed);
                // SAFETY: a library of this name is the CUDA runtime, made to be opened so.
                unsafe { Self::open(name) }.ok()
            })
        };
        RUNTIME.get_or_init(find).as_ref()
    }

    /// How many names [`get`](Self::get) has tried to open since the process began.
    #[must_use]
    pub fn names_tried() -> usize {
        OPENED.load(Ordering::Relaxed)
    }

    /// The runtime in the library `name`, a name to search for or a path.
    ///
    /// # Safety
    /// The library must be a CUDA runtime, or a stand-in with its signatures and rules.
    ///
    /// # Errors
    /// What `dlopen` answers, or which function the library lacks.
    pub unsafe fn open(name: impl AsRef<OsStr>) -> Result<Self, libloading::Error> {
        // SAFETY: the caller vouches for the library, and so for what runs when it is opened.
        let library = unsafe { Library::new(name.as_ref()) }?;
        Ok(Self { symbols: Symbols::of(&library)?, _library: Some(library) })
    }

    /// A runtime made of functions the caller has.
    ///
    /// # Safety
    /// The functions must keep the rules of the CUDA runtime's functions of these names.
    #[must_use]
    pub unsafe fn from_symbols(symbols: Symbols) -> Self {
        Self { symbols, _library: None }
    }

    /// Turns an answer into a result.
    fn check(&self, call: &'static str, code: c_int) -> Result<(), CallError> {
        if code == 0 {
            return Ok(());
        }
        // The runtime keeps the last error of a thread until it is fetched; a failure that is told
        // here must not surface again in a later check of the application's.
        // SAFETY: the function takes nothing and may be called any time.
        unsafe { (self.symbols.get_last_error)() };
        // SAFETY: any number may be given; the answer is a constant string or null.
        let text = unsafe { (self.symbols.get_error_string)(code) };
        let text = if text.is_null() {
            "unknown error".to_owned()
        } else {
            // SAFETY: a string of the runtime's, ended by a zero and never freed.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(CallError { call, code, text })
    }
}

/// The answer of a call that succeeded and yet gave nothing.
fn nothing(call: &'static str) -> CallError {
    CallError { call, code: 0, text: "succeeded without a result".to_owned() }
}

/// An imported memory object; destroyed on drop.
#[derive(Debug)]
struct ExternalMemory {
    runtime: &'static Runtime,
    handle: NonNull<c_void>,
}

impl ExternalMemory {
    fn import(runtime: &'static Runtime, fd: OwnedFd, size: u64) -> Result<Self, CallError> {
        let call = "cudaImportExternalMemory";
        let handle = Handle { fd: fd.as_raw_fd(), unused: [0; 3] };
        let desc = HandleDesc { kind: OPAQUE_FD, handle, size, flags: 0, reserved: [0; 16] };
        let mut memory = ptr::null_mut();
        // SAFETY: both pointers are to live values of the types that the call takes.
        let code =
            unsafe { (runtime.symbols.import_external_memory)(&raw mut memory, &raw const desc) };
        // On failure the descriptor is still ours and closed here; on success it is CUDA's.
        runtime.check(call, code)?;
        let _given = fd.into_raw_fd();
        Ok(Self { runtime, handle: NonNull::new(memory).ok_or_else(|| nothing(call))? })
    }
}

impl Drop for ExternalMemory {
    fn drop(&mut self) {
        // SAFETY: `import` made the object, and what was mapped from it has been freed.
        let code = unsafe { (self.runtime.symbols.destroy_external_memory)(self.handle.as_ptr()) };
        // A drop has nobody to report to.
        let _destroyed = self.runtime.check("cudaDestroyExternalMemory", code);
    }
}

/// A memory object of another driver, imported and mapped whole into the device's addresses.
///
/// On drop the mapping is freed, then the object is destroyed, as the documentation of
/// `cudaExternalMemoryGetMappedBuffer` and `cudaDestroyExternalMemory` asks.
#[derive(Debug)]
pub struct ExternalBuffer {
    pointer: NonNull<c_void>,
    len: usize,
    /// Dropped after the pointer was freed.
    memory: ExternalMemory,
}

// SAFETY: the handles belong to the process; any thread may use and free them.
unsafe impl Send for ExternalBuffer {}
// SAFETY: `&ExternalBuffer` gives out only an address and a length.
unsafe impl Sync for ExternalBuffer {}

impl ExternalBuffer {
    /// Imports the memory object behind `fd`, of `len` bytes.
    ///
    /// The descriptor is CUDA's after a success; after a failure it is closed.
    ///
    /// # Errors
    /// What the runtime answers.
    pub fn import(runtime: &'static Runtime, fd: OwnedFd, len: usize) -> Result<Self, CallError> {
        let call = "cudaExternalMemoryGetMappedBuffer";
        let size = u64::try_from(len).unwrap_or(u64::MAX);
        let memory = ExternalMemory::import(runtime, fd, size)?;
        let desc = BufferDesc { offset: 0, size, flags: 0, reserved: [0; 16] };
        let (mut pointer, object) = (ptr::null_mut(), memory.handle.as_ptr());
        let get = runtime.symbols.get_mapped_buffer;
        // SAFETY: the object is alive, the pointers are to live values of the types it takes.
        let code = unsafe { get(&raw mut pointer, object, &raw const desc) };
        runtime.check(call, code)?;
        Ok(Self { pointer: NonNull::new(pointer).ok_or_else(|| nothing(call))?, len, memory })
    }

    /// The device address.
    #[must_use]
    pub fn pointer(&self) -> NonNull<c_void> {
        self.pointer
    }

    /// Bytes mapped.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is as long as a memory, never empty")]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for ExternalBuffer {
    fn drop(&mut self) {
        let runtime = self.memory.runtime;
        // SAFETY: `import` got the pointer from the runtime and nothing else frees it.
        let code = unsafe { (runtime.symbols.free)(self.pointer.as_ptr()) };
        // A drop has nobody to report to.
        let _freed = runtime.check("cudaFree", code);
    }
}

/// An OpenGL buffer that CUDA knows. It has no `Drop`: it must be given up on its GL thread.
#[derive(Debug)]
pub struct GlResource {
    runtime: &'static Runtime,
    handle: NonNull<c_void>,
}

// SAFETY: the handle is a number to the caller; the calls that use it name their thread.
unsafe impl Send for GlResource {}
// SAFETY: as above.
unsafe impl Sync for GlResource {}

impl GlResource {
    /// Registers `buffer` for reading and writing.
    ///
    /// # Safety
    /// The GL context that has `buffer` must be current on this thread.
    ///
    /// # Errors
    /// What the runtime answers.
    pub unsafe fn register(runtime: &'static Runtime, buffer: u32) -> Result<Self, CallError> {
        let call = "cudaGraphicsGLRegisterBuffer";
        let mut handle = ptr::null_mut();
        // SAFETY: the caller made the buffer's context current; zero is
        // `cudaGraphicsRegisterFlagsNone`.
        let code = unsafe { (runtime.symbols.register_gl_buffer)(&raw mut handle, buffer, 0) };
        runtime.check(call, code)?;
        Ok(Self { runtime, handle: NonNull::new(handle).ok_or_else(|| nothing(call))? })
    }

    /// Maps the buffer, in order with the GL commands before it: its device address and length.
    ///
    /// # Safety
    /// The buffer's GL context must be current on this thread, the buffer alive, not mapped by GL
    /// and not mapped by CUDA.
    ///
    /// # Errors
    /// What the runtime answers; the buffer is then not mapped.
    pub unsafe fn map(&self) -> Result<(NonNull<c_void>, usize), CallError> {
        let mut handle = self.handle.as_ptr();
        // SAFETY: one registered, unmapped resource, by the caller's word; null is the default
        // stream.
        let code =
            unsafe { (self.runtime.symbols.map_resources)(1, &raw mut handle, ptr::null_mut()) };
        self.runtime.check("cudaGraphicsMapResources", code)?;
        let call = "cudaGraphicsResourceGetMappedPointer";
        let (mut pointer, mut len) = (ptr::null_mut(), 0_usize);
        let get = self.runtime.symbols.get_mapped_pointer;
        // SAFETY: the resource was mapped above; the pointers are to live values.
        let code = unsafe { get(&raw mut pointer, &raw mut len, handle) };
        let checked = self.runtime.check(call, code);
        match checked.and_then(|()| NonNull::new(pointer).ok_or_else(|| nothing(call))) {
            Ok(pointer) => Ok((pointer, len)),
            Err(error) => {
                // SAFETY: mapped above, on this thread.
                let _unmapped = unsafe { self.unmap() };
                Err(error)
            }
        }
    }

    /// Gives the buffer back to GL.
    ///
    /// # Safety
    /// [`map`](Self::map) must have mapped it, and its GL context be current on this thread.
    ///
    /// # Errors
    /// What the runtime answers.
    pub unsafe fn unmap(&self) -> Result<(), CallError> {
        let mut handle = self.handle.as_ptr();
        // SAFETY: one mapped resource, by the caller's word, on the stream it was mapped on.
        let code =
            unsafe { (self.runtime.symbols.unmap_resources)(1, &raw mut handle, ptr::null_mut()) };
        self.runtime.check("cudaGraphicsUnmapResources", code)
    }

    /// Ends the registration; nothing may be done with the resource after this.
    ///
    /// # Safety
    /// The buffer must be alive and not mapped, its GL context current on this thread, and this
    /// the last call on the resource.
    ///
    /// # Errors
    /// What the runtime answers.
    pub unsafe fn unregister(&self) -> Result<(), CallError> {
        // SAFETY: registered and not mapped, by the caller's word.
        let code = unsafe { (self.runtime.symbols.unregister_resource)(self.handle.as_ptr()) };
        self.runtime.check("cudaGraphicsUnregisterResource", code)
    }
}
