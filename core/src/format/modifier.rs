//! DRM format modifiers: how the samples of a dma-buf deviate from rows.
//!
//! Names and values are those of `drm/drm_fourcc.h`. The high byte is the vendor, the rest is the
//! vendor's; where a part of it is a parameter, the name stands for all its values.

use std::fmt;

/// A DRM format modifier.
///
/// One rule: what is not linear cannot be mapped as rows.
///
/// ```
/// use tensor_core::Modifier;
/// let tiled = Modifier(0x0100_0000_0000_0002);
/// assert_eq!(tiled.to_string(), "I915_Y_TILED (0x0100000000000002)");
/// assert!(!tiled.is_mappable());
/// assert!(Modifier::LINEAR.is_mappable());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modifier(pub u64);

/// A modifier that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedModifier {
    /// The kernel's name, without what all of them have.
    pub name: &'static str,
    /// The bits that make it this one.
    pub mask: u64,
    /// What those bits are.
    pub value: u64,
}

/// All bits are given.
const EXACT: u64 = u64::MAX;
/// The vendor is all that is given.
const VENDOR: u64 = 0xff << 56;
/// ARM's modifiers have their category in the 4 bits below the vendor.
const ARM_CATEGORY: u64 = 0xfff << 52;
/// Broadcom's have a parameter above the low byte.
const BROADCOM: u64 = VENDOR | 0xff;
/// Vivante's have flags for tile status and compression in the byte below the vendor.
const VIVANTE: u64 = !(0xff << 48);
/// NVIDIA's are block linear when bit 4 is set, whatever the rest is.
const NVIDIA_BLOCK: u64 = VENDOR | 0x10;

/// Makes the list; a row reads: name, mask, value.
macro_rules! modifiers {
    ($($name:literal, $mask:ident, $value:literal;)*) => {
        const NAMED: &[NamedModifier] =
            &[$(NamedModifier { name: $name, mask: $mask, value: $value }),*];
    };
}

// The first that fits is the name.
#[rustfmt::skip]
modifiers! {
    "LINEAR",                        EXACT,        0x0000_0000_0000_0000;
    "INVALID",                       EXACT,        0x00ff_ffff_ffff_ffff;
    "I915_X_TILED",                  EXACT,        0x0100_0000_0000_0001;
    "I915_Y_TILED",                  EXACT,        0x0100_0000_0000_0002;
    "I915_Yf_TILED",                 EXACT,        0x0100_0000_0000_0003;
    "I915_Y_TILED_CCS",              EXACT,        0x0100_0000_0000_0004;
    "I915_Yf_TILED_CCS",             EXACT,        0x0100_0000_0000_0005;
    "I915_Y_TILED_GEN12_RC_CCS",     EXACT,        0x0100_0000_0000_0006;
    "I915_Y_TILED_GEN12_MC_CCS",     EXACT,        0x0100_0000_0000_0007;
    "I915_Y_TILED_GEN12_RC_CCS_CC",  EXACT,        0x0100_0000_0000_0008;
    "I915_4_TILED",                  EXACT,        0x0100_0000_0000_0009;
    "I915_4_TILED_DG2_RC_CCS",       EXACT,        0x0100_0000_0000_000a;
    "I915_4_TILED_DG2_MC_CCS",       EXACT,        0x0100_0000_0000_000b;
    "I915_4_TILED_DG2_RC_CCS_CC",    EXACT,        0x0100_0000_0000_000c;
    "AMD",                           VENDOR,       0x0200_0000_0000_0000;
    "NVIDIA_TEGRA_TILED",            EXACT,        0x0300_0000_0000_0001;
    "NVIDIA_BLOCK_LINEAR_2D",        NVIDIA_BLOCK, 0x0300_0000_0000_0010;
    "SAMSUNG_64_32_TILE",            EXACT,        0x0400_0000_0000_0001;
    "SAMSUNG_16_16_TILE",            EXACT,        0x0400_0000_0000_0002;
    "QCOM_COMPRESSED",               EXACT,        0x0500_0000_0000_0001;
    "QCOM_TILED2",                   EXACT,        0x0500_0000_0000_0002;
    "QCOM_TILED3",                   EXACT,        0x0500_0000_0000_0003;
    "VIVANTE_TILED",                 VIVANTE,      0x0600_0000_0000_0001;
    "VIVANTE_SUPER_TILED",           VIVANTE,      0x0600_0000_0000_0002;
    "VIVANTE_SPLIT_TILED",           VIVANTE,      0x0600_0000_0000_0003;
    "VIVANTE_SPLIT_SUPER_TILED",     VIVANTE,      0x0600_0000_0000_0004;
    "BROADCOM_VC4_T_TILED",          BROADCOM,     0x0700_0000_0000_0001;
    "BROADCOM_SAND32",               BROADCOM,     0x0700_0000_0000_0002;
    "BROADCOM_SAND64",               BROADCOM,     0x0700_0000_0000_0003;
    "BROADCOM_SAND128",              BROADCOM,     0x0700_0000_0000_0004;
    "BROADCOM_SAND256",              BROADCOM,     0x0700_0000_0000_0005;
    "BROADCOM_UIF",                  BROADCOM,     0x0700_0000_0000_0006;
    "ARM_AFBC",                      ARM_CATEGORY, 0x0800_0000_0000_0000;
    "ARM_16X16_BLOCK_U_INTERLEAVED", EXACT,        0x0810_0000_0000_0001;
    "ARM_AFRC",                      ARM_CATEGORY, 0x0820_0000_0000_0000;
    "ALLWINNER_TILED",               EXACT,        0x0900_0000_0000_0001;
    "AMLOGIC_FBC",                   VENDOR,       0x0a00_0000_0000_0000;
    "MTK",                           VENDOR,       0x0b00_0000_0000_0000;
    "APPLE",                         VENDOR,       0x0c00_0000_0000_0000;
}

impl Modifier {
    /// Rows, one after the other.
    pub const LINEAR: Self = Self(0);

    /// The driver knows and does not say (`DRM_FORMAT_MOD_INVALID`). It may be tiled.
    pub const IMPLICIT: Self = Self(0x00ff_ffff_ffff_ffff);

    /// Every modifier with a name.
    pub const NAMED: &[NamedModifier] = NAMED;

    /// Whether the samples lie in rows.
    #[must_use]
    pub const fn is_linear(self) -> bool {
        self.0 == Self::LINEAR.0
    }

    /// Whether nobody has said how the samples lie.
    #[must_use]
    pub const fn is_implicit(self) -> bool {
        self.0 == Self::IMPLICIT.0
    }

    /// Whether a CPU can address samples by row and column: only when they are known to lie in rows.
    #[must_use]
    pub const fn is_mappable(self) -> bool {
        self.is_linear()
    }

    /// The kernel's name, where it is known.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMED.iter().find(|named| self.0 & named.mask == named.value).map(|named| named.name)
    }
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (0x{:016x})", self.name().unwrap_or("unknown"), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linear_can_be_mapped() {
        for named in Modifier::NAMED {
            let modifier = Modifier(named.value);
            assert_eq!(modifier.is_mappable(), modifier == Modifier::LINEAR, "{modifier}");
        }
        assert!(Modifier::IMPLICIT.is_implicit() && !Modifier::IMPLICIT.is_mappable());
        assert!(!Modifier::LINEAR.is_implicit());
        assert!(!Modifier(0xfe00_0000_0000_0001).is_mappable());
    }

    #[test]
    fn every_name_is_found_and_says_only_what_its_mask_holds() {
        for (at, named) in Modifier::NAMED.iter().enumerate() {
            assert_eq!(named.value & !named.mask, 0, "{}", named.name);
            assert_eq!(Modifier(named.value).name(), Some(named.name));
            let earlier = &Modifier::NAMED[..at];
            assert!(earlier.iter().all(|other| other.name != named.name), "{}", named.name);
        }
    }

    #[test]
    fn parameters_do_not_hide_the_name() {
        let name = |value| Modifier(value).name().unwrap_or("unknown");
        // SAND128 with columns of 1088 rows; AFBC of 16x16 blocks, sparse, YTR; UBWC; GFX9 with DCC.
        assert_eq!(name(0x0700_0000_0004_4004), "BROADCOM_SAND128");
        assert_eq!(name(0x0800_0000_0000_0051), "ARM_AFBC");
        assert_eq!(name(0x0820_0000_0000_0001), "ARM_AFRC");
        assert_eq!(name(0x0500_0000_0000_0001), "QCOM_COMPRESSED");
        assert_eq!(name(0x0200_0000_1866_bb01), "AMD");
        assert_eq!(name(0x0300_0000_0060_6014), "NVIDIA_BLOCK_LINEAR_2D");
        assert_eq!(name(0x0613_0000_0000_0002), "VIVANTE_SUPER_TILED");
        assert_eq!(name(0x0a00_0000_0000_0101), "AMLOGIC_FBC");
        assert_eq!(name(0x0810_0000_0000_0002), "unknown");
        assert_eq!(Modifier(0x0810_0000_0000_0002).to_string(), "unknown (0x0810000000000002)");
        assert_eq!(Modifier::IMPLICIT.to_string(), "INVALID (0x00ffffffffffffff)");
    }
}
