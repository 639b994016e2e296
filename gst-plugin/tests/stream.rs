//! Tensors to bytes and back: `tensorpay`, `tensordepay`, and a reader in another language.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use std::{fs, path::Path, process::Command};

use common::*;
use gst::{glib, prelude::*};
use gst_check::Harness;
use gst_video::VideoFrameExt;
use gsttensor::{BufferTensorExt, TensorMeta};
use tensor_core::{
    Colorimetry, DType, Extension, ImageLayout, PixelFormat, Quantization, Shape, TensorMemory,
    layout::StridedLayout, transfer::StridedDescription,
};

const FRAMES: u8 = 3;

/// The bytes of a stream of NV12 frames whose rows were padded, and of one odd frame of RGB.
fn stream(caps: &str, layout: &ImageLayout) -> Vec<u8> {
    init();
    let mut harness = Harness::new_parse("tensorimport ! tensorpay");
    harness.set_src_caps_str(caps);
    let mut stream = Vec::new();
    for frame in 0..FRAMES {
        let mut buffer = buffer([fd_memory(&filled(layout, 0, frame))]);
        let writable = buffer.get_mut().unwrap();
        writable.set_pts(gst::ClockTime::from_mseconds(u64::from(frame) * 40));
        writable.set_duration(gst::ClockTime::from_mseconds(40));
        let packet = harness.push_and_pull(buffer).unwrap();
        assert_eq!(packet.pts(), Some(gst::ClockTime::from_mseconds(u64::from(frame) * 40)));
        stream.extend_from_slice(&packet.map_readable().unwrap());
    }
    stream
}

fn nv12_stream() -> Vec<u8> {
    stream(NV12, &tight_nv12())
}

fn depay() -> Harness {
    init();
    let mut harness = Harness::new("tensordepay");
    harness.set_src_caps_str("application/x-tensor-blob,version=1,framerate=25/1");
    harness
}

/// What became of a stream that came in pieces of `piece` bytes.
fn depayed(stream: &[u8], piece: usize) -> (Vec<gst::Buffer>, Harness) {
    let mut harness = depay();
    for piece in stream.chunks(piece) {
        harness.push(gst::Buffer::from_slice(piece.to_vec())).unwrap();
    }
    let buffers = (0..harness.buffers_in_queue()).map(|_| harness.pull().unwrap()).collect();
    (buffers, harness)
}

#[test]
fn frames_come_back_however_the_bytes_are_cut() {
    let stream = nv12_stream();
    for piece in [1, 7, 40, 1000, stream.len()] {
        let (buffers, harness) = depayed(&stream, piece);
        assert_eq!(buffers.len(), usize::from(FRAMES), "{piece}");
        for (frame, buffer) in (0..FRAMES).zip(&buffers) {
            check_samples(&tensor(buffer), frame);
            assert_eq!(buffer.pts(), Some(gst::ClockTime::from_mseconds(u64::from(frame) * 40)));
            assert_eq!(buffer.duration(), Some(gst::ClockTime::from_mseconds(40)));
        }
        let caps = harness.sinkpad().unwrap().current_caps().unwrap();
        let info = gst_video::VideoInfo::from_caps(&caps).unwrap();
        assert_eq!((info.width(), info.height(), info.fps()), (64, 36, gst::Fraction::new(25, 1)));
    }
}

/// Rows whose padding is not that of the caps: the video meta says where they are.
#[test]
fn odd_rows_come_back_with_a_video_meta() {
    let caps = "video/x-raw,format=RGB,width=33,height=5,framerate=30/1";
    init();
    let layout = ImageLayout::with_row_stride(PixelFormat::Rgb, 33, 5, 100).unwrap();
    let (buffers, _) = depayed(&stream(caps, &layout), 4096);
    let buffer = &buffers[2];
    check_samples(&tensor(buffer), 2);
    let info = gst_video::VideoInfo::from_caps(&caps.parse::<gst::Caps>().unwrap()).unwrap();
    let frame = gst_video::VideoFrameRef::from_buffer_ref_readable(buffer, &info).unwrap();
    assert_eq!(frame.plane_stride()[0], 99);
    let rows = frame.plane_data(0).unwrap();
    assert!(
        (0..5).all(|row| rows[row * 99..row * 99 + 99].iter().all(|b| *b == sample(2, 0, row)))
    );
}

fn plain(shape: &[usize], dtype: DType, handle: i64, name: &str) -> glib::Bytes {
    let quantization = Quantization::new(vec![0.5], vec![3], None).unwrap();
    let description = StridedDescription {
        layout: &StridedLayout::dense(&Shape::new(shape).unwrap(), dtype.size_bytes()).unwrap(),
        dtype,
        kind: TensorMemory::Mem,
        colorimetry: Colorimetry::default(),
        quantization: (dtype == DType::I8).then_some(&quantization),
        extension: Extension { name, ..Extension::default() },
    };
    glib::Bytes::from_owned(description.to_blob(handle).unwrap())
}

/// One buffer with the two inputs of a model.
fn two_inputs() -> gst::Buffer {
    init();
    let image: Vec<u8> = (0..96_u8).collect();
    let ids: Vec<u8> = (100..140).collect();
    let mut buffer = buffer([image, ids].map(gst::Memory::from_mut_slice));
    let writable = buffer.get_mut().unwrap();
    TensorMeta::add_blob(writable, 0, &plain(&[1, 4, 8, 3], DType::I8, 0, "images")).unwrap();
    TensorMeta::add_blob(writable, 5, &plain(&[10], DType::F32, 1, "ids")).unwrap();
    buffer
}

fn two_inputs_stream() -> Vec<u8> {
    let mut harness = Harness::new("tensorpay");
    harness.set_src_caps_str("application/x-anything");
    let packet = harness.push_and_pull(two_inputs()).unwrap();
    packet.map_readable().unwrap().to_vec()
}

// S-GST-14
#[test]
fn several_tensors_are_one_packet_and_nnstreamers_caps() {
    let stream = {
        init();
        two_inputs_stream()
    };
    let (buffers, harness) = depayed(&stream, 100);
    let caps = harness.sinkpad().unwrap().current_caps().unwrap();
    let expected = "other/tensors,format=static,num_tensors=2,dimensions=\"3:8:4:1,10\",\
                    types=\"int8,float32\",framerate=25/1";
    assert_eq!(caps, expected.parse::<gst::Caps>().unwrap());
    let [buffer] = buffers.as_slice() else { panic!("{buffers:?}") };
    let (image, ids) = (buffer.tensor_meta().unwrap(), buffer.tensor_meta_at(5).unwrap());
    let (image, ids) = (image.tensor(buffer).unwrap(), ids.tensor(buffer).unwrap());
    assert_eq!((image.name(), ids.name()), (Some("images"), Some("ids")));
    assert_eq!(image.quantization().unwrap().zero_points(), [3]);
    assert_eq!(image.map_read().unwrap().memory(0).unwrap(), (0..96_u8).collect::<Vec<_>>());
    assert_eq!(buffer.peek_memory(1).size(), 40);
    assert_eq!(ids.map_read().unwrap().memory(0).unwrap(), (100..140).collect::<Vec<u8>>());
}

/// What the element said was wrong.
fn error_of(harness: &Harness) -> String {
    let bus = harness.element().unwrap().bus().unwrap();
    let message = bus.pop_filtered(&[gst::MessageType::Error]).expect("an error message");
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    error.error().to_string()
}

fn refused(stream: &[u8], max_size: u64) -> String {
    let mut harness = depay();
    let element = harness.element().unwrap();
    let bus = gst::Bus::new();
    element.set_bus(Some(&bus));
    element.set_property("max-size", max_size);
    let pushed = harness.push(gst::Buffer::from_slice(stream.to_vec()));
    if pushed.is_ok() {
        harness.push_event(gst::event::Eos::new());
    }
    error_of(&harness)
}

fn with(stream: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = stream.to_vec();
    changed[at..at + bytes.len()].copy_from_slice(bytes);
    changed
}

#[test]
fn what_is_no_stream_of_packets_is_an_error_with_numbers() {
    let stream = nv12_stream();
    let len = stream.len() / usize::from(FRAMES);
    let max = 1 << 20;
    for (bytes, said) in [
        (b"not a tensor in sight, only prose, and that for forty bytes".to_vec(), "GTXP"),
        (with(&stream, 8, &u64::MAX.to_le_bytes()), "18446744073709551615"),
        (with(&stream, 8, &(max + 1_u64).to_le_bytes()), "1048577 bytes; at most 1048576"),
        (with(&stream, 32, &99_u32.to_le_bytes()), "99 tensors"),
        (stream[..len - 1].to_vec(), &format!("ends {} bytes into a packet of {len}", len - 1)),
        (stream[..17].to_vec(), "ends 17 bytes into a packet of 40"),
        (with(&stream, 48 + 48, &7_u32.to_le_bytes()), "tensor 0 of the packet"),
    ] {
        let error = refused(&bytes, max);
        assert!(error.contains(said), "{error}");
    }
    let error = refused(&stream, 1000);
    assert!(error.contains("at most 1000 are taken, see max-size"), "{error}");
}

/// Every byte of the first packet changed: an error or tensors, never a panic, and after an error
/// nothing of the stream is kept.
#[test]
fn changed_bytes_never_harm() {
    let stream = {
        init();
        two_inputs_stream()
    };
    for at in 0..stream.len() {
        for bits in [0x01, 0x80, 0xFF] {
            let mut harness = depay();
            let changed = with(&stream, at, &[stream[at] ^ bits]);
            if harness.push(gst::Buffer::from_slice(changed)).is_ok() {
                while let Some(buffer) = harness.try_pull() {
                    for meta in buffer.tensor_metas() {
                        meta.tensor(&buffer).unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn a_buffer_without_a_tensor_is_an_error() {
    init();
    let mut harness = Harness::new("tensorpay");
    let bus = gst::Bus::new();
    harness.element().unwrap().set_bus(Some(&bus));
    harness.set_src_caps_str(NV12);
    assert!(harness.push(gst::Buffer::with_size(100).unwrap()).is_err());
    let error = error_of(&harness);
    assert!(error.contains("100 bytes has no tensor meta"), "{error}");
}

#[test]
fn a_flush_forgets_half_a_packet() {
    let stream = nv12_stream();
    let mut harness = depay();
    harness.push(gst::Buffer::from_slice(stream[..1000].to_vec())).unwrap();
    harness.push_event(gst::event::FlushStart::new());
    harness.push_event(gst::event::FlushStop::new(true));
    harness.push_event(gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new()));
    harness.push(gst::Buffer::from_slice(stream)).unwrap();
    check_samples(&tensor(&harness.pull().unwrap()), 0);
}

#[test]
fn a_file_is_written_and_played() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display();
    let run = |description: &str| {
        let pipeline = parse(description);
        let bus = pipeline.bus().unwrap();
        let types = [gst::MessageType::Eos, gst::MessageType::Error];
        let message = bus.timed_pop_filtered(gst::ClockTime::from_seconds(60), &types).unwrap();
        assert_eq!(message.type_(), gst::MessageType::Eos, "{message:?}");
        pipeline.set_state(gst::State::Null).unwrap();
    };
    run(&format!(
        "videotestsrc num-buffers=4 pattern=white ! video/x-raw,format=NV12,width=50,height=30 \
         ! tensorimport ! tensorpay ! filesink location={path}"
    ));
    run(&format!("filesrc location={path} blocksize=1000 ! tensordepay ! videoconvert ! fakesink"));
    let pipeline =
        parse(&format!("filesrc location={path} ! tensordepay ! appsink name=sink sync=false"));
    let buffer = pull(&pipeline, "sink");
    let tensor = tensor(&buffer);
    assert_eq!((tensor.width(), tensor.height()), (Some(50), Some(30)));
    assert!(tensor.map_read().unwrap().plane(0).unwrap().rows().all(|row| row == [235; 50]));
    pipeline.set_state(gst::State::Null).unwrap();
    check_with_python(file.path());
}

/// The documented reader, which knows only the format, finds the same.
fn check_with_python(path: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tensor_stream.py");
    let output = Command::new("python3").arg(script).arg(path).output();
    let Ok(output) = output else {
        println!("skipped: no python3");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for (number, line) in lines.iter().enumerate() {
        let start = format!("packet {number} pts ");
        assert!(line.starts_with(&start), "{line}");
        assert!(line.contains("tensor 0: u8 [30, 50] NV12, planes 1500 + 750 bytes"), "{line}");
        assert!(line.contains("mean 235.0 + 128.0"), "{line}");
    }
    let cut = path.with_extension("cut");
    let bytes = fs::read(path).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tensor_stream.py");
    let output = Command::new("python3").arg(script).arg(&cut).output().unwrap();
    fs::remove_file(&cut).unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("truncated"));
}

#[test]
fn both_elements_say_what_they_are() {
    init();
    for name in ["tensorpay", "tensordepay"] {
        let factory = gst::ElementFactory::find(name).unwrap();
        assert_eq!(factory.static_pad_templates().len(), 2);
        assert!(factory.metadata("description").is_some());
    }
}
