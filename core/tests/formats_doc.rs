//! `docs/formats.md` is made from the tables of the code, and this test says when it is not.
//!
//! `BLESS=1 cargo test -p tensor-core --test formats_doc` writes it anew.

#![allow(clippy::unwrap_used, reason = "what goes wrong here fails a test")]

use std::{
    fmt::{Display, Write},
    fs,
    path::Path,
};

use tensor_core::{
    BitPacking, Bitstream, DrmFormat, DrmFourcc, Modifier, PixelFormat, PixelLayout, PlaneFormat,
};

const INTRODUCTION: &str = "\
# Pixel formats

Made from `core/src/format/` by `BLESS=1 cargo test -p tensor-core --test formats_doc`; edit the table there.

A **row** is a format. *Code* and *name* are those of the tensor blob: 1 to 11 are published, ours begin at 64.
GStreamer's names stand in `video/x-raw` caps, those with `bayer:` before them in `video/x-bayer`. V4L2 codes are
those for all planes in one buffer / for a buffer a plane. *Grid* is the shape by which the image is indexed, in
samples of *dtype*; wide ones are little-endian. *Bits* are those of each component and where they lie in the sample.

**Planes** are in memory order. `2/1` is 2 bytes for each column of the plane, `4/2` is 4 bytes for every 2; `:2x1`
is one column of the plane for 2 of the image and one row for 1. Columns and rows round up. What a row is padded to
is no part of a format.

The same four characters are not the same format: V4L2 `RGBP` is GStreamer `RGB16`, GStreamer `RGBP` is three
planes; DRM `RG16` is `rgb565`, V4L2 `RG16` is `bayer_rggb16`; DRM `BG24` and V4L2 `RGB3` are both `rgb8`.
";

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formats.md");
    let page = page();
    if is_blessed() {
        fs::write(&path, page).unwrap();
        return;
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/formats.md is not what the table says; BLESS=1 rewrites it");
}

#[test]
fn every_row_is_on_the_page() {
    let page = page();
    for format in PixelFormat::ALL {
        let row = format!("| {} | `{}` |", format.code(), format.name());
        assert_eq!(page.matches(&row).count(), 1, "{format}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the switch of a test, not of the library")]
fn is_blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    formats(&mut page);
    refused(&mut page);
    bitstreams(&mut page);
    modifiers(&mut page);
    page
}

fn formats(page: &mut String) {
    page.push_str(
        "\n| code | name | what | GStreamer | DRM | V4L2 | grid | dtype | bits | planes |\n\
         |---:|---|---|---|---|---|---|---|---|---|\n",
    );
    for format in PixelFormat::ALL.iter().copied() {
        let cells = [
            format.code().to_string(),
            code(format.name()),
            format.description().trim_end_matches('.').to_owned(),
            gst(format),
            format.drm_fourcc().map_or_else(none, code),
            v4l2(format),
            grid(format),
            format.dtype().to_string(),
            bits(format),
            format.planes().iter().map(plane).collect::<Vec<_>>().join(" "),
        ];
        writeln!(page, "| {} |", cells.join(" | ")).unwrap();
    }
}

fn none() -> String {
    "-".to_owned()
}

fn code(text: impl Display) -> String {
    format!("`{text}`")
}

fn codes(list: impl IntoIterator<Item = impl Display>) -> String {
    let list: Vec<_> = list.into_iter().map(code).collect();
    if list.is_empty() { none() } else { list.join(" ") }
}

fn gst(format: PixelFormat) -> String {
    let bayer = format.gst_bayer_name().map(|name| format!("bayer:{name}"));
    format.gst_name().map(str::to_owned).or(bayer).map_or_else(none, code)
}

fn v4l2(format: PixelFormat) -> String {
    let single = format.v4l2_fourcc().map_or_else(none, code);
    match format.v4l2_multi_fourcc() {
        None => single,
        Some(multi) => format!("{single} / {}", code(multi)),
    }
}

fn grid(format: PixelFormat) -> String {
    let channels = format.channels();
    match format.layout() {
        PixelLayout::Packed if channels > 1 => format!("h, w, {channels}"),
        PixelLayout::Planar => format!("{channels}, h, w"),
        PixelLayout::Packed | PixelLayout::SemiPlanar | PixelLayout::PlanarChroma => {
            "h, w".to_owned()
        }
    }
}

fn bits(format: PixelFormat) -> String {
    let bits: Vec<_> = (0..format.components()).map_while(|c| format.component_bits(c)).collect();
    let is_same = bits.windows(2).all(|pair| pair.first() == pair.last());
    let bits: Vec<_> = bits.iter().take(if is_same { 1 } else { 4 }).map(u32::to_string).collect();
    let places =
        [(BitPacking::Low, " low"), (BitPacking::High, " high"), (BitPacking::Shared, " shared")];
    let place = places.into_iter().find(|(packing, _)| *packing == format.packing());
    bits.join("+") + place.map_or("", |(_, text)| text)
}

fn plane(plane: &PlaneFormat) -> String {
    let PlaneFormat { block_bytes, block_width, hsub, vsub } = *plane;
    let block = format!("{block_bytes}/{block_width}");
    if (hsub, vsub) == (1, 1) { code(block) } else { code(format!("{block}:{hsub}x{vsub}")) }
}

fn refused(page: &mut String) {
    page.push_str("\n## Refused by name\n\n| GStreamer | V4L2 | DRM | why |\n|---|---|---|---|\n");
    for refusal in PixelFormat::REFUSED {
        let (gst, v4l2, drm) = (codes(refusal.gst), codes(refusal.v4l2), codes(refusal.drm));
        writeln!(page, "| {gst} | {v4l2} | {drm} | {} |", refusal.why).unwrap();
    }
}

fn bitstreams(page: &mut String) {
    page.push_str(
        "\n## Bitstreams\n\nTensors of shape `[byte length]` and dtype u8, in one plane.\n\n\
         | name | GStreamer | V4L2 |\n|---|---|---|\n",
    );
    for stream in Bitstream::ALL.iter().copied() {
        let (name, caps) = (code(stream), code(stream.caps_name()));
        writeln!(page, "| {name} | {caps} | {} |", codes(stream.v4l2_fourccs())).unwrap();
    }
}

fn modifiers(page: &mut String) {
    let tiled = DrmFormat::new(DrmFourcc(*b"NV12"), Modifier(0x0100_0000_0000_0002)).unwrap();
    write!(
        page,
        "\n## Modifiers\n\nOne rule: only `LINEAR` can be mapped as rows. `INVALID` means that the \
         driver knows and does not say, so it cannot\neither. In GStreamer's `drm-format`, `NV12` \
         is linear and `{tiled}` is not.\n\n| name | bits | of |\n|---|---|---|\n"
    )
    .unwrap();
    for named in Modifier::NAMED {
        let (value, mask) = (named.value, named.mask);
        writeln!(page, "| `{}` | `{value:016x}` | `{mask:016x}` |", named.name).unwrap();
    }
}
