//! Whatever is converted, the fast kernel and the reference differ by one level at most.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "what goes wrong here fails a test"
)]

use std::cell::Cell;

use half::f16;
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use tensor_core::{
    ColorEncoding, ColorRange, Colorimetry, CpuAccess, DType, FitMode, ImageLayout, Interpolation,
    Memory, Normalization, PixelFormat, PreprocessSpec, Quantization, Region, StrideAlign,
    TensorDyn,
    convert::{
        ChannelOrder, ConvertOptions, Converter, Crop, Destination, Kernel, Source, TensorOrder,
    },
    memory::AllocPolicy,
};

const RW: CpuAccess = CpuAccess::ReadWrite;
const DTYPES: [DType; 4] = [DType::U8, DType::I8, DType::F16, DType::F32];

/// A frame of noise with rows of multiples of 64 bytes.
fn noise(format: PixelFormat, (width, height): (usize, usize), seed: u64) -> TensorDyn {
    let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
    let memory = Memory::heap(layout.allocation_len(0)).unwrap();
    let frame = TensorDyn::from_image(layout, [memory], RW).unwrap();
    let mut state = seed | 1;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    frame.copy_from_flat(&(0..frame.flat_len()).map(byte).collect::<Vec<_>>()).unwrap();
    frame
}

/// One conversion, as far as it can be planned.
#[derive(Clone, Debug)]
struct Case {
    source: Source,
    spec: PreprocessSpec,
    wanted: Destination,
    options: ConvertOptions,
}

prop_compose! {
    fn source()(
        format in select(PixelFormat::ALL),
        size in (1_usize..90, 1_usize..60),
        encoding in select(ColorEncoding::ALL),
        range in select(ColorRange::ALL),
    ) -> Source {
        let colors = Colorimetry::default().with_encoding(encoding).with_range(range);
        Source::new(format, size.0, size.1).with_colorimetry(colors)
    }
}

prop_compose! {
    fn destination()(
        size in (1_usize..70, 1_usize..50),
        dtype in select(&DTYPES[..]),
        layout in select(TensorOrder::ALL),
        order in select(ChannelOrder::ALL),
    ) -> Destination {
        let wanted = Destination::new(size.0, size.1)
            .with_dtype(dtype).with_layout(layout).with_order(order);
        let less_128 = Quantization::per_tensor(1.0, -128).unwrap();
        if dtype == DType::I8 { wanted.with_quantization(less_128) } else { wanted }
    }
}

prop_compose! {
    fn case()(
        source in source(),
        wanted in destination(),
        interpolation in select(Interpolation::ALL),
        fit in select(FitMode::ALL),
        crop in prop::option::of((0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64)),
        threads in 1_usize..4,
    ) -> Case {
        let mut spec = PreprocessSpec::new();
        (spec.interpolation, spec.fit) = (interpolation, fit);
        spec.normalization = Normalization::raw();
        let part = |of: usize, from: f64, len: f64| {
            let from = (of as f64 * from) as usize;
            (from, 1 + ((of - from - 1) as f64 * len) as usize)
        };
        let crop = crop.map_or(Crop::Whole, |(x, y, width, height)| {
            let (x, width) = part(source.width, x, width);
            let (y, height) = part(source.height, y, height);
            Crop::Region(Region::new(x, y, width, height))
        });
        let options = ConvertOptions::default().with_crop(crop).with_threads(threads);
        Case { source, spec, wanted, options }
    }
}

impl Case {
    /// The input that `kernel` makes, in levels; `None` where the format cannot be sampled.
    fn levels(&self, frame: &TensorDyn, kernel: Kernel) -> Option<Vec<f32>> {
        let Self { source, spec, wanted, options } = self;
        let options = options.with_kernel(kernel);
        let mut converter = Converter::new(source, spec, wanted, &options).ok()?;
        let policy = AllocPolicy::default();
        let input = TensorDyn::new(&wanted.shape(), wanted.dtype, &policy, RW).unwrap();
        converter.run(frame, &input).unwrap();
        let mut flat = vec![0; input.flat_len()];
        input.copy_to_flat(&mut flat).unwrap();
        let halves = flat.as_chunks().0.iter().map(|half| f16::from_ne_bytes(*half).to_f32());
        let singles = flat.as_chunks().0.iter().map(|single| f32::from_ne_bytes(*single));
        Some(match wanted.dtype.size_bytes() {
            // Stored less 128.
            1 if wanted.dtype == DType::I8 => {
                flat.iter().map(|byte| f32::from(byte ^ 0x80)).collect()
            }
            1 => flat.iter().map(|byte| f32::from(*byte)).collect(),
            2 => halves.collect(),
            _ => singles.collect(),
        })
    }
}

#[test]
fn the_kernels_differ_by_a_level_at_most_and_seldom() {
    let counts = Cell::new((0_usize, 0_usize, 0_usize));
    let seeded = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::with_cases(1500), seeded);
    let result = runner.run(&(case(), any::<u64>()), |(case, seed)| {
        let Source { format, width, height, .. } = case.source;
        let frame = noise(format, (width, height), seed);
        let Some(fast) = case.levels(&frame, Kernel::Fast) else { return Ok(()) };
        let exact = case.levels(&frame, Kernel::Reference).unwrap();
        let apart = fast.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        // A sample that is no number is not within a level either.
        let furthest = apart.clone().fold(0.0, f32::max);
        prop_assert!(apart.clone().all(|apart| apart <= 1.0), "{furthest} {case:?}");
        let (cases, samples, differ) = counts.get();
        let more = apart.filter(|apart| *apart > 0.0).count();
        counts.set((cases + 1, samples + fast.len(), differ + more));
        Ok(())
    });
    result.unwrap();
    let (cases, samples, differ) = counts.get();
    assert!(cases > 600, "only {cases} could be planned");
    assert!(differ * 1000 < samples, "{differ} of {samples} samples differ");
    println!("{differ} of {samples} samples differ, in {cases} conversions");
}
