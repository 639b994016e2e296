//! GStreamer elements, allocator, buffer pool and meta that carry camera frames as tensors without
//! a copy.

gst::plugin_define!(
    tensor,
    env!("CARGO_PKG_DESCRIPTION"),
    plugin_init,
    concat!(env!("CARGO_PKG_VERSION"), "-", env!("COMMIT_ID")),
    "MIT/X11",
    env!("CARGO_PKG_NAME"),
    env!("CARGO_PKG_NAME"),
    "https://github.com/gst-tensor",
    env!("BUILD_REL_DATE")
);

fn plugin_init(_plugin: &gst::Plugin) -> Result<(), gst::glib::BoolError> {
    Ok(())
}
