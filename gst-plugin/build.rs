//! Tells the plugin which commit it is built from.

fn main() {
    gst_plugin_version_helper::info();
}
