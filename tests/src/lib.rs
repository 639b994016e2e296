//! What the whole-system tests share: running a pipeline, and looking at its frames with eyes that
//! are not the plugin's.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

pub mod camera;
pub mod plain_view;
pub mod v4l2;
pub mod watch;
