//! A whole GL side: a thread with a context of its own, buffers on it, and a weak way there.
//!
//! It is OpenGL in software where there is no GPU (Mesa's), so that what the fake of `memory::pbo`
//! says of GL is also seen of GL.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    reason = "what goes wrong here fails a test; not every test file calls everything"
)]

pub(crate) mod calls;
pub(crate) mod context;

use std::{
    collections::HashMap,
    env,
    ptr::NonNull,
    sync::{
        Arc, Mutex, Weak,
        atomic::AtomicPtr,
        mpsc::{Sender, channel, sync_channel},
    },
    thread::{self, JoinHandle},
};

use tensor_core::{
    CpuAccess, Memory,
    memory::{PboError, PboOps},
};

use self::{calls::Api, context::Gl};

type Call = Box<dyn FnOnce(&Gl) + Send>;

/// The owner of a GL thread, which ends with it, or with the last map if that is later.
#[derive(Debug)]
pub(crate) struct GlSide {
    /// The thread, and what keeps it; gone once the thread was given up.
    own: Option<(JoinHandle<()>, Arc<Sender<Call>>)>,
    ops: Arc<WeakOps>,
}

impl Drop for GlSide {
    /// Waits for the thread, unless a map still needs it: GL libraries abort when the process ends
    /// while a thread is about to give its context up.
    fn drop(&mut self) {
        let Some((thread, calls)) = self.own.take() else { return };
        drop(calls);
        if self.ops.mapped.lock().is_ok_and(|mapped| mapped.is_empty()) {
            let _ended = thread.join();
        }
    }
}

/// Makes `call` on the thread that `calls` leads to and brings its answer back. A thread that is gone
/// has dropped its end of the channel, and with it every call it did not make.
fn ask<T: Send + 'static>(
    calls: &Sender<Call>,
    call: impl FnOnce(&Gl) -> T + Send + 'static,
) -> Result<T, PboError> {
    let (answer, answered) = sync_channel(1);
    let call = move |gl: &Gl| answer.send(call(gl)).unwrap();
    calls.send(Box::new(call)).map_err(|_| PboError::Disconnected)?;
    answered.recv().map_err(|_| PboError::Disconnected)
}

impl GlSide {
    /// A thread with a current context, or why there is none.
    pub(crate) fn start(api: Api) -> Result<Self, String> {
        let (calls, received) = channel::<Call>();
        let (ready, is_ready) = sync_channel(1);
        let thread = thread::spawn(move || match Gl::new(api) {
            Ok(gl) => {
                ready.send(Ok(())).unwrap();
                received.into_iter().for_each(|call| call(&gl));
            }
            Err(error) => ready.send(Err(format!("{}: {error}", api.name))).unwrap(),
        });
        is_ready.recv().unwrap()?;
        let calls = Arc::new(calls);
        let ops = WeakOps { calls: Arc::downgrade(&calls), mapped: Mutex::default() };
        Ok(Self { own: Some((thread, calls)), ops: Arc::new(ops) })
    }

    /// A GL side, or a spoken skip; `REQUIRE_BACKENDS` naming `gl` forbids the skip.
    pub(crate) fn get(api: Api) -> Option<Self> {
        match Self::start(api) {
            Ok(side) => Some(side),
            Err(error) => {
                #[expect(clippy::disallowed_methods, reason = "the switch is for tests")]
                let required = env::var("REQUIRE_BACKENDS").unwrap_or_default();
                assert!(!required.split(',').any(|name| name == "gl"), "gl is required: {error}");
                println!("skipped: gl: {error}");
                None
            }
        }
    }

    /// Makes a call on the GL thread.
    pub(crate) fn run<T: Send + 'static>(&self, call: impl FnOnce(&Gl) -> T + Send + 'static) -> T {
        let (_, calls) = self.own.as_ref().unwrap();
        ask(calls, call).unwrap()
    }

    /// A memory of a new buffer object of `len` bytes of 0xEE, and the buffer's name.
    pub(crate) fn memory(&self, len: usize, access: CpuAccess) -> (u32, Memory) {
        let buffer = self.run(move |gl| gl.buffer(&vec![0xEE; len]));
        (buffer, Memory::pbo(buffer, len, self.ops.clone(), access).unwrap())
    }

    /// The way to the thread that memories have: it does not keep the thread.
    pub(crate) fn ops(&self) -> Arc<dyn PboOps> {
        self.ops.clone()
    }

    /// Gives the thread up. It ends by itself, at once when nothing is mapped.
    pub(crate) fn end(mut self) -> JoinHandle<()> {
        self.own.take().unwrap().0
    }
}

/// The way to a GL thread that lives as long as its owner, and while a map needs it.
#[derive(Debug)]
struct WeakOps {
    calls: Weak<Sender<Call>>,
    /// What keeps the thread until a map's bytes are no longer needed.
    mapped: Mutex<HashMap<u32, Arc<Sender<Call>>>>,
}

// SAFETY: an address is what `glMapBufferRange` gave for these bytes and directions. Addresses are
// the process's; GL unmaps them by `unmap` alone, for until then the map's own way to the thread
// keeps the thread and its context. What the tests ask of GL meanwhile leaves the buffer alone.
unsafe impl PboOps for WeakOps {
    fn map(&self, buffer: u32, len: usize, access: CpuAccess) -> Result<NonNull<u8>, PboError> {
        let calls = self.calls.upgrade().ok_or(PboError::Disconnected)?;
        // An atomic, for a pointer does not go from thread to thread.
        let map = move |gl: &Gl| gl.map(buffer, len, access).map(AtomicPtr::new);
        let start = NonNull::new(ask(&calls, map)??.into_inner());
        let start = start.ok_or(PboError::Disconnected)?;
        self.mapped.lock().unwrap().insert(buffer, calls);
        Ok(start)
    }

    fn unmap(&self, buffer: u32) -> Result<(), PboError> {
        let calls = self.mapped.lock().unwrap().remove(&buffer).ok_or(PboError::Disconnected)?;
        ask(&calls, move |gl| gl.unmap(buffer))?
    }

    fn delete(&self, buffer: u32) {
        if let Some(calls) = self.calls.upgrade() {
            // Refused by a thread that is gone: the context took the buffer along.
            let _sent = calls.send(Box::new(move |gl| gl.delete(buffer)));
        }
    }
}
