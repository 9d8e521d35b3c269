//! The trail of a session: what is logged although nothing changes by it, and how much of that.
//!
//! Messages out of sequence and messages that are resent change no number, so no record is needed for
//! a restart. They are recorded for whoever reads the log. A peer could cause them without end, so
//! they may take so many bytes an hour; the rest is counted, and the count is an event.

use std::time::Duration;

use fixwire_protocol::session::Fate;
use fixwire_protocol::{Message, Mono, Nanos, Now};

use crate::bucket::{Bucket, Rate};
use crate::commit::{Core, INBOUND};
use crate::journal::record::record_bytes;
use crate::journal::{Arrival, Cause, Counters, Disk, JournalError, Kind, Position};
use crate::redact::Redactor;

/// Time between two events about messages that are not logged.
const REPORT_EVERY: Nanos = Nanos(10_000_000_000);

/// How much of a session is logged, and what was not.
#[derive(Debug)]
pub(crate) struct Trail {
    bucket: Bucket,
    /// Messages that were not logged and of which no event has told.
    left_out: u64,
    /// When the next event may be.
    report_at: Mono,
}

impl Trail {
    /// So many bytes an hour, and as many at once.
    pub(crate) fn new(bytes_per_hour: u32) -> Self {
        let rate = Rate {
            count: bytes_per_hour,
            per: Duration::from_secs(3600),
            burst: bytes_per_hour,
        };
        Self {
            bucket: Bucket::new(&rate),
            left_out: 0,
            report_at: Mono(0),
        }
    }

    /// Whether a record of so many bytes may be written.
    fn admits(&mut self, now: Mono, bytes: u64) -> bool {
        let admits = self.bucket.available(now) >= bytes;
        if admits {
            self.bucket.spend(now, bytes);
        }
        admits
    }

    /// When an event is due.
    pub(crate) fn due(&self) -> Option<Mono> {
        (self.left_out > 0).then_some(self.report_at)
    }

    /// How many messages were not logged since this was asked last; the next ones are told later.
    pub(crate) fn take(&mut self, now: Mono) -> Option<u64> {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            self.report_at = now + REPORT_EVERY;
        }
        (left_out > 0).then_some(left_out)
    }
}

impl<D: Disk> Core<D> {
    /// Commits a message that was not given to the application, or one that was queued until now.
    #[inline(never)]
    pub(crate) fn commit_aside(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        arrival: Option<Arrival>,
    ) -> Result<(), JournalError> {
        if let Some(arrival) = arrival {
            return self.commit(now, session, Kind::Dequeued, Some(&arrival.to_bytes()));
        }
        let fate = self.sessions[session].fate();
        let kind = match fate {
            Fate::Taken => Kind::Message,
            Fate::Queued { .. } => Kind::Queued,
            Fate::Duplicate => Kind::Duplicate,
            Fate::Ignored => Kind::Ignored,
        };
        let before = self.journal.records_written();
        self.commit(now, session, kind, Some(message.bytes()))?;
        if let Fate::Queued { number } = fate
            && self.keeps_trail
            && self.journal.records_written() > before
        {
            let at = self.journal.last_record().bits();
            self.sessions[session].mark_held(number, at);
        }
        Ok(())
    }

    /// Where the queued message came in that the session has just given, if that was recorded.
    pub(crate) fn arrival(&self, session: usize) -> Option<Arrival> {
        let state = &self.sessions[session];
        let at = Position::from_bits(state.held_mark());
        let number = state.next_in();
        (at != Position::START).then_some(Arrival { number, at })
    }

    /// Logs a message of which nothing came, for the connection is about to be closed.
    #[cold]
    pub(crate) fn commit_ignored(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
    ) -> Result<(), JournalError> {
        if Redactor::concerns_message(message) {
            let private = Redactor::concerns(message.msg_type());
            self.redactor.copy(INBOUND, message.bytes(), private);
        }
        self.commit(now, session, Kind::Ignored, Some(message.bytes()))
    }

    /// Writes a record that changes nothing, if the session is logged on and may still write some.
    #[cold]
    pub(crate) fn log_only(
        &mut self,
        now: Now,
        session: usize,
        kind: Kind,
        body: &[u8],
    ) -> Result<(), JournalError> {
        let (line, state) = (&mut self.lines[session], &self.sessions[session]);
        let logged_on = line.logged_on || state.is_logged_on();
        if self.keeps_trail && logged_on {
            let body = self.redactor.kept(INBOUND, body);
            if line.trail.admits(now.mono, record_bytes(body.len())) {
                let known = self.journal.counters(line.journal);
                let Counters {
                    next_in,
                    next_out,
                    epoch,
                } = known.unwrap_or(Counters::NEW);
                let cause = Cause {
                    session: line.journal,
                    kind,
                    inbound: Some(body),
                    next_in,
                    next_out,
                    epoch,
                };
                self.journal.append(now.wall, cause, std::iter::empty())?;
            } else {
                line.trail.left_out += match kind {
                    Kind::Resent => self.resent.messages(),
                    _ => 1,
                };
                line.wake = line.wake.min(line.trail.report_at);
                self.due = self.due.min(line.wake);
            }
        }
        self.redactor.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_counted_and_told_now_and_then() {
        let hour = 3_600_000_000_000;
        let mut trail = Trail::new(1000);
        let at = |nanos| Mono(nanos);
        assert!(trail.admits(at(1), 900));
        assert!(!trail.admits(at(1), 101));
        assert!(trail.admits(at(1), 100));
        assert_eq!((trail.due(), trail.take(at(1))), (None, None));
        trail.left_out = 3;
        assert_eq!(trail.due(), Some(Mono(0)));
        assert_eq!(trail.take(at(1)), Some(3));
        trail.left_out = 2;
        assert_eq!(trail.due(), Some(Mono(1) + REPORT_EVERY));
        assert!(!trail.admits(at(hour / 4), 300));
        assert!(trail.admits(at(hour / 2), 300));
        assert!(trail.admits(at(3 * hour), 1000));
    }
}
