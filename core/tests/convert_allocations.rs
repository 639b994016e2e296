//! Running a converter allocates nothing, whatever it converts.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

mod counting;

use counting::{allocations, allocations_anywhere};
use tensor_core::{
    CpuAccess, DType, Interpolation, Normalization, PixelFormat, PreprocessSpec, Quantization,
    TensorDyn,
    convert::{ChannelOrder, ConvertOptions, Converter, Destination, Source, TensorOrder},
    memory::AllocPolicy,
};

/// The first frame allocates as little as the ones after it: all is allocated by `new`.
#[test]
fn no_frame_allocates() {
    let mut spec = PreprocessSpec::new();
    spec.normalization = Normalization::imagenet();
    let quantized = Quantization::per_tensor(0.02, 3).unwrap();
    let inputs = [
        Destination::new(20, 24).with_dtype(DType::F32).with_layout(TensorOrder::Nchw),
        Destination::new(20, 24).with_dtype(DType::F16).with_order(ChannelOrder::Bgr),
        Destination::new(20, 24).with_dtype(DType::I8).with_quantization(quantized),
        Destination::new(20, 24).with_dtype(DType::F32).with_order(ChannelOrder::Grey),
    ];
    let mut converted = 0_usize;
    for format in PixelFormat::ALL.iter().copied() {
        let frame = TensorDyn::image(format, 64, 36, CpuAccess::ReadWrite).unwrap();
        let source = Source::of(&frame).unwrap();
        for interpolation in Interpolation::ALL.iter().copied() {
            spec.interpolation = interpolation;
            for (index, wanted) in inputs.iter().enumerate() {
                let options = ConvertOptions::default().with_threads(1 + index % 2);
                let Ok(mut converter) = Converter::new(&source, &spec, wanted, &options) else {
                    continue;
                };
                let policy = AllocPolicy::default();
                let input =
                    TensorDyn::new(&wanted.shape(), wanted.dtype, &policy, CpuAccess::ReadWrite);
                let input = input.unwrap();
                let first = allocations(|| converter.run(&frame, &input).unwrap());
                let more = allocations_anywhere(|| converter.run(&frame, &input).unwrap());
                assert_eq!((first, more), (0, 0), "{format} {interpolation} {wanted:?}");
                converted = converted.saturating_add(1);
            }
        }
    }
    // Every format of bytes or words that is not a mosaic, in every way.
    assert!(converted >= 30 * 4 * inputs.len(), "only {converted} conversions were tried");
}
