//! CUDA as a process meets it: absent, or a library found by its name. The library is a stand-in
//! that `cc` makes; the tests of `memory::cuda` say the rest with functions of their own.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what goes wrong here fails a test"
)]

use std::{
    env,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::{Command, Output},
    ptr::NonNull,
    sync::Arc,
};

use tensor_core::{
    CpuAccess, Memory,
    memory::{CudaError, CudaGlOps, FileIdentity, PboError, PboOps, is_cuda_available},
    sys::{
        cuda::{ExternalBuffer, LIBRARY_NAMES, Runtime},
        memfd,
    },
};

/// A CUDA runtime that says on standard error what it is asked.
const LIBRARY: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
struct handle_desc { int type; union { int fd; struct { void *handle; const void *name; } win32;
    const void *nv; } handle; unsigned long long size; unsigned int flags; };
struct buffer_desc { unsigned long long offset; unsigned long long size; unsigned int flags; };
#define SAY(...) dprintf(2, "cuda: " __VA_ARGS__)
static int owned;
const char *cudaGetErrorString(int code) { return "the fake refuses"; }
int cudaGetLastError(void) { SAY("last error\n"); return 0; }
int cudaFree(void *p) { SAY("free %zx\n", (size_t)p); return 0; }
int cudaImportExternalMemory(void **out, const struct handle_desc *d) {
    SAY("import type %d size %llu flags %u\n", d->type, d->size, d->flags);
    if (d->size == 13) return 801;
    owned = d->handle.fd; *out = &owned; return 0; }
int cudaExternalMemoryGetMappedBuffer(void **p, void *m, const struct buffer_desc *d) {
    SAY("mapped buffer at %llu size %llu flags %u\n", d->offset, d->size, d->flags);
    *p = (void *)0xd000; return m == &owned ? 0 : 1; }
int cudaDestroyExternalMemory(void *m) { int r = close(*(int *)m); SAY("destroy, close %d\n", r); return r; }
int cudaGraphicsGLRegisterBuffer(void **r, unsigned int buffer, unsigned int flags) {
    SAY("register %u flags %u\n", buffer, flags); *r = (void *)7; return 0; }
int cudaGraphicsMapResources(int n, void **r, void *s) { SAY("map %d %zx\n", n, (size_t)*r); return 0; }
int cudaGraphicsResourceGetMappedPointer(void **p, size_t *len, void *r) {
    SAY("pointer of %zx\n", (size_t)r); *p = (void *)0xe000; *len = 64; return 0; }
int cudaGraphicsUnmapResources(int n, void **r, void *s) { SAY("unmap %d %zx\n", n, (size_t)*r); return 0; }
int cudaGraphicsUnregisterResource(void *r) { SAY("unregister %zx\n", (size_t)r); return 0; }
"#;

/// A GL side that is none, on the thread that asks.
#[derive(Debug)]
struct NoGl;

// SAFETY: nothing is ever mapped for the CPU.
unsafe impl PboOps for NoGl {
    fn map(&self, _: u32, _: usize, _: CpuAccess) -> Result<NonNull<u8>, PboError> {
        Err(PboError::Disconnected)
    }

    fn unmap(&self, _: u32) -> Result<(), PboError> {
        Ok(())
    }

    fn delete(&self, buffer: u32) {
        eprintln!("cuda: GL deletes {buffer}");
    }

    fn cuda(&self) -> Option<Arc<dyn CudaGlOps>> {
        Some(Arc::new(Self))
    }
}

// SAFETY: the stand-in needs no context.
unsafe impl CudaGlOps for NoGl {
    fn run(&self, call: &mut (dyn FnMut() + Send)) -> Result<(), CudaError> {
        call();
        Ok(())
    }
}

/// Runs the ignored test `name` of this file in a process that looks for libraries in `directory`.
fn run_beside(directory: &Path, name: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", directory)
        .output()
        .unwrap()
}

/// Makes a library of `source` in a folder of its own; says aloud when there is no compiler.
fn build(file: &str, source: &str) -> Option<tempdir::Folder> {
    let folder = tempdir::Folder::new();
    let code = folder.path().join("fake.c");
    std::fs::write(&code, source).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.path().join(file))
        .arg(&code)
        .status();
    match built {
        Ok(status) => assert!(status.success(), "cc: {status}"),
        Err(error) => {
            println!("skipped: cc: {error}");
            return None;
        }
    }
    Some(folder)
}

/// A folder that is removed when dropped.
mod tempdir {
    use std::{
        env, fs,
        path::PathBuf,
        process,
        sync::atomic::{AtomicU32, Ordering},
    };

    pub(crate) struct Folder(PathBuf);

    impl Folder {
        pub(crate) fn new() -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("cuda-fake-{}-{n}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        pub(crate) fn path(&self) -> &std::path::Path {
            &self.0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _removed = fs::remove_dir_all(&self.0);
        }
    }
}

fn memfd() -> OwnedFd {
    memfd::create("t", 64).unwrap()
}

// S-CUDA-01, G19, S-PBO-01
#[test]
fn without_the_library_the_thousandth_call_answers_like_the_first() {
    let first = is_cuda_available();
    let tried = Runtime::names_tried();
    assert!((1..=LIBRARY_NAMES.len()).contains(&tried));
    if first {
        println!("skipped: this machine has CUDA, so its absence cannot be tried");
        return;
    }
    let memory = Memory::pbo(42, 64, Arc::new(NoGl), CpuAccess::Read).unwrap();
    for _ in 0..1000 {
        assert!(!is_cuda_available());
        let refused = memory.cuda_map();
        assert!(matches!(refused, Err(CudaError::Unavailable)), "{refused:?}");
        assert!(memory.cuda().is_none());
    }
    assert_eq!(Runtime::names_tried(), tried, "each name is tried once in the process");
    assert_eq!(tried, LIBRARY_NAMES.len());
}

// S-CUDA-02, S-PBO-01
#[test]
fn nothing_is_linked_to_cuda_or_gl() {
    let exe = env::current_exe().unwrap();
    let output = match Command::new("readelf").arg("--dynamic").arg(exe).output() {
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
        Err(error) => {
            println!("skipped: readelf: {error}");
            return;
        }
    };
    let needed: Vec<_> = output.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(needed.iter().any(|line| line.contains("libc.so")), "{output}");
    for library in ["cuda", "libGL", "libEGL", "libOpenGL"] {
        assert!(!needed.iter().any(|line| line.contains(library)), "{needed:?}");
    }
}

// S-CUDA-04, S-CUDA-05, S-CUDA-06, G19
#[test]
fn a_library_found_by_name_is_called_as_its_headers_say() {
    let Some(folder) = build("libcudart.so.12", LIBRARY) else { return };
    let output = run_beside(folder.path(), "beside_the_library");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
    let calls: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("cuda: ")).collect();
    let expected = [
        "import type 1 size 64 flags 0",
        "mapped buffer at 0 size 64 flags 0",
        "free d000",
        "destroy, close 0",
        "import type 1 size 13 flags 0",
        "last error",
        "register 42 flags 0",
        "map 1 7",
        "pointer of 7",
        "unmap 1 7",
        "unregister 7",
        "GL deletes 42",
    ];
    assert_eq!(calls, expected, "{text}");
}

#[test]
#[ignore = "run by a_library_found_by_name_is_called_as_its_headers_say"]
fn beside_the_library() {
    let Some(runtime) = Runtime::get() else { panic!("the library was not found") };
    assert!(is_cuda_available() && Runtime::names_tried() <= LIBRARY_NAMES.len());

    let ours = memfd();
    let buffer = ExternalBuffer::import(runtime, ours.try_clone().unwrap(), 64).unwrap();
    assert_eq!((buffer.pointer().addr().get(), buffer.len()), (0xD000, 64));
    drop(buffer);
    let given = ours.try_clone().unwrap();
    let error = ExternalBuffer::import(runtime, given, 13).unwrap_err();
    assert_eq!((error.code, &*error.text), (801, "the fake refuses"));
    assert!(FileIdentity::of(ours.as_fd()).is_ok());

    let memory = Memory::pbo(42, 64, Arc::new(NoGl), CpuAccess::None).unwrap();
    let map = memory.cuda_map().unwrap();
    assert_eq!((map.device_ptr().addr(), map.len()), (0xE000, 64));
}

// S-CUDA-01
#[test]
fn a_library_that_lacks_a_function_is_no_cuda() {
    let old = "int cudaGetLastError(void) { return 0; }";
    let Some(folder) = build("libcudart.so", old) else { return };
    let output = run_beside(folder.path(), "beside_an_old_library");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "run by a_library_that_lacks_a_function_is_no_cuda"]
fn beside_an_old_library() {
    let memory = Memory::pbo(42, 64, Arc::new(NoGl), CpuAccess::None).unwrap();
    match memory.cuda_map().map(drop) {
        Err(CudaError::Unavailable) => assert!(!is_cuda_available()),
        // A whole library under a later name is still found.
        answer => assert!(is_cuda_available(), "{answer:?}"),
    }
}
