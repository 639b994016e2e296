//! The fixed header and what it says by itself.

use super::{
    HEADER_LEN,
    cursor::{Reader, wide, wire_struct},
    error::BlobError,
};
use crate::{dtype::DType, memory_kind::TensorMemory};

/// The requirements this build understands: none are defined yet.
const SUPPORTED_REQUIREMENTS: u64 = 0;

/// `fence_fd` when there is no fence.
pub(super) const NO_FENCE: i32 = -1;

wire_struct! {
    /// The header, as it lies on the wire.
    Header, HEADER_LEN, {
        0 size: u64,
        8 required_mask: u64,
        16 planes_bytes: u64,
        24 storage_kind: u32,
        28 pid: u32,
        32 fence_fd: i32,
        36 dtype: u32,
        40 quant_axis: i32,
        44 ndim: u32,
        48 plane_count: u32,
        52 quant_scales_len: u32,
        56 quant_zero_points_len: u32,
        60 strings_bytes: u32,
        64 strides_len: u32,
        68 reserved: u32,
    }
}

impl Header {
    /// The header at the front of `bytes`, and the blob it speaks of, which they hold whole.
    #[inline]
    pub(super) fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), BlobError> {
        let have = bytes.len();
        let Some(header) = Self::read(&mut Reader::new(bytes)) else {
            return Err(no_header(bytes));
        };
        check_requirements(header.required_mask)?;
        if header.size < wide(HEADER_LEN) {
            return Err(BlobError::Size { size: header.size });
        }
        let size = usize::try_from(header.size).ok();
        let Some(blob) = size.and_then(|size| bytes.get(..size)) else {
            return Err(BlobError::Truncated { need: header.size, have });
        };
        if header.reserved != 0 {
            return Err(BlobError::Reserved { value: header.reserved });
        }
        Ok((header, blob))
    }

    pub(super) fn storage_kind(&self) -> Result<TensorMemory, BlobError> {
        let code = self.storage_kind;
        TensorMemory::from_code(code).ok_or(BlobError::UnknownStorageKind { code })
    }

    pub(super) fn dtype(&self) -> Result<DType, BlobError> {
        DType::from_code(self.dtype).ok_or(BlobError::UnknownDType { code: self.dtype })
    }

    pub(super) fn fence_fd(&self) -> Result<Option<i32>, BlobError> {
        match self.fence_fd {
            NO_FENCE => Ok(None),
            value @ 0.. => Ok(Some(value)),
            value => Err(BlobError::FenceFd { value }),
        }
    }
}

#[inline]
fn check_requirements(required_mask: u64) -> Result<(), BlobError> {
    match required_mask & !SUPPORTED_REQUIREMENTS {
        0 => Ok(()),
        bits => Err(BlobError::UnsupportedRequirement { bits }),
    }
}

/// Why there is no header. Requirements are judged even when the rest of it is missing.
#[cold]
fn no_header(bytes: &[u8]) -> BlobError {
    let mut reader = Reader::new(bytes);
    let required_mask =
        reader.array::<8>().and_then(|_size| reader.array().map(u64::from_le_bytes));
    match required_mask.map(check_requirements) {
        Some(Err(unsupported)) => unsupported,
        _ => BlobError::Truncated { need: wide(HEADER_LEN), have: bytes.len() },
    }
}
