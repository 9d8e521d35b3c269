//! The initiator of the benchmark: sends what is due, checks and times what comes back.

use fixwire_protocol::{Application, Message, Mono, Now, Outbox, Refusal, SessionId, tag};

use crate::clock::Clock;
use crate::floor::BATCH;
use crate::load::Load;
use crate::scenario::OrderWriter;

/// An [`Application`] with one session that plays a [`Load`].
#[derive(Debug)]
pub struct Trader {
    /// The books of the run in progress.
    pub load: Option<Load>,
    /// How many sessions are not logged on.
    away: usize,
    /// Where orders leave.
    pub session: SessionId,
    clock: Clock,
    /// MsgType of what comes back.
    answer: &'static [u8],
    writer: OrderWriter,
}

impl Trader {
    /// A trader with so many sessions, which sends on the first; messages of this type answer.
    pub fn new(clock: Clock, sessions: usize, answer: &'static [u8]) -> Self {
        Self {
            load: None,
            away: sessions,
            clock,
            session: SessionId(0),
            answer,
            writer: OrderWriter::default(),
        }
    }

    /// Whether all sessions are logged on.
    pub fn is_logged_on(&self) -> bool {
        self.away == 0
    }
}

impl Application for Trader {
    fn on_message(
        &mut self,
        _now: Now,
        _from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let Some(load) = &mut self.load else {
            return Ok(());
        };
        let intended = match message.uint(tag::CL_ORD_ID) {
            Some(Ok(wall)) if message.msg_type() == self.answer => self.clock.from_wall(wall),
            _ => None,
        };
        match intended {
            Some(intended) => load.answered(intended, self.clock.now()),
            None => load.wrong(),
        }
        Ok(())
    }

    fn on_logon(&mut self, _now: Now, _session: SessionId, _outbox: &mut Outbox) {
        self.away -= 1;
    }

    fn on_logout(&mut self, _now: Now, _session: SessionId) {
        self.away += 1;
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let load = self.load.as_mut().filter(|_| self.away == 0)?;
        for _ in 0..BATCH {
            let actual = self.clock.now();
            let Some(intended) = load.due(actual) else {
                break;
            };
            let cl_ord_id = self.clock.to_wall(intended);
            if self
                .writer
                .write(outbox, self.session, cl_ord_id, now.wall)
                .is_err()
            {
                // No room now: it stays due and leaves later, and its response time says so.
                break;
            }
            load.sent(intended, actual);
        }
        // At once: whoever measures spins.
        Some(now.mono)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Faults, Pace};
    use crate::scenario::{EXECUTION_REPORT, write_report};
    use fixwire_protocol::{Decoder, HeaderTemplate};

    /// Hands every message of the outbox to the trader as if it had come from the peer.
    fn deliver(trader: &mut Trader, outbox: &mut Outbox, header: &HeaderTemplate) {
        let mut decoder = Decoder::with_capacity(64);
        for index in outbox.unsealed() {
            outbox.seal(index, header, 1, b"20260821-13:30:00.123");
        }
        for index in 0..outbox.entries().len() {
            let message = decoder.decode(outbox.sealed(index));
            let mut own = Outbox::new(1024, 1, header.room());
            trader
                .on_message(Now::default(), SessionId(0), &message, &mut own)
                .unwrap();
        }
        outbox.clear();
    }

    #[test]
    fn orders_leave_when_due_and_answers_are_matched_by_cl_ord_id() {
        let header = HeaderTemplate::new(b"FIX.4.2", b"BENCH", b"EXEC", &[]);
        let mut outbox = Outbox::new(64 << 10, 64, header.room());
        let mut trader = Trader::new(Clock::start(), 1, EXECUTION_REPORT);
        let mut load = Load::new(Pace::PingPong, 3, 1_000_000_000);
        load.begin(trader.clock.now());
        trader.load = Some(load);

        trader.on_time(Now::default(), &mut outbox);
        assert!(outbox.is_empty(), "nothing leaves before the Logon");
        trader.on_logon(Now::default(), SessionId(0), &mut outbox);
        trader.on_time(Now::default(), &mut outbox);
        assert_eq!(
            outbox.entries().len(),
            1,
            "a closed loop has one outstanding"
        );
        outbox.seal(0, &header, 1, b"20260821-13:30:00.123");
        let mut decoder = Decoder::with_capacity(64);
        let order = decoder.decode(outbox.sealed(0));
        let id = order.get(tag::CL_ORD_ID).unwrap().to_vec();
        outbox.clear();

        // The report, then an answer to nothing, then a message that is no report, then no number.
        write_report(&mut outbox, SessionId(0), &id).unwrap();
        write_report(&mut outbox, SessionId(0), b"17").unwrap();
        write_report(&mut outbox, SessionId(0), b"none").unwrap();
        let mut heartbeat = outbox.begin(SessionId(0), b"0");
        heartbeat.field(tag::CL_ORD_ID, &id);
        heartbeat.finish().unwrap();
        deliver(&mut trader, &mut outbox, &header);

        let outcome = trader.load.take().unwrap().close();
        assert_eq!(
            outcome.faults,
            Faults {
                wrong: 3,
                ..Faults::default()
            }
        );
        assert_eq!((outcome.sent, outcome.response.len()), (1, 1));
        assert!(outcome.response.max() < 1_000_000_000);
    }
}
