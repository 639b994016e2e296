//! The `drm-format` field of GStreamer's `DMA_DRM` caps, read and written without GStreamer.

use std::{fmt, str::FromStr};

use thiserror::Error;

use super::{DrmFourcc, Modifier, PixelFormat};

/// A DRM code and a modifier, as GStreamer spells them since 1.24: `NV12` when linear,
/// `NV12:0x0100000000000002` when not (`gst_video_dma_drm_fourcc_from_string`).
///
/// ```
/// use tensor_core::{DrmFormat, Modifier, PixelFormat};
/// let linear: DrmFormat = "NV12".parse()?;
/// assert_eq!(linear.pixel_format(), Some(PixelFormat::Nv12));
/// let tiled: DrmFormat = "NV12:0x0100000000000002".parse()?;
/// assert_eq!(tiled.modifier(), Modifier(0x0100_0000_0000_0002));
/// assert_eq!(tiled.pixel_format(), None);
/// assert!("NV12:0x0".parse::<DrmFormat>().is_err());
/// # Ok::<(), tensor_core::format::DrmFormatError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrmFormat {
    fourcc: DrmFourcc,
    modifier: Modifier,
}

/// Why a `drm-format` is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrmFormatError {
    /// The code is no four printable characters.
    #[error("\"{text}\" does not begin with the four characters of a DRM format")]
    Fourcc {
        /// What was given.
        text: String,
    },
    /// What follows the code is no modifier.
    #[error("\"{text}\" must be a DRM format, or one followed by :0x and up to 16 hex digits")]
    Modifier {
        /// What was given.
        text: String,
    },
    /// A linear format says so.
    #[error("{fourcc} is linear, which is said by no modifier at all")]
    Linear {
        /// The code.
        fourcc: DrmFourcc,
    },
    /// A modifier that nobody has said.
    #[error("the modifier of {fourcc} is implicit, for which drm-format has no spelling")]
    Implicit {
        /// The code.
        fourcc: DrmFourcc,
    },
}

impl DrmFormat {
    /// A code with a modifier.
    ///
    /// # Errors
    /// [`DrmFormatError::Fourcc`] for a code that cannot be spelled, [`DrmFormatError::Implicit`]
    /// for [`Modifier::IMPLICIT`].
    pub fn new(fourcc: DrmFourcc, modifier: Modifier) -> Result<Self, DrmFormatError> {
        if !fourcc.0.iter().all(|byte| matches!(byte, b' '..=b'~')) || fourcc.0.contains(&b':') {
            return Err(DrmFormatError::Fourcc { text: fourcc.to_string() });
        }
        if modifier.is_implicit() {
            return Err(DrmFormatError::Implicit { fourcc });
        }
        Ok(Self { fourcc, modifier })
    }

    /// The DRM code.
    #[must_use]
    pub const fn fourcc(self) -> DrmFourcc {
        self.fourcc
    }

    /// The modifier.
    #[must_use]
    pub const fn modifier(self) -> Modifier {
        self.modifier
    }

    /// The row of the table; `None` unless it has one and is linear.
    #[must_use]
    pub fn pixel_format(self) -> Option<PixelFormat> {
        PixelFormat::from_drm_fourcc(self.fourcc).filter(|_| self.modifier.is_mappable())
    }
}

impl FromStr for DrmFormat {
    type Err = DrmFormatError;

    /// Reads what GStreamer writes; unlike GStreamer it takes nothing after the digits.
    fn from_str(text: &str) -> Result<Self, DrmFormatError> {
        let (code, modifier) = match text.split_once(':') {
            None => (text, None),
            Some((code, modifier)) => (code, Some(modifier)),
        };
        let fourcc = <[u8; 4]>::try_from(code.as_bytes())
            .map(DrmFourcc)
            .map_err(|_| DrmFormatError::Fourcc { text: text.to_owned() })?;
        let Some(modifier) = modifier else { return Self::new(fourcc, Modifier::LINEAR) };
        let modifier = hex(modifier)
            .map(Modifier)
            .ok_or_else(|| DrmFormatError::Modifier { text: text.to_owned() })?;
        if modifier.is_linear() {
            return Err(DrmFormatError::Linear { fourcc });
        }
        Self::new(fourcc, modifier)
    }
}

fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    // The parser would take a sign.
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

impl fmt::Display for DrmFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fourcc, modifier } = self;
        if modifier.is_linear() {
            write!(f, "{fourcc}")
        } else {
            write!(f, "{fourcc}:0x{:016x}", modifier.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_goes_there_and_back_with_every_modifier() {
        for fourcc in PixelFormat::ALL.iter().filter_map(|format| format.drm_fourcc()) {
            for named in Modifier::NAMED {
                let modifier = Modifier(named.value);
                let Ok(format) = DrmFormat::new(fourcc, modifier) else {
                    assert!(modifier.is_implicit());
                    continue;
                };
                assert_eq!(format.to_string().parse(), Ok(format), "{format}");
                assert_eq!(format.pixel_format().is_some(), modifier.is_linear(), "{format}");
            }
        }
    }

    #[test]
    fn a_modifier_has_16_digits_when_written_and_fewer_may_be_read() {
        let format: DrmFormat = "NV12:0X1".parse().unwrap();
        assert_eq!(format.to_string(), "NV12:0x0000000000000001");
        assert_eq!("R8  ".parse::<DrmFormat>().unwrap().fourcc(), DrmFourcc(*b"R8  "));
    }

    #[test]
    fn what_gstreamer_does_not_write_is_refused() {
        let refused = |text: &str| text.parse::<DrmFormat>().unwrap_err();
        let fourcc = DrmFourcc(*b"NV12");
        assert_eq!(refused("NV12:0x0000000000000000"), DrmFormatError::Linear { fourcc });
        assert_eq!(refused("NV12:0x0"), DrmFormatError::Linear { fourcc });
        assert_eq!(refused("NV12:0x00ffffffffffffff"), DrmFormatError::Implicit { fourcc });
        for text in [
            "NV12:",
            "NV12:2",
            "NV12:0x",
            "NV12:0x2 ",
            "NV12:0x+2",
            "NV12:0x1:0x1",
            "NV12:0x10000000000000000",
        ] {
            assert_eq!(refused(text), DrmFormatError::Modifier { text: text.to_owned() });
        }
        for text in ["", "NV1", "NV123", "NV1:0x1", "NV1\n", "NÜ1", "{ NV12 }"] {
            assert!(matches!(refused(text), DrmFormatError::Fourcc { .. }), "{text}");
        }
        assert!(DrmFormat::new(DrmFourcc([0; 4]), Modifier::LINEAR).is_err());
    }
}
