//! Tiles that no CPU can address: asked for, met on the way in, and never taken for rows.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use tensor_core::{
    BlobSpec, BlobView, Colorimetry, Compression, CompressionScheme, CpuAccess, DType, DrmFormat,
    DrmFourcc, Extension, ImageDesc, Modifier, PixelFormat, PlaneRecord, Region, TensorDyn,
    TensorError, TensorMemory,
    blob::QUANT_NONE,
    memory::MapError,
    transfer::{ImportError, TransportMode, export, import},
};

fn desc(format: PixelFormat) -> ImageDesc {
    ImageDesc::new(format, 64, 64).with_memory(TensorMemory::Shm).with_access(CpuAccess::None)
}

// S-TILE-06, S-TILE-02: there is no format that Linux allocates in anybody's tiles
#[test]
fn no_format_is_given_in_tiles_by_name() {
    for format in PixelFormat::ALL.iter().copied() {
        for scheme in CompressionScheme::ALL.iter().copied() {
            let asked = desc(format).with_compression(Compression::Scheme(scheme));
            let refused = TensorDyn::image_desc(&asked).unwrap_err();
            let expected = matches!(refused, TensorError::Compression { scheme: s } if s == scheme);
            assert!(expected, "{format} {scheme:?}: {refused:?}");
        }
    }
}

// S-TILE-04, S-TILE-05: who let the device choose its tiles cannot map, whole or in part
#[test]
fn what_may_be_in_tiles_is_never_mapped() {
    let asked = desc(PixelFormat::Rgba).with_compression(Compression::Any);
    let whole = TensorDyn::image_desc(&asked).unwrap();
    let part = whole.view(Region::new(8, 8, 16, 16)).unwrap();
    let again = whole.configure_image(PixelFormat::Rgba, 32, 32).unwrap();
    for image in [whole, part, again] {
        for asked in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            assert!(matches!(image.map(asked), Err(MapError::AccessDenied { .. })));
        }
    }
}

/// A blob of an NV12 frame in shared memory, changed; and what its import says.
fn imported(
    modifier: u64,
    compression: Option<CompressionScheme>,
) -> Result<TensorDyn, ImportError> {
    let frame = TensorDyn::image_desc(&desc(PixelFormat::Nv12)).unwrap();
    let (blob, fds) = export(&frame, TransportMode::Reference).unwrap();
    let view = BlobView::parse(&blob).unwrap();
    let shape: Vec<_> = view.shape().collect();
    let planes: Vec<_> = view.planes().map(|plane| PlaneRecord { modifier, ..plane }).collect();
    let spec = BlobSpec {
        storage_kind: TensorMemory::Shm,
        pid: 0,
        fence_fd: None,
        dtype: DType::U8,
        shape: &shape,
        strides: None,
        quant_axis: QUANT_NONE,
        quant_scales: &[],
        quant_zero_points: &[],
        format: Some(PixelFormat::Nv12),
        colorimetry: Colorimetry::default(),
        planes: &planes,
        extension: Extension { compression, ..view.extension() },
    };
    import(&spec.to_bytes().unwrap(), &fds)
}

// S-TILE-04
#[test]
fn a_frame_that_says_it_is_in_tiles_is_refused_by_the_name_of_its_scheme() {
    assert!(imported(0, None).is_ok());
    for scheme in CompressionScheme::ALL.iter().copied() {
        let refused = imported(0, Some(scheme)).unwrap_err();
        let expected = matches!(refused, ImportError::Compressed { scheme: s } if s == scheme);
        assert!(expected, "{refused:?}");
    }
}

// S-TILE-07, D-08, S-MODE-04
#[test]
fn no_modifier_but_linear_is_taken_for_rows() {
    for named in Modifier::NAMED {
        let modifier = Modifier(named.value);
        assert_eq!(imported(named.value, None).is_ok(), modifier.is_linear(), "{modifier}");
        let negotiated = DrmFormat::new(DrmFourcc(*b"NV12"), modifier);
        let format = negotiated.ok().and_then(DrmFormat::pixel_format);
        assert_eq!(format.is_some(), modifier.is_linear(), "{modifier}");
    }
}
