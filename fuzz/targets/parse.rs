//! Any bytes as a blob: an error, or a view whose every answer lies inside them.

#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use tensor_core::BlobView;
use tensor_fuzz::{Watched, within};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

fuzz_target!(|data: &[u8]| within(0, || {
    let Ok(view) = BlobView::parse(data) else { return };
    assert!(view.as_bytes().len() <= data.len());
    assert_eq!(view.shape().count(), view.ndim());
    black_box(view.strides().map(Iterator::count));
    assert!(view.quant_scales().all(|scale| scale > 0.0));
    black_box(view.quant_zero_points().count());
    black_box((view.format(), view.colorimetry(), view.extension()));
    let carried: usize = view.planes().map(|plane| plane.data.len()).sum();
    assert!(carried <= data.len());
    for index in 0..view.planes().len() {
        assert_eq!(view.plane(index), view.planes().nth(index));
    }
}));
