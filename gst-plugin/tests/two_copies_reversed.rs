//! Two copies of the code in one process. This program registers first, then the plugin file comes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use gsttensor::TensorMeta;

#[test]
fn the_metas_of_one_are_read_by_the_other() {
    gst::init().unwrap();
    common::fatal_criticals();
    TensorMeta::register().unwrap();
    common::load_plugin_file();
    common::read_across_copies();
}
