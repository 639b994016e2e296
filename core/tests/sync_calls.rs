//! What maps and imports ask the kernel, call by call.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

mod sync_calls {
    pub(crate) mod tracer;
}

use std::{
    env,
    os::fd::AsFd,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    sync::{Mutex, PoisonError},
};

use rustix::fs::{Advice, fadvise};
use sync_calls::tracer::{Syscall, trace};
use tensor_core::{
    CpuAccess, Memory,
    memory::{AllocPolicy, Step},
    sys::{dma_buf, memfd},
};

/// `DMA_BUF_IOCTL_SYNC` of `linux/dma-buf.h`.
const SYNC: u64 = 0x4008_6200;
const EINTR: u16 = 4;
const EAGAIN: u16 = 11;

/// The numbers of the calls that are looked for.
mod number {
    const TABLE: [u64; 5] =
        if cfg!(target_arch = "x86_64") { [16, 9, 11, 138, 5] } else { [29, 222, 215, 44, 80] };
    pub(super) const IOCTL: u64 = TABLE[0];
    pub(super) const MMAP: u64 = TABLE[1];
    pub(super) const MUNMAP: u64 = TABLE[2];
    pub(super) const FSTATFS: u64 = TABLE[3];
    pub(super) const FSTAT: u64 = TABLE[4];
}

/// An offset that nothing else gives to the kernel: the calls between two of these are looked at.
const MARK: u64 = 0x006D_6172_6B21;

fn mark() {
    // The advice does nothing; the calls before and after it are found by it.
    let _unheard = fadvise(std::io::stdin().as_fd(), MARK, None, Advice::Normal);
}

/// Traces the ignored test `name` of this file: its calls between the marks, each stretch by itself.
fn stretches(name: &str, answer: impl FnMut(&Syscall) -> Option<u16>) -> Option<Vec<Vec<Syscall>>> {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored"]);
    // Whoever traces waits for every child of the process.
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let calls = match trace(&mut command, answer) {
        Ok(calls) => calls,
        Err(error) => {
            let is_allowed = error.raw_os_error().is_some();
            assert!(is_allowed && !is_required(), "{error}");
            println!("skipped: ptrace: {error}");
            return None;
        }
    };
    drop(alone);
    let is_mark = |call: &Syscall| call.arguments[1] == MARK;
    let thread = calls.iter().find(|call| is_mark(call)).unwrap().thread;
    let own: Vec<_> = calls.into_iter().filter(|call| call.thread == thread).collect();
    Some(own.split(is_mark).skip(1).step_by(2).map(<[_]>::to_vec).collect())
}

fn is_required() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
    required.contains("dma_buf")
}

fn is_sync(call: &Syscall) -> bool {
    call.number == number::IOCTL && call.arguments[1] == SYNC
}

/// The flags of the sync calls, in order.
fn sync_flags(calls: &[Syscall]) -> Vec<u64> {
    calls.iter().filter(|call| is_sync(call)).map(|call| call.word.unwrap()).collect()
}

fn count(calls: &[Syscall], number: u64) -> usize {
    calls.iter().filter(|call| call.number == number).count()
}

/// Every dma-buf that this machine gives, one of each kind.
fn dma_bufs() -> Vec<Memory> {
    let steps = [Step::DmaHeap, Step::Udmabuf].map(|step| AllocPolicy::from_steps([step]));
    let found: Vec<_> = steps
        .iter()
        .filter_map(|policy| match policy.allocate(4096, CpuAccess::ReadWrite) {
            Ok(allocation) => Some(allocation.memory),
            Err(error) => {
                println!("skipped: {error}");
                None
            }
        })
        .collect();
    assert!(!found.is_empty() || !is_required(), "dma_buf is required");
    found
}

/// Maps of every dma-buf, and of one that was imported: three directions, then a reader that panics.
#[test]
#[ignore = "traced by one_begin_and_one_end_a_map_in_its_direction"]
fn dma_buf_maps() {
    for memory in dma_bufs() {
        let imported = Memory::import(memory.fd().unwrap(), CpuAccess::ReadWrite).unwrap();
        for memory in [memory, imported] {
            mark();
            for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
                drop(memory.map(access).unwrap());
            }
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _map = memory.map(CpuAccess::Read).unwrap();
                panic!("while mapped");
            }));
            assert!(panicked.is_err());
            mark();
        }
    }
}

// S-MAP-04, S-MAP-05, S-DISP-01, D-50: an imported dma-buf is asked like one of ours
#[test]
fn one_begin_and_one_end_a_map_in_its_direction() {
    let expected = 2 * dma_bufs().len();
    if expected == 0 {
        return;
    }
    let Some(stretches) = stretches("dma_buf_maps", |_| None) else { return };
    assert_eq!(stretches.len(), expected);
    for calls in stretches {
        // DMA_BUF_SYNC_READ 1, DMA_BUF_SYNC_WRITE 2, DMA_BUF_SYNC_END 4.
        assert_eq!(sync_flags(&calls), [1, 5, 2, 6, 3, 7, 1, 5], "{calls:#?}");
        assert_eq!(count(&calls, number::MMAP), 1, "the mapping is kept");
        assert_eq!(count(&calls, number::MUNMAP), 0);
    }
}

/// The sync calls on a file that has none, which is what any machine has.
#[test]
#[ignore = "traced by an_interrupted_sync_is_made_again"]
fn sync_of_a_memfd() {
    let file = memfd::create("t", 4096).unwrap();
    mark();
    let begun = dma_buf::begin_access(&file, CpuAccess::Read);
    let ended = dma_buf::end_access(&file, CpuAccess::Write);
    mark();
    for refused in [begun, ended] {
        let code = refused.unwrap_err().raw_os_error();
        assert_eq!(code, Some(rustix::io::Errno::NOTTY.raw_os_error()));
    }
}

// S-MAP-04, D-53
#[test]
#[cfg(target_arch = "x86_64")]
fn an_interrupted_sync_is_made_again() {
    let mut answers = [Some(EINTR), Some(EAGAIN), None, Some(EAGAIN), None].into_iter();
    let answer = |call: &Syscall| is_sync(call).then(|| answers.next().flatten()).flatten();
    let Some(stretches) = stretches("sync_of_a_memfd", answer) else { return };
    assert_eq!(sync_flags(&stretches[0]), [1, 1, 1, 6, 6]);
}

#[test]
#[ignore = "traced by plain_memory_is_mapped_without_a_call_and_shared_memory_once"]
fn host_maps() {
    for memory in [Memory::heap(8192).unwrap(), Memory::shm(8192).unwrap()] {
        mark();
        for access in [CpuAccess::Write, CpuAccess::Read, CpuAccess::ReadWrite] {
            for _ in 0..100 {
                assert_eq!(memory.map(access).unwrap().len(), 8192);
            }
        }
        mark();
    }
}

// S-DISP-02, S-DISP-03, D-47: a map made each frame is the kept one
#[test]
fn plain_memory_is_mapped_without_a_call_and_shared_memory_once() {
    let Some(stretches) = stretches("host_maps", |_| None) else { return };
    let [heap, shm] = stretches.as_slice() else { panic!("{stretches:#?}") };
    assert!(heap.is_empty(), "{heap:#?}");
    assert_eq!((count(shm, number::MMAP), count(shm, number::MUNMAP)), (1, 0));
    // Before the one mapping its seals and its length are asked for.
    assert!(shm.len() <= 3, "{shm:#?}");
}

#[test]
#[ignore = "traced by an_import_asks_once_what_the_file_is"]
fn imports() {
    let file = memfd::create("t", 4096).unwrap();
    let (pipe, _writer) = rustix::pipe::pipe().unwrap();
    for file in [file.as_fd(), pipe.as_fd()] {
        mark();
        let _memory_or_refusal = Memory::import(file, CpuAccess::Read);
        mark();
    }
}

// S-CLS-07
#[test]
fn an_import_asks_once_what_the_file_is() {
    let Some(stretches) = stretches("imports", |_| None) else { return };
    for calls in &stretches {
        assert_eq!(count(calls, number::FSTATFS), 1, "{calls:#?}");
    }
    // Whether it is a file, and how long.
    assert_eq!(count(&stretches[0], number::FSTAT), 1, "{stretches:#?}");
    assert_eq!(stretches[1].len(), 1, "a refusal asks nothing else: {stretches:#?}");
}
