//! Says which memories this machine gives, and for each that it does not, why and what to do; or
//! what a tensor blob in a file says.
//!
//! ```sh
//! tensor-info            # the machine
//! tensor-info FILE...    # blobs
//! ```

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "a program for a terminal, with advice on a few of many answers"
)]

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::ExitCode,
};

use tensor_core::{
    BlobView, CpuAccess,
    memory::{AllocPolicy, Step},
    sys::{dma_heap, udmabuf},
};

fn main() -> ExitCode {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    if files.is_empty() {
        machine();
        return ExitCode::SUCCESS;
    }
    let mut status = ExitCode::SUCCESS;
    for file in files {
        let path = Path::new(&file);
        match fs::read(path).map_err(|error| error.to_string()).and_then(|bytes| blob(&bytes)) {
            Ok(text) => println!("{}:\n{text}", path.display()),
            Err(error) => {
                eprintln!("tensor-info: {}: {error}", path.display());
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}

/// Tries every memory once, with one page.
fn machine() {
    match dma_heap::list(Path::new(dma_heap::DIRECTORY)) {
        Ok(heaps) if heaps.is_empty() => {
            say("dma-heap", &Err(io::ErrorKind::NotFound.into()), None);
        }
        Ok(heaps) => {
            for heap in heaps {
                let gave = dma_heap::allocate(&heap, 1).map(|_| ());
                say(&format!("dma-heap {}", heap.display()), &gave, Some(&heap));
            }
        }
        Err(error) => say(
            &format!("dma-heap {}", dma_heap::DIRECTORY),
            &Err(error),
            Some(Path::new(dma_heap::DIRECTORY)),
        ),
    }
    let device = Path::new(udmabuf::PATH);
    say(&format!("udmabuf {}", udmabuf::PATH), &udmabuf::allocate(1).map(|_| ()), Some(device));
    for (name, step) in [("shm (memfd)", Step::Memfd), ("heap", Step::Heap)] {
        let gave = AllocPolicy::from_steps([step]).allocate(1, CpuAccess::ReadWrite);
        say(name, &gave.map(|_| ()).map_err(io::Error::other), None);
    }
}

fn say(what: &str, gave: &io::Result<()>, node: Option<&Path>) {
    match gave {
        Ok(()) => println!("yes  {what}"),
        Err(error) => {
            println!("no   {what}: {error}");
            if let Some(advice) = node.and_then(|node| advice(node, error)) {
                println!("     {advice}");
            }
        }
    }
}

/// What to do about an answer of the system.
fn advice(node: &Path, error: &io::Error) -> Option<String> {
    let is_heap = node.starts_with(dma_heap::DIRECTORY);
    match error.kind() {
        io::ErrorKind::NotFound if is_heap => Some(
            "the kernel was built without CONFIG_DMABUF_HEAPS, or with no heap in it \
             (CONFIG_DMABUF_HEAPS_SYSTEM, CONFIG_DMABUF_HEAPS_CMA)"
                .to_owned(),
        ),
        io::ErrorKind::NotFound => {
            Some("load the module udmabuf, or build the kernel with CONFIG_UDMABUF".to_owned())
        }
        io::ErrorKind::PermissionDenied => {
            let metadata = fs::metadata(node).ok()?;
            Some(format!(
                "the node is of user {} and group {}, mode {:04o}: give it to a group of yours by a \
                 udev rule",
                metadata.uid(),
                metadata.gid(),
                metadata.permissions().mode() & 0o7777
            ))
        }
        io::ErrorKind::OutOfMemory => {
            Some("the heap is full or too small: boot with a larger cma=".to_owned())
        }
        _ => None,
    }
}

/// A blob as text, a line a fact.
fn blob(bytes: &[u8]) -> Result<String, String> {
    let view = BlobView::parse(bytes).map_err(|error| error.to_string())?;
    let mut lines = vec![
        format!("  bytes       {}", view.as_bytes().len()),
        format!("  memory      {}", view.storage_kind()),
        format!("  producer    pid {}, fence {:?}", view.pid(), view.fence_fd()),
        format!("  dtype       {}", view.dtype()),
        format!("  shape       {:?}", view.shape().collect::<Vec<_>>()),
        match view.strides() {
            Some(strides) => format!("  strides     {:?} bytes", strides.collect::<Vec<_>>()),
            None => "  strides     dense".to_owned(),
        },
        format!("  format      {}", view.format().map_or("none", |format| format.name())),
        format!("  colour      {:?}", view.colorimetry()),
    ];
    if view.quant_scales().len() > 0 {
        lines.push(format!(
            "  quantized   axis {}, scales {:?}, zero points {:?}",
            view.quant_axis(),
            view.quant_scales().collect::<Vec<_>>(),
            view.quant_zero_points().collect::<Vec<_>>()
        ));
    }
    for (index, plane) in view.planes().enumerate() {
        let place = if plane.is_inline() {
            format!("inline, {} bytes", plane.data.len())
        } else {
            format!("memory {} offset {}", plane.handle, plane.offset)
        };
        lines.push(format!(
            "  plane {index}     {place}, stride {}, {} bytes, {} used, modifier {:#x}",
            plane.stride, plane.size, plane.used, plane.modifier
        ));
    }
    Ok(lines.join("\n"))
}
