//! Prints what every frame of a pipeline is.
//!
//! ```sh
//! cargo run --example tensor-watch -- \
//!     'videotestsrc num-buffers=5 ! video/x-raw,format=NV12 ! tensorimport ! appsink name=sink'
//! ```
//!
//! The pipeline ends in `appsink name=sink`. A line a frame says its shape, format and memory, where
//! each plane lies, and whether the buffer was imported now (`new`), before (`again`), or is plain
//! memory that needs no import (`in place`). With `--json` each line is an object. With `--summary`
//! a last line adds up what `tensorimport` counted and how many descriptors are open.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::arithmetic_side_effects,
    missing_docs,
    reason = "a program for a terminal"
)]

use std::{collections::HashSet, error::Error, fs, process::ExitCode};

use gst::prelude::*;
use gsttensor::{BufferTensorExt, FrameTensor};
use serde_json::{Value, json};
use tensor_core::Memory;

struct Options {
    json: bool,
    summary: bool,
    pipeline: String,
}

fn options() -> Option<Options> {
    let mut options = Options { json: false, summary: false, pipeline: String::new() };
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => options.json = true,
            "--summary" => options.summary = true,
            description if !description.starts_with("--") && options.pipeline.is_empty() => {
                description.clone_into(&mut options.pipeline);
            }
            _ => return None,
        }
    }
    (!options.pipeline.is_empty()).then_some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: tensor-watch [--json] [--summary] 'PIPELINE ! appsink name=sink'");
        return ExitCode::from(2);
    };
    match watch(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tensor-watch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn watch(options: &Options) -> Result<(), Box<dyn Error>> {
    gst::init()?;
    gsttensor::plugin_register_static()?;
    let pipeline = gst::parse::launch(&options.pipeline)?
        .downcast::<gst::Pipeline>()
        .map_err(|_| "the description is no pipeline")?;
    let sink = pipeline
        .by_name("sink")
        .and_then(|element| element.downcast::<gst_app::AppSink>().ok())
        .ok_or("the pipeline has no 'appsink name=sink'")?;
    sink.set_property("sync", false);

    let started = pipeline.set_state(gst::State::Playing);
    let watched = started.map_err(Into::into).and_then(|_| frames(&sink, options));
    // What went wrong inside says more than that it did.
    let watched = outcome(&pipeline).and(watched);
    let summary = options.summary.then(|| summary(&pipeline));
    pipeline.set_state(gst::State::Null)?;
    watched?;
    match summary {
        Some(summary) if options.json => println!("{}", json!({ "summary": summary })),
        Some(summary) => println!("{}", summary_line(&summary)),
        None => {}
    }
    Ok(())
}

/// Every frame until the end of the stream or an error.
fn frames(sink: &gst_app::AppSink, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut known = HashSet::new();
    let mut number = 0_u64;
    while let Ok(sample) = sink.pull_sample() {
        let buffer = sample.buffer_owned().ok_or("a sample without a buffer")?;
        let meta = buffer.tensor_meta().ok_or("a buffer without a tensor meta")?;
        let tensor = meta.tensor(&buffer)?;
        let frame = describe(number, &tensor, &mut known);
        if options.json {
            println!("{frame}");
        } else {
            println!("{}", line(&frame));
        }
        number += 1;
    }
    Ok(())
}

fn describe(number: u64, tensor: &FrameTensor, known: &mut HashSet<u64>) -> Value {
    let import = match tensor.memories().first().and_then(Memory::fd) {
        None => "in place",
        Some(_) if known.insert(tensor.identity().id()) => "new",
        Some(_) => "again",
    };
    let plane = |place: &tensor_core::PlanePlacement| {
        let inode = tensor.memories().get(place.memory).and_then(Memory::identity);
        json!({
            "memory": place.memory,
            "inode": inode.map(|identity| identity.ino),
            "offset": place.offset,
            "stride": place.stride,
        })
    };
    json!({
        "frame": number,
        "shape": &**tensor.shape(),
        "format": tensor.format().map(tensor_core::PixelFormat::name),
        "dtype": tensor.dtype().name(),
        "memory": tensor.memory().name(),
        "planes": tensor.image_layout().into_iter().flat_map(|image| image.planes()).map(plane).collect::<Vec<_>>(),
        "import": import,
    })
}

fn line(frame: &Value) -> String {
    let text = |name: &str| frame[name].as_str().unwrap_or("-").to_owned();
    let plane = |plane: &Value| {
        let inode = plane["inode"].as_u64().map_or("-".to_owned(), |inode| inode.to_string());
        format!("inode {inode} offset {} stride {}", plane["offset"], plane["stride"])
    };
    let planes: Vec<_> = frame["planes"].as_array().into_iter().flatten().map(plane).collect();
    format!(
        "{:>5} {} {} {} {} [{}] {}",
        frame["frame"],
        frame["shape"],
        text("format"),
        text("dtype"),
        text("memory"),
        planes.join("; "),
        text("import")
    )
}

/// What went wrong, if the stream did not just end.
fn outcome(pipeline: &gst::Pipeline) -> Result<(), Box<dyn Error>> {
    let bus = pipeline.bus().ok_or("the pipeline has no bus")?;
    match bus.pop_filtered(&[gst::MessageType::Error]).as_ref().map(|message| message.view()) {
        Some(gst::MessageView::Error(error)) => {
            Err(format!("{} ({})", error.error(), error.debug().unwrap_or_default()).into())
        }
        _ => Ok(()),
    }
}

/// The counters of every `tensorimport` in the pipeline, added up, and the descriptors now open.
fn summary(pipeline: &gst::Pipeline) -> Value {
    let elements = pipeline.iterate_recurse().into_iter().flatten();
    let stats: Vec<gst::Structure> = elements
        .filter(|element| element.factory().is_some_and(|factory| factory.name() == "tensorimport"))
        .map(|element| element.property("stats"))
        .collect();
    let sum = |name: &str| stats.iter().filter_map(|s| s.get::<u64>(name).ok()).sum::<u64>();
    json!({
        "frames": sum("frames"),
        "imports": sum("imports"),
        "hits": sum("hits"),
        "copied-bytes": sum("copied-bytes"),
        "fds": fs::read_dir("/proc/self/fd").map_or(0, Iterator::count),
    })
}

fn summary_line(summary: &Value) -> String {
    format!(
        "summary: {} frames, {} imports, {} hits, {} bytes copied, {} fds open",
        summary["frames"],
        summary["imports"],
        summary["hits"],
        summary["copied-bytes"],
        summary["fds"]
    )
}
