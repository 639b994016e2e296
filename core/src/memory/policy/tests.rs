//! Which memory is found, and what is said of the rest.

use super::*;
use crate::{
    format::PixelFormat,
    tensor::{ImageDesc, TensorDyn},
};

// S-PLAT-06
#[test]
fn contiguous_memory_without_a_contiguous_heap_fails_and_names_it() {
    let directory = env::temp_dir().join(format!("no-cma-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("system"), b"no heap").unwrap();
    let policy = AllocPolicy::default().with_heap_directory(&directory).contiguous();
    let text = policy.allocate(4096, CpuAccess::ReadWrite).unwrap_err().to_string();
    assert!(text.contains("cma") && !text.contains("memfd"), "{text}");
    std::fs::remove_dir_all(&directory).unwrap();
}

// S-PLAT-07
#[test]
fn what_is_known_of_the_pages_is_recorded() {
    let memfd = AllocPolicy::from_steps([Step::Memfd]);
    let memory = memfd.allocate(4096, CpuAccess::Read).unwrap().memory;
    assert_eq!(memory.contiguity(), Contiguity::NonContiguous);
    let import = Memory::import(memory.fd().unwrap(), CpuAccess::Read).unwrap();
    assert_eq!(import.contiguity(), Contiguity::Unknown);
    assert_eq!(
        contiguity(Step::DmaHeap, Some(Path::new("/dev/dma_heap/reserved"))),
        Contiguity::Contiguous
    );
}

// S-SEL-05: who served is said by the allocation, and by the tensor as long as it lives
#[test]
fn the_device_that_served_is_named() {
    let served = AllocPolicy::default().allocate(4096, CpuAccess::ReadWrite).unwrap();
    assert_eq!(served.memory.device(), served.path.as_deref());
    assert_eq!(served.memory.kind() == TensorMemory::DmaBuf, served.path.is_some());
    let image = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_memory(TensorMemory::DmaBuf);
    match TensorDyn::image_desc(&image) {
        Ok(image) => {
            let device = image.memories()[0].device().unwrap().to_str().unwrap().to_owned();
            let expected = device.starts_with("/dev/dma_heap/") || device == udmabuf::PATH;
            assert!(expected, "{device}");
        }
        Err(error) => println!("skipped: {error}"),
    }
    assert_eq!(Memory::heap(64).unwrap().device(), None);
    let shm = Memory::shm(64).unwrap();
    let import = Memory::import(shm.fd().unwrap(), CpuAccess::Read).unwrap();
    assert_eq!(import.device(), None);
}

// S-SEL-04
#[test]
fn a_kind_that_is_asked_for_is_given_or_refused() {
    for kind in TensorMemory::all() {
        let Some(policy) = AllocPolicy::only(kind) else { continue };
        match policy.allocate(64, CpuAccess::ReadWrite) {
            Ok(allocation) => assert_eq!(allocation.memory.kind(), kind),
            Err(error) => assert_eq!(kind, TensorMemory::DmaBuf, "{error}"),
        }
    }
}

// G15, S-SEL-04
#[test]
fn a_machine_without_heaps_says_so_with_path_and_errno() {
    let policy = AllocPolicy::from_steps([Step::DmaHeap]).with_heap_directory("/nonexistent/heaps");
    let text = policy.allocate(4096, CpuAccess::ReadWrite).unwrap_err().to_string();
    assert!(text.contains("4096 bytes"), "{text}");
    assert!(text.contains("/nonexistent/heaps"), "{text}");
    assert!(text.contains("os error 2"), "{text}");
}

#[test]
fn a_failed_heap_is_passed_over_and_remembered() {
    let directory = env::temp_dir().join(format!("heaps-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("system"), b"no heap").unwrap();
    let policy =
        AllocPolicy::from_steps([Step::DmaHeap, Step::Memfd]).with_heap_directory(&directory);
    let allocation = policy.allocate(4096, CpuAccess::ReadWrite).unwrap();
    assert_eq!(allocation.attempts.len(), 1);
    assert!(allocation.attempts[0].to_string().contains("system"), "{:?}", allocation.attempts);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn nothing_is_not_allocated() {
    for step in [Step::Memfd, Step::Heap] {
        assert!(AllocPolicy::from_steps([step]).allocate(0, CpuAccess::Read).is_err());
    }
}

fn begins_at(memory: &Memory) -> usize {
    memory.map(CpuAccess::Read).unwrap().as_ptr().addr()
}

// G14
#[test]
fn memory_begins_where_it_was_asked_to() {
    for step in [Step::Heap, Step::Memfd] {
        for (asked, given) in [(1, 64), (64, 64), (128, 128), (4096, 4096)] {
            let policy = AllocPolicy::from_steps([step]).with_alignment(asked).unwrap();
            let all: Vec<_> = (1..=100)
                .map(|len| policy.allocate(len, CpuAccess::ReadWrite).unwrap().memory)
                .collect();
            for memory in &all {
                assert_eq!(begins_at(memory) % given, 0, "{step:?} {asked} {memory:?}");
            }
        }
    }
}

// G14: 64 bytes unless more is asked for
#[test]
fn memory_begins_at_a_cache_line() {
    let all: Vec<_> = (1..=100).map(|len| Memory::heap(len).unwrap()).collect();
    assert!(all.iter().all(|memory| begins_at(memory).is_multiple_of(64)));
}

// G14
#[test]
fn what_is_no_power_of_two_is_no_alignment() {
    for align in [0, 3, 96, 4095, usize::MAX] {
        let refused = AllocPolicy::default().with_alignment(align).unwrap_err();
        assert_eq!(refused, AlignmentError { align });
        assert!(refused.to_string().contains(&align.to_string()), "{refused}");
        assert!(ImageDesc::new(PixelFormat::Grey, 4, 4).with_alignment(align).is_err());
    }
}

// G14: what a map cannot give is passed over with both numbers, never given less aligned
#[test]
fn more_than_a_page_is_given_by_the_heap_alone() {
    let asked = page_size() * 4;
    let all = [Step::DmaHeap, Step::Udmabuf, Step::Memfd, Step::Heap];
    let policy = AllocPolicy::from_steps(all).with_alignment(asked).unwrap();
    let served = policy.allocate(100, CpuAccess::ReadWrite).unwrap();
    assert_eq!((served.memory.kind(), served.attempts.len()), (TensorMemory::Mem, 3));
    assert_eq!(begins_at(&served.memory) % asked, 0);
    let text = served.attempts[2].to_string();
    for number in [page_size(), asked] {
        assert!(text.contains(&number.to_string()), "{text}");
    }
}

// G14, S-PLAT-06: naming a kind drops nothing else that was asked for
#[test]
fn a_kind_is_asked_for_on_top_of_the_rest() {
    let image = ImageDesc::new(PixelFormat::Grey, 5, 5).with_alignment(1024).unwrap();
    let image = TensorDyn::image_desc(&image.with_memory(TensorMemory::Mem)).unwrap();
    assert_eq!(begins_at(&image.memories()[0]) % 1024, 0);
    let image = ImageDesc::new(PixelFormat::Grey, 64, 64).with_contiguous(true);
    for kind in [TensorMemory::Mem, TensorMemory::Shm] {
        let refused = TensorDyn::image_desc(&image.clone().with_memory(kind)).unwrap_err();
        assert!(refused.to_string().contains("not one run"), "{refused}");
    }
}
