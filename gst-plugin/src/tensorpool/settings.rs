//! The properties, and what they come to.

use std::sync::LazyLock;

use gst::{glib, prelude::*};
use tensor_core::{
    CpuAccess, LayoutError, StrideAlign,
    memory::{AllocError, AllocPolicy, Step},
};
use thiserror::Error;

use super::memory::Memory;
use crate::{
    allocation::propose::{MIN_BUFFERS, Request},
    allocator::TensorAllocator,
    pool::{PoolError, TensorBufferPool},
    property::{self, Field, Property},
};

/// The largest alignment: that of a page, at which every memory begins.
const MOST_ALIGNMENT: u32 = 4096;

/// Why the properties make no sense together, or not here.
#[derive(Debug, Error)]
pub(super) enum SettingsError {
    #[error("alignment: {0}")]
    Alignment(#[from] LayoutError),
    #[error("max-buffers: {max} are fewer than min-buffers, {min}")]
    Buffers { min: u32, max: u32 },
    #[error("memory: shm was asked for, and {why}")]
    Shm { why: &'static str },
    #[error("contiguous={contiguous}, memory={memory}: {error}")]
    NoMemory { contiguous: bool, memory: &'static str, error: AllocError },
}

/// The values of the properties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    min: u32,
    max: u32,
    alignment: u32,
    contiguous: bool,
    memory: Memory,
}

impl Default for Settings {
    fn default() -> Self {
        let alignment = u32::try_from(StrideAlign::DMA.bytes()).unwrap_or(MOST_ALIGNMENT);
        Self { min: MIN_BUFFERS, max: 0, alignment, contiguous: false, memory: Memory::Auto }
    }
}

impl Settings {
    /// The field of a settable property.
    pub(super) fn field(&mut self, name: &str) -> Option<&mut dyn Field> {
        property::field(&*TABLE, self, name)
    }

    /// What the values mean for a stream, whose caps may insist on dma-bufs.
    pub(super) fn terms(&self, caps_need_dma_bufs: bool) -> Result<Terms, SettingsError> {
        let Self { min, max, contiguous, .. } = *self;
        if max != 0 && max < min {
            return Err(SettingsError::Buffers { min, max });
        }
        let needs_dma_bufs = contiguous || caps_need_dma_bufs;
        let memory = match self.memory {
            Memory::Shm if contiguous => {
                return Err(SettingsError::Shm { why: "contiguous, which only dma-bufs are" });
            }
            Memory::Shm if caps_need_dma_bufs => {
                return Err(SettingsError::Shm { why: "memory:DMABuf was negotiated" });
            }
            Memory::Auto if needs_dma_bufs || TensorAllocator::is_available() => Memory::DmaBuf,
            asked @ (Memory::Auto | Memory::DmaBuf | Memory::Shm) => asked,
        };
        let align = StrideAlign::new(usize::try_from(self.alignment).unwrap_or(0))?;
        let terms = Terms { request: Request { align, min, max }, contiguous, memory };
        // What cannot be had is noticed now, with every path and errno, not by upstream.
        match terms.policy().allocate(1, CpuAccess::ReadWrite) {
            Ok(_) => Ok(terms),
            Err(error) => Err(SettingsError::NoMemory { contiguous, memory: memory.name(), error }),
        }
    }

    /// Whether frames may leave in dma-bufs.
    pub(super) fn may_be_dma_bufs(&self) -> bool {
        self.memory != Memory::Shm && TensorAllocator::is_available()
    }
}

/// What the frames of a stream are to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) request: Request,
    pub(super) contiguous: bool,
    /// [`Memory::Auto`] only where the machine had no dma-bufs to give.
    pub(super) memory: Memory,
}

impl Terms {
    fn policy(&self) -> AllocPolicy {
        let policy = match self.memory {
            Memory::Auto => AllocPolicy::with_fd(),
            Memory::DmaBuf => AllocPolicy::dma_buf_only(),
            Memory::Shm => AllocPolicy::from_steps([Step::Memfd]),
        };
        if self.contiguous { policy.contiguous() } else { policy }
    }

    /// A pool of such frames, to be configured.
    pub(super) fn pool(&self) -> Result<TensorBufferPool, PoolError> {
        let pool = TensorBufferPool::builder().alignment(self.request.align).policy(self.policy());
        pool.contiguous(self.contiguous).build()
    }

    /// Whether dma-bufs of which no more is known can be what was asked for. Of contiguous memory
    /// downstream may have some for the first frames and other memory for the rest.
    pub(super) fn takes_foreign_memory(&self) -> bool {
        !self.contiguous && self.memory != Memory::Shm
    }

    /// An allocator for producers that use no pool, where ours makes what is asked for.
    pub(super) fn allocator(&self) -> Option<gst::Allocator> {
        (self.memory == Memory::DmaBuf && !self.contiguous).then(|| TensorAllocator::get().upcast())
    }
}

/// The settable properties.
static TABLE: LazyLock<[Property<Settings>; 5]> = LazyLock::new(|| {
    let default = Settings::default();
    let min = glib::ParamSpecUInt::builder("min-buffers")
        .nick("Least buffers")
        .blurb("Buffers that the pool has at least; more if downstream asks for more")
        .default_value(default.min);
    let max = glib::ParamSpecUInt::builder("max-buffers")
        .nick("Most buffers")
        .blurb("Buffers that the pool has at most, after which a producer waits (0: no bound)")
        .default_value(default.max);
    let alignment = glib::ParamSpecUInt::builder("alignment")
        .nick("Alignment")
        .blurb("What row strides and beginnings of planes are multiples of (bytes, power of 2)")
        .minimum(default.alignment)
        .maximum(MOST_ALIGNMENT)
        .default_value(default.alignment);
    let contiguous = glib::ParamSpecBoolean::builder("contiguous").nick("Contiguous").blurb(
        "Whether each frame is one run of physical pages, for devices without an IOMMU; needs a \
         contiguous (CMA) dma-heap",
    );
    let memory = glib::ParamSpecEnum::builder_with_default("memory", default.memory)
        .nick("Memory")
        .blurb("Memory that frames leave in");
    [
        Property { spec: min.mutable_ready().build(), field: |it| &mut it.min },
        Property { spec: max.mutable_ready().build(), field: |it| &mut it.max },
        Property { spec: alignment.mutable_ready().build(), field: |it| &mut it.alignment },
        Property { spec: contiguous.mutable_ready().build(), field: |it| &mut it.contiguous },
        Property { spec: memory.mutable_ready().build(), field: |it| &mut it.memory },
    ]
});

/// All properties of the element.
pub(super) fn properties() -> &'static [glib::ParamSpec] {
    static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
        let stats = glib::ParamSpecBoxed::builder::<gst::Structure>("stats")
            .nick("Statistics")
            .blurb(
                "Counts since the start: frames, pooled, foreign, copied, copied-bytes; mode \
                 (none, pool, foreign, copy) and memory (none, dmabuf, shm) of the last frame",
            )
            .read_only()
            .build();
        TABLE.iter().map(|property| property.spec.clone()).chain([stats]).collect()
    });
    &PROPERTIES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(settings: Settings, caps_need_dma_bufs: bool) -> String {
        gst::init().unwrap();
        settings.terms(caps_need_dma_bufs).unwrap_err().to_string()
    }

    #[test]
    fn values_that_do_not_go_together_are_refused_by_name() {
        let shm = Settings { memory: Memory::Shm, ..Settings::default() };
        assert_eq!(
            refusal(Settings { min: 4, max: 3, ..shm }, false),
            "max-buffers: 3 are fewer than min-buffers, 4"
        );
        assert!(refusal(Settings { alignment: 96, ..shm }, false).contains("96"));
        assert!(refusal(Settings { contiguous: true, ..shm }, false).contains("contiguous"));
        assert!(refusal(shm, true).contains("memory:DMABuf"));
    }

    #[test]
    fn dma_bufs_are_insisted_on_where_there_are_any() {
        gst::init().unwrap();
        let terms = Settings::default().terms(false).unwrap();
        let best = if TensorAllocator::is_available() { Memory::DmaBuf } else { Memory::Auto };
        assert_eq!(terms.memory, best);
        assert_eq!(terms.allocator().is_some(), best == Memory::DmaBuf);
    }
}
