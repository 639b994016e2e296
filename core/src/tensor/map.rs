//! A tensor's planes as bytes the CPU can reach.

use arrayvec::ArrayVec;

use crate::{format::MAX_PLANES, layout::ImageLayout, memory::MemoryMap};

/// Every memory of a tensor, mapped until this is dropped.
#[derive(Debug)]
#[must_use = "the bytes are reachable only while the guard lives"]
pub struct TensorMap<'a> {
    layout: &'a ImageLayout,
    maps: ArrayVec<MemoryMap<'a>, MAX_PLANES>,
}

/// The rows of one mapped plane; padding between them is never shown.
#[derive(Clone, Copy, Debug)]
pub struct MappedPlane<'a> {
    bytes: &'a [u8],
    stride: usize,
    row_bytes: usize,
}

impl<'a> TensorMap<'a> {
    pub(super) fn new(layout: &'a ImageLayout, maps: ArrayVec<MemoryMap<'a>, MAX_PLANES>) -> Self {
        Self { layout, maps }
    }

    /// Plane `plane`, or `None` when the format has no such plane.
    #[must_use]
    pub fn plane(&self, plane: usize) -> Option<MappedPlane<'_>> {
        let place = self.layout.planes().get(plane)?;
        let end = place.offset.checked_add(self.layout.plane_len(plane))?;
        let bytes = self.maps.get(place.memory)?.get(place.offset..end)?;
        Some(MappedPlane { bytes, stride: place.stride, row_bytes: self.layout.row_bytes(plane) })
    }

    /// Plane `plane` as one slice from its first sample to its last, padding between rows included,
    /// for writing; `None` when there is no such plane or the map is for reading.
    pub fn plane_mut(&mut self, plane: usize) -> Option<&mut [u8]> {
        let place = *self.layout.planes().get(plane)?;
        let end = place.offset.checked_add(self.layout.plane_len(plane))?;
        self.maps.get_mut(place.memory)?.as_mut_slice()?.get_mut(place.offset..end)
    }

    /// Every plane, in the format's order.
    pub fn planes(&self) -> impl Iterator<Item = MappedPlane<'_>> {
        (0..self.layout.planes().len()).filter_map(|plane| self.plane(plane))
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
