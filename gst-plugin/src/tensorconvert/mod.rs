//! `tensorconvert`: makes a model's input of every frame, in one pass.
//!
//! A frame, or the part of it that its crop meta leaves, is read through its true strides and written,
//! converted, into memory that holds the input and nothing else. What the input is like comes from the
//! properties, else from a model file, else from what downstream accepts; the properties are described
//! by `gst-inspect-1.0`.
//!
//! Caps: raw video in, as `tensorimport` takes it; out one static tensor, see
//! [`tensor_caps`](crate::tensor_caps), or raw video of bytes. The conversion's numbers are those of
//! [`tensor_core::convert`]. The meta on what leaves says where its pixels come from: see
//! [`Origin`](tensor_core::Origin).
//!
//! `gst-launch-1.0 videotestsrc num-buffers=3 ! tensorconvert width=64 height=64 ! fakesink`

mod imp;
mod negotiate;
mod output;
mod pool;
mod settings;
mod stage;
mod wish;

use std::sync::LazyLock;

use gst::{glib, prelude::*};

glib::wrapper! {
    /// The element; see the [module](self).
    pub struct TensorConvert(ObjectSubclass<imp::TensorConvert>)
        @extends gst_base::BaseTransform, gst::Element, gst::Object;
}

pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    LazyLock::force(&imp::CAT);
    gst::Element::register(
        Some(plugin),
        "tensorconvert",
        gst::Rank::NONE,
        TensorConvert::static_type(),
    )
}
