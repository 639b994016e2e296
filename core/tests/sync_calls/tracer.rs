//! The system calls of another process, with what their arguments point to: `ptrace`, as `strace`
//! does it, for `strace` does not show the flags of `DMA_BUF_IOCTL_SYNC`.

use std::{
    ffi::{c_int, c_long, c_void},
    fs::File,
    io,
    os::unix::{fs::FileExt, process::CommandExt},
    process::Command,
    ptr,
};

unsafe extern "C" {
    fn ptrace(request: c_int, pid: i32, address: *mut c_void, data: *mut c_void) -> c_long;
    fn waitpid(pid: i32, status: *mut c_int, options: c_int) -> i32;
}

// `sys/ptrace.h`, `linux/ptrace.h`.
const TRACEME: c_int = 0;
const POKEUSER: c_int = 6;
const SYSCALL: c_int = 24;
const SETOPTIONS: c_int = 0x4200;
const GET_SYSCALL_INFO: c_int = 0x420e;
const TRACESYSGOOD: usize = 1;
const TRACECLONE: usize = 8;
const EXITKILL: usize = 0x10_0000;
// `bits/waitflags.h`, `bits/signum.h`.
const WALL: c_int = 0x4000_0000;
const SIGTRAP: c_int = 5;
const SIGSTOP: c_int = 19;

/// `struct ptrace_syscall_info` at the entry of a call.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    op: u8,
    arch: u32,
    instruction: u64,
    stack: u64,
    number: u64,
    arguments: [u64; 6],
}

/// `PTRACE_SYSCALL_INFO_ENTRY`.
const ENTRY: u8 = 1;
/// `PTRACE_SYSCALL_INFO_EXIT`.
const EXIT: u8 = 2;

/// A system call that the traced process made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Syscall {
    pub(crate) thread: i32,
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
    /// The word that the third argument points to, where it is an address.
    pub(crate) word: Option<u64>,
}

/// Runs `command` and gives back its calls in order. Where `answer` gives an errno for a call, the
/// process is told that instead of what the kernel answered.
pub(crate) fn trace(
    command: &mut Command,
    mut answer: impl FnMut(&Syscall) -> Option<u16>,
) -> io::Result<Vec<Syscall>> {
    // SAFETY: the closure makes one system call.
    let child = unsafe { command.pre_exec(|| request(TRACEME, 0, 0, 0)) }.spawn()?;
    let child = i32::try_from(child.id()).map_err(io::Error::other)?;
    wait(child)?;
    request(SETOPTIONS, child, 0, TRACESYSGOOD | TRACECLONE | EXITKILL)?;
    request(SYSCALL, child, 0, 0)?;
    let mut calls: Vec<Syscall> = Vec::new();
    loop {
        let (thread, status) = wait(-1)?;
        if status & 0xff != 0x7f {
            if thread != child {
                continue;
            }
            return if status == 0 { Ok(calls) } else { Err(failed(status)) };
        }
        let (signal, event) = ((status >> 8) & 0xff, status >> 16);
        let mut delivered = 0;
        if signal == SIGTRAP | 0x80 {
            let info = syscall_info(thread)?;
            let begun = calls.iter().rfind(|call| call.thread == thread);
            match info.op {
                ENTRY => calls.push(syscall(thread, &info)),
                EXIT => begun.and_then(&mut answer).map_or(Ok(()), |errno| tell(thread, errno))?,
                _ => {}
            }
        } else if event == 0 && signal != SIGSTOP && signal != SIGTRAP {
            delivered = usize::try_from(signal).map_err(io::Error::other)?;
        }
        request(SYSCALL, thread, 0, delivered)?;
    }
}

fn failed(status: c_int) -> io::Error {
    io::Error::other(format!("the traced process ended with status {status:#x}"))
}

fn request(request: c_int, pid: i32, address: usize, data: usize) -> io::Result<()> {
    let (address, data) = (ptr::without_provenance_mut(address), ptr::without_provenance_mut(data));
    // SAFETY: the requests made here take numbers, and write nothing in this process.
    if unsafe { ptrace(request, pid, address, data) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn wait(pid: i32) -> io::Result<(i32, c_int)> {
    let mut status = 0;
    // SAFETY: there is place for the status.
    match unsafe { waitpid(pid, &raw mut status, WALL) } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok((pid, status)),
    }
}

fn syscall_info(thread: i32) -> io::Result<SyscallInfo> {
    let mut info = SyscallInfo::default();
    let size = ptr::without_provenance_mut(size_of::<SyscallInfo>());
    // SAFETY: the kernel writes at most `size` bytes to the structure, which are numbers.
    if unsafe { ptrace(GET_SYSCALL_INFO, thread, size, (&raw mut info).cast()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(info)
}

fn syscall(thread: i32, info: &SyscallInfo) -> Syscall {
    let mut word = [0; 8];
    let memory = File::open(format!("/proc/{thread}/mem"));
    let read = memory.and_then(|memory| memory.read_exact_at(&mut word, info.arguments[2]));
    let word = read.is_ok().then(|| u64::from_ne_bytes(word));
    Syscall { thread, number: info.number, arguments: info.arguments, word }
}

/// Tells a thread that stands at the end of a call that the call failed.
fn tell(thread: i32, errno: u16) -> io::Result<()> {
    // `struct user_regs_struct` of `sys/user.h`: `rax` is the eleventh word.
    const RAX: usize = 10 * size_of::<u64>();
    if !cfg!(target_arch = "x86_64") {
        return Err(io::Error::other("the answer is in another register here"));
    }
    request(POKEUSER, thread, RAX, usize::from(errno).wrapping_neg())
}
