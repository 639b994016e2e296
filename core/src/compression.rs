//! What is known of the layout of bytes below the rows: vendor tile compression and physical
//! contiguity.
//!
//! Both are facts about an allocation, recorded and handed on; nothing here can ask a device.

#![forbid(unsafe_code)]

use crate::vocabulary::vocabulary;

vocabulary! {
    /// A vendor's compressed tile layout.
    ///
    /// The codes and names are the published ones; code 0 is left for linear memory, which is
    /// `Option::None` here. There is no word for an unknown scheme: one is recorded only when the
    /// vendor is known.
    ///
    /// ```
    /// use tensor_core::CompressionScheme;
    /// assert_eq!(CompressionScheme::from_name("afbc"), Some(CompressionScheme::Afbc));
    /// assert_eq!(CompressionScheme::from_code(0), None);
    /// ```
    CompressionScheme {
        /// Universal Bandwidth Compression of Qualcomm Adreno.
        Ubwc = 1, "ubwc";
        /// Arm Frame Buffer Compression of Mali and Immortalis.
        Afbc = 2, "afbc";
        /// PowerVR Image Compression of Imagination.
        Pvric = 3, "pvric";
        /// Delta Colour Compression of Samsung Xclipse.
        Dcc = 4, "dcc";
    }
}

vocabulary! {
    /// Whether an allocation is one run of physical pages, as a capture engine without an IOMMU
    /// needs it.
    #[derive(Default)]
    Contiguity {
        /// Not known: imported, or not from a dma-heap.
        #[default]
        Unknown = 0, "unknown";
        /// One run of physical pages: from the CMA heap.
        Contiguous = 1, "contiguous";
        /// Scattered pages: from the system heap.
        NonContiguous = 2, "non_contiguous";
    }
}

/// The tile compression asked for at allocation.
///
/// Asking for none is `Option::None`, and gives rows that can be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// The device's own scheme if there is one, else linear rows; never a reason to fail.
    Any,
    /// This scheme and no other; an allocation that cannot have it fails.
    Scheme(CompressionScheme),
}

impl Compression {
    /// Whether an allocation that came out as `got` (`None` is linear) answers the request.
    ///
    /// ```
    /// use tensor_core::{Compression, CompressionScheme};
    /// assert!(Compression::Any.accepts(None));
    /// assert!(!Compression::Scheme(CompressionScheme::Ubwc).accepts(None));
    /// ```
    #[must_use]
    pub fn accepts(self, got: Option<CompressionScheme>) -> bool {
        match self {
            Self::Any => true,
            Self::Scheme(asked) => got == Some(asked),
        }
    }
}

/// Names in a vendor string that mean an emulated GPU, whatever else the string says.
const EMULATED: [&str; 3] = ["emulation", "angle", "swiftshader"];

/// GPU families by a part of their name, with the scheme each compresses with.
const VENDORS: [(&str, CompressionScheme); 5] = [
    ("adreno", CompressionScheme::Ubwc),
    ("mali", CompressionScheme::Afbc),
    ("immortalis", CompressionScheme::Afbc),
    ("powervr", CompressionScheme::Pvric),
    ("xclipse", CompressionScheme::Dcc),
];

/// The scheme of the GPU that Android's `ro.hardware.egl` property names; `None` is linear.
///
/// The name counts wherever it stands in `vendor`, in any case of ASCII letters: `Adreno735` is
/// Adreno. Emulated GPUs and names not listed have no scheme.
///
/// ```
/// use tensor_core::{CompressionScheme, compression::scheme_for_egl_vendor};
/// assert_eq!(scheme_for_egl_vendor("Adreno735"), Some(CompressionScheme::Ubwc));
/// assert_eq!(scheme_for_egl_vendor("swiftshader"), None);
/// ```
#[must_use]
pub fn scheme_for_egl_vendor(vendor: &str) -> Option<CompressionScheme> {
    let names = |part: &str| {
        vendor.as_bytes().windows(part.len()).any(|at| at.eq_ignore_ascii_case(part.as_bytes()))
    };
    if EMULATED.into_iter().any(names) {
        return None;
    }
    VENDORS.into_iter().find(|(part, _)| names(part)).map(|(_, scheme)| scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-TILE-03, S-AHB-01 (scheme classifier)
    #[test]
    fn a_vendor_has_its_scheme_in_any_case() {
        use CompressionScheme::{Afbc, Dcc, Pvric, Ubwc};
        let known = [
            ("adreno", Ubwc),
            ("Adreno735", Ubwc),
            ("mali", Afbc),
            ("ARM MALI-G710", Afbc),
            ("immortalis-g925", Afbc),
            ("PowerVR", Pvric),
            ("xclipse", Dcc),
        ];
        for (vendor, scheme) in known {
            assert_eq!(scheme_for_egl_vendor(vendor), Some(scheme), "{vendor}");
        }
    }

    // S-TILE-03
    #[test]
    fn an_emulated_or_unknown_vendor_is_linear() {
        let linear = ["", "  ", "emulation", "angle", "ANGLE (Adreno)", "SwiftShader", "vivante"];
        for vendor in linear {
            assert_eq!(scheme_for_egl_vendor(vendor), None, "{vendor}");
        }
    }

    #[test]
    fn codes_and_names_are_the_published_ones() {
        let schemes: Vec<_> =
            CompressionScheme::ALL.iter().map(|word| (word.code(), word.name())).collect();
        assert_eq!(schemes, [(1, "ubwc"), (2, "afbc"), (3, "pvric"), (4, "dcc")]);
        let contiguity: Vec<_> =
            Contiguity::ALL.iter().map(|word| (word.code(), word.name())).collect();
        assert_eq!(contiguity, [(0, "unknown"), (1, "contiguous"), (2, "non_contiguous")]);
        assert_eq!(Contiguity::default(), Contiguity::Unknown);
        for word in Contiguity::ALL {
            assert_eq!(Contiguity::from_code(word.code()), Some(*word));
            assert_eq!(word.name().parse(), Ok(*word));
        }
        assert_eq!(Contiguity::from_code(3), None);
    }

    #[test]
    fn a_named_scheme_accepts_only_itself() {
        for asked in CompressionScheme::ALL {
            for got in CompressionScheme::ALL {
                assert!(Compression::Any.accepts(Some(*got)));
                assert_eq!(Compression::Scheme(*asked).accepts(Some(*got)), asked == got);
            }
            assert!(!Compression::Scheme(*asked).accepts(None));
        }
    }
}
