//! The meta as bytes, for another process: what `unixfdsink` writes and `unixfdsrc` reads, from
//! GStreamer 1.24 on.

use std::ptr;

use gst::{
    ffi,
    glib::ffi::{GFALSE, GTRUE, gboolean},
};
use tensor_core::blob::BlobView;

use super::RawTensorMeta;

/// The version of the serialized form: the index and a zero, 4 bytes each, little-endian, then the
/// blob.
const VERSION: u8 = 1;
const HEADER_LEN: usize = 8;

/// What is serialized is the index and the blob.
pub(in super::super) unsafe extern "C" fn serialize(
    meta: *const ffi::GstMeta,
    out: *mut ffi::GstByteArrayInterface,
    version: *mut u8,
) -> gboolean {
    // SAFETY: GStreamer passes a live meta of the struct we registered.
    let meta = unsafe { &*meta.cast::<RawTensorMeta>() };
    // SAFETY: GStreamer passes a live writer that nobody else uses meanwhile.
    let writer = unsafe { &mut *out };
    let (Some(index), Some(blob)) = (meta.index(), meta.blob_slice()) else { return GFALSE };
    let Some(resize) = writer.resize else { return GFALSE };
    let bytes = serialized(index, blob);
    let old_len = writer.len;
    let Some(new_len) = old_len.checked_add(bytes.len()) else { return GFALSE };
    // SAFETY: the writer's own function on the writer.
    if unsafe { resize(out, new_len) } == GFALSE {
        return GFALSE;
    }
    // SAFETY: as above; reborrowed because `resize` wrote to it. Not every writer sets its length.
    let writer = unsafe { &mut *out };
    writer.len = new_len;
    // SAFETY: the writer has `new_len` bytes now, of which `old_len` were there before.
    let end = unsafe { writer.data.add(old_len) };
    // SAFETY: `bytes.len()` bytes from `end` on are the writer's; `bytes` are ours.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len()) };
    // SAFETY: GStreamer passes the place of the version.
    unsafe { version.write(VERSION) };
    GTRUE
}

fn serialized(index: u32, blob: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_LEN.saturating_add(blob.len()));
    bytes.extend(index.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(blob);
    bytes
}

/// The index and the blob, if that is what these bytes are. Bytes that a later version might give
/// a meaning must be zero.
fn deserialized(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (header, blob) = bytes.split_first_chunk::<HEADER_LEN>()?;
    let [a, b, c, d, 0, 0, 0, 0] = *header else { return None };
    let view = BlobView::parse(blob).ok().filter(|view| !view.is_inline())?;
    Some((u32::from_le_bytes([a, b, c, d]), view.as_bytes()))
}

/// The buffer has no memories yet, so only the bytes can be judged.
pub(in super::super) unsafe extern "C" fn deserialize(
    info: *const ffi::GstMetaInfo,
    buffer: *mut ffi::GstBuffer,
    data: *const u8,
    len: usize,
    version: u8,
) -> *mut ffi::GstMeta {
    if version != VERSION || data.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: GStreamer passes `len` bytes at `data`.
    let bytes = unsafe { std::slice::from_raw_parts(data, len) };
    let Some((index, blob)) = deserialized(bytes) else { return ptr::null_mut() };
    // SAFETY: the buffer is writable by GStreamer's contract; the info is the one that carries this
    // callback, so its struct is ours.
    let meta = unsafe { ffi::gst_buffer_add_meta(buffer, info, ptr::null_mut()) };
    // SAFETY: null, or a new meta of the struct we registered that nobody else has.
    if let Some(meta) = unsafe { meta.cast::<RawTensorMeta>().as_mut() } {
        meta.receive(index, blob);
    }
    meta
}
