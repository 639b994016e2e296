//! What a map of a dma-buf asks the kernel, counted by `strace`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "what goes wrong here fails a test")]

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
};

use tensor_core::{CpuAccess, memory::AllocPolicy};

/// Maps, traced by the test below: three directions, then a reader that panics.
#[test]
#[ignore = "run under strace by one_begin_and_one_end_a_map"]
fn traced() {
    let allocation = AllocPolicy::dma_buf_only().allocate(4096, CpuAccess::ReadWrite);
    let memory = allocation.unwrap().memory;
    for access in [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite] {
        drop(memory.map(access).unwrap());
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _map = memory.map(CpuAccess::Read).unwrap();
        panic!("while mapped");
    }));
    assert!(panicked.is_err());
}

// S-MAP-04, S-DISP-01
#[test]
fn one_begin_and_one_end_a_map() {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let is_required = env::var("REQUIRE_BACKENDS").unwrap_or_default().contains("dma_buf");
    if let Err(error) = AllocPolicy::dma_buf_only().allocate(4096, CpuAccess::Read) {
        assert!(!is_required, "required but missing: {error}");
        println!("skipped: {error}");
        return;
    }
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=ioctl,mmap"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "traced", "--ignored"])
        .output();
    let traced = match traced {
        Ok(traced) => traced,
        Err(error) => {
            assert!(!is_required, "strace is required: {error}");
            println!("skipped: strace: {error}");
            return;
        }
    };
    assert!(traced.status.success(), "{}", String::from_utf8_lossy(&traced.stderr));
    let trace = String::from_utf8(traced.stderr).unwrap();
    // strace names the flags, or shows the structure's bytes where it does not know the call.
    let calls: Vec<_> = trace
        .lines()
        .filter(|line| {
            line.contains("DMA_BUF_IOCTL_SYNC") || line.contains("_IOC(_IOC_WRITE, 0x62, 0, 0x8)")
        })
        .collect();
    assert_eq!(calls.len(), 8, "{calls:#?}");
}
