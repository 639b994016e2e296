//! The rows of a destination.

use std::ops::Range;

use arrayvec::ArrayVec;

use super::{Destination, RunError, TensorOrder, component::samples, store::MAX_CHANNELS};
use crate::{
    layout::{ImageLayout, StridedLayout},
    shape::Shape,
    tensor::{Layout, TensorDyn},
};

/// Where the first sample of one plane of channels is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Which memory.
    pub(super) memory: usize,
    /// Bytes into it.
    pub(super) offset: usize,
}

/// Where a destination's rows are: one plane of pixels, or a plane a channel.
#[derive(Clone, Debug)]
pub(super) struct Target {
    planes: ArrayVec<Place, MAX_CHANNELS>,
    stride: usize,
    row_bytes: usize,
}

impl Target {
    /// The rows of `tensor`, which must be what was planned for.
    pub(super) fn new(tensor: &TensorDyn, planned: &Destination) -> Result<Self, RunError> {
        if tensor.dtype() != planned.dtype {
            return Err(RunError::DType { expected: planned.dtype, got: tensor.dtype() });
        }
        match tensor.layout() {
            Layout::Image(image) => of_image(image, tensor, planned),
            Layout::Strided(strided) => of_strides(strided, planned),
            Layout::Batch(_) => Err(other_shape(tensor.shape(), planned)),
        }
    }

    /// Where each plane of rows is: one of whole pixels, or one a channel.
    pub(super) fn places(&self) -> &[Place] {
        &self.planes
    }

    /// Bytes from one row to the next.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Bytes of the samples of a row.
    pub(super) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// The bytes of these rows in the memory of `place`; `None` when that cannot be.
    pub(super) fn bytes(&self, place: Place, rows: &Range<usize>) -> Option<Range<usize>> {
        let start = place.offset.checked_add(rows.start.checked_mul(self.stride)?)?;
        let Some(down) = rows.len().checked_sub(1) else { return Some(start..start) };
        let len = down.checked_mul(self.stride)?.checked_add(self.row_bytes)?;
        Some(start..start.checked_add(len)?)
    }
}

fn other_shape(got: &Shape, planned: &Destination) -> RunError {
    RunError::Shape { expected: Box::new(planned.shape()), got: Box::new(got.clone()) }
}

fn of_image(
    image: &ImageLayout,
    tensor: &TensorDyn,
    planned: &Destination,
) -> Result<Target, RunError> {
    let expected = planned.order.letters();
    let other = RunError::Format { expected, got: image.format() };
    let letters = samples(image.format());
    let is_it = match planned.layout {
        TensorOrder::Nhwc => matches!(letters, [all] if is_same(all, expected)),
        TensorOrder::Nchw => {
            letters.len() == expected.len() && is_same(&letters.concat(), expected)
        }
    };
    if !is_it {
        return Err(other);
    }
    if (image.width(), image.height()) != (planned.width, planned.height) {
        return Err(other_shape(tensor.shape(), planned));
    }
    let places = image.planes();
    let stride = places.first().map_or(0, |place| place.stride);
    if places.iter().any(|place| place.stride != stride) {
        return Err(RunError::Strides { why: "the planes have rows of different strides" });
    }
    let place = |place: &crate::layout::PlanePlacement| Place {
        memory: place.memory,
        offset: place.offset,
    };
    Ok(Target { planes: places.iter().map(place).collect(), stride, row_bytes: image.row_bytes(0) })
}

/// Whether the samples are the same, an unused one and alpha being one.
fn is_same(letters: &str, expected: &str) -> bool {
    letters.len() == expected.len()
        && letters.chars().zip(expected.chars()).all(|(a, b)| a == b || (a, b) == ('A', 'x'))
}

fn of_strides(strided: &StridedLayout, planned: &Destination) -> Result<Target, RunError> {
    let shape = strided.shape();
    let refused = || other_shape(shape, planned);
    // A batch of one, and luma without an axis for it, are the same samples.
    let expected = planned.shape();
    let wanted = |dims: &[usize]| {
        let rest = dims.iter().skip_while(|dim| **dim == 1);
        let same = expected.iter().skip_while(|dim| **dim == 1);
        rest.eq(same) && dims.len() <= expected.len().saturating_add(1)
    };
    let pixels = |dims: &[usize]| dims == [planned.height, planned.width];
    let is_grey = planned.order.channels() == 1;
    let strides = strided.strides();
    let (down, across, channel) = match (&shape[..], &strides[..], planned.layout) {
        (dims, [down, across], _) if is_grey && pixels(dims) => (*down, *across, None),
        (dims, [.., down, across, channel], TensorOrder::Nhwc) if wanted(dims) => {
            (*down, *across, Some(*channel))
        }
        (dims, [.., channel, down, across], TensorOrder::Nchw) if wanted(dims) => {
            (*down, *across, Some(*channel))
        }
        _ => return Err(refused()),
    };
    placed(strided.offset(), (down, across, channel.unwrap_or(0)), planned)
}

fn placed(
    offset: usize,
    (down, across, channel): (isize, isize, isize),
    planned: &Destination,
) -> Result<Target, RunError> {
    let bytes = planned.dtype.size_bytes();
    let channels = planned.order.channels();
    let (pixel_bytes, planes) = match planned.layout {
        TensorOrder::Nhwc => (bytes.saturating_mul(channels), 1),
        TensorOrder::Nchw => (bytes, channels),
    };
    let row_bytes = pixel_bytes.saturating_mul(planned.width);
    let is = |step: isize, bytes: usize| usize::try_from(step) == Ok(bytes);
    let is_packed = planes > 1 || channels == 1 || is(channel, bytes);
    if !(planned.width == 1 || is(across, pixel_bytes)) || !is_packed {
        return Err(RunError::Strides { why: "the samples of a row are not one after the other" });
    }
    let upwards = RunError::Strides { why: "rows lead upwards or lie in each other" };
    let stride = match usize::try_from(down) {
        Ok(stride) if stride >= row_bytes => stride,
        _ if planned.height == 1 => row_bytes,
        _ => return Err(upwards),
    };
    let mut places = ArrayVec::new();
    for plane in 0..planes {
        let step = isize::try_from(plane).ok().and_then(|plane| plane.checked_mul(channel));
        let offset = step.and_then(|step| offset.checked_add_signed(step));
        let Some(offset) = offset else { return Err(upwards) };
        places.push(Place { memory: 0, offset });
    }
    Ok(Target { planes: places, stride, row_bytes })
}
