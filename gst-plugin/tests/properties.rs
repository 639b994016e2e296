//! What the properties of `tensorimport` do.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that fails is what a test is for"
)]

mod common;

use common::*;
use gst::{MessageType, prelude::*};
use gst_check::Harness;
use gst_video::{VideoCropMeta, VideoFormat, VideoMeta, VideoRegionOfInterestMeta};
use gsttensor::BufferTensorExt;
use tensor_core::{
    ColorRange, Colorimetry, CpuAccess, ImageLayout, PixelFormat, PlanePlacement, Quantization,
    StrideAlign, TensorMemory,
};

/// A `tensorimport` with properties, and where its messages go.
fn import(properties: &[(&str, &str)], caps: &str) -> (Harness, gst::Bus) {
    init();
    let import = gst::ElementFactory::make("tensorimport").build().unwrap();
    properties.iter().for_each(|(name, value)| import.set_property_from_str(name, value));
    let bus = gst::Bus::new();
    import.set_bus(Some(&bus));
    let mut harness = Harness::with_element(&import, Some("sink"), Some("src"));
    harness.set_src_caps_str(caps);
    (harness, bus)
}

fn plain_frame(layout: &ImageLayout, frame: u8) -> gst::Memory {
    let mut bytes = vec![0; layout.allocation_len(0)];
    fill_bytes(&mut bytes, layout, 0, frame);
    gst::Memory::from_mut_slice(bytes)
}

fn element_message(bus: &gst::Bus, name: &str) -> Option<gst::Structure> {
    let messages = std::iter::from_fn(|| bus.pop_filtered(&[MessageType::Element]));
    let structures = messages.filter_map(|message| message.structure().map(|s| s.to_owned()));
    structures.filter(|structure| structure.has_name(name)).last()
}

#[test]
fn copy_moves_plain_frames_into_memory_with_an_fd() {
    let (mut harness, bus) = import(&[("fallback", "copy")], NV12);
    // Rows padded otherwise than the pool pads them.
    let planes = [(0, 80), (80 * 36, 96)].map(|(offset, stride)| PlanePlacement {
        memory: 0,
        offset,
        stride,
    });
    let padded = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    for frame in 0..5 {
        let mut sent = buffer([plain_frame(&padded, frame)]);
        add_video_meta(&mut sent, VideoFormat::Nv12, [64, 36], &[0, 80 * 36], &[80, 96]);
        sent.get_mut().unwrap().set_pts(gst::ClockTime::from_seconds(frame.into()));
        let got = harness.push_and_pull(sent).unwrap();
        let tensor = tensor(&got);
        assert_ne!(tensor.memory(), TensorMemory::Mem);
        assert_eq!(tensor.image_layout().unwrap(), &tight_nv12());
        check_samples(&tensor, frame);
        assert_eq!(got.pts(), Some(gst::ClockTime::from_seconds(frame.into())));
        assert_eq!(got.meta::<VideoMeta>().unwrap().stride(), [64, 64]);
        assert_eq!(got.iter_meta::<VideoMeta>().count(), 1);
    }
    let stats = ["frames", "copies", "copied-bytes"].map(|s| stat(&element(&harness), s));
    assert_eq!(stats, [5, 5, 5 * 64 * 54]);
    let said = element_message(&bus, "tensor-refused").unwrap();
    assert!(said.get::<&str>("reason").unwrap().contains("in mem memory"), "{said}");
    assert!(said.get::<gst::Caps>("caps").is_ok());
    element(&harness).set_bus(None);
}

#[test]
fn a_copy_keeps_what_is_said_of_the_picture_and_no_crop_that_is_done() {
    let (mut harness, bus) = import(&[("fallback", "copy")], NV12);
    let wide = ImageLayout::packed(PixelFormat::Nv12, 72, 36, StrideAlign::DMA).unwrap();
    let mut sent = buffer([plain_frame(&wide, 3)]);
    let strides = wide.planes().iter().map(|plane| i32::try_from(plane.stride).unwrap());
    let offsets: Vec<_> = wide.planes().iter().map(|plane| plane.offset).collect();
    let strides: Vec<_> = strides.collect();
    add_video_meta(&mut sent, VideoFormat::Nv12, [72, 36], &offsets, &strides);
    let writable = sent.get_mut().unwrap();
    VideoCropMeta::add(writable, (8, 0, 64, 36));
    VideoRegionOfInterestMeta::add(writable, "face", (4, 4, 8, 8));
    let got = harness.push_and_pull(sent).unwrap();
    check_samples(&tensor(&got), 3);
    assert_eq!(got.iter_meta::<VideoRegionOfInterestMeta>().count(), 1);
    assert_eq!(got.iter_meta::<VideoCropMeta>().count(), 0);
    assert_eq!(got.meta::<VideoMeta>().unwrap().width(), 64);
    drop(bus);
    element(&harness).set_bus(None);
}

/// Rows of copies are as long as downstream asks.
#[test]
fn a_copy_has_the_padding_that_downstream_asks_for() {
    init();
    let mut harness = Harness::new_parse("tensorimport fallback=copy");
    let params = gst::Structure::builder("video-meta").field("stride-align0", 255_u32);
    let params = params.field("stride-align1", 255_u32).build();
    let sink = harness.sinkpad().unwrap();
    sink.add_probe(gst::PadProbeType::QUERY_DOWNSTREAM, move |_, info| {
        let Some(gst::QueryViewMut::Allocation(query)) =
            info.query_mut().map(|query| query.view_mut())
        else {
            return gst::PadProbeReturn::Ok;
        };
        query.add_allocation_meta::<VideoMeta>(Some(&params));
        gst::PadProbeReturn::Handled
    });
    harness.set_src_caps_str(NV12);
    let got = harness.push_and_pull(buffer([plain_frame(&tight_nv12(), 3)])).unwrap();
    let strides: Vec<_> =
        tensor(&got).image_layout().unwrap().planes().iter().map(|place| place.stride).collect();
    assert_eq!(strides, [256, 256]);
    check_samples(&tensor(&got), 3);
}

// S-GST-16
#[test]
fn a_frame_that_no_tensor_can_describe_is_copied_or_ends_the_stream() {
    let split = || buffer([60 * 30, 64 * 54 - 60 * 30].map(gst::Memory::with_size));
    let (mut harness, bus) = import(&[("fallback", "copy")], NV12);
    let got = harness.push_and_pull(split()).unwrap();
    assert_eq!(tensor(&got).image_layout().unwrap(), &tight_nv12());
    let said = element_message(&bus, "tensor-refused").unwrap();
    let reason = said.get::<&str>("reason").unwrap();
    assert!(reason.contains("2304 bytes") && reason.contains("1800"), "{reason}");
    element(&harness).set_bus(None);

    for fallback in ["wrap", "error"] {
        let (mut harness, bus) = import(&[("fallback", fallback)], NV12);
        assert_eq!(harness.push(split()), Err(gst::FlowError::Error));
        let error = bus.pop_filtered(&[MessageType::Error]);
        let error = error.or_else(|| bus.pop_filtered(&[MessageType::Error])).unwrap();
        let gst::MessageView::Error(error) = error.view() else { unreachable!() };
        let text = error.error().to_string();
        assert!(text.contains("2304 bytes") && text.contains("1800"), "{text}");
        assert!(error.debug().unwrap().contains("NV12"), "{error:?}");
        element(&harness).set_bus(None);
    }
}

// S-GST-16, G07
#[test]
fn error_takes_no_other_memory_than_dma_bufs() {
    init();
    for memory in [plain_frame(&tight_nv12(), 1), posing_memory(&filled(&tight_nv12(), 0, 1))] {
        let (mut harness, bus) = import(&[("fallback", "error")], NV12);
        assert_eq!(harness.push(buffer([memory])), Err(gst::FlowError::Error));
        let said = element_message(&bus, "tensor-refused").unwrap();
        let reason = said.get::<&str>("reason").unwrap();
        assert!(reason.ends_with("not in a dma-buf"), "{reason}");
        element(&harness).set_bus(None);
    }
}

#[test]
fn a_crop_that_is_not_the_caps_size_is_not_copied() {
    let (mut harness, bus) = import(&[("fallback", "copy")], NV12);
    let mut frame = buffer([plain_frame(&tight_nv12(), 1)]);
    VideoCropMeta::add(frame.get_mut().unwrap(), (16, 8, 32, 16));
    assert_eq!(harness.push(frame), Err(gst::FlowError::Error));
    let said = element_message(&bus, "tensor-refused").unwrap();
    assert!(said.get::<&str>("reason").unwrap().contains("32x16 of 64x36"), "{said}");
    element(&harness).set_bus(None);
}

#[test]
fn colours_and_quantization_are_as_the_properties_say() {
    let rgb = "video/x-raw,format=RGB,width=64,height=4,framerate=30/1,colorimetry=sRGB";
    let quantization = "quantization,scale=<0.5,0.25,0.125>,zero-point=<1,2,3>,axis=2";
    let said = [("colorimetry", "bt2020"), ("quantization", quantization)];
    let (mut harness, _bus) = import(&said, rgb);
    let wanted = Quantization::per_channel(vec![0.5, 0.25, 0.125], vec![1, 2, 3], 2).unwrap();
    let layout = ImageLayout::packed(PixelFormat::Rgb, 64, 4, StrideAlign::DMA).unwrap();
    let shared = fd_memory(&filled(&layout, 0, 1));
    for memory in [plain_frame(&layout, 1), shared.clone(), shared] {
        let got = harness.push_and_pull(buffer([memory])).unwrap();
        let tensor = tensor(&got);
        assert_eq!(tensor.colorimetry(), Colorimetry::BT2020);
        assert_eq!(tensor.quantization(), Some(&wanted));
        let meta = got.tensor_meta().unwrap();
        assert_eq!(meta.blob().unwrap().colorimetry().range, Some(ColorRange::Limited));
    }
    assert_eq!(stat(&element(&harness), "hits"), 1);
    element(&harness).set_bus(None);
}

#[test]
fn properties_that_mean_nothing_are_said_when_started() {
    init();
    for (name, value, said) in [
        ("colorimetry", "purple", "purple"),
        ("quantization", "quantization,zero-point=3", "field scale"),
    ] {
        let import = gst::ElementFactory::make("tensorimport").build().unwrap();
        import.set_property_from_str(name, value);
        let bus = gst::Bus::new();
        import.set_bus(Some(&bus));
        assert!(import.set_state(gst::State::Paused).is_err());
        let message = bus.pop_filtered(&[MessageType::Error]).unwrap();
        let gst::MessageView::Error(error) = message.view() else { unreachable!() };
        assert!(error.error().matches(gst::LibraryError::Settings));
        assert!(error.error().to_string().contains(said), "{}", error.error());
        import.set_bus(None);
        import.set_state(gst::State::Null).unwrap();
    }
}

#[test]
fn a_quantization_that_does_not_fit_the_frames_is_refused_with_the_caps() {
    let (harness, bus) = import(&[("quantization", "q,scale=<0.5,0.25>,axis=2")], NV12);
    let said = element_message(&bus, "tensor-refused").unwrap();
    let reason = said.get::<&str>("reason").unwrap();
    assert!(reason.contains("axis: expected below the rank 2"), "{reason}");
    element(&harness).set_bus(None);
}

#[test]
fn cpu_access_is_what_a_tensor_allows() {
    for (name, access) in [
        ("none", CpuAccess::None),
        ("read", CpuAccess::Read),
        ("write", CpuAccess::Write),
        ("readwrite", CpuAccess::ReadWrite),
    ] {
        let (mut harness, _bus) = import(&[("cpu-access", name)], NV12);
        let memory = fd_memory(&filled(&tight_nv12(), 0, 1));
        for _ in 0..3 {
            let got = harness.push_and_pull(buffer([memory.clone()])).unwrap();
            let tensor = tensor(&got);
            assert_eq!(tensor.access(), access);
            assert_eq!(tensor.map_read().is_ok(), access.reads());
        }
        assert_eq!(["imports", "hits"].map(|s| stat(&element(&harness), s)), [1, 2]);
        element(&harness).set_bus(None);
    }
}

/// Two elements may see one memory, as after a tee. What the one may do says nothing of the other;
/// what the producer of the memory says holds for both.
#[test]
fn an_access_is_the_elements_own_unless_the_pool_forbids_all() {
    init();
    let read_write = CpuAccess::ReadWrite;
    for (pool_access, found) in
        [(read_write, ["none", "read"]), (CpuAccess::None, ["none", "none"])]
    {
        let pool = gsttensor::pool::TensorBufferPool::builder()
            .policy(tensor_core::memory::AllocPolicy::only(TensorMemory::Shm).unwrap())
            .video(VideoFormat::Nv12, 64, 36)
            .unwrap();
        let pool = pool.cpu_access(pool_access).build().unwrap();
        pool.set_active(true).unwrap();
        let mut elements = ["none", "read"].map(|access| import(&[("cpu-access", access)], NV12));
        for _ in 0..3 {
            let frame = pool.acquire_buffer(None).unwrap();
            for ((harness, _), access) in elements.iter_mut().zip(found) {
                let got = harness.push_and_pull(frame.clone()).unwrap();
                assert_eq!(tensor(&got).access().name(), access);
            }
        }
        for (harness, _) in elements {
            element(&harness).set_bus(None);
        }
        pool.set_active(false).unwrap();
    }
}

#[test]
fn the_metas_asked_for_are_attached_and_no_others() {
    for (attach, has_tensor, has_video) in
        [("tensor", true, false), ("video", false, true), ("tensor+video", true, true)]
    {
        let (mut harness, _bus) = import(&[("attach", attach)], NV12);
        let got = harness.push_and_pull(buffer([plain_frame(&tight_nv12(), 1)])).unwrap();
        assert_eq!(got.tensor_meta().is_some(), has_tensor);
        let video = got.meta::<VideoMeta>();
        assert_eq!(video.is_some(), has_video);
        if let Some(video) = video {
            assert_eq!((video.offset(), video.stride()), (&[0, 64 * 36][..], &[64, 64][..]));
        }
        assert_eq!(stat(&element(&harness), "frames"), 1);
        element(&harness).set_bus(None);
    }
}

// S-GST-11
#[test]
fn statistics_come_as_messages_when_asked_for() {
    let (mut harness, bus) = import(&[("stats-interval", "4")], NV12);
    let memory = fd_memory(&filled(&tight_nv12(), 0, 1));
    let mut frames = |count: u32| {
        (0..count).for_each(|_| drop(harness.push_and_pull(buffer([memory.clone()])).unwrap()));
    };
    frames(3);
    assert_eq!(element_message(&bus, "tensor-stats"), None);
    frames(1);
    let stats = element_message(&bus, "tensor-stats").unwrap();
    let numbers = ["frames", "imports", "hits", "copies", "evictions", "live", "copied-bytes"]
        .map(|name| stats.get::<u64>(name).unwrap());
    assert_eq!(numbers, [4, 1, 3, 0, 0, 1, 0]);
    assert!(stats.get::<u64>("pinned-bytes").unwrap() >= 64 * 54);
    frames(1);
    harness.push_event(gst::event::Eos::new());
    let stats = element_message(&bus, "tensor-stats").unwrap();
    assert_eq!(stats.get::<u64>("frames"), Ok(5));
    assert_eq!(stats, element(&harness).property::<gst::Structure>("stats"));
    element(&harness).set_bus(None);
}

#[test]
fn statistics_may_be_asked_for_while_running() {
    let (mut harness, bus) = import(&[], NV12);
    let frame = || buffer([plain_frame(&tight_nv12(), 1)]);
    harness.push_and_pull(frame()).unwrap();
    element(&harness).set_property("stats-interval", 1_u64);
    harness.push_and_pull(frame()).unwrap();
    let stats = element_message(&bus, "tensor-stats").unwrap();
    assert_eq!(stats.get::<u64>("frames"), Ok(2));
    element(&harness).set_bus(None);
}

// S-GEO-17
#[test]
fn compressed_frames_are_tensors_of_their_bytes() {
    for (caps, len) in [
        ("image/jpeg,width=64,height=36,framerate=30/1", 5000),
        ("video/x-h264,stream-format=byte-stream,alignment=au", 77),
        ("video/x-vp8", 1),
    ] {
        let (mut harness, _bus) = import(&[], caps);
        let bytes: Vec<_> = (0..len).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let shm = tensor_core::Memory::shm(len).unwrap();
        shm.map(CpuAccess::ReadWrite).unwrap().as_mut_slice().unwrap().copy_from_slice(&bytes);
        let plain = gst::Memory::from_slice(bytes.clone());
        for (memory, kind) in [(plain, TensorMemory::Mem), (fd_memory(&shm), TensorMemory::Shm)] {
            let got = harness.push_and_pull(buffer([memory])).unwrap();
            let tensor = tensor(&got);
            assert_eq!((&tensor.shape()[..], tensor.memory()), (&[len][..], kind));
            assert_eq!(tensor.map_read().unwrap().memory(0).unwrap()[..len], bytes);
        }
        element(&harness).set_bus(None);
    }
}

#[test]
fn a_compressed_frame_in_pieces_is_refused_or_joined() {
    let pieces = || buffer([[1_u8, 2], [3, 4]].map(gst::Memory::from_slice));
    let (mut harness, bus) = import(&[], "image/jpeg");
    assert_eq!(harness.push(pieces()), Err(gst::FlowError::Error));
    let said = element_message(&bus, "tensor-refused").unwrap();
    assert!(said.get::<&str>("reason").unwrap().contains("in 2 memories"), "{said}");
    element(&harness).set_bus(None);

    let (mut harness, _bus) = import(&[("fallback", "copy")], "image/jpeg");
    let got = harness.push_and_pull(pieces()).unwrap();
    assert_eq!(tensor(&got).map_read().unwrap().memory(0).unwrap(), [1, 2, 3, 4]);
    assert_eq!(stat(&element(&harness), "copied-bytes"), 4);
    element(&harness).set_bus(None);
}
