//! Where output buffers come from: downstream's pool if it has one that serves, else our own.

mod imp {
    use std::sync::{Arc, OnceLock};

    use gst::{BufferPoolAcquireParams, FlowError, glib, subclass::prelude::*};
    use tensor_core::{
        CpuAccess, Origin, TensorError,
        memory::{AllocError, AllocPolicy},
        transfer::TransferError,
    };
    use thiserror::Error;

    use super::super::output::Described;
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
        #[error(transparent)]
        Alloc(#[from] AllocError),
        #[error(transparent)]
        Tensor(#[from] TensorError),
        #[error(transparent)]
        Allocator(#[from] AllocatorError),
        #[error(transparent)]
        Transfer(#[from] TransferError),
    }

    #[derive(Debug, Default)]
    pub struct InputPool(pub(super) OnceLock<(Described, Origin)>);

    impl InputPool {
        /// A memory of one tensor or image and nothing else, born with its import.
        fn new_buffer(&self) -> Result<gst::Buffer, InputPoolError> {
            let (described, origin) = self.0.get().ok_or(InputPoolError::NoTensor)?;
            let size = described.form.len();
            let memory = AllocPolicy::with_fd().allocate(size, CpuAccess::ReadWrite)?.memory;
            let wrapped = wrap(&memory, size)?;
            let tensor = described.tensor(described.form.clone().into(), [memory])?;
            let tensor = tensor.with_origin(*origin);
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

use gst::{glib, prelude::*, query, subclass::prelude::*};
use gst_video::VideoMeta;
use tensor_core::Origin;

use super::output::{Described, Form};
use crate::{allocation::asked::Asked, pool::TensorBufferPool};

glib::wrapper! {
    /// A pool of a model's inputs, laid out as their caps say.
    pub struct InputPool(ObjectSubclass<imp::InputPool>) @extends gst::BufferPool, gst::Object;
}

/// Makes the pool that buffers under `caps` come from the first, and only, in downstream's answer.
pub(super) fn decide(
    query: &mut query::Allocation,
    caps: &gst::Caps,
    described: &Described,
    origin: Origin,
) -> Result<(), glib::BoolError> {
    let size = u32::try_from(described.form.len());
    let size = size.map_err(|_| glib::bool_error!("{caps}: more than 4 GiB a buffer"))?;
    let offered = query.allocation_pools().next();
    let (theirs, asked, min, max) = offered.unwrap_or((None, 0, 1, 0));
    let allocator = query.allocation_params().next();
    // Without it rows are where the caps say: who does not promise to look would read padding.
    let reads_meta = query.find_allocation_meta::<VideoMeta>().is_some();
    let (asked, video_meta) = (size.max(asked), reads_meta);
    let wanted = Asked { caps, size: asked, min, max, allocator, video_meta, alignment: None };
    let fits = |buffer: &gst::BufferRef| described.fits(buffer, reads_meta);
    let pool = match theirs.filter(|pool| wanted.serves(pool, fits)) {
        Some(pool) => pool,
        // Who wants more than one at once says so; how many there are at most is our own business.
        None if reads_meta && matches!(described.form, Form::Image(..)) => {
            let pool = TensorBufferPool::builder().caps(caps).buffers(min, 0).build();
            pool.map_err(|error| glib::bool_error!("{caps}: {error}"))?.upcast()
        }
        // Of its own size, whatever was asked: a buffer that is smaller than its pool says is
        // thrown away, or grown, when it comes back.
        None => own(caps, size, min, (described, origin))?,
    };
    let (_, size, min, max) = pool.config().params().unwrap_or((None, size, min, max));
    while query.allocation_pools().len() > 0 {
        query.remove_nth_allocation_pool(0);
    }
    query.add_allocation_pool(Some(&pool), size, min, max);
    Ok(())
}

fn own(
    caps: &gst::Caps,
    size: u32,
    min: u32,
    (described, origin): (&Described, Origin),
) -> Result<gst::BufferPool, glib::BoolError> {
    let pool = glib::Object::new::<InputPool>();
    pool.imp().0.get_or_init(|| (described.clone(), origin));
    let mut config = pool.config();
    config.set_params(Some(caps), size, min, 0);
    pool.set_config(config)?;
    Ok(pool.upcast())
}
