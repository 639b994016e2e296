//! Two copies of the code in one process. The plugin file comes first: what an application sees that links the crate.

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
    common::load_plugin_file();
    TensorMeta::register().unwrap();
    common::read_across_copies();
}
