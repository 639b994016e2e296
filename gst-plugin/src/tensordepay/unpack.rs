//! From a packet to a buffer.

use gst::{glib, prelude::*};
use gst_video::{VideoFrameFlags, VideoMeta};
use tensor_core::{BlobView, blob::packet::Packet, transfer::Carried};

use super::{DepayError, caps};
use crate::{meta::TensorMeta, video_layout};

/// A cache line: what vector instructions and devices like a tensor to start at.
const ALIGN_MASK: usize = 63;

/// A buffer with a memory and a meta for each tensor of the packet, and its caps.
pub(super) fn unpack(
    packet: &Packet<'_>,
    rate: gst::Fraction,
) -> Result<(gst::Buffer, gst::Caps), DepayError> {
    let mut tensors = Vec::with_capacity(packet.blobs.len());
    for (tensor, view) in packet.blobs.iter().enumerate() {
        let carried = Carried::of(view).map_err(|error| DepayError::Tensor { tensor, error })?;
        tensors.push((*view, carried));
    }
    let mut buffer = gst::Buffer::new();
    let writable = buffer.make_mut();
    writable.set_pts(packet.header.pts.map(gst::ClockTime::from_nseconds));
    writable.set_duration(packet.header.duration.map(gst::ClockTime::from_nseconds));
    for (tensor, (index, (view, carried))) in packet.header.indices.iter().zip(&tensors).enumerate()
    {
        if packet.header.indices.iter().take(tensor).any(|earlier| earlier == index) {
            return Err(DepayError::Twice { index: *index });
        }
        writable.append_memory(memory(view, carried)?);
        let handle = i64::try_from(tensor).unwrap_or(i64::MAX);
        let blob = carried.describe(view, handle);
        let blob = blob.map_err(|error| DepayError::Tensor { tensor, error })?;
        TensorMeta::add_blob(writable, *index, &glib::Bytes::from_owned(blob))?;
    }
    if let [(_, carried)] = tensors.as_slice() {
        add_video_meta(writable, carried);
    }
    let caps = caps::caps(&tensors, rate);
    Ok((buffer, caps))
}

fn memory(view: &BlobView<'_>, carried: &Carried) -> Result<gst::Memory, DepayError> {
    let bytes = carried.len.max(1);
    let params = gst::AllocationParams::new(gst::MemoryFlags::empty(), ALIGN_MASK, 0, 0);
    let allocator = gst::Allocator::find(None).ok_or(DepayError::NoMemory { bytes })?;
    let memory = allocator.alloc(bytes, Some(&params));
    let memory = memory.map_err(|_| DepayError::NoMemory { bytes })?;
    let mut mapped =
        memory.into_mapped_memory_writable().map_err(|_| DepayError::NoMemory { bytes })?;
    carried.copy_to(view, mapped.as_mut_slice());
    Ok(mapped.into_memory())
}

/// Says where the rows of an image are: as close as they can be, which is not what caps alone mean.
fn add_video_meta(buffer: &mut gst::BufferRef, carried: &Carried) {
    let Some(image) = caps::image(carried) else { return };
    let Some(format) = video_layout::video_format(image.format()) else { return };
    let size = [image.width(), image.height()].map(|pixels| u32::try_from(pixels).unwrap_or(0));
    let offsets: Vec<usize> = image.planes().iter().map(|place| place.offset).collect();
    let strides =
        image.planes().iter().map(|place| i32::try_from(place.stride).unwrap_or(i32::MAX));
    let strides: Vec<i32> = strides.collect();
    let flags = VideoFrameFlags::empty();
    // Without it the tensor meta says the same.
    let _added = VideoMeta::add_full(buffer, flags, format, size[0], size[1], &offsets, &strides);
}
