//! Caps of one pad, of those of the other.

use tensor_core::{DType, Shape, convert::Destination};

use super::wish::Wish;
use crate::{tensor_caps, tensorimport::caps};

/// Frames, as `tensorimport` takes them.
pub(super) fn sink_template() -> gst::Caps {
    caps::template()
}

/// One static tensor of any dtype and shape.
pub(super) fn src_template() -> gst::Caps {
    tensor_caps::fixed(1).build()
}

/// `template` at the framerates of `caps`.
pub(super) fn at_framerates_of(template: &gst::Caps, caps: &gst::CapsRef) -> gst::Caps {
    let mut all = gst::Caps::new_empty();
    for structure in caps.iter() {
        let mut one = template.clone();
        if let Ok(rate) = structure.value("framerate") {
            let rate = rate.to_owned();
            one.make_mut().iter_mut().for_each(|to| to.set_value("framerate", rate.clone()));
        }
        all.merge(one);
    }
    all
}

/// What `wish` leaves of the source's template.
pub(super) fn src_caps(wish: &Wish) -> gst::Caps {
    let mut caps = src_template();
    let all_known = wish.width.is_some() && wish.height.is_some();
    let known = wish.destination([1, 1]);
    let Some(first) = caps.make_mut().structure_mut(0) else { return caps };
    let fixed = tensor_caps::caps(known.dtype, &batch_of_one(&known), gst::Fraction::new(0, 1));
    let types = fixed.structure(0).and_then(|fixed| fixed.get::<String>("types").ok());
    if let (Some(types), true) = (types, wish.dtype.is_some()) {
        first.set("types", types);
    }
    // A batch of one and a single image are the same bytes; NNStreamer writes either.
    if all_known && wish.layout.is_some() && wish.order.is_some() {
        let shapes = [batch_of_one(&known), known.shape()];
        first.set("dimensions", gst::List::new(shapes.map(|it| tensor_caps::dimensions(&it))));
    }
    caps
}

/// The shape of a batch that is one input.
pub(super) fn batch_of_one(destination: &Destination) -> Shape {
    let dims: Vec<_> = std::iter::once(1).chain(destination.shape().iter().copied()).collect();
    Shape::new(&dims).unwrap_or_else(|| destination.shape())
}

/// What `caps`, the first of which need not be fixed, say of the input.
pub(super) fn wish_of_caps(caps: &gst::CapsRef, own: &Wish) -> Wish {
    let Some(first) = caps.structure(0) else { return Wish::default() };
    let one = |name| -> Option<String> {
        let value = first.value(name).ok()?;
        let first_of = |list: gst::List| list.first().and_then(|one| one.get().ok());
        value.get::<String>().ok().or_else(|| value.get::<gst::List>().ok().and_then(first_of))
    };
    let shape = one("dimensions").and_then(|dims| tensor_caps::shape(&dims));
    let of_shape = shape.and_then(|shape| Wish::of_shape(&shape, own.layout)).unwrap_or_default();
    let dtype: Option<DType> = one("types").and_then(|name| tensor_caps::dtype(&name));
    Wish { dtype, ..of_shape }
}
