//! What the tests ask of GL, on the thread of its context.

use std::{ffi::c_void, ptr};

use tensor_core::{CpuAccess, layout::GlPixelStore, memory::PboError};

use super::calls::{Api, Context};

const PIXEL_PACK_BUFFER: u32 = 0x88EB;
const PIXEL_UNPACK_BUFFER: u32 = 0x88EC;
const STREAM_DRAW: u32 = 0x88E0;
const MAP_READ_BIT: u32 = 1;
const MAP_WRITE_BIT: u32 = 2;
const TEXTURE_2D: u32 = 0x0DE1;
const FRAMEBUFFER: u32 = 0x8D40;
const COLOR_ATTACHMENT0: u32 = 0x8CE0;
const RGB: u32 = 0x1907;
const RGB8: i32 = 0x8051;
const UNSIGNED_BYTE: u32 = 0x1401;
const UNPACK_ROW_LENGTH: u32 = 0x0CF2;
const UNPACK_ALIGNMENT: u32 = 0x0CF5;
const PACK_ROW_LENGTH: u32 = 0x0D02;
const PACK_ALIGNMENT: u32 = 0x0D05;

/// GL on the thread that this is on.
#[derive(Debug)]
pub(crate) struct Gl {
    context: Context,
    api: Api,
}

/// Rows of pixels in a buffer object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) buffer: u32,
    pub(crate) store: GlPixelStore,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// A call that takes numbers alone.
macro_rules! call {
    ($gl:ident.$name:ident($($argument:expr),*)) => {
        // SAFETY: the context is current on this thread as long as `Gl` lives, and GL answers numbers
        // that are wrong with an error.
        unsafe { ($gl.context.calls.$name)($($argument),*) }
    };
}

impl Gl {
    pub(super) fn new(api: Api) -> Result<Self, String> {
        Ok(Self { context: Context::new(api)?, api })
    }

    fn check(&self, call: &'static str) -> Result<(), PboError> {
        match call!(self.get_error()) {
            0 => Ok(()),
            code => Err(PboError::Call { call, code }),
        }
    }

    /// A new buffer object with these bytes.
    pub(crate) fn buffer(&self, bytes: &[u8]) -> u32 {
        let mut buffer = 0;
        // SAFETY: there is place for the one name.
        unsafe { (self.context.calls.gen_buffers)(1, &raw mut buffer) };
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, buffer));
        let (len, start) = (isize::try_from(bytes.len()).unwrap(), bytes.as_ptr().cast());
        // SAFETY: GL reads that many bytes from there before it returns.
        unsafe { (self.context.calls.buffer_data)(PIXEL_PACK_BUFFER, len, start, STREAM_DRAW) };
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, 0));
        self.check("glBufferData").unwrap();
        buffer
    }

    /// Whether a buffer object has this name.
    pub(crate) fn is_buffer(&self, buffer: u32) -> bool {
        call!(self.is_buffer(buffer)) != 0
    }

    pub(super) fn map(
        &self,
        buffer: u32,
        len: usize,
        access: CpuAccess,
    ) -> Result<*mut u8, PboError> {
        // A writer gets a slice, so what it does not write must be there too.
        let flags = if access.writes() { MAP_READ_BIT | MAP_WRITE_BIT } else { MAP_READ_BIT };
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, buffer));
        let len = isize::try_from(len).unwrap();
        let start = call!(self.map_buffer_range(PIXEL_PACK_BUFFER, 0, len, flags));
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, 0));
        self.check("glMapBufferRange")?;
        Ok(start.cast())
    }

    pub(super) fn unmap(&self, buffer: u32) -> Result<(), PboError> {
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, buffer));
        let _whole = call!(self.unmap_buffer(PIXEL_PACK_BUFFER));
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, 0));
        self.check("glUnmapBuffer")
    }

    pub(super) fn delete(&self, buffer: u32) {
        // SAFETY: it is one name.
        unsafe { (self.context.calls.delete_buffers)(1, &raw const buffer) };
    }

    /// Three-byte pixels from `up` to a texture, and from there to `down`, in the pixels that this GL
    /// reads back.
    pub(crate) fn through_a_texture(&self, up: Rows, down: Rows) -> Result<(), PboError> {
        let texture = self.upload(up)?;
        let mut framebuffer = 0;
        // SAFETY: there is place for the one name.
        unsafe { (self.context.calls.gen_framebuffers)(1, &raw mut framebuffer) };
        call!(self.bind_framebuffer(FRAMEBUFFER, framebuffer));
        call!(self.framebuffer_texture(FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, texture, 0));
        let read = self.read_back(down);
        // SAFETY: it is one name.
        unsafe { (self.context.calls.delete_framebuffers)(1, &raw const framebuffer) };
        // SAFETY: it is one name.
        unsafe { (self.context.calls.delete_textures)(1, &raw const texture) };
        read
    }

    fn upload(&self, up: Rows) -> Result<u32, PboError> {
        let mut texture = 0;
        // SAFETY: there is place for the one name.
        unsafe { (self.context.calls.gen_textures)(1, &raw mut texture) };
        call!(self.bind_texture(TEXTURE_2D, texture));
        call!(self.pixel_store(UNPACK_ROW_LENGTH, up.store.row_length));
        call!(self.pixel_store(UNPACK_ALIGNMENT, up.store.alignment));
        call!(self.bind_buffer(PIXEL_UNPACK_BUFFER, up.buffer));
        let (width, height, from_start) = (up.width, up.height, ptr::null::<c_void>());
        // SAFETY: with a buffer bound the pointer is an offset into it, which GL checks.
        unsafe {
            (self.context.calls.tex_image)(
                TEXTURE_2D,
                0,
                RGB8,
                width,
                height,
                0,
                RGB,
                UNSIGNED_BYTE,
                from_start,
            );
        }
        call!(self.bind_buffer(PIXEL_UNPACK_BUFFER, 0));
        self.check("glTexImage2D").map(|()| texture)
    }

    fn read_back(&self, down: Rows) -> Result<(), PboError> {
        call!(self.pixel_store(PACK_ROW_LENGTH, down.store.row_length));
        call!(self.pixel_store(PACK_ALIGNMENT, down.store.alignment));
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, down.buffer));
        let (width, height, to_start) = (down.width, down.height, ptr::null_mut());
        let format = self.api.read_format;
        // SAFETY: with a buffer bound the pointer is an offset into it, which GL checks.
        unsafe {
            (self.context.calls.read_pixels)(0, 0, width, height, format, UNSIGNED_BYTE, to_start);
        }
        call!(self.bind_buffer(PIXEL_PACK_BUFFER, 0));
        self.check("glReadPixels")
    }
}
