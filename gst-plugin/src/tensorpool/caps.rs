//! The caps of one pad when those of the other are known: the same, in any spelling of dma-buf.

use gst::prelude::*;
use gst_allocators::CAPS_FEATURE_MEMORY_DMABUF;

use crate::{tensorimport::caps::drm_code, video_layout};

/// How caps say where frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    /// `video/x-raw`.
    Plain,
    /// `video/x-raw(memory:DMABuf)` with the name of a format.
    DmaBuf,
    /// The same with `format=DMA_DRM` and a DRM code, as of GStreamer 1.24.
    Drm,
}

impl Spelling {
    const ALL: [Self; 3] = [Self::Plain, Self::DmaBuf, Self::Drm];

    /// `None` for frames that are somewhere else.
    fn of(structure: &gst::StructureRef, features: &gst::CapsFeaturesRef) -> Option<Self> {
        let is_drm = structure.has_field("drm-format");
        if features.contains(CAPS_FEATURE_MEMORY_DMABUF) {
            return Some(if is_drm { Self::Drm } else { Self::DmaBuf });
        }
        let is_plain = features.is_equal(&gst::CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
        (is_plain && !is_drm).then_some(Self::Plain)
    }

    fn features(self) -> gst::CapsFeatures {
        match self {
            Self::Plain => gst::CapsFeatures::new_empty(),
            Self::DmaBuf | Self::Drm => gst::CapsFeatures::new([CAPS_FEATURE_MEMORY_DMABUF]),
        }
    }

    /// The structure in this spelling; `None` where it has no word for the format.
    fn spell(self, structure: &gst::StructureRef) -> Option<gst::Structure> {
        let mut spelled = structure.to_owned();
        match (self, structure.value("drm-format")) {
            (Self::Drm, Ok(_)) | (Self::Plain | Self::DmaBuf, Err(_)) => (),
            (Self::Drm, Err(_)) => {
                let codes = renamed(structure.value("format").ok()?, code_of)?;
                spelled.set("format", "DMA_DRM");
                spelled.set_value("drm-format", codes);
            }
            (Self::Plain | Self::DmaBuf, Ok(codes)) => {
                let names = renamed(codes, name_of)?;
                spelled.remove_field("drm-format");
                spelled.set_value("format", names);
            }
        }
        Some(spelled)
    }
}

/// The names of a field, one or several, that have another.
fn renamed(
    value: &gst::glib::SendValue,
    other: impl Fn(&str) -> Option<String>,
) -> Option<gst::glib::SendValue> {
    if let Ok(name) = value.get::<&str>() {
        return Some(other(name)?.to_send_value());
    }
    let list = value.get::<gst::List>().ok()?;
    let others: Vec<_> = list.iter().filter_map(|name| other(name.get().ok()?)).collect();
    (!others.is_empty()).then(|| gst::List::new(others).to_send_value())
}

fn code_of(name: &str) -> Option<String> {
    drm_code(name.parse().ok()?)
}

fn name_of(code: &str) -> Option<String> {
    Some(video_layout::linear_drm_format(code).ok()?.to_str().to_string())
}

/// `caps` as they are, then in the other spellings.
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
        let Some(known) = Spelling::of(structure, features) else { continue };
        for wanted in Spelling::ALL.into_iter().filter(|wanted| *wanted != known) {
            let (sink, src) = match direction {
                gst::PadDirection::Src => (wanted, known),
                gst::PadDirection::Sink | gst::PadDirection::Unknown => (known, wanted),
            };
            // The one pair that the machine may be unable to serve.
            let makes_dma_bufs = sink == Spelling::Plain && src != Spelling::Plain;
            if let Some(spelled) = wanted.spell(structure)
                && (may_be_dma_bufs || !makes_dma_bufs)
            {
                all.make_mut().append_structure_full(spelled, Some(wanted.features()));
            }
        }
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
    const DRM: &str = "video/x-raw(memory:DMABuf), format=(string)DMA_DRM, drm-format=(string)NV12";

    #[test]
    fn plain_frames_may_leave_as_dma_bufs_where_there_are_any() {
        let sink = |available| other(PLAIN, PadDirection::Sink, available);
        assert_eq!(sink(true), format!("{PLAIN}; {DMA_BUF}; {DRM}"));
        assert_eq!(sink(false), PLAIN);
        let src = |available| other(DMA_BUF, PadDirection::Src, available);
        assert_eq!(src(true), format!("{DMA_BUF}; {PLAIN}; {DRM}"));
        assert_eq!(src(false), format!("{DMA_BUF}; {DRM}"));
    }

    #[test]
    fn dma_bufs_may_leave_under_plain_caps_everywhere() {
        for available in [true, false] {
            let sink = other(DRM, PadDirection::Sink, available);
            assert_eq!(sink, format!("{DRM}; {PLAIN}; {DMA_BUF}"));
            let src = other(PLAIN, PadDirection::Src, available);
            assert_eq!(src, format!("{PLAIN}; {DMA_BUF}; {DRM}"));
        }
    }

    #[test]
    fn lists_keep_what_has_a_name_on_the_other_side() {
        let lists = "video/x-raw, format=(string){ RGB, RGBP, NV12 }";
        let found = other(lists, PadDirection::Sink, true);
        assert!(found.ends_with("drm-format=(string){ BG24, NV12 }"), "{found}");
        let codes = "video/x-raw(memory:DMABuf), format=(string)DMA_DRM, \
                     drm-format=(string){ BG24, NV12:0x0100000000000002 }";
        let found = other(codes, PadDirection::Sink, true);
        assert!(found.contains("; video/x-raw, format=(string){ RGB }; "), "{found}");
    }

    #[test]
    fn what_has_one_spelling_keeps_it() {
        for one in [
            "video/x-raw(memory:DMABuf), format=(string)DMA_DRM, drm-format=(string)NV12:0x0100000000000002",
            "video/x-raw(memory:GLMemory), format=(string)NV12",
        ] {
            assert_eq!(other(one, PadDirection::Sink, true), one);
        }
    }
}
