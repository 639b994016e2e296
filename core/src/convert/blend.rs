//! Rows of a plane, blended into one row of floats.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::inline_always,
    reason = "indices come from the axes, which are within the planes that the plan was made for; \
              vectors are as wide as the caller's"
)]

use super::{
    axis::Axis,
    component::{Component, Store},
};
use crate::tensor::MappedPlane;

/// What the components of a plane have in common: one blended row serves all of them.
///
/// Samples of all components are blended, those that belong to none too: they are the same number of
/// bytes apart and so as many at once as the processor can do.
#[derive(Clone, Debug)]
pub(super) struct Blend {
    plane: usize,
    store: Store,
    /// The first sample of a row that an output is made of.
    start: usize,
    /// One past the last.
    end: usize,
    down: Taps,
}

/// The taps of an axis, with weights as floats.
#[derive(Clone, Debug)]
pub(super) struct Taps {
    /// Samples that each output is made of; at least 1.
    pub(super) count: usize,
    /// The first sample of each output.
    pub(super) first: Vec<usize>,
    /// `count` weights for each output.
    pub(super) weights: Vec<f32>,
}

impl Taps {
    pub(super) fn new(axis: &Axis) -> Self {
        #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounded")]
        let weights = axis.weights.iter().map(|weight| *weight as f32).collect();
        Self { count: axis.taps, first: axis.first.clone(), weights }
    }
}

/// Bytes of a stored sample.
fn sample_bytes(store: Store) -> usize {
    match store {
        Store::Byte => 1,
        Store::Word { .. } => 2,
    }
}

/// The first sample of a component in a row, and samples from one of its to the next.
pub(super) fn place(component: &Component) -> (usize, usize) {
    let bytes = sample_bytes(component.store);
    (component.offset / bytes, component.step / bytes)
}

impl Blend {
    /// One that serves `component`.
    pub(super) fn new(component: &Component, (across, down): &(Axis, Axis)) -> Self {
        let (plane, store) = (component.plane, component.store);
        let mut blend = Self { plane, store, start: usize::MAX, end: 0, down: Taps::new(down) };
        blend.widen(component, across);
        blend
    }

    /// Makes this serve `component` too, if it can.
    pub(super) fn serve(&mut self, component: &Component, across: &Axis) -> bool {
        let same = (self.plane, self.store) == (component.plane, component.store);
        if same {
            self.widen(component, across);
        }
        same
    }

    fn widen(&mut self, component: &Component, across: &Axis) {
        let (offset, step) = place(component);
        for first in &across.first {
            let (first, last) = (first * step, (first + across.taps - 1) * step);
            self.start = self.start.min(offset + first);
            self.end = self.end.max(offset + last + 1);
        }
    }

    /// The sample that the blended row begins with.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Samples of the blended row.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The bytes of the one row that row `y` of the content is made of; `None` when it is made of
    /// more, or of words.
    #[inline(always)]
    pub(super) fn one<'a>(&self, planes: &[MappedPlane<'a>], y: usize) -> Option<&'a [u8]> {
        let is_one = self.down.count == 1 && self.store == Store::Byte;
        let row = planes[self.plane].row(*self.down.first.get(y).filter(|_| is_one)?)?;
        row.get(self.start..self.end)
    }

    /// Blends the rows that row `y` of the content is made of into `out`, as long as this.
    #[inline(always)]
    pub(super) fn row(&self, planes: &[MappedPlane<'_>], y: usize, out: &mut [f32]) {
        match self.store {
            Store::Byte => self.add_rows(planes, y, out, |[byte]: [u8; 1]| f32::from(byte)),
            Store::Word { shift, bits } => {
                let mask = u16::MAX >> (16 - bits);
                self.add_rows(planes, y, out, |word: [u8; 2]| {
                    f32::from((u16::from_le_bytes(word) >> shift) & mask)
                });
            }
        }
    }

    #[inline(always)]
    fn add_rows<const BYTES: usize>(
        &self,
        planes: &[MappedPlane<'_>],
        y: usize,
        out: &mut [f32],
        code: impl Fn([u8; BYTES]) -> f32 + Copy,
    ) {
        let row = |tap: usize| {
            let row = planes[self.plane].row(self.down.first[y] + tap).unwrap_or_default();
            row.as_chunks::<BYTES>().0.get(self.start..self.end).unwrap_or_default()
        };
        let weights = &self.down.weights[y * self.down.count..][..self.down.count];
        // What has no weight is not read.
        let is_read = |weight: &f32| *weight != 0.0;
        let from = weights.iter().position(is_read).unwrap_or(0);
        let to = weights.iter().rposition(is_read).map_or(from, |last| last + 1);
        let mut tap = from;
        while tap < to {
            let is_first = tap == from;
            match to - tap {
                1 => add(out, [row(tap)], [weights[tap]], is_first, code),
                2 | 3 => {
                    let of = [weights[tap], weights[tap + 1]];
                    add(out, [row(tap), row(tap + 1)], of, is_first, code);
                    tap += 1;
                }
                _ => {
                    let rows = [row(tap), row(tap + 1), row(tap + 2), row(tap + 3)];
                    let of = [weights[tap], weights[tap + 1], weights[tap + 2], weights[tap + 3]];
                    add(out, rows, of, is_first, code);
                    tap += 3;
                }
            }
            tap += 1;
        }
    }
}

/// Adds `N` weighted rows to `out`, or writes them there when they are the first.
#[inline(always)]
fn add<const BYTES: usize, const N: usize>(
    out: &mut [f32],
    rows: [&[[u8; BYTES]]; N],
    weights: [f32; N],
    is_first: bool,
    code: impl Fn([u8; BYTES]) -> f32,
) {
    let len = rows.iter().fold(out.len(), |len, row| len.min(row.len()));
    let (out, rows) = (&mut out[..len], rows.map(|row| &row[..len]));
    let sum = |at: usize| {
        let mut sum = code(rows[0][at]) * weights[0];
        for row in 1..N {
            sum += code(rows[row][at]) * weights[row];
        }
        sum
    };
    if is_first {
        for (at, out) in out.iter_mut().enumerate() {
            *out = sum(at);
        }
    } else {
        for (at, out) in out.iter_mut().enumerate() {
            *out += sum(at);
        }
    }
}
