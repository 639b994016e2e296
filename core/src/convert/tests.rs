use half::f16;

use super::*;
use crate::{
    CpuAccess, DType, FitMode, ImageLayout, Interpolation, Memory, Normalization, PadSpace,
    PixelFormat, PreprocessSpec, Quantization, Region, Shape, StrideAlign, TensorDyn,
    memory::AllocPolicy, quantization::AffineParams,
};

const RW: CpuAccess = CpuAccess::ReadWrite;

/// Pixel values as they are, the whole destination filled.
fn plain() -> PreprocessSpec {
    PreprocessSpec {
        normalization: Normalization::raw(),
        fit: FitMode::Stretch,
        ..PreprocessSpec::default()
    }
}

fn frame(format: PixelFormat, width: usize, height: usize) -> TensorDyn {
    let layout = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
    let memories = [Memory::heap(layout.allocation_len(0)).unwrap()];
    let frame = TensorDyn::from_image(layout, memories, RW).unwrap();
    let noise = (0..frame.flat_len()).map(|n| (n * 89 + n / 7 * 31 + n * n % 13) as u8);
    frame.copy_from_flat(&noise.collect::<Vec<_>>()).unwrap();
    frame
}

fn filled(format: PixelFormat, codes: &[u8]) -> TensorDyn {
    let layout = ImageLayout::packed(format, 8, 8, StrideAlign::NONE).unwrap();
    let memory = Memory::heap(layout.allocation_len(0)).unwrap();
    let frame = TensorDyn::from_image(layout, [memory], RW).unwrap();
    let mut flat = Vec::new();
    for (plane, code) in format.planes().iter().zip(codes.chunks(2)) {
        let len = plane.row_bytes(8).unwrap() * plane.rows(8);
        flat.extend(code.iter().copied().cycle().take(len));
    }
    frame.copy_from_flat(&flat).unwrap();
    frame
}

fn input(destination: &Destination) -> TensorDyn {
    TensorDyn::new(&destination.shape(), destination.dtype, &AllocPolicy::default(), RW).unwrap()
}

fn bytes(frame: &TensorDyn, spec: &PreprocessSpec, destination: &Destination) -> Vec<u8> {
    let source = Source::of(frame).unwrap();
    let mut converter =
        Converter::new(&source, spec, destination, &ConvertOptions::default()).unwrap();
    let input = input(destination);
    converter.run(frame, &input).unwrap();
    flat(&input)
}

fn flat(tensor: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).unwrap();
    flat
}

#[test]
fn one_colour_is_the_exact_matrix_in_every_matrix_and_range() {
    use crate::{ColorEncoding, ColorRange, Colorimetry, colorimetry::ColorTransform};
    for encoding in ColorEncoding::ALL.iter().copied() {
        for range in ColorRange::ALL.iter().copied() {
            let exact = ColorTransform::ycbcr_to_rgb(encoding, range, 8).unwrap();
            for codes in
                [[81, 90, 240], [235, 128, 128], [16, 128, 128], [145, 54, 34], [0, 255, 0]]
            {
                let colors = Colorimetry::default().with_encoding(encoding).with_range(range);
                let frame = filled(PixelFormat::Nv12, &[codes[0], codes[0], codes[1], codes[2]])
                    .with_colorimetry(colors);
                let got = bytes(&frame, &plain(), &Destination::new(8, 8));
                let expected = exact.codes(codes.map(u32::from)).unwrap();
                let got: [u32; 3] = [got[0], got[1], got[2]].map(u32::from);
                assert_eq!(got, expected, "{encoding} {range} {codes:?}");
            }
        }
    }
}

#[test]
fn a_frame_of_the_same_size_and_order_is_copied() {
    let source = frame(PixelFormat::Rgb, 13, 7);
    for interpolation in Interpolation::ALL.iter().copied() {
        let spec = PreprocessSpec { interpolation, ..plain() };
        assert_eq!(bytes(&source, &spec, &Destination::new(13, 7)), flat(&source));
        let bgr = bytes(&source, &spec, &Destination::new(13, 7).with_order(ChannelOrder::Bgr));
        let swapped = flat(&source).chunks(3).flat_map(|p| [p[2], p[1], p[0]]).collect::<Vec<_>>();
        assert_eq!(bgr, swapped);
    }
}

#[test]
fn planes_first_and_last_hold_the_same_samples_in_every_dtype() {
    let source = frame(PixelFormat::I420, 33, 17);
    let spec = PreprocessSpec { normalization: Normalization::imagenet(), ..plain() };
    let affine = AffineParams { scale: 0.02, zero_point: 3 };
    let quantized = Quantization::per_tensor(affine.scale, affine.zero_point).unwrap();
    let floats = Destination::new(20, 12).with_dtype(DType::F32);
    let reals = bytes(&source, &spec, &floats);
    let reals: Vec<f32> =
        reals.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect();
    let planar = bytes(&source, &spec, &floats.clone().with_layout(TensorOrder::Nchw));
    for (index, real) in
        planar.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).enumerate()
    {
        let (channel, pixel) = (index / 240, index % 240);
        assert_eq!(real, reals[pixel * 3 + channel]);
    }
    let halves = bytes(&source, &spec, &floats.clone().with_dtype(DType::F16));
    let halves = halves.chunks(2).map(|b| f16::from_ne_bytes(b.try_into().unwrap()));
    assert!(halves.eq(reals.iter().copied().map(f16::from_f32)));
    let i8s = floats.with_dtype(DType::I8).with_quantization(quantized);
    let i8s = bytes(&source, &spec, &i8s);
    assert!(i8s.iter().map(|b| *b as i8).eq(reals.iter().map(|real| affine.quantize::<i8>(*real))));
}

#[test]
fn padding_is_the_colour_asked_for_in_either_space_and_nowhere_else() {
    let source = filled(PixelFormat::Grey, &[200, 200]);
    let mut spec = PreprocessSpec { fit: FitMode::Letterbox, ..plain() };
    spec.pad = [1.0, 2.0, 3.0];
    let got = bytes(&source, &spec, &Destination::new(12, 8));
    for (index, pixel) in got.chunks(3).enumerate() {
        let inside = (2..10).contains(&(index % 12));
        assert_eq!(pixel, if inside { [200; 3] } else { [1, 2, 3] }, "{index}");
    }
    spec.normalization = Normalization::signed();
    (spec.pad, spec.pad_space) = ([0.5; 3], PadSpace::Normalized);
    let floats = Destination::new(12, 8).with_dtype(DType::F32);
    assert_eq!(bytes(&source, &spec, &floats)[..4], 0.5_f32.to_ne_bytes());
}

#[test]
fn a_slot_of_a_batch_is_written_and_its_neighbours_are_not() {
    let source = frame(PixelFormat::Yuyv, 32, 18);
    let wanted = Destination::new(16, 16);
    let shape = Shape::new(&[3, 16, 16, 3]).unwrap();
    let batch = TensorDyn::new(&shape, DType::U8, &AllocPolicy::default(), RW).unwrap();
    let described = Source::of(&source).unwrap();
    let mut converter =
        Converter::new(&described, &plain(), &wanted, &ConvertOptions::default()).unwrap();
    converter.run(&source, &batch.batch(1).unwrap()).unwrap();
    let all = flat(&batch);
    let (first, rest) = all.split_at(768);
    assert_eq!(&rest[..768], bytes(&source, &plain(), &wanted));
    assert!(first.iter().chain(&rest[768..]).all(|byte| *byte == 0));
    let whole = converter.run(&source, &batch).unwrap_err();
    assert!(matches!(whole, RunError::Shape { .. }), "{whole}");
}

#[test]
fn padded_rows_of_an_image_keep_their_padding() {
    let source = frame(PixelFormat::Nv12, 30, 18);
    let wanted = Destination::new(10, 6);
    let image = TensorDyn::image_with_stride(PixelFormat::Rgb, 10, 6, 64, RW).unwrap();
    image.map_mut().unwrap().memory_mut(0).unwrap().fill(7);
    let described = Source::of(&source).unwrap();
    let mut converter =
        Converter::new(&described, &plain(), &wanted, &ConvertOptions::default()).unwrap();
    converter.run(&source, &image).unwrap();
    assert_eq!(flat(&image), bytes(&source, &plain(), &wanted));
    let map = image.map_read().unwrap();
    assert!(map.memory(0).unwrap()[30..64].iter().all(|byte| *byte == 7));
}

#[test]
fn what_cannot_be_is_refused_when_planned() {
    let source = Source::new(PixelFormat::Nv12, 64, 36);
    let refuse =
        |source: &Source, spec: &PreprocessSpec, to: &Destination, options: &ConvertOptions| {
            Converter::new(source, spec, to, options).unwrap_err()
        };
    let (to, options) = (Destination::new(8, 8), ConvertOptions::default());
    let empty = refuse(&source, &plain(), &Destination::new(0, 8), &options);
    assert_eq!(empty, ConvertError::Size { what: "destination", width: 0, height: 8 });
    for crop in
        [Region::new(60, 0, 8, 8), Region::new(0, 0, 0, 4), Region::new(usize::MAX, 0, 2, 2)]
    {
        let options = options.with_crop(Crop::Region(crop));
        let error = refuse(&source, &plain(), &to, &options);
        assert_eq!(error, ConvertError::Crop { crop, width: 64, height: 36 });
    }
    let spec = PreprocessSpec { pad: [0.0, f32::NAN, 0.0], ..plain() };
    let error = refuse(&source, &spec, &to, &options);
    assert!(matches!(error, ConvertError::Pad { channel: 1, .. }), "{error}");
    let unquantized = refuse(&source, &PreprocessSpec::default(), &to, &options);
    assert_eq!(unquantized, ConvertError::Unquantized { dtype: DType::U8 });
    let wide = refuse(&source, &plain(), &to.clone().with_dtype(DType::I64), &options);
    assert_eq!(wide, ConvertError::DType { dtype: DType::I64 });
    let wanted = PreprocessSpec { size: Some((9, 8)), ..plain() };
    let error = refuse(&source, &wanted, &to, &options).to_string();
    assert_eq!(error, "the model's input is 9x8 pixels, the destination 8x8");
    let bayer = refuse(&Source::new(PixelFormat::BayerRggb8, 64, 36), &plain(), &to, &options);
    assert!(bayer.to_string().contains("debayer"), "{bayer}");
}

#[test]
fn what_was_not_planned_for_is_refused_when_run() {
    let planned = frame(PixelFormat::Rgb, 8, 8);
    let described = Source::of(&planned).unwrap();
    let to = Destination::new(8, 8);
    let mut converter =
        Converter::new(&described, &plain(), &to, &ConvertOptions::default()).unwrap();
    let other = converter.run(&frame(PixelFormat::Rgb, 8, 9), &input(&to)).unwrap_err();
    assert_eq!(other.to_string(), "planned for frames of rgb8 8x8, got rgb8 8x9");
    let dtype = converter.run(&planned, &input(&to.clone().with_dtype(DType::F32)));
    assert!(matches!(dtype, Err(RunError::DType { got: DType::F32, .. })));
    let bgr = TensorDyn::image(PixelFormat::Bgr, 8, 8, RW).unwrap();
    assert!(matches!(converter.run(&planned, &bgr), Err(RunError::Format { .. })));
    assert!(matches!(converter.run(&planned, &planned), Err(RunError::InPlace)));
}

#[test]
fn a_new_plan_makes_what_a_new_converter_does_and_a_refused_one_changes_nothing() {
    let (spec, wanted) = (plain(), Destination::new(20, 10));
    let options = ConvertOptions::default().with_threads(2);
    let (large, small) = (frame(PixelFormat::Rgb, 40, 30), frame(PixelFormat::Rgb, 16, 12));
    let planned = Source::of(&large).unwrap();
    let mut converter = Converter::new(&planned, &spec, &wanted, &options).unwrap();
    let nothing = Source { width: 0, ..planned };
    assert!(converter.replan(&nothing, &spec, &options).is_err());
    let no_threads = options.with_threads(0);
    assert!(converter.replan(&planned, &spec, &no_threads).is_err());
    let input = input(&wanted);
    converter.run(&large, &input).unwrap();
    assert_eq!(flat(&input), bytes(&large, &spec, &wanted));
    for threads in [2, 3, 1] {
        let options = options.with_threads(threads);
        converter.replan(&Source::of(&small).unwrap(), &spec, &options).unwrap();
        converter.run(&small, &input).unwrap();
        assert_eq!(flat(&input), bytes(&small, &spec, &wanted), "{threads} threads");
    }
}

#[test]
fn any_number_of_threads_makes_the_same_input() {
    let source = frame(PixelFormat::Nv12, 47, 33);
    let described = Source::of(&source).unwrap();
    let spec = PreprocessSpec { fit: FitMode::Letterbox, ..plain() };
    let batch = Shape::new(&[2, 21, 21, 3]).unwrap();
    for layout in TensorOrder::ALL.iter().copied() {
        let wanted = Destination::new(21, 21).with_layout(layout);
        let alone = bytes(&source, &spec, &wanted);
        for threads in [2, 3, 7, MAX_THREADS] {
            let options = ConvertOptions::default().with_threads(threads);
            let mut converter = Converter::new(&described, &spec, &wanted, &options).unwrap();
            for _ in 0..3 {
                let input = input(&wanted);
                converter.run(&source, &input).unwrap();
                assert_eq!(flat(&input), alone, "{threads} {layout}");
            }
            if layout == TensorOrder::Nhwc {
                let batch = TensorDyn::new(&batch, DType::U8, &AllocPolicy::default(), RW).unwrap();
                converter.run(&source, &batch.batch(1).unwrap()).unwrap();
                assert!(flat(&batch)[..alone.len()].iter().all(|byte| *byte == 0));
                assert_eq!(flat(&batch)[alone.len()..], alone);
            }
        }
    }
    for (width, height) in [(5, 1), (1, 17)] {
        let wanted = Destination::new(width, height);
        let options = ConvertOptions::default().with_threads(MAX_THREADS);
        let mut converter = Converter::new(&described, &spec, &wanted, &options).unwrap();
        let input = input(&wanted);
        converter.run(&source, &input).unwrap();
        assert_eq!(flat(&input), bytes(&source, &spec, &wanted));
    }
    for threads in [0, MAX_THREADS + 1] {
        let options = ConvertOptions::default().with_threads(threads);
        let error = Converter::new(&described, &spec, &Destination::new(8, 8), &options);
        assert_eq!(error.unwrap_err(), ConvertError::Threads { threads });
    }
}

#[test]
fn planes_that_lie_in_each_other_are_refused() {
    use crate::{layout::StridedLayout, tensor::Layout};
    let source = frame(PixelFormat::Rgb, 16, 9);
    let wanted = Destination::new(16, 9).with_layout(TensorOrder::Nchw);
    let rows = StridedLayout::dense(&Shape::new(&[9, 3, 16]).unwrap(), 1).unwrap();
    let layout = Layout::Strided(rows.transpose(0, 1).unwrap());
    let memory = Memory::heap(rows.required_len()).unwrap();
    let input = TensorDyn::from_memories(layout, DType::U8, [memory], RW).unwrap();
    let described = Source::of(&source).unwrap();
    let options = ConvertOptions::default();
    let mut converter = Converter::new(&described, &plain(), &wanted, &options).unwrap();
    let error = converter.run(&source, &input).unwrap_err();
    assert_eq!(error.to_string(), "destination strides: its planes lie in each other");
}

#[test]
fn wider_vectors_change_no_byte() {
    for format in [PixelFormat::Nv12, PixelFormat::Rgb, PixelFormat::P010, PixelFormat::Yuyv] {
        let source = frame(format, 131, 77);
        let described = Source::of(&source).unwrap();
        for interpolation in Interpolation::ALL.iter().copied() {
            let spec = PreprocessSpec { interpolation, ..plain() };
            let wanted = Destination::new(67, 41).with_layout(TensorOrder::Nchw);
            let options = ConvertOptions::default();
            let plan = plan::Plan::new(&described, &spec, &wanted, &options).unwrap();
            let fast = plan.fast.as_ref().unwrap();
            let (map, mut scratch) = (source.map_read().unwrap(), fast.scratch());
            let planes: Vec<_> = map.planes().collect();
            let chosen = bytes(&source, &spec, &wanted);
            for y in 0..41 {
                let mut pixels = vec![0; 3 * 67];
                fast.row(&planes, y, &mut scratch, &mut pixels);
                for (channel, pixels) in pixels.chunks(67).enumerate() {
                    let row = (channel * 41 + y) * 67;
                    assert_eq!(chosen[row..row + 67], *pixels, "{format} {interpolation} {y}");
                }
            }
        }
    }
}
