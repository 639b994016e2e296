//! `tensorimport`: describes every frame as a tensor.
//!
//! The element touches no byte, unless a frame that is elsewhere is to be copied. It finds where each
//! plane of a frame lies, imports each buffer once by the identity of the files behind its memories,
//! and attaches a [`TensorMeta`](crate::TensorMeta). Buffers that others hold too get a new header over
//! the same memories.
//!
//! Caps: `video/x-raw` in plain memory, the same with the feature `memory:DMABuf`, and
//! `memory:DMABuf` with `format=DMA_DRM` where `drm-format` is linear; in all formats of
//! [`tensor_core::PixelFormat`] that GStreamer knows. Compressed frames (`image/jpeg`, `video/x-h264`
//! and others) are tensors of as many bytes as they have.
//!
//! The properties are described by `gst-inspect-1.0`.
//!
//! `gst-launch-1.0 videotestsrc num-buffers=3 ! video/x-raw,format=NV12 ! tensorimport ! fakesink`

mod bitstream;
pub(crate) mod caps;
mod choices;
pub(crate) mod copier;
pub(crate) mod frame;
mod imp;
pub(crate) mod importer;
mod intake;
mod plain;
mod quantization;
mod report;
mod settings;
pub(crate) mod share;
mod stats;

use std::sync::LazyLock;

use gst::{glib, prelude::*};

pub use choices::{Access, Attach, Fallback};

glib::wrapper! {
    /// The element; see the [module](self).
    pub struct TensorImport(ObjectSubclass<imp::TensorImport>)
        @extends gst_base::BaseTransform, gst::Element, gst::Object;
}

pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    LazyLock::force(&imp::CAT);
    gst::Element::register(
        Some(plugin),
        "tensorimport",
        gst::Rank::NONE,
        TensorImport::static_type(),
    )
}
