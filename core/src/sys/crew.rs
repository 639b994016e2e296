//! Threads that wait for work which borrows.
//!
//! `std::thread::scope` starts its threads anew each time. These are started once; handing them work
//! allocates nothing.

use std::{
    any::Any,
    io, mem,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// Work, told apart by a number.
pub type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// What the threads and who gives them work see.
#[derive(Default)]
struct State {
    work: Option<&'static Work<'static>>,
    /// Counts the works given.
    round: u64,
    /// Threads that have not done the present one.
    busy: usize,
    panic: Option<Box<dyn Any + Send>>,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    given: Condvar,
    done: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        on: &Condvar,
        state: MutexGuard<'a, State>,
        while_: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        on.wait_while(state, |state| while_(state)).unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does as long as there is the crew.
    fn serve(&self, number: usize) {
        let mut seen = 0;
        loop {
            let state = self.lock();
            let state = self.wait(&self.given, state, |s| s.round == seen && !s.ended);
            if state.ended {
                return;
            }
            seen = state.round;
            let work = state.work;
            drop(state);
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                if let Some(work) = work {
                    work(number);
                }
            }));
            let mut state = self.lock();
            state.panic = result.err().or(state.panic.take());
            state.busy = state.busy.saturating_sub(1);
            if state.busy == 0 {
                self.done.notify_one();
            }
        }
    }
}

/// The caller's thread and some more, which end with this.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    /// A crew of `size`, the caller's thread among them.
    ///
    /// # Errors
    /// That of the system when a thread cannot be started.
    pub fn new(size: usize) -> io::Result<Self> {
        let mut crew = Self { shared: Arc::default(), threads: Vec::new() };
        for number in 1..size {
            let shared = Arc::clone(&crew.shared);
            let named = thread::Builder::new().name(format!("tensor-{number}"));
            crew.threads.push(named.spawn(move || shared.serve(number))?);
        }
        Ok(crew)
    }

    /// Calls `work` with each number below the size, each on a thread of its own, and returns when
    /// all have returned. A panic of one goes on here.
    pub fn run(&mut self, work: &Work<'_>) {
        if self.threads.is_empty() {
            return work(0);
        }
        // SAFETY: only the lifetimes change. `rest` is dropped before this function is left, also by
        // a panic, and then no thread works any more and the reference is forgotten.
        let lent = unsafe { mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
        let rest = Rest(&self.shared);
        let mut state = self.shared.lock();
        state.work = Some(lent);
        state.round = state.round.wrapping_add(1);
        state.busy = self.threads.len();
        // One that was not told, because the caller's own came before it, is of no concern any more.
        state.panic = None;
        drop(state);
        self.shared.given.notify_all();
        work(0);
        drop(rest);
        let panic = self.shared.lock().panic.take();
        if let Some(panic) = panic {
            panic::resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.given.notify_all();
        for thread in self.threads.drain(..) {
            // Its panics were caught.
            let _ended = thread.join();
        }
    }
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

/// Waits, when dropped, until no thread works.
struct Rest<'a>(&'a Shared);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        let state = self.0.lock();
        let mut state = self.0.wait(&self.0.done, state, |state| state.busy > 0);
        state.work = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_number_works_once_every_time() {
        let mut crew = Crew::new(4).unwrap();
        let counts: [AtomicUsize; 4] = Default::default();
        for _ in 0..1000 {
            crew.run(&|number| {
                counts[number].fetch_add(1, Ordering::Relaxed);
            });
        }
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1000), "{counts:?}");
    }

    #[test]
    fn a_panic_of_any_goes_on_after_all_have_ended() {
        let mut crew = Crew::new(3).unwrap();
        for unlucky in 0..3 {
            let ended = AtomicUsize::new(0);
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                crew.run(&|number| {
                    assert!(number != unlucky, "unlucky {number}");
                    thread::sleep(std::time::Duration::from_millis(5));
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }));
            let panic = result.unwrap_err();
            assert_eq!(*panic.downcast::<String>().unwrap(), format!("unlucky {unlucky}"));
            assert_eq!(ended.load(Ordering::Relaxed), 2);
        }
        crew.run(&|_| ());
    }

    #[test]
    fn a_panic_beside_the_callers_own_is_not_told_by_the_next_work() {
        let mut crew = Crew::new(2).unwrap();
        let all = AssertUnwindSafe(|| crew.run(&|number| panic!("unlucky {number}")));
        let panic = panic::catch_unwind(all).unwrap_err();
        assert_eq!(*panic.downcast::<String>().unwrap(), "unlucky 0");
        crew.run(&|_| ());
    }
}
