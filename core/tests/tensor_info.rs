//! `tensor-info`, as a user runs it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

use std::{
    fs,
    process::{Command, Output},
};

use tensor_core::{
    CpuAccess, ImageLayout, Memory, PixelFormat, StrideAlign, TensorDyn, transfer::describe,
};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tensor-info")).args(arguments).output().unwrap()
}

#[test]
fn every_memory_is_there_or_has_a_reason() {
    let output = run(&[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for kind in ["dma-heap", "udmabuf", "shm", "heap"] {
        let line = text.lines().find(|line| line.get(5..).is_some_and(|l| l.starts_with(kind)));
        let line = line.unwrap_or_else(|| panic!("{kind} in {text}"));
        assert!(line.starts_with("yes") || line.contains("error"), "{line}");
    }
}

#[test]
fn a_blob_is_told_and_a_broken_one_refused() {
    let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::DMA).unwrap();
    let memory = Memory::shm(layout.allocation_len(0)).unwrap();
    let tensor = TensorDyn::from_image(layout, [memory], CpuAccess::Read).unwrap();
    let blob = describe(&tensor, &[0]).unwrap();
    let directory = std::env::temp_dir().join(format!("tensor-info-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let (whole, cut) = (directory.join("whole"), directory.join("cut"));
    fs::write(&whole, &blob).unwrap();
    fs::write(&cut, &blob[..blob.len() - 8]).unwrap();

    let told = run(&[whole.to_str().unwrap()]);
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success());
    for fact in ["NV12", "[480, 640]", "shm", "offset 307200"] {
        assert!(text.contains(fact), "{fact} in {text}");
    }
    let refused = run(&[cut.to_str().unwrap()]);
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("cut"));
    fs::remove_dir_all(&directory).unwrap();
}
