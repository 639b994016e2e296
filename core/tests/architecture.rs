//! The rules that keep the crate in layers, as a program.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The modules of `core/src`, lowest layer first. A module may use those of its own layer and of
/// lower ones.
const LAYERS: &[(&str, &[&str])] = &[
    ("words", &["access", "colorimetry", "dtype", "memory_kind", "quantization", "shape"]),
    ("format", &["format"]),
    ("layout", &["layout"]),
    ("wire", &["blob"]),
    ("sys", &["sys"]),
    ("memory", &["memory"]),
    ("tensor", &["tensor"]),
    ("exchange", &["transfer", "import_cache"]),
];

/// Memory is bytes: it must know neither shape nor format, though both lie below it.
const UNKNOWN_TO_MEMORY: &[&str] = &["format", "layout", "blob", "shape", "quantization"];

/// The layers that hold numbers and bytes only.
const PURE: &[&str] = &["words", "format", "layout", "wire"];

/// Where `unsafe` may stand: the system calls, and the memory made of them.
const UNSAFE_ALLOWED: &[&str] = &["sys", "memory"];

/// The most lines a file has, tests apart.
const MAX_LINES: usize = 400;

fn source_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every source file with its module path's first name and its text.
fn sources() -> Vec<(PathBuf, String, String)> {
    fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                files.push(path);
            }
        }
    }
    let root = source_root();
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let module = |path: &Path| {
        let first = path.strip_prefix(&root).unwrap().components().next().unwrap();
        first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    files.into_iter().map(|p| (p.clone(), module(&p), fs::read_to_string(&p).unwrap())).collect()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

/// Code without line comments and without what follows `#[cfg(test)]`.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules a text names after `crate::`, in paths and in braces.
fn imports(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            None => found.push(word(after)),
            Some(list) => {
                let (mut depth, mut start) = (0_i32, true);
                for (at, c) in list.char_indices() {
                    match c {
                        '}' if depth == 0 => break,
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if c.is_whitespace() => {}
                        _ if start && depth == 0 => {
                            found.push(word(&list[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

#[test]
fn every_module_has_a_layer() {
    for (path, module, _) in sources() {
        let placed = module == "lib" || layer_of(&module).is_some();
        assert!(placed, "{}: module {module} is in no layer", path.display());
    }
}

#[test]
fn no_layer_uses_a_higher_one() {
    for (path, module, text) in sources() {
        let Some(own) = layer_of(&module) else { continue };
        for import in imports(&code(&text)) {
            let layer = layer_of(&import).unwrap_or_else(|| {
                panic!("{}: uses crate::{import}; name it by its module", path.display())
            });
            assert!(
                layer <= own,
                "{}: {} uses {import} of the higher layer {}",
                path.display(),
                LAYERS[own].0,
                LAYERS[layer].0
            );
        }
    }
}

#[test]
fn memory_knows_bytes_only() {
    for (path, module, text) in sources() {
        if module == "memory" || module == "sys" {
            for import in imports(&code(&text)) {
                let known = !UNKNOWN_TO_MEMORY.contains(&import.as_str());
                assert!(known, "{}: {module} uses {import}", path.display());
            }
        }
    }
}

#[test]
fn unsafe_stands_where_the_system_is_called() {
    for (path, module, text) in sources() {
        let allowed = UNSAFE_ALLOWED.contains(&module.as_str());
        let code = code(&text).replace("unsafe_code", "");
        assert!(allowed || !code.contains("unsafe "), "{}: unsafe in {module}", path.display());
    }
}

#[test]
fn pure_layers_make_no_system_call() {
    for (path, module, text) in sources() {
        let Some(layer) = layer_of(&module) else { continue };
        if PURE.contains(&LAYERS[layer].0) {
            for word in ["rustix", "std::fs", "std::io", "std::os", "std::env"] {
                assert!(!code(&text).contains(word), "{}: {module} uses {word}", path.display());
            }
        }
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    for (path, _, text) in sources() {
        let lines = code(&text).lines().count();
        let is_tests = path.components().any(|part| part.as_os_str().to_str() == Some("tests"))
            || path.ends_with("tests.rs");
        assert!(is_tests || lines <= MAX_LINES, "{}: {lines} lines", path.display());
    }
}

#[test]
fn no_module_is_named_for_nothing() {
    for (path, _, _) in sources() {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(!["utils", "helpers", "common", "manager"].contains(&stem), "{}", path.display());
    }
}

#[test]
fn the_device_number_never_decides_what_a_file_is() {
    // S-CLS-06: it is part of an identity and of nothing else.
    for (path, _, text) in sources() {
        let names_it = code(&text).contains("st_dev");
        assert!(!names_it || path.ends_with("sys/file.rs"), "{}", path.display());
    }
}

#[test]
fn the_import_scanner_sees_paths_and_braces() {
    let code =
        "use crate::{\n    access::CpuAccess,\n    sys::{file, mmap::Mapping},\n};\ncrate::blob::X";
    assert_eq!(imports(code), ["access", "sys", "blob"]);
}
