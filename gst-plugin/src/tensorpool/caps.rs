//! The caps of one pad when those of the other are known: the same, in either spelling of dma-buf.

use gst_allocators::CAPS_FEATURE_MEMORY_DMABUF;

/// `caps` as they are, then with `memory:DMABuf` instead of plain memory and the other way round.
///
/// Frames that come under plain caps may leave as dma-bufs where `may_be_dma_bufs`, and frames that
/// come as dma-bufs may leave under plain caps.
pub(super) fn of_other_side(
    caps: &gst::CapsRef,
    direction: gst::PadDirection,
    may_be_dma_bufs: bool,
) -> gst::Caps {
    let mut all = caps.to_owned();
    for (structure, features) in caps.iter_with_features() {
        let is_dma_buf = features.contains(CAPS_FEATURE_MEMORY_DMABUF);
        let is_plain = features.is_equal(&gst::CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
        // A DRM code without the feature is no frame at all.
        let is_drm =
            structure.get::<&str>("format") == Ok("DMA_DRM") || structure.has_field("drm-format");
        if is_drm || !(is_dma_buf || is_plain) {
            continue;
        }
        // Plain memory in, dma-bufs out: the one pair that the machine may be unable to serve.
        let makes_dma_bufs = (direction == gst::PadDirection::Sink) == is_plain;
        if makes_dma_bufs && !may_be_dma_bufs {
            continue;
        }
        let other = if is_dma_buf {
            gst::CapsFeatures::new_empty()
        } else {
            gst::CapsFeatures::new([CAPS_FEATURE_MEMORY_DMABUF])
        };
        all.make_mut().append_structure_full(structure.to_owned(), Some(other));
    }
    all
}

/// Whether frames of these caps have to be dma-bufs.
pub(super) fn need_dma_bufs(caps: &gst::CapsRef) -> bool {
    caps.features(0).is_some_and(|features| features.contains(CAPS_FEATURE_MEMORY_DMABUF))
}

#[cfg(test)]
mod tests {
    use gst::PadDirection;

    use super::*;

    fn other(caps: &str, direction: PadDirection, may_be_dma_bufs: bool) -> String {
        gst::init().unwrap();
        of_other_side(&caps.parse::<gst::Caps>().unwrap(), direction, may_be_dma_bufs).to_string()
    }

    const PLAIN: &str = "video/x-raw, format=(string)NV12";
    const DMA_BUF: &str = "video/x-raw(memory:DMABuf), format=(string)NV12";

    #[test]
    fn plain_frames_may_leave_as_dma_bufs_where_there_are_any() {
        assert_eq!(other(PLAIN, PadDirection::Sink, true), format!("{PLAIN}; {DMA_BUF}"));
        assert_eq!(other(PLAIN, PadDirection::Sink, false), PLAIN);
        assert_eq!(other(DMA_BUF, PadDirection::Src, true), format!("{DMA_BUF}; {PLAIN}"));
        assert_eq!(other(DMA_BUF, PadDirection::Src, false), DMA_BUF);
    }

    #[test]
    fn dma_bufs_may_leave_under_plain_caps_everywhere() {
        for available in [true, false] {
            let sink = other(DMA_BUF, PadDirection::Sink, available);
            assert_eq!(sink, format!("{DMA_BUF}; {PLAIN}"));
            let src = other(PLAIN, PadDirection::Src, available);
            assert_eq!(src, format!("{PLAIN}; {DMA_BUF}"));
        }
    }

    #[test]
    fn what_has_one_spelling_keeps_it() {
        for one in [
            "video/x-raw(memory:DMABuf), format=(string)DMA_DRM, drm-format=(string)NV12",
            "video/x-raw(memory:GLMemory), format=(string)NV12",
        ] {
            assert_eq!(other(one, PadDirection::Sink, true), one);
        }
    }
}
