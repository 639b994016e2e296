//! `TensorAllocator`: dma-buf memory from the machine's dma-heaps or udmabuf.
//!
//! The memory is `GstDmaBufMemory` and nothing less: where no dma-buf can be had the allocation
//! fails, with every device that was tried and its answer in the log. Sizes are as asked, `maxsize`
//! is the real length of the dma-buf, and the offset is 0, on which v4l2 import insists; so a
//! prefix is refused.
//!
//! ```
//! # gst::init()?;
//! # gsttensor::plugin_register_static()?;
//! let allocator = gst::Allocator::find(Some(gsttensor::allocator::NAME)).expect("registered");
//! # let _ = allocator;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod flags;
mod imp;
mod wrap;

use std::sync::OnceLock;

use gst::glib;
use tensor_core::{CpuAccess, memory::AllocPolicy};

pub use error::AllocatorError;
pub(crate) use flags::makes_dma_bufs;
pub(crate) use imp::supported_params;
pub(crate) use wrap::wrap;

/// The name under which `gst_allocator_find` knows the allocator.
pub const NAME: &str = "tensordmabuf";

glib::wrapper! {
    /// A `GstDmaBufAllocator` that can allocate; one for the whole process.
    pub struct TensorAllocator(ObjectSubclass<imp::TensorAllocator>)
        @extends gst_allocators::DmaBufAllocator, gst_allocators::FdAllocator, gst::Allocator, gst::Object;
}

impl TensorAllocator {
    /// The allocator of this process. GStreamer must be initialised.
    #[must_use]
    pub fn get() -> Self {
        static INSTANCE: OnceLock<TensorAllocator> = OnceLock::new();
        INSTANCE.get_or_init(glib::Object::new).clone()
    }

    /// Whether this machine gives dma-bufs at all, tried once.
    #[must_use]
    pub fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        let one_page = || AllocPolicy::dma_buf_only().allocate(1, CpuAccess::ReadWrite);
        *AVAILABLE.get_or_init(|| one_page().is_ok())
    }
}

/// Makes the allocator known to GStreamer by [`NAME`].
pub(crate) fn register() {
    gst::Allocator::register(NAME, TensorAllocator::get());
}
