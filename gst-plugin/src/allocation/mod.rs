//! How frames are allocated: what upstream is told when it asks, and what downstream said.

pub(crate) mod propose;
pub(crate) mod provider;
