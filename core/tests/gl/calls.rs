//! The calls of EGL and GL that the tests make, as the Khronos headers declare them, found at run time.

use std::{ffi::c_void, ptr, sync::LazyLock};

use libloading::Library;

/// A table of functions, each by its symbol.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident {
        $($field:ident = $symbol:literal ($($argument:ty),*) $(-> $answer:ty)?;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $table {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl $table {
            pub(super) fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self { $($field: {
                    // SAFETY: the row is the declaration in the Khronos header.
                    *unsafe { library.get($symbol) }?
                },)* })
            }
        }
    };
}

functions! {
    /// `EGL/egl.h`, version 1.5.
    Egl {
        get_platform_display = "eglGetPlatformDisplay"(u32, *mut c_void, *const isize) -> *mut c_void;
        initialize = "eglInitialize"(*mut c_void, *mut i32, *mut i32) -> u32;
        bind_api = "eglBindAPI"(u32) -> u32;
        choose_config = "eglChooseConfig"(*mut c_void, *const i32, *mut *mut c_void, i32, *mut i32) -> u32;
        create_context = "eglCreateContext"(*mut c_void, *mut c_void, *mut c_void, *const i32) -> *mut c_void;
        make_current = "eglMakeCurrent"(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> u32;
        destroy_context = "eglDestroyContext"(*mut c_void, *mut c_void) -> u32;
        release_thread = "eglReleaseThread"() -> u32;
        get_error = "eglGetError"() -> i32;
    }
}

functions! {
    /// `GLES3/gl3.h`; those of `GL/glcorearb.h` are the same.
    Calls {
        get_error = "glGetError"() -> u32;
        gen_buffers = "glGenBuffers"(i32, *mut u32);
        delete_buffers = "glDeleteBuffers"(i32, *const u32);
        is_buffer = "glIsBuffer"(u32) -> u8;
        bind_buffer = "glBindBuffer"(u32, u32);
        buffer_data = "glBufferData"(u32, isize, *const c_void, u32);
        map_buffer_range = "glMapBufferRange"(u32, isize, isize, u32) -> *mut c_void;
        unmap_buffer = "glUnmapBuffer"(u32) -> u8;
        gen_textures = "glGenTextures"(i32, *mut u32);
        delete_textures = "glDeleteTextures"(i32, *const u32);
        bind_texture = "glBindTexture"(u32, u32);
        pixel_store = "glPixelStorei"(u32, i32);
        tex_image = "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
        gen_framebuffers = "glGenFramebuffers"(i32, *mut u32);
        delete_framebuffers = "glDeleteFramebuffers"(i32, *const u32);
        bind_framebuffer = "glBindFramebuffer"(u32, u32);
        framebuffer_texture = "glFramebufferTexture2D"(u32, u32, u32, u32, i32);
        read_pixels = "glReadPixels"(i32, i32, i32, i32, u32, u32, *mut c_void);
    }
}

/// A library, or why there is none. It stays: a driver that was loaded once is not safe to unload.
type Loaded = LazyLock<Result<Library, String>>;

static LIB_EGL: Loaded = LazyLock::new(|| load("libEGL.so.1"));
static LIB_GLES: Loaded = LazyLock::new(|| load("libGLESv2.so.2"));
static LIB_GL: Loaded = LazyLock::new(|| load("libOpenGL.so.0"));

fn load(name: &str) -> Result<Library, String> {
    // SAFETY: what these libraries run when they are loaded is meant to be run in any program.
    let library = unsafe { Library::new(name) };
    library.map_err(|error| error.to_string())
}

/// One of the two GLs that EGL makes contexts of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Api {
    pub(crate) name: &'static str,
    library: &'static Loaded,
    /// `EGL_OPENGL_ES_API` or `EGL_OPENGL_API`.
    egl: u32,
    /// `EGL_OPENGL_ES3_BIT` or `EGL_OPENGL_BIT`.
    renderable: i32,
    /// Three bytes a pixel where this GL reads such pixels back, else four.
    pub(crate) read_format: u32,
    pub(crate) read_bytes: usize,
}

pub(crate) const GLES: Api = Api {
    name: "OpenGL ES",
    library: &LIB_GLES,
    egl: 0x30A0,
    renderable: 0x40,
    read_format: 0x1908,
    read_bytes: 4,
};

pub(crate) const DESKTOP: Api = Api {
    name: "OpenGL",
    library: &LIB_GL,
    egl: 0x30A2,
    renderable: 0x8,
    read_format: 0x1907,
    read_bytes: 3,
};

/// A context without a surface, current on the thread that made it until this is dropped.
///
/// It holds raw pointers, so it stays on that thread.
#[derive(Debug)]
pub(super) struct Context {
    egl: Egl,
    display: *mut c_void,
    context: *mut c_void,
    pub(super) calls: Calls,
}

impl Context {
    /// A context of version 3 on Mesa's platform without a window system.
    pub(super) fn new(api: Api) -> Result<Self, String> {
        const PLATFORM_SURFACELESS: u32 = 0x31DD;
        let egl =
            Egl::of(LIB_EGL.as_ref().map_err(String::clone)?).map_err(|error| error.to_string())?;
        let calls = Calls::of(api.library.as_ref().map_err(String::clone)?)
            .map_err(|error| error.to_string())?;
        let failed = |call: &str| {
            // SAFETY: takes nothing.
            let code = unsafe { (egl.get_error)() };
            format!("{call}: EGL error {code:#06x}")
        };
        // SAFETY: the platform takes no native display and no attributes.
        let display = unsafe {
            (egl.get_platform_display)(PLATFORM_SURFACELESS, ptr::null_mut(), ptr::null())
        };
        // SAFETY: the versions may be null; a display that is none is an error of EGL's.
        if unsafe { (egl.initialize)(display, ptr::null_mut(), ptr::null_mut()) } == 0 {
            return Err(failed("eglInitialize"));
        }
        // SAFETY: takes a number.
        if unsafe { (egl.bind_api)(api.egl) } == 0 {
            return Err(failed("eglBindAPI"));
        }
        let config = choose_config(&egl, display, api).ok_or_else(|| failed("eglChooseConfig"))?;
        // EGL_CONTEXT_MAJOR_VERSION 3, EGL_NONE.
        let version = [0x3098, 3, 0x3038];
        // SAFETY: display and config are EGL's own, the list ends with EGL_NONE.
        let context =
            unsafe { (egl.create_context)(display, config, ptr::null_mut(), version.as_ptr()) };
        if context.is_null() {
            return Err(failed("eglCreateContext"));
        }
        let own = Self { egl, display, context, calls };
        if own.make_current(context) { Ok(own) } else { Err(failed("eglMakeCurrent")) }
    }

    fn make_current(&self, context: *mut c_void) -> bool {
        let none = ptr::null_mut();
        // SAFETY: the display and the context, or none, are EGL's own; no surface is asked for.
        unsafe { (self.egl.make_current)(self.display, none, none, context) != 0 }
    }
}

fn choose_config(egl: &Egl, display: *mut c_void, api: Api) -> Option<*mut c_void> {
    // EGL_SURFACE_TYPE none, EGL_RENDERABLE_TYPE, EGL_NONE.
    let wanted = [0x3033, 0, 0x3040, api.renderable, 0x3038];
    let (mut config, mut count) = (ptr::null_mut(), 0);
    // SAFETY: the list ends with EGL_NONE, there is place for the one config and its count.
    let chosen = unsafe {
        (egl.choose_config)(display, wanted.as_ptr(), &raw mut config, 1, &raw mut count)
    };
    (chosen != 0 && count == 1).then_some(config)
}

impl Drop for Context {
    fn drop(&mut self) {
        self.make_current(ptr::null_mut());
        // SAFETY: the context is this one's, and current nowhere.
        unsafe { (self.egl.destroy_context)(self.display, self.context) };
        // The display stays: other threads of the process may have contexts on it.
        // SAFETY: takes nothing.
        unsafe { (self.egl.release_thread)() };
    }
}
