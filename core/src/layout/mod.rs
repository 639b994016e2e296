//! Where samples are: planes, strides and bounds, as checked arithmetic.
//!
//! Three things that are easy to confuse are kept apart: the *addressing grid* a consumer indexes
//! ([`PixelFormat::addressing_shape`](crate::PixelFormat::addressing_shape)), the *plane table* that
//! says where bytes are ([`ImageLayout`]), and the *allocation* that must hold them
//! ([`ImageLayout::allocation_len`]). Sizes come from the plane table, never from a shape.

#![forbid(unsafe_code)]

mod align;
mod error;
mod image;
mod strides;

pub use align::StrideAlign;
pub use error::LayoutError;
pub use image::{ImageLayout, PlanePlacement};
pub use strides::c_byte_strides;
