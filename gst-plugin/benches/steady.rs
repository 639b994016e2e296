//! What one frame costs in `tensorimport` once the stream runs, next to `identity`: instructions by
//! callgrind, the element's own being the difference. It prints and judges nothing.
//!
//! `cargo bench -p gst-plugin-tensor --bench steady`; needs valgrind.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures"
)]

#[path = "../tests/steady/mod.rs"]
mod steady;

use std::{
    env, fs,
    process::{self, Command},
};

use steady::{Line, Source};

const FEW: usize = 1_000;
const MANY: usize = 101_000;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [element, source, frames] = arguments.as_slice() {
        gst::init().unwrap();
        gsttensor::plugin_register_static().unwrap();
        let line = Line::new(element);
        return line.push(Source::from_name(source).unwrap(), frames.parse().unwrap());
    }
    println!("instructions a frame, from {} frames", MANY - FEW);
    println!("{:<10} {:>10} {:>14} {:>10}", "frames", "identity", "tensorimport", "its own");
    for source in Source::ALL {
        let counted = ["identity", "tensorimport"].map(|element| per_frame(element, source));
        let [Some(identity), Some(import)] = counted else {
            println!("skipped: valgrind counts nothing here");
            return;
        };
        let (name, own) = (source.name(), import - identity);
        println!("{name:<10} {identity:>10.0} {import:>14.0} {own:>10.0}");
    }
}

/// Instructions of one frame through `element`.
fn per_frame(element: &str, source: Source) -> Option<f64> {
    let [few, many] = [FEW, MANY].map(|frames| instructions(element, source, frames));
    Some((many? - few?) as f64 / (MANY - FEW) as f64)
}

/// Instructions of a process that pushes so many frames.
fn instructions(element: &str, source: Source, frames: usize) -> Option<i64> {
    let profile = env::temp_dir().join(format!("steady.{}", process::id()));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env::current_exe().ok()?)
        .args([element, source.name(), &frames.to_string()])
        .output();
    let _without_one = fs::remove_file(&profile);
    let output = output.ok().filter(|output| output.status.success())?;
    let said = String::from_utf8(output.stderr).ok()?;
    let collected = said.lines().find_map(|line| line.split("Collected : ").nth(1))?;
    collected.trim().parse().ok()
}
