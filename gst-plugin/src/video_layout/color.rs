//! GStreamer's colorimetry as the four questions of [`Colorimetry`].

use gst_video::{
    VideoColorMatrix as Matrix, VideoColorPrimaries as Primaries, VideoColorRange as Range,
    VideoColorimetry, VideoTransferFunction as Transfer,
};
use tensor_core::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer, Colorimetry};

const SPACES: [(Primaries, ColorSpace); 3] = [
    (Primaries::Bt709, ColorSpace::Bt709),
    (Primaries::Smpte170m, ColorSpace::Smpte170m),
    (Primaries::Bt2020, ColorSpace::Bt2020),
];

/// H.273 gives the curves of BT.601 and BT.2020 as functionally the same as that of BT.709.
const TRANSFERS: [(Transfer, ColorTransfer); 8] = [
    (Transfer::Bt709, ColorTransfer::Bt709),
    (Transfer::Bt601, ColorTransfer::Bt709),
    (Transfer::Bt202010, ColorTransfer::Bt709),
    (Transfer::Bt202012, ColorTransfer::Bt709),
    (Transfer::Srgb, ColorTransfer::Srgb),
    (Transfer::Smpte2084, ColorTransfer::Pq),
    (Transfer::AribStdB67, ColorTransfer::Hlg),
    (Transfer::Gamma10, ColorTransfer::Linear),
];

const ENCODINGS: [(Matrix, ColorEncoding); 3] = [
    (Matrix::Bt601, ColorEncoding::Bt601),
    (Matrix::Bt709, ColorEncoding::Bt709),
    (Matrix::Bt2020, ColorEncoding::Bt2020),
];

const RANGES: [(Range, ColorRange); 2] =
    [(Range::Range0_255, ColorRange::Full), (Range::Range16_235, ColorRange::Limited)];

/// The four answers in a frame's colorimetry; what GStreamer leaves open, or has no equal here,
/// stays open.
///
/// Primaries of BT.709 under the sRGB curve are the sRGB space, as V4L2 cameras mean it.
#[must_use]
pub fn colorimetry(of: &VideoColorimetry) -> Colorimetry {
    let transfer = answer(&TRANSFERS, of.transfer());
    let space = answer(&SPACES, of.primaries());
    let is_srgb = space == Some(ColorSpace::Bt709) && transfer == Some(ColorTransfer::Srgb);
    Colorimetry {
        space: if is_srgb { Some(ColorSpace::Srgb) } else { space },
        transfer,
        encoding: answer(&ENCODINGS, of.matrix()),
        range: answer(&RANGES, of.range()),
    }
}

fn answer<Q: Copy + PartialEq, A: Copy>(table: &[(Q, A)], question: Q) -> Option<A> {
    table.iter().find(|(theirs, _)| *theirs == question).map(|(_, ours)| *ours)
}
