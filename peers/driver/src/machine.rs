//! Clock, cores, and how busy the acceptor is.

use std::fs;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Rounds of one reading of the distance, and readings of which the best counts.
const ROUNDS: u64 = 200;
const READINGS: u64 = 50;

/// How long one look at the acceptor's processor time takes.
const LOOK: Duration = Duration::from_millis(200);
/// Looks at an acceptor that seems busy: after a run, a virtual machine for Java still compiles.
const LOOKS: u32 = 15;
/// Ticks of the kernel's accounting in a look, at 100 a second, up to which the acceptor slept.
const TICKS_ASLEEP: u64 = 2;

fn start() -> &'static (Instant, u64) {
    static START: OnceLock<(Instant, u64)> = OnceLock::new();
    START.get_or_init(|| {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        (Instant::now(), wall.unwrap_or_default().as_nanos() as u64)
    })
}

/// Nanoseconds since the first call.
#[inline]
pub fn now_ns() -> u64 {
    start().0.elapsed().as_nanos() as u64
}

/// Nanoseconds since 1970 of the first call: with a reading of [`now_ns`], a time of 19 digits.
pub fn wall_base() -> u64 {
    start().1
}

/// Pins this thread to a core.
pub fn pin(core: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|error| format!("cannot pin to core {core}: {error}"))
}

/// No page fault in a measured loop. Without the right to do so it is measured all the same.
pub fn lock_memory() {
    let _ = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE);
}

/// Nanoseconds that a cache line takes to the other core and back.
///
/// On a virtual machine this says how far apart the host has put the two cores at the moment, which
/// moves every figure.
pub fn distance_ns(other: usize) -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU64);
    let line = Arc::new(Line(AtomicU64::new(0)));
    let far = Arc::clone(&line);
    let answerer = thread::spawn(move || {
        let _ = pin(other);
        for round in 0..READINGS * ROUNDS {
            while far.0.load(Ordering::Acquire) != 2 * round + 1 {
                spin_loop();
            }
            far.0.store(2 * round + 2, Ordering::Release);
        }
    });
    let mut best = f64::MAX;
    for reading in 0..READINGS {
        let began = now_ns();
        for round in reading * ROUNDS..(reading + 1) * ROUNDS {
            line.0.store(2 * round + 1, Ordering::Release);
            while line.0.load(Ordering::Acquire) != 2 * round + 2 {
                spin_loop();
            }
        }
        best = best.min((now_ns() - began) as f64 / ROUNDS as f64);
    }
    let _ = answerer.join();
    best
}

/// Whether a process sleeps while nothing is sent to it: it takes next to no processor time for a while.
pub fn sleeps(pid: u32) -> Result<bool, String> {
    for _ in 0..LOOKS {
        let before = ticks(pid)?;
        thread::sleep(LOOK);
        if ticks(pid)? - before <= TICKS_ASLEEP {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Processor time of all threads of a process, in ticks.
fn ticks(pid: u32) -> Result<u64, String> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // The name, in parentheses, may have blanks; user and system time are the 12th and 13th after it.
    let after = text.rsplit(')').next().unwrap_or_default();
    let times = after.split_whitespace().skip(11).take(2);
    Ok(times.filter_map(|time| time.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    struct Process(Child);

    impl Process {
        fn start(program: &str, argument: &str) -> Self {
            let mut command = Command::new(program);
            command
                .arg(argument)
                .stdout(Stdio::null())
                .stdin(Stdio::null());
            Self(command.spawn().expect("a process"))
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_process_that_spins_is_told_from_one_that_sleeps() {
        let sleeper = Process::start("sleep", "60");
        assert_eq!(sleeps(sleeper.0.id()), Ok(true));
        let spinner = Process::start("yes", "y");
        assert_eq!(sleeps(spinner.0.id()), Ok(false));
    }
}
