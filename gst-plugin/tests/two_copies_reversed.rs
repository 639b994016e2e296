//! Two copies of the code in one process. This program registers first, then the plugin file comes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use gst::prelude::*;
use gsttensor::{TensorMeta, tensorimport::TensorImport};

#[test]
fn the_metas_of_one_are_read_by_the_other() {
    gst::init().unwrap();
    common::fatal_criticals();
    TensorMeta::register().unwrap();
    common::load_plugin_file();
    common::read_across_copies();
}

#[test]
fn the_elements_of_both_can_be_made() {
    gst::init().unwrap();
    common::fatal_criticals();
    gsttensor::plugin_register_static().unwrap();
    common::make_every_element();
    common::load_plugin_file();
    common::make_every_element();
    let own: TensorImport = gst::glib::Object::new();
    assert_eq!(own.property::<u32>("cache-size"), 64);
    own.set_property_from_str("fallback", "copy");
    common::read_across_copies();
}
