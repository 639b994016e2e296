//! A model, run by ONNX Runtime: loaded when the program runs, so that nothing is linked and whichever
//! build the user has serves.

mod sys;

use std::{
    ffi::{CStr, CString, c_char, c_void},
    mem::ManuallyDrop,
    path::Path,
    ptr,
};

use libloading::Library;
use tensor_core::DType;
use thiserror::Error;

use self::sys::{
    API_VERSION, DEVICE_ALLOCATOR, LOG_WARNING, MEMORY_DEFAULT, OrtAllocator, OrtApi, OrtApiBase,
    OrtEnv, OrtMemoryInfo, OrtSession, OrtSessionOptions, OrtShape, OrtStatus, OrtValue,
};

/// The runtime's codes of element types.
const TYPES: [(i32, DType); 11] = [
    (1, DType::F32),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::I32),
    (7, DType::I64),
    (10, DType::F16),
    (11, DType::F64),
    (12, DType::U32),
    (13, DType::U64),
];

/// Why a model does not run.
#[derive(Debug, Error)]
pub(crate) enum OrtError {
    /// No such library, or one of something else.
    #[error("ONNX Runtime: {0}")]
    Library(#[from] libloading::Error),
    /// A library that has no table of version 1.
    #[error("ONNX Runtime {version} has no interface of version {API_VERSION}")]
    Version {
        /// What the library calls itself.
        version: String,
    },
    /// What the runtime itself says.
    #[error("ONNX Runtime: {0}")]
    Runtime(String),
    /// Bytes that are no tensor of the shape.
    #[error("a {dtype} tensor of {shape:?} has {need} bytes, got {got}")]
    Bytes {
        /// The element type.
        dtype: DType,
        /// The dimensions, outermost first.
        shape: Vec<i64>,
        /// Bytes of such a tensor; none where they do not fit the address space.
        need: usize,
        /// Bytes given.
        got: usize,
    },
    /// An output that is no tensor of a type that is known here.
    #[error("output {name} has elements of type {code}")]
    Output {
        /// The output's name.
        name: String,
        /// The runtime's code.
        code: i32,
    },
}

/// The runtime, and what every session of it needs. The library stays loaded: its threads may end
/// later than this value.
pub(crate) struct Runtime {
    _library: ManuallyDrop<Library>,
    api: &'static OrtApi,
    env: *mut OrtEnv,
    memory: *mut OrtMemoryInfo,
    allocator: *mut OrtAllocator,
}

/// A tensor that belongs to the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) dtype: DType,
    /// The dimensions, outermost first; the bytes are dense.
    pub(crate) shape: &'a [i64],
}

/// A tensor that a model made.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    /// The dimensions, outermost first.
    pub(crate) shape: Vec<i64>,
    pub(crate) bytes: Vec<u8>,
}

impl Runtime {
    /// Loads the library at `path`.
    ///
    /// # Errors
    /// [`OrtError`] when it is none, or of before version 1.
    pub(crate) fn load(path: &Path) -> Result<Self, OrtError> {
        // SAFETY: the user names a library whose initialization is theirs to trust.
        let library = ManuallyDrop::new(unsafe { Library::new(path) }?);
        type GetApiBase = unsafe extern "C" fn() -> *const OrtApiBase;
        // SAFETY: the symbol has this type in every ONNX Runtime.
        let get_base = unsafe { library.get::<GetApiBase>(b"OrtGetApiBase\0") }?;
        // SAFETY: takes nothing, and returns a static or null.
        let base = unsafe { get_base() };
        let none = || OrtError::Version { version: "of unknown version".to_owned() };
        // SAFETY: null, or a static of the library, which stays loaded.
        let base = unsafe { base.as_ref() }.ok_or_else(none)?;
        // SAFETY: a function of the library, for any number.
        let api = unsafe { (base.get_api)(API_VERSION) };
        // SAFETY: null, or the table of that version, a static of the library, which stays loaded.
        let Some(api) = (unsafe { api.as_ref() }) else {
            // SAFETY: a function of the library; it returns a static string.
            let version = unsafe { (base.get_version)() };
            // SAFETY: a static string that ends in a zero.
            let version = unsafe { CStr::from_ptr(version) };
            return Err(OrtError::Version { version: version.to_string_lossy().into_owned() });
        };
        let (env, memory, allocator) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let mut runtime = Self { _library: library, api, env, memory, allocator };
        let (env, memory) = (&raw mut runtime.env, &raw mut runtime.memory);
        let allocator = &raw mut runtime.allocator;
        // SAFETY: the name is a string that ends in a zero, and the place is ours.
        runtime.check(unsafe { (api.create_env)(LOG_WARNING, c"classify".as_ptr(), env) })?;
        let create = api.create_cpu_memory_info;
        // SAFETY: two codes of the header, and the place is ours.
        runtime.check(unsafe { create(DEVICE_ALLOCATOR, MEMORY_DEFAULT, memory) })?;
        // SAFETY: the place is ours; the allocator belongs to the runtime.
        runtime.check(unsafe { (api.get_allocator)(allocator) })?;
        Ok(runtime)
    }

    /// Turns a status into what it says, and releases it.
    fn check(&self, status: *mut OrtStatus) -> Result<(), OrtError> {
        if status.is_null() {
            return Ok(());
        }
        // SAFETY: a status that is not null is live until it is released.
        let text = unsafe { (self.api.get_error_message)(status) };
        // SAFETY: a string that ends in a zero and lives as long as the status.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: live, and not used again.
        unsafe { (self.api.release_status)(status) };
        Err(OrtError::Runtime(text))
    }

    /// A name that the runtime gives out in memory of its allocator.
    fn name(&self, given: *mut c_char) -> Result<CString, OrtError> {
        // SAFETY: a string that ends in a zero, which is ours until it is freed.
        let name = unsafe { CStr::from_ptr(given) }.to_owned();
        // SAFETY: of this allocator, and not used again.
        self.check(unsafe { (self.api.allocator_free)(self.allocator, given.cast()) })?;
        Ok(name)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.memory.is_null() {
            // SAFETY: made by this runtime, and not used again.
            unsafe { (self.api.release_memory_info)(self.memory) };
        }
        if !self.env.is_null() {
            // SAFETY: made by this runtime, whose sessions borrow `self` and so are gone.
            unsafe { (self.api.release_env)(self.env) };
        }
    }
}

/// A model with one input.
pub(crate) struct Session<'r> {
    runtime: &'r Runtime,
    session: *mut OrtSession,
    input: CString,
    outputs: Vec<CString>,
}

impl<'r> Session<'r> {
    /// Prepares the model in `bytes`, an ONNX file.
    ///
    /// # Errors
    /// What the runtime says of it.
    pub(crate) fn new(runtime: &'r Runtime, bytes: &[u8]) -> Result<Self, OrtError> {
        let api = runtime.api;
        let options = Options::new(runtime)?;
        let session = ptr::null_mut();
        let mut made = Self { runtime, session, input: CString::default(), outputs: Vec::new() };
        let (data, len, place) = (bytes.as_ptr().cast(), bytes.len(), &raw mut made.session);
        let create = api.create_session_from_array;
        // SAFETY: the environment and the options are live; `len` bytes are at `data`, of which the
        // runtime takes copies; the place is ours.
        runtime.check(unsafe { create(runtime.env, data, len, options.0, place) })?;
        made.input = made.name(0, api.session_get_input_name)?;
        let mut count = 0;
        // SAFETY: the session is live and the place is ours.
        runtime.check(unsafe { (api.session_get_output_count)(made.session, &raw mut count) })?;
        let names = (0..count).map(|index| made.name(index, api.session_get_output_name));
        made.outputs = names.collect::<Result<_, _>>()?;
        Ok(made)
    }

    fn name(
        &self,
        index: usize,
        name_of: unsafe extern "C" fn(
            *const OrtSession,
            usize,
            *mut OrtAllocator,
            *mut *mut c_char,
        ) -> *mut OrtStatus,
    ) -> Result<CString, OrtError> {
        let mut given = ptr::null_mut();
        let allocator = self.runtime.allocator;
        // SAFETY: session and allocator are live, the place is ours; an index past the last is an
        // error of the runtime's.
        let named = unsafe { name_of(self.session, index, allocator, &raw mut given) };
        self.runtime.check(named)?;
        self.runtime.name(given)
    }

    /// Runs the model. The input is read where it lies.
    ///
    /// # Errors
    /// [`OrtError::Bytes`] for bytes that are no such tensor, [`OrtError::Output`] for an output of
    /// another kind, and what the runtime says.
    pub(crate) fn run(&mut self, input: &Input<'_>) -> Result<Vec<Output>, OrtError> {
        let value = Value::bind(self.runtime, input)?;
        let names: Vec<_> = self.outputs.iter().map(|name| name.as_ptr()).collect();
        let mut made: Vec<_> = names.iter().map(|_| Value::empty(self.runtime)).collect();
        let mut places = vec![ptr::null_mut(); names.len()];
        let run = self.runtime.api.run;
        let (input_name, value) = ([self.input.as_ptr()], [value.value.cast_const()]);
        let (session, names, count) = (self.session, names.as_ptr(), names.len());
        let (input_names, values) = (input_name.as_ptr(), value.as_ptr());
        let outputs = places.as_mut_ptr();
        // SAFETY: the session is live and ours alone; one name and one value, `count` names and
        // `count` places of null, in which the runtime puts values that become ours.
        let ran =
            unsafe { run(session, ptr::null(), input_names, values, 1, names, count, outputs) };
        for (value, place) in made.iter_mut().zip(places) {
            value.value = place;
        }
        self.runtime.check(ran)?;
        let named = made.iter().zip(&self.outputs);
        named.map(|(value, name)| value.read(&name.to_string_lossy())).collect()
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if !self.session.is_null() {
            // SAFETY: made by this runtime, and not used again.
            unsafe { (self.runtime.api.release_session)(self.session) };
        }
    }
}

/// Options of a session, the default ones.
struct Options<'r>(*mut OrtSessionOptions, &'r Runtime);

impl<'r> Options<'r> {
    fn new(runtime: &'r Runtime) -> Result<Self, OrtError> {
        let mut options = ptr::null_mut();
        // SAFETY: the place is ours.
        runtime.check(unsafe { (runtime.api.create_session_options)(&raw mut options) })?;
        Ok(Self(options, runtime))
    }
}

impl Drop for Options<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and not used again.
        unsafe { (self.1.api.release_session_options)(self.0) };
    }
}

/// A value of the runtime, or room for one; `'r` is the life of the bytes it is over, too.
struct Value<'r> {
    runtime: &'r Runtime,
    value: *mut OrtValue,
}

impl<'r> Value<'r> {
    fn empty(runtime: &'r Runtime) -> Self {
        Self { runtime, value: ptr::null_mut() }
    }

    /// A value over the bytes of `input`, which it borrows, for a model to read.
    fn bind(runtime: &'r Runtime, input: &Input<'r>) -> Result<Self, OrtError> {
        let Input { bytes, dtype, shape } = *input;
        let elements = shape.iter().try_fold(1_usize, |all, dim| {
            usize::try_from(*dim).ok().and_then(|dim| all.checked_mul(dim))
        });
        let need = elements.and_then(|elements| elements.checked_mul(dtype.size_bytes()));
        if need != Some(bytes.len()) {
            let (shape, need, got) = (shape.to_vec(), need.unwrap_or(0), bytes.len());
            return Err(OrtError::Bytes { dtype, shape, need, got });
        }
        let code = TYPES.iter().find(|(_, known)| *known == dtype).map_or(0, |(code, _)| *code);
        let mut bound = Self::empty(runtime);
        let data = bytes.as_ptr().cast_mut().cast::<c_void>();
        let (len, dims, rank) = (bytes.len(), shape.as_ptr(), shape.len());
        let (create, place) = (runtime.api.create_tensor_with_data, &raw mut bound.value);
        // SAFETY: `len` bytes are at `data`, as many as the shape and type say, and `rank` dimensions
        // at `dims`. The value borrows the bytes for all its life, and inputs are only read.
        let created = unsafe { create(runtime.memory, data, len, dims, rank, code, place) };
        runtime.check(created)?;
        Ok(bound)
    }

    /// What the value is, and its elements.
    fn read(&self, name: &str) -> Result<Output, OrtError> {
        let (runtime, api) = (self.runtime, self.runtime.api);
        let described = Described::of(self)?;
        let mut code = 0;
        // SAFETY: the description is live and the place is ours.
        runtime.check(unsafe { (api.get_tensor_element_type)(described.0, &raw mut code) })?;
        let mut rank = 0;
        // SAFETY: as above.
        runtime.check(unsafe { (api.get_dimensions_count)(described.0, &raw mut rank) })?;
        let mut shape = vec![0_i64; rank];
        // SAFETY: as above, and there is room for `rank` dimensions.
        runtime.check(unsafe { (api.get_dimensions)(described.0, shape.as_mut_ptr(), rank) })?;
        let dtype = TYPES.iter().find(|(known, _)| *known == code).map(|(_, dtype)| *dtype);
        let other = || OrtError::Output { name: name.to_owned(), code };
        let dtype = dtype.ok_or_else(other)?;
        let elements = shape.iter().try_fold(dtype.size_bytes(), |all, dim| {
            usize::try_from(*dim).ok().and_then(|dim| all.checked_mul(dim))
        });
        let len = elements.ok_or_else(other)?;
        let mut data = ptr::null_mut();
        // SAFETY: a tensor of numbers, by its type; the place is ours.
        runtime.check(unsafe { (api.get_tensor_mutable_data)(self.value, &raw mut data) })?;
        let bytes = if data.is_null() {
            &[]
        } else {
            // SAFETY: the value has as many elements of that type as its shape says, at `data`, as
            // long as it lives.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }
        };
        Ok(Output { name: name.to_owned(), dtype, shape, bytes: bytes.to_vec() })
    }
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        if !self.value.is_null() {
            // SAFETY: made by this runtime, and not used again.
            unsafe { (self.runtime.api.release_value)(self.value) };
        }
    }
}

/// Type and shape of a value.
struct Described<'r>(*mut OrtShape, &'r Runtime);

impl<'r> Described<'r> {
    fn of(value: &Value<'r>) -> Result<Self, OrtError> {
        let (runtime, mut shape) = (value.runtime, ptr::null_mut());
        let describe = runtime.api.get_tensor_type_and_shape;
        // SAFETY: the value is live, and what is no tensor is an error; the place is ours.
        runtime.check(unsafe { describe(value.value, &raw mut shape) })?;
        Ok(Self(shape, runtime))
    }
}

impl Drop for Described<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `of`, and not used again.
        unsafe { (self.1.api.release_shape)(self.0) };
    }
}
