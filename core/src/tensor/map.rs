//! A tensor's bytes, reachable by the CPU until the guard is dropped.

use arrayvec::ArrayVec;

use super::{Layout, TensorDyn};
use crate::{
    access::CpuAccess,
    format::MAX_PLANES,
    layout::ImageLayout,
    memory::{MapError, MemoryMaps},
};

impl TensorDyn {
    /// All memories for what `requested` says.
    ///
    /// A view is never mapped for writing alone: its rows share cache lines with bytes outside it,
    /// which a write-only map may lose, so it is mapped for reading and writing.
    ///
    /// # Errors
    /// [`MapError::AccessDenied`] when the declaration does not cover that, before anything is
    /// touched; else as for [`Memory::map`](crate::Memory::map).
    #[inline]
    pub fn map(&self, requested: CpuAccess) -> Result<TensorMap<'_>, MapError> {
        let requested = match requested {
            CpuAccess::Write if self.is_view => CpuAccess::ReadWrite,
            CpuAccess::None | CpuAccess::Read | CpuAccess::Write | CpuAccess::ReadWrite => {
                requested
            }
        };
        let declared = self.access();
        if !declared.covers(requested) {
            return Err(MapError::AccessDenied { declared, requested });
        }
        let maps = MemoryMaps::new(&self.storage.memories, requested)?;
        Ok(TensorMap { tensor: self, maps })
    }

    /// All memories for reading.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    #[inline]
    pub fn map_read(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::Read)
    }

    /// All memories for writing all of what they hold: what is not written is undefined.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn map_write(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::Write)
    }

    /// All memories for reading and writing.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn map_mut(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::ReadWrite)
    }

    /// The direction in which a pass maps that overwrites everything: what was declared and
    /// writing, for a view both.
    #[must_use]
    pub fn write_access(&self) -> CpuAccess {
        if self.is_view { CpuAccess::ReadWrite } else { self.access().union(CpuAccess::Write) }
    }

    /// All memories for a pass that overwrites everything, in [`write_access`](Self::write_access).
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn map_for_write(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(self.write_access())
    }

    /// All memories for a pass that writes only some of what they hold.
    ///
    /// # Errors
    /// As for [`map`](Self::map).
    pub fn map_for_partial_write(&self) -> Result<TensorMap<'_>, MapError> {
        self.map(CpuAccess::ReadWrite)
    }
}

/// Every memory of a tensor, mapped until this is dropped.
#[derive(Debug)]
#[must_use = "the bytes are reachable only while the guard lives"]
pub struct TensorMap<'a> {
    tensor: &'a TensorDyn,
    maps: MemoryMaps<'a, MAX_PLANES>,
}

/// The rows of one mapped plane; padding between them is never shown.
#[derive(Clone, Copy, Debug)]
pub struct MappedPlane<'a> {
    bytes: &'a [u8],
    stride: usize,
    row_bytes: usize,
}

impl TensorMap<'_> {
    fn image(&self) -> Option<&ImageLayout> {
        match &self.tensor.layout {
            Layout::Image(image) => Some(image),
            Layout::Batch(_) | Layout::Strided(_) => None,
        }
    }

    /// Plane `plane` of an image; `None` when the format has no such plane, or the tensor is no
    /// single image.
    #[must_use]
    pub fn plane(&self, plane: usize) -> Option<MappedPlane<'_>> {
        let image = self.image()?;
        let place = image.planes().get(plane)?;
        let end = place.offset.checked_add(image.plane_len(plane))?;
        let bytes = self.maps.get(place.memory)?.get(place.offset..end)?;
        Some(MappedPlane { bytes, stride: place.stride, row_bytes: image.row_bytes(plane) })
    }

    /// Plane `plane` as one slice from its first sample to its last, padding between rows included,
    /// for writing; `None` also when the map is for reading.
    pub fn plane_mut(&mut self, plane: usize) -> Option<&mut [u8]> {
        let image = self.image()?;
        let place = *image.planes().get(plane)?;
        let end = place.offset.checked_add(image.plane_len(plane))?;
        self.maps.get_mut(place.memory)?.get_mut(place.offset..end)
    }

    /// Every plane of an image, in the format's order.
    pub fn planes(&self) -> impl Iterator<Item = MappedPlane<'_>> {
        let planes = self.image().map_or(0, |image| image.planes().len());
        (0..planes).filter_map(|plane| self.plane(plane))
    }

    /// The whole of memory `memory`, whatever the layout.
    #[must_use]
    pub fn memory(&self, memory: usize) -> Option<&[u8]> {
        self.maps.get(memory)
    }

    /// The whole of memory `memory` for writing; `None` also when the map is for reading.
    pub fn memory_mut(&mut self, memory: usize) -> Option<&mut [u8]> {
        self.maps.get_mut(memory)
    }

    /// All of every memory for writing, in order; none when the map is for reading.
    pub(crate) fn memories_mut(&mut self) -> ArrayVec<&mut [u8], MAX_PLANES> {
        self.maps.all_mut()
    }
}

impl<'a> MappedPlane<'a> {
    /// Row `y`, samples only.
    #[must_use]
    pub fn row(&self, y: usize) -> Option<&'a [u8]> {
        let start = y.checked_mul(self.stride)?;
        self.bytes.get(start..start.checked_add(self.row_bytes)?)
    }

    /// The rows from top to bottom, samples only.
    pub fn rows(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let row_bytes = self.row_bytes;
        self.bytes.chunks(self.stride).filter_map(move |row| row.get(..row_bytes))
    }
}
