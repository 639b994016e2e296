//! One declaration for every closed list of words: an enum with its wire codes and wire names.

#![forbid(unsafe_code)]

use thiserror::Error;

/// A name that is none of a vocabulary's words.
///
/// ```
/// use tensor_core::preprocess::Interpolation;
/// let error = "lanczos".parse::<Interpolation>().unwrap_err();
/// assert_eq!(error.known, ["bilinear", "nearest", "bicubic", "area"]);
/// assert!(error.to_string().contains("lanczos"));
/// ```
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{vocabulary}: no word {given:?}; it is one of {known:?}")]
#[non_exhaustive]
pub struct UnknownWord {
    /// The enum that was asked.
    pub vocabulary: &'static str,
    /// The name that was given.
    pub given: String,
    /// Every name there is.
    pub known: &'static [&'static str],
}

/// Declares an enum whose variants have a wire code and a wire name, both permanent.
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        $vocabulary:ident {
            $($(#[$word_meta:meta])* $word:ident = $code:literal, $name:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum $vocabulary {
            $($(#[$word_meta])* $word = $code,)+
        }

        impl $vocabulary {
            /// Every word, in code order.
            pub const ALL: &[Self] = &[$(Self::$word,)+];

            /// Every wire name, in code order.
            pub const NAMES: &[&'static str] = &[$($name,)+];

            /// The wire code.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $(Self::$word => $code,)+ }
            }

            /// The word with this wire code.
            #[must_use]
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(Self::$word),)+ _ => None }
            }

            /// The wire name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$word => $name,)+ }
            }

            /// The word with this wire name; case counts.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::from_name_bytes(name.as_bytes())
            }

            /// [`from_name`](Self::from_name) of bytes that need not be text.
            #[inline]
            #[allow(dead_code, reason = "not every list is read from bytes")]
            pub(crate) fn from_name_bytes(name: &[u8]) -> Option<Self> {
                // Arrays, since those of a known length are compared without a call.
                match name.len() {
                    $(len if len == $name.len() && name.first_chunk::<{ $name.len() }>() == $name.as_bytes().first_chunk() => Some(Self::$word),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $vocabulary {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $vocabulary {
            type Err = $crate::vocabulary::UnknownWord;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::from_name(name).ok_or_else(|| $crate::vocabulary::UnknownWord {
                    vocabulary: stringify!($vocabulary),
                    given: name.to_owned(),
                    known: Self::NAMES,
                })
            }
        }

        $crate::vocabulary::serde_by_name!($vocabulary);
    };
}

/// Reads and writes a type by its `name` and its `FromStr`.
macro_rules! serde_by_name {
    ($type:ident) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::vocabulary::read_word(from)
            }
        }
    };
}

pub(crate) use {serde_by_name, vocabulary};

/// A word read from a string, or the error that lists the words.
#[cfg(feature = "serde")]
pub(crate) fn read_word<'de, W, D>(from: D) -> Result<W, D::Error>
where
    W: std::str::FromStr<Err = UnknownWord>,
    D: serde::Deserializer<'de>,
{
    struct Words<W>(std::marker::PhantomData<W>);

    impl<W: std::str::FromStr<Err = UnknownWord>> serde::de::Visitor<'_> for Words<W> {
        type Value = W;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a word")
        }

        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<W, E> {
            name.parse().map_err(E::custom)
        }
    }

    from.deserialize_str(Words(std::marker::PhantomData))
}
