//! Zero-copy tensors over dma-buf, shared memory and heap, with their true layout.
//!
//! A [`Memory`] is bytes with an owner and an identity. An [`ImageLayout`] says where the samples
//! are in it. A [`TensorDyn`] is memories, a layout and a description. The modules are layered; a
//! lower one never imports a higher one, and `tests/architecture.rs` checks it.

#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        reason = "a test that overflows fails, which is what a test is for"
    )
)]

pub mod access;
pub mod blob;
pub mod colorimetry;
pub mod compression;
pub mod convert;
pub mod desc;
pub mod dtype;
pub mod format;
pub mod import_cache;
mod inline_array;
pub mod layout;
pub mod memory;
pub mod memory_kind;
pub mod preprocess;
pub mod quantization;
pub mod shape;
pub mod socket;
pub mod sys;
pub mod tensor;
pub mod transfer;
pub mod vocabulary;

pub use access::CpuAccess;
pub use blob::{BlobError, BlobSpec, BlobView, Extension, PlaneRecord};
pub use colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry};
pub use compression::{Compression, CompressionScheme, Contiguity};
pub use desc::TensorDesc;
pub use dtype::DType;
pub use format::{
    BitPacking, Bitstream, ChromaLayout, ColorModel, DrmFormat, DrmFourcc, MAX_PLANES, Modifier,
    PixelFormat, PixelLayout, PlaneFormat, V4l2Fourcc,
};
pub use import_cache::{Import, ImportCache};
pub use layout::{ImageLayout, LayoutError, PlanePlacement, StrideAlign};
pub use memory::{FileIdentity, Memory};
pub use memory_kind::TensorMemory;
pub use preprocess::{
    ContentRegion, ContentRegionSource, Fit, FitMode, Interpolation, LetterboxPlacement,
    Normalization, NormalizationPreset, Origin, PadSpace, PreprocessSpec, broadcast_rgb,
    letterbox_rect, unletter_norm,
};
pub use quantization::{QuantMode, Quantization, QuantizationError};
pub use shape::{MAX_RANK, Region, Shape, Strides};
pub use tensor::{
    BufferIdentity, Element, ImageDesc, Layout, PlaneDescriptor, Tensor, TensorDyn, TensorError,
    TensorMap,
};

/// Enums that may grow cannot be matched without a wildcard from outside.
///
/// ```compile_fail,E0004
/// use tensor_core::DType;
/// fn width(dtype: DType) -> u32 {
///     match dtype {
///         DType::U8 | DType::I8 => 8,
///         DType::U16 | DType::I16 | DType::F16 => 16,
///         DType::U32 | DType::I32 | DType::F32 => 32,
///         DType::U64 | DType::I64 | DType::F64 => 64,
///     }
/// }
/// ```
#[cfg(doctest)]
pub struct EnumsMayGrow;
