//! Which tensor is this: a number that is never given twice in a process.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU64, Ordering},
};

/// The identity of a tensor, shared by its clones.
///
/// Caches of what was made from a tensor (an EGL image, a registered NPU buffer) key on
/// [`id`](Self::id) and drop entries whose [`weak`](Self::weak) is dead. It is made new at every
/// import: to keep it across frames, keep the tensor, as [`ImportCache`](crate::ImportCache) does.
#[derive(Clone, Debug)]
pub struct BufferIdentity(Arc<u64>);

/// Tells whether a tensor is still alive, without keeping it so.
#[derive(Clone, Debug)]
pub struct WeakIdentity(Weak<u64>);

impl BufferIdentity {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(Arc::new(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The number; no other tensor of this process has or had it.
    #[must_use]
    pub fn id(&self) -> u64 {
        *self.0
    }

    /// A sign of life that does not keep the tensor.
    #[must_use]
    pub fn weak(&self) -> WeakIdentity {
        WeakIdentity(Arc::downgrade(&self.0))
    }
}

impl WeakIdentity {
    /// Whether any clone of the tensor still lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // S-ID-01, D-30
    #[test]
    fn a_thousand_identities_are_a_thousand_numbers() {
        let ids: HashSet<_> = (0..1000).map(|_| BufferIdentity::new().id()).collect();
        assert_eq!(ids.len(), 1000);
    }

    // S-ID-05
    #[test]
    fn life_ends_with_the_last_clone() {
        let identity = BufferIdentity::new();
        let (clone, weak) = (identity.clone(), identity.weak());
        drop(identity);
        assert!(weak.is_alive());
        drop(clone);
        assert!(!weak.is_alive());
    }
}
