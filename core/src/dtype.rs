//! Element types: what one number of a tensor is.

use std::fmt;

/// The type of one tensor element.
///
/// The discriminants are the wire codes of the tensor blob and never change.
///
/// ```
/// use tensor_core::DType;
/// assert_eq!(DType::F16.size_bytes(), 2);
/// assert_eq!(DType::from_code(DType::F16.code()), Some(DType::F16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum DType {
    /// Unsigned 8-bit integer.
    U8 = 0,
    /// Signed 8-bit integer.
    I8 = 1,
    /// Unsigned 16-bit integer.
    U16 = 2,
    /// Signed 16-bit integer.
    I16 = 3,
    /// Unsigned 32-bit integer.
    U32 = 4,
    /// Signed 32-bit integer.
    I32 = 5,
    /// Unsigned 64-bit integer.
    U64 = 6,
    /// Signed 64-bit integer.
    I64 = 7,
    /// IEEE 754 binary16.
    F16 = 8,
    /// IEEE 754 binary32.
    F32 = 9,
    /// IEEE 754 binary64.
    F64 = 10,
}

/// One row of the element type table.
struct Row {
    dtype: DType,
    name: &'static str,
    bits: u32,
}

/// Every dtype, in code order: row `n` describes code `n`.
const TABLE: [Row; 11] = [
    Row { dtype: DType::U8, name: "u8", bits: 8 },
    Row { dtype: DType::I8, name: "i8", bits: 8 },
    Row { dtype: DType::U16, name: "u16", bits: 16 },
    Row { dtype: DType::I16, name: "i16", bits: 16 },
    Row { dtype: DType::U32, name: "u32", bits: 32 },
    Row { dtype: DType::I32, name: "i32", bits: 32 },
    Row { dtype: DType::U64, name: "u64", bits: 64 },
    Row { dtype: DType::I64, name: "i64", bits: 64 },
    Row { dtype: DType::F16, name: "f16", bits: 16 },
    Row { dtype: DType::F32, name: "f32", bits: 32 },
    Row { dtype: DType::F64, name: "f64", bits: 64 },
];

impl DType {
    /// Every dtype, in code order.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.dtype)
    }

    /// The dtype with this wire code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::all().find(|dtype| dtype.code() == code)
    }

    /// The dtype with this name, spelled as Rust spells it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.dtype)
    }

    /// The wire code.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "the discriminant of a repr(u32) enum is its code")]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The name, as Rust spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Width of one element in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.row().bits
    }

    /// Width of one element in bytes.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "at most 8")]
    pub fn size_bytes(self) -> usize {
        (self.row().bits / 8) as usize
    }

    #[expect(
        clippy::as_conversions,
        clippy::indexing_slicing,
        reason = "the table has a row for every code, in code order; a test checks it"
    )]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-TYPE-01
    #[test]
    fn codes_are_the_published_ones_and_round_trip() {
        let names: Vec<_> = DType::all().map(DType::name).collect();
        assert_eq!(
            names,
            ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"]
        );
        for (code, dtype) in (0..).zip(DType::all()) {
            assert_eq!(dtype.code(), code);
            assert_eq!(DType::from_code(code), Some(dtype));
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            assert_eq!(dtype.row().dtype, dtype);
            assert_eq!(dtype.size_bytes() * 8, usize::try_from(dtype.bits()).unwrap());
        }
        assert_eq!(DType::from_code(11), None);
    }
}
