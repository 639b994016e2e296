//! Little-endian fields in and out of bytes, never past their end.

/// Reads a slice from front to back. What does not fit is `None`, and then nothing is consumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What has not been read yet.
    #[inline]
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next `len` bytes.
    #[inline]
    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(head)
    }

    /// The next bytes, as many as a length field says.
    #[inline]
    pub(super) fn counted(&mut self, len: u32) -> Option<&'a [u8]> {
        self.bytes(usize::try_from(len).ok()?)
    }

    /// The next `N` bytes by value, for `from_le_bytes`.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }
}

/// Bytes from `len` to the next multiple of 8.
pub(super) const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 7
}

/// A length as the wire's widest integer; no `usize` is wider than 64 bits.
pub(super) fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A struct of integers from a table of the wire: `offset field: type`, in wire order.
///
/// It is read and written field by field. The offsets are checked against the types before them at
/// compile time, and the whole against the length.
macro_rules! wire_struct {
    ($(#[$doc:meta])* $name:ident, $len:expr, { $($at:literal $field:ident: $int:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $name { $(pub(super) $field: $int,)* }

        impl $name {
            /// The next struct; nothing is consumed unless it is all there.
            #[inline]
            pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
                // One check for all fields: the length of an array is known.
                let mut fields = Reader::new(reader.bytes($len)?.first_chunk::<{ $len }>()?);
                Some(Self { $($field: <$int>::from_le_bytes(fields.array()?),)* })
            }

            /// Appends the struct.
            pub(super) fn write(&self, out: &mut Vec<u8>) {
                $(out.extend_from_slice(&self.$field.to_le_bytes());)*
            }
        }

        const _: () = {
            let mut at = 0;
            $(assert!(at == $at); at += size_of::<$int>();)*
            assert!(at == $len);
        };
    };
}
pub(super) use wire_struct;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_past_the_end_consumes_nothing() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.array::<4>(), None);
        assert_eq!(reader.bytes(4), None);
        assert_eq!(reader.counted(u32::MAX), None);
        assert_eq!(reader.array(), Some([1, 2]));
        assert_eq!(reader.bytes(1), Some(&[3][..]));
        assert!(reader.rest().is_empty());
    }

    #[test]
    fn padding_reaches_the_next_multiple_of_8() {
        let paddings: Vec<_> = (0..10).map(padding).collect();
        assert_eq!(paddings, [0, 7, 6, 5, 4, 3, 2, 1, 0, 7]);
    }
}
