//! Rust types that are tensor elements.

use bytemuck::Pod;
use half::f16;

use crate::dtype::DType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element of a tensor: exactly one for each [`DType`].
pub trait Element: Pod + PartialEq + Send + Sync + sealed::Sealed {
    /// The element type it stands for.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($rust:ident = $dtype:ident,)*) => { $(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}

elements! {
    u8 = U8, i8 = I8, u16 = U16, i16 = I16, u32 = U32, i32 = I32, u64 = U64, i64 = I64,
    f16 = F16, f32 = F32, f64 = F64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_as_wide_as_its_dtype() {
        fn width<T: Element>() -> (usize, usize) {
            (size_of::<T>(), T::DTYPE.size_bytes())
        }
        let widths = [
            width::<u8>(),
            width::<i8>(),
            width::<u16>(),
            width::<i16>(),
            width::<u32>(),
            width::<i32>(),
            width::<u64>(),
            width::<i64>(),
            width::<f16>(),
            width::<f32>(),
            width::<f64>(),
        ];
        assert_eq!(widths.len(), DType::all().count());
        assert!(widths.iter().all(|(rust, dtype)| rust == dtype), "{widths:?}");
    }
}
