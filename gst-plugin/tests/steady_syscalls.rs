//! How often a frame makes `tensorimport` ask the kernel, counted by strace.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;
mod steady;

use std::{env, process::Command};

use steady::{Line, Source};

/// Names the run that the child makes: element, source, frames.
const RUN: &str = "TENSOR_STEADY_RUN";

const FEW: u64 = 200;
const MANY: u64 = 2_200;

/// Run by the test below, in a process that is traced.
#[test]
fn child() {
    #[expect(clippy::disallowed_methods, reason = "the parent's one way to tell its child")]
    let Ok(run) = env::var(RUN) else { return };
    let mut words = run.split(' ');
    let [element, source, frames] = [(); 3].map(|()| words.next().unwrap());
    gst::init().unwrap();
    gsttensor::plugin_register_static().unwrap();
    Line::new(element).push(Source::from_name(source).unwrap(), frames.parse().unwrap());
}

/// System calls of a process that pushes so many frames.
fn calls(element: &str, source: Source, frames: u64) -> Result<u64, String> {
    let summary = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let status = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(summary.path())
        .arg(env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(RUN, format!("{element} {} {frames}", source.name()))
        .output();
    let output = status.map_err(|error| format!("strace: {error}"))?;
    let text = std::fs::read_to_string(summary.path()).unwrap();
    let total = text.lines().find(|line| line.ends_with(" total"));
    let calls = total.and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if complaint.contains("panicked") {
        panic!("{complaint}");
    }
    calls.ok_or(complaint)
}

#[test]
fn a_frame_that_came_before_costs_no_system_call() {
    for (source, most) in [(Source::Pooled, 0), (Source::Recycled, 0), (Source::Fresh, 2)] {
        let counted = [FEW, MANY].map(|frames| calls("tensorimport", source, frames));
        let [few, many] = match counted {
            [Ok(few), Ok(many)] => [few, many],
            [Err(why), _] | [_, Err(why)] => {
                return common::skip("strace", &format!("nothing is traced: {why}"));
            }
        };
        let (frames, calls) = (MANY - FEW, many.saturating_sub(few));
        eprintln!("{}: {calls} system calls in {frames} frames", source.name());
        // A few are the process's own: its allocator now and then asks for more.
        let few = frames / 20;
        assert!(calls < most * frames + few, "{}: {calls}", source.name());
        assert!(most == 0 || calls + few > frames, "an identity is asked for: {calls}");
    }
}
