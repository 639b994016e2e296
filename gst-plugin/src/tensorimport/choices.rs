//! The values of the element's enum and flags properties, as `gst-inspect-1.0` shows them.

#![allow(clippy::as_conversions, missing_docs, reason = "the derives write casts and drop docs")]

use gst::glib;
use tensor_core::CpuAccess;

use crate::property::leaked as format;

/// What becomes of a frame that is not in the memory an accelerator takes, or that no tensor can
/// describe where it lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[enum_type(name = "GstTensorImportFallback", allow_name_conflict)]
#[non_exhaustive]
pub enum Fallback {
    /// It stays where it is.
    #[default]
    #[enum_value(name = "Describe it in its own memory; stop if that cannot be", nick = "wrap")]
    Wrap,
    /// It moves into memory of the element's own pool.
    #[enum_value(name = "Copy it into the best pool memory there is", nick = "copy")]
    Copy,
    /// The pipeline stops.
    #[enum_value(name = "Stop, with an error that says why", nick = "error")]
    Error,
}

/// [`CpuAccess`] as a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, glib::Enum)]
#[enum_type(name = "GstTensorCpuAccess", allow_name_conflict)]
#[non_exhaustive]
pub enum Access {
    /// [`CpuAccess::None`].
    #[enum_value(name = "The CPU never touches the bytes", nick = "none")]
    None,
    /// [`CpuAccess::Read`].
    #[default]
    #[enum_value(name = "The CPU reads", nick = "read")]
    Read,
    /// [`CpuAccess::Write`].
    #[enum_value(name = "The CPU writes and never reads", nick = "write")]
    Write,
    /// [`CpuAccess::ReadWrite`].
    #[enum_value(name = "The CPU reads and writes", nick = "readwrite")]
    ReadWrite,
}

impl From<Access> for CpuAccess {
    fn from(access: Access) -> Self {
        match access {
            Access::None => Self::None,
            Access::Read => Self::Read,
            Access::Write => Self::Write,
            Access::ReadWrite => Self::ReadWrite,
        }
    }
}

/// Which metas go on a frame.
#[glib::flags(name = "GstTensorImportAttach", allow_name_conflict)]
pub enum Attach {
    /// [`TensorMeta`](crate::TensorMeta).
    #[flags_value(name = "TensorBlobMeta, the tensor", nick = "tensor")]
    TENSOR = 1 << 0,
    /// `GstVideoMeta`, on frames that come without one.
    #[flags_value(name = "GstVideoMeta, where a frame has none", nick = "video")]
    VIDEO = 1 << 1,
    /// `GstTensorMeta`, see [`analytics`](crate::analytics).
    #[flags_value(
        name = "GstTensorMeta beside the tensor, where GStreamer is 1.26 or newer and it can be said",
        nick = "analytics"
    )]
    ANALYTICS = 1 << 2,
}

impl Default for Attach {
    fn default() -> Self {
        Self::TENSOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_has_the_name_of_the_core() {
        use gst::glib::{EnumClass, prelude::*};
        let class = EnumClass::new::<Access>();
        for access in [Access::None, Access::Read, Access::Write, Access::ReadWrite] {
            let value = access.to_value();
            let (_, value) = glib::EnumValue::from_value(&value).unwrap();
            assert_eq!(value.nick(), CpuAccess::from(access).name());
        }
        assert_eq!(class.values().len(), CpuAccess::ALL.len());
    }
}
