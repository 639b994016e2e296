//! Where each component of a pixel is in its planes.

use arrayvec::ArrayVec;

use crate::format::{BitPacking, ColorModel, PixelFormat, PlaneFormat};

/// How one sample is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Store {
    /// A byte.
    Byte,
    /// Some bits of a little-endian 16-bit word.
    Word {
        /// Bits below them.
        shift: u32,
        /// How many.
        bits: u32,
    },
}

/// One component: a grid of samples in one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// Which plane.
    pub(super) plane: usize,
    /// Bytes from the start of a row to its first sample.
    pub(super) offset: usize,
    /// Bytes from one sample to the next.
    pub(super) step: usize,
    /// Image columns for one sample.
    pub(super) hsub: usize,
    /// Image rows for one sample.
    pub(super) vsub: usize,
    /// How it is stored.
    pub(super) store: Store,
    /// Bits that carry it.
    pub(super) bits: u32,
}

/// The components of a pixel: luma alone, or three in the order of the matrix: red, green, blue or
/// luma, blue and red chroma. Alpha is not among them.
pub(super) type Components = ArrayVec<Component, 3>;

/// The components of `format`, or why it cannot be sampled.
pub(super) fn components(format: PixelFormat) -> Result<Components, &'static str> {
    let wanted = match format.color_model() {
        ColorModel::Grey => "Y",
        ColorModel::Rgb => "RGB",
        ColorModel::Yuv => "YUV",
        ColorModel::Bayer => return Err("a mosaic has no pixels yet; debayer it first"),
    };
    if format.dtype().is_float() {
        return Err("planes of floats are a model's input, not a picture of 0 to 255");
    }
    if format.packing() == BitPacking::Shared {
        return shared(format).ok_or("its planes are not known to the converter");
    }
    let found = wanted.chars().enumerate().map(|(index, letter)| {
        let planes = format.planes().iter().zip(samples(format)).enumerate();
        let mut found = planes.filter_map(|(plane, (row, letters))| {
            in_plane(format, (plane, row), letters, letter, index)
        });
        found.next()
    });
    found.collect::<Option<_>>().ok_or("its planes are not known to the converter")
}

/// The samples of one block of each plane, a letter a sample: `x` is unused.
pub(super) fn samples(format: PixelFormat) -> &'static [&'static str] {
    use PixelFormat as P;
    match format {
        P::Rgb => &["RGB"],
        P::Bgr => &["BGR"],
        P::Rgba => &["RGBA"],
        P::Rgbx => &["RGBx"],
        P::Bgra => &["BGRA"],
        P::Bgrx => &["BGRx"],
        P::Argb => &["ARGB"],
        P::Xrgb => &["xRGB"],
        P::Abgr => &["ABGR"],
        P::Xbgr => &["xBGR"],
        P::Grey | P::Grey16 => &["Y"],
        P::Yuyv => &["YUYV"],
        P::Yvyu => &["YVYU"],
        P::Uyvy => &["UYVY"],
        P::Vyuy => &["VYUY"],
        P::Nv12 | P::Nv16 | P::Nv24 | P::P010 | P::P012 | P::P016 => &["Y", "UV"],
        P::Nv21 | P::Nv61 => &["Y", "VU"],
        P::I420 | P::Y42b | P::Y444 => &["Y", "U", "V"],
        P::Yv12 => &["Y", "V", "U"],
        P::PlanarRgb | P::PlanarRgbF16 | P::PlanarRgbF32 => &["R", "G", "B"],
        P::PlanarRgba => &["R", "G", "B", "A"],
        P::PlanarBgr => &["B", "G", "R"],
        // One number a pixel, see `shared`.
        P::Rgb16 => &[],
        // A mosaic.
        P::BayerBggr8
        | P::BayerGbrg8
        | P::BayerGrbg8
        | P::BayerRggb8
        | P::BayerBggr10
        | P::BayerGbrg10
        | P::BayerGrbg10
        | P::BayerRggb10
        | P::BayerBggr12
        | P::BayerGbrg12
        | P::BayerGrbg12
        | P::BayerRggb12
        | P::BayerBggr16
        | P::BayerGbrg16
        | P::BayerGrbg16
        | P::BayerRggb16 => &[],
    }
}

fn in_plane(
    format: PixelFormat,
    (plane, row): (usize, &PlaneFormat),
    letters: &str,
    letter: char,
    index: usize,
) -> Option<Component> {
    let position = letters.find(letter)?;
    let times = letters.matches(letter).count();
    let bits = format.component_bits(index)?;
    let sample_bytes = format.dtype().size_bytes();
    let container = u32::try_from(sample_bytes.checked_mul(8)?).ok()?;
    let shift = match format.packing() {
        BitPacking::High => container.checked_sub(bits)?,
        BitPacking::Whole | BitPacking::Low | BitPacking::Shared => 0,
    };
    Some(Component {
        plane,
        offset: position.checked_mul(sample_bytes)?,
        step: row.block_bytes.checked_div(times)?,
        hsub: row.hsub.checked_mul(row.block_width)?.checked_div(times)?,
        vsub: row.vsub,
        store: if sample_bytes == 1 { Store::Byte } else { Store::Word { shift, bits } },
        bits,
    })
}

/// Components that are bits of one number, the first in the highest bits.
fn shared(format: PixelFormat) -> Option<Components> {
    let mut found = Components::new();
    let mut shift = format.dtype().bits();
    for index in 0..format.components() {
        let bits = format.component_bits(index)?;
        shift = shift.checked_sub(bits)?;
        found.push(Component {
            plane: 0,
            offset: 0,
            step: format.planes().first()?.block_bytes,
            hsub: 1,
            vsub: 1,
            store: Store::Word { shift, bits },
            bits,
        });
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ColorModel;

    #[test]
    fn every_format_is_sampled_or_refused_with_the_reason() {
        for format in PixelFormat::ALL.iter().copied() {
            let refused = format.color_model() == ColorModel::Bayer || format.dtype().is_float();
            let found = components(format);
            assert_eq!(found.is_err(), refused, "{format}: {found:?}");
        }
    }

    #[test]
    fn letters_are_the_samples_of_a_block() {
        for format in PixelFormat::ALL.iter().copied() {
            for (plane, letters) in format.planes().iter().zip(samples(format)) {
                let bytes = letters.len() * format.dtype().size_bytes();
                assert_eq!(bytes, plane.block_bytes, "{format}");
            }
        }
    }

    #[test]
    fn packed_chroma_is_every_fourth_byte() {
        let [y, u, v] = components(PixelFormat::Vyuy).unwrap().into_inner().unwrap();
        assert_eq!((y.offset, y.step, y.hsub), (1, 2, 1));
        assert_eq!((u.offset, u.step, u.hsub), (2, 4, 2));
        assert_eq!((v.offset, v.step, v.hsub), (0, 4, 2));
        let [_, u, v] = components(PixelFormat::P010).unwrap().into_inner().unwrap();
        assert_eq!((u.plane, u.offset, u.step, u.hsub, u.vsub), (1, 0, 4, 2, 2));
        assert_eq!((v.offset, v.store), (2, Store::Word { shift: 6, bits: 10 }));
        let [r, g, b] = components(PixelFormat::Rgb16).unwrap().into_inner().unwrap();
        let stores = [(11, 5), (5, 6), (0, 5)].map(|(shift, bits)| Store::Word { shift, bits });
        assert_eq!([r.store, g.store, b.store], stores);
    }
}
