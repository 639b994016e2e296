//! Registering the meta's two names, once for the process.
//!
//! Another copy of this code may have registered them. A second registration is a critical and
//! gives nothing, so every name is looked up first, and what is found is only used if its struct
//! is large enough for ours.

use std::{
    ffi::{CStr, c_char},
    sync::OnceLock,
};

use gst::{
    ffi,
    glib::{
        self,
        ffi::{GType, gboolean},
        translate::{FromGlib, IntoGlib, ToGlibPtr},
    },
};
use libloading::os::unix::{Library, RTLD_LAZY};

use super::{
    TensorMetaError,
    imp::{self, RawTensorMeta},
};

/// The GType of the API, by which readers find the meta: `gst_buffer_get_meta(buffer,
/// g_type_from_name("TensorBlobMetaAPI"))`.
const API: &CStr = c"TensorBlobMetaAPI";

/// The name of the implementation. `GstTensorMeta` belongs to GStreamer's analytics library.
const NAME: &CStr = c"TensorBlobMeta";

const GSTREAMER: &str = "libgstreamer-1.0.so.0";

/// The API type.
pub(super) fn api() -> glib::Type {
    static TYPE: OnceLock<glib::Type> = OnceLock::new();
    *TYPE.get_or_init(|| find_api().unwrap_or_else(register_api))
}

fn find_api() -> Option<glib::Type> {
    API.to_str().ok().and_then(glib::Type::from_name)
}

/// `memory` and `memory-reference`: whoever gives a frame other memory must drop the meta.
fn register_api() -> glib::Type {
    let mut tags = [c"memory".as_ptr(), c"memory-reference".as_ptr(), std::ptr::null::<c_char>()];
    // SAFETY: the name and the list, ended by a null, live through the call, which copies them.
    let api = unsafe { ffi::gst_meta_api_type_register(API.as_ptr(), tags.as_mut_ptr()) };
    // SAFETY: any value is a type's number or 0, the invalid type.
    let api = unsafe { glib::Type::from_glib(api) };
    // Another copy may have come first, between the look-up and here.
    if api == glib::Type::INVALID { find_api().unwrap_or(api) } else { api }
}

/// The registration to add metas with.
///
/// # Errors
/// [`TensorMetaError::Registered`] when other code took the name with another struct.
pub(super) fn info() -> Result<&'static ffi::GstMetaInfo, TensorMetaError> {
    static INFO: OnceLock<Option<&'static ffi::GstMetaInfo>> = OnceLock::new();
    let need = size_of::<RawTensorMeta>();
    let info = *INFO.get_or_init(|| find_info().or_else(register).or_else(find_info));
    match info {
        Some(info) if info.size >= need && info.api == api().into_glib() => Ok(info),
        found => Err(TensorMetaError::Registered { size: found.map(|info| info.size), need }),
    }
}

/// Makes `GstVideoMeta` known, so that a receiver can deserialize it: without it a frame's true
/// layout is lost at a process border.
pub(super) fn register_video_meta() {
    // SAFETY: takes nothing; registers once, by itself.
    let _info = unsafe { gst_video::ffi::gst_video_meta_get_info() };
}

fn find_info() -> Option<&'static ffi::GstMetaInfo> {
    // SAFETY: the name lives through the call.
    let info = unsafe { ffi::gst_meta_get_info(NAME.as_ptr()) };
    // SAFETY: null, or a registration, which GStreamer keeps for as long as the process lives.
    unsafe { info.as_ref() }
}

fn register() -> Option<&'static ffi::GstMetaInfo> {
    let info = Newer::find().map_or_else(|| imp::register_plain(NAME), |newer| newer.register());
    // SAFETY: null, or a registration, which GStreamer keeps for as long as the process lives.
    unsafe { info.as_ref() }
}

type Announce = unsafe extern "C" fn(*mut ffi::GstPlugin, *const ffi::GstMetaInfo) -> gboolean;

/// Lets GStreamer 1.28 and newer load the plugin when a meta of ours is received.
pub(super) fn announce(plugin: &gst::Plugin) {
    let (Ok(info), library) = (info(), gstreamer()) else { return };
    // SAFETY: the type is that of the function's declaration in gst/gstmetafactory.h.
    let Ok(announce) = (unsafe { library.get::<Announce>(c"gst_meta_factory_register") }) else {
        return;
    };
    // SAFETY: the plugin lives through the call, the registration as long as the process.
    unsafe { announce(plugin.to_glib_none().0, info) };
}

/// The library that this code is linked to, for what is newer than the version it was built for.
fn gstreamer() -> Library {
    // SAFETY: GStreamer is loaded, we are linked to it; this only finds it again.
    let opened = unsafe { Library::open(Some(GSTREAMER), RTLD_LAZY) };
    // A program that has GStreamer linked in statically has no such file.
    opened.unwrap_or_else(|_| Library::this())
}

type New = unsafe extern "C" fn(GType, *const c_char, usize) -> *mut ffi::GstMetaInfo;
type Register = unsafe extern "C" fn(*mut ffi::GstMetaInfo) -> *const ffi::GstMetaInfo;

/// The functions with which GStreamer 1.24 and newer registers a meta that can be serialized.
struct Newer {
    new: New,
    register: Register,
    _library: Library,
}

impl Newer {
    fn find() -> Option<Self> {
        let library = gstreamer();
        // SAFETY: the type is that of the function's declaration in gst/gstmeta.h.
        let new = *unsafe { library.get::<New>(c"gst_meta_info_new") }.ok()?;
        // SAFETY: the type is that of the function's declaration in gst/gstmeta.h.
        let register = *unsafe { library.get::<Register>(c"gst_meta_info_register") }.ok()?;
        Some(Self { new, register, _library: library })
    }

    fn register(&self) -> *const ffi::GstMetaInfo {
        let size = size_of::<RawTensorMeta>();
        // SAFETY: the API type is registered and the name lives through the call.
        let info = unsafe { (self.new)(api().into_glib(), NAME.as_ptr(), size) };
        // SAFETY: null, or a new struct that nobody else has yet.
        let Some(filled) = (unsafe { info.as_mut() }) else { return std::ptr::null() };
        imp::fill(filled);
        // SAFETY: made by `new` just now; the call takes it over.
        unsafe { (self.register)(info) }
    }
}
