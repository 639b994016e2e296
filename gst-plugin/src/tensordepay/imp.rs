use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use gst::{glib, prelude::*, subclass::prelude::*};
use gst_base::UniqueAdapter;
use tensor_core::blob::packet::{PACKET_HEADER_LEN, Packet, PacketError, PacketLens};

use super::{DepayError, caps::OTHER, unpack::unpack};
use crate::{
    pads::{self, Filter},
    tensor_caps::TENSORS,
    tensorpay::{STREAM, STREAM_VERSION},
};

pub(super) static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    let blurb = Some("a stream of bytes as tensors");
    gst::DebugCategory::new("tensordepay", gst::DebugColorFlags::empty(), blurb)
});

/// A frame of 4K in three channels of f32 is 95 MiB.
const DEFAULT_MAX_SIZE: u64 = 256 << 20;

/// What came and is not yet a packet, and what downstream has been told.
#[derive(Debug)]
struct State {
    adapter: UniqueAdapter,
    rate: gst::Fraction,
    caps: Option<gst::Caps>,
    /// The segment of a stream that has times; of bytes, one from 0 on.
    segment: Option<gst::Event>,
}

impl Default for State {
    fn default() -> Self {
        let (adapter, rate) = (UniqueAdapter::new(), gst::Fraction::new(0, 1));
        Self { adapter, rate, caps: None, segment: None }
    }
}

impl State {
    /// The next packet, once all of it has come.
    fn next(&mut self, max_size: u64) -> Result<Option<(gst::Buffer, gst::Caps)>, DepayError> {
        let available = self.adapter.available();
        let mut start = [0; PACKET_HEADER_LEN];
        if available < start.len() || self.adapter.copy(0, &mut start).is_err() {
            return Ok(None);
        }
        let lens = PacketLens::read(&start, max_size)?;
        if available < lens.packet {
            return Ok(None);
        }
        let need = lens.packet;
        let short = |_| PacketError::Truncated { have: available, need };
        let unpacked = {
            let bytes = self.adapter.map(need).map_err(short)?;
            unpack(&Packet::parse(&bytes, max_size)?, self.rate)
        };
        self.adapter.flush(need);
        unpacked.map(Some)
    }

    /// Whether the stream ends between two packets.
    fn check_end(&self, max_size: u64) -> Result<(), DepayError> {
        let have = self.adapter.available();
        if have == 0 {
            return Ok(());
        }
        let mut start = [0; PACKET_HEADER_LEN];
        let need = if have >= start.len() && self.adapter.copy(0, &mut start).is_ok() {
            PacketLens::read(&start, max_size)?.packet
        } else {
            start.len()
        };
        Err(PacketError::Truncated { have, need }.into())
    }
}

/// The private half of [`TensorDepay`](super::TensorDepay).
#[derive(Debug)]
pub struct TensorDepay {
    sinkpad: gst::Pad,
    srcpad: gst::Pad,
    max_size: Mutex<u64>,
    state: Mutex<State>,
}

impl TensorDepay {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn max_size(&self) -> u64 {
        *self.max_size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells downstream what comes, if that is news.
    fn announce(&self, caps: &gst::Caps) {
        let (is_first, segment) = {
            let mut state = self.state();
            if state.caps.as_ref() == Some(caps) {
                return;
            }
            gst::info!(CAT, imp = self, "{caps}");
            (state.caps.replace(caps.clone()).is_none(), state.segment.clone())
        };
        self.srcpad.push_event(gst::event::Caps::new(caps));
        if is_first {
            let from_zero =
                || gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new());
            self.srcpad.push_event(segment.unwrap_or_else(from_zero));
        }
    }

    fn fail(&self, error: &DepayError) {
        gst::error!(CAT, imp = self, "{error}");
        match error {
            DepayError::Packet(_) | DepayError::Tensor { .. } | DepayError::Twice { .. } => {
                gst::element_imp_error!(self, gst::StreamError::Decode, ("{error}"));
            }
            DepayError::NoMemory { .. } => {
                gst::element_imp_error!(self, gst::ResourceError::NoSpaceLeft, ("{error}"));
            }
            DepayError::Meta(_) => {
                gst::element_imp_error!(self, gst::CoreError::Failed, ("{error}"));
            }
        }
    }
}

impl Filter for TensorDepay {
    fn chain(&self, buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let max_size = self.max_size();
        self.state().adapter.push(buffer);
        loop {
            // Not held while downstream works.
            let next = self.state().next(max_size);
            match next {
                Ok(None) => return Ok(gst::FlowSuccess::Ok),
                Ok(Some((buffer, caps))) => {
                    self.announce(&caps);
                    gst::trace!(CAT, imp = self, "{} bytes of tensors", buffer.size());
                    self.srcpad.push(buffer)?;
                }
                Err(error) => {
                    self.state().adapter.clear();
                    self.fail(&error);
                    return Err(gst::FlowError::Error);
                }
            }
        }
    }

    fn sink_event(&self, event: gst::Event) -> bool {
        let view = event.view();
        if let gst::EventView::Caps(caps) = view {
            let rate = caps.caps().structure(0);
            let rate = rate.and_then(|s| s.get::<gst::Fraction>("framerate").ok());
            self.state().rate = rate.unwrap_or(gst::Fraction::new(0, 1));
            return true;
        }
        if let gst::EventView::Segment(segment) = view {
            // Positions in bytes mean nothing behind this element.
            if segment.segment().format() != gst::Format::Time {
                return true;
            }
            let mut state = self.state();
            state.segment = Some(event.clone());
            if state.caps.is_none() {
                return true;
            }
        }
        if matches!(view, gst::EventView::FlushStop(_)) {
            self.state().adapter.clear();
        }
        if matches!(view, gst::EventView::Eos(_)) {
            let ended = self.state().check_end(self.max_size());
            if let Err(error) = ended {
                self.fail(&error);
            }
        }
        gst::Pad::event_default(&self.sinkpad, Some(&*self.obj()), event)
    }

    /// What the one pad takes says nothing of what the other gives.
    fn query(&self, pad: &gst::Pad, query: &mut gst::QueryRef) -> bool {
        let known = self.state().caps.clone().filter(|_| pad == &self.srcpad);
        if pads::answer(pad, known, query) {
            return true;
        }
        if matches!(query.view(), gst::QueryView::Allocation(_)) {
            return false;
        }
        gst::Pad::query_default(pad, Some(&*self.obj()), query)
    }
}

#[glib::object_subclass]
impl ObjectSubclass for TensorDepay {
    const NAME: &'static str = "GstTensorDepay";
    // An application linked with this crate may load the plugin too.
    const ALLOW_NAME_CONFLICT: bool = true;
    type Type = super::TensorDepay;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let [sinkpad, srcpad] = pads::build::<Self>(class);
        let (max_size, state) = (Mutex::new(DEFAULT_MAX_SIZE), Mutex::default());
        Self { sinkpad, srcpad, max_size, state }
    }
}

impl ObjectImpl for TensorDepay {
    fn properties() -> &'static [glib::ParamSpec] {
        static PROPERTIES: LazyLock<Vec<glib::ParamSpec>> = LazyLock::new(|| {
            vec![
                glib::ParamSpecUInt64::builder("max-size")
                    .nick("Maximum size")
                    .blurb(&format!(
                        "Largest packet that is taken; a larger one is an error \
                         (bytes, default {DEFAULT_MAX_SIZE})"
                    ))
                    .minimum(1)
                    .default_value(DEFAULT_MAX_SIZE)
                    .mutable_playing()
                    .build(),
            ]
        });
        &PROPERTIES
    }

    fn set_property(&self, _id: usize, value: &glib::Value, _pspec: &glib::ParamSpec) {
        if let Ok(max_size) = value.get() {
            *self.max_size.lock().unwrap_or_else(PoisonError::into_inner) = max_size;
        }
    }

    fn property(&self, _id: usize, _pspec: &glib::ParamSpec) -> glib::Value {
        self.max_size().to_value()
    }

    fn constructed(&self) {
        self.parent_constructed();
        pads::add(&*self.obj(), [&self.sinkpad, &self.srcpad]);
    }
}

impl GstObjectImpl for TensorDepay {}

impl ElementImpl for TensorDepay {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Tensor stream depayloader",
                "Demuxer/Network",
                "Makes tensors again of a stream that tensorpay wrote",
                env!("CARGO_PKG_NAME"),
            )
        });
        Some(&*METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let stream = gst::Caps::builder(STREAM).field("version", STREAM_VERSION).build();
            let tensors = gst::Caps::builder(TENSORS).field("format", "static").build();
            let mut source = gst::Caps::new_empty_simple("video/x-raw");
            source.merge(tensors);
            source.merge(gst::Caps::new_empty_simple(OTHER));
            pads::templates(&stream, &source)
        });
        &TEMPLATES
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        let changed = self.parent_change_state(transition)?;
        if transition == gst::StateChange::PausedToReady {
            *self.state() = State::default();
        }
        Ok(changed)
    }
}
