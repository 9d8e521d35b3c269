//! Orders over bare sockets, timed from just before the write to just after the read.
//!
//! The same loop serves the floor and a FIX session. They differ in the bytes of an order and in how an answer is
//! recognised. In both cases the next order is ready before it is due.

use std::io;

use fixwire_stamps::clock::Clock;

use crate::load::{Load, RunState};
use crate::machine::gaps::Watch;
use crate::sockets::pipe::Pipe;

/// Maximum number of orders in one write when the client is behind its schedule.
pub const BATCH: usize = 32;

/// How orders are written and answers recognised on a connection.
pub trait Speech {
    /// Appends the order that is due to the output.
    fn order(&mut self, intended: u64, output: &mut Vec<u8>);

    /// Prepares the next order. Called after the last order was sent.
    fn prepare(&mut self, _now: u64) {}

    /// Records the complete answers at the start of `bytes`, received at `now`; returns their length in bytes.
    fn answers(&mut self, bytes: &[u8], now: u64, load: &mut Load) -> usize;

    /// Whether the client, as the venue, replies to an arriving order with a report that returns on the first pipe.
    fn is_reported(&self) -> bool {
        false
    }

    /// Appends the reports on the orders that arrived since the last call.
    fn report(&mut self, _output: &mut Vec<u8>) {}

    /// Records the complete reports at the start of `bytes`; returns their length in bytes.
    fn reports(&mut self, _bytes: &[u8], _load: &mut Load) -> usize {
        0
    }
}

/// Runs a load to its end. Orders leave on the first pipe, answers arrive on the last one; both may be the same pipe.
/// `watch` sees each turn. `pause` is called after a turn in which nothing was received.
///
/// # Errors
///
/// The connection ended.
pub fn run(
    pipes: &mut [Pipe],
    speech: &mut impl Speech,
    load: &mut Load,
    clock: &Clock,
    watch: &mut Watch,
    pause: impl Fn(),
) -> io::Result<RunState> {
    let back = pipes.len() - 1;
    let is_reported = speech.is_reported();
    let mut now = clock.now();
    load.begin(now);
    loop {
        let mut orders = 0;
        while orders < BATCH
            && let Some(intended) = load.due(now)
        {
            speech.order(intended, &mut pipes[0].output);
            load.sent(intended, now);
            orders += 1;
        }
        pipes[0].flush()?;
        if orders > 0 {
            speech.prepare(now);
        }
        let pipe = &mut pipes[back];
        let mut idle = true;
        if pipe.read(back > 0 && !is_reported)? > 0 {
            idle = false;
            let now = clock.now();
            pipe.take()?;
            let answered = speech.answers(pipe.unread(), now, load);
            pipe.consume(answered);
        }
        if is_reported {
            speech.report(&mut pipe.output);
            pipe.flush()?;
            let first = &mut pipes[0];
            if first.read(false)? > 0 {
                idle = false;
                let reported = speech.reports(first.unread(), load);
                first.consume(reported);
            }
        }
        if idle {
            match load.state(now) {
                RunState::Running => pause(),
                end => return Ok(end),
            }
        }
        now = clock.now();
        watch.turned(now, !idle || orders > 0);
    }
}
