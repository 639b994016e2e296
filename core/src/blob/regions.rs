//! Where each region of the tail lies, by arithmetic on the header alone.

use super::{HEADER_LEN, PLANE_RECORD_LEN, error::BlobError, header::Header};

/// The regions of one blob. Arrays are kept as the bytes of their elements: they may lie at any
/// address.
#[derive(Clone, Copy)]
pub(super) struct Regions<'a> {
    pub(super) blob: &'a [u8],
    pub(super) shape: &'a [[u8; 8]],
    pub(super) strides: &'a [[u8; 8]],
    pub(super) scales: &'a [[u8; 4]],
    pub(super) zero_points: &'a [[u8; 4]],
    pub(super) strings: &'a [u8],
    pub(super) planes: &'a [u8],
    /// What follows the plane records.
    pub(super) rest: &'a [u8],
    pub(super) plane_count: usize,
}

impl<'a> Regions<'a> {
    /// Measures out the regions of the blob that `header` was read from.
    #[inline(always)]
    pub(super) fn find(header: &Header, blob: &'a [u8]) -> Result<Self, BlobError> {
        let mut tape = Tape { blob, at: HEADER_LEN };
        let shape = tape.words("ndim", header.ndim)?;
        let strides = tape.words("strides_len", header.strides_len)?;
        if !strides.is_empty() && strides.len() != shape.len() {
            let (strides_len, ndim) = (strides.len(), shape.len());
            return Err(BlobError::StridesLen { strides_len, ndim });
        }
        let scales = tape.words("quant_scales_len", header.quant_scales_len)?;
        let zero_points = tape.words("quant_zero_points_len", header.quant_zero_points_len)?;
        let strings = tape.region("strings_bytes", u64::from(header.strings_bytes), 1)?;
        if !tape.at.is_multiple_of(8) {
            return Err(BlobError::PlanesUnaligned { start: tape.at });
        }
        let planes = tape.region("planes_bytes", header.planes_bytes, 1)?;
        let plane_count = check_plane_count(header.plane_count, planes.len())?;
        let rest = blob.get(tape.at..).unwrap_or_default();
        Ok(Self { blob, shape, strides, scales, zero_points, strings, planes, rest, plane_count })
    }

    pub(super) fn shape(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.shape.iter().copied().map(u64::from_le_bytes)
    }

    pub(super) fn scales(&self) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        self.scales.iter().copied().map(f32::from_le_bytes)
    }
}

/// Cuts regions off the blob, one after the other.
struct Tape<'a> {
    blob: &'a [u8],
    at: usize,
}

impl<'a> Tape<'a> {
    /// The next `count` elements of `N` bytes.
    fn words<const N: usize>(
        &mut self,
        field: &'static str,
        count: u32,
    ) -> Result<&'a [[u8; N]], BlobError> {
        Ok(self.region(field, u64::from(count), N)?.as_chunks().0)
    }

    /// The next `count * width` bytes.
    fn region(
        &mut self,
        field: &'static str,
        count: u64,
        width: usize,
    ) -> Result<&'a [u8], BlobError> {
        let (start, size) = (self.at, self.blob.len());
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
        let end = len.and_then(|len| start.checked_add(len));
        let region = end.and_then(|end| Some((end, self.blob.get(start..end)?)));
        let Some((end, region)) = region else {
            return Err(BlobError::RegionBounds { field, count, width, start, size });
        };
        self.at = end;
        Ok(region)
    }
}

/// The count is bounded by the bytes that are there, not by a constant.
fn check_plane_count(plane_count: u32, planes_bytes: usize) -> Result<usize, BlobError> {
    usize::try_from(plane_count)
        .ok()
        .filter(|count| count.checked_mul(PLANE_RECORD_LEN).is_some_and(|len| len <= planes_bytes))
        .ok_or(BlobError::PlaneCount { plane_count, planes_bytes })
}
