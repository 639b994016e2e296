//! Buffers of one dense tensor each, which know it.

mod imp {
    use std::sync::{Arc, OnceLock};

    use gst::{BufferPoolAcquireParams, FlowError, glib, subclass::prelude::*};
    use tensor_core::{
        CpuAccess, TensorDyn, TensorError, convert::Destination, memory::AllocPolicy,
        transfer::TransferError,
    };
    use thiserror::Error;

    use crate::{
        allocator::{AllocatorError, wrap},
        memo::{self, FrameImport},
    };

    /// Why there is no buffer.
    #[derive(Debug, Error)]
    enum InputPoolError {
        /// A pool that nobody told what it is of.
        #[error("the pool was not told which tensor it is of")]
        NoTensor,
        /// More bytes than the address space has.
        #[error("the tensor is larger than the address space")]
        TooLarge,
        #[error(transparent)]
        Tensor(#[from] TensorError),
        #[error(transparent)]
        Allocator(#[from] AllocatorError),
        #[error(transparent)]
        Transfer(#[from] TransferError),
    }

    #[derive(Debug, Default)]
    pub struct InputPool(pub(super) OnceLock<Destination>);

    impl InputPool {
        fn new_buffer(&self) -> Result<gst::Buffer, InputPoolError> {
            let destination = self.0.get().ok_or(InputPoolError::NoTensor)?;
            let (shape, dtype) = (destination.shape(), destination.dtype);
            let mut tensor =
                TensorDyn::new(&shape, dtype, &AllocPolicy::with_fd(), CpuAccess::ReadWrite)?;
            if let Some(quantization) = &destination.quantization {
                tensor = tensor.with_quantization(quantization.clone())?;
            }
            let size = super::size(destination).ok_or(InputPoolError::TooLarge)?;
            let memory = tensor.memories().first().ok_or(InputPoolError::NoTensor)?;
            let wrapped = wrap(memory, size)?;
            let import = FrameImport::of_tensor(tensor, &[0], memo::share)?;
            memo::set_born(&wrapped, Arc::new(import));
            let mut buffer = gst::Buffer::new();
            buffer.make_mut().append_memory(wrapped);
            Ok(buffer)
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for InputPool {
        const NAME: &'static str = "GstTensorConvertPool";
        // An application linked with this crate may load the plugin too.
        const ALLOW_NAME_CONFLICT: bool = true;
        type Type = super::InputPool;
        type ParentType = gst::BufferPool;
    }

    impl ObjectImpl for InputPool {}
    impl GstObjectImpl for InputPool {}

    impl BufferPoolImpl for InputPool {
        fn alloc_buffer(
            &self,
            _params: Option<&BufferPoolAcquireParams>,
        ) -> Result<gst::Buffer, FlowError> {
            self.new_buffer().map_err(|error| {
                gst::error!(super::super::imp::CAT, imp = self, "no buffer: {error}");
                FlowError::Error
            })
        }
    }
}

use gst::{glib, prelude::*, subclass::prelude::*};
use tensor_core::convert::Destination;

glib::wrapper! {
    /// A pool of a model's inputs.
    pub struct InputPool(ObjectSubclass<imp::InputPool>) @extends gst::BufferPool, gst::Object;
}

/// Bytes of one input: all elements, no padding.
pub(super) fn size(destination: &Destination) -> Option<usize> {
    let elements =
        destination.shape().iter().try_fold(1_usize, |all, dim| all.checked_mul(*dim))?;
    elements.checked_mul(destination.dtype.size_bytes())
}

/// A pool of inputs like `destination`, which flow under `caps`.
pub(super) fn new(
    destination: &Destination,
    caps: &gst::Caps,
) -> Result<gst::BufferPool, glib::BoolError> {
    let pool = glib::Object::new::<InputPool>();
    pool.imp().0.get_or_init(|| destination.clone());
    let size = size(destination).and_then(|size| u32::try_from(size).ok());
    let size = size.ok_or_else(|| glib::bool_error!("{caps}: more than 4 GiB a buffer"))?;
    let mut config = pool.config();
    config.set_params(Some(caps), size, 1, 0);
    pool.set_config(config)?;
    Ok(pool.upcast())
}
