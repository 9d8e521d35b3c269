//! The initiator of the benchmark: sends orders when they are due, checks and times the answers.

use fixwire_protocol::{
    Application, Message, Mono, Now, Outbox, PeerLogout, Refusal, SessionId, tag,
};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{EXECUTION_REPORT, OrderWriter};

use crate::load::{Load, RunState};
use crate::sockets::client::BATCH;
use crate::sockets::push::Pushed;

/// The only session of its engine.
const SESSION: SessionId = SessionId(0);

/// An [`Application`] with one session that plays a [`Load`].
#[derive(Debug)]
pub struct Trader {
    /// The run of orders in progress.
    pub load: Option<Load>,
    /// The run in which the acceptor pushes reports, if any.
    pub pushed: Option<Pushed>,
    logged_on: bool,
    clock: Clock,
    writer: OrderWriter,
}

impl Trader {
    /// A trader that is not logged on.
    pub fn new(clock: Clock) -> Self {
        Self {
            load: None,
            pushed: None,
            logged_on: false,
            clock,
            writer: OrderWriter::default(),
        }
    }

    /// Whether the session of the trader is logged on.
    pub fn is_logged_on(&self) -> bool {
        self.logged_on
    }

    /// Whether the current run continues, and how far it is; `None` between two runs.
    pub fn progress(&self, now: u64) -> Option<(RunState, usize)> {
        match (&self.load, &self.pushed) {
            (Some(load), _) => Some((load.state(now), load.moves())),
            (None, Some(pushed)) => Some((pushed.state(now), pushed.moves())),
            (None, None) => None,
        }
    }

    /// Handles an unsolicited message of the acceptor.
    fn on_pushed(
        &mut self,
        begun: Option<u64>,
        now: Now,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let at = self.clock.now();
        let Some(pushed) = &mut self.pushed else {
            return Ok(());
        };
        let Some(begun) = begun else {
            pushed.wrong();
            return Ok(());
        };
        if pushed.arrived(begun, at) {
            let cl_ord_id = self.clock.to_wall(at);
            self.writer
                .write(outbox, SESSION, cl_ord_id, now.wall)
                .map_err(|_| Refusal::NotAvailable)?;
        }
        Ok(())
    }
}

impl Application for Trader {
    fn on_message(
        &mut self,
        now: Now,
        _from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let intended = match message.uint(tag::CL_ORD_ID) {
            Some(Ok(wall)) if message.msg_type() == EXECUTION_REPORT => self.clock.from_wall(wall),
            _ => None,
        };
        let Some(load) = &mut self.load else {
            return self.on_pushed(intended, now, outbox);
        };
        match intended {
            Some(intended) => load.answered(intended, self.clock.now()),
            None => load.wrong(),
        }
        Ok(())
    }

    fn on_logon(&mut self, _: Now, _: SessionId, _: &Message<'_>, _: &mut Outbox) {
        self.logged_on = true;
    }

    fn on_logout(&mut self, _now: Now, _session: SessionId, _logout: PeerLogout<'_>) {
        self.logged_on = false;
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let load = self.load.as_mut().filter(|_| self.logged_on)?;
        for _ in 0..BATCH {
            let actual = self.clock.now();
            let Some(intended) = load.due(actual) else {
                break;
            };
            let cl_ord_id = self.clock.to_wall(intended);
            let written = self.writer.write(outbox, SESSION, cl_ord_id, now.wall);
            if written.is_err() {
                // The outbox has no room now: the order stays due and is sent later. Its response time includes the
                // delay.
                break;
            }
            load.sent(intended, actual);
        }
        // The engine calls again at once: the measuring thread spins.
        Some(now.mono)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Faults, Pace};
    use fixwire_protocol::{Decoder, HeaderTemplate};
    use fixwire_stamps::scenario::write_report;

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
        let mut trader = Trader::new(Clock::start());
        let mut load = Load::new(Pace::PingPong, 3, 1_000_000_000);
        load.begin(trader.clock.now());
        trader.load = Some(load);

        trader.on_time(Now::default(), &mut outbox);
        assert!(outbox.is_empty(), "nothing leaves before the Logon");
        let mut decoder = Decoder::with_capacity(1);
        let logon = decoder.decode(b"35=A\x01");
        trader.on_logon(Now::default(), SessionId(0), &logon, &mut outbox);
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

        // The report, an unsolicited answer, a message that is not a report, and no number.
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
