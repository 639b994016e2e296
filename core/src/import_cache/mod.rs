//! Imports of recurring buffers, found again by what the buffers are.
//!
//! A camera cycles through a handful of buffers for weeks. Each is imported once; after that its
//! tensor, its mapping and its blob are found by the identity of the file behind every plane and
//! the plane's offset in it. Descriptor numbers play no part: they are reused, and some sources
//! give a new one every frame.
//!
//! The cache keeps duplicated descriptors, so an identity cannot be reused while its entry lives,
//! and it keeps nothing of the producer's, so no pool starves. It is bounded: by its capacity, by
//! age, and by [`new_generation`](ImportCache::new_generation) when the producer changes.
//!
//! ```
//! use std::os::fd::AsFd;
//! use tensor_core::{
//!     Colorimetry, CpuAccess, ImageLayout, ImportCache, Memory, PixelFormat, StrideAlign,
//!     import_cache::Frame,
//! };
//! let layout = ImageLayout::packed(PixelFormat::Rgb, 64, 36, StrideAlign::DMA)?;
//! let producer = Memory::shm(layout.allocation_len(0))?;
//! let mut cache = ImportCache::<()>::new(64);
//! for n in 0..3 {
//!     // A new descriptor number each time, the same file.
//!     let fd = producer.fd().unwrap().try_clone_to_owned()?;
//!     let frame = Frame {
//!         layout: &layout,
//!         colorimetry: Colorimetry::default(),
//!         quantization: None,
//!         access: CpuAccess::Read,
//!         fds: &[fd.as_fd()],
//!         handles: &[0],
//!     };
//!     assert_eq!(cache.import(&frame, |_, _| ())?.hit, n > 0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;

use std::{
    collections::{HashMap, HashSet},
    io,
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrayvec::ArrayVec;
use thiserror::Error;

pub use entry::Import;

use crate::{
    access::CpuAccess,
    colorimetry::Colorimetry,
    format::MAX_PLANES,
    layout::{ImageLayout, PlanePlacement},
    memory::{self, FileIdentity, Memory},
    quantization::Quantization,
    tensor::{TensorDyn, TensorError},
    transfer::TransferError,
};

/// Entries a cache holds unless told otherwise: several pools of the largest usual depth.
pub const DEFAULT_CAPACITY: usize = 64;

/// Frames after which an entry that was not seen again is dropped.
pub const IDLE_FRAMES: u64 = 256;

/// One frame as its producer hands it over: nothing in it is owned.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Where the planes lie.
    pub layout: &'a ImageLayout,
    /// What is known of its colours.
    pub colorimetry: Colorimetry,
    /// How its integers stand for real numbers.
    pub quantization: Option<&'a Quantization>,
    /// What the CPU may do with the bytes.
    pub access: CpuAccess,
    /// A descriptor for each memory of the layout.
    pub fds: &'a [BorrowedFd<'a>],
    /// The number each memory has in the blob.
    pub handles: &'a [i64],
}

/// Why a frame is not imported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A descriptor is refused.
    #[error("memory {memory}: {error}")]
    Import {
        /// Which memory of the layout.
        memory: usize,
        /// Why.
        error: memory::ImportError,
    },
    /// A descriptor does not tell its identity.
    #[error("memory {memory}: fstat: {error}")]
    Identity {
        /// Which memory of the layout.
        memory: usize,
        /// What `fstat` answered.
        error: io::Error,
    },
    /// The tensor is refused.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// The blob cannot be written.
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

/// What a look-up gave.
#[derive(Debug)]
pub struct Lookup<A = ()> {
    /// The import.
    pub import: Arc<Import<A>>,
    /// Whether it was there already.
    pub hit: bool,
    /// Whether it took the place of an import of the same bytes that said something else of them.
    pub replaced: bool,
}

/// Counters since the cache was made, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Frames found.
    pub hits: u64,
    /// Frames imported.
    pub misses: u64,
    /// Entries dropped for lack of room, for age, or with their generation.
    pub evictions: u64,
    /// Entries held now.
    pub live: usize,
    /// Bytes of memory those entries keep from being freed.
    pub pinned_bytes: u64,
}

/// Where one plane is in the kernel's eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PlaneKey {
    identity: FileIdentity,
    offset: usize,
}

type FrameKey = ArrayVec<PlaneKey, MAX_PLANES>;

/// Imports by what their buffers are; `A` is whatever the user wants kept beside each.
#[derive(Debug)]
pub struct ImportCache<A = ()> {
    /// Tells this cache's entries from those of others.
    id: u64,
    entries: HashMap<FrameKey, Arc<Import<A>>>,
    capacity: usize,
    frames: u64,
    hits: u64,
    misses: u64,
    evictions: u64,
    /// Counted when entries change, so that statistics cost nothing.
    pinned_bytes: u64,
}

impl<A> ImportCache<A> {
    /// An empty cache of at most `capacity` entries, at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(entry::NO_CACHE + 1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (entries, capacity) = (HashMap::new(), capacity.max(1));
        Self { id, entries, capacity, frames: 0, hits: 0, misses: 0, evictions: 0, pinned_bytes: 0 }
    }

    /// Finds the import of a frame, or makes it: one `fstat` a memory when it is found.
    ///
    /// `attach` makes what is kept beside a new import, from its tensor and blob.
    ///
    /// # Errors
    /// See [`FrameError`]; a failed import leaves nothing behind.
    pub fn import(
        &mut self,
        frame: &Frame<'_>,
        attach: impl FnOnce(&TensorDyn, &Arc<[u8]>) -> A,
    ) -> Result<Lookup<A>, FrameError> {
        let key = key_of(frame)?;
        if let Some(import) = self.entries.get(&key).filter(|import| import.says(frame)) {
            let import = Arc::clone(import);
            self.note_hit(&import);
            return Ok(Lookup { import, hit: true, replaced: false });
        }
        let import = Arc::new(Import::new(frame, attach)?.of_cache(self.id));
        self.tick();
        import.seen_at(self.id, self.frames);
        self.misses = self.misses.saturating_add(1);
        let replaced = self.entries.insert(key, Arc::clone(&import)).is_some();
        self.evictions = self.evictions.saturating_add(u64::from(replaced));
        self.evict_over_capacity();
        self.pinned_bytes = self.pinned_bytes();
        Ok(Lookup { import, hit: false, replaced })
    }

    /// Counts a frame that the caller found by a memo of its own, and keeps its entry young. An
    /// import that another cache holds, or none, is only counted.
    pub fn note_hit(&mut self, import: &Import<A>) {
        self.tick();
        import.seen_at(self.id, self.frames);
        self.hits = self.hits.saturating_add(1);
    }

    /// Drops every entry, and says how many: the producer's buffers are about to be others.
    pub fn new_generation(&mut self) -> usize {
        let dropped = self.entries.len();
        self.entries.clear();
        self.count_dropped(dropped);
        dropped
    }

    /// The most entries it holds.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Changes the bound, dropping the oldest entries above it.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity.max(1);
        self.evict_over_capacity();
    }

    /// The counters: nothing is worked out for them.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits,
            misses: self.misses,
            evictions: self.evictions,
            live: self.entries.len(),
            pinned_bytes: self.pinned_bytes,
        }
    }

    /// Bytes of memory that the entries keep. A file that several entries or planes lie in is kept
    /// once.
    fn pinned_bytes(&self) -> u64 {
        let lens = self.entries.iter().flat_map(|(key, import)| {
            let places = key.iter().zip(import.layout().into_iter().flat_map(ImageLayout::planes));
            places.filter_map(|(plane, place)| {
                let memory = import.tensor.memories().get(place.memory)?;
                Some((plane.identity, memory.len()))
            })
        });
        let pinned: HashSet<(FileIdentity, usize)> = lens.collect();
        pinned.iter().filter_map(|(_, len)| u64::try_from(*len).ok()).sum()
    }

    /// Counts a frame; every so often drops what has not been seen for long.
    fn tick(&mut self) {
        self.frames = self.frames.wrapping_add(1);
        if self.frames.is_multiple_of(IDLE_FRAMES) {
            let oldest = self.frames.saturating_sub(IDLE_FRAMES);
            let before = self.entries.len();
            self.entries.retain(|_, import| import.last_seen() >= oldest);
            self.count_dropped(before);
        }
    }

    fn evict_over_capacity(&mut self) {
        let before = self.entries.len();
        while self.entries.len() > self.capacity {
            let oldest = self.entries.iter().min_by_key(|(_, import)| import.last_seen());
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { break };
            self.entries.remove(&key);
        }
        self.count_dropped(before);
    }

    fn count_dropped(&mut self, before: usize) {
        let dropped = before.saturating_sub(self.entries.len());
        if dropped == 0 {
            return;
        }
        self.pinned_bytes = self.pinned_bytes();
        self.evictions = self.evictions.saturating_add(u64::try_from(dropped).unwrap_or(u64::MAX));
    }
}

impl<A> Default for ImportCache<A> {
    fn default() -> Self {
        Self::new(DEFAULT_CAPACITY)
    }
}

fn key_of(frame: &Frame<'_>) -> Result<FrameKey, FrameError> {
    let mut identities = ArrayVec::<FileIdentity, MAX_PLANES>::new();
    let (expected, given) = (frame.layout.memories(), frame.fds.len());
    if expected != given {
        return Err(TensorError::MemoryCount { expected, given }.into());
    }
    for (memory, fd) in frame.fds.iter().enumerate() {
        let identity = FileIdentity::of(*fd);
        identities.push(identity.map_err(|error| FrameError::Identity { memory, error })?);
    }
    let plane_key = |place: &PlanePlacement| {
        let identity = *identities.get(place.memory)?;
        Some(PlaneKey { identity, offset: place.offset })
    };
    Ok(frame.layout.planes().iter().filter_map(plane_key).collect())
}

/// Every descriptor of the frame, imported.
fn memories_of(frame: &Frame<'_>) -> Result<ArrayVec<Memory, MAX_PLANES>, FrameError> {
    let import = |(memory, fd): (usize, &BorrowedFd<'_>)| {
        Memory::import(*fd, frame.access).map_err(|error| FrameError::Import { memory, error })
    };
    frame.fds.iter().enumerate().map(import).collect()
}

#[cfg(test)]
mod tests;
