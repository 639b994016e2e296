//! The properties: one table of names, defaults and blurbs.

use std::sync::LazyLock;

use gst::{glib, prelude::*};
use tensor_core::convert::MAX_SIDE;

/// Properties that are text, with defaults. What is empty is answered by the model file, then by
/// downstream's caps, then as said here.
const TEXTS: [(&str, &str, &str); 11] = [
    ("dtype", "", "Type of one sample: u8, i8, f16 or f32; when empty and nobody else says, u8"),
    ("layout", "", "Order of axes: nhwc or nchw; when empty and nobody else says, nhwc"),
    (
        "order",
        "",
        "Channels: rgb, bgr, grey, rgbx or bgrx; when empty as the count of channels says",
    ),
    ("fit", "letterbox", "How another aspect is fit: letterbox or stretch"),
    ("placement", "center", "Where a letterboxed image lies: center or topleft"),
    ("interpolation", "bilinear", "How samples between pixels are made: bilinear or nearest"),
    ("pad-value", "114", "Padding of a letterbox: one number, or red,green,blue"),
    (
        "pad-space",
        "pixel",
        "What pad-value is: pixel (0 to 255) or normalized (as the model sees it)",
    ),
    ("mean", "", "Subtracted from pixel values of 0 to 255: one number, or red,green,blue"),
    (
        "std",
        "",
        "Divides pixel values less mean: one number, or red,green,blue; with mean and std \
      empty, 255, but 1 for u8 without scale",
    ),
    (
        "model",
        "",
        "TensorFlow Lite or ONNX file, whose first input says size, dtype, layout and \
      quantization",
    ),
];

pub(super) static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
    let side = |name, blurb| {
        let most = u32::try_from(MAX_SIDE).unwrap_or(u32::MAX);
        glib::ParamSpecUInt::builder(name).blurb(blurb).maximum(most).mutable_ready().build()
    };
    let mut all = vec![
        side("width", "Width of the input (pixels; 0: as the model, downstream or the frame says)"),
        side(
            "height",
            "Height of the input (pixels; 0: as the model, downstream or the frame says)",
        ),
        glib::ParamSpecDouble::builder("scale")
            .blurb("Real value of one step of an integer sample (0: as the model says, or none)")
            .minimum(0.0)
            .mutable_ready()
            .build(),
        glib::ParamSpecInt::builder("zero-point")
            .blurb("The integer that stands for 0; of meaning with scale")
            .mutable_ready()
            .build(),
    ];
    all.extend(TEXTS.iter().map(|(name, default, blurb)| {
        let text = glib::ParamSpecString::builder(name).blurb(blurb);
        text.default_value(Some(*default)).mutable_ready().build()
    }));
    all
});

/// The value of every property, in the table's order.
#[derive(Debug)]
pub(super) struct Settings(Vec<glib::SendValue>);

impl Default for Settings {
    fn default() -> Self {
        Self(PROPERTIES.iter().map(|spec| sendable(spec.default_value())).collect())
    }
}

impl Settings {
    pub(super) fn set(&mut self, name: &str, value: &glib::Value) {
        let place = PROPERTIES.iter().zip(&mut self.0).find(|(spec, _)| spec.name() == name);
        if let Some((_, place)) = place {
            *place = sendable(value);
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&glib::SendValue> {
        let mut all = PROPERTIES.iter().zip(&self.0);
        all.find(|(spec, _)| spec.name() == name).map(|(_, value)| value)
    }

    /// The number of a property that has one.
    pub(super) fn get<T: for<'a> glib::value::FromValue<'a> + Default>(&self, name: &str) -> T {
        self.value(name).and_then(|value| value.get().ok()).unwrap_or_default()
    }

    /// The text of a property, without the spaces around it; `None` when empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let text = self.value(name)?.get::<Option<&str>>().ok()??.trim();
        (!text.is_empty()).then_some(text)
    }
}

/// A property's value, free to go to another thread.
fn sendable(value: &glib::Value) -> glib::SendValue {
    let number = value.get::<u32>().map(|it| it.to_send_value());
    let number = number.or_else(|_| value.get::<i32>().map(|it| it.to_send_value()));
    let number = number.or_else(|_| value.get::<f64>().map(|it| it.to_send_value()));
    number.unwrap_or_else(|_| value.get::<Option<String>>().ok().flatten().to_send_value())
}
