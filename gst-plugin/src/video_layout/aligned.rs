//! What to allocate for a frame: aligned strides, and the padding a peer asked for.

use gst_video::{VideoAlignment, VideoInfo};
use tensor_core::{ImageLayout, PixelFormat, PlaneFormat, PlanePlacement, StrideAlign};

use super::{VideoLayoutError, known, layout_from_info, to_usize};

/// Where a frame's samples go in one memory, and how big that memory must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameGeometry {
    /// The planes; offsets name the first sample of the image, past any padding.
    pub layout: ImageLayout,
    /// Bytes of the memory, with the padding on all sides and the whole last row.
    pub allocation_len: usize,
}

/// The geometry to allocate for `info`: one memory, each stride the smallest multiple of `align`.
///
/// `alignment` adds what a peer asked for: pixels of padding around the image, and masks that can
/// raise the alignment. (`gst_video_info_align` would instead widen the image until all strides
/// fit, which gives RGB of 642 pixels a stride of 2112 where 1984 is enough.)
///
/// # Errors
/// See [`VideoLayoutError`].
pub fn aligned_layout(
    info: &VideoInfo,
    align: StrideAlign,
    alignment: Option<&VideoAlignment>,
) -> Result<FrameGeometry, VideoLayoutError> {
    let format = known(info.format())?;
    let (width, height) = (to_usize(info.width()), to_usize(info.field_height()));
    let too_much = || VideoLayoutError::Padding { width, height };
    let (align, padding) = match alignment {
        None => (align, Padding::NONE),
        Some(asked) => {
            let align = raised(align, asked)?;
            (align, Padding::new(format, asked, align).ok_or_else(too_much)?)
        }
    };
    let (padded_width, padded_height) = padding.around(width, height).ok_or_else(too_much)?;
    let padded = ImageLayout::packed(format, padded_width, padded_height, align)?;
    let planes = padded.planes().iter().zip(format.planes());
    let planes = planes
        .map(|(place, plane)| padding.first_sample(*place, *plane).ok_or_else(too_much))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(FrameGeometry {
        layout: ImageLayout::from_planes(format, width, height, &planes)?,
        allocation_len: padded.allocation_len(0),
    })
}

/// The `GstVideoAlignment` to state in a video meta over `layout`, so that peers can tell where the
/// padding is; `None` where `gst_video_info_align` would not come to the same planes from `asked`,
/// as a stated alignment must.
#[must_use]
pub fn stated_alignment(
    info: &VideoInfo,
    asked: &VideoAlignment,
    layout: &ImageLayout,
) -> Option<VideoAlignment> {
    let (mut theirs, mut alignment) = (info.clone(), *asked);
    theirs.align(&mut alignment).ok()?;
    let aligned = layout_from_info(&theirs).ok()?;
    (aligned == *layout).then_some(alignment)
}

/// `align`, or more where a mask demands it of any plane: GStreamer asks that `stride & mask` be 0.
fn raised(align: StrideAlign, alignment: &VideoAlignment) -> Result<StrideAlign, VideoLayoutError> {
    let mask = alignment.stride_align().iter().fold(0, |all, mask| all | *mask);
    let bytes = to_usize(mask).saturating_add(1);
    let bytes = bytes.checked_next_power_of_two().unwrap_or(bytes);
    Ok(StrideAlign::new(bytes.max(align.bytes()))?)
}

/// Pixels around an image.
#[derive(Clone, Copy, Debug)]
struct Padding {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Padding {
    const NONE: Self = Self { left: 0, top: 0, right: 0, bottom: 0 };

    /// What `asked` asks for. Left and top are raised to where a row of every plane begins, and
    /// begins aligned, so that offsets stay multiples of `align`.
    fn new(format: PixelFormat, asked: &VideoAlignment, align: StrideAlign) -> Option<Self> {
        let columns = aligned_columns(format.planes(), align)?;
        let rows = format.planes().iter().map(|plane| plane.vsub).max().unwrap_or(1);
        Some(Self {
            left: to_usize(asked.padding_left()).checked_next_multiple_of(columns)?,
            top: to_usize(asked.padding_top()).checked_next_multiple_of(rows)?,
            right: to_usize(asked.padding_right()),
            bottom: to_usize(asked.padding_bottom()),
        })
    }

    fn around(self, width: usize, height: usize) -> Option<(usize, usize)> {
        let width = width.checked_add(self.left)?.checked_add(self.right)?;
        let height = height.checked_add(self.top)?.checked_add(self.bottom)?;
        Some((width, height))
    }

    /// The plane without the rows above and the columns left of its first real sample.
    fn first_sample(self, place: PlanePlacement, plane: PlaneFormat) -> Option<PlanePlacement> {
        let above = place.stride.checked_mul(plane.rows(self.top))?;
        let beside = plane.row_bytes(self.left)?;
        let offset = place.offset.checked_add(above)?.checked_add(beside)?;
        Some(PlanePlacement { offset, ..place })
    }
}

/// The fewest columns, a power of two, that are whole blocks and a multiple of `align` bytes in
/// every plane.
fn aligned_columns(planes: &[PlaneFormat], align: StrideAlign) -> Option<usize> {
    let is_aligned = |columns: usize, plane: &PlaneFormat| {
        let is_whole = columns.is_multiple_of(plane.hsub.saturating_mul(plane.block_width));
        let bytes = plane.row_bytes(columns).unwrap_or(0);
        is_whole && bytes.is_multiple_of(align.bytes())
    };
    (0..usize::BITS)
        .filter_map(|bit| 1_usize.checked_shl(bit))
        .find(|columns| planes.iter().all(|plane| is_aligned(*columns, plane)))
}
