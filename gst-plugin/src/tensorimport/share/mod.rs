//! A new buffer header over the memories of a buffer that others hold too.

mod imp;

use gst::meta::ParentBufferMeta;

/// A second header, and what it cost.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) buffer: gst::Buffer,
    /// Bytes of memories that would not be shared, so that GStreamer copied them.
    pub(crate) copied_bytes: u64,
}

/// Makes the header that our meta goes on; the other holders of `buffer` never see it.
pub(crate) fn share(buffer: &gst::BufferRef) -> Shared {
    let mut copy = buffer.copy();
    let copied_bytes = copied_bytes(buffer, &copy);
    keep_pooled(buffer, &mut copy);
    Shared { buffer: copy, copied_bytes }
}

/// The first GStreamer that does what [`keep_pooled`] does by itself.
const KEEPS_POOLED: (u32, u32, u32) = (1, 22, 8);

/// Keeps a pooled buffer from going home before its copy is gone. Its memories would still be in
/// use, so the pool would throw it away and allocate another, for every frame.
fn keep_pooled(buffer: &gst::BufferRef, copy: &mut gst::Buffer) {
    let (major, minor, micro, _) = gst::version();
    if (major, minor, micro) >= KEEPS_POOLED {
        return;
    }
    if let (Some(parent), Some(copy)) = (imp::pooled(buffer), copy.get_mut()) {
        ParentBufferMeta::add(copy, &parent);
        imp::release_parents_last(copy);
    }
}

fn copied_bytes(from: &gst::BufferRef, to: &gst::BufferRef) -> u64 {
    let same = |index| {
        index < from.n_memory()
            && std::ptr::eq(from.peek_memory(index).as_ptr(), to.peek_memory(index).as_ptr())
    };
    let copied = (0..to.n_memory()).filter(|index| !same(*index));
    let sizes = copied.filter_map(|index| u64::try_from(to.peek_memory(index).size()).ok());
    sizes.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use gst::prelude::*;

    use super::*;

    #[test]
    fn memories_are_shared_and_nothing_is_copied() {
        gst::init().unwrap();
        let buffer = gst::Buffer::with_size(64).unwrap();
        let shared = share(&buffer);
        assert_eq!(shared.copied_bytes, 0);
        assert_eq!(shared.buffer.peek_memory(0).as_ptr(), buffer.peek_memory(0).as_ptr());
    }

    #[test]
    fn a_memory_that_is_not_shared_counts_as_copied() {
        gst::init().unwrap();
        let mut other = gst::Buffer::with_size(48).unwrap();
        other.get_mut().unwrap().append_memory(gst::Memory::with_size(16));
        let buffer = gst::Buffer::with_size(64).unwrap();
        assert_eq!(copied_bytes(&buffer, &other), 64);
    }

    #[test]
    fn a_pooled_buffer_stays_out_until_its_copy_is_gone() {
        gst::init().unwrap();
        let pool = gst::BufferPool::new();
        let mut config = pool.config();
        config.set_params(None, 64, 1, 1);
        pool.set_config(config).unwrap();
        pool.set_active(true).unwrap();
        let buffer = pool.acquire_buffer(None).unwrap();
        let first = buffer.peek_memory(0).as_ptr();
        let shared = share(&buffer);
        drop(buffer);
        drop(shared);
        let again = pool.acquire_buffer(None).unwrap();
        assert_eq!(again.peek_memory(0).as_ptr(), first);
        drop(again);
        pool.set_active(false).unwrap();
    }
}
