//! What a pin holds, and what it leaves alone.

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    sync::Arc,
};

use super::*;
use crate::memory::{
    AllocPolicy,
    pbo::tests::{BUFFER, FakeGl},
};

fn pinned_kinds() -> Vec<Memory> {
    let mut all = vec![Memory::heap(8192).unwrap(), Memory::shm(8192).unwrap()];
    match AllocPolicy::dma_buf_only().allocate(8192, CpuAccess::ReadWrite) {
        Ok(allocation) => all.push(allocation.memory),
        Err(error) => {
            assert!(!is_required(), "required but missing: {error}");
            println!("skipped: {error}");
        }
    }
    all
}

fn is_required() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
    required.contains("dma_buf")
}

// S-PIN-01
#[test]
fn the_address_stays_and_outlives_every_other_handle() {
    for memory in pinned_kinds() {
        let pin = memory.pin_host(CpuAccess::ReadWrite).unwrap();
        let address = pin.as_ptr();
        assert_eq!(pin.len(), memory.len());
        for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
            let map = memory.map(access).unwrap();
            assert_eq!((map.as_ptr(), map.len()), (address.as_ptr().cast_const(), pin.len()));
        }
        drop(memory);
        pin.begin_cpu_access(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(7);
        assert!(pin.begin_cpu_access(CpuAccess::Read).unwrap().iter().all(|byte| *byte == 7));
        assert_eq!(pin.as_ptr(), address);
    }
}

// S-PIN-01, D-26
#[test]
fn a_pin_is_bounded_by_its_memory() {
    for memory in pinned_kinds() {
        let len = memory.len();
        let part = memory.pin_part(64..len, CpuAccess::Read).unwrap();
        assert_eq!(part.len(), len - 64);
        let whole = memory.pin_host(CpuAccess::Read).unwrap();
        assert_eq!(part.as_ptr().addr().get() - whole.as_ptr().addr().get(), 64);
        assert_eq!(part.begin_cpu_access(CpuAccess::Read).unwrap().len(), len - 64);
        #[expect(clippy::reversed_empty_ranges, reason = "what must be refused")]
        for past in [0..len + 1, 1 << 40..(1 << 40) + 1, usize::MAX..usize::MAX, 128..64] {
            let refused = memory.pin_part(past, CpuAccess::Read);
            assert!(matches!(refused, Err(MapError::Shorter { .. })), "{refused:?}");
        }
    }
}

// S-CPU-02
#[test]
fn a_pin_and_its_brackets_keep_to_what_was_declared() {
    let shm = Memory::shm(4096).unwrap();
    let all = [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite];
    for declared in CpuAccess::ALL.iter().copied() {
        let memory = Memory::import(shm.fd().unwrap(), declared).unwrap();
        for pinned in all {
            let pin = memory.pin_host(pinned);
            assert_eq!(pin.is_ok(), declared.covers(pinned), "{declared} {pinned}");
            let Ok(pin) = pin else {
                assert!(matches!(pin, Err(MapError::AccessDenied { .. })), "{pin:?}");
                continue;
            };
            for asked in all {
                let bracket = pin.begin_cpu_access(asked).map(drop);
                assert_eq!(bracket.is_ok(), pinned.covers(asked), "{pinned} {asked}");
                assert!(matches!(bracket, Ok(()) | Err(MapError::AccessDenied { .. })));
            }
        }
        assert!(memory.pin_host(CpuAccess::None).is_err());
    }
}

#[test]
fn a_pin_is_in_nobodys_way_and_a_bracket_is() {
    for memory in pinned_kinds() {
        let pins = [CpuAccess::ReadWrite; 2].map(|access| memory.pin_host(access).unwrap());
        let [one, other] = &pins;
        drop(memory.map(CpuAccess::Write).unwrap());
        let writer = one.begin_cpu_access(CpuAccess::Write).unwrap();
        let refused = other.begin_cpu_access(CpuAccess::Read);
        assert!(matches!(refused, Err(MapError::Busy { writer: true })), "{refused:?}");
        assert!(matches!(memory.map(CpuAccess::Read), Err(MapError::Busy { writer: true })));
        drop(writer);
        assert!(other.begin_cpu_access(CpuAccess::Read).is_ok());
    }
}

#[test]
fn a_panic_ends_a_bracket_and_not_the_pin() {
    for memory in pinned_kinds() {
        let pin = memory.pin_host(CpuAccess::ReadWrite).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _bracket = pin.begin_cpu_access(CpuAccess::ReadWrite).unwrap();
            panic!("while the CPU has access");
        }));
        assert!(panicked.is_err());
        assert!(pin.begin_cpu_access(CpuAccess::ReadWrite).is_ok());
    }
}

#[test]
fn a_pixel_buffer_is_not_pinned() {
    let gl = Arc::new(FakeGl::new(64));
    let memory = Memory::pbo(BUFFER, 64, gl, CpuAccess::ReadWrite).unwrap();
    let refused = memory.pin_host(CpuAccess::Read).unwrap_err();
    assert!(refused.to_string().contains("pbo"), "{refused}");
    assert!(memory.map(CpuAccess::Read).is_ok());
}

/// Traced by the test below: pins alone, then brackets in each direction, then one that panics.
#[test]
#[ignore = "run under strace by a_pin_makes_no_call_and_a_bracket_one_begin_and_one_end"]
fn traced() {
    let memory = pinned_kinds().pop().unwrap();
    let pins: Vec<_> = (0..100).map(|_| memory.pin_host(CpuAccess::ReadWrite).unwrap()).collect();
    let pin = &pins[0];
    for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
        drop(pin.begin_cpu_access(access).unwrap());
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _bracket = pin.begin_cpu_access(CpuAccess::Read).unwrap();
        panic!("while the CPU has access");
    }));
    assert!(panicked.is_err());
}

// S-PIN-01, S-MAP-04
#[test]
fn a_pin_makes_no_call_and_a_bracket_one_begin_and_one_end() {
    if pinned_kinds().len() < 3 {
        return;
    }
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=ioctl,mmap"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "memory::pin::tests::traced", "--ignored"])
        .output();
    let traced = match traced {
        Ok(traced) => traced,
        Err(error) => {
            assert!(!is_required(), "strace is required: {error}");
            println!("skipped: strace: {error}");
            return;
        }
    };
    let trace = String::from_utf8(traced.stderr).unwrap();
    assert!(traced.status.success(), "{trace}");
    // strace names the call, or shows its parts where it does not know it.
    let is_sync = |line: &&str| {
        line.contains("DMA_BUF_IOCTL_SYNC") || line.contains("_IOC(_IOC_WRITE, 0x62, 0, 0x8)")
    };
    let syncs: Vec<_> = trace.lines().filter(is_sync).collect();
    assert_eq!(syncs.len(), 8, "{syncs:#?}");
    // A hundred pins and four brackets share one mapping of the dma-buf: 8192 bytes, shared.
    let is_map = |line: &&str| line.contains("mmap(NULL, 8192") && line.contains("MAP_SHARED");
    assert_eq!(trace.lines().filter(is_map).count(), 1, "{trace}");
}

const fn assert_send_sync<T: Send + Sync>() {}
const _: () = assert_send_sync::<HostPin>();
