//! Where samples are: planes, strides and bounds, as checked arithmetic.
//!
//! Three things that are easy to confuse are kept apart: the *addressing grid* a consumer indexes
//! ([`PixelFormat::addressing_shape`](crate::PixelFormat::addressing_shape)), the *plane table* that
//! says where bytes are ([`ImageLayout`], [`PlaneTable`]), and the *allocation* that must hold them
//! ([`ImageLayout::allocation_len`]). Sizes come from the plane table, never from a shape.
//!
//! An image has an [`ImageLayout`], many of them stacked a [`BatchLayout`], any other tensor a
//! [`StridedLayout`]. A view is another layout over the same bytes, so views of views need nothing
//! but these. No value allocates, and none that exists can address bytes outside what it says.

#![forbid(unsafe_code)]

mod align;
mod batch;
mod carrier;
mod error;
mod factor;
mod image;
mod pixel_store;
mod plane_table;
mod region;
mod strided;
mod strides;

pub use align::{RowAlign, StrideAlign, default_align};
pub use batch::BatchLayout;
pub use carrier::{Carrier, Texel};
pub use error::LayoutError;
pub use image::{ImageLayout, PlanePlacement};
pub use pixel_store::GlPixelStore;
pub use plane_table::{PlaneGeometry, PlaneTable};
pub use strided::{Rows, StridedError, StridedLayout};
pub use strides::c_byte_strides;
