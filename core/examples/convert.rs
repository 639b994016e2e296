//! Raw frames in, model inputs out.
//!
//! Reads conversions from standard input, one a line, as words `key=value`:
//!
//! ```sh
//! echo "frame=in.nv12 format=NV12 size=1920x1080 out=in.f32 input=640x640 dtype=f32 layout=nchw" |
//!     cargo run -p tensor-core --example convert
//! ```
//!
//! A frame is its planes one after the other, without padding, and so is what is written. For each
//! line it prints where the image lies in the input, as `x y width height`.

#![allow(clippy::print_stdout, reason = "a program for a terminal")]

use std::{collections::HashMap, error::Error, fs, io, str::FromStr};

use tensor_core::{
    Colorimetry, CpuAccess, DType, FitMode, ImageLayout, Memory, Normalization,
    NormalizationPreset, PixelFormat, PreprocessSpec, Quantization, Region, StrideAlign, TensorDyn,
    convert::{ConvertOptions, Converter, Crop, Destination, Source, TensorOrder},
    memory::AllocPolicy,
};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    for line in io::stdin().lines() {
        let line = line?;
        let region = convert(&Words::of(&line)).map_err(|error| format!("{line}: {error}"))?;
        println!("{} {} {} {}", region.x, region.y, region.width, region.height);
    }
    Ok(())
}

/// The words of a line.
struct Words<'a>(HashMap<&'a str, &'a str>);

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        Self(line.split_whitespace().filter_map(|word| word.split_once('=')).collect())
    }

    fn text(&self, key: &str) -> Result<&'a str, Failure> {
        Ok(self.0.get(key).copied().ok_or_else(|| format!("{key}= is missing"))?)
    }

    /// The value of `key`, or else the default.
    fn or<T: FromStr<Err: Error + 'static>>(&self, key: &str, default: T) -> Result<T, Failure> {
        match self.0.get(key) {
            Some(text) => text.parse().map_err(|error| format!("{key}: {error}").into()),
            None => Ok(default),
        }
    }

    /// Numbers that `between` separates.
    fn numbers<T: FromStr<Err: Error + 'static>, const N: usize>(
        &self,
        key: &str,
        between: char,
    ) -> Result<Option<[T; N]>, Failure> {
        let Some(text) = self.0.get(key) else { return Ok(None) };
        let numbers = text.split(between).map(str::parse).collect::<Result<Vec<T>, _>>()?;
        let wrong = |_| format!("{key}: expected {N} numbers with {between} between them");
        Ok(Some(numbers.try_into().map_err(wrong)?))
    }

    fn size(&self, key: &str) -> Result<[usize; 2], Failure> {
        Ok(self.numbers(key, 'x')?.ok_or_else(|| format!("{key}= is missing"))?)
    }
}

fn convert(words: &Words<'_>) -> Result<Region, Failure> {
    let frame = frame(words)?;
    let wanted = destination(words)?;
    let options = ConvertOptions::default().with_crop(match words.0.get("crop") {
        None | Some(&"whole") => Crop::Whole,
        Some(&"center") => Crop::Center,
        Some(_) => {
            let numbers = words.numbers("crop", ',')?;
            let [x, y, width, height] = numbers.ok_or("crop= is missing")?;
            Crop::Region(Region::new(x, y, width, height))
        }
    });
    let options = options.with_kernel(words.or("kernel", options.kernel)?);
    let mut converter = Converter::new(&Source::of(&frame)?, &spec(words)?, &wanted, &options)?;
    let policy = AllocPolicy::default();
    let input = TensorDyn::new(&wanted.shape(), wanted.dtype, &policy, CpuAccess::ReadWrite)?;
    converter.run(&frame, &input)?;
    let mut flat = vec![0; input.flat_len()];
    input.copy_to_flat(&mut flat)?;
    fs::write(words.text("out")?, flat)?;
    Ok(converter.content_region().pixels())
}

/// The frame of the file, in rows of a multiple of `align` bytes.
fn frame(words: &Words<'_>) -> Result<TensorDyn, Failure> {
    let format = words.text("format")?;
    let format = PixelFormat::from_name(format).ok_or_else(|| format!("no format {format}"))?;
    let [width, height] = words.size("size")?;
    let align = StrideAlign::new(words.or("align", 1)?)?;
    let layout = ImageLayout::packed(format, width, height, align)?;
    let memory = Memory::heap(layout.allocation_len(0))?;
    let mut colors = Colorimetry::default();
    if words.0.contains_key("encoding") {
        colors = colors.with_encoding(words.text("encoding")?.parse()?);
    }
    if words.0.contains_key("range") {
        colors = colors.with_range(words.text("range")?.parse()?);
    }
    let frame = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite)?;
    frame.copy_from_flat(&fs::read(words.text("frame")?)?)?;
    Ok(frame.with_colorimetry(colors))
}

fn spec(words: &Words<'_>) -> Result<PreprocessSpec, Failure> {
    let mut spec = PreprocessSpec::new();
    let raw = NormalizationPreset::Raw;
    spec.normalization = Normalization::preset(words.or("normalization", raw)?);
    spec.fit = words.or("fit", FitMode::Letterbox)?;
    spec.placement = words.or("placement", spec.placement)?;
    spec.interpolation = words.or("interpolation", spec.interpolation)?;
    spec.pad = words.numbers("pad", ',')?.unwrap_or(spec.pad);
    spec.pad_space = words.or("pad-space", spec.pad_space)?;
    Ok(spec)
}

fn destination(words: &Words<'_>) -> Result<Destination, Failure> {
    let [width, height] = words.size("input")?;
    let wanted = Destination::new(width, height)
        .with_dtype(words.or("dtype", DType::U8)?)
        .with_layout(words.or("layout", TensorOrder::default())?);
    let wanted = match words.0.get("order") {
        Some(order) => wanted.with_order(order.parse()?),
        None => wanted,
    };
    let Some([scale]) = words.numbers("scale", ',')? else { return Ok(wanted) };
    let quantization = Quantization::per_tensor(scale, words.or("zero-point", 0)?)?;
    Ok(wanted.with_quantization(quantization))
}
