//! Does a bench report the time that other programs took, and not blame its own threads on them?
//!
//! A competitor takes 1 ms in 20 of the initiator's core. The gaps that a bench notes must equal the time that its
//! thread did not run, which the kernel counts in other ways, whichever other programs had the core on the test
//! machine.

use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_lab::load::Pace;
use fixwire_lab::machine::two_cores;
use fixwire_lab::sockets::arena::{Arena, pin};
use fixwire_lab::sockets::floor::ReportWay;
use fixwire_rigs::server::{binary, scratch};
use fixwire_stamps::clock::Clock;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// One test at a time.
static MACHINE: Mutex<()> = Mutex::new(());

const ATTEMPTS: u32 = 6;
/// The greatest difference between the noted time and the time taken.
const CLOSE: std::ops::RangeInclusive<f64> = 0.85..=1.15;
const ROUND: Duration = Duration::from_millis(20);
const WORK: Duration = Duration::from_millis(1);

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Takes the core for a while in each round until it is stopped; returns the share of the time that it got.
fn compete(core: usize, stop: &AtomicBool) -> f64 {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).expect("the core is ours");
    let (began, before) = (Instant::now(), cpu_time());
    while !stop.load(Ordering::Relaxed) {
        let round = cpu_time();
        while cpu_time() - round < WORK {
            black_box(());
        }
        thread::sleep(ROUND - WORK);
    }
    (cpu_time() - before).as_secs_f64() / began.elapsed().as_secs_f64()
}

/// Runs `bench` while a thread of this process competes for the core; returns its result, and the competitor's share.
fn beside<T: Send>(core: usize, bench: impl FnOnce() -> T + Send) -> (T, f64) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let competitor = scope.spawn(|| compete(core, &stop));
        let found = scope.spawn(bench).join();
        stop.store(true, Ordering::Relaxed);
        let share = competitor.join().expect("the competitor");
        (found.expect("the bench"), share)
    })
}

/// The output of a `bench tcp`, and the shares of time that the initiator lost.
struct Said {
    screen: String,
    /// The share of its time in gaps.
    gaps: f64,
    /// The share by the kernel's count of the thread's CPU time.
    lost: f64,
}

fn tcp((acceptor, initiator): (usize, usize), name: &str) -> Said {
    let file = scratch("disturbed").expect("a folder").join(name);
    let output = Command::new(binary().expect("the binary"))
        .args([
            "bench",
            "tcp",
            "--no-ping-pong",
            "--rate",
            "5000",
            "--runs",
            "1",
        ])
        .args(["--warm-up", "1000", "--iterations", "15000"])
        .args(["--cores", &format!("{acceptor},{initiator}")])
        .arg("--json")
        .arg(&file)
        .output()
        .expect("it runs");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{screen}{errors}");
    let report: Value = serde_json::from_slice(&fs::read(file).expect("JSON")).expect("JSON");
    let run = &report["rows"][0]["runs"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let seconds = number(&run["seconds"]);
    Said {
        screen,
        gaps: number(&run["gaps"][0]["machine_ms"]) / 1e3 / seconds,
        lost: lost(number(&run["used"]["thread"]["cpu_ns"]), seconds),
    }
}

/// The share of its time that a thread did not run.
fn lost(cpu_ns: f64, seconds: f64) -> f64 {
    (1.0 - cpu_ns / 1e9 / seconds).max(0.0)
}

#[test]
fn what_a_competitor_got_is_missing_and_its_tail_is_marked() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let cores = two_cores().expect("two cores");
    let mut tried = Vec::new();
    for _ in 0..ATTEMPTS {
        let quiet = tcp(cores, "quiet.json");
        let (loud, got) = beside(cores.1, || tcp(cores, "loud.json"));
        let marked = loud.screen.contains('~') && loud.screen.contains("1 of 1 runs");
        // A hypervisor's gaps are in none of the kernel's counts.
        let hypervisors = (quiet.gaps - quiet.lost).max(0.0);
        let ratio = (loud.gaps - hypervisors) / loud.lost;
        if marked && CLOSE.contains(&ratio) && loud.lost > 0.9 * got {
            return;
        }
        tried.push(format!(
            "{:.4} in gaps, {:.4} not run; beside one that got {got:.4}: {:.4}, {:.4}\n{}",
            quiet.gaps, quiet.lost, loud.gaps, loud.lost, loud.screen
        ));
    }
    panic!("{}", tried.join("\n"));
}

#[test]
fn a_thread_of_its_own_is_not_the_machine() {
    let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (acceptor, initiator) = two_cores().expect("two cores");
    let mut tried = Vec::new();
    for _ in 0..ATTEMPTS {
        let (run, got) = beside(initiator, move || {
            let idle = || Ok(|| Ok(false));
            let mut arena = Arena::start(Some(acceptor), Clock::start(), idle).expect("an arena");
            let pinned = pin(Some(initiator)).expect("a core");
            let run = arena.floor(ReportWay::Back, Pace::PerSecond(5000), 15_000);
            drop(pinned);
            arena.stop().expect("it ends");
            run.expect("a run")
        });
        let [near, _] = run.gaps;
        let ours = near.ours_ms / 1e3 / run.seconds;
        let cpu_ns = run.used.expect("it is read").thread.cpu_ns;
        // The kernel does not count time that a hypervisor takes, and the gaps do not distinguish it from other
        // programs.
        let others =
            (lost(cpu_ns as f64, run.seconds) - got).max(near.machine_ms / 1e3 / run.seconds);
        // A competitor with 1 in 20 of the time would have caused most of the orders beyond p99.9.
        let unmarked = run.touched_long[3] < 0.5 || others > 0.1 * got;
        if CLOSE.contains(&(ours / got)) && unmarked {
            return;
        }
        tried.push(format!(
            "{near:?} in {:.1} s beside a thread that got {got:.4}, others {others:.4}",
            run.seconds
        ));
    }
    panic!("{}", tried.join("\n"));
}
