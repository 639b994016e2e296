//! Why a blob is refused, by the reader or the writer.

use thiserror::Error;

use crate::shape::Region;

/// One refusal. `field` is always the name used in the [format](crate::blob).
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BlobError {
    /// Fewer bytes than the header, or than its `size`.
    #[error("the blob needs {need} bytes, has {have}")]
    Truncated {
        /// Bytes needed.
        need: u64,
        /// Bytes given.
        have: usize,
    },
    /// The producer demands something this reader does not know.
    #[error("unsupported requirement {bits:#x} in required_mask")]
    UnsupportedRequirement {
        /// The unknown bits.
        bits: u64,
    },
    /// `size` does not even cover the header.
    #[error("size is {size} bytes; the header alone has 72")]
    Size {
        /// Its value in bytes.
        size: u64,
    },
    /// `reserved` is in use.
    #[error("reserved is {value:#x}; it must be 0")]
    Reserved {
        /// Its value.
        value: u32,
    },
    /// No element type has this code.
    #[error("dtype {code} is not known")]
    UnknownDType {
        /// The code.
        code: u32,
    },
    /// No kind of memory has this code.
    #[error("storage_kind {code} is not known")]
    UnknownStorageKind {
        /// The code.
        code: u32,
    },
    /// `fence_fd` is neither an fd nor -1.
    #[error("fence_fd is {value}; it must be an fd, or -1 for none")]
    FenceFd {
        /// Its value.
        value: i32,
    },
    /// `strides_len` is neither 0 nor the rank.
    #[error("strides_len is {strides_len}; it must be 0 or ndim, which is {ndim}")]
    StridesLen {
        /// Strides.
        strides_len: usize,
        /// Rank.
        ndim: usize,
    },
    /// A region ends past `size`.
    #[error("{field} {count} of {width} bytes each from byte {start} ends past size, {size} bytes")]
    RegionBounds {
        /// The field that says how long the region is.
        field: &'static str,
        /// Its value.
        count: u64,
        /// Bytes of one element.
        width: usize,
        /// First byte of the region.
        start: usize,
        /// Bytes of the blob.
        size: usize,
    },
    /// `strings_bytes` leaves the plane records unaligned.
    #[error("the plane records would start at byte {start}, which is no multiple of 8")]
    PlanesUnaligned {
        /// Where they would start.
        start: usize,
    },
    /// `quant_axis` names no axis.
    #[error("quant_axis is {axis}; it must be -2, -1 or an axis of ndim {ndim}")]
    QuantAxis {
        /// Its value.
        axis: i32,
        /// Rank.
        ndim: usize,
    },
    /// Not as many scales as `quant_axis` asks for.
    #[error("quant_scales_len is {scales}; quant_axis {axis} needs {needed}")]
    ScaleCount {
        /// Scales there are.
        scales: usize,
        /// The axis.
        axis: i32,
        /// Scales needed.
        needed: u64,
    },
    /// Neither no zero points nor one for each scale.
    #[error("quant_zero_points_len is {zero_points}; it must be 0 or {scales}")]
    ZeroPointCount {
        /// Zero points there are.
        zero_points: usize,
        /// Scales there are.
        scales: usize,
    },
    /// A scale is not a finite positive number.
    #[error("scale {index} is {value}; it must be finite and above zero")]
    Scale {
        /// Which scale.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// A string, or its length, ends past its region.
    #[error("the string {field} needs {need} bytes, its region has {left} left")]
    StringBounds {
        /// Which string.
        field: &'static str,
        /// Bytes needed, with the length itself.
        need: u64,
        /// Bytes left.
        left: usize,
    },
    /// A string is not UTF-8.
    #[error("the string {field} is not UTF-8 at its byte {valid_up_to}")]
    InvalidUtf8 {
        /// Which string.
        field: &'static str,
        /// Its first bad byte.
        valid_up_to: usize,
    },
    /// A string names something this build does not know.
    #[error("{field} {name:?} is not known")]
    UnknownName {
        /// Which string.
        field: &'static str,
        /// The name, or its first 32 characters.
        name: String,
    },
    /// The region after the plane records ends past the blob, or before its own fields.
    #[error("extension len is {len} bytes; it must be 24 to {left}")]
    ExtensionBounds {
        /// Bytes it says it has.
        len: u64,
        /// Bytes after the plane records.
        left: usize,
    },
    /// A code in the region after the plane records that this build does not know.
    #[error("{field} {code} is not known")]
    ExtensionCode {
        /// `contiguity` or `compression`.
        field: &'static str,
        /// The code.
        code: u32,
    },
    /// A record of the extension past its end, or too short for what its kind says.
    #[error("a record of the extension has {len} bytes, expected 8 to {left}, or 32 of a region")]
    ExtensionRecord {
        /// Bytes it has.
        len: u64,
        /// Bytes left for it, or needed by its kind.
        left: usize,
    },
    /// A rectangle that is empty or not in what it is said to be a part of.
    #[error("extension record {kind}: expected a rectangle within {width}x{height}, got {region}")]
    ExtensionRegion {
        /// The record's kind.
        kind: u32,
        /// The rectangle.
        region: Region,
        /// Width that it should lie in, in pixels.
        width: usize,
        /// Height that it should lie in, in pixels.
        height: usize,
    },
    /// More planes than their bytes can hold.
    #[error("plane_count {plane_count} does not fit planes_bytes {planes_bytes}")]
    PlaneCount {
        /// Planes claimed.
        plane_count: u32,
        /// Bytes of all records.
        planes_bytes: usize,
    },
    /// A record, its payload or its padding ends past `planes_bytes`.
    #[error("plane {plane}: {field} needs {need} bytes, planes_bytes has {left} left")]
    PlaneBounds {
        /// Which plane.
        plane: usize,
        /// `record`, `handle_bytes_len`, `data_len` or `padding`.
        field: &'static str,
        /// Bytes needed.
        need: u64,
        /// Bytes left.
        left: usize,
    },
    /// Bytes after the last record that belong to no plane.
    #[error("planes_bytes has {left} bytes after the last of {planes} planes")]
    PlanesLeftover {
        /// Bytes left.
        left: usize,
        /// Planes read.
        planes: usize,
    },
    /// Some planes are inline and some by handle.
    #[error("plane {plane} is {}, the planes before it are not", transport(*.inline))]
    MixedPlanes {
        /// The first plane that differs.
        plane: usize,
        /// Whether it is the inline one.
        inline: bool,
    },
    /// `handle` is neither an index nor -1.
    #[error("plane {plane}: handle is {handle}; it must be an index, or -1 for inline")]
    PlaneHandle {
        /// Which plane.
        plane: usize,
        /// Its value.
        handle: i64,
    },
    /// An inline plane's field is not what its data says.
    #[error("plane {plane} is inline: {field} is {value}; it must be {needed}")]
    InlinePlane {
        /// Which plane.
        plane: usize,
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The only value it may have.
        needed: u64,
    },
    /// A plane by handle brings bytes.
    #[error("plane {plane} is by handle, but its data_len is {data_len} bytes")]
    ReferencedData {
        /// Which plane.
        plane: usize,
        /// Bytes it brings.
        data_len: usize,
    },
    /// More bytes in use than there are.
    #[error("plane {plane}: used is {used} bytes of size {size}")]
    Used {
        /// Which plane.
        plane: usize,
        /// Bytes in use.
        used: u64,
        /// Bytes of the plane.
        size: u64,
    },
    /// The plane is tiled or compressed, and the caller can only read rows.
    #[error("modifier {modifier:#018x} is not linear")]
    Modifier {
        /// The DRM modifier.
        modifier: u64,
    },
    /// The writer was given more than the field can count.
    #[error("{field} cannot hold {len}; its limit is 4294967295")]
    FieldLimit {
        /// The 32-bit field.
        field: &'static str,
        /// What it should say.
        len: usize,
    },
    /// The blob would be longer than memory.
    #[error("the blob is too long for this machine's memory")]
    TooLong,
}

const fn transport(inline: bool) -> &'static str {
    if inline { "inline" } else { "by handle" }
}
