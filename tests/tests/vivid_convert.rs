//! A model's input of a real V4L2 driver's frames: dma-buf in, dma-buf out, and every sample what the
//! core's reference makes of the frame as GStreamer's own mapping shows it.
//!
//! These need the cameras of the test machine (`tests/vm/run`); elsewhere they skip aloud.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::sync::{Arc, Mutex};

use gst::prelude::*;
use gst_allocators::DmaBufMemory;
use gst_video::VideoInfo;
use gsttensor::{BufferTensorExt, video_layout};
use tensor_core::{
    CpuAccess, DType, ImageLayout, Memory, Normalization, PixelFormat, PreprocessSpec,
    Quantization, StrideAlign, TensorDyn, TensorMemory,
    convert::{ConvertOptions, Converter, Destination, Kernel, Source, TensorOrder},
    memory::AllocPolicy,
};
use tensor_tests::{
    camera::{Camera, Input},
    plain_view::planes,
};

const SIZE: (u32, u32) = (640, 360);
const FRAMES: usize = 5;

/// A frame of the camera, read without the plugin.
type Dump = (VideoInfo, Vec<Vec<u8>>);

/// One input: the element's properties, and the same for the core; and how far apart two samples of
/// neighbouring pixel values are.
struct Case {
    properties: &'static str,
    destination: Destination,
    spec: PreprocessSpec,
    level: f64,
}

fn cases() -> [Case; 3] {
    let spec = |normalization| {
        let mut spec = PreprocessSpec::default();
        spec.normalization = normalization;
        spec
    };
    let quantization = Quantization::per_tensor(1.0 / 255.0, -128).unwrap();
    [
        Case {
            properties: "width=320 height=320",
            destination: Destination::new(320, 320),
            spec: spec(Normalization::raw()),
            level: 1.0,
        },
        Case {
            properties: "width=320 height=320 dtype=i8 scale=0.003921569 zero-point=-128 threads=2",
            destination: Destination::new(320, 320)
                .with_dtype(DType::I8)
                .with_quantization(quantization),
            spec: spec(Normalization::unsigned()),
            level: 1.0,
        },
        Case {
            properties: "width=224 height=224 dtype=f32 layout=nchw mean=127.5 std=127.5",
            destination: Destination::new(224, 224)
                .with_dtype(DType::F32)
                .with_layout(TensorOrder::Nchw),
            spec: spec(Normalization::signed()),
            level: 1.0 / 127.5,
        },
    ]
}

/// What the reference makes of a frame.
fn reference(case: &Case, (info, planes): &Dump) -> Vec<u8> {
    let (width, height) = (info.width().try_into().unwrap(), info.height().try_into().unwrap());
    let layout = ImageLayout::packed(PixelFormat::Nv12, width, height, StrideAlign::NONE).unwrap();
    let memory = Memory::heap(layout.allocation_len(0)).unwrap();
    let mut map = memory.map(CpuAccess::ReadWrite).unwrap();
    for (place, bytes) in layout.planes().iter().zip(planes) {
        map.as_mut_slice().unwrap()[place.offset..][..bytes.len()].copy_from_slice(bytes);
    }
    drop(map);
    let frame = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
    let frame = frame.with_colorimetry(video_layout::colorimetry(&info.colorimetry()));
    let (shape, dtype) = (case.destination.shape(), case.destination.dtype);
    let input = TensorDyn::new(&shape, dtype, &AllocPolicy::default(), CpuAccess::ReadWrite);
    let input = input.unwrap();
    let options = ConvertOptions::default().with_kernel(Kernel::Reference);
    let source = Source::of(&frame).unwrap();
    let converter = Converter::new(&source, &case.spec, &case.destination, &options);
    converter.unwrap().run(&frame, &input).unwrap();
    flat(&input)
}

fn flat(tensor: &TensorDyn) -> Vec<u8> {
    let mut flat = vec![0; tensor.flat_len()];
    tensor.copy_to_flat(&mut flat).unwrap();
    flat
}

fn samples(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let float = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().unwrap()).into();
    if dtype == DType::F32 {
        bytes.chunks_exact(4).map(float).collect()
    } else if dtype == DType::I8 {
        bytes.iter().map(|byte| f64::from(byte.cast_signed())).collect()
    } else {
        bytes.iter().map(|byte| f64::from(*byte)).collect()
    }
}

/// Writes down every frame that reaches the element, which must be in dma-bufs.
fn dump_frames(convert: &gst::Element) -> Arc<Mutex<Vec<Dump>>> {
    let dumps = Arc::<Mutex<Vec<Dump>>>::default();
    let kept = Arc::clone(&dumps);
    let pad = convert.static_pad("sink").unwrap();
    pad.add_probe(gst::PadProbeType::BUFFER, move |pad, info| {
        let buffer = info.buffer().unwrap();
        assert!(buffer.iter_memories().all(|it| it.is_memory_type::<DmaBufMemory>()));
        let info = VideoInfo::from_caps(&pad.current_caps().unwrap()).unwrap();
        let read = planes(buffer, &info);
        kept.lock().unwrap().push((info, read));
        gst::PadProbeReturn::Ok
    });
    dumps
}

fn check(camera: Camera, case: &Case) {
    let (width, height) = SIZE;
    gst::init().unwrap();
    let _registered = gsttensor::plugin_register_static();
    let pipeline = gst::parse::launch(&format!(
        "{} ! video/x-raw,format=NV12,width={width},height={height} \
         ! tensorconvert name=convert {} ! appsink name=sink sync=false",
        camera.source("dmabuf", FRAMES.try_into().unwrap()),
        case.properties
    ));
    let pipeline = pipeline.unwrap().downcast::<gst::Pipeline>().unwrap();
    let dumps = dump_frames(&pipeline.by_name("convert").unwrap());
    let sink = pipeline.by_name("sink").unwrap().downcast::<gst_app::AppSink>().unwrap();
    pipeline.set_state(gst::State::Playing).unwrap();
    let mut apart: f64 = 0.0;
    for number in 0..FRAMES {
        let sample = sink.pull_sample();
        let sample = sample.unwrap_or_else(|_| panic!("{:?}", pipeline.bus().unwrap().pop()));
        let buffer = sample.buffer_owned().unwrap();
        assert!(buffer.n_memory() == 1 && buffer.peek_memory(0).is_memory_type::<DmaBufMemory>());
        let tensor = buffer.tensor_meta().unwrap().tensor(&buffer).unwrap();
        assert_eq!(tensor.memory(), TensorMemory::DmaBuf);
        assert_eq!(
            tensor.origin().unwrap().content.pixels().height * 16 / 9,
            case.destination.width
        );
        let expected = reference(case, &dumps.lock().unwrap()[number]);
        let dtype = case.destination.dtype;
        let (got, expected) = (samples(dtype, &flat(&tensor)), samples(dtype, &expected));
        assert!(got.iter().any(|value| *value != got[got.len() / 2]), "a picture");
        for (got, expected) in got.iter().zip(&expected) {
            let levels = (got - expected).abs() / case.level;
            // Neither is what is no number.
            assert!(levels <= 1.001, "frame {number}: {levels} levels apart");
            apart = apart.max(levels);
        }
    }
    pipeline.set_state(gst::State::Null).unwrap();
    println!("{camera:?}, {}: {FRAMES} frames, at most {apart:.3} levels apart", case.properties);
}

// G12
#[test]
fn inputs_of_a_camera_are_those_of_the_reference() {
    for camera in [Camera::SinglePlanar, Camera::MultiPlanar] {
        let Some(camera) = camera.open(Input::Webcam) else { return };
        cases().iter().for_each(|case| check(camera, case));
    }
}
