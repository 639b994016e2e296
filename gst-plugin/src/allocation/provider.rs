//! Who can give upstream memory that an accelerator takes.

use gst::prelude::*;

use super::propose::Provider;
use crate::{allocator::TensorAllocator, pool::TensorBufferPool};

/// Our pool and allocator, on a machine that has dma-bufs to give. On another they would only slow
/// a software source down.
pub(crate) fn find() -> Option<Provider> {
    TensorAllocator::is_available().then(|| Provider {
        // A pool serves one configuration, so each query gets its own.
        pool: TensorBufferPool::new().upcast(),
        allocator: Some(TensorAllocator::get().upcast()),
    })
}
