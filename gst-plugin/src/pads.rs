//! What the elements' pads have in common: their templates, and how an element with one pad of each
//! direction builds them.

use gst::{glib::subclass::basic, prelude::*, subclass::prelude::*};

/// The templates of an element that has a sink pad and a source pad, always.
pub(crate) fn templates(sink: &gst::Caps, source: &gst::Caps) -> Vec<gst::PadTemplate> {
    let pads = [("sink", gst::PadDirection::Sink, sink), ("src", gst::PadDirection::Src, source)];
    let template = |(name, direction, caps)| {
        gst::PadTemplate::new(name, direction, gst::PadPresence::Always, caps).ok()
    };
    pads.into_iter().filter_map(template).collect()
}

/// An element that takes whole buffers on its sink pad and gives others on its source pad.
pub(crate) trait Filter: ElementImpl {
    fn chain(&self, buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError>;

    fn sink_event(&self, event: gst::Event) -> bool;

    /// A query on either pad.
    fn query(&self, pad: &gst::Pad, query: &mut gst::QueryRef) -> bool;
}

/// The two pads of a filter, sink first. A panic in the filter becomes an element error.
pub(crate) fn build<T>(class: &T::Class) -> [gst::Pad; 2]
where
    T: Filter + ObjectSubclass<Class = basic::ClassStruct<T>>,
{
    let template = |name| class.pad_template(name).expect("the class has both templates");
    let sink = gst::Pad::builder_from_template(&template("sink"))
        .chain_function(|_, parent, buffer| {
            let panicked = || Err(gst::FlowError::Error);
            T::catch_panic_pad_function(parent, panicked, |filter| filter.chain(buffer))
        })
        .event_function(|_, parent, event| {
            T::catch_panic_pad_function(parent, || false, |filter| filter.sink_event(event))
        })
        .query_function(query::<T>);
    let source = gst::Pad::builder_from_template(&template("src")).query_function(query::<T>);
    [sink.build(), source.build()]
}

fn query<T: Filter>(
    pad: &gst::Pad,
    parent: Option<&gst::Object>,
    query: &mut gst::QueryRef,
) -> bool {
    T::catch_panic_pad_function(parent, || false, |filter| Filter::query(filter, pad, query))
}

/// Gives a new element its pads.
pub(crate) fn add(element: &impl IsA<gst::Element>, pads: [&gst::Pad; 2]) {
    for pad in pads {
        element.add_pad(pad).expect("a new element has no pads");
    }
}

/// Answers what a pad takes or gives, from `caps` alone, where the one pad says nothing of the
/// other. `false` for any other query.
pub(crate) fn answer(pad: &gst::Pad, caps: Option<gst::Caps>, query: &mut gst::QueryRef) -> bool {
    if let gst::QueryViewMut::Caps(query) = query.view_mut() {
        let offered = caps.unwrap_or_else(|| pad.pad_template_caps());
        let filtered = query
            .filter()
            .map(|filter| filter.intersect_with_mode(&offered, gst::CapsIntersectMode::First));
        query.set_result(&filtered.unwrap_or(offered));
        return true;
    }
    if let gst::QueryViewMut::AcceptCaps(query) = query.view_mut() {
        query.set_result(pad.pad_template_caps().can_intersect(query.caps()));
        return true;
    }
    false
}
