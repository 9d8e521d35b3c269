//! Helper threads: threads of a process besides those of its engines. Helper threads do not run on the cores to which
//! engines are pinned.
//!
//! A thread inherits the cores of the thread that starts it. So a helper of a pinned engine would run on that engine's
//! core only, and interrupt the engine whenever it has work. A helper that was started before could be moved to that
//! core by the system. [`spawn`] and [`pin`] share their state: whichever is called first, the helper gets all other
//! cores.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// All helpers of this process, and the cores that they must not use.
static STATE: Mutex<State> = Mutex::new(State {
    pinned: Vec::new(),
    helpers: Vec::new(),
});

struct State {
    /// The core of each engine, and the cores that the engine's thread could use before.
    pinned: Vec<(usize, CpuSet)>,
    helpers: Vec<Pid>,
}

/// Starts a helper thread.
///
/// # Errors
///
/// The system cannot start a thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(move || {
        let _helper = Helper::begin();
        work()
    })
}

/// Runs `there` in a helper thread, and `here` in this thread at the same time. If either panics, this function panics.
///
/// # Errors
///
/// The system cannot start a thread.
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

/// Pins this thread to a core. Helpers do not use the core until the returned value is dropped.
///
/// # Errors
///
/// The core does not exist, or this process may not use it.
pub fn pin(core: usize) -> io::Result<Pinned> {
    let before = sched_getaffinity(None)?;
    only(core)?;
    let mut state = state();
    state.pinned.push((core, before));
    state.place_helpers();
    Ok(Pinned { core })
}

/// Tests whether a thread of this process can be pinned to a core, with a thread that ends at once.
///
/// # Errors
///
/// As [`pin`], or the system cannot start a thread.
pub fn try_pin(core: usize) -> io::Result<()> {
    let tried = Builder::new()
        .name("core".to_owned())
        .spawn(move || only(core))?;
    tried.join().unwrap_or(Ok(()))
}

/// The reason why no thread can be pinned to a core, for a person. The text includes the number of cores.
pub fn why_not(core: usize, error: &io::Error) -> String {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let online = online.trim();
    let count = match numbers(online) {
        Some(cores) if cores.contains(&core) => {
            return format!("core {core} is not available to this process (its cpuset): {error}");
        }
        Some(cores) => cores.len(),
        None => return format!("core {core}: {error}"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("there is no core {core}: this machine has {count} core{plural} ({online})")
}

/// The numbers in a list of the kernel, such as `0-3,8`.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        all.extend(first..=last.min(first + CpuSet::MAX_CPU));
    }
    Some(all)
}

/// Restricts this thread to one core.
fn only(core: usize) -> io::Result<()> {
    let mut own = CpuSet::new();
    if core < CpuSet::MAX_CPU {
        own.set(core);
    }
    Ok(sched_setaffinity(None, &own)?)
}

/// The core of a pinned engine.
#[derive(Debug)]
#[must_use = "helpers come back to the core when it is dropped"]
pub struct Pinned {
    core: usize,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut state = state();
        let at = state.pinned.iter().position(|(core, _)| *core == self.core);
        // Without engines, the helpers may again use the cores that they could use before.
        let before = at.map(|at| state.pinned.remove(at).1);
        match before {
            Some(before) if state.pinned.is_empty() => state.place(&before),
            _ => state.place_helpers(),
        }
    }
}

/// A helper thread, while it works.
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
    /// Moves each helper to the cores that no engine has. If no core is left, the helpers stay where they are.
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
            // A helper that cannot be moved still does its work.
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

    #[test]
    fn a_core_that_is_missing_is_named_with_those_that_there_are() {
        assert_eq!(numbers("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(numbers("(null)"), None);
        let may = sched_getaffinity(None).unwrap();
        let core = (0..CpuSet::MAX_CPU).find(|core| may.is_set(*core)).unwrap();
        try_pin(core).unwrap();
        assert_eq!(
            sched_getaffinity(None).unwrap(),
            may,
            "this thread is left alone"
        );
        for core in [CpuSet::MAX_CPU - 1, 1_000_000] {
            let error = try_pin(core).unwrap_err();
            assert!(pin(core).is_err());
            let why = why_not(core, &error);
            let wanted = format!("there is no core {core}: this machine has ");
            assert!(why.starts_with(&wanted) && why.contains(" core"), "{why}");
        }
    }

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
