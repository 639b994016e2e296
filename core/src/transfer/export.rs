//! A tensor as a blob, with the descriptors that travel beside it.

use std::{
    os::fd::{AsFd, BorrowedFd},
    process,
    sync::OnceLock,
};

use arrayvec::ArrayVec;

use super::{
    ExportError, TransferError,
    description::{Description, ImageDescription},
    inline,
    strided::StridedDescription,
};
use crate::{
    blob::Extension,
    compression::Contiguity,
    format::MAX_PLANES,
    memory::{Fence, Memory},
    memory_kind::TensorMemory,
    tensor::{Layout, TensorDyn},
};

/// Descriptors beside one blob at most: one for each plane, and a fence.
pub const MAX_FDS: usize = 5;
const _: () = assert!(MAX_FDS == MAX_PLANES + 1);

/// The descriptors beside a blob, borrowed from what they belong to; handle `n` is the `n`th.
pub type Fds<'a> = ArrayVec<BorrowedFd<'a>, MAX_FDS>;

/// Whether a blob carries the bytes or says where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportMode {
    /// It says where they are: nothing is copied, both sides see the same bytes.
    Reference,
    /// It carries them, without padding: for files, networks, and memory without a descriptor.
    Inline,
}

/// A tensor's blob and the descriptors to send with it.
///
/// By reference this makes no system call and borrows: the descriptors stay the tensor's and are
/// valid while it lives. A file that several planes lie in is lent once. Inline no descriptor is
/// needed.
///
/// The blob of a view says only where the view is, but whoever gets its descriptor can reach the
/// whole memory.
///
/// # Errors
/// [`TransferError::NoHandle`] by reference for memory without a descriptor,
/// [`TransferError::Batch`] for several images in one tensor: export its `batch(n)`. Inline what a
/// map for reading refuses, and [`BlobError::FieldLimit`](crate::BlobError::FieldLimit) for a plane
/// of 4 GiB.
pub fn export(tensor: &TensorDyn, mode: TransportMode) -> Result<(Vec<u8>, Fds<'_>), ExportError> {
    let mut out = Vec::new();
    let fds = export_into(tensor, mode, &mut out)?;
    Ok((out, fds))
}

/// As [`export`], in place of what `out` holds; a blob that fits its capacity allocates nothing.
///
/// # Errors
/// As for [`export`]; what `out` then holds is no blob.
pub fn export_into<'a>(
    tensor: &'a TensorDyn,
    mode: TransportMode,
    out: &mut Vec<u8>,
) -> Result<Fds<'a>, ExportError> {
    match mode {
        TransportMode::Reference => by_reference(tensor, None, out),
        TransportMode::Inline => {
            inline::export(tensor, out)?;
            Ok(Fds::new())
        }
    }
}

/// As [`export_into`] by reference, for bytes that are there once `fence` has signalled: it travels
/// as the last descriptor, and the reader waits for it.
///
/// # Errors
/// As for [`export`].
pub fn export_with_fence<'a>(
    tensor: &'a TensorDyn,
    fence: &'a Fence,
    out: &mut Vec<u8>,
) -> Result<Fds<'a>, ExportError> {
    by_reference(tensor, Some(fence), out)
}

/// A tensor's blob of no process, with `handles[m]` for its memory `m`.
///
/// # Errors
/// [`TransferError::Handles`] unless there is a handle for each memory, [`TransferError::Batch`]
/// for several images in one tensor.
pub fn describe(tensor: &TensorDyn, handles: &[i64]) -> Result<Vec<u8>, TransferError> {
    let mut out = Vec::new();
    write(tensor, 0, None, handles, &mut out)?;
    Ok(out)
}

fn by_reference<'a>(
    tensor: &'a TensorDyn,
    fence: Option<&'a Fence>,
    out: &mut Vec<u8>,
) -> Result<Fds<'a>, ExportError> {
    let mut fds = Fds::new();
    let mut handles = ArrayVec::<i64, MAX_PLANES>::new();
    for (index, memory) in tensor.memories().iter().enumerate() {
        let earlier = tensor.memories().iter().take(index).position(|other| other.is_same(memory));
        let handle = match earlier.and_then(|earlier| handles.get(earlier)) {
            Some(handle) => *handle,
            None => {
                let kind = memory.kind();
                let handle = next_handle(&fds);
                fds.push(memory.fd().ok_or(TransferError::NoHandle { kind })?);
                handle.into()
            }
        };
        handles.push(handle);
    }
    let fence = fence.map(|fence| {
        let handle = next_handle(&fds);
        fds.push(fence.as_fd());
        handle
    });
    write(tensor, own_pid(), fence, &handles, out)?;
    Ok(fds)
}

fn next_handle(fds: &Fds<'_>) -> i32 {
    i32::try_from(fds.len()).unwrap_or(i32::MAX)
}

/// This process, asked for once: an export makes no system call.
fn own_pid() -> u32 {
    static PID: OnceLock<u32> = OnceLock::new();
    *PID.get_or_init(process::id)
}

fn write(
    tensor: &TensorDyn,
    pid: u32,
    fence: Option<i32>,
    handles: &[i64],
    out: &mut Vec<u8>,
) -> Result<(), TransferError> {
    match tensor.layout() {
        Layout::Batch(_) => Err(TransferError::Batch { shape: tensor.shape().clone() }),
        Layout::Image(layout) => {
            let memory_lens: ArrayVec<usize, MAX_PLANES> =
                tensor.memories().iter().map(Memory::len).collect();
            let image = ImageDescription {
                layout,
                kind: tensor.memory(),
                memory_lens: &memory_lens,
                colorimetry: tensor.colorimetry(),
                quantization: tensor.quantization(),
                extension: extension(tensor),
            };
            image.write(pid, fence, handles, out)
        }
        Layout::Strided(layout) => {
            let strided = StridedDescription {
                layout,
                dtype: tensor.dtype(),
                kind: tensor.memory(),
                colorimetry: tensor.colorimetry(),
                quantization: tensor.quantization(),
                extension: extension(tensor),
            };
            strided.write(pid, fence, handles, out)
        }
    }
}

/// What a tensor says of itself, as if it were dense.
pub(super) fn description(tensor: &TensorDyn) -> Description<'_> {
    Description {
        kind: tensor.memory(),
        dtype: tensor.dtype(),
        shape: tensor.shape(),
        strides: None,
        format: tensor.format(),
        colorimetry: tensor.colorimetry(),
        quantization: tensor.quantization(),
        extension: extension(tensor),
    }
}

fn extension(tensor: &TensorDyn) -> Extension<'_> {
    // Only of a dma-buf's pages does the kind not tell.
    let is_dma_buf = tensor.memory() == TensorMemory::DmaBuf;
    Extension {
        access: tensor.access(),
        is_view: tensor.is_view(),
        contiguity: if is_dma_buf { tensor.contiguity() } else { Contiguity::Unknown },
        compression: None,
        name: tensor.name().unwrap_or_default(),
        origin: tensor.origin(),
    }
}
