//! A tensor's bytes at an address that stays.

use std::ops::Range;

use super::{Layout, TensorDyn};
use crate::{
    access::CpuAccess,
    memory::{HostPin, MapError},
};

impl TensorDyn {
    /// Holds the CPU mapping of the tensor open for `access`: from its first byte to its last,
    /// padding between rows included.
    ///
    /// A pin begins no CPU access; see [`HostPin`]. As for a [`map`](Self::map), the pin of a view is
    /// never for writing alone.
    ///
    /// # Errors
    /// [`MapError::AccessDenied`] when the declaration does not cover that,
    /// [`MapError::NotElements`] for a tensor in several memories, each of which can be pinned, and
    /// for elements that their address would not align; else as for
    /// [`Memory::pin_host`](crate::Memory::pin_host).
    ///
    /// ```
    /// use tensor_core::{CpuAccess, ImageDesc, PixelFormat, Region, TensorDyn, TensorMemory};
    /// let desc = ImageDesc::new(PixelFormat::Grey, 64, 64).with_memory(TensorMemory::Mem);
    /// let part = TensorDyn::image_desc(&desc)?.view(Region::new(8, 8, 16, 16))?;
    /// let pin = part.pin_host(CpuAccess::Read)?;
    /// assert_eq!(pin.len(), 15 * 64 + 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pin_host(&self, access: CpuAccess) -> Result<HostPin, MapError> {
        let access = match access {
            CpuAccess::Write if self.is_view() => CpuAccess::ReadWrite,
            CpuAccess::None | CpuAccess::Read | CpuAccess::Write | CpuAccess::ReadWrite => access,
        };
        let declared = self.access();
        if !declared.covers(access) {
            return Err(MapError::AccessDenied { declared, requested: access });
        }
        let [memory] = self.memories() else { return Err(MapError::NotElements) };
        let pin = memory.pin_part(extent(self.layout()), access)?;
        let is_aligned = pin.as_ptr().addr().get().is_multiple_of(self.dtype().size_bytes());
        if is_aligned { Ok(pin) } else { Err(MapError::NotElements) }
    }
}

/// From the first byte of a layout in one memory to its last.
fn extent(layout: &Layout) -> Range<usize> {
    let start = match layout {
        Layout::Strided(strided) => strided.bounds().start,
        Layout::Image(_) | Layout::Batch(_) => {
            let planes = layout.image().map_or(&[][..], |image| image.planes());
            planes.iter().map(|place| place.offset).min().unwrap_or(0)
        }
    };
    start..layout.required_len(0).max(start)
}

#[cfg(test)]
mod tests;
