//! GStreamer elements, allocator, buffer pool and meta that carry camera frames as tensors without
//! a copy.

mod allocation;
pub mod allocator;
pub mod analytics;
pub mod frame_tensor;
mod handles;
mod memo;
pub mod meta;
pub mod model;
mod pads;
pub mod pool;
mod property;
pub mod tensor_caps;
pub mod tensorconvert;
pub mod tensordepay;
pub mod tensorimport;
pub mod tensorpay;
pub mod tensorpool;
pub mod video_layout;

pub use frame_tensor::{FrameTensor, FrameTensorError};
pub use memo::FrameImport;
pub use meta::{BufferTensorExt, TensorMeta, TensorMetaError};

use gst::glib;

/// What GStreamer reads to load the plugin.
mod descriptor {
    use super::plugin_init;

    gst::plugin_define!(
        tensor,
        env!("CARGO_PKG_DESCRIPTION"),
        plugin_init,
        concat!(env!("CARGO_PKG_VERSION"), "-", env!("COMMIT_ID")),
        "MIT/X11",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_NAME"),
        env!("BUILD_REL_DATE")
    );
}

/// Registers the elements in this process, for a program that links the crate and loads no plugin
/// file.
///
/// # Errors
/// When GStreamer is not initialised, or other code has taken one of the names.
pub fn plugin_register_static() -> Result<(), glib::BoolError> {
    descriptor::plugin_register_static()
}

fn plugin_init(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    allocator::register();
    TensorMeta::register().map_err(|error| glib::bool_error!("{error}"))?;
    TensorMeta::announce(plugin);
    tensorpay::register(plugin)?;
    tensordepay::register(plugin)?;
    tensorconvert::register(plugin)?;
    tensorpool::register(plugin)?;
    tensorimport::register(plugin)
}

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
