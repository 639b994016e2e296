//! `tensorpay`: tensors as a stream of bytes, for files, TCP and other languages.
//!
//! Each buffer becomes one [packet](tensor_core::blob::packet): its times, and a blob for each of its
//! tensors that carries the samples and nothing between them. The bytes of a tensor are copied once.
//! A buffer without a tensor meta is an error: put `tensorimport` before.
//!
//! Caps: any on the sink pad, `application/x-tensor-blob` on the source pad.
//!
//! `gst-launch-1.0 videotestsrc num-buffers=3 ! video/x-raw,format=NV12 ! tensorimport ! tensorpay !
//! filesink location=frames.tensors`

mod error;
mod imp;

use std::sync::LazyLock;

use gst::{glib, prelude::*};

pub use error::PayError;

/// The media type of a stream of packets.
pub(crate) const STREAM: &str = "application/x-tensor-blob";

/// The version of the packets, in the caps.
pub(crate) const STREAM_VERSION: i32 = 1;

glib::wrapper! {
    /// The element; see the [module](self).
    pub struct TensorPay(ObjectSubclass<imp::TensorPay>) @extends gst::Element, gst::Object;
}

pub(crate) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    LazyLock::force(&imp::CAT);
    gst::Element::register(Some(plugin), "tensorpay", gst::Rank::NONE, TensorPay::static_type())
}
