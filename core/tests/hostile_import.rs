//! Blobs that were tampered with, imported with real descriptors: an error or a sound tensor, and
//! nothing left open. The parser alone has its own such tests, and `fuzz/` goes on from here.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong here fails a test"
)]

use std::{fs, os::fd::BorrowedFd};

use tensor_core::{
    BlobView, CpuAccess, DType, ImageDesc, ImageLayout, Memory, PixelFormat, PlanePlacement,
    Quantization, Shape, TensorDyn, TensorMemory,
    memory::AllocPolicy,
    transfer::{TransportMode, export, import},
};

const WORDS: [u64; 7] =
    [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x8000_0000_0000_0000, u64::MAX];

fn two_memories() -> TensorDyn {
    let planes = [
        PlanePlacement { memory: 0, offset: 128, stride: 96 },
        PlanePlacement { memory: 1, offset: 0, stride: 128 },
    ];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let memories = [Memory::shm(4096).unwrap(), Memory::shm(4096).unwrap()];
    TensorDyn::from_image(layout, memories, CpuAccess::Read).unwrap().with_name("camera")
}

fn plain(kind: TensorMemory) -> TensorDyn {
    let policy = AllocPolicy::only(kind).unwrap();
    let shape = Shape::new(&[4, 3, 2]).unwrap();
    let tensor = TensorDyn::new(&shape, DType::I8, &policy, CpuAccess::ReadWrite).unwrap();
    let part = tensor.slice(&[0..4, 0..3, 0..1]).unwrap();
    let scales = vec![0.5, 1.0, 2.0];
    part.with_quantization(Quantization::per_channel(scales, vec![1, 2, 3], 1).unwrap()).unwrap()
}

fn image(kind: TensorMemory) -> TensorDyn {
    let desc = ImageDesc::new(PixelFormat::I420, 32, 6).with_memory(kind);
    TensorDyn::image_desc(&desc).unwrap()
}

/// What is tampered with: every transport, with a format and without one.
fn victims() -> Vec<(TensorDyn, TransportMode)> {
    let (mem, shm) = (TensorMemory::Mem, TensorMemory::Shm);
    vec![
        (two_memories(), TransportMode::Reference),
        (image(shm), TransportMode::Reference),
        (plain(shm), TransportMode::Reference),
        (image(mem), TransportMode::Inline),
        (plain(mem), TransportMode::Inline),
    ]
}

fn open_fds() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Imports; whatever comes out can be read to its last byte, and is no larger than what it came from.
fn survive(blob: &[u8], fds: &[BorrowedFd<'_>]) {
    let Ok(tensor) = import(blob, fds) else { return };
    if tensor.memory() == TensorMemory::Mem {
        assert!(tensor.memories().iter().all(|memory| memory.len() <= blob.len()));
    }
    let Ok(map) = tensor.map_read() else { return };
    for plane in map.planes() {
        assert!(plane.rows().map(<[u8]>::len).sum::<usize>() <= 1 << 16);
    }
    for memory in 0..tensor.memories().len() {
        assert!(!map.memory(memory).unwrap().is_empty());
    }
}

/// Runs `tamper` on a copy of each victim's blob, and counts descriptors.
fn on_each(tamper: impl Fn(&[u8], &mut dyn FnMut(&[u8]))) {
    for (tensor, mode) in victims() {
        let (blob, fds) = export(&tensor, mode).unwrap();
        import(&blob, &fds).unwrap();
        let before = open_fds();
        tamper(&blob, &mut |changed| survive(changed, &fds));
        assert_eq!(open_fds(), before);
    }
}

// S-PARSE-01, S-PARSE-02, D-15, D-16
#[test]
fn every_word_takes_every_hostile_value() {
    on_each(|blob, try_it| {
        for at in (0..blob.len() - 8).step_by(4) {
            for word in WORDS {
                let mut changed = blob.to_vec();
                changed[at..at + 4].copy_from_slice(&word.to_le_bytes()[..4]);
                try_it(&changed);
                changed[at..at + 8].copy_from_slice(&word.to_le_bytes());
                try_it(&changed);
            }
        }
    });
}

#[test]
fn every_byte_is_flipped_bit_by_bit() {
    on_each(|blob, try_it| {
        for at in 0..blob.len() {
            for bit in 0..8 {
                let mut changed = blob.to_vec();
                changed[at] ^= 1 << bit;
                try_it(&changed);
            }
        }
    });
}

// S-BLOB-04
#[test]
fn every_length_is_cut_off() {
    on_each(|blob, try_it| {
        for len in 0..blob.len() {
            try_it(&blob[..len]);
            let mut cut = blob[..len].to_vec();
            if let Some(size) = cut.first_chunk_mut::<8>() {
                *size = u64::try_from(len).unwrap().to_le_bytes();
            }
            try_it(&cut);
        }
    });
}

/// An inline blob of bytes without a format, and where its shape is.
fn inline(len: usize, rank: usize) -> (Vec<u8>, usize) {
    let mut dims = vec![1; rank];
    dims[0] = len;
    let policy = AllocPolicy::only(TensorMemory::Mem).unwrap();
    let shape = Shape::new(&dims).unwrap();
    let tensor = TensorDyn::new(&shape, DType::U8, &policy, CpuAccess::ReadWrite).unwrap();
    (export(&tensor, TransportMode::Inline).unwrap().0, 72)
}

/// The most address space this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

// S-PARSE-04, S-PARSE-05, S-PARSE-06, D-15, D-16, D-17
#[test]
fn a_shape_larger_than_its_bytes_is_refused_at_once() {
    let shapes =
        [vec![1_u64 << 31], vec![1 << 34], vec![1 << 32, 1 << 32], vec![u64::MAX], vec![100]];
    for dims in shapes {
        let (mut blob, at) = inline(8, dims.len());
        for (axis, dim) in dims.iter().enumerate() {
            blob[at + 8 * axis..at + 8 * axis + 8].copy_from_slice(&dim.to_le_bytes());
        }
        assert!(BlobView::parse(&blob).is_ok());
        let before = peak_kib();
        assert!(import(&blob, &[]).is_err(), "{dims:?}");
        assert!(peak_kib() - before < 1024, "{dims:?}");
    }
}
