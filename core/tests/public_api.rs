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

// D-25: a descriptor has an owner or a lender, and an address is for who vouches for it
#[test]
fn no_safe_function_takes_a_number_for_a_descriptor_or_an_address() {
    let takes = |line: &&String| {
        let is_safe_fn = line.starts_with("pub fn ") || line.starts_with("pub const fn ");
        let arguments = line.split("->").next().unwrap_or_default();
        is_safe_fn
            && ["RawFd", "*const", "*mut", "NonNull"].iter().any(|raw| arguments.contains(raw))
    };
    let lines = public_lines();
    assert_eq!(lines.iter().filter(takes).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Every source file of the crate, with its path.
fn sources() -> Vec<(String, String)> {
    fn walk(directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.display().to_string(), text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

// D-49, D-51, S-PRT-03: a view duplicates nothing and imports nothing again, for no graphics device is
// opened at all
#[test]
fn no_graphics_device_is_opened() {
    for (path, text) in sources() {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let opened = code.filter(|line| line.contains("/dev/dri") || line.contains("GEM"));
        assert_eq!(opened.collect::<Vec<_>>(), Vec::<&str>::new(), "{path}");
    }
}

// S-OV-04: without ndarray the crate lacks what gives its views, and nothing else
#[test]
fn the_ndarray_feature_adds_two_methods() {
    let gated: Vec<_> = sources()
        .iter()
        .flat_map(|(_, text)| {
            let after = text.split("#[cfg(feature = \"ndarray\")]").skip(1);
            after
                .filter_map(|rest| {
                    rest.lines()
                        .find(|line| line.contains("fn ") || line.contains("use "))
                        .map(|line| line.trim().to_owned())
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let public: Vec<_> = gated.iter().filter(|line| line.starts_with("pub ")).collect();
    let views = matches!(public.as_slice(), [view, view_mut]
        if view.starts_with("pub fn view(") && view_mut.starts_with("pub fn view_mut("));
    assert!(views, "{gated:?}");
}

// S-OV-06
#[test]
fn every_public_module_says_what_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).unwrap();
    let modules: Vec<_> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    for wanted in ["memory", "tensor", "format", "colorimetry", "preprocess", "layout", "blob"] {
        assert!(modules.contains(&wanted), "{wanted}");
    }
    for module in modules {
        let file = root.join(format!("{module}.rs"));
        let file = if file.exists() { file } else { root.join(module).join("mod.rs") };
        let text = fs::read_to_string(file).unwrap();
        assert!(text.starts_with("//! "), "{module} does not say what it is");
    }
}
