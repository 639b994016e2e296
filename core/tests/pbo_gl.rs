//! Pixel buffer objects of a real GL, in software where there is no GPU. `REQUIRE_BACKENDS=gl`
//! forbids the skip.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

mod gl;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use gl::{
    GlSide,
    calls::{Api, DESKTOP, GLES},
    context::Rows,
};
use tensor_core::{
    CpuAccess, DType, ImageLayout, Layout, Memory, PixelFormat, Region, Shape, TensorDyn,
    TensorError, TensorMemory,
    layout::{GlPixelStore, StridedLayout},
    memory::MapError,
};

const WIDTH: usize = 33;
const HEIGHT: usize = 17;

/// Both GLs that EGL offers, each with a memory of 8192 bytes of its own.
fn memories() -> Vec<(GlSide, Memory)> {
    let sides = [GLES, DESKTOP].into_iter().filter_map(GlSide::get);
    sides
        .map(|side| {
            let (_, memory) = side.memory(8192, CpuAccess::ReadWrite);
            (side, memory)
        })
        .collect()
}

#[test]
fn what_is_written_is_read() {
    for (_side, memory) in memories() {
        assert_eq!((memory.kind(), memory.len()), (TensorMemory::Pbo, 8192));
        assert_eq!(memory.map(CpuAccess::Read).unwrap()[..], [0xEE; 8192], "what GL put there");
        memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap()[..8000].fill(7);
        let read = memory.map(CpuAccess::Read).unwrap();
        assert_eq!(read[..8000], [7; 8000]);
        assert_eq!(read[8000..], [0xEE; 192], "what a writer leaves stays");
    }
}

#[test]
fn a_panic_ends_the_access() {
    for (_side, memory) in memories() {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _map = memory.map(CpuAccess::ReadWrite).unwrap();
            panic!("while mapped");
        }));
        assert!(panicked.is_err());
        assert!(memory.map(CpuAccess::ReadWrite).is_ok());
    }
}

// S-PBO-05
#[test]
fn a_mapped_buffer_is_not_mapped_again() {
    for (_side, memory) in memories() {
        for first in [CpuAccess::Read, CpuAccess::Write] {
            let mut map = memory.map(first).unwrap();
            assert_eq!(map.as_mut_slice().is_some(), first.writes());
            for second in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
                assert!(matches!(memory.clone().map(second), Err(MapError::PboMapped)));
            }
        }
    }
}

// S-PBO-02
#[test]
fn memories_that_outlive_their_gl_side_say_so_and_let_its_thread_end() {
    for (side, memory) in memories() {
        let view = memory.clone();
        side.end().join().unwrap();
        for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            assert!(matches!(memory.map(access), Err(MapError::PboDisconnected)));
            assert!(matches!(view.map(access), Err(MapError::PboDisconnected)));
        }
        assert_eq!(memory.len(), 8192);
        thread::spawn(move || drop(view)).join().unwrap();
    }
}

// S-PBO-02: the bytes of a map stay until its guard is dropped, whoever is gone by then
#[test]
fn a_map_that_outlives_its_gl_side_keeps_its_bytes() {
    for (side, memory) in memories() {
        let mut map = memory.map(CpuAccess::ReadWrite).unwrap();
        let thread = side.end();
        assert_eq!(map[..], [0xEE; 8192]);
        map.as_mut_slice().unwrap().fill(1);
        assert!(map.iter().all(|byte| *byte == 1));
        assert!(!thread.is_finished(), "the map needs the context");
        drop(map);
        thread.join().unwrap();
        assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::PboDisconnected)));
    }
}

// S-PBO-03, S-PBO-04
#[test]
fn the_last_of_many_handles_on_many_threads_deletes_the_buffer() {
    let Some(side) = GlSide::get(GLES) else { return };
    for _ in 0..50 {
        let (buffer, memory) = side.memory(64, CpuAccess::ReadWrite);
        assert!(side.run(move |gl| gl.is_buffer(buffer)));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let view = memory.clone();
                thread::spawn(move || view.map(CpuAccess::Read).map(|map| map.len()).ok())
            })
            .collect();
        let view = memory.clone();
        drop(memory);
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(side.run(move |gl| gl.is_buffer(buffer)), "a handle is left");
        drop(view);
        assert!(!side.run(move |gl| gl.is_buffer(buffer)));
    }
}

#[test]
fn what_gl_refuses_is_told_with_its_code() {
    for (side, _) in memories() {
        let buffer = side.run(|gl| gl.buffer(&[0; 64]));
        let longer = Memory::pbo(buffer, 65, side.ops(), CpuAccess::ReadWrite).unwrap();
        for _ in 0..2 {
            let error = longer.map(CpuAccess::Read).unwrap_err();
            // GL_INVALID_VALUE
            let expected = matches!(error, MapError::Pbo { call: "glMapBufferRange", code: 0x501 });
            assert!(expected, "{error:?}");
        }
    }
}

// S-PBO-06, S-VIEW-07, S-OV-01, S-OV-02
#[test]
fn a_tensor_in_a_buffer_has_views_and_batches_like_any_other() {
    for (_side, memory) in memories() {
        let layout = StridedLayout::dense(&Shape::new(&[2, 16, 16, 4]).unwrap(), 1).unwrap();
        let over = |bytes: usize| {
            let layout = StridedLayout::dense(&Shape::new(&[bytes]).unwrap(), 1).unwrap();
            let memories = [memory.clone()];
            TensorDyn::from_memories(
                Layout::Strided(layout),
                DType::U8,
                memories,
                CpuAccess::ReadWrite,
            )
        };
        let memories = [memory.clone()];
        let tensor = TensorDyn::from_memories(
            Layout::Strided(layout),
            DType::U8,
            memories,
            CpuAccess::ReadWrite,
        )
        .unwrap();
        let numbers: Vec<u8> = (0..=255).cycle().take(2048).collect();
        tensor.copy_from_flat(&numbers).unwrap();
        let second = tensor.batch(1).unwrap().with_format(PixelFormat::Rgba).unwrap();
        let corner = second.view(Region::new(12, 12, 4, 4)).unwrap();
        let mut flat = vec![0; 64];
        corner.copy_to_flat(&mut flat).unwrap();
        let start = 1024 + 12 * 64 + 12 * 4;
        assert_eq!(flat[..16], numbers[start..start + 16]);
        assert_eq!(flat[48..], numbers[start + 192..start + 208]);
        assert!(corner.aliases(&tensor) && tensor.memories()[0].fd().is_none());
        assert!(tensor.batch(2).is_err());
        assert!(over(8192).is_ok(), "all of its capacity");
        let refused = over(8193).unwrap_err();
        assert!(matches!(refused, TensorError::Short { need: 8193, have: 8192 }), "{refused:?}");
    }
}

/// An image in a new buffer of exactly the bytes it needs, and the buffer as rows to GL.
fn image(side: &GlSide, format: PixelFormat, stride: usize) -> (TensorDyn, Rows) {
    let layout = ImageLayout::with_row_stride(format, WIDTH, HEIGHT, stride).unwrap();
    let (buffer, memory) = side.memory(layout.plane_len(0), CpuAccess::ReadWrite);
    let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::ReadWrite).unwrap();
    let store = GlPixelStore::of_row_stride(stride, format.channels()).unwrap();
    let (width, height) = (i32::try_from(WIDTH).unwrap(), i32::try_from(HEIGHT).unwrap());
    (tensor, Rows { buffer, store, width, height })
}

/// The format that this GL reads an image of three-byte pixels back in.
fn read_format(api: Api) -> PixelFormat {
    if api.read_bytes == 3 { PixelFormat::Rgb } else { PixelFormat::Rgba }
}

// G18, G13: 1683 bytes of pixels, in rows that no alignment of GL's own fits
#[test]
fn three_byte_pixels_go_up_and_down_without_a_shear_or_an_over_run() {
    let pixels: Vec<u8> = (0..=250).cycle().take(WIDTH * HEIGHT * 3).collect();
    assert_eq!(pixels.len(), 1683);
    for api in [GLES, DESKTOP] {
        let Some(side) = GlSide::get(api) else { continue };
        let tight = WIDTH * api.read_bytes;
        for (up_stride, down_stride) in [(99, tight), (99, 192), (128, tight), (128, 192)] {
            let (up, from) = image(&side, PixelFormat::Rgb, up_stride);
            assert_eq!(up.memories()[0].len(), 16 * up_stride + 99);
            up.copy_from_flat(&pixels).unwrap();
            let (down, to) = image(&side, read_format(api), down_stride);
            side.run(move |gl| gl.through_a_texture(from, to)).unwrap();

            let mut flat = vec![0; down.flat_len()];
            down.copy_to_flat(&mut flat).unwrap();
            let colours: Vec<u8> =
                flat.chunks(api.read_bytes).flat_map(|pixel| pixel[..3].to_vec()).collect();
            assert_eq!(colours, pixels, "{}: {up_stride} up, {down_stride} down", api.name);
            let map = down.map_read().unwrap();
            let rows = map.memory(0).unwrap().chunks(down_stride);
            let mut padding = rows.flat_map(|row| &row[tight.min(row.len())..]);
            assert!(padding.all(|byte| *byte == 0xEE), "GL wrote past a row");
        }
    }
}

// G18: without those numbers the pixels do shear, so the test above can tell
#[test]
fn gls_own_alignment_shears_three_byte_pixels() {
    let Some(side) = GlSide::get(GLES) else { return };
    let (up, mut from) = image(&side, PixelFormat::Rgb, 100);
    up.copy_from_flat(&[9; 1683]).unwrap();
    from.store = GlPixelStore { row_length: 0, alignment: 8 };
    let (_down, to) = image(&side, PixelFormat::Rgba, 132);
    let refused = side.run(move |gl| gl.through_a_texture(from, to));
    // GL_INVALID_OPERATION: the rows it would step by end past the buffer.
    assert!(refused.is_err(), "{refused:?}");
}
