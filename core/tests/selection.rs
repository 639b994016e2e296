//! Which memory a tensor gets, and what a descriptor is taken for.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "what goes wrong here fails a test")]

use std::{
    collections::HashSet,
    env, fs,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    process,
};

use rustix::{
    event::{EventfdFlags, eventfd},
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
};
use tensor_core::{
    CpuAccess, DType, ImageDesc, Memory, PixelFormat, Shape, TensorDyn, TensorMemory,
    memory::{AllocPolicy, ImportError},
    sys::memfd,
};

const NOWHERE: &str = "/nonexistent/heaps";

fn bytes(policy: &AllocPolicy, len: usize) -> TensorDyn {
    let shape = Shape::new(&[len]).unwrap();
    TensorDyn::new(&shape, DType::U8, policy, CpuAccess::ReadWrite).unwrap()
}

// S-SEL-01, D-33: shared memory comes before plain memory
#[test]
fn without_a_dma_heap_a_tensor_can_still_be_passed_on() {
    let policy = AllocPolicy::default().with_heap_directory(NOWHERE);
    let allocation = policy.allocate(4096, CpuAccess::ReadWrite).unwrap();
    let tensor = bytes(&policy, 4096);
    assert_eq!(tensor.memory(), allocation.memory.kind());
    // udmabuf is the step after dma-heap, a memfd the one after that.
    let served = (allocation.memory.kind(), allocation.attempts.len());
    let next = [(TensorMemory::DmaBuf, 1), (TensorMemory::Shm, 2)];
    assert!(next.contains(&served), "{allocation:?}");
    assert!(tensor.memories().iter().all(|memory| memory.fd().is_some()));
}

// S-SEL-03: an image gains nothing from memory that no device can import
#[test]
fn an_image_is_in_a_dma_buf_or_in_plain_memory() {
    let policy = AllocPolicy::image().with_heap_directory(NOWHERE);
    let desc = ImageDesc::new(PixelFormat::Rgba, 64, 64).with_policy(policy);
    let kind = TensorDyn::image_desc(&desc).unwrap().memory();
    assert!(matches!(kind, TensorMemory::DmaBuf | TensorMemory::Mem), "{kind}");
}

fn import(file: &OwnedFd) -> Result<Memory, ImportError> {
    Memory::import(file.as_fd(), CpuAccess::Read)
}

// S-CLS-01
#[test]
fn a_file_of_the_shared_memory_folder_is_shared_memory() {
    let path = format!("/dev/shm/tensor-selection-{}", process::id());
    let file = fs::File::create_new(&path).unwrap();
    fs::remove_file(&path).unwrap();
    file.set_len(4096).unwrap();
    let memory = import(&OwnedFd::from(file)).unwrap();
    assert_eq!((memory.kind(), memory.len()), (TensorMemory::Shm, 4096));
}

// S-CLS-02
#[test]
fn what_holds_no_memory_is_refused_by_the_magic_of_its_filesystem() {
    let event = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let (pipe, _writer) = rustix::pipe::pipe().unwrap();
    for (file, magic) in [(event, 0x0904_1934), (pipe, 0x5049_5045)] {
        let refused = import(&file);
        assert!(matches!(refused, Err(ImportError::UnknownBufferType(m)) if m == magic));
    }
    match memfd_create("huge", MemfdFlags::HUGETLB | MemfdFlags::CLOEXEC) {
        Ok(huge) => {
            let refused = import(&huge);
            let expected = matches!(refused, Err(ImportError::UnknownBufferType(0x9584_58f6)));
            assert!(expected, "{refused:?}");
        }
        Err(error) => println!("skipped: hugetlb: {error}"),
    }
}

// S-ID-02, D-29: an import is a tensor of its own, and so is its life
#[test]
fn two_imports_of_one_file_are_two_identities_with_lives_of_their_own() {
    let file = memfd::create("t", 4096).unwrap();
    let shape = Shape::new(&[4096]).unwrap();
    let import = || TensorDyn::from_fd(file.as_fd(), &shape, DType::U8, CpuAccess::Read).unwrap();
    let (first, second) = (import(), import());
    assert_ne!(first.identity().id(), second.identity().id());
    let (one, other) = (first.identity().weak(), second.identity().weak());
    drop(first);
    assert!(!one.is_alive() && other.is_alive());
    // What is the same is told by the file.
    let again = import();
    let file_of = |tensor: &TensorDyn| tensor.memories().first().unwrap().identity();
    assert_eq!(file_of(&again), file_of(&second));
}

// S-ID-01, S-ID-03, S-ID-04, D-30, D-31, D-32: whatever the kind and the size, no number comes twice
#[test]
fn no_identity_comes_twice() {
    let kinds = [TensorMemory::Mem, TensorMemory::Shm, TensorMemory::DmaBuf];
    let mut seen = HashSet::new();
    let mut made = 0;
    for round in 0..300 {
        for policy in kinds.iter().filter_map(|kind| AllocPolicy::only(*kind)) {
            let len = if round % 2 == 0 { 0 } else { 64 };
            let shape = Shape::new(&[len]).unwrap();
            // Kept for no longer than this, so that addresses and descriptors come again.
            if let Ok(tensor) = TensorDyn::new(&shape, DType::U8, &policy, CpuAccess::ReadWrite) {
                seen.insert(tensor.identity().id());
                made += 1;
            }
        }
    }
    assert!(made >= 600);
    assert_eq!(seen.len(), made);
}

// S-DISP-05
#[test]
fn a_part_aliases_its_whole_and_two_allocations_do_not_alias() {
    for policy in
        [TensorMemory::Mem, TensorMemory::Shm].map(|kind| AllocPolicy::only(kind).unwrap())
    {
        let (one, other) = (bytes(&policy, 64), bytes(&policy, 64));
        let part = one.batch(3).unwrap();
        assert!(part.aliases(&one) && one.aliases(&part) && one.aliases(&one.clone()));
        assert!(!one.aliases(&other) && !part.aliases(&other));
    }
}

// S-CLS-09, D-28: what may only be read is not asked to be written
#[test]
fn a_descriptor_for_reading_maps_for_reading() {
    let file = memfd::create("t", 4096).unwrap();
    fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let reader = OwnedFd::from(fs::File::open(path).unwrap());
    let memory = import(&reader).unwrap();
    assert_eq!(memory.map(CpuAccess::Read).unwrap().len(), 4096);
    let writer = Memory::import(reader.as_fd(), CpuAccess::ReadWrite);
    assert!(writer.is_err() || writer.unwrap().map(CpuAccess::Write).is_err());
}

// S-SEL-02: the one switch of the environment
#[test]
fn the_switch_forces_plain_memory_and_only_when_it_is_one() {
    let ask = |value: Option<&str>| {
        let mut command = process::Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_default_kind", "--ignored", "--nocapture"]);
        match value {
            Some(value) => command.env("TENSOR_FORCE_MEM", value),
            None => command.env_remove("TENSOR_FORCE_MEM"),
        };
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        output.lines().find_map(|line| line.split_once("kind ").map(|(_, kind)| kind.to_owned()))
    };
    let unset = ask(None).unwrap();
    assert_ne!(unset, TensorMemory::Mem.to_string());
    assert_eq!(ask(Some("1")), Some(TensorMemory::Mem.to_string()));
    for other in ["0", "false", ""] {
        assert_eq!(ask(Some(other)).as_ref(), Some(&unset), "{other:?}");
    }
}

#[test]
#[ignore = "asked by the_switch_forces_plain_memory_and_only_when_it_is_one"]
fn the_default_kind() {
    println!("kind {}", bytes(&AllocPolicy::default(), 4096).memory());
}
