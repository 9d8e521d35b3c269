//! Counts of a run: what its threads cost beside time. Times of a shared machine differ from run to run, counts repeat.
//!
//! Three ends are counted apart: the thread of the engine, the thread that sends orders (the client), and all other
//! threads of the engine's process, its helpers. A count that the system does not give is `None`, never 0.
//!
//! Sources are the files of the kernel for threads (proc_pid_task(5)), its list of interrupts, and a counter of the
//! processor for instructions. [`calls`] has the system calls, which need a run of their own.

use std::fs;

use fixwire_sys::InstructionCounter;
use serde::{Deserialize, Serialize};

use super::status_field;

pub mod calls;

/// Counts of one end in one run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct EndCounts {
    /// Instructions in user mode.
    pub instructions: Option<u64>,
    /// Page faults without I/O.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    pub major_faults: Option<u64>,
    /// Context switches because the thread waited.
    pub voluntary_switches: Option<u64>,
    /// Context switches because the kernel gave the core to another task.
    pub forced_switches: Option<u64>,
    /// Bytes of the pages that the end made the system write to a disk.
    pub disk_bytes: Option<u64>,
    /// Function-call interrupts of the core on which the end's thread ran: requests of other cores, for example to
    /// forget a page. `None` for helpers, which have no core.
    pub interrupts: Option<u64>,
}

/// Counts of one run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Number of orders of the run.
    pub orders: u64,
    /// The thread of the engine that answers.
    pub engine: EndCounts,
    /// The thread that sends orders: another engine in `bench echo`, bare sockets in other benches.
    pub client: EndCounts,
    /// All other threads of the engine's process.
    pub helpers: EndCounts,
}

/// The thread of the engine that answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EngineThread {
    /// This thread of this process.
    Own(u32),
    /// The thread that works most in this process, which is not ours.
    BusiestOf(u32),
    /// On another host, or started by somebody else: its counts are unknown.
    Elsewhere,
}

/// The threads of a run.
#[derive(Clone, Copy, Debug)]
pub struct CountedThreads {
    /// The thread of the engine.
    pub engine: EngineThread,
    /// The thread that sends orders, in this process.
    pub client: u32,
}

impl CountedThreads {
    /// The process of the engine; `None`: this process.
    fn process(self) -> Option<u32> {
        match self.engine {
            EngineThread::BusiestOf(process) => Some(process),
            EngineThread::Own(_) | EngineThread::Elsewhere => None,
        }
    }

    /// The thread of the engine, when `busiest` is the one that worked most.
    fn engine(self, busiest: Option<u32>) -> Option<u32> {
        match self.engine {
            EngineThread::Own(thread) => Some(thread),
            EngineThread::BusiestOf(_) => busiest,
            EngineThread::Elsewhere => None,
        }
    }
}

/// Calls `with` for each field of two counts.
fn joined(
    one: EndCounts,
    other: EndCounts,
    with: impl Fn(Option<u64>, Option<u64>) -> Option<u64>,
) -> EndCounts {
    EndCounts {
        instructions: with(one.instructions, other.instructions),
        minor_faults: with(one.minor_faults, other.minor_faults),
        major_faults: with(one.major_faults, other.major_faults),
        voluntary_switches: with(one.voluntary_switches, other.voluntary_switches),
        forced_switches: with(one.forced_switches, other.forced_switches),
        disk_bytes: with(one.disk_bytes, other.disk_bytes),
        interrupts: with(one.interrupts, other.interrupts),
    }
}

impl EndCounts {
    /// The sum. A count that one of the two does not know is unknown.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        joined(self, other, |one, other| Some(one? + other?))
    }

    fn less(self, earlier: Self) -> Self {
        joined(self, earlier, |now, before| {
            Some(now?.saturating_sub(before?))
        })
    }
}

impl Counts {
    /// The counts of several runs together; `None` without any.
    #[must_use]
    pub fn pool(runs: impl IntoIterator<Item = Self>) -> Option<Self> {
        runs.into_iter().reduce(|sum, run| Self {
            orders: sum.orders + run.orders,
            engine: sum.engine.plus(run.engine),
            client: sum.client.plus(run.client),
            helpers: sum.helpers.plus(run.helpers),
        })
    }
}

/// One thread at the start of a run.
#[derive(Debug)]
struct ThreadReading {
    thread: u32,
    counts: EndCounts,
    ran: u64,
    counter: Option<InstructionCounter>,
}

/// All counters at the start of a run.
#[derive(Debug)]
pub struct CountsReading {
    of: CountedThreads,
    threads: Vec<ThreadReading>,
    client: ThreadReading,
    /// The whole process of the engine, with its ended threads.
    process: EndCounts,
    interrupts: Vec<u64>,
}

impl CountsReading {
    /// Reads the counters, and starts to count instructions.
    #[must_use]
    pub fn take(of: CountedThreads) -> Self {
        let folder = folder_of(of.process());
        let threads = threads_of(of.process()).into_iter();
        Self {
            of,
            threads: threads
                .map(|thread| ThreadReading::take(&folder, thread))
                .collect(),
            client: ThreadReading::take(&folder_of(None), of.client),
            process: process_counts(&folder),
            interrupts: interrupts(&read("/proc/interrupts")).unwrap_or_default(),
        }
    }

    /// The counts since this reading, in which this number of orders was sent.
    #[must_use]
    pub fn since(mut self, orders: u64) -> Counts {
        let client = self.client.since(&folder_of(None));
        let folder = folder_of(self.of.process());
        let process = process_counts(&folder).less(self.process);
        let now = threads_of(self.of.process());
        // Threads that were started in the run are read whole.
        for thread in &now {
            if self.threads.iter().all(|known| known.thread != *thread) {
                self.threads.push(ThreadReading::new(*thread));
            }
        }
        self.threads.retain(|known| now.contains(&known.thread));
        let ran = |it: &ThreadReading| ran(&folder, it.thread).saturating_sub(it.ran);
        let busiest = self.threads.iter().max_by_key(|it| ran(it));
        let engine = self.of.engine(busiest.map(|it| it.thread));
        let (mut engines, mut helpers) = (EndCounts::default(), EndCounts::ZERO);
        for thread in &mut self.threads {
            let counts = thread.since(&folder);
            if Some(thread.thread) == engine {
                engines = counts;
            } else if self.of.process().is_some() || thread.thread != self.of.client {
                helpers = helpers.plus(counts);
            }
        }
        // What the process did besides, with the threads that have ended.
        let others = match self.of.process() {
            None if engine.is_none() => client,
            None => engines.plus(client),
            Some(_) => engines,
        };
        let besides = process.less(others);
        helpers.minor_faults = besides.minor_faults;
        helpers.major_faults = besides.major_faults;
        helpers.disk_bytes = besides.disk_bytes;
        let after = interrupts(&read("/proc/interrupts")).unwrap_or_default();
        let of_core = |folder: &str, thread: u32| {
            let core = core_of(&read(&format!("{folder}/task/{thread}/stat")))?;
            after.get(core)?.checked_sub(*self.interrupts.get(core)?)
        };
        engines.interrupts = engine.and_then(|thread| of_core(&folder, thread));
        helpers.interrupts = None;
        if engines.instructions.is_none() {
            // Without any helper the sum is 0, also where the system counts no instructions.
            helpers.instructions = None;
        }
        Counts {
            orders,
            engine: engines,
            client: EndCounts {
                interrupts: of_core(&folder_of(None), self.of.client),
                ..client
            },
            helpers,
        }
    }
}

impl EndCounts {
    /// All counts are known, and nothing is counted yet.
    const ZERO: Self = Self {
        instructions: Some(0),
        minor_faults: Some(0),
        major_faults: Some(0),
        voluntary_switches: Some(0),
        forced_switches: Some(0),
        disk_bytes: Some(0),
        interrupts: Some(0),
    };
}

impl ThreadReading {
    /// A thread that did not exist at the start of the run.
    fn new(thread: u32) -> Self {
        Self {
            thread,
            counts: EndCounts::ZERO,
            ran: 0,
            counter: None,
        }
    }

    fn take(folder: &str, thread: u32) -> Self {
        Self {
            thread,
            counts: thread_counts(&format!("{folder}/task/{thread}")),
            ran: ran(folder, thread),
            counter: InstructionCounter::of_thread(thread).ok(),
        }
    }

    fn since(&mut self, folder: &str) -> EndCounts {
        let now = thread_counts(&format!("{folder}/task/{}", self.thread));
        let has_run = ran(folder, self.thread) > self.ran;
        let count = self.counter.as_mut().and_then(|it| it.count().ok());
        EndCounts {
            // A thread that ran executed something: a counter that stays at 0 counts nothing.
            instructions: count.filter(|count| *count > 0 || !has_run),
            ..now.less(self.counts)
        }
    }
}

fn folder_of(process: Option<u32>) -> String {
    process.map_or_else(
        || "/proc/self".to_owned(),
        |process| format!("/proc/{process}"),
    )
}

/// The threads of a process.
fn threads_of(process: Option<u32>) -> Vec<u32> {
    let entries = fs::read_dir(format!("{}/task", folder_of(process)));
    let names = entries.into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.collect()
}

/// The first thread of this process with a name.
#[must_use]
pub fn thread_named(name: &str) -> Option<u32> {
    let is_it = |thread: &u32| read(&format!("/proc/self/task/{thread}/comm")).trim() == name;
    threads_of(None).into_iter().find(is_it)
}

/// The calling thread.
#[must_use]
pub fn own_thread() -> Option<u32> {
    let link = fs::read_link("/proc/thread-self").ok()?;
    link.file_name()?.to_str()?.parse().ok()
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The counts of the thread with this folder since its start.
fn thread_counts(folder: &str) -> EndCounts {
    let status = read(&format!("{folder}/status"));
    let switches = |name| status_field(&status, name)?.parse().ok();
    EndCounts {
        voluntary_switches: switches("voluntary_ctxt_switches"),
        forced_switches: switches("nonvoluntary_ctxt_switches"),
        ..process_counts(folder)
    }
}

/// The counts that the kernel has for threads and for whole processes.
fn process_counts(folder: &str) -> EndCounts {
    let stat = read(&format!("{folder}/stat"));
    let io = read(&format!("{folder}/io"));
    EndCounts {
        minor_faults: stat_field(&stat, 10),
        major_faults: stat_field(&stat, 12),
        disk_bytes: status_field(&io, "write_bytes").and_then(|text| text.parse().ok()),
        ..EndCounts::default()
    }
}

/// A field of a file `stat`, counted from 1 as in proc_pid_stat(5); at least the third. The second, the name in
/// parentheses, may have blanks.
fn stat_field(stat: &str, number: usize) -> Option<u64> {
    let after = stat.rsplit_once(')')?.1;
    after.split_whitespace().nth(number - 3)?.parse().ok()
}

fn core_of(stat: &str) -> Option<usize> {
    stat_field(stat, 39)?.try_into().ok()
}

/// Processor time of a thread, nanoseconds; 0 when the kernel does not say.
fn ran(folder: &str, thread: u32) -> u64 {
    let text = read(&format!("{folder}/task/{thread}/schedstat"));
    let first = text.split_whitespace().next();
    first.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Function-call interrupts of each core, by its number. A list has only the cores that are online.
fn interrupts(list: &str) -> Option<Vec<u64>> {
    let cores = list.lines().next()?.split_whitespace();
    let cores = cores.map(|name| name.strip_prefix("CPU")?.parse::<usize>().ok());
    let counts = list
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("CAL:"))?;
    let counts = counts.split_whitespace().map(|count| count.parse().ok());
    let mut found = Vec::new();
    for (core, count) in cores.zip(counts) {
        let core = core?;
        found.resize(found.len().max(core + 1), 0);
        found[core] = count?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    #[test]
    fn each_end_has_its_own_counts() {
        let (id, ids) = channel();
        let (go, goes) = channel::<()>();
        let (done, is_done) = channel();
        let engine = thread::spawn(move || {
            id.send(own_thread().unwrap()).unwrap();
            goes.recv().unwrap();
            let mut memory = vec![0_u8; 64 << 20];
            memory.iter_mut().step_by(4096).for_each(|page| *page = 1);
            std::hint::black_box(&memory);
            (0..30).for_each(|_| thread::sleep(std::time::Duration::from_micros(50)));
            done.send(()).unwrap();
            let _ = goes.recv();
        });
        let of = CountedThreads {
            engine: EngineThread::Own(ids.recv().unwrap()),
            client: own_thread().unwrap(),
        };
        let reading = CountsReading::take(of);
        go.send(()).unwrap();
        is_done.recv().unwrap();
        let counts = reading.since(10);
        drop(go);
        engine.join().unwrap();
        assert_eq!(counts.orders, 10);
        // A huge page faults once for 2 MiB.
        assert!(counts.engine.minor_faults >= Some(32), "{counts:?}");
        assert!(counts.client.minor_faults < Some(32), "{counts:?}");
        assert!(counts.engine.voluntary_switches >= Some(30), "{counts:?}");
        assert!(counts.client.voluntary_switches < Some(30), "{counts:?}");
        // The processor's counter may be missing. Then there is no count.
        assert_ne!(counts.engine.instructions, Some(0));
    }

    #[test]
    fn what_the_system_does_not_give_is_unknown() {
        let nobody = u32::MAX;
        let of = CountedThreads {
            engine: EngineThread::BusiestOf(nobody),
            client: nobody,
        };
        let counts = CountsReading::take(of).since(1);
        assert_eq!(counts.engine, EndCounts::default());
        assert_eq!(counts.client, EndCounts::default());
        assert_eq!(counts.helpers.instructions, None);
        assert_eq!(counts.helpers.minor_faults, None);
        assert_eq!(counts.helpers.disk_bytes, None);
        let known = EndCounts::ZERO;
        assert_eq!(known.plus(EndCounts::default()), EndCounts::default());
    }

    #[test]
    fn files_of_the_kernel_are_read_by_name_and_place() {
        let stat = "7 (a) b) R 1 2 3 4 5 6 70 8 90 10 11 12";
        assert_eq!(
            (stat_field(stat, 10), stat_field(stat, 12)),
            (Some(70), Some(90))
        );
        assert_eq!(core_of(stat), None);
        let list = "           CPU0       CPU2\n  0:  4  0  timer\nCAL:  53277  26041   Function call interrupts\n";
        assert_eq!(interrupts(list), Some(vec![53_277, 0, 26_041]));
        assert_eq!(interrupts("           CPU0\nLOC: 5\n"), None);
    }
}
