//! A whole GL side for PBO memories: a thread with a context, reached by a weak way, once over Mesa's
//! software renderer and once over nothing but the heap. Without EGL the former is skipped aloud;
//! `REQUIRE_BACKENDS=gl` forbids that.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

#[path = "pbo_gl/egl.rs"]
mod egl;
#[path = "pbo_gl/gl_thread.rs"]
mod gl_thread;

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use egl::Egl;
use gl_thread::{Gl, GlThread, Pitch};
use tensor_core::{
    CpuAccess, ImageLayout, Memory, PixelFormat, PlanePlacement, TensorDyn,
    memory::{MapError, PboOps},
};

/// A GL thread over the software renderer, or a spoken skip.
fn software_gl() -> Option<GlThread> {
    match GlThread::start(|| Egl::new().map(|gl| Box::new(gl) as Box<dyn Gl>)) {
        Ok(thread) => Some(thread),
        Err(why) => {
            #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
            let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "gl"), "gl is required: {why}");
            println!("skipped: gl: {why}");
            None
        }
    }
}

fn heap_gl() -> GlThread {
    GlThread::start(|| Ok(Box::new(gl_thread::Heap::default()))).unwrap()
}

fn memory(thread: &GlThread, len: usize) -> Memory {
    let buffer = thread.ops().create(len).unwrap();
    Memory::pbo(buffer, len, thread.ops(), CpuAccess::ReadWrite).unwrap()
}

/// Pixels in a PBO, one value for each byte of the image, 0xEE between rows.
fn image(thread: &GlThread, width: usize, height: usize, stride: usize) -> TensorDyn {
    let place = PlanePlacement { memory: 0, offset: 0, stride };
    let layout = ImageLayout::from_planes(PixelFormat::Rgb, width, height, &[place]).unwrap();
    let memory = memory(thread, stride * height);
    memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(0xEE);
    TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap()
}

fn fill(tensor: &TensorDyn, stride: usize, row_bytes: usize) {
    let mut map = tensor.map_mut().unwrap();
    for (y, row) in map.plane_mut(0).unwrap().chunks_mut(stride).enumerate() {
        for (x, sample) in row[..row_bytes].iter_mut().enumerate() {
            *sample = sample_at(y * row_bytes + x);
        }
    }
}

fn sample_at(n: usize) -> u8 {
    u8::try_from(n * 7 % 251).unwrap()
}

fn samples(tensor: &TensorDyn) -> Vec<u8> {
    tensor.map_read().unwrap().plane(0).unwrap().rows().flatten().copied().collect()
}

// G18, S-PBO-06
#[test]
fn pixels_of_three_bytes_go_up_and_down_with_any_stride() {
    let Some(thread) = software_gl() else { return };
    let sizes = [(33, 17, 99), (33, 17, 128), (17, 33, 51), (17, 33, 128)];
    for (width, height, stride) in sizes {
        let (up, down) =
            (image(&thread, width, height, stride), image(&thread, width, height, stride));
        fill(&up, stride, width * 3);
        assert_eq!(samples(&up).len(), 1683);
        let buffers = [&up, &down].map(|tensor| thread.ops().buffer_of(&tensor.memories()[0]));
        let pitch = Pitch::of(width, stride).unwrap();
        thread.ops().copy_through_a_texture(buffers, (width, height), pitch).unwrap();
        assert_eq!(samples(&down), (0..1683).map(sample_at).collect::<Vec<_>>(), "stride {stride}");
        // What lies between the rows is nobody's to write.
        let bytes = down.memories()[0].map(CpuAccess::Read).unwrap();
        let rows = bytes.chunks(stride).take(height - 1);
        assert!(rows.flat_map(|row| &row[width * 3..]).all(|byte| *byte == 0xEE));
    }
}

#[test]
fn a_stride_is_said_to_gl_as_a_row_length_and_an_alignment() {
    let said = |width, stride| Pitch::of(width, stride).map(|p| (p.row_length, p.alignment));
    assert_eq!(said(33, 99), Some((33, 1)));
    assert_eq!(said(33, 128), Some((42, 4)));
    assert_eq!(said(17, 51), Some((17, 1)));
    // Not a whole number of pixels, nor such a number rounded up to eight bytes.
    assert_eq!(said(33, 127), None);
    assert_eq!(said(34, 99), None, "shorter than the row");
}

fn orphans_say_so(thread: GlThread) {
    let live = memory(&thread, 64);
    let mapped = memory(&thread, 64);
    let tensor = image(&thread, 8, 4, 32);
    let mut map = mapped.map(CpuAccess::ReadWrite).unwrap();
    let ended = thread.ended();
    drop(thread);
    // The thread stays for what is mapped, and takes nothing new.
    assert!(matches!(ended.recv_timeout(Duration::from_millis(50)), Err(mpsc::RecvTimeoutError::Timeout)));
    assert!(matches!(live.map(CpuAccess::Read), Err(MapError::PboDisconnected)));
    map.as_mut_slice().unwrap().fill(7);
    assert_eq!(map[..], [7; 64]);
    drop(map);
    ended.recv().unwrap();
    for memory in [&live, &mapped, &tensor.memories()[0]] {
        for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            assert!(matches!(memory.map(access), Err(MapError::PboDisconnected)));
        }
    }
    assert!(matches!(tensor.map_read(), Err(MapError::PboDisconnected)));
    drop((live, mapped, tensor));
}

// S-PBO-02
#[test]
fn memories_that_outlive_their_gl_thread_say_so_and_nothing_hangs() {
    orphans_say_so(heap_gl());
    if let Some(thread) = software_gl() {
        orphans_say_so(thread);
    }
}

// S-PBO-03
#[test]
fn a_buffer_is_deleted_once_whichever_thread_drops_it_last() {
    let gl = heap_gl();
    for _ in 0..100 {
        let memory = memory(&gl, 64);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let view = memory.clone();
                // Refused while another has it mapped, which is fine here.
                thread::spawn(move || drop(view.map(CpuAccess::Write)))
            })
            .collect();
        drop(memory);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    // The heap's GL fails on a second deletion of a name.
    assert_eq!(gl.ops().live().unwrap(), 0);
}

// S-PBO-04
#[test]
fn the_ops_are_let_go_with_the_memories() {
    let gl = heap_gl();
    let ops = gl.ops();
    let count = Arc::strong_count(&ops);
    let memories: Vec<_> = (0..10).map(|_| memory(&gl, 64)).collect();
    let views = memories.clone();
    assert_eq!(Arc::strong_count(&ops), count + 10);
    drop((memories, views));
    assert_eq!(Arc::strong_count(&ops), count);
}

// S-PBO-05, S-PBO-02
#[test]
fn what_gl_refuses_comes_back_with_its_error() {
    let check = |thread: GlThread| {
        let ops: Arc<dyn PboOps> = thread.ops();
        let memory = Memory::pbo(thread.ops().create(64).unwrap(), 65, ops, CpuAccess::Read).unwrap();
        // `GL_INVALID_VALUE`.
        assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::Pbo { code: 0x501, .. })));
    };
    check(heap_gl());
    if let Some(thread) = software_gl() {
        check(thread);
    }
}
