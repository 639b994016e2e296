//! The tensor blob: one tensor as bytes, to carry between processes.
//!
//! Pure bytes: this module knows no fd, makes no syscall and reads nothing it has not measured.
//! [`BlobView::parse`] checks everything once, after which no accessor can fail; [`BlobSpec`]
//! writes, through the same checks.
//!
//! A blob is a header, a tail and nothing else. All integers and floats are little-endian. The
//! first byte may lie at any address.
//!
//! # Header, 72 bytes
//!
//! | offset | type | field | rule |
//! |---|---|---|---|
//! | 0 | u64 | `size` | bytes of the blob, header included; bytes after them are ignored |
//! | 8 | u64 | `required_mask` | bits a reader must know or refuse; none is defined, so 0 |
//! | 16 | u64 | `planes_bytes` | bytes of the plane records |
//! | 24 | u32 | `storage_kind` | a [`TensorMemory`](crate::memory_kind::TensorMemory) code |
//! | 28 | u32 | `pid` | the producer, 0 when the planes are inline |
//! | 32 | i32 | `fence_fd` | fence to wait for before use, -1 for none |
//! | 36 | u32 | `dtype` | a [`DType`](crate::dtype::DType) code |
//! | 40 | i32 | `quant_axis` | the axis that has one scale for each index, -1 one scale for all, -2 none |
//! | 44 | u32 | `ndim` | rank |
//! | 48 | u32 | `plane_count` | at most `planes_bytes / 56` |
//! | 52 | u32 | `quant_scales_len` | 0, 1 or the length of the axis, as `quant_axis` says |
//! | 56 | u32 | `quant_zero_points_len` | 0 (all zero) or `quant_scales_len` |
//! | 60 | u32 | `strings_bytes` | with padding |
//! | 64 | u32 | `strides_len` | `ndim`, or 0 for a dense tensor |
//! | 68 | u32 | `reserved` | 0 |
//!
//! # Tail, in this order
//!
//! `shape` u64 each, `strides` i64 bytes each, `scales` f32, `zero_points` i32, five strings, the
//! plane records, and [what the published format has no field for](#extension). Where a region
//! starts follows from the header alone. The plane records start at a multiple of 8.
//!
//! The strings are `u32 length` and that many bytes of UTF-8: format, `color_space`,
//! `color_transfer`, `color_encoding`, `color_range`. An empty string says nothing. Zeros follow
//! until the next multiple of 8; what is left of the region is not read.
//!
//! # Plane record, 56 bytes and payload
//!
//! | offset | type | field | by handle | inline |
//! |---|---|---|---|---|
//! | 0 | i64 | `handle` | index into the fds that travel beside the blob | -1 |
//! | 8 | u64 | `offset` | byte of that memory where the plane starts | 0 |
//! | 16 | u64 | `stride` | bytes from row to row | the same |
//! | 24 | u64 | `size` | bytes of the plane | `data_len` |
//! | 32 | u64 | `used` | bytes in use, at most `size` | `data_len` |
//! | 40 | u64 | `modifier` | DRM modifier, 0 linear; kept, see [`PlaneRecord::require_linear`] | 0 |
//! | 48 | u32 | `handle_bytes_len` | bytes of a handle that is no fd | 0 |
//! | 52 | u32 | `data_len` | 0 | bytes of the plane |
//!
//! Then the handle bytes, the data, and zeros until the next multiple of 8. All planes are inline
//! or none is. The records fill `planes_bytes` exactly.
//!
//! # Extension
//!
//! After the plane records, where the published reader looks at nothing. It is written only when it
//! says something. Bytes there that do not start with the magic are not judged, nor are those after
//! `len`: a later version may append fields.
//!
//! | offset | type | field | rule |
//! |---|---|---|---|
//! | 0 | u32 | `magic` | `GTX1` in ASCII |
//! | 4 | u32 | `len` | bytes of the region with its records, these 24 included |
//! | 8 | u32 | `flags` | bit 0 the CPU may read, 1 it may write, 2 the tensor is a view; others are not judged |
//! | 12 | u32 | `contiguity` | a [`Contiguity`](crate::Contiguity) code |
//! | 16 | u32 | `compression` | a [`CompressionScheme`](crate::CompressionScheme) code, 0 plain rows |
//! | 20 | u32 | `name_len` | bytes of the tensor's name, 0 for none |
//!
//! Then the name in UTF-8, and zeros until the next multiple of 8. Records fill what is left of `len`:
//!
//! | offset | type | field | rule |
//! |---|---|---|---|
//! | 0 | u32 | `kind` | 1 where the image lies in the tensor, 2 which part of a frame that image is; others are passed over |
//! | 4 | u32 | `len` | bytes of the record, these 8 included; at least 32 of a known kind, more are a later version's |
//! | 8 | u32 x 4 | `x`, `y`, `width`, `height` | a rectangle in pixels, not empty |
//! | 24 | u32 x 2 | `of_width`, `of_height` | the tensor (1), or the frame (2), that it lies in |
//!
//! Each begins at a multiple of 8. Kind 2 is of meaning beside kind 1; of equal kinds the last counts.
//!
//! # Refusals
//!
//! Each is a variant of [`BlobError`]; nothing is repaired. `required_mask` is judged before any
//! other field, even `size`, because an unknown bit may change what the others mean. Names of
//! formats and colours that this build does not know are refused, not dropped. The padding's value
//! is not judged.

#![forbid(unsafe_code)]

mod cursor;
mod error;
mod extension;
mod header;
pub mod packet;
mod plane;
mod planes;
mod quant;
mod record;
mod regions;
mod spec;
mod strings;
mod view;

#[cfg(test)]
mod tests;

pub use error::BlobError;
pub use extension::{EXTENSION_MAGIC, Extension};
pub use plane::{INLINE, PlaneRecord};
pub use planes::Planes;
pub use quant::{QUANT_NONE, QUANT_PER_TENSOR};
pub use spec::BlobSpec;
pub use view::BlobView;

/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 72;

/// Bytes of a plane record without its payload.
pub const PLANE_RECORD_LEN: usize = 56;
