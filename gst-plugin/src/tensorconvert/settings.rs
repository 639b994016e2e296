//! The properties: one table of names, defaults and blurbs; and the model that one of them names.

use std::{cell::OnceCell, path::Path, sync::LazyLock};

use gst::{glib, prelude::*};
use tensor_core::{
    FitMode, Interpolation, LetterboxPlacement, PadSpace,
    convert::{ChannelOrder, MAX_SIDE, MAX_THREADS, TensorOrder},
};

use crate::model::{self, ModelError, ModelInput};

/// Properties that are text: name, default, what it is, the words it can be. What is empty is
/// answered by the model file, then by downstream's caps, then as said here.
const TEXTS: [(&str, &str, &str, &[&str]); 13] = [
    ("dtype", "", "Type of one sample; when empty and nobody else says, u8", &DTYPES),
    ("layout", "", "Order of axes; when empty and nobody else says, nhwc", TensorOrder::NAMES),
    ("order", "", "Channels; when empty as their count says", ChannelOrder::NAMES),
    ("fit", "letterbox", "How another aspect is fit", FitMode::NAMES),
    ("placement", "center", "Where a letterboxed image lies", LetterboxPlacement::NAMES),
    ("interpolation", "bilinear", "How samples between pixels are made", Interpolation::NAMES),
    ("pad-value", "114", "Padding of a letterbox: one number, or red,green,blue", &[]),
    ("pad-space", "pixel", "What pad-value is: 0 to 255, or as the model sees it", PadSpace::NAMES),
    ("mean", "", "Subtracted from pixel values of 0 to 255: one number, or red,green,blue", &[]),
    (
        "std",
        "",
        "Divides pixel values less mean: one number, or red,green,blue; with mean and std empty, \
         255, but 1 for u8 without scale",
        &[],
    ),
    (
        "scale",
        "",
        "Real value of one step of an integer sample, above 0; when empty as the model says, \
         else none",
        &[],
    ),
    (
        "crop",
        "",
        "Part of a frame that is taken: x,y,width,height (pixels of the frame, what its crop meta \
         leaves), or center for the greatest part that has the input's aspect; when empty, all",
        &[],
    ),
    (
        "model",
        "",
        "TensorFlow Lite or ONNX file, whose first input says size, dtype, layout and \
         quantization; read once, until it is set again or the element stops",
        &[],
    ),
];

/// Types of samples that a model's input is made of.
const DTYPES: [&str; 4] = ["u8", "i8", "f16", "f32"];

pub(super) static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
    let side = |name, side| {
        let most = u32::try_from(MAX_SIDE).unwrap_or(u32::MAX);
        let blurb =
            format!("{side} of the input (pixels; 0: as the model, downstream or the frame says)");
        glib::ParamSpecUInt::builder(name).blurb(&blurb).maximum(most).mutable_ready().build()
    };
    let mut all = vec![
        side("width", "Width"),
        side("height", "Height"),
        glib::ParamSpecInt::builder("zero-point")
            .blurb("The integer that stands for 0; of meaning with scale")
            .mutable_ready()
            .build(),
        glib::ParamSpecUInt::builder("threads")
            .blurb(
                "Threads that share out the rows of a frame; the streaming thread is one of them",
            )
            .minimum(1)
            .maximum(u32::try_from(MAX_THREADS).unwrap_or(1))
            .default_value(1)
            .mutable_ready()
            .build(),
    ];
    all.extend(TEXTS.iter().map(|(name, default, blurb, words)| {
        let words =
            if words.is_empty() { String::new() } else { format!(" ({})", words.join(" ")) };
        let blurb = format!("{blurb}{words}");
        let text = glib::ParamSpecString::builder(name).blurb(&blurb);
        text.default_value(Some(*default)).mutable_ready().build()
    }));
    all
});

/// The value of every property, in the table's order.
#[derive(Debug)]
pub(super) struct Settings {
    values: Vec<glib::SendValue>,
    /// What the file of `model` says, once it was read: caps are asked for many times.
    model: OnceCell<ModelInput>,
}

impl Default for Settings {
    fn default() -> Self {
        let values = PROPERTIES.iter().map(|spec| sendable(spec.default_value())).collect();
        Self { values, model: OnceCell::new() }
    }
}

impl Settings {
    pub(super) fn set(&mut self, name: &str, value: &glib::Value) {
        let place = PROPERTIES.iter().zip(&mut self.values).find(|(spec, _)| spec.name() == name);
        if let Some((_, place)) = place {
            *place = sendable(value);
        }
        if name == "model" {
            self.forget_model();
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&glib::SendValue> {
        let mut all = PROPERTIES.iter().zip(&self.values);
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

    /// The input of the model, if there is one. Its file is read now unless it was before.
    pub(super) fn model(&self) -> Result<Option<&ModelInput>, ModelError> {
        let (Some(path), None) = (self.text("model"), self.model.get()) else {
            return Ok(self.model.get());
        };
        let input = model::read(Path::new(path))?;
        Ok(Some(self.model.get_or_init(|| input)))
    }

    pub(super) fn forget_model(&mut self) {
        self.model.take();
    }
}

/// A property's value, free to go to another thread.
fn sendable(value: &glib::Value) -> glib::SendValue {
    let number = value.get::<u32>().map(|it| it.to_send_value());
    let number = number.or_else(|_| value.get::<i32>().map(|it| it.to_send_value()));
    number.unwrap_or_else(|_| value.get::<Option<String>>().ok().flatten().to_send_value())
}
