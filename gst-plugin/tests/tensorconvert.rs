//! `tensorconvert`: frames in, inputs of models out.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::prelude::*;
use gst_check::Harness;
use gst_video::VideoFormat;
use gsttensor::tensor_caps;
use tensor_core::{DType, PixelFormat, TensorMemory};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model/quantized.tflite");
const RGB: &str = "video/x-raw,format=RGB,width=640,height=480,framerate=30/1";

fn convert(properties: &str, caps: &str) -> Harness {
    init();
    let mut harness = Harness::new_parse(&format!("tensorconvert {properties}"));
    harness.set_src_caps_str(caps);
    harness
}

/// 640x480 RGB with 2000-byte rows, of which one sample is not 0.
fn planted() -> gst::Buffer {
    let stride = 2000;
    let mut bytes = vec![0; stride * 480];
    bytes[2 * stride + 5 * 3 + 1] = 201;
    let mut buffer = buffer([gst::Memory::from_slice(bytes)]);
    add_video_meta(&mut buffer, VideoFormat::Rgb, [640, 480], &[0], &[2000]);
    buffer
}

/// G12: the value planted at (x=5, y=2, c=1) of a padded frame is at [2, 5, 1] of a dense input, and
/// the caps say its dimensions innermost first.
#[test]
fn a_planted_value_is_where_the_shape_says() {
    let mut harness = convert("", RGB);
    let out = harness.push_and_pull(planted()).unwrap();
    let caps = harness.sinkpad().unwrap().current_caps().unwrap();
    let said = caps.structure(0).unwrap().get::<String>("dimensions").unwrap();
    assert_eq!(said, "3:640:480:1");
    assert_eq!((out.n_memory(), out.size()), (1, 640 * 480 * 3));
    let tensor = tensor(&out);
    assert_eq!((&tensor.shape()[..], tensor.dtype()), (&[480, 640, 3][..], DType::U8));
    let bytes = out.map_readable().unwrap();
    let at = |[y, x, c]: [usize; 3]| bytes[(y * 640 + x) * 3 + c];
    assert_eq!(at([2, 5, 1]), 201);
    assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 1);
}

#[test]
fn channels_first_in_f32_and_letterboxed() {
    let mut harness = convert("width=64 height=64 dtype=f32 layout=nchw pad-value=255", RGB);
    let out = harness.push_and_pull(planted()).unwrap();
    assert_eq!(out.size(), 3 * 64 * 64 * 4);
    let tensor = tensor(&out);
    assert_eq!(tensor.shape()[..], [3, 64, 64]);
    let bytes = out.map_readable().unwrap();
    let rows = bytes
        .chunks_exact(4 * 64)
        .map(|row| row.chunks_exact(4).all(|it| f32::from_ne_bytes(it.try_into().unwrap()) == 1.0));
    // 640x480 takes 48 of 64 rows; 8 above and 8 below are padding, in each channel.
    let padding: Vec<_> = rows.map(usize::from).collect();
    let channel: Vec<_> = (0..64).map(|row| usize::from(!(8..56).contains(&row))).collect();
    assert_eq!(padding, channel.repeat(3));
}

#[test]
fn downstreams_caps_alone_say_what_is_made() {
    init();
    let pipeline = parse(
        "videotestsrc num-buffers=5 ! video/x-raw,format=NV12,width=322,height=242 ! tensorconvert \
         ! other/tensors,format=static,num_tensors=1,types=(string)float16,\
         dimensions=(string)32:16:3 ! appsink name=sink sync=false",
    );
    for _ in 0..5 {
        let out = pull(&pipeline, "sink");
        assert_eq!(out.size(), 3 * 16 * 32 * 2);
        let tensor = tensor(&out);
        assert_eq!((&tensor.shape()[..], tensor.dtype()), (&[3, 16, 32][..], DType::F16));
        assert_ne!(tensor.memory(), TensorMemory::Mem);
    }
    pipeline.set_state(gst::State::Null).unwrap();
}

/// What the parts of a frame become: a rectangle, and the middle that has the input's aspect.
#[test]
fn the_part_that_is_asked_for_is_taken() {
    for (crop, [x, y]) in [("crop=4,1,64,48", [1, 1]), ("crop=2,2,64,48", [3, 0])] {
        let mut harness = convert(&format!("width=64 height=48 {crop}"), RGB);
        let out = harness.push_and_pull(planted()).unwrap();
        let bytes = out.map_readable().unwrap();
        assert_eq!(bytes.iter().position(|byte| *byte == 201), Some((y * 64 + x) * 3 + 1));
        assert_eq!(bytes.iter().filter(|byte| **byte != 0).count(), 1);
    }
    // 480x480 from column 80 on: nothing of it is planted, and nothing is padded.
    let mut harness = convert("width=96 height=96 crop=center", RGB);
    let out = harness.push_and_pull(planted()).unwrap();
    assert!(out.map_readable().unwrap().iter().all(|byte| *byte == 0));
}

/// A model is read once: its file may go while the element runs, and what is set anew is read.
#[test]
fn a_model_is_read_when_it_is_set() {
    init();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.tflite");
    std::fs::copy(MODEL, &path).unwrap();
    let element = gst::ElementFactory::make("tensorconvert").build().unwrap();
    element.set_property("model", path.to_str().unwrap());
    let asked = || {
        let caps = element.static_pad("src").unwrap().query_caps(None);
        caps.structure(0).unwrap().get::<gst::List>("dimensions").map(|dims| dims[0].get().unwrap())
    };
    assert_eq!(asked(), Ok("3:128:96:1".to_owned()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(asked(), Ok("3:128:96:1".to_owned()));
    element.set_property("model", path.to_str().unwrap());
    assert!(asked().is_err());
}

/// Frames in files are read by their descriptors, and outputs that are dropped come again.
#[test]
fn memory_of_inputs_is_used_again() {
    let mut harness = convert("width=16 height=16 scale=0.5 zero-point=-3 dtype=i8", NV12);
    let frame = fd_memory(&filled(&tight_nv12(), 0, 4));
    let mut memories = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let out = harness.push_and_pull(buffer([frame.clone()])).unwrap();
        assert_eq!(tensor(&out).quantization().unwrap().zero_points(), [-3]);
        memories.insert(out.peek_memory(0).as_ptr());
    }
    assert_eq!(memories.len(), 1);
}

/// The text of the element error that negotiation ends with.
fn refusal(properties: &str) -> String {
    init();
    let element = gst::parse::bin_from_description(&format!("tensorconvert {properties}"), true);
    let mut harness = Harness::with_element(&element.unwrap(), Some("sink"), Some("src"));
    let bus = gst::Bus::new();
    harness.element().unwrap().set_bus(Some(&bus));
    harness.set_src_caps_str(RGB);
    assert!(harness.push(planted()).is_err(), "{properties}");
    let message = bus.pop_filtered(&[gst::MessageType::Error]).unwrap();
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    error.error().to_string()
}

#[test]
fn bad_specifications_are_refused_with_names_and_numbers() {
    for (properties, words) in [
        ("std=0", vec!["std", "above zero", "got 0"]),
        ("mean=nan", vec!["mean", "NaN"]),
        ("mean=1,2", vec!["mean", "1,2"]),
        ("dtype=i8", vec!["i8", "quantization"]),
        ("dtype=u64", vec!["u64"]),
        ("fit=squeeze", vec!["fit", "squeeze"]),
        ("dtype=i8 scale=0", vec!["scale", "got 0"]),
        ("dtype=i8 scale=-0.5", vec!["scale", "-0.5"]),
        ("dtype=i8 scale=nan", vec!["scale", "NaN"]),
        ("dtype=i8 scale=0.5,1", vec!["scale", "one number", "0.5,1"]),
        ("dtype=i8 scale=0.5 zero-point=-129", vec!["zero_points", "-129"]),
        ("pad-value=nan", vec!["pad", "NaN"]),
        ("crop=600,0,41,480", vec!["crop", "640x480", "600"]),
        ("crop=0,0,0,480", vec!["crop", "640x480"]),
        ("crop=1,2,3", vec!["crop", "x,y,width,height", "1,2,3"]),
        ("crop=-1,0,8,8", vec!["crop", "-1,0,8,8"]),
        ("model=/nowhere/model.onnx", vec!["model file", "No such file"]),
    ] {
        let said = refusal(properties);
        assert!(words.iter().all(|word| said.contains(word)), "{properties}: {said}");
    }
}

#[test]
fn caps_that_say_it_are_those_that_nnstreamer_writes() {
    let mut harness = convert("width=32 height=24 dtype=f32", RGB);
    harness.push_and_pull(planted()).unwrap();
    let caps = harness.sinkpad().unwrap().current_caps().unwrap();
    let shape = tensor_core::Shape::new(&[1, 24, 32, 3]).unwrap();
    assert_eq!(caps, tensor_caps::caps(DType::F32, &shape, gst::Fraction::new(30, 1)));
    assert_eq!(PixelFormat::Rgb.gst_name(), Some("RGB"));
}
