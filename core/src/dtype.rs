//! Element types: what one number of a tensor is.

#![forbid(unsafe_code)]

use std::ops::RangeInclusive;

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The type of one tensor element.
    ///
    /// The codes are those of the tensor blob and never change; the names are spelled as Rust
    /// spells them.
    ///
    /// ```
    /// use tensor_core::DType;
    /// assert_eq!(DType::F16.size_bytes(), 2);
    /// assert_eq!(DType::from_code(DType::F16.code()), Some(DType::F16));
    /// ```
    DType {
        /// Unsigned 8-bit integer.
        U8 = 0, "u8";
        /// Signed 8-bit integer.
        I8 = 1, "i8";
        /// Unsigned 16-bit integer.
        U16 = 2, "u16";
        /// Signed 16-bit integer.
        I16 = 3, "i16";
        /// Unsigned 32-bit integer.
        U32 = 4, "u32";
        /// Signed 32-bit integer.
        I32 = 5, "i32";
        /// Unsigned 64-bit integer.
        U64 = 6, "u64";
        /// Signed 64-bit integer.
        I64 = 7, "i64";
        /// IEEE 754 binary16.
        F16 = 8, "f16";
        /// IEEE 754 binary32.
        F32 = 9, "f32";
        /// IEEE 754 binary64.
        F64 = 10, "f64";
    }
}

impl DType {
    /// Every dtype, in code order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// Width of one element in bytes.
    #[must_use]
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Width of one element in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 | Self::F16 => 16,
            Self::U32 | Self::I32 | Self::F32 => 32,
            Self::U64 | Self::I64 | Self::F64 => 64,
        }
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    /// The least and the greatest value; `None` for a float type.
    ///
    /// ```
    /// use tensor_core::DType;
    /// assert_eq!(DType::I8.integer_range(), Some(-128..=127));
    /// assert_eq!(DType::F32.integer_range(), None);
    /// ```
    #[must_use]
    pub fn integer_range(self) -> Option<RangeInclusive<i128>> {
        match self {
            Self::U8 => Some(u8::MIN.into()..=u8::MAX.into()),
            Self::I8 => Some(i8::MIN.into()..=i8::MAX.into()),
            Self::U16 => Some(u16::MIN.into()..=u16::MAX.into()),
            Self::I16 => Some(i16::MIN.into()..=i16::MAX.into()),
            Self::U32 => Some(u32::MIN.into()..=u32::MAX.into()),
            Self::I32 => Some(i32::MIN.into()..=i32::MAX.into()),
            Self::U64 => Some(u64::MIN.into()..=u64::MAX.into()),
            Self::I64 => Some(i64::MIN.into()..=i64::MAX.into()),
            Self::F16 | Self::F32 | Self::F64 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-TYPE-01
    #[test]
    fn codes_are_the_published_ones_and_round_trip() {
        assert_eq!(
            DType::NAMES,
            ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"]
        );
        for (code, dtype) in (0..).zip(DType::all()) {
            assert_eq!(dtype.code(), code);
            assert_eq!(DType::from_code(code), Some(dtype));
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.size_bytes() * 8, usize::try_from(dtype.bits()).unwrap());
        }
        assert_eq!(DType::all().count(), 11);
        assert_eq!(DType::from_code(11), None);
    }

    #[test]
    fn an_integer_range_is_as_wide_as_the_bits() {
        for dtype in DType::all() {
            let values = dtype.integer_range().map(|range| range.end() - range.start() + 1);
            assert_eq!(values, (!dtype.is_float()).then(|| 1_i128 << dtype.bits()), "{dtype}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = "U8".parse::<DType>().unwrap_err().to_string();
        assert!(error.starts_with(r#"DType: no word "U8"; it is one of ["u8", "i8""#), "{error}");
    }
}
