//! Rows of pixel values, stored where the model reads them.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::inline_always,
    reason = "rows are as long as the plan says; vectors are as wide as the caller's"
)]

use super::{band::Band, plan::Plan, store::Channel};

/// Stores row `row`: padding, `pixels` (none for a row of padding), padding.
#[inline(always)]
pub(super) fn row(plan: &Plan, pixels: &[u8], band: &mut Band<'_>, row: usize) {
    let channels = plan.channels.as_slice();
    // One plane stores all channels, several one each.
    let each = channels.len().checked_div(band.planes()).unwrap_or(1).max(1);
    for (plane, channels) in channels.chunks(each).enumerate() {
        if let Some(out) = band.row(plane, row) {
            let start = plane * out.len();
            if let Some(padding) = plan.padding.get(start..start + out.len()) {
                in_plane(plan, (pixels, padding), channels, out);
            }
        }
    }
}

#[inline(always)]
fn in_plane(plan: &Plan, (pixels, padding): (&[u8], &[u8]), channels: &[Channel], out: &mut [u8]) {
    if pixels.is_empty() {
        return out.copy_from_slice(padding);
    }
    let content = plan.content.pixels();
    let size = plan.destination.dtype.size_bytes();
    let pixel_bytes = size * channels.len();
    let (from, to) = (content.x * pixel_bytes, (content.x + content.width) * pixel_bytes);
    out[..from].copy_from_slice(&padding[..from]);
    out[to..].copy_from_slice(&padding[to..]);
    let (out, width) = (&mut out[from..to], content.width);
    match (size, channels) {
        (1, [a]) => store::<1, 1>([a], pixels, width, out),
        (1, [a, b, c]) => store::<1, 3>([a, b, c], pixels, width, out),
        (1, [a, b, c, d]) => store::<1, 4>([a, b, c, d], pixels, width, out),
        (2, [a]) => store::<2, 1>([a], pixels, width, out),
        (2, [a, b, c]) => store::<2, 3>([a, b, c], pixels, width, out),
        (2, [a, b, c, d]) => store::<2, 4>([a, b, c, d], pixels, width, out),
        (4, [a]) => store::<4, 1>([a], pixels, width, out),
        (4, [a, b, c]) => store::<4, 3>([a, b, c], pixels, width, out),
        (4, [a, b, c, d]) => store::<4, 4>([a, b, c, d], pixels, width, out),
        // No dtype is of another size, no order of another number of channels.
        _ => {}
    }
}

/// Stores pixels of `N` channels of `BYTES` bytes.
#[inline(always)]
fn store<const BYTES: usize, const N: usize>(
    channels: [&Channel; N],
    pixels: &[u8],
    width: usize,
    out: &mut [u8],
) {
    let rows = channels.map(|channel| &pixels[channel.output.unwrap_or(0) * width..][..width]);
    let out = &mut out[..width * BYTES * N];
    let turns = channels.map(|channel| channel.turn);
    if BYTES == 1 && turns.iter().all(Option::is_some) {
        let turns = turns.map(Option::unwrap_or_default);
        for (x, pixel) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            for channel in 0..N {
                pixel[channel] = rows[channel][x] ^ turns[channel];
            }
        }
        return;
    }
    let tables = channels.map(|channel| &*channel.table);
    if let ([row], [table]) = (rows.as_slice(), tables.as_slice()) {
        if let (4, Some([mean, std])) = (BYTES, channels[0].mean_std) {
            // As `Normalization::apply` does, and so the table.
            for (sample, value) in out.as_chunks_mut::<4>().0.iter_mut().zip(*row) {
                *sample = ((f32::from(*value) - mean) / std).to_ne_bytes();
            }
            return;
        }
        for (sample, value) in out.as_chunks_mut::<BYTES>().0.iter_mut().zip(*row) {
            put(sample, table[usize::from(*value)]);
        }
        return;
    }
    for (x, pixel) in out.chunks_exact_mut(BYTES * N).enumerate() {
        for channel in 0..N {
            let bits = tables[channel][usize::from(rows[channel][x])];
            put(&mut pixel[channel * BYTES..][..BYTES], bits);
        }
    }
}

/// The low bytes of `bits`.
#[inline(always)]
pub(super) fn put(sample: &mut [u8], bits: u32) {
    sample.copy_from_slice(&bits.to_le_bytes()[..sample.len()]);
    if cfg!(target_endian = "big") {
        sample.reverse();
    }
}
