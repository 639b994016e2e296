//! What the element tells: lines in the log, messages on the bus, errors.

use std::sync::atomic::Ordering;

use gst::{prelude::*, subclass::prelude::*};

use super::{
    frame::{Cause, FrameError},
    imp::{CAT, TensorImport},
    importer::Imported,
    intake::Described,
};

impl TensorImport {
    /// Logs a frame in one line, and reports when it is time to.
    pub(super) fn note(&self, Described { imported, report }: Described) {
        if imported.hit {
            gst::trace!(CAT, imp = self, "hit: {imported}");
        } else if CAT.above_threshold(gst::DebugLevel::Debug) {
            let known = if imported.replaced { "known by another description" } else { "new" };
            let (live, most) =
                self.with_intake(|intake| intake.importer().fill()).unwrap_or_default();
            let held = format_args!("{live} of {most} imports held");
            gst::debug!(CAT, imp = self, "miss, {known}: {imported}; {held}");
        }
        if let Some(stats) = report {
            self.post(stats);
        }
    }

    pub(super) fn note_moved(&self, why: &FrameError, bytes: u64, imported: &Imported) {
        if self.is_refusal_said.load(Ordering::Relaxed) {
            gst::log!(CAT, imp = self, "fallback, {bytes} bytes copied: {why}; now {imported}");
        } else {
            gst::info!(CAT, imp = self, "fallback, {bytes} bytes copied: {why}; now {imported}");
            self.refuse(why);
        }
    }

    /// Tells the application what is not taken as it came, once for each stream.
    pub(super) fn refuse(&self, why: &FrameError) {
        if self.is_refusal_said.swap(true, Ordering::Relaxed) {
            return;
        }
        let told = self.with_intake(|intake| (intake.caps().cloned(), intake.fallback()));
        let (caps, fallback) = told.unwrap_or_default();
        let refused = gst::Structure::builder("tensor-refused")
            .field_if_some("caps", caps)
            .field("reason", why.to_string())
            .field("fallback", fallback)
            .build();
        self.post(refused);
    }

    /// Tells the application of caps that are not taken. Not an error: upstream may be trying what it
    /// has.
    pub(super) fn refuse_caps(&self, caps: &gst::Caps, reason: &str) {
        gst::warning!(CAT, imp = self, "{caps} refused: {reason}");
        let refused = gst::Structure::builder("tensor-refused").field("caps", caps);
        self.post(refused.field("reason", reason).build());
    }

    pub(super) fn post(&self, structure: gst::Structure) {
        let message = gst::message::Element::builder(structure).src(&*self.obj()).build();
        let _no_bus = self.post_message(message);
    }

    pub(super) fn fail(&self, error: &FrameError) -> gst::FlowError {
        let caps = self.with_intake(|intake| intake.caps().cloned()).flatten();
        let caps = caps.map_or_else(|| "no caps".to_owned(), |caps| caps.to_string());
        gst::error!(CAT, imp = self, "refused: {error}; {caps}");
        if matches!(error, FrameError::NoCaps) {
            return gst::FlowError::NotNegotiated;
        }
        self.refuse(error);
        match error.cause() {
            Cause::Stream => {
                gst::element_imp_error!(self, gst::StreamError::Format, ("{error}"), ["{caps}"]);
            }
            Cause::Memory => {
                gst::element_imp_error!(self, gst::ResourceError::Read, ("{error}"), ["{caps}"]);
            }
            Cause::NoMemory => {
                let kind = gst::ResourceError::NoSpaceLeft;
                gst::element_imp_error!(self, kind, ("{error}"), ["{caps}"]);
            }
            Cause::Meta => {
                gst::element_imp_error!(self, gst::CoreError::Failed, ("{error}"), ["{caps}"]);
            }
        }
        gst::FlowError::Error
    }
}
