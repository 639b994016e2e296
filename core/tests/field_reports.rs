//! What went wrong for people between a camera and an accelerator, on the memories of this machine.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::{
    env, fs,
    os::fd::{AsFd, OwnedFd},
    thread,
};

use tensor_core::{
    Colorimetry, CpuAccess, DType, ImageDesc, ImageLayout, Memory, PixelFormat, Shape, StrideAlign,
    TensorDyn, TensorError, TensorMemory,
    import_cache::{Frame, ImportCache},
    memory::{AllocPolicy, Step},
    sys::memfd,
    transfer::{TransportMode, export, import},
};

/// Descriptors of this process, which nextest gives to each test alone.
fn fd_count() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn grey(width: usize, height: usize) -> ImageLayout {
    ImageLayout::packed(PixelFormat::Grey, width, height, StrideAlign::DMA).unwrap()
}

/// Memory from this step alone, or a spoken skip that `REQUIRE_BACKENDS=dma_buf` forbids.
fn from_step(step: Step, len: usize) -> Option<Memory> {
    match AllocPolicy::from_steps([step]).allocate(len, CpuAccess::ReadWrite) {
        Ok(allocation) => Some(allocation.memory),
        Err(error) => {
            #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
            let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
            assert!(!required.contains("dma_buf"), "required but missing: {error}");
            println!("skipped: {error}");
            None
        }
    }
}

/// A descriptor of every kind of memory that has one.
fn files() -> Vec<OwnedFd> {
    let memories = [Step::Memfd, Step::DmaHeap, Step::Udmabuf].map(|step| from_step(step, 4096));
    let files = memories.iter().flatten().map(|memory| memory.fd().unwrap().try_clone_to_owned());
    files.collect::<Result<_, _>>().unwrap()
}

// G05
#[test]
fn a_buffer_under_a_new_fd_number_each_frame_is_imported_once() {
    for file in files() {
        let (mut cache, layout) = (ImportCache::<()>::default(), grey(64, 8));
        let mut import = || {
            let dup = file.try_clone().unwrap();
            let frame = Frame {
                layout: &layout,
                colorimetry: Colorimetry::default(),
                quantization: None,
                access: CpuAccess::Read,
                fds: &[dup.as_fd()],
                handles: &[0],
            };
            cache.import(&frame, |_, _| ()).unwrap();
        };
        (0..10).for_each(|_| import());
        let after_ten = fd_count();
        (10..300).for_each(|_| import());
        assert!(fd_count().abs_diff(after_ten) <= 2);
        let stats = cache.stats();
        assert_eq!((stats.misses, stats.hits), (1, 299));
    }
}

// G07
#[test]
fn kinds_of_memory_are_told_apart() {
    let heap = Memory::heap(4096).unwrap();
    assert_eq!(heap.kind(), TensorMemory::Mem);
    for step in [Step::DmaHeap, Step::Udmabuf] {
        let Some(memory) = from_step(step, 4096) else { continue };
        let shared = memfd::create("t", 4096).unwrap();
        let [device, shared] = [memory.fd().unwrap(), shared.as_fd()]
            .map(|fd| Memory::import(fd, CpuAccess::Read).unwrap().kind());
        assert_eq!([device, shared], [TensorMemory::DmaBuf, TensorMemory::Shm]);
    }
}

// G08
#[test]
fn what_cannot_be_valid_leaves_no_descriptor() {
    let file = memfd::create("t", 100).unwrap();
    let desc = ImageDesc::new(PixelFormat::Nv12, 64, 64).with_memory(TensorMemory::Shm);
    let frame = TensorDyn::image_desc(&desc).unwrap();
    let (blob, _) = export(&frame, TransportMode::Reference).unwrap();
    let shape = Shape::new(&[64, 64]).unwrap();
    let fail = || {
        let short = TensorDyn::from_fd(file.as_fd(), &shape, DType::U8, CpuAccess::Read);
        assert!(matches!(short, Err(TensorError::Short { need: 4096, have: 100 })), "{short:?}");
        // The blob of a frame, with a descriptor that is not the frame's.
        assert!(import(&blob, &[file.as_fd()]).is_err());
        assert!(import(&blob[..blob.len() - 1], &[file.as_fd()]).is_err());
    };
    fail();
    let before = fd_count();
    (0..1000).for_each(|_| fail());
    assert_eq!(fd_count(), before);
}

// G13
#[test]
fn logical_span_and_allocated_bytes_are_three_numbers() {
    let layout = ImageLayout::with_row_stride(PixelFormat::Rgb, 33, 17, 128).unwrap();
    let memory = Memory::shm(layout.allocation_len(0)).unwrap();
    let image = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap();
    assert_eq!(image.flat_len(), 1683);
    let layout = image.image_layout().unwrap();
    assert_eq!(layout.required_len(0), 16 * 128 + 99);
    assert!(layout.allocation_len(0) >= 2147 && image.memories()[0].len() >= 2147);
}

// G15: no machine makes a tensor impossible, and the tensor says what it is in
#[test]
fn without_a_heap_the_next_memory_serves_and_the_reason_is_kept() {
    let nowhere = "/nonexistent/heaps";
    let policy = AllocPolicy::from_steps([Step::DmaHeap, Step::Memfd]).with_heap_directory(nowhere);
    let allocation = policy.allocate(4096, CpuAccess::ReadWrite).unwrap();
    assert_eq!(allocation.memory.kind(), TensorMemory::Shm);
    let [attempt] = allocation.attempts.as_slice() else { panic!("{:?}", allocation.attempts) };
    assert_eq!(attempt.to_string(), format!("dma-heap {nowhere}: {}", attempt.error));
    assert_eq!(attempt.error.raw_os_error(), Some(2));
}

// G17
#[test]
fn every_byte_that_was_promised_can_be_written() {
    // What an allocator of GStreamer's adds: a prefix of 32 and a padding of 63 bytes.
    let promised = 32 + 5000 + 63;
    for step in [Step::Heap, Step::Memfd, Step::DmaHeap, Step::Udmabuf] {
        let Some(memory) = from_step(step, promised) else { continue };
        assert!(memory.len() >= promised);
        let mut map = memory.map(CpuAccess::ReadWrite).unwrap();
        let all = map.as_mut_slice().unwrap();
        assert_eq!(all.as_ptr().addr() % 64, 0);
        all.fill(0xA5);
        assert!(map.iter().all(|byte| *byte == 0xA5));
    }
}

// G21
#[test]
fn eight_threads_allocate_and_leave_no_descriptor() {
    let before = fd_count();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let policy = AllocPolicy::with_fd();
                for _ in 0..100 {
                    let memory = policy.allocate(4096, CpuAccess::ReadWrite).unwrap().memory;
                    memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap()[0] = 1;
                }
            });
        }
    });
    assert_eq!(fd_count(), before);
}

// G22
#[test]
fn a_udmabuf_is_whole_pages_and_never_shorter_than_asked() {
    let Some(memory) = from_step(Step::Udmabuf, 5000) else { return };
    let page = rustix::param::page_size();
    assert_eq!(memory.len(), 5000_usize.next_multiple_of(page));
    let image = TensorDyn::from_image(grey(64, 78), [memory], CpuAccess::ReadWrite).unwrap();
    assert_eq!(image.flat_len(), 64 * 78);
    let asked = 65 << 20;
    match AllocPolicy::from_steps([Step::Udmabuf]).allocate(asked, CpuAccess::ReadWrite) {
        Ok(allocation) => assert!(allocation.memory.len() >= asked),
        Err(error) => assert!(error.to_string().contains("/dev/udmabuf"), "{error}"),
    }
    let policy = AllocPolicy::from_steps([Step::Udmabuf, Step::Memfd]);
    let memory = policy.allocate(asked, CpuAccess::ReadWrite).unwrap().memory;
    assert!(memory.len() >= asked);
}
