//! The plugin as GStreamer's own tools see it: a file that they load.

#![allow(clippy::unwrap_used, reason = "a test that fails is what a test is for")]

use std::{env, os::unix::fs::symlink, process::Command};

/// What a tool of GStreamer says when it has this plugin and a registry of its own.
fn tool(name: &str, arguments: &[&str]) -> String {
    // Beside the tests; the file one folder up is only renewed by `cargo build`.
    let file = env::current_exe().unwrap().parent().unwrap().join("libgsttensor.so");
    let folder = tempfile::tempdir().unwrap();
    symlink(file, folder.path().join("libgsttensor.so")).unwrap();
    let output = Command::new(name)
        .args(arguments)
        .env("GST_PLUGIN_PATH", folder.path())
        .env("GST_REGISTRY", folder.path().join("registry"))
        .env("G_DEBUG", "fatal-criticals")
        .output()
        .unwrap();
    let [said, complaints] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{name} {arguments:?}: {complaints}");
    assert!(!complaints.contains("CRITICAL"), "{complaints}");
    said
}

/// Properties of `tensorimport`: what `gst-inspect-1.0` says of each.
const PROPERTIES: [(&str, &[&str]); 8] = [
    ("attach", &["Flags", "tensor", "video", "changeable only in NULL or READY"]),
    ("cache-size", &["Unsigned Integer", "Range: 1 - 4294967295 Default: 64", "(buffers)"]),
    ("colorimetry", &["String", "bt709"]),
    ("cpu-access", &["Enum", "none", "readwrite", "Default: 1, \"read\""]),
    ("fallback", &["Enum", "wrap", "copy", "error", "Default: 0, \"wrap\""]),
    ("quantization", &["Boxed pointer of type \"GstStructure\"", "zero-point"]),
    ("stats", &["flags: readable", "pinned-bytes"]),
    ("stats-interval", &["changeable in NULL, READY, PAUSED or PLAYING", "(frames)"]),
];

/// Whether a line is the first of a property; newer tools put lines of spaces between them.
fn is_property(line: &&str) -> bool {
    line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(|first: char| first != ' '))
}

/// What the tool says of one property: its line and the indented ones after it.
fn property<'a>(inspected: &'a str, name: &str) -> &'a str {
    let start = inspected.find(&format!("\n  {name} ")).unwrap_or_else(|| panic!("no {name}"));
    let rest = inspected.get(start..).unwrap_or_default();
    let len = rest.lines().skip(2).find(is_property).and_then(|next| rest.find(next));
    rest.get(..len.unwrap_or(rest.len())).unwrap_or_default()
}

// S-GST-01, S-GST-11
#[test]
fn the_import_is_inspected_whole() {
    let inspected = tool("gst-inspect-1.0", &["tensorimport"]);
    for said in ["memory:DMABuf", "DMA_DRM", "image/jpeg", "video/x-h264", "Filter/Video"] {
        assert!(inspected.contains(said), "{said} is not in {inspected}");
    }
    for (name, parts) in PROPERTIES {
        let text = property(&inspected, name);
        let one_space: Vec<_> = text.split_whitespace().collect();
        let text = one_space.join(" ");
        parts.iter().for_each(|part| assert!(text.contains(part), "{part} is not in {text}"));
    }
}

#[test]
fn every_element_and_property_is_explained() {
    for element in ["tensorimport", "tensorconvert", "tensorpay", "tensordepay", "tensorpool"] {
        let inspected = tool("gst-inspect-1.0", &[element]);
        for detail in ["Long-name", "Klass", "Description", "Author"] {
            let line = inspected.lines().find(|line| line.trim_start().starts_with(detail));
            let words = line.map_or(0, |line| line.split_whitespace().count());
            assert!(words > 1, "{element}: {detail}");
        }
        let properties = inspected.split("Element Properties:").nth(1).unwrap();
        for line in properties.lines().filter(is_property) {
            let explained = line.split(" : ").nth(1).is_some_and(|text| text.trim().len() > 5);
            assert!(explained, "{element}: {line}");
        }
    }
}

// S-GST-01
#[test]
fn launch_lines_run() {
    gst::init().unwrap();
    for line in [
        "videotestsrc num-buffers=3 ! tensorimport ! fakesink",
        "videotestsrc num-buffers=3 ! video/x-raw,format=NV12 ! tensorimport fallback=copy \
         stats-interval=2 cpu-access=none attach=tensor+video colorimetry=bt709 cache-size=4 \
         quantization=\"quantization,scale=0.0039,zero-point=0\" ! fakesink",
        "videotestsrc num-buffers=3 ! jpegenc ! tensorimport ! fakesink",
    ] {
        if line.contains("jpegenc") && gst::ElementFactory::find("jpegenc").is_none() {
            eprintln!("skipped: there is no jpegenc");
            continue;
        }
        let mut words = vec!["-m"];
        words.extend(line.split_whitespace());
        let said = tool("gst-launch-1.0", &words);
        assert!(said.contains("eos"), "{said}");
        assert_eq!(said.contains("tensor-stats"), line.contains("stats-interval"), "{said}");
    }
}
