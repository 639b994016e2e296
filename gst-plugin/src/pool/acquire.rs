//! Starting a pool and taking buffers from it, with the reason where there is none.

use gst::{FlowError, prelude::*};

use super::{PoolError, TensorBufferPool};

/// Starts a pool, whoever's it is.
pub(crate) fn activate(pool: &impl IsA<gst::BufferPool>) -> Result<(), PoolError> {
    pool.set_active(true).map_err(|error| reason(pool).unwrap_or(PoolError::Gst(error)))
}

/// Takes a buffer; waits for one where no more may be made.
pub(crate) fn acquire(pool: &impl IsA<gst::BufferPool>) -> Result<gst::Buffer, PoolError> {
    pool.acquire_buffer(None).map_err(|flow| {
        let is_asked_to_stop = flow == FlowError::Flushing;
        let reason = if is_asked_to_stop { None } else { reason(pool) };
        reason.unwrap_or(PoolError::Flow(flow))
    })
}

fn reason(pool: &impl IsA<gst::BufferPool>) -> Option<PoolError> {
    pool.dynamic_cast_ref::<TensorBufferPool>()?.take_error()
}

#[cfg(test)]
mod tests {
    use gst_video::VideoFormat;
    use tensor_core::memory::AllocPolicy;

    use super::*;

    #[test]
    fn memory_that_cannot_be_had_is_told_with_its_reasons() {
        gst::init().unwrap();
        let pool = TensorBufferPool::builder().video(VideoFormat::Rgb, 64, 36).unwrap();
        let pool = pool.policy(AllocPolicy::from_steps([])).build().unwrap();
        let error = activate(&pool).unwrap_err();
        assert!(error.to_string().contains("no memory of 6912 bytes could be had"), "{error}");
        assert!(pool.take_error().is_none(), "told once");
    }

    #[test]
    fn a_pool_that_stops_has_no_reason_but_that() {
        gst::init().unwrap();
        let pool = TensorBufferPool::builder().video(VideoFormat::Rgb, 64, 36).unwrap();
        let pool = pool.buffers(1, 1).build().unwrap();
        activate(&pool).unwrap();
        let held = acquire(&pool).unwrap();
        pool.set_flushing(true);
        assert!(matches!(acquire(&pool), Err(PoolError::Flow(FlowError::Flushing))));
        drop(held);
    }
}
