//! A thread that has a GL context, and the way of memories to it.
//!
//! The thread's owner holds the only lasting sender. A memory holds a weak one, made strong for the
//! time of a call and for as long as a buffer is mapped; so the thread ends when its owner is gone
//! and nothing is mapped, and until then no mapped address dies.

use std::{
    collections::HashMap,
    fmt,
    ptr::NonNull,
    sync::{
        Arc, Mutex, Weak,
        mpsc::{self, Receiver, Sender},
    },
    thread,
};

use tensor_core::{
    CpuAccess, Memory,
    memory::{PboError, PboOps},
};

/// What a context can do, on its thread.
pub(crate) trait Gl {
    fn create(&mut self, len: usize) -> Result<u32, PboError>;
    fn map(&mut self, buffer: u32, len: usize) -> Result<NonNull<u8>, PboError>;
    fn unmap(&mut self, buffer: u32) -> Result<(), PboError>;
    fn delete(&mut self, buffer: u32);
    fn live(&self) -> usize;
    fn copy_through_a_texture(
        &mut self,
        buffers: [u32; 2],
        size: (usize, usize),
        pitch: Pitch,
    ) -> Result<(), PboError>;
}

/// A stride in GL's words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pitch {
    /// `GL_PACK_ROW_LENGTH` and `GL_UNPACK_ROW_LENGTH`, in pixels.
    pub(crate) row_length: usize,
    /// `GL_PACK_ALIGNMENT` and `GL_UNPACK_ALIGNMENT`, in bytes.
    pub(crate) alignment: usize,
}

impl Pitch {
    /// How GL is told that rows of `width` pixels of three bytes begin `stride` bytes apart; `None`
    /// when it cannot be.
    pub(crate) fn of(width: usize, stride: usize) -> Option<Self> {
        let row_length = stride / 3;
        if row_length < width {
            return None;
        }
        let is_stride = |alignment: &usize| (row_length * 3).next_multiple_of(*alignment) == stride;
        let alignment = [1, 2, 4, 8].into_iter().find(is_stride)?;
        Some(Self { row_length, alignment })
    }
}

type Call = Box<dyn FnOnce(&mut dyn Gl) + Send>;
type Way = Arc<Sender<Call>>;

/// The owner of the thread.
pub(crate) struct GlThread {
    _way: Way,
    ops: Arc<Ops>,
    ended: Receiver<()>,
}

impl GlThread {
    /// Starts a thread with the context that `make` makes on it.
    pub(crate) fn start(
        make: impl FnOnce() -> Result<Box<dyn Gl>, String> + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, calls) = mpsc::channel::<Call>();
        let (ready, is_ready) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        thread::spawn(move || {
            let mut gl = match make() {
                Ok(gl) => gl,
                Err(why) => return ready.send(Err(why)).unwrap(),
            };
            ready.send(Ok(())).unwrap();
            calls.iter().for_each(|call| call(&mut *gl));
            drop(gl);
            let _heard = end.send(());
        });
        is_ready.recv().unwrap()?;
        let way = Arc::new(sender);
        let ops = Arc::new(Ops { way: Arc::downgrade(&way), mapped: Mutex::default() });
        Ok(Self { _way: way, ops, ended })
    }

    pub(crate) fn ops(&self) -> Arc<Ops> {
        self.ops.clone()
    }

    /// Where the thread's end is told.
    pub(crate) fn ended(&self) -> EndOf {
        EndOf(self.ops.way.clone())
    }
}
