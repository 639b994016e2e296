//! What `tensorpool` counts.

/// How a frame came to be in the memory that it leaves in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Upstream wrote it into a pool of ours.
    Pool,
    /// Upstream wrote it into memory of its own that is as good.
    Foreign,
    /// It was copied.
    Copy,
}

impl Mode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Foreign => "foreign",
            Self::Copy => "copy",
        }
    }
}

/// Counters since the element was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pooled: u64,
    foreign: u64,
    copied: u64,
    copied_bytes: u64,
    mode: Option<Mode>,
    is_dma_buf: bool,
}

impl Counters {
    /// Counts a frame of which `bytes` were copied; says whether the mode is another now.
    pub(super) fn count(&mut self, mode: Mode, bytes: u64, is_dma_buf: bool) -> bool {
        let counter = match mode {
            Mode::Pool => &mut self.pooled,
            Mode::Foreign => &mut self.foreign,
            Mode::Copy => &mut self.copied,
        };
        *counter = counter.saturating_add(1);
        self.copied_bytes = self.copied_bytes.saturating_add(bytes);
        self.is_dma_buf = is_dma_buf;
        self.mode.replace(mode) != Some(mode)
    }

    pub(super) fn frames(&self) -> u64 {
        self.pooled.saturating_add(self.foreign).saturating_add(self.copied)
    }

    /// The value of the `stats` property.
    pub(super) fn to_structure(self) -> gst::Structure {
        let memory = match self.mode {
            None => "none",
            Some(_) if self.is_dma_buf => "dmabuf",
            Some(_) => "shm",
        };
        gst::Structure::builder("application/x-tensor-pool-stats")
            .field("frames", self.frames())
            .field("pooled", self.pooled)
            .field("foreign", self.foreign)
            .field("copied", self.copied)
            .field("copied-bytes", self.copied_bytes)
            .field("mode", self.mode.map_or("none", Mode::name))
            .field("memory", memory)
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_mode_is_told_once() {
        gst::init().unwrap();
        let mut counters = Counters::default();
        let changes = [Mode::Pool, Mode::Pool, Mode::Copy, Mode::Foreign, Mode::Foreign]
            .map(|mode| counters.count(mode, u64::from(mode == Mode::Copy) * 7, true));
        assert_eq!(changes, [true, false, true, true, false]);
        let stats = counters.to_structure();
        let count = |name| stats.get::<u64>(name).unwrap();
        assert_eq!(["frames", "pooled", "copied", "foreign"].map(count), [5, 2, 1, 2]);
        assert_eq!(count("copied-bytes"), 7);
        assert_eq!((stats.get("mode"), stats.get("memory")), (Ok("foreign"), Ok("dmabuf")));
    }
}
