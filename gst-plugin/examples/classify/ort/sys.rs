//! ONNX Runtime's C interface, as far as it is needed: `onnxruntime_c_api.h`.
//!
//! A library gives one table of functions. Entries are only ever added at its end, so that a place in
//! it means the same in every version; what is not needed is passed over by its count.

use std::ffi::{c_char, c_int, c_void};

/// A handle of the runtime's, used by its address alone.
macro_rules! handles {
    ($($name:ident)*) => { $(
        #[repr(C)]
        #[derive(Debug)]
        pub(super) struct $name { _private: [u8; 0] }
    )* };
}
handles! { OrtStatus OrtEnv OrtSession OrtSessionOptions OrtRunOptions OrtValue OrtMemoryInfo OrtAllocator OrtShape }

/// The version of the table that is asked for: the first, which has all that is used here.
pub(super) const API_VERSION: u32 = 1;
/// `ORT_LOGGING_LEVEL_WARNING`.
pub(super) const LOG_WARNING: c_int = 2;
/// `OrtDeviceAllocator`.
pub(super) const DEVICE_ALLOCATOR: c_int = 0;
/// `OrtMemTypeDefault`.
pub(super) const MEMORY_DEFAULT: c_int = 0;

/// What `OrtGetApiBase` returns.
#[repr(C)]
pub(super) struct OrtApiBase {
    pub(super) get_api: unsafe extern "C" fn(u32) -> *const OrtApi,
    pub(super) get_version: unsafe extern "C" fn() -> *const c_char,
}

/// Null where nothing went wrong.
pub(super) type Status = *mut OrtStatus;

type Skip<const ENTRIES: usize> = [*const c_void; ENTRIES];

/// The table of functions.
#[repr(C)]
pub(super) struct OrtApi {
    _to_get_error_message: Skip<2>,
    pub(super) get_error_message: unsafe extern "C" fn(*const OrtStatus) -> *const c_char,
    pub(super) create_env: unsafe extern "C" fn(c_int, *const c_char, *mut *mut OrtEnv) -> Status,
    _to_create_session_from_array: Skip<4>,
    pub(super) create_session_from_array: unsafe extern "C" fn(
        *const OrtEnv,
        *const c_void,
        usize,
        *const OrtSessionOptions,
        *mut *mut OrtSession,
    ) -> Status,
    pub(super) run: unsafe extern "C" fn(
        *mut OrtSession,
        *const OrtRunOptions,
        *const *const c_char,
        *const *const OrtValue,
        usize,
        *const *const c_char,
        usize,
        *mut *mut OrtValue,
    ) -> Status,
    pub(super) create_session_options: unsafe extern "C" fn(*mut *mut OrtSessionOptions) -> Status,
    _to_session_get_output_count: Skip<20>,
    pub(super) session_get_output_count:
        unsafe extern "C" fn(*const OrtSession, *mut usize) -> Status,
    _to_session_get_input_name: Skip<4>,
    pub(super) session_get_input_name: NameOf,
    pub(super) session_get_output_name: NameOf,
    _to_create_tensor_with_data: Skip<11>,
    pub(super) create_tensor_with_data: unsafe extern "C" fn(
        *const OrtMemoryInfo,
        *mut c_void,
        usize,
        *const i64,
        usize,
        c_int,
        *mut *mut OrtValue,
    ) -> Status,
    _to_get_tensor_mutable_data: Skip<1>,
    pub(super) get_tensor_mutable_data:
        unsafe extern "C" fn(*mut OrtValue, *mut *mut c_void) -> Status,
    _to_get_tensor_element_type: Skip<8>,
    pub(super) get_tensor_element_type: unsafe extern "C" fn(*const OrtShape, *mut c_int) -> Status,
    pub(super) get_dimensions_count: unsafe extern "C" fn(*const OrtShape, *mut usize) -> Status,
    pub(super) get_dimensions: unsafe extern "C" fn(*const OrtShape, *mut i64, usize) -> Status,
    _to_get_tensor_type_and_shape: Skip<2>,
    pub(super) get_tensor_type_and_shape:
        unsafe extern "C" fn(*const OrtValue, *mut *mut OrtShape) -> Status,
    _to_create_cpu_memory_info: Skip<3>,
    pub(super) create_cpu_memory_info:
        unsafe extern "C" fn(c_int, c_int, *mut *mut OrtMemoryInfo) -> Status,
    _to_allocator_free: Skip<6>,
    pub(super) allocator_free: unsafe extern "C" fn(*mut OrtAllocator, *mut c_void) -> Status,
    _to_get_allocator: Skip<1>,
    pub(super) get_allocator: unsafe extern "C" fn(*mut *mut OrtAllocator) -> Status,
    _to_release_env: Skip<13>,
    pub(super) release_env: unsafe extern "C" fn(*mut OrtEnv),
    pub(super) release_status: unsafe extern "C" fn(*mut OrtStatus),
    pub(super) release_memory_info: unsafe extern "C" fn(*mut OrtMemoryInfo),
    pub(super) release_session: unsafe extern "C" fn(*mut OrtSession),
    pub(super) release_value: unsafe extern "C" fn(*mut OrtValue),
    _to_release_shape: Skip<2>,
    pub(super) release_shape: unsafe extern "C" fn(*mut OrtShape),
    pub(super) release_session_options: unsafe extern "C" fn(*mut OrtSessionOptions),
}

/// The name of an input or an output, in memory of the allocator.
type NameOf =
    unsafe extern "C" fn(*const OrtSession, usize, *mut OrtAllocator, *mut *mut c_char) -> Status;

/// Which place each function has, by the order of the header.
const PLACES: [(usize, usize); 22] = {
    use std::mem::offset_of;
    [
        (2, offset_of!(OrtApi, get_error_message)),
        (3, offset_of!(OrtApi, create_env)),
        (8, offset_of!(OrtApi, create_session_from_array)),
        (9, offset_of!(OrtApi, run)),
        (10, offset_of!(OrtApi, create_session_options)),
        (31, offset_of!(OrtApi, session_get_output_count)),
        (36, offset_of!(OrtApi, session_get_input_name)),
        (37, offset_of!(OrtApi, session_get_output_name)),
        (49, offset_of!(OrtApi, create_tensor_with_data)),
        (51, offset_of!(OrtApi, get_tensor_mutable_data)),
        (60, offset_of!(OrtApi, get_tensor_element_type)),
        (61, offset_of!(OrtApi, get_dimensions_count)),
        (62, offset_of!(OrtApi, get_dimensions)),
        (65, offset_of!(OrtApi, get_tensor_type_and_shape)),
        (69, offset_of!(OrtApi, create_cpu_memory_info)),
        (76, offset_of!(OrtApi, allocator_free)),
        (78, offset_of!(OrtApi, get_allocator)),
        (92, offset_of!(OrtApi, release_env)),
        (93, offset_of!(OrtApi, release_status)),
        (96, offset_of!(OrtApi, release_value)),
        (99, offset_of!(OrtApi, release_shape)),
        (100, offset_of!(OrtApi, release_session_options)),
    ]
};
const _: () = {
    let mut rest: &[(usize, usize)] = &PLACES;
    while let [(place, offset), after @ ..] = rest {
        assert!(*place * size_of::<*const c_void>() == *offset);
        rest = after;
    }
};
