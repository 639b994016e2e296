//! The published crate's CPU path.

use edgefirst_image::{CPUProcessor, ConvertOptions, ImageProcessorTrait, Normalization};
use edgefirst_tensor::{
    CpuAccess, DType, PixelFormat, TensorDyn, TensorMapTrait, TensorMemory, TensorTrait,
};

use crate::cell::{Cell, Output, Work};

pub fn work(cell: &Cell, threads: usize) -> Option<Work> {
    if cell.area {
        return None;
    }
    let image = |(width, height), format, dtype| {
        let (memory, access) = (Some(TensorMemory::Mem), CpuAccess::ReadWrite);
        TensorDyn::image(width, height, format, dtype, memory, access).ok()
    };
    let source = image(cell.from, PixelFormat::Nv12, DType::U8)?;
    let bytes = cell.frame();
    source.as_u8()?.map().ok()?.as_mut_slice().get_mut(..bytes.len())?.copy_from_slice(&bytes);
    let (format, dtype) = match cell.output {
        Output::U8 => (PixelFormat::Rgb, DType::U8),
        Output::I8 => (PixelFormat::Rgb, DType::I8),
        Output::F32 => (PixelFormat::PlanarRgb, DType::F32),
    };
    let mut input = image(cell.to, format, dtype)?;
    let mut options = ConvertOptions::new();
    if cell.is_letterbox() {
        options = options.letterbox([114, 114, 114, 255]);
    }
    if cell.output == Output::F32 {
        options = options.normalization(Normalization::imagenet());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    let mut processor = CPUProcessor::new();
    if let Err(error) = processor.convert(&source, &mut input, Some(options)) {
        eprintln!("edgefirst-image, {}: {error}", cell.name);
        return None;
    }
    Some(Box::new(move |times| {
        pool.install(|| {
            for _ in 0..times {
                processor.convert(&source, &mut input, Some(options)).expect("converts");
            }
        });
    }))
}
