//! The bytes themselves, written out by hand.

use super::*;
use crate::{
    colorimetry::{ColorEncoding, ColorRange, ColorSpace, ColorTransfer},
    format::PixelFormat,
};

/// Puts rows together, each at the offset it names.
fn lay_out(rows: &[(usize, &[u8])]) -> Vec<u8> {
    let mut blob = Vec::new();
    for (offset, bytes) in rows {
        assert_eq!(blob.len(), *offset);
        blob.extend_from_slice(bytes);
    }
    blob
}

/// A 2x2 NV12 frame in shared memory, its rows last to first, with a scale for each row.
#[rustfmt::skip]
fn nv12_by_handle() -> Vec<u8> {
    lay_out(&[
        (0,   &[0x18, 1, 0, 0, 0, 0, 0, 0]),    // size 280
        (8,   &[0, 0, 0, 0, 0, 0, 0, 0]),       // required_mask
        (16,  &[112, 0, 0, 0, 0, 0, 0, 0]),     // planes_bytes
        (24,  &[1, 0, 0, 0]),                   // storage_kind shm
        (28,  &[0xD2, 4, 0, 0]),                // pid 1234
        (32,  &[9, 0, 0, 0]),                   // fence_fd
        (36,  &[0, 0, 0, 0]),                   // dtype u8
        (40,  &[0, 0, 0, 0]),                   // quant_axis 0
        (44,  &[2, 0, 0, 0]),                   // ndim
        (48,  &[2, 0, 0, 0]),                   // plane_count
        (52,  &[2, 0, 0, 0]),                   // quant_scales_len
        (56,  &[2, 0, 0, 0]),                   // quant_zero_points_len
        (60,  &[48, 0, 0, 0]),                  // strings_bytes
        (64,  &[2, 0, 0, 0]),                   // strides_len
        (68,  &[0, 0, 0, 0]),                   // reserved
        (72,  &[2, 0, 0, 0, 0, 0, 0, 0]),       // shape 2
        (80,  &[2, 0, 0, 0, 0, 0, 0, 0]),       // by 2
        (88,  &[0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), // strides -64
        (96,  &[1, 0, 0, 0, 0, 0, 0, 0]),       // and 1
        (104, &[0, 0, 0, 0x3F]),                // scales 0.5
        (108, &[0, 0, 0x80, 0x3F]),             // and 1.0
        (112, &[0x80, 0, 0, 0]),                // zero points 128
        (116, &[0xFE, 0xFF, 0xFF, 0xFF]),       // and -2
        (120, b"\x04\0\0\0NV12"),
        (128, b"\x09\0\0\0smpte170m"),
        (141, b"\x02\0\0\0pq"),
        (147, b"\x06\0\0\0bt2020"),
        (157, b"\x04\0\0\0full"),
        (165, &[0, 0, 0]),                      // padding
        (168, &[0, 0, 0, 0, 0, 0, 0, 0]),       // handle 0
        (176, &[0, 0, 0, 0, 0, 0, 0, 0]),       // offset
        (184, &[64, 0, 0, 0, 0, 0, 0, 0]),      // stride
        (192, &[128, 0, 0, 0, 0, 0, 0, 0]),     // size
        (200, &[128, 0, 0, 0, 0, 0, 0, 0]),     // used
        (208, &[1, 0, 0, 0, 0, 0, 0, 8]),       // modifier 0x0800000000000001
        (216, &[0, 0, 0, 0]),                   // handle_bytes_len
        (220, &[0, 0, 0, 0]),                   // data_len
        (224, &[1, 0, 0, 0, 0, 0, 0, 0]),       // handle 1
        (232, &[0, 0x10, 0, 0, 0, 0, 0, 0]),    // offset 4096
        (240, &[64, 0, 0, 0, 0, 0, 0, 0]),      // stride
        (248, &[64, 0, 0, 0, 0, 0, 0, 0]),      // size
        (256, &[64, 0, 0, 0, 0, 0, 0, 0]),      // used
        (264, &[0, 0, 0, 0, 0, 0, 0, 0]),       // modifier
        (272, &[0, 0, 0, 0]),                   // handle_bytes_len
        (276, &[0, 0, 0, 0]),                   // data_len
    ])
}

// S-BLOB-01, S-BLOB-08, S-BLOB-13, S-MODE-04
#[test]
fn a_frame_by_handle_is_these_bytes() {
    let luma = PlaneRecord { modifier: 0x0800_0000_0000_0001, ..referenced(0, 0, 128) };
    let planes = [luma, referenced(1, 4096, 64)];
    let spec = BlobSpec {
        storage_kind: TensorMemory::Shm,
        pid: 1234,
        fence_fd: Some(9),
        strides: Some(&[-64, 1]),
        quant_axis: 0,
        quant_scales: &[0.5, 1.0],
        quant_zero_points: &[128, -2],
        format: Some(PixelFormat::Nv12),
        colorimetry: Colorimetry {
            space: Some(ColorSpace::Smpte170m),
            transfer: Some(ColorTransfer::Pq),
            encoding: Some(ColorEncoding::Bt2020),
            range: Some(ColorRange::Full),
        },
        ..plain(&[2, 2], &planes)
    };
    let golden = nv12_by_handle();
    assert_eq!(spec.to_bytes().as_deref(), Ok(&golden[..]));
    assert_eq!(spec.encoded_len(), Ok(golden.len()));
    let view = BlobView::parse(&golden).unwrap();
    assert_says(&view, &spec);
    assert_eq!(view.format_name(), "NV12");
    assert_eq!(view.color_space_name(), "smpte170m");
    assert_eq!(view.color_transfer_name(), "pq");
    assert_eq!(view.color_encoding_name(), "bt2020");
    assert_eq!(view.color_range_name(), "full");
    assert!(!view.is_inline());
}

#[rustfmt::skip]
fn three_bytes_inline() -> Vec<u8> {
    lay_out(&[
        (0,   &[168, 0, 0, 0, 0, 0, 0, 0]),     // size
        (8,   &[0, 0, 0, 0, 0, 0, 0, 0]),       // required_mask
        (16,  &[64, 0, 0, 0, 0, 0, 0, 0]),      // planes_bytes
        (24,  &[0; 8]),                         // storage_kind mem, pid
        (32,  &[0xFF, 0xFF, 0xFF, 0xFF]),       // fence_fd -1
        (36,  &[1, 0, 0, 0]),                   // dtype i8
        (40,  &[0xFF, 0xFF, 0xFF, 0xFF]),       // quant_axis -1
        (44,  &[1, 0, 0, 0]),                   // ndim
        (48,  &[1, 0, 0, 0]),                   // plane_count
        (52,  &[1, 0, 0, 0]),                   // quant_scales_len
        (56,  &[0, 0, 0, 0]),                   // quant_zero_points_len
        (60,  &[20, 0, 0, 0]),                  // strings_bytes
        (64,  &[0, 0, 0, 0]),                   // strides_len
        (68,  &[0, 0, 0, 0]),                   // reserved
        (72,  &[3, 0, 0, 0, 0, 0, 0, 0]),       // shape
        (80,  &[0, 0, 0x80, 0x3E]),             // scale 0.25
        (84,  &[0; 20]),                        // five empty strings, no padding needed
        (104, &[0xFF; 8]),                      // handle -1
        (112, &[0; 8]),                         // offset
        (120, &[3, 0, 0, 0, 0, 0, 0, 0]),       // stride
        (128, &[3, 0, 0, 0, 0, 0, 0, 0]),       // size
        (136, &[3, 0, 0, 0, 0, 0, 0, 0]),       // used
        (144, &[0; 8]),                         // modifier
        (152, &[0, 0, 0, 0]),                   // handle_bytes_len
        (156, &[3, 0, 0, 0]),                   // data_len
        (160, &[7, 8, 9, 0, 0, 0, 0, 0]),       // data, padding
    ])
}

// S-BLOB-01, S-BLOB-06, S-MODE-09
#[test]
fn an_inline_tensor_is_these_bytes() {
    let planes = [PlaneRecord::inline(&[7, 8, 9], 3)];
    let spec = BlobSpec {
        dtype: DType::I8,
        quant_axis: QUANT_PER_TENSOR,
        quant_scales: &[0.25],
        ..plain(&[3], &planes)
    };
    let golden = three_bytes_inline();
    assert_eq!(spec.to_bytes().as_deref(), Ok(&golden[..]));
    let view = BlobView::parse(&golden).unwrap();
    assert_says(&view, &spec);
    assert!(view.strides().is_none());
    assert!(view.is_inline());
}

// S-BLOB-12
#[test]
fn a_blob_may_lie_at_any_address() {
    for shift in 0..8 {
        let mut buffer = vec![0xAA; shift];
        buffer.extend(nv12_by_handle());
        let view = BlobView::parse(&buffer[shift..]).unwrap();
        assert!(view.shape().eq([2, 2]));
    }
}

// S-BLOB-07
#[test]
fn a_region_is_found_whatever_the_regions_before_it_hold() {
    let planes = [referenced(3, 0, 4)];
    let mut blob = plain(&[4, 4], &planes).to_bytes().unwrap();
    poke(&mut blob, 72, &[0xEE; 16]);
    let view = BlobView::parse(&blob).unwrap();
    assert_eq!(view.plane(0), Some(planes[0]));
}

// S-BLOB-14: at most 200
#[test]
fn a_dense_picture_by_handle_takes_184_bytes() {
    let planes = [referenced(0, 0, 1_228_800)];
    let spec = BlobSpec { format: Some(PixelFormat::Rgba), ..plain(&[480, 640, 4], &planes) };
    assert_eq!(spec.encoded_len(), Ok(184));
}

#[test]
fn debug_output_leaves_the_payload_out() {
    let data = vec![0x5A; 1 << 16];
    let planes = [PlaneRecord::inline(&data, 256)];
    let blob = plain(&[1 << 16], &planes).to_bytes().unwrap();
    assert!(format!("{:?}", BlobView::parse(&blob).unwrap()).len() < 1000);
    assert!(format!("{:?}", planes).len() < 1000);
}
