//! GStreamer's analytics library, which came with 1.24 and has tensors since 1.26. It is not linked:
//! one plugin file runs with every GStreamer.
//!
//! In 1.24 another library has a `GstTensorMeta` of another layout. The functions here came together
//! with the layout here, so without them nothing is touched.

use std::{
    ffi::{c_int, c_uint},
    ptr::{self, NonNull},
    slice,
    sync::OnceLock,
};

use gst::{
    ffi,
    glib::{
        self,
        ffi::{GQuark, g_malloc},
        translate::{IntoGlib, IntoGlibPtr},
    },
};
use libloading::os::unix::{Library, RTLD_LAZY};
use tensor_core::DType;

use super::{AnalyticsError, CAT};

const LIBRARY: &str = "libgstanalytics-1.0.so.0";

/// `GST_TENSOR_DIM_ORDER_ROW_MAJOR` of gst/analytics/gsttensor.h.
const ROW_MAJOR: c_int = 0;

/// `GstTensor` of gst/analytics/gsttensor.h, as far as it is read here.
#[repr(C)]
struct Tensor {
    id: GQuark,
}

/// `GstTensorMeta` of gst/analytics/gsttensormeta.h.
#[repr(C)]
struct Meta {
    meta: ffi::GstMeta,
    num_tensors: usize,
    tensors: *mut *mut Tensor,
}

/// A tensor to be told.
pub(super) struct NewTensor {
    pub(super) id: glib::Quark,
    pub(super) dtype: DType,
    /// As many bytes as the dimensions say.
    pub(super) data: gst::Buffer,
    pub(super) dims: Vec<usize>,
}

type New = unsafe extern "C" fn(
    GQuark,
    c_int,
    *mut ffi::GstBuffer,
    c_int,
    usize,
    *const usize,
) -> *mut Tensor;
type Copy = unsafe extern "C" fn(*const Tensor) -> *mut Tensor;
type Free = unsafe extern "C" fn(*mut Tensor);
type OfBuffer = unsafe extern "C" fn(*mut ffi::GstBuffer) -> *mut Meta;
type Set = unsafe extern "C" fn(*mut Meta, c_uint, *mut *mut Tensor);

/// The functions that are needed.
pub(super) struct Analytics {
    new: New,
    copy: Copy,
    free: Free,
    get: OfBuffer,
    add: OfBuffer,
    set: Set,
    _library: Library,
}

/// The library, if this GStreamer has it.
pub(super) fn find() -> Option<&'static Analytics> {
    static FOUND: OnceLock<Option<Analytics>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let found = Analytics::load();
        if found.is_none() {
            gst::debug!(CAT, "{}", AnalyticsError::Absent);
        }
        found
    });
    found.as_ref()
}

impl Analytics {
    fn load() -> Option<Self> {
        // SAFETY: a library of GStreamer, whose initializers do nothing.
        let opened = unsafe { Library::open(Some(LIBRARY), RTLD_LAZY) };
        // A program that has GStreamer linked in statically has no such file.
        let library = opened.unwrap_or_else(|_| Library::this());
        Some(Self {
            // SAFETY: the type is that of the function's declaration in gst/analytics/gsttensor.h.
            new: *unsafe { library.get::<New>(c"gst_tensor_new_simple") }.ok()?,
            // SAFETY: as above.
            copy: *unsafe { library.get::<Copy>(c"gst_tensor_copy") }.ok()?,
            // SAFETY: as above.
            free: *unsafe { library.get::<Free>(c"gst_tensor_free") }.ok()?,
            // SAFETY: as above, in gst/analytics/gsttensormeta.h.
            get: *unsafe { library.get::<OfBuffer>(c"gst_buffer_get_tensor_meta") }.ok()?,
            // SAFETY: as above.
            add: *unsafe { library.get::<OfBuffer>(c"gst_buffer_add_tensor_meta") }.ok()?,
            // SAFETY: as above.
            set: *unsafe { library.get::<Set>(c"gst_tensor_meta_set") }.ok()?,
            _library: library,
        })
    }

    /// Puts these tensors, and those that were there under other ids, into a new meta in place of
    /// the old one. Readers look for no second meta.
    pub(super) fn put(
        &self,
        buffer: &mut gst::BufferRef,
        tensors: Vec<NewTensor>,
    ) -> Result<(), AnalyticsError> {
        let ids: Vec<_> = tensors.iter().map(|tensor| tensor.id.into_glib()).collect();
        // SAFETY: the buffer is live and ours alone.
        let old = unsafe { (self.get)(buffer.as_mut_ptr()) };
        let mut all = Owned { analytics: self, tensors: self.others(old, &ids) };
        for tensor in tensors {
            let made = self.make(tensor);
            all.tensors.push(made.ok_or(AnalyticsError::Refused { what: "tensor" })?);
        }
        // First, since 1.26 adds no second meta but hands out the one that is there.
        if !old.is_null() {
            // SAFETY: a meta of this buffer, which is writable by `&mut`; not used after this.
            unsafe { ffi::gst_buffer_remove_meta(buffer.as_mut_ptr(), old.cast()) };
        }
        // SAFETY: writable by `&mut`.
        let meta = unsafe { (self.add)(buffer.as_mut_ptr()) };
        if meta.is_null() {
            return Err(AnalyticsError::Refused { what: "meta" });
        }
        let (count, array) = all.into_array();
        // SAFETY: the meta is new; it takes the array, which GLib allocated, and its tensors over.
        unsafe { (self.set)(meta, count, array) };
        Ok(())
    }

    /// Copies of the tensors of `meta` that have none of these ids; they share the data.
    fn others(&self, meta: *const Meta, ids: &[GQuark]) -> Vec<NonNull<Tensor>> {
        // SAFETY: null, or a live meta of the layout that came with these functions.
        let Some(meta) = (unsafe { meta.as_ref() }) else { return Vec::new() };
        if meta.tensors.is_null() {
            return Vec::new();
        }
        // SAFETY: so many pointers, as the meta says.
        let there = unsafe { slice::from_raw_parts(meta.tensors, meta.num_tensors) };
        let copies = there.iter().filter_map(|tensor| {
            // SAFETY: the meta's tensors live as long as it; null is left out.
            let id = unsafe { tensor.as_ref() }?.id;
            // SAFETY: a live tensor.
            (!ids.contains(&id)).then(|| unsafe { (self.copy)(*tensor) })
        });
        copies.filter_map(NonNull::new).collect()
    }

    fn make(&self, tensor: NewTensor) -> Option<NonNull<Tensor>> {
        let NewTensor { id, dtype, data, dims } = tensor;
        let data_type = data_type(dtype)?;
        let (id, data) = (id.into_glib(), data.into_glib_ptr());
        // SAFETY: as many dims as said; the tensor takes the data over.
        let made = unsafe { (self.new)(id, data_type, data, ROW_MAJOR, dims.len(), dims.as_ptr()) };
        if made.is_null() {
            // SAFETY: a refused tensor leaves its data to the caller.
            unsafe { ffi::gst_mini_object_unref(data.cast()) };
        }
        NonNull::new(made)
    }
}

/// Tensors that are freed unless a meta takes them.
struct Owned<'a> {
    analytics: &'a Analytics,
    tensors: Vec<NonNull<Tensor>>,
}

impl Owned<'_> {
    /// An array for a meta to own.
    fn into_array(mut self) -> (c_uint, *mut *mut Tensor) {
        let tensors = std::mem::take(&mut self.tensors);
        // SAFETY: any size may be asked for; GLib ends the process when it has no memory.
        let array = unsafe { g_malloc(size_of_val(tensors.as_slice())) };
        let array = array.cast::<*mut Tensor>();
        // SAFETY: so many pointers were allocated just now; `NonNull` is a pointer in memory.
        unsafe { ptr::copy_nonoverlapping(tensors.as_ptr().cast(), array, tensors.len()) };
        (c_uint::try_from(tensors.len()).unwrap_or(c_uint::MAX), array)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        for tensor in &self.tensors {
            // SAFETY: made or copied by this library and taken by nobody.
            unsafe { (self.analytics.free)(tensor.as_ptr()) };
        }
    }
}

/// `GstTensorDataType` of gst/analytics/gsttensor.h.
fn data_type(dtype: DType) -> Option<c_int> {
    Some(match dtype {
        DType::I8 => 1,
        DType::I16 => 2,
        DType::I32 => 3,
        DType::I64 => 4,
        DType::U8 => 6,
        DType::U16 => 7,
        DType::U32 => 8,
        DType::U64 => 9,
        DType::F16 => 10,
        DType::F32 => 11,
        DType::F64 => 12,
        _ => return None,
    })
}
