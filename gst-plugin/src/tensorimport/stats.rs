//! What `tensorimport` counts.

use tensor_core::{TensorMemory, import_cache::CacheStats};

/// The name of the statistics, in the property and in the element message.
pub(super) const STATS: &str = "tensor-stats";

/// Counters since the element was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Frames that got a tensor: `imports + hits`.
    pub(super) frames: u64,
    /// Frames for which something had to be imported, or described for the first time.
    pub(super) imports: u64,
    /// Frames whose import was there already.
    pub(super) hits: u64,
    /// Frames that went into other memory on the way through.
    pub(super) copies: u64,
    /// Bytes that went from one memory to another on the way through.
    pub(super) copied_bytes: u64,
    /// The memory of the last frame.
    pub(super) memory: Option<TensorMemory>,
}

impl Counters {
    pub(super) fn count(&mut self, hit: bool, memory: TensorMemory) {
        self.frames = self.frames.saturating_add(1);
        let counter = if hit { &mut self.hits } else { &mut self.imports };
        *counter = counter.saturating_add(1);
        self.memory = Some(memory);
    }

    /// Counts a frame that went into other memory, wholly or in part.
    pub(super) fn count_copied(&mut self, bytes: u64) {
        self.copies = self.copies.saturating_add(u64::from(bytes > 0));
        self.copied_bytes = self.copied_bytes.saturating_add(bytes);
    }
}

/// What was counted, and what the cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stats {
    pub(super) counters: Counters,
    pub(super) cache: CacheStats,
}

impl Stats {
    /// The value of the `stats` property.
    pub(super) fn to_structure(self) -> gst::Structure {
        let Self { counters, cache } = self;
        let live = u64::try_from(cache.live).unwrap_or(u64::MAX);
        gst::Structure::builder(STATS)
            .field("frames", counters.frames)
            .field("imports", counters.imports)
            .field("hits", counters.hits)
            .field("copies", counters.copies)
            .field("evictions", cache.evictions)
            .field("live", live)
            .field("pinned-bytes", cache.pinned_bytes)
            .field("copied-bytes", counters.copied_bytes)
            .field("memory", counters.memory.map_or("none", TensorMemory::name))
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_is_an_import_or_a_hit() {
        gst::init().unwrap();
        let mut counters = Counters::default();
        counters.count(false, TensorMemory::Shm);
        counters.count(true, TensorMemory::Shm);
        counters.count(true, TensorMemory::DmaBuf);
        let stats = Stats { counters, cache: CacheStats::default() }.to_structure();
        let numbers = ["frames", "imports", "hits"].map(|name| stats.get::<u64>(name).unwrap());
        assert_eq!(numbers, [3, 1, 2]);
        assert_eq!(stats.get::<&str>("memory"), Ok("dmabuf"));
    }
}
