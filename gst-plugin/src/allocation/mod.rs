//! How frames are allocated: what upstream is told when it asks, what downstream said, and the one
//! copy of a frame that is not where it should be.

pub(crate) mod asked;
pub(crate) mod copy;
pub(crate) mod downstream;
pub(crate) mod offered;
pub(crate) mod propose;
pub(crate) mod provider;
