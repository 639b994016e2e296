//! Plane records: where each plane's bytes are, or the bytes themselves.

use std::fmt;

use super::{
    PLANE_RECORD_LEN,
    cursor::{Reader, padding, wide, wire_struct},
    error::BlobError,
};

/// `handle` of a plane that carries its bytes.
pub const INLINE: i64 = -1;

/// The modifier of a plane whose rows lie one after the other (`DRM_FORMAT_MOD_LINEAR`).
const LINEAR: u64 = 0;

/// One plane of a blob.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PlaneRecord<'a> {
    /// Index into the fds that travel beside the blob, or [`INLINE`]. It is never an fd itself;
    /// planes of one allocation have the same index.
    pub handle: i64,
    /// Bytes from the start of that memory to the plane; 0 when inline.
    pub offset: u64,
    /// Bytes from one row's start to the next's.
    pub stride: u64,
    /// Bytes of the plane.
    pub size: u64,
    /// Bytes in use, from the start of the plane.
    pub used: u64,
    /// DRM format modifier; 0 is linear.
    pub modifier: u64,
    /// A handle that is no fd, in its owner's own form.
    pub handle_bytes: &'a [u8],
    /// The plane's bytes when inline.
    pub data: &'a [u8],
}

wire_struct! {
    /// A record without its payload, as it lies on the wire.
    Scalars, PLANE_RECORD_LEN, {
        0 handle: i64,
        8 offset: u64,
        16 stride: u64,
        24 size: u64,
        32 used: u64,
        40 modifier: u64,
        48 handle_bytes_len: u32,
        52 data_len: u32,
    }
}

impl<'a> PlaneRecord<'a> {
    /// A plane that carries `data`.
    ///
    /// ```
    /// use tensor_core::blob::PlaneRecord;
    /// assert!(PlaneRecord::inline(&[1, 2, 3, 4], 2).is_inline());
    /// ```
    #[must_use]
    pub fn inline(data: &'a [u8], stride: u64) -> Self {
        let len = wide(data.len());
        let (handle_bytes, modifier) = (&[][..], LINEAR);
        Self {
            handle: INLINE,
            offset: 0,
            stride,
            size: len,
            used: len,
            modifier,
            handle_bytes,
            data,
        }
    }

    /// Whether the plane carries its bytes.
    #[must_use]
    pub const fn is_inline(&self) -> bool {
        self.handle == INLINE
    }

    /// Which of the fds beside the blob holds the plane; `None` when it is inline.
    #[must_use]
    pub fn fd_index(&self) -> Option<usize> {
        usize::try_from(self.handle).ok()
    }

    /// Refuses a plane that a reader of plain rows would misread. Parsing keeps the modifier, so
    /// whoever reads rows must ask.
    ///
    /// # Errors
    /// [`BlobError::Modifier`] unless the modifier is 0.
    pub const fn require_linear(&self) -> Result<(), BlobError> {
        match self.modifier {
            LINEAR => Ok(()),
            modifier => Err(BlobError::Modifier { modifier }),
        }
    }

    /// Refuses a record that contradicts itself, or that is not inline exactly when the blob is.
    #[inline]
    pub(super) fn check(&self, plane: usize, blob_is_inline: bool) -> Result<(), BlobError> {
        let Self { handle, size, used, .. } = *self;
        if handle < INLINE {
            return Err(BlobError::PlaneHandle { plane, handle });
        }
        if self.is_inline() != blob_is_inline {
            return Err(BlobError::MixedPlanes { plane, inline: self.is_inline() });
        }
        if self.is_inline() {
            return self.check_inline(plane);
        }
        if !self.data.is_empty() {
            return Err(BlobError::ReferencedData { plane, data_len: self.data.len() });
        }
        if used > size {
            return Err(BlobError::Used { plane, used, size });
        }
        Ok(())
    }

    fn check_inline(&self, plane: usize) -> Result<(), BlobError> {
        let data_len = wide(self.data.len());
        let rules = [
            ("offset", self.offset, 0),
            ("size", self.size, data_len),
            ("used", self.used, data_len),
            ("modifier", self.modifier, LINEAR),
            ("handle_bytes_len", wide(self.handle_bytes.len()), 0),
        ];
        match rules.into_iter().find(|(_, value, needed)| value != needed) {
            Some((field, value, needed)) => {
                Err(BlobError::InlinePlane { plane, field, value, needed })
            }
            None => Ok(()),
        }
    }

    /// The next record with its payload and padding.
    #[inline]
    pub(super) fn read(reader: &mut Reader<'a>, plane: usize) -> Result<Self, BlobError> {
        let Some(scalars) = Scalars::read(reader) else {
            return Err(out_of_bounds(plane, "record", wide(PLANE_RECORD_LEN), *reader));
        };
        let (handle_bytes, data) = match (scalars.handle_bytes_len, scalars.data_len) {
            (0, 0) => (&[][..], &[][..]),
            lens => payload(reader, plane, lens)?,
        };
        let Scalars { handle, offset, stride, size, used, modifier, .. } = scalars;
        Ok(Self { handle, offset, stride, size, used, modifier, handle_bytes, data })
    }

    /// Bytes of the record with its payload and padding.
    pub(super) fn encoded_len(&self) -> Result<usize, BlobError> {
        self.scalars()?;
        let payload = self.handle_bytes.len().checked_add(self.data.len());
        payload
            .and_then(|len| len.checked_add(padding(len))?.checked_add(PLANE_RECORD_LEN))
            .ok_or(BlobError::TooLong)
    }

    /// Appends the record to a blob that starts with `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), BlobError> {
        self.scalars()?.write(out);
        out.extend_from_slice(self.handle_bytes);
        out.extend_from_slice(self.data);
        out.resize(out.len().next_multiple_of(8), 0);
        Ok(())
    }

    fn scalars(&self) -> Result<Scalars, BlobError> {
        let Self { handle, offset, stride, size, used, modifier, handle_bytes, data } = *self;
        let handle_bytes_len = field_u32("handle_bytes_len", handle_bytes.len())?;
        let data_len = field_u32("data_len", data.len())?;
        Ok(Scalars { handle, offset, stride, size, used, modifier, handle_bytes_len, data_len })
    }
}

/// The bytes after a record and the padding after them.
fn payload<'a>(
    reader: &mut Reader<'a>,
    plane: usize,
    (handle_bytes_len, data_len): (u32, u32),
) -> Result<(&'a [u8], &'a [u8]), BlobError> {
    let mut counted = |field, len: u32| {
        reader.counted(len).ok_or_else(|| out_of_bounds(plane, field, len.into(), *reader))
    };
    let handle_bytes = counted("handle_bytes_len", handle_bytes_len)?;
    let data = counted("data_len", data_len)?;
    let pad = padding(handle_bytes.len().wrapping_add(data.len()));
    match reader.bytes(pad) {
        Some(_) => Ok((handle_bytes, data)),
        None => Err(out_of_bounds(plane, "padding", wide(pad), *reader)),
    }
}

#[cold]
fn out_of_bounds(plane: usize, field: &'static str, need: u64, reader: Reader<'_>) -> BlobError {
    BlobError::PlaneBounds { plane, field, need, left: reader.rest().len() }
}

impl fmt::Debug for PlaneRecord<'_> {
    /// The payload shows as its length: a plane may be a whole frame.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlaneRecord")
            .field("handle", &self.handle)
            .field("offset", &self.offset)
            .field("stride", &self.stride)
            .field("size", &self.size)
            .field("used", &self.used)
            .field("modifier", &self.modifier)
            .field("handle_bytes_len", &self.handle_bytes.len())
            .field("data_len", &self.data.len())
            .finish()
    }
}

/// A length in a 32-bit field, refused rather than wrapped.
pub(super) fn field_u32(field: &'static str, len: usize) -> Result<u32, BlobError> {
    u32::try_from(len).map_err(|_| BlobError::FieldLimit { field, len })
}
