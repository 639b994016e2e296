//! One table of operations, run on a tensor in every kind of memory.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

mod gl;

use std::{env, sync::Arc};

use gl::{GlSide, calls::GLES};
use tensor_core::{
    CpuAccess, DType, ImageLayout, Layout, Memory, PixelFormat, Region, Shape, TensorDyn,
    TensorError, TensorMemory,
    layout::StridedLayout,
    memory::{AllocPolicy, MapError, Step},
};

const DIMS: [usize; 3] = [16, 16, 4];

fn dense(memory: Memory, access: CpuAccess) -> TensorDyn {
    let layout = StridedLayout::dense(&Shape::new(&DIMS).unwrap(), 1).unwrap();
    TensorDyn::from_memories(Layout::Strided(layout), DType::U8, [memory], access).unwrap()
}

/// A tensor of every kind this machine gives, with the kind it must say it is.
fn tensors(gl: Option<&GlSide>) -> Vec<(TensorMemory, TensorDyn)> {
    let steps = [
        (TensorMemory::Mem, Step::Heap),
        (TensorMemory::Shm, Step::Memfd),
        (TensorMemory::DmaBuf, Step::DmaHeap),
        (TensorMemory::DmaBuf, Step::Udmabuf),
    ];
    let allocate = |(kind, step)| {
        let policy = AllocPolicy::from_steps([step]);
        match policy.allocate(1024, CpuAccess::ReadWrite) {
            Ok(allocation) => Some((kind, dense(allocation.memory, CpuAccess::ReadWrite))),
            Err(error) => {
                #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
                let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
                assert!(!required.contains("dma_buf"), "required but missing: {error}");
                println!("skipped: {error}");
                None
            }
        }
    };
    let mut tensors: Vec<_> = steps.into_iter().filter_map(allocate).collect();
    let lent = Memory::foreign(TensorMemory::Mem, Arc::new(vec![7_u8; 1024]));
    tensors.push((TensorMemory::Mem, dense(lent, CpuAccess::Read)));
    tensors.extend(gl.map(|gl| {
        let (_, memory) = gl.memory(1024, CpuAccess::ReadWrite);
        (TensorMemory::Pbo, dense(memory, CpuAccess::ReadWrite))
    }));
    tensors
}

// S-OV-01, S-OV-02, S-OV-03, S-VIEW-07
#[test]
fn twelve_operations_are_the_same_on_every_kind() {
    let gl = GlSide::get(GLES);
    for (kind, tensor) in tensors(gl.as_ref()) {
        let is_lent = tensor.access() == CpuAccess::Read;
        // 1 memory, 2 shape, 3 size
        assert_eq!((tensor.memory(), &tensor.shape()[..]), (kind, &DIMS[..]));
        assert_eq!(tensor.flat_len(), 1024);
        // 4 map for writing
        match tensor.map_write() {
            Ok(mut map) => map.memory_mut(0).unwrap()[..1024].fill(7),
            Err(error) => assert!(is_lent, "{kind}: {error}"),
        }
        // 5 map for reading
        assert!(tensor.map_read().unwrap().memory(0).unwrap()[..1024].iter().all(|b| *b == 7));
        // 6 the descriptor, or none; never a number that is none
        assert_eq!(
            tensor.memories()[0].fd().is_some(),
            matches!(kind, TensorMemory::Shm | TensorMemory::DmaBuf),
        );
        // 7 a format, 8 a view of it
        let image = tensor.with_format(PixelFormat::Rgba).unwrap();
        let view = image.view(Region::new(4, 4, 8, 8)).unwrap();
        let mut flat = vec![0; view.flat_len()];
        view.copy_to_flat(&mut flat).unwrap();
        assert_eq!(flat, vec![7; 8 * 8 * 4]);
        // 9 one of the leading axis, 10 another shape
        assert_eq!(tensor.batch(15).unwrap().shape()[..], [16, 4]);
        assert!(tensor.batch(16).is_err());
        assert_eq!(
            tensor.reshape(&Shape::new(&[1024]).unwrap()).unwrap().strides().unwrap()[..],
            [1]
        );
        // 11 identity, 12 aliasing
        assert_eq!(view.identity().id(), tensor.identity().id());
        assert!(view.aliases(&tensor));
    }
}

// S-VIEW-13, D-49
#[test]
fn a_part_outlives_its_whole_on_every_kind() {
    let gl = GlSide::get(GLES);
    for (kind, tensor) in tensors(gl.as_ref()) {
        let part = tensor.batch(3).unwrap().batch(5).unwrap();
        let siblings: Vec<_> = (0..16).map(|n| tensor.batch(n).unwrap()).collect();
        let mut before = vec![0; part.flat_len()];
        part.copy_to_flat(&mut before).unwrap();
        drop((tensor, siblings));
        let mut flat = vec![1; part.flat_len()];
        part.copy_to_flat(&mut flat).unwrap();
        assert_eq!(flat, before, "{kind}");
    }
}

// S-MAP-01, S-MAP-03, S-CLS-08: own memory and imported memory are judged by their real length alike
#[test]
fn what_reaches_past_a_memory_is_refused_alike_on_every_kind() {
    let gl = GlSide::get(GLES);
    for (kind, tensor) in tensors(gl.as_ref()) {
        let own = tensor.memories()[0].clone();
        let imported = own.fd().map(|fd| Memory::import(fd, CpuAccess::Read).unwrap());
        for memory in [Some(own), imported].into_iter().flatten() {
            let have = memory.len();
            let rows = |height: usize| {
                let layout =
                    ImageLayout::with_row_stride(PixelFormat::Grey, 60, height, 64).unwrap();
                TensorDyn::from_image(layout, [memory.clone()], CpuAccess::Read)
            };
            let fits = rows(have / 64).unwrap();
            assert_eq!(fits.map_read().unwrap().plane(0).unwrap().rows().count(), have / 64);
            let need = have + 60;
            let refused = rows(have / 64 + 1).unwrap_err();
            let TensorError::TooSmall { plane: 0, memory: 0, need: said, have: real } = refused
            else {
                panic!("{kind}: {refused}")
            };
            assert_eq!((said, real), (need, have), "{kind}");
        }
    }
}

// S-MAP-03: what excludes a map is said in one error on every kind whose maps are shared
#[test]
fn a_map_that_another_excludes_is_refused_alike_on_every_kind() {
    for (kind, tensor) in tensors(None) {
        let reader = tensor.map_read().unwrap();
        assert!(tensor.map_read().is_ok(), "{kind}");
        let refused = tensor.map_write();
        let is_lent = tensor.access() == CpuAccess::Read;
        let expected = match refused {
            Err(MapError::AccessDenied { .. }) => is_lent,
            Err(MapError::Busy { writer: false }) => !is_lent,
            _ => false,
        };
        assert!(expected, "{kind}: {refused:?}");
        drop(reader);
    }
}

// G15, S-SEL-01: who may not use the devices gets shared memory, and is told what each step answered
#[test]
fn without_permission_every_step_says_why_and_the_last_serves() {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let is_required = env::var("REQUIRE_BACKENDS").unwrap_or_default().contains("no_permission");
    let allocation = AllocPolicy::default().allocate(4096, CpuAccess::ReadWrite).unwrap();
    let reasons: Vec<_> = allocation.attempts.iter().map(ToString::to_string).collect();
    let is_denied = |device: &str| {
        reasons.iter().any(|reason| reason.contains(device) && reason.contains("(os error 13)"))
    };
    if !["/dev/dma_heap/system", "/dev/udmabuf"].into_iter().all(is_denied) {
        assert!(!is_required, "nothing is denied: {reasons:?}");
        println!("skipped: not a machine whose devices are denied: {reasons:?}");
        return;
    }
    assert_eq!(allocation.memory.kind(), TensorMemory::Shm);
    assert_eq!(allocation.path, None);
    let error = AllocPolicy::dma_buf_only().allocate(4096, CpuAccess::ReadWrite).unwrap_err();
    let text = error.to_string();
    assert!(reasons.iter().all(|reason| text.contains(reason)), "{text}");
    // An image gains nothing from shared memory that no device can import.
    let image = TensorDyn::image(PixelFormat::Rgba, 64, 64, CpuAccess::ReadWrite).unwrap();
    assert_eq!(image.memory(), TensorMemory::Mem);
}
