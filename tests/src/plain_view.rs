//! A frame's bytes read the way any program reads them: memory by memory, with the strides of
//! GStreamer's own video meta or caps. Nothing of the plugin takes part.

use gst_video::{VideoFormat, VideoInfo, VideoMeta};

/// A checksum for each plane, over its samples without padding.
pub type PlaneSums = Vec<u32>;

/// The checksums of a frame, by mapping one `GstMemory` at a time.
///
/// # Panics
/// When the frame is shorter than its layout says.
#[must_use]
pub fn plane_sums(buffer: &gst::BufferRef, info: &VideoInfo) -> PlaneSums {
    planes(buffer, info).iter().map(|bytes| crc32fast::hash(bytes)).collect()
}

/// The samples of each plane without padding, by mapping one `GstMemory` at a time.
///
/// The whole buffer is never mapped: that would merge its memories into a new one.
///
/// # Panics
/// When the frame is shorter than its layout says.
#[must_use]
pub fn planes(buffer: &gst::BufferRef, info: &VideoInfo) -> Vec<Vec<u8>> {
    let meta = buffer.meta::<VideoMeta>();
    let offsets = meta.as_ref().map_or(info.offset(), |meta| meta.offset());
    let strides = meta.as_ref().map_or(info.stride(), |meta| meta.stride());
    let plane = |(plane, (offset, stride)): (usize, (&usize, &i32))| {
        let (rows, row_bytes) = plane_size(info, plane);
        let stride = usize::try_from(*stride).expect("rows go downwards");
        let length = stride * (rows - 1) + row_bytes;
        let (memories, skip) = buffer
            .find_memory(*offset..*offset + length)
            .unwrap_or_else(|| panic!("plane {plane} is bytes {offset}+{length} of no memory"));
        assert_eq!(memories.len(), 1, "plane {plane} lies in one memory");
        let map = buffer.peek_memory(memories.start).map_readable().expect("a readable memory");
        let bytes = &map.as_slice()[skip..skip + length];
        bytes.chunks(stride).flat_map(|row| &row[..row_bytes]).copied().collect()
    };
    let planes = usize::try_from(info.n_planes()).expect("a small number");
    offsets.iter().zip(strides).take(planes).enumerate().map(plane).collect()
}

/// Rows of a plane and bytes of samples in one, from GStreamer's description of the format.
fn plane_size(info: &VideoInfo, plane: usize) -> (usize, usize) {
    let format = info.format_info();
    let wide = |n: u32| usize::try_from(n).expect("fits");
    // The packed 4:2:2 formats hold pairs of pixels in four bytes.
    if matches!(info.format(), VideoFormat::Yuy2 | VideoFormat::Uyvy | VideoFormat::Vyuy) {
        return (wide(info.height()), wide(info.width().div_ceil(2)) * 4);
    }
    let component = (0..format.n_components())
        .find(|component| wide(format.plane()[wide(*component)]) == plane)
        .expect("every plane has a component");
    let columns = info.width().div_ceil(1 << format.w_sub()[wide(component)]);
    let rows = info.height().div_ceil(1 << format.h_sub()[wide(component)]);
    let pixel_stride = usize::try_from(format.pixel_stride()[wide(component)]).expect("positive");
    (wide(rows), wide(columns) * pixel_stride)
}
