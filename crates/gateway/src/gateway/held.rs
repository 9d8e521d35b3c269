//! Held messages: each is sent when its target logs on, or dropped when its time to live expires.
//!
//! ```text
//! a message for a target that is away, or whose queue is not empty  > queue
//! the first of a queue:  its target is logged on                    > outbox
//!                        expired, or its target was removed         > the order ends, the source gets a reject
//! ```
//!
//! The note of each step is in the same journal record as the step.

use fixwire_protocol::{BodyError, Mono, Nanos, Now, Outbox, SessionId};

use super::notes::{ANSWERED, came_at, held, target};
use super::passage::Passage;
use super::work::Work;
use super::{Gateway, GatewayEvent, Trouble};

/// Maximum number of messages that leave the queues in one turn.
const PER_TURN: usize = 256;
/// Interval at which the gateway checks whether the system clock was set.
pub(super) const LOOK: Nanos = Nanos(1_000_000_000);
/// Upper bound for the bytes of a reject, without the fields that it repeats from the message.
pub(super) const ANSWER: usize = 1024;

/// The messages held for one session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiting<'g> {
    /// The session's name.
    pub session: &'g str,
    /// Number of messages held for the session.
    pub messages: u64,
    /// Memory of the held messages of the session, in bytes.
    pub bytes: u64,
}

/// The result of serving the first message of a queue.
enum Step {
    /// The message has left the queue.
    Left,
    /// The queue needs no work before this time; `None` if it is empty.
    Waits(Option<Mono>),
    /// The outbox has no room for the message.
    NoRoom,
}

impl Gateway {
    /// Number and memory of the held messages, for each session that has some.
    pub fn held(&self) -> impl Iterator<Item = Waiting<'_>> {
        let notes = &self.core.notes;
        (0..notes.queues.rows()).filter_map(|row| {
            let (messages, bytes) = notes.queues.size(row);
            let session = notes.name(target(row)).unwrap_or_default();
            (messages > 0).then_some(Waiting {
                session,
                messages,
                bytes,
            })
        })
    }

    /// Sends or drops the held messages that are due. Returns the time at which this function must be called again.
    #[cold]
    pub(super) fn serve_held(&mut self, now: Now, outbox: &mut Outbox) -> Mono {
        let rows = self.core.notes.queues.rows();
        let first = self.first_queue.min(rows);
        let mut due = now.mono + LOOK;
        self.core.notes.set_time(now.wall);
        let mut left = PER_TURN;
        for row in (first..rows).chain(0..first) {
            let next = loop {
                if left == 0 {
                    break Some(now.mono);
                }
                match self.first_of(row, now, outbox) {
                    Step::Left => left -= 1,
                    Step::Waits(next) => break next,
                    Step::NoRoom => left = 0,
                }
            };
            due = next.map_or(due, |next| due.min(next));
        }
        // The next turn begins with the next queue.
        self.first_queue = (first + 1) % rows.max(1);
        self.core.held_due = due;
        due
    }

    /// Sends or drops the first message of a queue, if it is due.
    fn first_of(&mut self, row: usize, now: Now, outbox: &mut Outbox) -> Step {
        let Some(came) = self.core.notes.queues.peek(row) else {
            return Step::Waits(None);
        };
        let Some(to) = self.core.notes.place(target(row)) else {
            return self.give_up(row, Trouble::TargetGone, now, outbox);
        };
        let left = match self.core.sessions[to].time_to_live {
            Some(live) => {
                let age = now.wall.0.saturating_sub(came_at(came).0);
                (live.0 as i64).saturating_sub(age)
            }
            None => i64::MAX,
        };
        if left <= 0 {
            return self.give_up(row, Trouble::Expired, now, outbox);
        }
        match self.active[to] && self.open[to] {
            true => self.deliver(row, to, now, outbox),
            false => Step::Waits(Some(now.mono + Nanos(left as u64))),
        }
    }

    /// Writes the first message of a queue for its target.
    fn deliver(&mut self, row: usize, to: usize, now: Now, outbox: &mut Outbox) -> Step {
        let Self { core, record, .. } = self;
        core.notes.queues.front(row, record);
        if !outbox.is_empty() && !outbox.has_room(2, record.len()) {
            return Step::NoRoom;
        }
        let before = outbox.entries().len();
        let held = held(record);
        let message = held.ok_or(Trouble::NotWritten(BodyError::Full));
        let written = message.and_then(|held| {
            let mut body = outbox.begin(SessionId(to as u32), held.msg_type.0);
            body.encoded(held.fields.0);
            Ok(body.finish()?)
        });
        // The note is written after the message, because a note cannot be taken back.
        match written.and_then(|()| core.notes.leaves(row, outbox)) {
            Ok(()) => {
                core.counters
                    .passed(held.map_or(Passage::Sent, |held| held.passage));
                Step::Left
            }
            // The message does not fit even into an empty outbox: the outbox was larger when the message arrived.
            Err(trouble) => {
                outbox.truncate(before);
                self.give_up(row, trouble, now, outbox)
            }
        }
    }

    /// Drops the first message of a queue without delivering it.
    fn give_up(&mut self, row: usize, trouble: Trouble, now: Now, outbox: &mut Outbox) -> Step {
        let Self {
            rules,
            active,
            open,
            core,
            record,
            decoder,
            ..
        } = self;
        let target = target(row);
        let mark = core.notes.queues.front(row, record);
        if !outbox.is_empty() && !outbox.has_room(4, 2 * record.len() + ANSWER) {
            return Step::NoRoom;
        }
        if core.notes.leaves(row, outbox).is_err() {
            return Step::Waits(None);
        }
        let Some(held) = held(record) else {
            return Step::Left;
        };
        if !held.known.0.is_empty() {
            // If the outbox has no room for this note, the order stays open, now and after a restart.
            let _ = core.notes.not_delivered(target, held.known.0, outbox);
        }
        let message = decoder.decode(held.came.0);
        let session = |number| {
            core.notes
                .place(number)
                .map(|place| SessionId(place as u32))
        };
        let (from, to) = (session(SessionId(held.source)), session(target));
        core.counters.undelivered += 1;
        core.counters.troubles += 1;
        (core.listener)(GatewayEvent::Undelivered {
            from,
            to,
            message,
            trouble,
        });
        if let Some(from) = from.filter(|_| mark == Some(ANSWERED)) {
            let sessions = (&active[..], &open[..]);
            let mut work = Work::new(core, rules, sessions, now, from, &message, outbox);
            work.refuse(trouble);
        }
        Step::Left
    }
}
