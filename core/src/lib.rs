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
pub mod dtype;
pub mod format;
pub mod import_cache;
pub mod layout;
pub mod memory;
pub mod memory_kind;
pub mod quantization;
pub mod shape;
pub mod sys;
pub mod tensor;
pub mod transfer;

pub use access::CpuAccess;
pub use blob::{BlobError, BlobSpec, BlobView, PlaneRecord};
pub use colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry};
pub use dtype::DType;
pub use format::{DrmFourcc, MAX_PLANES, PixelFormat, PixelLayout, PlaneFormat, V4l2Fourcc};
pub use import_cache::{Import, ImportCache};
pub use layout::{ImageLayout, LayoutError, PlanePlacement, StrideAlign};
pub use memory::{FileIdentity, Memory};
pub use memory_kind::TensorMemory;
pub use quantization::{Quantization, QuantizationError};
pub use shape::{MAX_RANK, Shape, Strides};
pub use tensor::{BufferIdentity, TensorDyn, TensorError, TensorMap};
