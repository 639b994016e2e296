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
use crate::property::{self, Field, Property};

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

    /// The field of a settable property.
    pub(super) fn field(&mut self, name: &str) -> Option<&mut dyn Field> {
        property::field(&TABLE, self, name)
    }
}

/// The settable properties.
static TABLE: LazyLock<Vec<Property<Settings>>> =
    LazyLock::new(|| choices().into_iter().chain(numbers()).chain(descriptions()).collect());

fn choices() -> [Property<Settings>; 3] {
    let fallback = glib::ParamSpecEnum::builder_with_default("fallback", Fallback::default())
        .nick("Fallback")
        .blurb(
            "What becomes of a frame that is in other memory than a dma-buf, or that cannot be \
             described where it lies",
        );
    let access = glib::ParamSpecEnum::builder_with_default("cpu-access", Access::default())
        .nick("CPU access")
        .blurb("What the CPU may do with the bytes of a tensor; devices are not bound by it");
    let attach = glib::ParamSpecFlags::builder::<Attach>("attach")
        .nick("Attach")
        .blurb("Metas to put on each frame")
        .default_value(Attach::default());
    [
        Property { spec: fallback.mutable_ready().build(), field: |it| &mut it.fallback },
        Property { spec: access.mutable_ready().build(), field: |it| &mut it.access },
        Property { spec: attach.mutable_ready().build(), field: |it| &mut it.attach },
    ]
}

fn numbers() -> [Property<Settings>; 2] {
    let default = Settings::default();
    let cache_size = glib::ParamSpecUInt::builder("cache-size")
        .nick("Cache size")
        .blurb("Most imported buffers remembered at once, the oldest are forgotten (buffers)")
        .minimum(1)
        .default_value(default.cache_size);
    let interval = glib::ParamSpecUInt64::builder("stats-interval")
        .nick("Statistics interval")
        .blurb(
            "Frames from one tensor-stats element message to the next, and one at EOS; 0 for none \
             (frames)",
        )
        .default_value(default.stats_interval);
    [
        Property { spec: cache_size.mutable_ready().build(), field: |it| &mut it.cache_size },
        Property { spec: interval.mutable_playing().build(), field: |it| &mut it.stats_interval },
    ]
}

fn descriptions() -> [Property<Settings>; 2] {
    let colorimetry = glib::ParamSpecString::builder("colorimetry").nick("Colorimetry").blurb(
        "Colours of the frames, whatever the caps say: a name such as bt709, or \
         range:matrix:transfer:primaries in GStreamer's numbers (unset: those of the caps)",
    );
    let quantization =
        glib::ParamSpecBoxed::builder::<gst::Structure>("quantization").nick("Quantization").blurb(
            "How samples stand for real numbers, real = scale * (sample - zero-point): scale \
             (double, or an array of one for each index of axis), zero-point (int, or an array), \
             axis (int), as in \"quantization,scale=0.0039,zero-point=0\" (unset: none)",
        );
    [
        Property { spec: colorimetry.mutable_ready().build(), field: |it| &mut it.colorimetry },
        Property { spec: quantization.mutable_ready().build(), field: |it| &mut it.quantization },
    ]
}

/// All properties of the element.
pub(super) fn properties() -> &'static [glib::ParamSpec] {
    static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
        let stats = glib::ParamSpecBoxed::builder::<gst::Structure>("stats")
            .nick("Statistics")
            .blurb(
                "Since the start: frames, imports, hits, copies, evictions (counts); live (imported \
                 buffers held now); pinned-bytes, copied-bytes (bytes); memory (kind of the last \
                 frame's)",
            )
            .read_only()
            .build();
        TABLE.iter().map(|property| property.spec.clone()).chain([stats]).collect()
    });
    &PROPERTIES
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
            let field = settings.field(property.name()).unwrap();
            let value = field.get();
            field.set(&value);
            assert_eq!(value.type_(), property.value_type(), "{}", property.name());
        }
    }
}
