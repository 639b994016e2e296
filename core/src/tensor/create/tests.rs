//! Images as they were asked for.

use super::*;
use crate::compression::CompressionScheme;

fn desc(compression: Compression) -> ImageDesc {
    ImageDesc::new(PixelFormat::Rgba, 64, 64)
        .with_access(CpuAccess::None)
        .with_compression(compression)
}

// S-TILE-01; nextest gives this test a process of its own, so the count is not disturbed
#[test]
fn any_compression_comes_out_linear_and_is_counted() {
    let before = compression_fallback_count();
    let image = TensorDyn::image_desc(&desc(Compression::Any)).unwrap();
    assert_eq!(image.image_layout().unwrap().planes()[0].stride, 256);
    assert_eq!(compression_fallback_count(), before + 1);
    // What fails, and what asks for no tiles, is not counted.
    let nothing = desc(Compression::Any).with_memory(TensorMemory::Pbo);
    assert!(TensorDyn::image_desc(&nothing).is_err());
    assert!(TensorDyn::image_desc(&desc(Compression::Any).with_access(CpuAccess::Read)).is_err());
    drop(TensorDyn::image(PixelFormat::Rgba, 64, 64, CpuAccess::None).unwrap());
    assert_eq!(compression_fallback_count(), before + 1);
}

// S-TILE-02: Linux has none of them, so each is refused by its name
#[test]
fn a_scheme_by_name_is_refused_and_not_counted() {
    let before = compression_fallback_count();
    for scheme in CompressionScheme::ALL.iter().copied() {
        let refused = TensorDyn::image_desc(&desc(Compression::Scheme(scheme))).unwrap_err();
        assert!(matches!(refused, TensorError::Compression { scheme: s } if s == scheme));
        assert!(refused.to_string().contains("not available on this platform"), "{refused}");
    }
    assert_eq!(compression_fallback_count(), before);
}
