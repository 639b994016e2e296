//! What the published format has no field for, in a region after the plane records.

use super::{
    cursor::{Reader, padding, wide, wire_struct},
    error::BlobError,
    plane::field_u32,
    record,
};
use crate::{
    access::CpuAccess,
    compression::{CompressionScheme, Contiguity},
    preprocess::Origin,
};

/// The first bytes of the region. Others mean bytes of some other origin, which are not judged.
pub const EXTENSION_MAGIC: u32 = u32::from_le_bytes(*b"GTX1");

/// Bytes of the region before the name.
const FIXED_LEN: usize = 24;

/// The CPU may read.
const CPU_READ: u32 = 1;
/// The CPU may write.
const CPU_WRITE: u32 = 1 << 1;
/// The tensor is a part of another.
const VIEW: u32 = 1 << 2;

wire_struct! {
    /// The region without the name, as it lies on the wire.
    Fixed, FIXED_LEN, {
        0 magic: u32,
        4 len: u32,
        8 flags: u32,
        12 contiguity: u32,
        16 compression: u32,
        20 name_len: u32,
    }
}

/// What a blob says beyond the published format. The default says nothing, and is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// What the CPU may do with the bytes; `ReadWrite` when nothing was declared.
    pub access: CpuAccess,
    /// Whether the tensor is a part of another, so that its rows share cache lines with bytes
    /// outside it.
    pub is_view: bool,
    /// Whether the pages of the memory are one run.
    pub contiguity: Contiguity,
    /// The tiles the bytes are compressed in, `None` for plain rows.
    pub compression: Option<CompressionScheme>,
    /// What the producer calls the tensor, empty for nothing.
    pub name: &'a str,
    /// Where the pixels of a model's input come from.
    pub origin: Option<Origin>,
}

impl Default for Extension<'_> {
    fn default() -> Self {
        Self {
            access: CpuAccess::ReadWrite,
            is_view: false,
            contiguity: Contiguity::Unknown,
            compression: None,
            name: "",
            origin: None,
        }
    }
}

impl<'a> Extension<'a> {
    /// Reads the region at the front of `bytes`, what the blob has after its plane records.
    ///
    /// Bytes after `len` are of another origin, and not judged.
    #[inline]
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, BlobError> {
        match bytes.first_chunk() {
            Some(magic) if u32::from_le_bytes(*magic) == EXTENSION_MAGIC => Self::parse_ours(bytes),
            _ => Ok(Self::default()),
        }
    }

    fn parse_ours(bytes: &'a [u8]) -> Result<Self, BlobError> {
        let mut reader = Reader::new(bytes);
        let left = bytes.len();
        let short = |len| BlobError::ExtensionBounds { len, left };
        let fixed = Fixed::read(&mut reader).ok_or(short(wide(FIXED_LEN)))?;
        let len = usize::try_from(fixed.len).ok().filter(|len| *len >= FIXED_LEN && *len <= left);
        let len = len.ok_or(short(fixed.len.into()))?;
        let name_left = len.saturating_sub(FIXED_LEN);
        let bounds =
            BlobError::StringBounds { field: "name", need: fixed.name_len.into(), left: name_left };
        let name = reader.counted(fixed.name_len).filter(|name| name.len() <= name_left);
        let name = std::str::from_utf8(name.ok_or(bounds)?).map_err(|error| {
            BlobError::InvalidUtf8 { field: "name", valid_up_to: error.valid_up_to() }
        })?;
        let records = FIXED_LEN.checked_add(name.len()).map(|end| end.next_multiple_of(8));
        let records = bytes.get(..len).zip(records).and_then(|(region, at)| region.get(at..));
        let unknown = |field, code| BlobError::ExtensionCode { field, code };
        let (contiguity, compression) = (fixed.contiguity, fixed.compression);
        Ok(Self {
            access: CpuAccess::from_bits(fixed.flags & CPU_READ != 0, fixed.flags & CPU_WRITE != 0),
            is_view: fixed.flags & VIEW != 0,
            contiguity: Contiguity::from_code(contiguity)
                .ok_or(unknown("contiguity", contiguity))?,
            compression: match compression {
                0 => None,
                code => {
                    Some(CompressionScheme::from_code(code).ok_or(unknown("compression", code))?)
                }
            },
            name,
            origin: record::parse(records.unwrap_or_default())?,
        })
    }

    fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// Bytes of the region with its padding; 0 when there is nothing to say.
    pub(super) fn encoded_len(&self) -> Result<usize, BlobError> {
        if self.is_silent() {
            return Ok(0);
        }
        let len = self.name.len().checked_add(padding(self.name.len()));
        let fixed = FIXED_LEN.saturating_add(record::encoded_len(self.origin));
        len.and_then(|len| len.checked_add(fixed)).ok_or(BlobError::TooLong)
    }

    /// Appends the region to a blob that ends with `out`, at a multiple of 8.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), BlobError> {
        if self.is_silent() {
            return Ok(());
        }
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let fixed = Fixed {
            magic: EXTENSION_MAGIC,
            len: field_u32("extension len", self.encoded_len()?)?,
            flags: flag(self.access.reads(), CPU_READ)
                | flag(self.access.writes(), CPU_WRITE)
                | flag(self.is_view, VIEW),
            contiguity: self.contiguity.code(),
            compression: self.compression.map_or(0, CompressionScheme::code),
            name_len: field_u32("name_len", self.name.len())?,
        };
        fixed.write(out);
        out.extend_from_slice(self.name.as_bytes());
        out.resize(out.len().next_multiple_of(8), 0);
        record::write(self.origin, out)
    }
}
