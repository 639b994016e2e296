//! The element's properties: what they are called, what they take, and what they come to.

use std::sync::LazyLock;

use gst::{glib, prelude::*};
use tensor_core::{
    Colorimetry, CpuAccess, Quantization, colorimetry::UnknownColorimetry,
    import_cache::DEFAULT_CAPACITY,
};
use thiserror::Error;

use super::{
    choices::{Access, Attach, Fallback},
    quantization::{QuantizationFieldError, quantization},
};

/// The properties as they were set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    cache_size: u32,
    fallback: Fallback,
    access: Access,
    attach: Attach,
    colorimetry: Option<String>,
    quantization: Option<gst::Structure>,
    pub(super) stats_interval: u64,
}

/// What the properties come to while the element runs.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) cache_size: usize,
    pub(super) fallback: Fallback,
    pub(super) access: CpuAccess,
    pub(super) attach: Attach,
    /// What the caps are overruled by.
    pub(super) colorimetry: Option<Colorimetry>,
    pub(super) quantization: Option<Quantization>,
    /// Frames from one message to the next, 0 for none.
    pub(super) stats_interval: u64,
}

/// A property whose value means nothing.
#[derive(Debug, Error)]
pub(super) enum SettingsError {
    #[error(transparent)]
    Colorimetry(#[from] UnknownColorimetry),
    #[error(transparent)]
    Quantization(#[from] QuantizationFieldError),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache_size: u32::try_from(DEFAULT_CAPACITY).unwrap_or(u32::MAX),
            fallback: Fallback::default(),
            access: Access::default(),
            attach: Attach::default(),
            colorimetry: None,
            quantization: None,
            stats_interval: 0,
        }
    }
}

impl Settings {
    /// What the values mean.
    pub(super) fn options(&self) -> Result<Options, SettingsError> {
        let colorimetry = self.colorimetry.as_deref().map(Colorimetry::from_gstreamer);
        Ok(Options {
            cache_size: usize::try_from(self.cache_size).unwrap_or(usize::MAX),
            fallback: self.fallback,
            access: self.access.into(),
            attach: self.attach,
            colorimetry: colorimetry.transpose()?,
            quantization: self.quantization.as_ref().map(quantization).transpose()?,
            stats_interval: self.stats_interval,
        })
    }

    /// Takes the value of a property, which is of its type.
    pub(super) fn set(&mut self, name: &str, value: &glib::Value) {
        match name {
            "cache-size" => take(&mut self.cache_size, value),
            "fallback" => take(&mut self.fallback, value),
            "cpu-access" => take(&mut self.access, value),
            "attach" => take(&mut self.attach, value),
            "colorimetry" => take(&mut self.colorimetry, value),
            "quantization" => take(&mut self.quantization, value),
            "stats-interval" => take(&mut self.stats_interval, value),
            _ => (),
        }
    }

    /// The value of a property; `None` for one that is not set.
    pub(super) fn get(&self, name: &str) -> Option<glib::Value> {
        Some(match name {
            "cache-size" => self.cache_size.to_value(),
            "fallback" => self.fallback.to_value(),
            "cpu-access" => self.access.to_value(),
            "attach" => self.attach.to_value(),
            "colorimetry" => self.colorimetry.to_value(),
            "quantization" => self.quantization.to_value(),
            "stats-interval" => self.stats_interval.to_value(),
            _ => return None,
        })
    }
}

fn take<'v, T: glib::value::FromValue<'v>>(place: &mut T, value: &'v glib::Value) {
    if let Ok(value) = value.get() {
        *place = value;
    }
}

/// All properties of the element.
pub(super) fn properties() -> &'static [glib::ParamSpec] {
    static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> =
        LazyLock::new(|| [choices(), numbers(), descriptions()].concat());
    &PROPERTIES
}

fn choices() -> Vec<glib::ParamSpec> {
    vec![
        glib::ParamSpecEnum::builder_with_default("fallback", Fallback::default())
            .nick("Fallback")
            .blurb(
                "What becomes of a frame that is in other memory than a dma-buf, or that cannot be \
                 described where it lies",
            )
            .mutable_ready()
            .build(),
        glib::ParamSpecEnum::builder_with_default("cpu-access", Access::default())
            .nick("CPU access")
            .blurb("What the CPU may do with the bytes of a tensor; devices are not bound by it")
            .mutable_ready()
            .build(),
        glib::ParamSpecFlags::builder::<Attach>("attach")
            .nick("Attach")
            .blurb("Metas to put on each frame")
            .default_value(Attach::default())
            .mutable_ready()
            .build(),
    ]
}

fn numbers() -> Vec<glib::ParamSpec> {
    let default = Settings::default();
    vec![
        glib::ParamSpecUInt::builder("cache-size")
            .nick("Cache size")
            .blurb("Most imported buffers remembered at once, the oldest are forgotten (buffers)")
            .minimum(1)
            .default_value(default.cache_size)
            .mutable_ready()
            .build(),
        glib::ParamSpecUInt64::builder("stats-interval")
            .nick("Statistics interval")
            .blurb(
                "Frames from one tensor-stats element message to the next, and one at EOS; \
                 0 for none (frames)",
            )
            .default_value(default.stats_interval)
            .mutable_playing()
            .build(),
        glib::ParamSpecBoxed::builder::<gst::Structure>("stats")
            .nick("Statistics")
            .blurb(
                "Since the start: frames, imports, hits, copies, evictions (counts); live \
                 (imported buffers held now); pinned-bytes, copied-bytes (bytes); memory (kind \
                 of the last frame's)",
            )
            .read_only()
            .build(),
    ]
}

fn descriptions() -> Vec<glib::ParamSpec> {
    vec![
        glib::ParamSpecString::builder("colorimetry")
            .nick("Colorimetry")
            .blurb(
                "Colours of the frames, whatever the caps say: a name such as bt709, or \
                 range:matrix:transfer:primaries in GStreamer's numbers (unset: those of the caps)",
            )
            .mutable_ready()
            .build(),
        glib::ParamSpecBoxed::builder::<gst::Structure>("quantization")
            .nick("Quantization")
            .blurb(
                "How samples stand for real numbers, real = scale * (sample - zero-point): scale \
                 (double, or an array of one for each index of axis), zero-point (int, or an \
                 array), axis (int), as in \"quantization,scale=0.0039,zero-point=0\" (unset: none)",
            )
            .mutable_ready()
            .build(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_is_explained_and_goes_there_and_back() {
        gst::init().unwrap();
        let mut settings = Settings::default();
        for property in properties().iter().filter(|property| property.name() != "stats") {
            assert!(property.blurb().is_some_and(|blurb| blurb.len() > 20), "{}", property.name());
            let mutable = gst::PARAM_FLAG_MUTABLE_READY | gst::PARAM_FLAG_MUTABLE_PLAYING;
            assert!(property.flags().intersects(mutable), "{}", property.name());
            let value = settings.get(property.name()).unwrap();
            settings.set(property.name(), &value);
            assert_eq!(value.type_(), property.value_type(), "{}", property.name());
        }
    }
}
