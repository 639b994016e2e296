//! Runs a model on every frame and prints what it finds: from the camera to the classes, with the
//! input read by the model where `tensorconvert` wrote it.
//!
//! ```sh
//! cargo run --example classify -- libonnxruntime.so.1 model.onnx \
//!     'v4l2src io-mode=dmabuf ! tensorconvert name=convert ! appsink name=sink'
//! ```
//!
//! The first argument is the library of ONNX Runtime: that of a distribution, or the file
//! `onnxruntime/capi/libonnxruntime.so.*` of the wheel that PyPI has. The pipeline has a
//! `tensorconvert name=convert`, which is told the model, and ends in `appsink name=sink`. A line a
//! frame gives the five greatest of the first output's values, `index value`, greatest first. With
//! `--labels FILE` classes are called by that file's lines. With `--json` each line is an object with
//! all values of all outputs.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "a program for a terminal"
)]

mod ort;

use std::{error::Error, fs, path::PathBuf, process::ExitCode};

use gst::prelude::*;
use gsttensor::{BufferTensorExt, model};
use serde_json::{Value, json};
use tensor_core::{DType, Shape};

use self::ort::{Input, Output, Runtime, Session};

/// Classes that a line names.
const TOP: usize = 5;

#[derive(Default)]
struct Options {
    json: bool,
    labels: Option<PathBuf>,
    positional: Vec<String>,
}

fn options() -> Option<Options> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--labels" => options.labels = Some(arguments.next()?.into()),
            other if other.starts_with("--") => return None,
            other => options.positional.push(other.to_owned()),
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let options = options();
    let given = options.as_ref().map(|options| (options, options.positional.as_slice()));
    let Some((options, [runtime, model, pipeline])) = given else {
        eprintln!(
            "usage: classify [--json] [--labels FILE] LIBRARY MODEL 'PIPELINE ! appsink name=sink'"
        );
        return ExitCode::from(2);
    };
    match classify(options, runtime, model, pipeline) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("classify: {error}");
            ExitCode::FAILURE
        }
    }
}

fn classify(
    options: &Options,
    runtime: &str,
    model: &str,
    description: &str,
) -> Result<(), Box<dyn Error>> {
    let labels = options.labels.as_ref().map(fs::read_to_string).transpose()?;
    let labels: Vec<&str> = labels.iter().flat_map(|text| text.lines()).collect();
    let rank = model::read(model.as_ref())?.rank;
    let runtime = Runtime::load(runtime.as_ref())?;
    let mut session = Session::new(&runtime, &fs::read(model)?)?;

    gst::init()?;
    gsttensor::plugin_register_static()?;
    let pipeline = gst::parse::launch(description)?
        .downcast::<gst::Pipeline>()
        .map_err(|_| "the description is no pipeline")?;
    let convert = pipeline.by_name("convert").ok_or("there is no 'tensorconvert name=convert'")?;
    convert.set_property("model", model);
    let sink = pipeline
        .by_name("sink")
        .and_then(|element| element.downcast::<gst_app::AppSink>().ok())
        .ok_or("the pipeline has no 'appsink name=sink'")?;
    sink.set_property("sync", false);

    let started = pipeline.set_state(gst::State::Playing);
    let ran = started.map_err(Into::into).and_then(|_| {
        frames(&sink, &mut session, rank, |number, outputs| {
            if options.json {
                println!("{}", object(number, outputs));
            } else {
                println!("{}", line(number, outputs, &labels));
            }
        })
    });
    // What went wrong inside says more than that it did.
    let ran = outcome(&pipeline).and(ran);
    pipeline.set_state(gst::State::Null)?;
    ran
}

/// Every frame until the end of the stream or an error.
fn frames(
    sink: &gst_app::AppSink,
    session: &mut Session<'_>,
    rank: usize,
    found: impl Fn(u64, &[Output]),
) -> Result<(), Box<dyn Error>> {
    for number in 0.. {
        let Ok(sample) = sink.pull_sample() else { break };
        let buffer = sample.buffer_owned().ok_or("a sample without a buffer")?;
        let tensor =
            buffer.tensor_meta().ok_or("a buffer without a tensor meta")?.tensor(&buffer)?;
        let map = tensor.map_read()?;
        // One dense tensor in one memory, which may be longer.
        let bytes = map.memory(0).and_then(|memory| memory.get(..buffer.size()));
        let (bytes, shape) =
            (bytes.ok_or("a tensor without bytes")?, batched(tensor.shape(), rank));
        let input = Input { bytes, dtype: tensor.dtype(), shape: &shape };
        found(number, &session.run(&input)?);
    }
    Ok(())
}

/// The shape with axes of 1 ahead, as many as the model wants: a batch of one.
fn batched(shape: &Shape, rank: usize) -> Vec<i64> {
    let ahead = std::iter::repeat_n(1, rank.saturating_sub(shape.len()));
    ahead.chain(shape.iter().map(|dim| i64::try_from(*dim).unwrap_or(i64::MAX))).collect()
}

type Numbers = fn(&[u8]) -> Vec<f64>;

/// How the types that models give scores in are numbers.
const NUMBERS: [(DType, Numbers); 6] = [
    (DType::F32, |bytes| each(bytes, |it| f32::from_ne_bytes(it).into())),
    (DType::F64, |bytes| each(bytes, f64::from_ne_bytes)),
    (DType::U8, |bytes| each(bytes, |it| u8::from_ne_bytes(it).into())),
    (DType::I8, |bytes| each(bytes, |it| i8::from_ne_bytes(it).into())),
    (DType::U32, |bytes| each(bytes, |it| u32::from_ne_bytes(it).into())),
    (DType::I32, |bytes| each(bytes, |it| i32::from_ne_bytes(it).into())),
];

fn each<const LEN: usize>(bytes: &[u8], number: fn([u8; LEN]) -> f64) -> Vec<f64> {
    bytes.as_chunks().0.iter().copied().map(number).collect()
}

/// The values of an output; none of a type that is no score.
fn numbers(output: &Output) -> Vec<f64> {
    let known = NUMBERS.iter().find(|(dtype, _)| *dtype == output.dtype);
    known.map_or_else(Vec::new, |(_, numbers)| numbers(&output.bytes))
}

fn object(number: u64, outputs: &[Output]) -> Value {
    let output = |output: &Output| json!({ "shape": output.shape, "values": numbers(output) });
    let named = outputs.iter().map(|it| (it.name.clone(), output(it)));
    json!({ "frame": number, "outputs": named.collect::<serde_json::Map<_, _>>() })
}

fn line(number: u64, outputs: &[Output], labels: &[&str]) -> String {
    let mut scores: Vec<_> = outputs.first().map(numbers).unwrap_or_default();
    let mut order: Vec<_> = scores.drain(..).enumerate().collect();
    order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let class = |(index, score): &(usize, f64)| {
        let name = labels.get(*index).map_or_else(|| index.to_string(), |name| (*name).to_owned());
        format!("{name} {score:.3}")
    };
    let classes: Vec<_> = order.iter().take(TOP).map(class).collect();
    format!("{number:>5} {}", classes.join(", "))
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
