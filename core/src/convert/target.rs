//! The rows of a destination, split into bands that threads write by themselves.

use arrayvec::ArrayVec;

use super::{Destination, RunError, TensorOrder, component::samples, store::MAX_CHANNELS};
use crate::{
    format::MAX_PLANES,
    layout::{ImageLayout, StridedLayout},
    shape::Shape,
    tensor::{Layout, TensorDyn, TensorMap},
};

/// Where the first sample of one plane of channels is.
#[derive(Clone, Copy, Debug)]
struct Place {
    memory: usize,
    offset: usize,
}

/// Where a destination's rows are: one plane of pixels, or a plane a channel.
#[derive(Clone, Debug)]
pub(super) struct Target {
    planes: ArrayVec<Place, MAX_CHANNELS>,
    stride: usize,
    row_bytes: usize,
    rows: usize,
}

/// Some rows of each plane of a destination.
#[derive(Debug, Default)]
pub(super) struct Band<'a> {
    /// The first row.
    pub(super) first: usize,
    /// How many.
    pub(super) rows: usize,
    planes: ArrayVec<&'a mut [u8], MAX_CHANNELS>,
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

    /// `bands` parts of as equal height as can be, from top to bottom.
    pub(super) fn bands<'a>(
        &self,
        map: &'a mut TensorMap<'_>,
        bands: usize,
    ) -> Result<impl Iterator<Item = Band<'a>> + use<'a>, RunError> {
        let (stride, row_bytes, rows) = (self.stride, self.row_bytes, self.rows);
        let mut left = self.planes_mut(map)?;
        let mut first = 0_usize;
        Ok((1..=bands).map(move |band| {
            let end = rows.saturating_mul(band).checked_div(bands).unwrap_or(rows);
            let count = end.saturating_sub(first);
            let planes = left.iter_mut().map(|plane| {
                let bytes = count.saturating_mul(stride).min(plane.len());
                let (part, rest) = std::mem::take(plane).split_at_mut(bytes);
                *plane = rest;
                part
            });
            let band = Band { first, rows: count, planes: planes.collect(), stride, row_bytes };
            first = end;
            band
        }))
    }

    /// The bytes of each plane, from its first sample to its last.
    fn planes_mut<'a>(
        &self,
        map: &'a mut TensorMap<'_>,
    ) -> Result<ArrayVec<&'a mut [u8], MAX_CHANNELS>, RunError> {
        let len = self.stride.saturating_mul(self.rows.saturating_sub(1));
        let len = len.saturating_add(self.row_bytes);
        let mut left: ArrayVec<(usize, &'a mut [u8]), MAX_PLANES> =
            map.memories_mut().map(|bytes| (0, bytes)).collect();
        let mut found = ArrayVec::<Option<&'a mut [u8]>, MAX_CHANNELS>::new();
        found.extend(self.planes.iter().map(|_| None));
        let mut order: ArrayVec<usize, MAX_CHANNELS> = (0..self.planes.len()).collect();
        order.sort_unstable_by_key(|plane| self.planes.get(*plane).map(|place| place.offset));
        let mixed = RunError::Strides { why: "the planes of the channels lie in each other" };
        for index in order {
            let part = self.planes.get(index).and_then(|place| {
                let (at, bytes) = left.get_mut(place.memory)?;
                let skip = place.offset.checked_sub(*at)?;
                let (_, from) = std::mem::take(bytes).split_at_mut_checked(skip)?;
                let (plane, rest) = from.split_at_mut_checked(len)?;
                (*at, *bytes) = (place.offset.checked_add(len)?, rest);
                Some(plane)
            });
            match (part, found.get_mut(index)) {
                (Some(part), Some(slot)) => *slot = Some(part),
                _ => return Err(mixed),
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}

impl Band<'_> {
    /// The planes of row `row` of the destination, which is one of this band's.
    pub(super) fn row(&mut self, row: usize) -> ArrayVec<&mut [u8], MAX_CHANNELS> {
        let start = row.saturating_sub(self.first).saturating_mul(self.stride);
        let end = start.saturating_add(self.row_bytes);
        self.planes.iter_mut().filter_map(|plane| plane.get_mut(start..end)).collect()
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
    Ok(Target {
        planes: places.iter().map(place).collect(),
        stride,
        row_bytes: image.row_bytes(0),
        rows: planned.height,
    })
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
    Ok(Target { planes: places, stride, row_bytes, rows: planned.height })
}
