//! What a user of the crate relies on.

#![allow(clippy::unwrap_used, reason = "what goes wrong here fails a test")]

use std::{fs, path::Path};

use tensor_core::{
    CpuAccess, ImageDesc, PixelFormat, TensorDyn, TensorMemory,
    layout::BatchLayout,
    transfer::{TransferError, describe},
};

/// Every line of the sources that declares something public.
fn public_lines() -> Vec<String> {
    fn walk(directory: &Path, lines: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, lines);
            } else {
                let text = fs::read_to_string(path).unwrap();
                lines.extend(
                    text.lines().map(str::trim).filter(|l| l.starts_with("pub ")).map(Into::into),
                );
            }
        }
    }
    let mut lines = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut lines);
    lines
}

// S-TYPE-10
#[test]
fn region_is_the_only_rectangle() {
    let declared = |name: &&String| {
        let is_type = name.starts_with("pub struct ") || name.starts_with("pub type ");
        is_type && ["Rect", "Crop", "Roi", "Box"].iter().any(|word| name.contains(word))
    };
    assert_eq!(public_lines().iter().filter(declared).count(), 0);
}

// S-GEO-20
#[test]
fn nothing_is_called_image_shape() {
    assert!(!public_lines().iter().any(|line| line.contains("fn image_shape")));
}

// S-TYPE-14
#[test]
fn enums_that_may_grow_say_so() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let growing = [
        ("memory/error.rs", "ImportError"),
        ("memory/error.rs", "MapError"),
        ("tensor/error.rs", "TensorError"),
        ("layout/error.rs", "LayoutError"),
        ("transfer/error.rs", "TransferError"),
        ("transfer/error.rs", "ExportError"),
        ("transfer/error.rs", "ImportError"),
        ("blob/error.rs", "BlobError"),
        ("format/table.rs", "PixelFormat"),
        ("compression.rs", "Compression"),
        ("tensor/layout.rs", "Layout"),
    ];
    for (file, name) in growing {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let (before, _) = text.split_once(&format!("pub enum {name} ")).unwrap();
        let attributes = before.rsplit("\n\n").next().unwrap();
        assert!(attributes.contains("#[non_exhaustive]"), "{name} in {file}");
    }
}

// S-TYPE-12, S-TYPE-13
#[test]
fn an_image_is_for_reading_and_writing_unless_it_says_otherwise() {
    let desc = ImageDesc::new(PixelFormat::Grey, 8, 8).with_memory(TensorMemory::Mem);
    assert_eq!(TensorDyn::image_desc(&desc).unwrap().access(), CpuAccess::ReadWrite);
    let read = desc.with_access(CpuAccess::Read);
    assert_eq!(TensorDyn::image_desc(&read).unwrap().access(), CpuAccess::Read);
    let constructors: Vec<_> = public_lines()
        .into_iter()
        .filter(|line| line.starts_with("pub fn image(") || line.starts_with("pub fn image_"))
        .collect();
    assert!(!constructors.is_empty());
}

// S-GEO-15
#[test]
fn a_batch_is_no_blob_of_one_image() {
    let desc = ImageDesc::new(PixelFormat::Rgb, 8, 8).with_memory(TensorMemory::Mem);
    let batch = TensorDyn::image_desc(&desc.with_batch(2)).unwrap();
    let refused = describe(&batch, &[0]).unwrap_err();
    assert!(matches!(refused, TransferError::Batch { .. }));
    assert!(refused.to_string().contains("[2, 8, 8, 3]"), "{refused}");
    let layout = batch.image_layout().unwrap().clone();
    assert!(BatchLayout::stacked(layout, 0).is_err());
}
