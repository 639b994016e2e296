//! Textures that carry images which a graphics API has no texture format for.
//!
//! Android's `AHardwareBuffer`, Direct3D 11 and GBM know textures of four 8-bit or four 16-bit
//! values, not of three bytes, nor planes of half floats. A row of bytes is the same whatever it is
//! called, so three-byte pixels ride in four-byte texels, four planar values in one texel, and
//! luma with chroma below it in one single-value texture. These are numbers only, the same on every
//! platform.

use super::LayoutError;
use crate::{
    dtype::DType,
    format::{PixelFormat, PixelLayout},
};

/// What one texel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Texel {
    /// One 8-bit value.
    R8,
    /// Two 8-bit values.
    Rg8,
    /// Four 8-bit values.
    Rgba8,
    /// Four 16-bit floats.
    Rgba16F,
    /// Four 32-bit floats.
    Rgba32F,
}

impl Texel {
    /// Bytes of one texel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::R8 => 1,
            Self::Rg8 => 2,
            Self::Rgba8 => 4,
            Self::Rgba16F => 8,
            Self::Rgba32F => 16,
        }
    }
}

/// A texture whose bytes are those of an image with tight rows.
///
/// ```
/// use tensor_core::{DType, PixelFormat, layout::{Carrier, Texel}};
/// let planar = Carrier::of(PixelFormat::PlanarRgb, DType::F16, 640, 480)?;
/// assert_eq!(planar, Carrier { texel: Texel::Rgba16F, width: 160, height: 1440 });
/// let packed = Carrier::of(PixelFormat::Rgb, DType::U8, 640, 480)?;
/// assert_eq!(packed, Carrier { texel: Texel::Rgba8, width: 480, height: 480 });
/// assert!(Carrier::of(PixelFormat::Rgb, DType::U8, 641, 480).is_err());
/// # Ok::<(), tensor_core::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carrier {
    /// What one texel holds.
    pub texel: Texel,
    /// Texels in a row.
    pub width: usize,
    /// Rows of texels.
    pub height: usize,
}

impl Carrier {
    /// The texture that carries an image of `format` with samples of `dtype`.
    ///
    /// # Errors
    /// [`LayoutError::NoCarrier`] when no texture does, [`LayoutError::CarrierWidth`] when rows are
    /// no whole number of texels, [`LayoutError::Empty`] without pixels, and
    /// [`LayoutError::Overflow`] when the bytes do not fit the address space. The caller then uses
    /// memory that is no texture.
    pub fn of(
        format: PixelFormat,
        dtype: DType,
        width: usize,
        height: usize,
    ) -> Result<Self, LayoutError> {
        if width == 0 || height == 0 {
            return Err(LayoutError::Empty { width, height });
        }
        let (texel, packing) = row_of(format, dtype)?;
        let overflow = LayoutError::Overflow { format, width, height, plane: 0 };
        let size = match packing {
            Packing::Direct => Some((width, height)),
            Packing::Pairs => width.checked_next_multiple_of(2).map(|width| (width, height)),
            Packing::Triples => texels(width, 3, format)?.map(|width| (width, height)),
            Packing::Planes => texels(width, 1, format)?.zip(height.checked_mul(format.channels())),
            Packing::Combined => {
                width.checked_next_multiple_of(2).zip(format.combined_plane_height(height))
            }
        };
        let Some((width, height)) = size else { return Err(overflow) };
        let bytes = width.checked_mul(height).and_then(|texels| texels.checked_mul(texel.bytes()));
        match bytes.map(isize::try_from) {
            Some(Ok(_)) => Ok(Self { texel, width, height }),
            _ => Err(overflow),
        }
    }

    /// Bytes of one row without padding.
    #[must_use]
    pub fn row_bytes(self) -> usize {
        self.width.saturating_mul(self.texel.bytes())
    }

    /// The size in pixels of the image of `format` that this texture carries.
    ///
    /// A texture does not say how wide an image of 4:2:2 or separate chroma is: its rows are whole
    /// pairs, and may be wider still where the driver chose the stride. `width` then says it.
    ///
    /// # Errors
    /// [`LayoutError::CarrierSize`] when the texture holds no such image; else as for
    /// [`of`](Self::of).
    ///
    /// ```
    /// use tensor_core::{DType, PixelFormat, layout::Carrier};
    /// let carrier = Carrier::of(PixelFormat::Nv12, DType::U8, 789, 483)?;
    /// assert_eq!((carrier.width, carrier.height), (790, 725));
    /// assert_eq!(carrier.image_size(PixelFormat::Nv12, DType::U8, Some(789))?, (789, 483));
    /// # Ok::<(), tensor_core::LayoutError>(())
    /// ```
    pub fn image_size(
        self,
        format: PixelFormat,
        dtype: DType,
        width: Option<usize>,
    ) -> Result<(usize, usize), LayoutError> {
        let none = LayoutError::CarrierSize { format, width: self.width, height: self.height };
        let (_, packing) = row_of(format, dtype)?;
        let inverse = match packing {
            Packing::Direct | Packing::Pairs => Some((self.width, self.height)),
            Packing::Triples => {
                self.width.checked_mul(4).map(|samples| (samples.div_ceil(3), self.height))
            }
            Packing::Planes => {
                self.width.checked_mul(4).zip(self.height.checked_div(format.channels()))
            }
            Packing::Combined => width.zip(format.image_height_from_combined(self.height)),
        };
        let Some((natural, height)) = inverse else { return Err(none) };
        let width = width.unwrap_or(natural);
        let again = Self::of(format, dtype, width, height)?;
        let is_wide_enough = match packing {
            Packing::Combined => again.width <= self.width,
            Packing::Direct | Packing::Pairs | Packing::Triples | Packing::Planes => {
                again.width == self.width
            }
        };
        let is_same = again.texel == self.texel && again.height == self.height;
        if is_same && is_wide_enough { Ok((width, height)) } else { Err(none) }
    }
}

/// How pixels become texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// A pixel is a texel.
    Direct,
    /// A pixel is a texel, and rows are whole pairs.
    Pairs,
    /// Four samples of three-sample pixels are a texel.
    Triples,
    /// Four samples of a plane are a texel, and planes lie below each other.
    Planes,
    /// A sample is a texel, and chroma lies below luma.
    Combined,
}

/// The texels of four values, by what the values are.
const FOUR_VALUES: [(DType, Texel); 4] = [
    (DType::U8, Texel::Rgba8),
    (DType::I8, Texel::Rgba8),
    (DType::F16, Texel::Rgba16F),
    (DType::F32, Texel::Rgba32F),
];

fn row_of(format: PixelFormat, dtype: DType) -> Result<(Texel, Packing), LayoutError> {
    let none = LayoutError::NoCarrier { format, dtype };
    if !has_whole_samples(format, dtype) {
        return Err(none);
    }
    let four = FOUR_VALUES.iter().find(|(samples, _)| *samples == dtype).map(|(_, texel)| *texel);
    match (format.layout(), format.channels(), dtype, four) {
        (PixelLayout::Packed, 4, _, Some(texel)) => Ok((texel, Packing::Direct)),
        (PixelLayout::Packed, 3, _, Some(texel)) => Ok((texel, Packing::Triples)),
        (PixelLayout::Packed, 2, DType::U8, _) => Ok((Texel::Rg8, Packing::Pairs)),
        (PixelLayout::Packed, 1, DType::U8, _) => Ok((Texel::R8, Packing::Direct)),
        (PixelLayout::SemiPlanar, _, DType::U8, _) => Ok((Texel::R8, Packing::Combined)),
        (PixelLayout::Planar, _, DType::F16 | DType::F32, Some(texel)) => {
            Ok((texel, Packing::Planes))
        }
        _ => Err(none),
    }
}

/// Whether every sample of the format's row is one byte, or one `dtype`, so that its samples can be
/// counted in texels at all: those of RGB565 or packed 10-bit cannot.
fn has_whole_samples(format: PixelFormat, dtype: DType) -> bool {
    let Some(first) = format.planes().first() else { return false };
    let counted = match format.layout() {
        PixelLayout::Packed => format.channels(),
        PixelLayout::Planar | PixelLayout::SemiPlanar | PixelLayout::PlanarChroma => 1,
    };
    let is = |sample_bytes: usize| {
        let block = first.block_width.saturating_mul(counted).saturating_mul(sample_bytes);
        first.block_bytes == block
    };
    is(1) || (is(dtype.size_bytes()) && format.dtype() == dtype)
}

/// The texels of four samples in `width` pixels of `samples` samples each; `None` when their number
/// does not fit.
fn texels(width: usize, samples: usize, format: PixelFormat) -> Result<Option<usize>, LayoutError> {
    if !width.is_multiple_of(4) {
        return Err(LayoutError::CarrierWidth { format, width, multiple: 4 });
    }
    Ok(width.checked_mul(samples).map(|samples| samples.div_ceil(4)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DTYPES: [DType; 4] = [DType::U8, DType::I8, DType::F16, DType::F32];

    fn of(format: PixelFormat, dtype: DType, size: (usize, usize)) -> (Texel, usize, usize) {
        let carrier = Carrier::of(format, dtype, size.0, size.1).unwrap();
        (carrier.texel, carrier.width, carrier.height)
    }

    // S-AHB-01
    #[test]
    fn planar_f16_and_packed_rgb_ride_in_four_value_texels() {
        use PixelFormat::{PlanarRgb, PlanarRgba, Rgb};
        assert_eq!(of(PlanarRgb, DType::F16, (640, 480)), (Texel::Rgba16F, 160, 1440));
        assert_eq!(of(PlanarRgba, DType::F16, (8, 3)), (Texel::Rgba16F, 2, 12));
        assert_eq!(of(PlanarRgb, DType::F32, (640, 480)), (Texel::Rgba32F, 160, 1440));
        assert_eq!(of(Rgb, DType::U8, (640, 480)), (Texel::Rgba8, 480, 480));
        assert_eq!(of(Rgb, DType::F16, (640, 480)), (Texel::Rgba16F, 480, 480));
        for width in [1, 2, 3, 641, 642, 643] {
            for (format, dtype) in [(PlanarRgb, DType::F16), (Rgb, DType::U8)] {
                let error = LayoutError::CarrierWidth { format, width, multiple: 4 };
                assert_eq!(Carrier::of(format, dtype, width, 480), Err(error));
            }
        }
    }

    // S-D3D-01
    #[test]
    fn other_formats_ride_as_they_are_or_not_at_all() {
        use PixelFormat::{Bgra, Grey, I420, Nv12, Nv16, Nv24, PlanarRgb, Rgba, Yuyv};
        assert_eq!(of(Rgba, DType::U8, (641, 3)), (Texel::Rgba8, 641, 3));
        assert_eq!(of(Bgra, DType::U8, (641, 3)), (Texel::Rgba8, 641, 3));
        assert_eq!(of(Rgba, DType::F16, (641, 3)), (Texel::Rgba16F, 641, 3));
        assert_eq!(of(Grey, DType::U8, (641, 3)), (Texel::R8, 641, 3));
        assert_eq!(of(Yuyv, DType::U8, (641, 3)), (Texel::Rg8, 642, 3));
        assert_eq!(of(Nv12, DType::U8, (128, 64)), (Texel::R8, 128, 96));
        assert_eq!(of(Nv16, DType::U8, (128, 64)), (Texel::R8, 128, 128));
        assert_eq!(of(Nv24, DType::U8, (127, 64)), (Texel::R8, 128, 192));
        for (format, dtype) in
            [(PlanarRgb, DType::U8), (I420, DType::U8), (Rgba, DType::F64), (Nv12, DType::F16)]
        {
            assert_eq!(
                Carrier::of(format, dtype, 64, 36),
                Err(LayoutError::NoCarrier { format, dtype })
            );
        }
    }

    // S-D3D-01
    #[test]
    fn a_texture_gives_its_image_back_for_odd_sizes_too() {
        let sizes =
            || (1..=41_usize).flat_map(|width| (1..=41_usize).map(move |height| (width, height)));
        for format in PixelFormat::ALL.iter().copied() {
            for (dtype, (width, height)) in
                DTYPES.into_iter().flat_map(|d| sizes().map(move |s| (d, s)))
            {
                let Ok(carrier) = Carrier::of(format, dtype, width, height) else { continue };
                let known = carrier.image_size(format, dtype, Some(width));
                assert_eq!(known, Ok((width, height)), "{format} {dtype}");
                let guessed = carrier.image_size(format, dtype, None);
                match format.layout() {
                    PixelLayout::SemiPlanar => assert!(guessed.is_err(), "{format}"),
                    _ if width % 2 == 0 => assert_eq!(guessed, Ok((width, height)), "{format}"),
                    PixelLayout::Packed | PixelLayout::Planar | PixelLayout::PlanarChroma => {
                        assert!(guessed.is_ok(), "{format}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_bytes_of_a_carrier_are_those_of_the_tight_image() {
        use crate::layout::{ImageLayout, StrideAlign};
        for format in PixelFormat::ALL.iter().copied() {
            for (width, height) in [(640, 480), (64, 7), (8, 1)] {
                let Ok(carrier) = Carrier::of(format, DType::U8, width, height) else { continue };
                let image = ImageLayout::packed(format, width, height, StrideAlign::NONE).unwrap();
                assert_eq!(
                    carrier.row_bytes() * carrier.height,
                    image.allocation_len(0),
                    "{format}"
                );
            }
        }
    }

    #[test]
    fn a_wider_combined_texture_is_the_same_image_and_other_textures_are_none() {
        let nv12 = PixelFormat::Nv12;
        let wide = Carrier { texel: Texel::R8, width: 1024, height: 725 };
        assert_eq!(wide.image_size(nv12, DType::U8, Some(789)), Ok((789, 483)));
        let refused = |carrier: Carrier, format, width| {
            let (dtype, size) = (DType::U8, (carrier.width, carrier.height));
            let error = LayoutError::CarrierSize { format, width: size.0, height: size.1 };
            assert_eq!(carrier.image_size(format, dtype, width), Err(error));
        };
        refused(wide, nv12, None);
        refused(wide, nv12, Some(1025));
        refused(Carrier { height: 721, ..wide }, nv12, Some(789));
        refused(Carrier { texel: Texel::Rgba8, ..wide }, nv12, Some(789));
        refused(
            Carrier { texel: Texel::R8, width: 641, height: 480 },
            PixelFormat::Grey,
            Some(640),
        );
    }

    #[test]
    fn sizes_past_the_address_space_are_refused() {
        for format in PixelFormat::ALL.iter().copied() {
            for (width, height) in [(1 << 62, 4), (4, 1 << 62), (1 << 32, 1 << 32)] {
                for dtype in DTYPES {
                    assert!(Carrier::of(format, dtype, width, height).is_err(), "{format} {dtype}");
                }
            }
            assert!(Carrier::of(format, DType::U8, usize::MAX, 1).is_err());
        }
    }
}
