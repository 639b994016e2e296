//! tensor-core.

use tensor_core::{
    CpuAccess, DType, FitMode, Interpolation, Normalization, PixelFormat, PreprocessSpec,
    Quantization, TensorDyn,
    convert::{ConvertOptions, Converter, Destination, Kernel, Source, TensorOrder},
    memory::AllocPolicy,
};

use crate::cell::{Cell, Output, Work};

pub fn work(cell: &Cell, threads: usize, kernel: Kernel) -> Work {
    let mut spec = PreprocessSpec::new();
    spec.fit = if cell.is_letterbox() { FitMode::Letterbox } else { FitMode::Stretch };
    spec.interpolation = if cell.area { Interpolation::Area } else { Interpolation::Bilinear };
    spec.normalization = Normalization::raw();
    let wanted = Destination::new(cell.to.0, cell.to.1);
    let wanted = match cell.output {
        Output::U8 => wanted,
        Output::I8 => {
            let less_128 = Quantization::per_tensor(1.0, -128).expect("a scale");
            wanted.with_dtype(DType::I8).with_quantization(less_128)
        }
        Output::F32 => {
            spec.normalization = Normalization::imagenet();
            wanted.with_dtype(DType::F32).with_layout(TensorOrder::Nchw)
        }
    };
    let access = CpuAccess::ReadWrite;
    let frame = TensorDyn::image(PixelFormat::Nv12, cell.from.0, cell.from.1, access);
    let frame = frame.expect("memory");
    frame.copy_from_flat(&cell.frame()).expect("maps");
    let input = TensorDyn::new(&wanted.shape(), wanted.dtype, &AllocPolicy::default(), access);
    let input = input.expect("memory");
    let options = ConvertOptions::default().with_threads(threads).with_kernel(kernel);
    let source = Source::of(&frame).expect("an image");
    let mut converter = Converter::new(&source, &spec, &wanted, &options).expect("a plan");
    Box::new(move |times| {
        for _ in 0..times {
            converter.run(&frame, &input).expect("converts");
        }
    })
}
