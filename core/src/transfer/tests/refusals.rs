//! One test for each way in which a blob is refused.

use super::*;

// D-08
#[test]
fn what_contradicts_itself_is_refused() {
    let blob = describe(&two_memory_nv12(), &[0, 1]).unwrap();
    let view = BlobView::parse(&blob).unwrap();
    let (shape, strides) = (view.shape().collect::<Vec<_>>(), [96, 1]);
    let planes: Vec<_> = view.planes().collect();
    let spec = BlobSpec {
        storage_kind: TensorMemory::Shm,
        pid: 0,
        fence_fd: None,
        dtype: DType::U8,
        shape: &shape,
        strides: Some(&strides),
        quant_axis: QUANT_NONE,
        quant_scales: &[],
        quant_zero_points: &[],
        format: Some(PixelFormat::Nv12),
        colorimetry: Colorimetry::default(),
        planes: &planes,
        extension: Extension::default(),
    };
    let read = |spec: BlobSpec<'_>| {
        let blob = spec.to_bytes().unwrap();
        ReferencedImage::of(&BlobView::parse(&blob).unwrap())
    };
    assert!(read(spec).is_ok());

    let wrong = BlobSpec { strides: Some(&[100, 1]), ..spec };
    assert_eq!(read(wrong), Err(TransferError::Strides { stride: 96 }));
    let wrong = BlobSpec { shape: &[36, 64, 3], strides: None, ..spec };
    assert!(matches!(read(wrong), Err(TransferError::Shape { .. })));
    let wrong = BlobSpec { dtype: DType::F32, ..spec };
    assert!(matches!(read(wrong), Err(TransferError::DType { .. })));
    let wrong = BlobSpec { format: None, ..spec };
    assert_eq!(read(wrong), Err(TransferError::NoFormat));
    let tiled: Vec<_> = planes.iter().map(|p| PlaneRecord { modifier: 1, ..*p }).collect();
    let wrong = BlobSpec { planes: &tiled, ..spec };
    assert!(matches!(read(wrong), Err(TransferError::Blob(_))));
    let far: Vec<_> = planes.iter().map(|p| PlaneRecord { offset: u64::MAX, ..*p }).collect();
    let wrong = BlobSpec { planes: &far, ..spec };
    assert!(matches!(read(wrong), Err(TransferError::Layout(_))));
}
