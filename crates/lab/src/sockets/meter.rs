//! Counts the work of both ends of a run, if requested.

use crate::machine::counts::calls::{Calls, CallsReading};
use crate::machine::counts::{CountedThreads, Counts, CountsReading, EngineThread};

/// What is counted in a run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Counting {
    /// Nothing.
    #[default]
    Off,
    /// What the system counts anyway. The run is timed.
    Counts,
    /// System calls by name. The threads are traced, so the times of the run mean nothing.
    Calls,
}

/// Counts the work of runs.
#[derive(Debug, Default)]
pub struct Meter {
    /// What is counted in the next run.
    pub counting: Counting,
    /// The thread of the engine; `None` when the engine runs on the far thread of this process.
    pub engine: Option<EngineThread>,
    counts: Option<CountsReading>,
    calls: Option<CallsReading>,
}

/// What was counted in a run.
#[derive(Debug, Default)]
pub struct Metered {
    /// Counts, if requested.
    pub counts: Option<Counts>,
    /// System calls, if requested.
    pub calls: Option<Calls>,
}

impl Meter {
    /// The run begins: `client` is the thread that sends orders, `far` the far thread of this process.
    pub fn begin(&mut self, client: Option<u32>, far: Option<u32>) {
        let far = far.map_or(EngineThread::Elsewhere, EngineThread::Own);
        let of = CountedThreads {
            engine: self.engine.unwrap_or(far),
            client: client.unwrap_or(0),
        };
        match self.counting {
            Counting::Off => {}
            Counting::Counts => self.counts = Some(CountsReading::take(of)),
            Counting::Calls => self.calls = Some(CallsReading::start(of)),
        }
    }

    /// The run has ended, in which this number of orders was sent.
    pub fn end(&mut self, orders: u64) -> Metered {
        Metered {
            counts: self.counts.take().map(|reading| reading.since(orders)),
            calls: self.calls.take().map(|reading| reading.since(orders)),
        }
    }
}
