//! System calls by name, in a run of their own: a second process traces the threads, which makes them slow.

use std::collections::BTreeMap;

use fixwire_sys::{CallCount, CallTracer};
use serde::{Deserialize, Serialize};

use super::{CountedThreads, folder_of, ran, threads_of};

/// System calls of one end in one run.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct EndCalls {
    /// Calls that did something, by name.
    pub done: BTreeMap<String, u64>,
    /// Calls that asked for data or events and found none. A thread that spins makes as many as it has time for.
    pub found_nothing: u64,
}

impl EndCalls {
    /// Number of calls that did something.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.done.values().sum()
    }

    fn add(&mut self, count: CallCount) {
        if count.done > 0 {
            *self.done.entry(name(count.number)).or_default() += u64::from(count.done);
        }
        self.found_nothing += u64::from(count.empty);
    }
}

/// System calls of one run. An end is `None` when the system did not let its threads be traced.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Calls {
    /// Number of orders of the run.
    pub orders: u64,
    /// The thread of the engine that answers.
    pub engine: Option<EndCalls>,
    /// The thread that sends orders.
    pub client: Option<EndCalls>,
    /// All other threads of the engine's process.
    pub helpers: Option<EndCalls>,
}

/// Counts calls from now on.
#[derive(Debug)]
pub struct CallsReading {
    of: CountedThreads,
    /// The processor time of each thread at the start.
    ran: Vec<(u32, u64)>,
    tracer: Option<CallTracer>,
}

impl CallsReading {
    /// Starts to trace the threads, if the system lets us.
    #[must_use]
    pub fn start(of: CountedThreads) -> Self {
        let folder = folder_of(of.process());
        let threads = threads_of(of.process());
        let mut traced = threads.clone();
        if of.process().is_some() {
            traced.push(of.client);
        }
        Self {
            of,
            ran: threads
                .iter()
                .map(|thread| (*thread, ran(&folder, *thread)))
                .collect(),
            tracer: CallTracer::start(&traced).ok(),
        }
    }

    /// The calls since the start, in which this number of orders was sent.
    #[must_use]
    pub fn since(self, orders: u64) -> Calls {
        let Some(tracer) = self.tracer else {
            return Calls {
                orders,
                ..Calls::default()
            };
        };
        let counts = tracer.finish();
        let folder = folder_of(self.of.process());
        let busiest = self
            .ran
            .iter()
            .max_by_key(|(thread, before)| ran(&folder, *thread).saturating_sub(*before));
        let engine = self.of.engine(busiest.map(|(thread, _)| *thread));
        let [mut engines, mut clients, mut helpers] = [(); 3].map(|()| EndCalls::default());
        for count in counts {
            let end = match Some(count.thread) {
                thread if thread == engine => &mut engines,
                thread if thread == Some(self.of.client) => &mut clients,
                _ => &mut helpers,
            };
            end.add(count);
        }
        Calls {
            orders,
            engine: engine.map(|_| engines),
            client: Some(clients),
            helpers: Some(helpers),
        }
    }
}

/// The name of a call; its number when engines do not make it.
fn name(number: u32) -> String {
    let named = NAMES.iter().find(|named| named.0 == i64::from(number));
    named.map_or_else(|| format!("call {number}"), |named| named.1.to_owned())
}

macro_rules! names {
    ($($name:ident $call:ident,)*) => {
        const NAMES: &[(i64, &str)] = &[
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_epoll_wait, "epoll_wait"),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_poll, "poll"),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_rename, "rename"),
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_unlink, "unlink"),
            $((libc::$call, stringify!($name)),)*
        ];
    };
}

names! {
    accept4 SYS_accept4,
    clock_gettime SYS_clock_gettime,
    clock_nanosleep SYS_clock_nanosleep,
    close SYS_close,
    epoll_ctl SYS_epoll_ctl,
    epoll_pwait SYS_epoll_pwait,
    fallocate SYS_fallocate,
    fdatasync SYS_fdatasync,
    fsync SYS_fsync,
    futex SYS_futex,
    getrusage SYS_getrusage,
    madvise SYS_madvise,
    mmap SYS_mmap,
    mprotect SYS_mprotect,
    msync SYS_msync,
    munmap SYS_munmap,
    openat SYS_openat,
    ppoll SYS_ppoll,
    pread64 SYS_pread64,
    pwrite64 SYS_pwrite64,
    read SYS_read,
    recvfrom SYS_recvfrom,
    recvmsg SYS_recvmsg,
    renameat2 SYS_renameat2,
    restart_syscall SYS_restart_syscall,
    sched_yield SYS_sched_yield,
    sendmsg SYS_sendmsg,
    sendto SYS_sendto,
    statfs SYS_statfs,
    statx SYS_statx,
    unlinkat SYS_unlinkat,
    write SYS_write,
    writev SYS_writev,
}

#[cfg(test)]
mod tests {
    use super::super::EngineThread;
    use super::*;

    #[test]
    fn calls_have_their_names() {
        assert_eq!(name(libc::SYS_recvfrom as u32), "recvfrom");
        assert_eq!(name(511), "call 511");
    }

    #[test]
    fn threads_that_may_not_be_traced_have_unknown_calls() {
        let of = CountedThreads {
            engine: EngineThread::BusiestOf(u32::MAX),
            client: u32::MAX,
        };
        let calls = CallsReading::start(of).since(7);
        let unknown = Calls {
            orders: 7,
            ..Calls::default()
        };
        assert_eq!(calls, unknown);
    }
}
