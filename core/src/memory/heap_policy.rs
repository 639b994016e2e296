//! Which dma-heaps serve, and in which order.

use std::path::{Path, PathBuf};

use crate::access::CpuAccess;

/// The order in which dma-heaps are tried, by what the CPU will do with the bytes.
///
/// Contiguous heaps come first, under any of the names kernels give them, then `system`, then the
/// rest. Protected ones are always left out: the CPU cannot map them at all.
///
/// ```
/// use tensor_core::{CpuAccess, memory::HeapPolicy};
/// assert_eq!(HeapPolicy::from(CpuAccess::Write), HeapPolicy::UncachedFirst);
/// let heaps = ["linux,cma", "linux,cma-uncached", "system"].map(Into::into);
/// let order = HeapPolicy::from(CpuAccess::Read).order(heaps);
/// assert_eq!(order, ["linux,cma", "system"].map(std::path::PathBuf::from));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapPolicy {
    /// Uncached heaps before cached ones of their sort: a device then needs no cache maintenance.
    UncachedFirst,
    /// No uncached heap: reading from one is many times slower.
    Cached,
}

impl From<CpuAccess> for HeapPolicy {
    /// [`UncachedFirst`](Self::UncachedFirst) unless the CPU reads.
    fn from(access: CpuAccess) -> Self {
        if access.reads() { Self::Cached } else { Self::UncachedFirst }
    }
}

impl HeapPolicy {
    /// The heaps that may serve, told by the names of their device nodes, in the order to try them.
    #[must_use]
    pub fn order(self, heaps: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
        let rank = |path: PathBuf| Some((self.rank(&path)?, path));
        let mut ranked: Vec<_> = heaps.into_iter().filter_map(rank).collect();
        ranked.sort();
        ranked.into_iter().map(|(_, path)| path).collect()
    }

    fn rank(self, path: &Path) -> Option<u8> {
        let name = path.file_name()?.to_str()?;
        if ["protected", "secure"].iter().any(|part| name.contains(part)) {
            return None;
        }
        let is_uncached = name.contains("uncached");
        match (is_uncached, is_contiguous(path)) {
            (true, _) if self == Self::Cached => None,
            (true, true) => Some(0),
            (false, true) => Some(1),
            (true, false) => Some(2),
            (false, false) if name == "system" => Some(3),
            (false, false) => Some(4),
        }
    }
}

/// Whether a heap's name says that it gives one run of physical pages.
pub(super) fn is_contiguous(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["cma", "reserved"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CPU-10, S-SEL-05
    #[test]
    fn the_order_of_heaps_follows_what_the_cpu_reads() {
        let names = [
            "linux,cma",
            "linux,cma-uncached",
            "system",
            "system-uncached",
            "vendor",
            "reserved",
            "secure",
        ];
        let order = |access| -> Vec<String> {
            let heaps = names.iter().map(|name| Path::new("/dev/dma_heap").join(name));
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            HeapPolicy::from(access).order(heaps).iter().map(name).collect()
        };
        let cached = ["linux,cma", "reserved", "system", "vendor"];
        let uncached =
            ["linux,cma-uncached", "linux,cma", "reserved", "system-uncached", "system", "vendor"];
        assert_eq!(order(CpuAccess::Read), cached);
        assert_eq!(order(CpuAccess::ReadWrite), cached);
        assert_eq!(order(CpuAccess::Write), uncached);
        assert_eq!(order(CpuAccess::None), uncached);
    }
}
