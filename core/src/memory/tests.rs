//! One contract, run against every kind of memory, and what is special to importing.

use std::{
    fs::File,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    panic::{AssertUnwindSafe, catch_unwind},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create},
    io::Errno,
};

use super::{
    pbo::tests::{BUFFER, FakeGl},
    *,
};
use crate::{
    dtype::DType,
    shape::Shape,
    sys::memfd,
    tensor::{TensorDyn, TensorError},
};

/// Makes a module of tests for each kind: `name => function that makes 8192 bytes, or None with
/// the reason printed`.
macro_rules! backend_suite {
    ($($name:ident => $make:expr;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn what_is_written_is_read() {
                let Some(memory) = $make else { return };
                assert!(memory.len() >= 8192);
                memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(7);
                let read = memory.map(CpuAccess::Read).unwrap();
                assert!(read.iter().all(|byte| *byte == 7));
            }

            #[test]
            fn a_panic_ends_the_access() {
                let Some(memory) = $make else { return };
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    let _map = memory.map(CpuAccess::ReadWrite).unwrap();
                    panic!("while mapped");
                }));
                assert!(panicked.is_err());
                assert!(memory.map(CpuAccess::ReadWrite).is_ok());
            }

            #[test]
            fn a_read_map_cannot_be_written() {
                let Some(memory) = $make else { return };
                assert!(memory.map(CpuAccess::Read).unwrap().as_mut_slice().is_none());
            }

            #[test]
            fn a_writer_is_alone() {
                let Some(memory) = $make else { return };
                for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
                    let writer = memory.map(CpuAccess::ReadWrite).unwrap();
                    let refused = memory.clone().map(access).map(drop);
                    assert!(matches!(
                        refused,
                        Err(MapError::Busy { writer: true } | MapError::PboMapped)
                    ));
                    drop(writer);
                    assert!(memory.map(access).is_ok());
                }
            }
        }
    )* };
}

/// What holds beyond that for the kinds whose one mapping is kept, so that maps share it.
macro_rules! shared_suite {
    ($($name:ident => $make:expr;)*) => { mod shared { $(
        mod $name {
            use super::super::*;

            #[test]
            fn many_read_or_one_writes() {
                let Some(memory) = $make else { return };
                let first = memory.map(CpuAccess::Read).unwrap();
                let second = memory.map(CpuAccess::Read).unwrap();
                assert!(matches!(memory.map(CpuAccess::Write), Err(MapError::Busy { writer: false })));
                drop((first, second));
                let writer = memory.map(CpuAccess::ReadWrite).unwrap();
                assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::Busy { writer: true })));
                drop(writer);
                assert!(memory.map(CpuAccess::Read).is_ok());
            }

            #[test]
            fn the_mapping_is_kept() {
                let Some(memory) = $make else { return };
                let first = memory.map(CpuAccess::Read).unwrap().as_ptr();
                assert_eq!(memory.map(CpuAccess::Read).unwrap().as_ptr(), first);
            }
        }
    )* } };
}

shared_suite! {
    heap => Some(Memory::heap(8192).unwrap());
    shm => Some(Memory::shm(8192).unwrap());
    dma_heap => dma_buf(Step::DmaHeap);
    udmabuf => dma_buf(Step::Udmabuf);
}

backend_suite! {
    heap => Some(Memory::heap(8192).unwrap());
    shm => Some(Memory::shm(8192).unwrap());
    dma_heap => dma_buf(Step::DmaHeap);
    udmabuf => dma_buf(Step::Udmabuf);
    pbo => Some(pbo());
}

/// A buffer object of a GL side that is none.
fn pbo() -> Memory {
    Memory::pbo(BUFFER, 8192, Arc::new(FakeGl::new(8192)), CpuAccess::ReadWrite).unwrap()
}

/// A dma-buf, or a spoken skip; `REQUIRE_BACKENDS` naming the kind forbids the skip.
fn dma_buf(step: Step) -> Option<Memory> {
    match AllocPolicy::from_steps([step]).allocate(8192, CpuAccess::ReadWrite) {
        Ok(allocation) => Some(allocation.memory),
        Err(error) => {
            #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
            let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
            assert!(!required.contains("dma_buf"), "required but missing: {error}");
            println!("skipped: {error}");
            None
        }
    }
}

// S-PLAT-06, S-PLAT-07
#[test]
fn the_contiguous_heap_gives_contiguous_memory() {
    let policy = AllocPolicy::default().contiguous();
    match policy.allocate(8192, CpuAccess::ReadWrite) {
        Ok(allocation) => {
            assert_eq!(allocation.memory.contiguity(), Contiguity::Contiguous);
            assert_eq!(allocation.memory.kind(), TensorMemory::DmaBuf);
        }
        Err(error) => {
            #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
            let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
            assert!(!required.contains("cma"), "required but missing: {error}");
            println!("skipped: {error}");
        }
    }
}

fn import(fd: &impl AsFd) -> Result<Memory, ImportError> {
    Memory::import(fd.as_fd(), CpuAccess::Read)
}

// S-CLS-01
#[test]
fn a_memfd_is_shared_memory_and_a_dma_buf_is_one() {
    let fd = memfd::create("t", 4096).unwrap();
    assert_eq!(import(&fd).unwrap().kind(), TensorMemory::Shm);
    let Some(memory) = dma_buf(Step::DmaHeap) else { return };
    let again = Memory::import(memory.fd().unwrap(), CpuAccess::Read).unwrap();
    assert_eq!(again.kind(), TensorMemory::DmaBuf);
    assert_eq!(again.identity(), memory.identity());
    assert_eq!(again.len(), 8192);
}

// S-CLS-02, S-CLS-03, D-13
#[test]
fn other_files_are_refused_by_their_magic() {
    let (pipe, _writer) = rustix::pipe::pipe().unwrap();
    assert!(matches!(import(&pipe), Err(ImportError::UnknownBufferType(0x5049_5045))));
    let path = std::env::temp_dir().join(format!("plain-{}", std::process::id()));
    std::fs::write(&path, b"x").unwrap();
    let file = File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let magic = file::fs_magic(file.as_fd()).unwrap();
    if magic == TMPFS_MAGIC {
        println!("skipped: the temporary folder is on tmpfs");
    } else {
        assert!(matches!(import(&file), Err(ImportError::UnknownBufferType(m)) if m == magic));
    }
}

// S-CLS-04, D-12
#[test]
fn what_is_on_tmpfs_but_has_no_bytes_is_refused() {
    let null = File::open("/dev/null").unwrap();
    assert!(matches!(
        import(&null),
        Err(ImportError::NotAFile | ImportError::UnknownBufferType(_))
    ));
    let directory = File::open("/dev/shm").unwrap();
    assert!(matches!(import(&directory), Err(ImportError::NotAFile)));
    let empty = memfd::create("t", 0).unwrap();
    assert!(matches!(import(&empty), Err(ImportError::Empty)));
}

/// A memfd of 8192 bytes without seals, that takes seals or does not.
fn foreign_memfd(takes_seals: bool) -> OwnedFd {
    let mut flags = MemfdFlags::CLOEXEC;
    flags.set(MemfdFlags::ALLOW_SEALING, takes_seals);
    let fd = memfd_create("t", flags).unwrap();
    ftruncate(&fd, 8192).unwrap();
    fd
}

// S-CLS-10, D-27: sealed by its owner
#[test]
fn a_sealed_file_stays_as_long_as_it_is() {
    let fd = foreign_memfd(true);
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::SEAL).unwrap();
    let memory = import(&fd).unwrap();
    assert_eq!(ftruncate(&fd, 0), Err(Errno::PERM));
    assert_eq!(memory.map(CpuAccess::Read).unwrap().last(), Some(&0));
}

// S-CLS-10, D-27: sealable, so sealed by the map; its owner cannot cut it short under it
#[test]
fn a_file_that_takes_seals_is_sealed_by_its_first_map() {
    let fd = foreign_memfd(true);
    let memory = import(&fd).unwrap();
    assert_eq!(fcntl_get_seals(&fd), Ok(SealFlags::empty()));
    let map = memory.map(CpuAccess::Read).unwrap();
    assert_eq!(ftruncate(&fd, 4096), Err(Errno::PERM));
    assert_eq!(ftruncate(&fd, 0), Err(Errno::PERM));
    assert_eq!(map.last(), Some(&0));
    // It may grow, which takes nothing away.
    ftruncate(&fd, 16_384).unwrap();
    assert_eq!((memory.len(), map.len()), (8192, 8192));
}

// G17, D-27: between the import and the first map its owner may do as he likes
#[test]
fn a_file_truncated_after_its_import_is_not_mapped() {
    let fd = foreign_memfd(true);
    let memory = import(&fd).unwrap();
    ftruncate(&fd, 4096).unwrap();
    let refused = memory.map(CpuAccess::Read);
    assert!(matches!(refused, Err(MapError::Shorter { need: 8192, have: 4096 })), "{refused:?}");
}

#[test]
fn a_file_that_nobody_here_maps_is_left_to_its_owner() {
    let fd = foreign_memfd(true);
    let memory = Memory::import(fd.as_fd(), CpuAccess::None).unwrap();
    assert_eq!(fcntl_get_seals(&fd), Ok(SealFlags::empty()));
    ftruncate(&fd, 0).unwrap();
    assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::AccessDenied { .. })));
}

// S-CLS-10, D-27: unsealable, or not ours to seal
#[test]
fn a_file_that_can_shrink_imports_but_is_not_mapped() {
    let unsealable = foreign_memfd(false);
    let sealable = foreign_memfd(true);
    let path = format!("/proc/self/fd/{}", sealable.as_raw_fd());
    let reader = OwnedFd::from(File::open(path).unwrap());
    for (owner, imported) in [(&unsealable, &unsealable), (&sealable, &reader)] {
        let memory = import(imported).unwrap();
        assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::CanShrink)));
        ftruncate(owner, 0).unwrap();
        assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::CanShrink)));
    }
}

// D-11, D-27, S-CLS-08: cut short before it came here; what counts is what is there
#[test]
fn a_file_truncated_before_its_import_is_as_long_as_it_is_now() {
    let fd = foreign_memfd(true);
    ftruncate(&fd, 4096).unwrap();
    let memory = import(&fd).unwrap();
    assert_eq!(memory.len(), 4096);
    assert_eq!(memory.map(CpuAccess::Read).unwrap().len(), 4096);
    let shape = Shape::new(&[8192]).unwrap();
    let refused = TensorDyn::from_fd(fd.as_fd(), &shape, DType::U8, CpuAccess::Read);
    assert!(matches!(refused, Err(TensorError::Short { need: 8192, have: 4096 })), "{refused:?}");
}

// G17, D-27: the seal says that it will not shrink again, not that it did not
#[test]
fn a_file_that_shrank_before_it_was_sealed_is_not_mapped() {
    let fd = foreign_memfd(true);
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let reader = OwnedFd::from(File::open(path).unwrap());
    let memory = import(&reader).unwrap();
    ftruncate(&fd, 4096).unwrap();
    fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
    let refused = memory.map(CpuAccess::Read);
    assert!(matches!(refused, Err(MapError::Shorter { need: 8192, have: 4096 })), "{refused:?}");
}

// S-CLS-09, D-28
#[test]
fn a_write_sealed_memfd_maps_for_reading() {
    let fd = memfd::create("t", 4096).unwrap();
    fcntl_add_seals(&fd, SealFlags::WRITE).unwrap();
    let memory = import(&fd).unwrap();
    assert_eq!(memory.map(CpuAccess::Read).unwrap().len(), 4096);
}

// S-TYPE-11, S-OWN-02
#[test]
fn an_import_outlives_the_descriptor_it_came_from() {
    let fd = memfd::create("t", 4096).unwrap();
    let memory = import(&fd).unwrap();
    drop(fd);
    assert_eq!(memory.map(CpuAccess::Read).unwrap().len(), 4096);
}

// S-CPU-02
#[test]
fn exactly_the_declared_directions_map() {
    let fd = memfd::create("t", 4096).unwrap();
    for declared in CpuAccess::ALL {
        let memory = Memory::import(fd.as_fd(), declared).unwrap();
        for requested in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            let map = memory.map(requested);
            if declared.covers(requested) {
                assert!(map.is_ok(), "{declared} {requested}: {map:?}");
            } else {
                assert!(
                    matches!(map, Err(MapError::AccessDenied { .. })),
                    "{declared} {requested}"
                );
            }
        }
    }
}

#[test]
fn foreign_bytes_are_read_and_their_owner_kept_alive() {
    let owner: Arc<ForeignBytes> = Arc::new(vec![5_u8; 100]);
    let weak = Arc::downgrade(&owner);
    let memory = Memory::foreign(TensorMemory::Mem, owner);
    assert_eq!((memory.kind(), memory.len()), (TensorMemory::Mem, 100));
    assert_eq!(memory.map(CpuAccess::Read).unwrap()[99], 5);
    assert!(matches!(memory.map(CpuAccess::Write), Err(MapError::AccessDenied { .. })));
    drop(memory);
    assert!(weak.upgrade().is_none());
}

fn fd_count() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

// S-OWN-03, G08: nextest gives this test a process of its own, so the count is not disturbed
#[test]
fn failing_and_passing_imports_leave_no_descriptor() {
    let (pipe, _writer) = rustix::pipe::pipe().unwrap();
    let fd = memfd::create("t", 4096).unwrap();
    let before = fd_count();
    for _ in 0..1000 {
        assert!(import(&pipe).is_err());
        drop(import(&fd).unwrap());
    }
    assert!(fd_count().abs_diff(before) <= 2, "{before} fds before, {} after", fd_count());
}

const fn assert_send_sync<T: Send + Sync>() {}
const _: () = assert_send_sync::<Memory>();
const _: () = assert_send_sync::<MemoryMap<'_>>();
