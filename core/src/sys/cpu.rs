//! What this processor can do beyond what every one of its family can.

/// Something to be done with the widest vectors there are.
///
/// Its `work` and all that this calls for speed should be `#[inline(always)]`: what is not inlined is
/// compiled for every processor of the family.
pub trait Work {
    /// Does it.
    fn work(self);
}

/// Does `work`, compiled for this processor: on x86 with AVX2 where there is that. On 64-bit Arm the
/// vectors are part of the family. The numbers are the same; nothing is fused or reordered.
pub fn vectorized(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2(work: impl Work) {
            work.work();
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, all that the function asks for.
            return unsafe { avx2(work) };
        }
    }
    work.work();
}
