//! What a tensor and its views have in common.

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::BufferIdentity;
use crate::{
    access::CpuAccess, colorimetry::Colorimetry, dtype::DType, format::MAX_PLANES, memory::Memory,
    preprocess::Origin, quantization::Quantization,
};

/// The memories of a tensor, and what holds for every part of it. Held once, so that a view costs a
/// count and a layout.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    pub(super) memories: ArrayVec<Memory, MAX_PLANES>,
    pub(super) identity: BufferIdentity,
    pub(super) dtype: DType,
    pub(super) access: CpuAccess,
    pub(super) colorimetry: Colorimetry,
    pub(super) quantization: Option<Quantization>,
    pub(super) name: Option<Arc<str>>,
    pub(super) origin: Option<Origin>,
}
