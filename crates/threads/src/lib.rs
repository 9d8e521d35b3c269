//! Threads beside an engine's own. They stay off the cores that engines are pinned to.
//!
//! A thread inherits the cores of the one that starts it, so a helper of a pinned engine would run on that engine's
//! core alone, and push it off whenever it has work; one that was started before may be put there by the system.
//! [`spawn`] and [`pin`] know of each other: whichever comes first, the helper has all other cores.
#![forbid(unsafe_code)]

use std::fs;
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
    only(core)?;
    let mut state = state();
    state.pinned.push((core, before));
    state.place_helpers();
    Ok(Pinned { core })
}

/// Whether a thread of this process can be pinned to a core, tried by one that ends at once.
///
/// # Errors
///
/// As [`pin`], and when the system gives no thread.
pub fn try_pin(core: usize) -> io::Result<()> {
    let tried = Builder::new()
        .name("core".to_owned())
        .spawn(move || only(core))?;
    tried.join().unwrap_or(Ok(()))
}

/// Why no thread can be pinned to a core, for a person: how many cores there are.
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

/// The numbers of a list as the kernel writes it, `0-3,8`.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        all.extend(first..=last.min(first + CpuSet::MAX_CPU));
    }
    Some(all)
}

/// Puts this thread on one core.
fn only(core: usize) -> io::Result<()> {
    let mut own = CpuSet::new();
    if core < CpuSet::MAX_CPU {
        own.set(core);
    }
    Ok(sched_setaffinity(None, &own)?)
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
