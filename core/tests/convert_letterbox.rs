//! Of any size into any size: the image lies where the content region says, and padding is all else.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use proptest::prelude::*;
use tensor_core::{
    CpuAccess, DType, FitMode, Normalization, PixelFormat, PreprocessSpec, Region, TensorDyn,
    convert::{ConvertOptions, Converter, Destination, Source},
    memory::AllocPolicy,
    preprocess::LetterboxPlacement,
};

const RW: CpuAccess = CpuAccess::ReadWrite;
const PAD: [u8; 3] = [1, 2, 3];
/// Differs from the padding in every channel, and is the same however it is resampled.
const IMAGE: u8 = 200;

/// The pixels of a frame of one colour, letterboxed, and where they are said to lie.
fn letterboxed(
    from: (usize, usize),
    to: (usize, usize),
    placement: LetterboxPlacement,
) -> (Vec<u8>, Region) {
    let frame = TensorDyn::image(PixelFormat::Rgb, from.0, from.1, RW).unwrap();
    frame.copy_from_flat(&vec![IMAGE; frame.flat_len()]).unwrap();
    let mut spec = PreprocessSpec::new();
    spec.normalization = Normalization::raw();
    spec.fit = FitMode::Letterbox;
    spec.placement = placement;
    spec.pad = PAD.map(f32::from);
    let wanted = Destination::new(to.0, to.1);
    let source = Source::of(&frame).unwrap();
    let options = ConvertOptions::default();
    let mut converter = Converter::new(&source, &spec, &wanted, &options).unwrap();
    let input = TensorDyn::new(&wanted.shape(), DType::U8, &AllocPolicy::default(), RW).unwrap();
    converter.run(&frame, &input).unwrap();
    let mut flat = vec![0; input.flat_len()];
    input.copy_to_flat(&mut flat).unwrap();
    (flat, converter.content_region().pixels())
}

/// `round(length * above / below)`, half upwards and at least 1.
fn scaled(length: usize, above: usize, below: usize) -> usize {
    ((2 * length * above + below) / (2 * below)).max(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_pixel_is_image_or_padding_where_it_should_be(
        from in (1_usize..160, 1_usize..160),
        to in (1_usize..97, 1_usize..97),
        centred in any::<bool>(),
    ) {
        let placement =
            if centred { LetterboxPlacement::Center } else { LetterboxPlacement::TopLeft };
        let (flat, content) = letterboxed(from, to, placement);

        // One side is filled, the other keeps the aspect, to the pixel.
        let (width, height) = if from.0 * to.1 > to.0 * from.1 {
            (to.0, scaled(to.0, from.1, from.0))
        } else {
            (scaled(to.1, from.0, from.1), to.1)
        };
        let (x, y) = if centred { ((to.0 - width) / 2, (to.1 - height) / 2) } else { (0, 0) };
        prop_assert_eq!(content, Region::new(x, y, width, height));

        for (index, pixel) in flat.chunks(3).enumerate() {
            let (column, row) = (index % to.0, index / to.0);
            let inside = (x..x + width).contains(&column) && (y..y + height).contains(&row);
            let expected = if inside { [IMAGE; 3] } else { PAD };
            prop_assert_eq!(pixel, expected, "pixel {},{}", column, row);
        }
    }
}
