//! Fences of real dma-bufs: vgem's in the stock kernel of the test machine, sw_sync's in the small
//! one. Elsewhere each test says why it is skipped; `REQUIRE_BACKENDS=vgem` or `sw_sync` forbids it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    reason = "what goes wrong here fails a test"
)]

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
    path::Path,
    ptr, slice, thread,
    time::{Duration, Instant},
};

use rustix::{
    ioctl::{Opcode, Updater, ioctl, opcode},
    mm::{MapFlags, ProtFlags, mmap, munmap},
};
use tensor_core::{
    CpuAccess, Memory, TensorMemory,
    memory::{AllocPolicy, Fence, FenceError, Step},
};

const SHORT: Duration = Duration::from_millis(50);
/// A fence of vgem fails by itself after ten seconds; nothing here takes as long.
const LONG: Duration = Duration::from_secs(8);
const LEN: usize = 64 * 64 * 4;

/// Says why a test is skipped, unless `REQUIRE_BACKENDS` names what is missing.
fn missing(what: &str, why: &dyn std::fmt::Display) {
    #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
    let required = std::env::var("REQUIRE_BACKENDS").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == what), "{what} is required: {why}");
    println!("skipped: {what}: {why}");
}

/// A call whose argument the driver reads and writes.
///
/// # Safety
/// `CODE` must be the driver's, for a structure of `T`'s layout without pointers.
unsafe fn call<const CODE: Opcode, T>(device: impl AsFd, argument: &mut T) -> io::Result<()> {
    // SAFETY: by the caller's word.
    let updater = unsafe { Updater::<CODE, T>::new(argument) };
    // SAFETY: by the caller's word; the driver keeps nothing of the argument.
    Ok(unsafe { ioctl(device, updater) }?)
}

/// `struct drm_mode_create_dumb` (`drm/drm_mode.h`).
#[repr(C)]
#[derive(Default)]
struct CreateDumb {
    height: u32,
    width: u32,
    bpp: u32,
    flags: u32,
    handle: u32,
    pitch: u32,
    size: u64,
}

/// `struct drm_prime_handle` (`drm/drm.h`).
#[repr(C)]
struct PrimeHandle {
    handle: u32,
    flags: u32,
    fd: i32,
}

/// `struct drm_vgem_fence_attach` (`drm/vgem_drm.h`).
#[repr(C)]
#[derive(Default)]
struct FenceAttach {
    handle: u32,
    flags: u32,
    out_fence: u32,
    pad: u32,
}

/// `struct drm_vgem_fence_signal`.
#[repr(C)]
struct FenceSignal {
    fence: u32,
    flags: u32,
}

/// `struct sw_sync_create_fence_data` (`drivers/dma-buf/sw_sync.c`).
#[repr(C)]
struct SwSyncFence {
    value: u32,
    name: [u8; 32],
    fence: i32,
}

const CREATE_DUMB: Opcode = opcode::read_write::<CreateDumb>(b'd', 0xB2);
const PRIME_TO_FD: Opcode = opcode::read_write::<PrimeHandle>(b'd', 0x2D);
const ATTACH: Opcode = opcode::read_write::<FenceAttach>(b'd', 0x41);
const SIGNAL: Opcode = opcode::write::<FenceSignal>(b'd', 0x42);
const SW_SYNC_CREATE: Opcode = opcode::read_write::<SwSyncFence>(b'W', 0);
const SW_SYNC_INC: Opcode = opcode::write::<u32>(b'W', 1);

/// A buffer of vgem, a driver whose work is done when it is told so.
struct Vgem {
    device: File,
    handle: u32,
    buffer: OwnedFd,
}

impl Vgem {
    fn new() -> Option<Self> {
        let Some(path) = Self::node() else {
            missing("vgem", &"no /sys/class/drm/card* of it");
            return None;
        };
        let device = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(device) => device,
            Err(error) => {
                missing("vgem", &format_args!("{path}: {error}"));
                return None;
            }
        };
        let mut dumb = CreateDumb { height: 64, width: 64, bpp: 32, ..CreateDumb::default() };
        // SAFETY: the code and structure are those of `drm/drm_mode.h`.
        unsafe { call::<CREATE_DUMB, _>(&device, &mut dumb) }.unwrap();
        assert_eq!(usize::try_from(dumb.size), Ok(LEN));
        // `DRM_CLOEXEC | DRM_RDWR`.
        let mut prime = PrimeHandle { handle: dumb.handle, flags: 0o2_000_002, fd: -1 };
        // SAFETY: the code and structure are those of `drm/drm.h`.
        unsafe { call::<PRIME_TO_FD, _>(&device, &mut prime) }.unwrap();
        // SAFETY: the call gave a descriptor that nobody else owns yet.
        let buffer = unsafe { OwnedFd::from_raw_fd(prime.fd) };
        Some(Self { device, handle: dumb.handle, buffer })
    }

    fn node() -> Option<String> {
        fs::read_dir("/sys/class/drm").ok()?.find_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let device = fs::canonicalize(Path::new("/sys/class/drm").join(&name)).ok()?;
            let is_card = name.starts_with("card") && !name.contains('-');
            let is_vgem = device.to_str()?.contains("vgem");
            (is_card && is_vgem).then(|| format!("/dev/dri/{name}"))
        })
    }

    fn memory(&self) -> Memory {
        Memory::import(self.buffer.as_fd(), CpuAccess::ReadWrite).unwrap()
    }

    /// Begins work that reads, or writes, the buffer.
    fn begin(&self, writes: bool) -> u32 {
        let mut attach =
            FenceAttach { handle: self.handle, flags: u32::from(writes), ..FenceAttach::default() };
        // SAFETY: the code and structure are those of `drm/vgem_drm.h`.
        unsafe { call::<ATTACH, _>(&self.device, &mut attach) }.unwrap();
        attach.out_fence
    }

    fn end(&self, fence: u32) -> io::Result<()> {
        // SAFETY: the code and structure are those of `drm/vgem_drm.h`.
        unsafe { call::<SIGNAL, _>(&self.device, &mut FenceSignal { fence, flags: 0 }) }
    }

    /// Writes the buffer as a device would: without asking anybody.
    fn fill(&self, value: u8) {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel picks a free range.
        let start = unsafe {
            mmap(ptr::null_mut(), LEN, protection, MapFlags::SHARED, self.buffer.as_fd(), 0)
        }
        .unwrap();
        // SAFETY: the range is mapped, and nobody else uses it before the fence is signaled.
        unsafe { slice::from_raw_parts_mut(start.cast::<u8>(), LEN) }.fill(value);
        // SAFETY: mapped above.
        unsafe { munmap(start, LEN) }.unwrap();
    }
}

/// Descriptors of this process; each test has a process of its own.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn is_pending(memory: &Memory, access: CpuAccess) -> bool {
    memory.acquire_fence(access).unwrap().is_some()
}

#[test]
fn a_pending_write_times_out_and_after_its_signal_the_data_is_right() {
    let Some(vgem) = Vgem::new() else { return };
    let memory = vgem.memory();
    assert_eq!(memory.kind(), TensorMemory::DmaBuf);
    assert!(!is_pending(&memory, CpuAccess::ReadWrite), "nobody is at work on a new buffer");

    let work = vgem.begin(true);
    let fence = memory.acquire_fence(CpuAccess::Read).unwrap().unwrap();
    let begun = Instant::now();
    let error = fence.wait(SHORT).unwrap_err();
    assert!(matches!(error, FenceError::TimedOut { timeout: SHORT }), "{error:?}");
    assert!(begun.elapsed() >= SHORT && !fence.is_signaled().unwrap());
    assert!(matches!(fence.wait(Duration::ZERO), Err(FenceError::TimedOut { .. })));

    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(SHORT);
            vgem.fill(0x5A);
            vgem.end(work).unwrap();
        });
        fence.wait(LONG).unwrap();
        let map = memory.map(CpuAccess::Read).unwrap();
        assert!(map.iter().all(|byte| *byte == 0x5A));
    });
    assert!(fence.is_signaled().unwrap());
    assert!(!is_pending(&memory, CpuAccess::ReadWrite));
}

#[test]
fn who_reads_waits_for_writers_and_who_writes_for_all() {
    let Some(vgem) = Vgem::new() else { return };
    let memory = vgem.memory();
    let work = vgem.begin(false);
    assert!(!is_pending(&memory, CpuAccess::Read));
    assert!(is_pending(&memory, CpuAccess::Write) && is_pending(&memory, CpuAccess::ReadWrite));
    vgem.end(work).unwrap();
    assert!(!is_pending(&memory, CpuAccess::Write));
}

#[test]
fn a_device_that_goes_away_ends_the_wait() {
    let Some(vgem) = Vgem::new() else { return };
    let memory = vgem.memory();
    let _work = vgem.begin(true);
    let fence = memory.acquire_fence(CpuAccess::Read).unwrap().unwrap();
    drop(vgem);
    // vgem signals what it leaves behind, as done.
    fence.wait(LONG).unwrap();
}

#[test]
fn a_release_fence_makes_the_next_user_of_another_memory_wait() {
    let Some(vgem) = Vgem::new() else { return };
    let policy = AllocPolicy::from_steps([Step::DmaHeap, Step::Udmabuf]);
    let next = match policy.allocate(4096, CpuAccess::ReadWrite) {
        Ok(allocation) => allocation.memory,
        Err(error) => return missing("dma_buf", &error),
    };
    let work = vgem.begin(true);
    let fence = vgem.memory().acquire_fence(CpuAccess::Read).unwrap().unwrap();
    assert!(!is_pending(&next, CpuAccess::Read));
    next.import_fence(CpuAccess::Write, &fence).unwrap();
    let acquire = next.acquire_fence(CpuAccess::Read).unwrap().unwrap();
    assert!(matches!(acquire.wait(SHORT), Err(FenceError::TimedOut { .. })));
    vgem.end(work).unwrap();
    acquire.wait(LONG).unwrap();
    assert!(!is_pending(&next, CpuAccess::Read));
    let refused = next.import_fence(CpuAccess::None, &fence);
    assert!(matches!(refused, Err(FenceError::NoDirection)));
    let refused = Memory::heap(64).unwrap().import_fence(CpuAccess::Write, &fence);
    assert!(matches!(refused, Err(FenceError::NoFences { kind: TensorMemory::Mem })));
}

#[test]
fn descriptors_of_fences_are_owned_and_closed_once() {
    let Some(vgem) = Vgem::new() else { return };
    let memory = vgem.memory();
    let work = vgem.begin(true);
    let before = descriptors();
    for _ in 0..1000 {
        let fence = memory.acquire_fence(CpuAccess::Read).unwrap().unwrap();
        assert!(fence.wait(Duration::ZERO).is_err());
        memory.import_fence(CpuAccess::Write, &fence).unwrap();
        // What travels with a frame and comes back is the same fence.
        let number = fence.as_fd().as_raw_fd();
        let fence = Fence::try_from(OwnedFd::from(fence)).unwrap();
        assert_eq!(fence.as_fd().as_raw_fd(), number);
        assert_eq!(descriptors(), before + 1);
    }
    assert_eq!(descriptors(), before);
    vgem.end(work).unwrap();
    for _ in 0..1000 {
        assert!(!is_pending(&memory, CpuAccess::ReadWrite));
    }
    assert_eq!(descriptors(), before, "signaled ones are closed too");
}

/// The timeline of `sw_sync`, which moves when told to.
fn sw_sync() -> Option<File> {
    let path = "/sys/kernel/debug/sync/sw_sync";
    let timeline = OpenOptions::new().read(true).write(true).open(path);
    timeline.inspect_err(|error| missing("sw_sync", &format_args!("{path}: {error}"))).ok()
}

/// A fence that the timeline passes with its next step.
fn next_of(timeline: &File) -> Fence {
    let mut created = SwSyncFence { value: 1, name: [0; 32], fence: -1 };
    // SAFETY: the code and structure are those of `sw_sync.c`.
    unsafe { call::<SW_SYNC_CREATE, _>(timeline, &mut created) }.unwrap();
    // SAFETY: the call gave a descriptor that nobody else owns yet.
    Fence::try_from(unsafe { OwnedFd::from_raw_fd(created.fence) }).unwrap()
}

#[test]
fn work_that_fails_is_told_from_work_that_is_done() {
    let Some(timeline) = sw_sync() else { return };
    let fence = next_of(&timeline);
    assert!(matches!(fence.wait(SHORT), Err(FenceError::TimedOut { .. })));
    // A timeline that is closed fails what it had promised.
    drop(timeline);
    let error = fence.wait(LONG).unwrap_err();
    assert!(matches!(error, FenceError::Failed { .. }), "{error:?}");
}

#[test]
fn a_fence_of_another_driver_holds_a_heap_buffer() {
    let Some(timeline) = sw_sync() else { return };
    let memory = match AllocPolicy::from_steps([Step::DmaHeap]).allocate(LEN, CpuAccess::ReadWrite)
    {
        Ok(allocation) => allocation.memory,
        Err(error) => return missing("dma_buf", &error),
    };
    let fence = next_of(&timeline);
    memory.map(CpuAccess::Write).unwrap().as_mut_slice().unwrap().fill(0x5A);
    memory.import_fence(CpuAccess::Write, &fence).unwrap();
    let acquire = memory.acquire_fence(CpuAccess::Read).unwrap().unwrap();
    assert!(matches!(acquire.wait(SHORT), Err(FenceError::TimedOut { .. })));
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(SHORT);
            // SAFETY: the code and its number are those of `sw_sync.c`.
            unsafe { call::<SW_SYNC_INC, _>(&timeline, &mut 1_u32) }.unwrap();
        });
        acquire.wait(LONG).unwrap();
    });
    assert!(memory.map(CpuAccess::Read).unwrap().iter().all(|byte| *byte == 0x5A));
}
