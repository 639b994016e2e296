use std::sync::LazyLock;

use gst::{glib, prelude::*, subclass::prelude::*};
use tensor_core::{
    blob::packet::PacketHeader,
    transfer::{TransportMode, export},
};

use super::{PayError, STREAM, STREAM_VERSION};
use crate::{
    meta::BufferTensorExt,
    pads::{self, Filter},
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("tensors as a stream of bytes");
    gst::DebugCategory::new("tensorpay", gst::DebugColorFlags::empty(), blurb)
});

/// The private half of [`TensorPay`](super::TensorPay).
#[derive(Debug)]
pub struct TensorPay {
    sinkpad: gst::Pad,
    srcpad: gst::Pad,
}

impl Filter for TensorPay {
    fn chain(&self, buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let packet = packet(&buffer).map_err(|error| {
            gst::error!(CAT, imp = self, "{error}");
            gst::element_imp_error!(self, gst::StreamError::Encode, ("{error}"));
            gst::FlowError::Error
        })?;
        drop(buffer);
        gst::trace!(CAT, imp = self, "a packet of {} bytes", packet.size());
        self.srcpad.push(packet)
    }

    fn sink_event(&self, event: gst::Event) -> bool {
        let gst::EventView::Caps(caps) = event.view() else {
            return gst::Pad::event_default(&self.sinkpad, Some(&*self.obj()), event);
        };
        let rate = caps.caps().structure(0).and_then(|s| s.get::<gst::Fraction>("framerate").ok());
        let stream = gst::Caps::builder(STREAM).field("version", STREAM_VERSION);
        let stream = stream.field_if_some("framerate", rate).build();
        self.srcpad.push_event(gst::event::Caps::new(&stream))
    }

    /// What the one pad takes says nothing of what the other gives.
    fn query(&self, pad: &gst::Pad, query: &mut gst::QueryRef) -> bool {
        if pads::answer(pad, None, query) {
            return true;
        }
        // Downstream's buffers are for packets, not for frames; a video meta is understood.
        if let gst::QueryViewMut::Allocation(allocation) = query.view_mut() {
            allocation.add_allocation_meta::<gst_video::VideoMeta>(None);
            return true;
        }
        gst::Pad::query_default(pad, Some(&*self.obj()), query)
    }
}

/// The buffer's tensors as one packet: a memory for the header and one for each blob.
fn packet(buffer: &gst::Buffer) -> Result<gst::Buffer, PayError> {
    let mut header = PacketHeader {
        pts: buffer.pts().map(gst::ClockTime::nseconds),
        duration: buffer.duration().map(gst::ClockTime::nseconds),
        ..PacketHeader::default()
    };
    let mut blobs = Vec::new();
    for meta in buffer.tensor_metas() {
        let index = meta.index();
        let too_many = |_| PayError::TooMany { tensors: buffer.tensor_metas().count() };
        header.indices.try_push(index).map_err(too_many)?;
        let tensor = meta.tensor(buffer).map_err(|error| PayError::Tensor { index, error })?;
        let exported = export(&tensor, TransportMode::Inline);
        blobs.push(exported.map_err(|error| PayError::Export { index, error })?.0);
    }
    if blobs.is_empty() {
        return Err(PayError::NoTensor { bytes: buffer.size() });
    }
    let blobs_len = blobs.iter().map(Vec::len).fold(0, usize::saturating_add);
    let mut packet = gst::Buffer::from_mut_slice(header.to_bytes(blobs_len));
    let writable = packet.make_mut();
    for blob in blobs {
        writable.append_memory(gst::Memory::from_mut_slice(blob));
    }
    let kept = gst::BufferCopyFlags::FLAGS | gst::BufferCopyFlags::TIMESTAMPS;
    if buffer.copy_into(writable, kept, ..).is_err() {
        writable.set_pts(buffer.pts());
    }
    Ok(packet)
}

#[glib::object_subclass]
impl ObjectSubclass for TensorPay {
    const NAME: &'static str = "GstTensorPay";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorPay;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let [sinkpad, srcpad] = pads::build::<Self>(class);
        Self { sinkpad, srcpad }
    }
}

impl ObjectImpl for TensorPay {
    fn constructed(&self) {
        self.parent_constructed();
        pads::add(&*self.obj(), [&self.sinkpad, &self.srcpad]);
    }
}

impl GstObjectImpl for TensorPay {}

impl ElementImpl for TensorPay {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Tensor stream payloader",
                "Muxer/Network",
                "Writes the tensors of buffers as a stream of bytes",
                env!("CARGO_PKG_NAME"),
            )
        });
        Some(&*METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let stream = gst::Caps::builder(STREAM).field("version", STREAM_VERSION).build();
            pads::templates(&gst::Caps::new_any(), &stream)
        });
        &TEMPLATES
    }
}
