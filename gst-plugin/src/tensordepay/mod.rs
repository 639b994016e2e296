//! `tensordepay`: a stream of [packets](tensor_core::blob::packet) as tensors again.
//!
//! Each packet becomes a buffer with a memory for each tensor and a [`TensorMeta`](crate::TensorMeta)
//! for each, with the times the packet has. The stream may come in pieces of any size. It is bytes
//! from somebody else: what is no packet ends the stream with an error that names numbers, and no
//! more is kept than `max-size` and the piece that just came.
//!
//! | what a packet holds | caps |
//! |---|---|
//! | one image in a format that GStreamer has | `video/x-raw`, with a GstVideoMeta for its rows |
//! | tensors that are no image | `other/tensors`, `format=static`, as NNStreamer has them |
//! | anything else | `application/x-tensor`: the metas say what it is |
//!
//! `gst-launch-1.0 filesrc location=frames.tensors ! tensordepay ! videoconvert ! autovideosink`

mod caps;
mod error;
mod imp;
mod unpack;

use std::sync::LazyLock;

use gst::{glib, prelude::*};

pub use error::DepayError;

glib::wrapper! {
    /// The element; see the [module](self).
    pub struct TensorDepay(ObjectSubclass<imp::TensorDepay>) @extends gst::Element, gst::Object;
}

pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    LazyLock::force(&imp::CAT);
    gst::Element::register(Some(plugin), "tensordepay", gst::Rank::NONE, TensorDepay::static_type())
}
