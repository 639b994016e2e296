//! Caps of one pad, of those of the other.

use gst_video::{VideoColorMatrix, VideoColorRange, VideoColorimetry, VideoInfo};
use tensor_core::{
    ColorRange, Colorimetry, DType, PixelFormat, Shape,
    convert::{ChannelOrder, Destination, MAX_SIDE, TensorOrder},
    layout::StridedLayout,
};

use super::{
    output::Form,
    wish::{Wish, WishError},
};
use crate::{tensor_caps, tensorimport::caps, video_layout};

/// Raw video that an input of bytes is.
const IMAGES: [(PixelFormat, TensorOrder, ChannelOrder); 7] = [
    (PixelFormat::Rgb, TensorOrder::Nhwc, ChannelOrder::Rgb),
    (PixelFormat::Bgr, TensorOrder::Nhwc, ChannelOrder::Bgr),
    (PixelFormat::Rgbx, TensorOrder::Nhwc, ChannelOrder::Rgbx),
    (PixelFormat::Bgrx, TensorOrder::Nhwc, ChannelOrder::Bgrx),
    (PixelFormat::Grey, TensorOrder::Nhwc, ChannelOrder::Grey),
    (PixelFormat::PlanarRgb, TensorOrder::Nchw, ChannelOrder::Rgb),
    (PixelFormat::PlanarBgr, TensorOrder::Nchw, ChannelOrder::Bgr),
];

const VIDEO: &str = "video/x-raw";

/// Frames, as `tensorimport` takes them.
pub(super) fn sink_template() -> gst::Caps {
    caps::template()
}

/// One static tensor of any dtype and shape, or an image.
pub(super) fn src_template() -> gst::Caps {
    src_caps(&Wish::default())
}

/// `template` at the framerates of `caps`.
pub(super) fn at_framerates_of(template: &gst::Caps, caps: &gst::CapsRef) -> gst::Caps {
    let mut all = gst::Caps::new_empty();
    for structure in caps.iter() {
        let mut one = template.clone();
        if let Ok(rate) = structure.value("framerate") {
            let rate = rate.to_owned();
            one.make_mut().iter_mut().for_each(|to| to.set_value("framerate", rate.clone()));
        }
        all.merge(one);
    }
    all
}

/// What `wish` leaves of the source's template.
pub(super) fn src_caps(wish: &Wish) -> gst::Caps {
    let mut caps = tensors(wish);
    if let Some(video) = video(wish) {
        caps.make_mut().append_structure(video);
    }
    caps
}

fn tensors(wish: &Wish) -> gst::Caps {
    let known = wish.destination([1, 1]);
    let types = wish.dtype.and_then(tensor_caps::type_name);
    let mut caps = tensor_caps::fixed(1).field_if_some("types", types).build();
    let is_sized = wish.width.is_some() && wish.height.is_some();
    // A batch of one and a single image are the same bytes; NNStreamer writes either.
    if is_sized && wish.layout.is_some() && wish.order.is_some() {
        let shapes = [batch_of_one(&known), known.shape()];
        let dimensions = gst::List::new(shapes.map(|it| tensor_caps::dimensions(&it)));
        caps.make_mut().set("dimensions", dimensions);
    }
    caps
}

/// Raw video of bytes, as far as the running GStreamer has it.
fn video(wish: &Wish) -> Option<gst::Structure> {
    if wish.dtype.is_some_and(|dtype| dtype != DType::U8) || wish.quantization.is_some() {
        return None;
    }
    let is_wished = |(_, layout, order): &&(PixelFormat, TensorOrder, ChannelOrder)| {
        wish.layout.is_none_or(|wished| wished == *layout)
            && wish.order.is_none_or(|wished| wished == *order)
    };
    let formats = IMAGES.iter().filter(is_wished).filter_map(|(format, ..)| {
        video_layout::video_format(*format).map(|format| format.to_str().as_str())
    });
    let formats: Vec<_> = formats.collect();
    let mut caps = gst::Structure::new_empty(VIDEO);
    match formats.as_slice() {
        [] => return None,
        [format] => caps.set("format", *format),
        _ => caps.set("format", gst::List::new(formats)),
    }
    for (name, side) in [("width", wish.width), ("height", wish.height)] {
        match side.and_then(|side| i32::try_from(side).ok()) {
            Some(side) => caps.set(name, side),
            None => caps.set(name, gst::IntRange::new(1, i32::try_from(MAX_SIDE).unwrap_or(1))),
        }
    }
    Some(caps)
}

/// The shape of a batch that is one input.
pub(super) fn batch_of_one(destination: &Destination) -> Shape {
    let dims: Vec<_> = std::iter::once(1).chain(destination.shape().iter().copied()).collect();
    Shape::new(&dims).unwrap_or_else(|| destination.shape())
}

/// What `caps`, the first of which need not be fixed, say of the input.
pub(super) fn wish_of_caps(caps: &gst::CapsRef, own: &Wish) -> Wish {
    let Some(first) = caps.structure(0) else { return Wish::default() };
    if first.name() == VIDEO {
        return wish_of_video(first);
    }
    let shape = text(first, "dimensions").and_then(|dims| tensor_caps::shape(&dims));
    let of_shape = shape.and_then(|shape| Wish::of_shape(&shape, own.layout)).unwrap_or_default();
    let dtype: Option<DType> = text(first, "types").and_then(|name| tensor_caps::dtype(&name));
    Wish { dtype, ..of_shape }
}

fn wish_of_video(video: &gst::StructureRef) -> Wish {
    let side = |name| video.get::<i32>(name).ok().and_then(|side| usize::try_from(side).ok());
    let format = text(video, "format").and_then(|name| PixelFormat::from_gst_name(&name));
    let row = IMAGES.iter().find(|(known, ..)| Some(*known) == format);
    Wish {
        width: side("width"),
        height: side("height"),
        dtype: Some(DType::U8),
        layout: row.map(|(_, layout, _)| *layout),
        order: row.map(|(.., order)| *order),
        quantization: None,
    }
}

/// The text of a field, the first of a list.
fn text(structure: &gst::StructureRef, name: &str) -> Option<String> {
    let value = structure.value(name).ok()?;
    let first_of = |list: gst::List| list.first().and_then(|one| one.get().ok());
    value.get::<String>().ok().or_else(|| value.get::<gst::List>().ok().and_then(first_of))
}

/// Fills in what `first` leaves open of `input`, made of `frames`; what it says is kept, so that what
/// does not fit is refused.
pub(super) fn fixate(first: &mut gst::StructureRef, input: &Destination, frames: &VideoInfo) {
    if first.name() == VIDEO {
        return fixate_video(first, input, frames);
    }
    let full = tensor_caps::caps(input.dtype, &batch_of_one(input), gst::Fraction::new(0, 1));
    for field in ["types", "dimensions"] {
        let value = full.structure(0).and_then(|full| full.value(field).ok());
        if let (false, Some(value)) = (first.has_field(field), value) {
            first.set_value(field, value.to_owned());
        }
    }
}

fn fixate_video(first: &mut gst::StructureRef, input: &Destination, frames: &VideoInfo) {
    for (name, side) in [("width", input.width), ("height", input.height)] {
        first.fixate_field_nearest_int(name, i32::try_from(side).unwrap_or(i32::MAX));
    }
    if let Some(format) = image_format(input).and_then(video_layout::video_format) {
        first.fixate_field_str("format", format.to_str());
    }
    if !first.has_field("colorimetry") {
        let colors = frames.colorimetry();
        let is_grey = input.order == ChannelOrder::Grey;
        let matrix = if is_grey { colors.matrix() } else { VideoColorMatrix::Rgb };
        let (transfer, primaries) = (colors.transfer(), colors.primaries());
        let range = VideoColorRange::Range0_255;
        let colors = VideoColorimetry::new(range, matrix, transfer, primaries);
        first.set("colorimetry", colors.to_string());
    }
}

/// What is left of the colours of `frames` in an input: full range, and RGB has no matrix.
pub(super) fn colors(frames: Colorimetry, input: &Destination) -> Colorimetry {
    let encoding = frames.encoding.filter(|_| input.order == ChannelOrder::Grey);
    Colorimetry { encoding, range: Some(ColorRange::Full), ..frames }
}

/// The image that an input is, if it is one.
fn image_format(input: &Destination) -> Option<PixelFormat> {
    let is_raw = input.dtype == DType::U8 && input.quantization.is_none();
    let of = |(_, layout, order): &&(PixelFormat, TensorOrder, ChannelOrder)| {
        (*layout, *order) == (input.layout, input.order)
    };
    IMAGES.iter().find(of).filter(|_| is_raw).map(|(format, ..)| *format)
}

/// The form that buffers of fixed `caps` have, which must be those of `input`.
pub(super) fn form(caps: &gst::CapsRef, input: &Destination) -> Result<Form, WishError> {
    if caps.structure(0).is_some_and(|first| first.name() == VIDEO) {
        let info = video_layout::info_from_caps(caps)?;
        let image = video_layout::layout_from_info(&info)?;
        let is_it = Some(image.format()) == image_format(input)
            && (image.width(), image.height()) == (input.width, input.height);
        return if is_it { Ok(Form::Image(image, info.size())) } else { Err(other(caps, input)) };
    }
    let (dtype, shape) = tensor_caps::parse(caps)?;
    let is_it = dtype == input.dtype && [batch_of_one(input), input.shape()].contains(&shape);
    if !is_it {
        return Err(other(caps, input));
    }
    Ok(Form::Tensor(StridedLayout::dense(&input.shape(), dtype.size_bytes())?))
}

fn other(caps: &gst::CapsRef, input: &Destination) -> WishError {
    let (order, layout, dtype) = (input.order, input.layout, input.dtype);
    let wanted = format!("{}x{} {order} {layout} {dtype}", input.width, input.height);
    WishError::Negotiated { caps: caps.to_string(), wanted }
}
