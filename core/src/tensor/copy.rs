//! Between a tensor and plain bytes, run by run.

use super::{Layout, TensorDyn};
use crate::{access::CpuAccess, layout::ImageLayout, memory::MapError};

/// One run of a tensor's bytes: which memory, from where, how long.
type Run = (usize, usize, usize);

impl TensorDyn {
    /// Bytes of the elements alone, without padding: the length of a flat copy.
    #[must_use]
    pub fn flat_len(&self) -> usize {
        self.runs().iter().fold(0, |sum: usize, (_, _, len)| sum.saturating_add(*len))
    }

    /// Copies the elements into `flat`, in order and without padding; planes follow each other.
    ///
    /// # Errors
    /// [`MapError::Length`] unless `flat` has [`flat_len`](Self::flat_len) bytes; else as for
    /// [`map`](Self::map).
    pub fn copy_to_flat(&self, flat: &mut [u8]) -> Result<(), MapError> {
        let runs = self.runs();
        self.check_flat(flat.len())?;
        let map = self.map(CpuAccess::Read)?;
        let mut rest = flat;
        for (memory, offset, len) in runs {
            let Some((to, left)) = rest.split_at_mut_checked(len) else { break };
            let end = offset.saturating_add(len);
            if let Some(from) = map.memory(memory).and_then(|bytes| bytes.get(offset..end)) {
                to.copy_from_slice(from);
            }
            rest = left;
        }
        Ok(())
    }

    /// Copies `flat` into the elements, in order; padding is left as it is.
    ///
    /// # Errors
    /// [`MapError::Length`] unless `flat` has [`flat_len`](Self::flat_len) bytes; else as for
    /// [`map`](Self::map).
    pub fn copy_from_flat(&self, flat: &[u8]) -> Result<(), MapError> {
        let runs = self.runs();
        self.check_flat(flat.len())?;
        let mut map = self.map(self.write_access())?;
        let mut rest = flat;
        for (memory, offset, len) in runs {
            let Some((from, left)) = rest.split_at_checked(len) else { break };
            let end = offset.saturating_add(len);
            if let Some(to) = map.memory_mut(memory).and_then(|bytes| bytes.get_mut(offset..end)) {
                to.copy_from_slice(from);
            }
            rest = left;
        }
        Ok(())
    }

    fn check_flat(&self, have: usize) -> Result<(), MapError> {
        let need = self.flat_len();
        if need == have { Ok(()) } else { Err(MapError::Length { need, have }) }
    }

    /// The runs that hold the elements, in order, each as long as it can be.
    fn runs(&self) -> Vec<Run> {
        match &self.layout {
            Layout::Image(image) => image_runs(image).collect(),
            Layout::Batch(batch) => {
                let images = (0..batch.count()).filter_map(|n| batch.batch(n).ok());
                images.flat_map(|image| image_runs(&image).collect::<Vec<_>>()).collect()
            }
            Layout::Strided(strided) => {
                let rows = strided.rows();
                let len = rows.row_bytes();
                rows.map(|offset| (0, offset, len)).collect()
            }
        }
    }
}

/// The rows of every plane; a plane without padding is one run.
fn image_runs(image: &ImageLayout) -> impl Iterator<Item = Run> {
    image.planes().iter().enumerate().flat_map(|(plane, place)| {
        let (rows, row_bytes) = (image.rows(plane), image.row_bytes(plane));
        let is_tight = place.stride == row_bytes;
        let (count, len) =
            if is_tight { (1, row_bytes.saturating_mul(rows)) } else { (rows, row_bytes) };
        let (memory, offset, stride) = (place.memory, place.offset, place.stride);
        (0..count).map(move |row| (memory, offset.saturating_add(row.saturating_mul(stride)), len))
    })
}
