//! Threads beside an engine's own. They stay off the cores that engines are pinned to.
//!
//! A thread inherits the cores of the one that starts it, so a helper of a pinned engine would run on that engine's
//! core alone, and push it off whenever it has work; one that was started before may be put there by the system.
//! [`spawn`] and [`pin`] know of each other: whichever comes first, the helper has all other cores.
#![forbid(unsafe_code)]

use std::io;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// All helpers of this process, and the cores that are not theirs.
static STATE: Mutex<State> = Mutex::new(State {
    pinned: Vec::new(),
    helpers: Vec::new(),
});

struct State {
    /// The core of each engine, and the cores that its thread had before.
    pinned: Vec<(usize, CpuSet)>,
    helpers: Vec<Pid>,
}

/// Starts a helper.
///
/// # Errors
///
/// The system gives no thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(move || {
        let _helper = Helper::begin();
        work()
    })
}

/// Does the one thing as a helper, and the other meanwhile here. A panic of either is a panic here.
///
/// # Errors
///
/// The system gives no thread.
pub fn beside<A: Send, B>(
    name: &str,
    there: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> io::Result<(A, B)> {
    thread::scope(|scope| {
        let helper = Builder::new().name(name.to_owned());
        let helper = helper.spawn_scoped(scope, move || {
            let _helper = Helper::begin();
            there()
        })?;
        let here = here();
        match helper.join() {
            Ok(there) => Ok((there, here)),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// Pins this thread to a core, which helpers leave until the answer is dropped.
///
/// # Errors
///
/// The core does not exist, or is not for this process.
pub fn pin(core: usize) -> io::Result<Pinned> {
    let before = sched_getaffinity(None)?;
    let mut own = CpuSet::new();
    if core < CpuSet::MAX_CPU {
        own.set(core);
    }
    sched_setaffinity(None, &own)?;
    let mut state = state();
    state.pinned.push((core, before));
    state.place_helpers();
    Ok(Pinned { core })
}

/// A core has an engine.
#[derive(Debug)]
#[must_use = "helpers come back to the core when it is dropped"]
pub struct Pinned {
    core: usize,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut state = state();
        let at = state.pinned.iter().position(|(core, _)| *core == self.core);
        // Its helpers may go where they could before it came.
        let before = at.map(|at| state.pinned.remove(at).1);
        match before {
            Some(before) if state.pinned.is_empty() => state.place(&before),
            _ => state.place_helpers(),
        }
    }
}

/// A helper, while it works.
struct Helper {
    thread: Pid,
}

impl Helper {
    fn begin() -> Self {
        let thread = gettid();
        let mut state = state();
        state.helpers.push(thread);
        state.place_helpers();
        Self { thread }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let mut state = state();
        state.helpers.retain(|helper| *helper != self.thread);
    }
}

impl State {
    /// Puts each helper on the cores that no engine has; where none is left they stay where they are.
    fn place_helpers(&mut self) {
        let Some((_, before)) = self.pinned.first() else {
            return;
        };
        let mut left = *before;
        for (core, _) in &self.pinned {
            left.unset(*core);
        }
        if left.count() > 0 {
            self.place(&left);
        }
    }

    fn place(&self, cores: &CpuSet) {
        for helper in &self.helpers {
            // One that cannot be moved works all the same.
            let _ = sched_setaffinity(Some(*helper), cores);
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A helper that says on which cores it may be, whenever it is asked.
    fn helper() -> (Sender<()>, Receiver<CpuSet>, JoinHandle<()>) {
        let (ask, asked) = channel::<()>();
        let (answer, answers) = channel();
        let work = move || {
            for () in asked {
                let _ = answer.send(sched_getaffinity(None).unwrap());
            }
        };
        (ask, answers, spawn("helper", work).unwrap())
    }

    fn cores((ask, answers, _): &(Sender<()>, Receiver<CpuSet>, JoinHandle<()>)) -> CpuSet {
        ask.send(()).unwrap();
        answers.recv().unwrap()
    }

    #[test]
    fn helpers_have_all_cores_but_that_of_the_engine() {
        let engine = std::thread::spawn(|| {
            let all = sched_getaffinity(None).unwrap();
            assert!(all.count() > 1, "this test needs two cores");
            let core = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)).unwrap();
            let early = helper();
            assert!(cores(&early) == all);
            let pinned = pin(core).unwrap();
            let late = helper();
            for helper in [&early, &late] {
                let cores = cores(helper);
                assert!(!cores.is_set(core));
                assert_eq!(cores.count(), all.count() - 1);
            }
            drop(pinned);
            assert!(cores(&early) == all, "the engine has ended");
            let none = pin(CpuSet::MAX_CPU).unwrap_err();
            assert_eq!(none.kind(), io::ErrorKind::InvalidInput);
            assert!(cores(&early) == all, "nobody was pinned");
        });
        engine.join().unwrap();
    }
}
