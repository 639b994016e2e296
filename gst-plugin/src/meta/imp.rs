//! The C half of the meta: its struct, its callbacks, its registration.
//!
//! Two copies of this code may live in one process (the plugin and an application that links the
//! crate). GStreamer keeps one registration of a meta for each name, so a callback here may be
//! called for a meta that the other copy filled in, and the other way round. What both agree on is
//! [`Body`], of version [`ABI`], and that an `object` is only touched through its `origin`.

mod serial;

use std::{
    ffi::{CStr, c_void},
    mem::offset_of,
    ptr,
    sync::Arc,
};

use gst::{
    ffi,
    glib::{
        self, ffi as glib_ffi,
        ffi::{GBytes, GFALSE, GTRUE, gboolean},
        translate::{IntoGlib, ToGlibPtr, from_glib_none},
    },
    meta::{MetaTransform, MetaTransformCopy},
};
use tensor_core::MAX_PLANES;

use super::{TensorMeta, TensorMetaError, registration};
use crate::memo::FrameImport;

pub(super) use serial::{deserialize, serialize};

/// The version of [`Body`]. It grows when the struct or the meaning of a field changes.
pub(super) const ABI: u32 = 1;

/// What keeps an `object` alive, given by the copy of the code that made it.
#[repr(C)]
#[derive(Debug)]
struct Origin {
    abi: u32,
    reserved: u32,
    reference: unsafe extern "C" fn(*mut c_void),
    unreference: unsafe extern "C" fn(*mut c_void),
}

/// This copy's origin; its address tells our objects from those of another copy.
static ORIGIN: Origin = Origin { abi: ABI, reserved: 0, reference, unreference };

/// The meta in memory. `GstMeta`, then what follows it.
#[repr(C)]
#[derive(Debug)]
pub struct RawTensorMeta {
    meta: ffi::GstMeta,
    body: Body,
}

// What readers in other languages rely on.
const _: () = assert!(offset_of!(RawTensorMeta, body) == size_of::<ffi::GstMeta>());
const _: () = assert!(offset_of!(Body, abi) == 0 && offset_of!(Body, index) == 4);
const _: () = assert!(offset_of!(Body, blob) == 8);

/// The fields after `GstMeta`. The first three are for every reader; the rest is for the code that
/// `origin` belongs to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    pub(super) abi: u32,
    index: u32,
    blob: *mut GBytes,
    origin: *const Origin,
    object: *mut c_void,
    memories: [u64; MAX_PLANES],
}

impl Body {
    const EMPTY: Self = Self {
        abi: ABI,
        index: 0,
        blob: ptr::null_mut(),
        origin: ptr::null(),
        object: ptr::null_mut(),
        memories: [0; MAX_PLANES],
    };

    /// A body that holds its own references. `memories` are the serial numbers of the memories
    /// that the blob's planes lie in, in the order the planes name them.
    fn new(
        index: u32,
        blob: &glib::Bytes,
        import: Option<&Arc<FrameImport>>,
        memories: [u64; MAX_PLANES],
    ) -> Self {
        let object = import.map_or(ptr::null(), |import| Arc::into_raw(Arc::clone(import)));
        Self {
            index,
            blob: into_raw(blob),
            origin: &raw const ORIGIN,
            object: object.cast_mut().cast(),
            memories,
            ..Self::EMPTY
        }
    }

    fn is_ours(&self) -> bool {
        self.abi == ABI && ptr::eq(self.origin, &raw const ORIGIN)
    }

    /// A second body for the same content.
    ///
    /// # Safety
    /// `self` is of our ABI, and its pointers are null or live.
    unsafe fn duplicate(&self) -> Self {
        if !self.blob.is_null() {
            // SAFETY: not null, so live by this function's contract.
            unsafe { glib_ffi::g_bytes_ref(self.blob) };
        }
        // SAFETY: null or live by this function's contract; origins are statics of code that stays
        // loaded, because GStreamer never unloads a plugin.
        if let Some(origin) = unsafe { self.origin.as_ref() } {
            // SAFETY: the origin made the object and accepts null.
            unsafe { (origin.reference)(self.object) };
        }
        *self
    }

    /// Gives the references back.
    ///
    /// # Safety
    /// As [`duplicate`](Self::duplicate), and the body is not used again.
    unsafe fn release(self) {
        if !self.blob.is_null() {
            // SAFETY: this body owns one reference.
            unsafe { glib_ffi::g_bytes_unref(self.blob) };
        }
        // SAFETY: null or a static, see `duplicate`.
        if let Some(origin) = unsafe { self.origin.as_ref() } {
            // SAFETY: the body owns one reference, of an object its origin made, or null.
            unsafe { (origin.unreference)(self.object) };
        }
    }
}

unsafe extern "C" fn reference(object: *mut c_void) {
    if !object.is_null() {
        // SAFETY: an object of our origin is an `Arc<FrameImport>` turned raw by `Body::new`, and
        // whoever asks for a reference holds one.
        unsafe { Arc::increment_strong_count(object.cast_const().cast::<FrameImport>()) };
    }
}

unsafe extern "C" fn unreference(object: *mut c_void) {
    if !object.is_null() {
        // SAFETY: as in `reference`; the caller gives its reference up.
        unsafe { Arc::decrement_strong_count(object.cast_const().cast::<FrameImport>()) };
    }
}

// SAFETY: `RawTensorMeta` begins with a `GstMeta` and is what is registered under the API type;
// a registration with a smaller struct is never used, see `registration::info`.
unsafe impl gst::meta::MetaAPI for TensorMeta {
    type GstType = RawTensorMeta;

    fn meta_api() -> glib::Type {
        registration::api()
    }
}

impl RawTensorMeta {
    /// What follows the `GstMeta`, when it is what this code knows.
    fn body(&self) -> Option<&Body> {
        // SAFETY: a meta's info is a registration, which lives as long as the process.
        let info = unsafe { self.meta.info.as_ref() }?;
        let is_known = info.size >= size_of::<Self>() && self.body.abi == ABI;
        is_known.then_some(&self.body)
    }

    /// Which of the buffer's tensors this is, when the meta is of our ABI.
    pub(super) fn index(&self) -> Option<u32> {
        self.body().map(|body| body.index)
    }

    /// The blob, when the meta is of our ABI and has one.
    pub(super) fn blob(&self) -> Option<glib::Bytes> {
        let blob = self.body().map(|body| body.blob).filter(|blob| !blob.is_null())?;
        // SAFETY: not null, and the meta owns a reference as long as it is borrowed.
        Some(unsafe { from_glib_none(blob) })
    }

    /// The blob's bytes, when the meta is of our ABI and has one.
    pub(super) fn blob_slice(&self) -> Option<&[u8]> {
        let blob = self.body().map(|body| body.blob).filter(|blob| !blob.is_null())?;
        // SAFETY: not null, and the meta owns a reference as long as it is borrowed.
        unsafe { bytes_slice(blob) }
    }

    /// Takes what was deserialized, once, after `init`.
    fn receive(&mut self, index: u32, blob: &[u8]) {
        self.body.index = index;
        self.body.blob = into_raw(&glib::Bytes::from(blob));
    }

    /// The import this meta was made from, when this copy of the code made it.
    pub(super) fn import(&self) -> Option<Arc<FrameImport>> {
        let body = self.body().filter(|body| body.is_ours() && !body.object.is_null())?;
        // SAFETY: an object of our origin, of which the meta owns a reference while borrowed.
        unsafe { reference(body.object) };
        // SAFETY: that reference is the one taken here.
        Some(unsafe { Arc::from_raw(body.object.cast_const().cast::<FrameImport>()) })
    }

    /// The serial numbers of the memories, when this copy of the code knows them.
    pub(super) fn serials(&self) -> Option<&[u64; MAX_PLANES]> {
        self.body().filter(|body| body.is_ours()).map(|body| &body.memories)
    }
}

/// Puts the meta on a buffer, or new content into the one with its index that is there.
pub(super) fn put(
    buffer: &mut gst::BufferRef,
    index: u32,
    blob: &glib::Bytes,
    import: Option<&Arc<FrameImport>>,
    memories: [u64; MAX_PLANES],
) -> Result<(), TensorMetaError> {
    let info = registration::info()?;
    let body = Body::new(index, blob, import, memories);
    let found = find(buffer, index);
    let meta = if found.is_null() {
        // SAFETY: `&mut BufferRef` says writable, and `info` is a live registration.
        unsafe { ffi::gst_buffer_add_meta(buffer.as_mut_ptr(), info, ptr::null_mut()) }
    } else {
        found
    };
    // SAFETY: null or a meta of `info`, so at least as large as `RawTensorMeta`.
    match unsafe { meta.cast::<RawTensorMeta>().as_mut() } {
        Some(meta) if meta.body().is_some() => {
            let old = std::mem::replace(&mut meta.body, body);
            // SAFETY: of our ABI, and replaced just now.
            unsafe { old.release() };
            Ok(())
        }
        refused => {
            let abi = refused.map(|meta| meta.body.abi);
            // SAFETY: made above and not stored anywhere.
            unsafe { body.release() };
            Err(TensorMetaError::Abi { abi, ours: ABI })
        }
    }
}

/// The meta with this index, or one of another ABI, which keeps ours from being put beside it.
fn find(buffer: &mut gst::BufferRef, index: u32) -> *mut ffi::GstMeta {
    let api = registration::api().into_glib();
    let mut state = ptr::null_mut();
    loop {
        let (buffer, state) = (buffer.as_mut_ptr(), &raw mut state);
        // SAFETY: the buffer is live, the state is what the call before left in it, and no meta is
        // added or removed between the calls.
        let meta = unsafe { ffi::gst_buffer_iterate_meta_filtered(buffer, state, api) };
        // SAFETY: null or a meta of our API; `body` looks no further than its registered size.
        let raw = unsafe { meta.cast::<RawTensorMeta>().as_ref() };
        if raw.is_none_or(|raw| raw.index().is_none_or(|other| other == index)) {
            return meta;
        }
    }
}

/// A registration with our callbacks filled in.
pub(super) fn fill(info: &mut ffi::GstMetaInfo) {
    info.init_func = Some(init);
    info.free_func = Some(free);
    info.transform_func = Some(transform);
    info.serialize_func = Some(serialize);
    info.deserialize_func = Some(deserialize);
}

/// Registers without serialization, all that GStreamer before 1.24 can do.
pub(super) fn register_plain(name: &CStr) -> *const ffi::GstMetaInfo {
    let (api, size) = (registration::api().into_glib(), size_of::<RawTensorMeta>());
    // SAFETY: the API type is registered, the size is that of the struct the callbacks write.
    unsafe {
        ffi::gst_meta_register(api, name.as_ptr(), size, Some(init), Some(free), Some(transform))
    }
}

/// The memory of a new meta is not initialized past its `GstMeta`.
unsafe extern "C" fn init(
    meta: *mut ffi::GstMeta,
    _params: *mut c_void,
    _buffer: *mut ffi::GstBuffer,
) -> gboolean {
    // SAFETY: GStreamer allocated the size we registered; the place is not read.
    let body = unsafe { &raw mut (*meta.cast::<RawTensorMeta>()).body };
    // SAFETY: inside that allocation and aligned, by the struct's definition.
    unsafe { body.write(Body::EMPTY) };
    GTRUE
}

unsafe extern "C" fn free(meta: *mut ffi::GstMeta, _buffer: *mut ffi::GstBuffer) {
    // SAFETY: a meta that `init` initialized, about to be freed, so nobody else has it.
    let meta = unsafe { &mut *meta.cast::<RawTensorMeta>() };
    let body = std::mem::replace(&mut meta.body, Body::EMPTY);
    // SAFETY: of our ABI, because our `init` wrote it, and replaced just now.
    unsafe { body.release() };
}

/// A copy of the whole buffer keeps the meta; nothing else does. Refusing would be logged as an
/// error, so what adds nothing says yes.
unsafe extern "C" fn transform(
    dest: *mut ffi::GstBuffer,
    meta: *mut ffi::GstMeta,
    _source: *mut ffi::GstBuffer,
    kind: glib_ffi::GQuark,
    data: *mut c_void,
) -> gboolean {
    if kind != MetaTransformCopy::quark().into_glib() {
        return GTRUE;
    }
    // SAFETY: a transform of this kind comes with this struct.
    let copy = unsafe { data.cast::<ffi::GstMetaTransformCopy>().as_ref() };
    if copy.is_none_or(|copy| copy.region != GFALSE) {
        return GTRUE;
    }
    // SAFETY: GStreamer passes a live meta of the struct we registered.
    let meta = unsafe { &*meta.cast::<RawTensorMeta>() };
    // SAFETY: of our ABI, because our `init` and `put` wrote it; the meta keeps it alive.
    let body = unsafe { meta.body.duplicate() };
    // SAFETY: `dest` is writable by GStreamer's contract and the info is that of a live meta.
    let copy = unsafe { ffi::gst_buffer_add_meta(dest, meta.meta.info, ptr::null_mut()) };
    // SAFETY: null, or a new meta of the struct we registered that nobody else has.
    match unsafe { copy.cast::<RawTensorMeta>().as_mut() } {
        Some(copy) => copy.body = body,
        // SAFETY: made above and not stored anywhere.
        None => unsafe { body.release() },
    }
    GTRUE
}

/// A reference of its own, for C.
fn into_raw(bytes: &glib::Bytes) -> *mut GBytes {
    ToGlibPtr::<*mut GBytes>::to_glib_full(bytes)
}

/// The bytes of a `GBytes`, `None` when it is empty.
///
/// # Safety
/// `bytes` is live for `'a`.
unsafe fn bytes_slice<'a>(bytes: *mut GBytes) -> Option<&'a [u8]> {
    let mut len = 0;
    // SAFETY: live by this function's contract.
    let data = unsafe { glib_ffi::g_bytes_get_data(bytes, &raw mut len) };
    if data.is_null() {
        return None;
    }
    // SAFETY: a `GBytes` never changes, and has `len` bytes at `data` as long as it lives.
    Some(unsafe { std::slice::from_raw_parts(data.cast(), len) })
}
