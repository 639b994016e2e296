//! The rules that keep the crate in layers, as a program.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

mod architecture {
    pub(crate) mod scan;
}

use architecture::scan::{Source, sources};

/// The modules of `core/src`, lowest layer first. A module may use those of its own layer and of
/// lower ones.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "words",
        &[
            "access",
            "colorimetry",
            "compression",
            "dtype",
            "memory_kind",
            "preprocess",
            "quantization",
            "inline_array",
            "shape",
            "vocabulary",
        ],
    ),
    ("format", &["format"]),
    ("layout", &["layout"]),
    ("wire", &["blob", "desc"]),
    ("sys", &["sys"]),
    ("memory", &["memory"]),
    ("tensor", &["tensor"]),
    ("convert", &["convert"]),
    ("exchange", &["transfer", "import_cache"]),
    ("socket", &["socket"]),
];

/// Memory is bytes: it must know neither shape nor format, though both lie below it.
const UNKNOWN_TO_MEMORY: &[&str] = &["format", "layout", "blob", "shape", "quantization"];

/// The layers that hold numbers and bytes only.
const PURE: &[&str] = &["words", "format", "layout", "wire"];

/// What makes system calls.
const SYSTEM: &[&str] =
    &["rustix", "dma_heap", "libloading", "std::fs", "std::io", "std::os", "std::env", "std::net"];

/// Where `unsafe` may stand: the system calls, and the memory made of them.
const UNSAFE_ALLOWED: &[&str] = &["sys", "memory"];

/// The most lines a file has, tests apart.
const MAX_LINES: usize = 400;

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

#[test]
fn every_module_has_a_layer() {
    for Source { path, module, .. } in sources() {
        let placed = module == "lib" || layer_of(&module).is_some();
        assert!(placed, "{path}: module {module} is in no layer");
    }
}

#[test]
fn no_layer_uses_a_higher_one() {
    for Source { path, module, uses, .. } in sources() {
        let Some(own) = layer_of(&module) else { continue };
        for import in uses.iter().filter(|import| import[0] == "crate") {
            let Some(layer) = import.get(1).and_then(|module| layer_of(module)) else {
                panic!("{path}: uses {}; name it by its module", import.join("::"));
            };
            let (from, to) = (LAYERS[own].0, LAYERS[layer].0);
            assert!(layer <= own, "{path}: {from} uses {} of {to}", import.join("::"));
        }
    }
}

#[test]
fn memory_knows_bytes_only() {
    for Source { path, module, uses, .. } in sources() {
        if module == "memory" || module == "sys" {
            for import in uses.iter().filter(|import| import[0] == "crate") {
                let known = import.get(1).is_some_and(|m| UNKNOWN_TO_MEMORY.contains(&m.as_str()));
                assert!(!known, "{path}: {module} uses {}", import.join("::"));
            }
        }
    }
}

#[test]
fn unsafe_stands_where_the_system_is_called() {
    for Source { path, module, has_unsafe, .. } in sources() {
        let allowed = UNSAFE_ALLOWED.contains(&module.as_str());
        assert!(allowed || !has_unsafe, "{path}: unsafe in {module}");
    }
}

#[test]
fn pure_layers_make_no_system_call() {
    for Source { path, module, uses, .. } in sources() {
        let Some(layer) = layer_of(&module) else { continue };
        if PURE.contains(&LAYERS[layer].0) {
            for import in &uses {
                let name = import[..import.len().min(2)].join("::");
                let is_system = SYSTEM.iter().any(|system| name == *system || import[0] == *system);
                assert!(!is_system, "{path}: {module} uses {name}");
            }
        }
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    for Source { path, lines, .. } in sources() {
        let is_tests = path.contains("/tests/") || path.ends_with("/tests.rs");
        assert!(is_tests || lines <= MAX_LINES, "{path}: {lines} lines");
    }
}

#[test]
fn no_module_is_named_for_nothing() {
    for Source { path, .. } in sources() {
        let named = ["utils", "helpers", "common", "manager"].iter().any(|name| {
            path.contains(&format!("/{name}.rs")) || path.contains(&format!("/{name}/"))
        });
        assert!(!named, "{path}");
    }
}

#[test]
fn the_device_number_never_decides_what_a_file_is() {
    // S-CLS-06: it is part of an identity and of nothing else.
    for Source { path, names, .. } in sources() {
        let names_it = names.iter().any(|name| name == "st_dev");
        assert!(!names_it || path.ends_with("sys/file.rs"), "{path}");
    }
}

#[test]
fn the_scanner_sees_every_way_of_using_something() {
    let source = Source::parse(
        "layout/image/view.rs",
        "use crate::{access::CpuAccess, sys::{file, mmap::Mapping}};
         use std::{fs, io};
         use super::super::strides;
         fn f() { crate::blob::X; std::env::var(\"x\"); }
         #[cfg(test)] mod tests { use crate::tensor::TensorDyn; }
         fn after() { let _ = super::Y; rustix::fs::fstat; }",
    );
    let uses: Vec<_> = source.uses.iter().map(|path| path.join("::")).collect();
    for seen in [
        "crate::access::CpuAccess",
        "crate::sys::file",
        "crate::sys::mmap::Mapping",
        "std::fs",
        "std::io",
        "crate::layout::strides",
        "crate::blob::X",
        "std::env::var",
        "crate::layout::image::Y",
        "rustix::fs::fstat",
    ] {
        assert!(uses.iter().any(|path| path == seen), "{seen} in {uses:?}");
    }
    assert!(!uses.iter().any(|path| path.contains("tensor")), "tests are not scanned");
    assert!(!source.has_unsafe);
    assert!(Source::parse("a.rs", "fn f() { unsafe { g() } }").has_unsafe);
    assert!(Source::parse("a.rs", "unsafe impl Send for X {}").has_unsafe);
}
