use std::{ptr, sync::LazyLock};

use gst::{AllocationParams, glib, glib::translate::IntoGlibPtr, subclass::prelude::*};
use gst_allocators::{prelude::*, subclass::prelude::*};
use tensor_core::{
    CpuAccess,
    memory::{AllocPolicy, Allocation},
};

use super::{
    AllocatorError,
    flags::{CUSTOM_ALLOC, NO_COPY},
    wrap::wrap_in,
};

static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("Allocator of dma-buf memory");
    gst::DebugCategory::new("tensorallocator", gst::DebugColorFlags::empty(), blurb)
});

/// What every mapping is aligned to: the smallest page that Linux has.
const MAPPING_ALIGN: usize = 4096;

/// Whether the allocator can do what `params` ask.
pub(crate) fn supported_params(params: &AllocationParams) -> Result<(), AllocatorError> {
    let (prefix, align) = (params.prefix(), params.align());
    if prefix != 0 {
        return Err(AllocatorError::Prefix { prefix });
    }
    if align >= MAPPING_ALIGN {
        return Err(AllocatorError::Align { align, have: MAPPING_ALIGN });
    }
    Ok(())
}

#[derive(Debug, Default)]
pub struct TensorAllocator;

impl TensorAllocator {
    fn allocate(
        &self,
        size: usize,
        params: &AllocationParams,
    ) -> Result<gst::Memory, AllocatorError> {
        supported_params(params)?;
        let padding = params.padding();
        let len = size.checked_add(padding).ok_or(AllocatorError::Overflow { size, padding })?;
        let Allocation { memory, path, attempts } =
            AllocPolicy::dma_buf_only().allocate(len, CpuAccess::ReadWrite)?;
        for attempt in attempts {
            gst::debug!(CAT, imp = self, "passed over {attempt}");
        }
        let path = path.unwrap_or_default();
        gst::debug!(CAT, imp = self, "{size} bytes from {}", path.display());
        wrap_in(&*self.obj(), &memory, size)
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorAllocator {
    const NAME: &'static str = "GstTensorDmaBufAllocator";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorAllocator;
    type ParentType = gst_allocators::DmaBufAllocator;
}

impl ObjectImpl for TensorAllocator {
    fn constructed(&self) {
        self.parent_constructed();
        let allocator = self.obj();
        allocator.unset_object_flags(CUSTOM_ALLOC);
        allocator.set_object_flags(NO_COPY | gst::ObjectFlags::MAY_BE_LEAKED);
    }
}

impl GstObjectImpl for TensorAllocator {}

// SAFETY: `alloc` gives a memory that it owns, or null; `free` is the parent's, whose memory it is.
unsafe impl AllocatorImpl for TensorAllocator {
    unsafe fn alloc(&self, size: usize, params: &AllocationParams) -> *mut gst::ffi::GstMemory {
        match self.allocate(size, params) {
            Ok(memory) => memory.into_glib_ptr(),
            Err(error) => {
                gst::warning!(CAT, imp = self, "{error}");
                ptr::null_mut()
            }
        }
    }
}

impl FdAllocatorImpl for TensorAllocator {}
impl DmaBufAllocatorImpl for TensorAllocator {}
