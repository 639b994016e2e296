//! Between a tensor and plain bytes, run by run.

use super::TensorDyn;
use crate::{access::CpuAccess, memory::MapError};

impl TensorDyn {
    /// Bytes of the elements alone, without padding: the length of a flat copy.
    #[must_use]
    pub fn flat_len(&self) -> usize {
        self.layout.sample_bytes()
    }

    /// Copies the elements into `flat`, in order and without padding; planes follow each other.
    ///
    /// # Errors
    /// [`MapError::Length`] unless `flat` has [`flat_len`](Self::flat_len) bytes; else as for
    /// [`map`](Self::map).
    pub fn copy_to_flat(&self, flat: &mut [u8]) -> Result<(), MapError> {
        self.check_flat(flat.len())?;
        let map = self.map(CpuAccess::Read)?;
        let mut rest = flat;
        for (memory, rows) in self.layout.blocks() {
            let (len, bytes) = (rows.row_bytes(), map.memory(memory).unwrap_or_default());
            for offset in rows {
                let Some((to, left)) = rest.split_at_mut_checked(len) else { return Ok(()) };
                if let Some(from) = bytes.get(offset..offset.saturating_add(len)) {
                    to.copy_from_slice(from);
                }
                rest = left;
            }
        }
        Ok(())
    }

    /// Copies `flat` into the elements, in order; padding is left as it is.
    ///
    /// # Errors
    /// [`MapError::Length`] unless `flat` has [`flat_len`](Self::flat_len) bytes; else as for
    /// [`map`](Self::map).
    pub fn copy_from_flat(&self, flat: &[u8]) -> Result<(), MapError> {
        self.check_flat(flat.len())?;
        let mut map = self.map(self.write_access())?;
        let mut rest = flat;
        for (memory, rows) in self.layout.blocks() {
            let (len, bytes) = (rows.row_bytes(), map.memory_mut(memory).unwrap_or_default());
            for offset in rows {
                let Some((from, left)) = rest.split_at_checked(len) else { return Ok(()) };
                if let Some(to) = bytes.get_mut(offset..offset.saturating_add(len)) {
                    to.copy_from_slice(from);
                }
                rest = left;
            }
        }
        Ok(())
    }

    fn check_flat(&self, have: usize) -> Result<(), MapError> {
        let need = self.flat_len();
        if need == have { Ok(()) } else { Err(MapError::Length { need, have }) }
    }
}
