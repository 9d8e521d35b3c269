//! Moves reports to the outbox, as far as the outbox has room and injected faults allow it.

use alloc::vec::Vec;

use fixwire_protocol::{BodyError, Message, Mono, Now, Outbox, Refusal, SessionId, Tag, tag};
use fixwire_tmp::TmpFrame;

use super::{Exchange, NOTE_ROOM, RETRY};
use crate::dialect::Dialect;
use crate::event::MarketEvent;
use crate::faults::Fate;
use crate::fields::{FieldWriter, each};

/// BusinessRejectReason(380) = 4, Application not available.
const NOT_AVAILABLE: u64 = 4;

/// The result of trying to deliver a report.
enum Left {
    /// The report was written, or a fault suppressed it.
    Done,
    /// A fault lets the next report overtake this one. The next report was written, so this report may be sent now.
    Overtaken,
    /// The report and later reports for the same member wait until this time; `None` means without a time limit.
    Waits(Option<Mono>),
    /// The outbox is full.
    Full,
}

/// Answers a request with a BusinessMessageReject(j) that refers to the id of the request, as venues do.
pub(super) fn business_reject(
    from: SessionId,
    request: &Message<'_>,
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let of = |tag| request.get(tag).unwrap_or_default();
    let mut body = outbox.begin(from, b"j");
    body.field(tag::REF_SEQ_NUM, of(tag::MSG_SEQ_NUM));
    body.field(tag::REF_MSG_TYPE, request.msg_type());
    let id = match request.msg_type() {
        b"R" => tag::QUOTE_REQ_ID,
        b"V" => tag::MD_REQ_ID,
        b"c" | b"x" => tag::SECURITY_REQ_ID,
        b"e" => tag::SECURITY_STATUS_REQ_ID,
        b"g" => tag::TRAD_SES_REQ_ID,
        _ => tag::CL_ORD_ID,
    };
    body.field(tag::BUSINESS_REJECT_REF_ID, of(id));
    body.uint(tag::BUSINESS_REJECT_REASON, NOT_AVAILABLE);
    body.field(tag::TEXT, b"Rejected by an injected fault");
    body.finish().map_err(|_| Refusal::NotAvailable)
}

/// The fields of a report after a fault has changed them: each value in `sets` replaces the report's value, or is
/// appended if the report lacks the field. An empty value removes the field.
fn with(body: &[u8], sets: &[(Tag, Vec<u8>)]) -> Vec<u8> {
    let mut out = FieldWriter::default();
    let mut left: Vec<&(Tag, Vec<u8>)> = sets.iter().collect();
    for (tag, value) in each(body) {
        match left.iter().position(|(set, _)| *set == tag) {
            Some(at) => out.put(tag, &left.remove(at).1),
            None => out.put(tag, &body[value]),
        };
    }
    for (tag, value) in left {
        out.put(*tag, value);
    }
    out.0
}

impl Exchange {
    /// Writes the waiting reports, then copies of reports, then market data. Returns the time at which to try again,
    /// if anything is left.
    pub(super) fn deliver(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let due = self.deliver_reports(now, outbox);
        let due = [due, self.repeat_reports(now, outbox)];
        let mut due = due.into_iter().flatten().min();
        if self.market.tape.is_some() && !self.feeds.publish(&mut self.market, outbox) {
            let again = now.mono + RETRY;
            due = Some(due.map_or(again, |due| due.min(again)));
        }
        if self.subscriptions.is_empty() || self.is_broken {
            return due;
        }
        let copies = self.send_copies(now, outbox);
        [due, copies].into_iter().flatten().min()
    }

    /// Writes the waiting reports, and one note that they were written.
    fn deliver_reports(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        self.draw(now.mono);
        // The `run` reports from `at` on are written but not noted yet; the reports before `at` wait.
        let (mut at, mut run) = (0, 0);
        let mut waiting: Vec<u32> = Vec::new();
        let mut due: Option<Mono> = None;
        while let Some(member) = self.market.waiting.get(at + run).map(|it| it.member) {
            let left = if waiting.contains(&member) {
                Left::Waits(None)
            } else if self.faults.fates[at + run] == Fate::Behind {
                if !self.note_written(at, run, outbox) {
                    return None;
                }
                run = 0;
                self.overtake(at, member, now, outbox)
            } else {
                self.pass(at + run, now, outbox)
            };
            match left {
                Left::Done => run += 1,
                Left::Overtaken => {}
                Left::Full => {
                    due = Some(now.mono + RETRY);
                    break;
                }
                Left::Waits(until) => {
                    if !self.note_written(at, run, outbox) {
                        return None;
                    }
                    run = 0;
                    at += 1;
                    waiting.push(member);
                    due = [due, until].into_iter().flatten().min();
                }
            }
        }
        self.note_written(at, run, outbox);
        due
    }

    /// Decides which faults apply to new reports, in the order of the reports.
    fn draw(&mut self, now: Mono) {
        let members = &self.market.members;
        for index in self.faults.fates.len()..self.market.waiting.len() {
            let report = &self.market.waiting[index];
            let member = members.get(report.member as usize);
            let name = member.map_or("", |member| member.name.as_str());
            let is_tmp = member.is_some_and(|member| member.dialect == Dialect::Tmp);
            let fate = if self.faults.is_empty() {
                Fate::Send
            } else if is_tmp {
                let frame = TmpFrame::read(&report.body);
                let message = frame.map_or("", |frame| frame.name());
                self.faults.fate(now, name, message.as_bytes(), true)
            } else {
                self.faults.fate(now, name, &[report.msg_type], false)
            };
            self.faults.fates.push_back(fate);
        }
    }

    /// Sends the next report for the same member before the report at `at`, which a fault makes wait for it.
    fn overtake(&mut self, at: usize, member: u32, now: Now, outbox: &mut Outbox) -> Left {
        let mut behind = self.market.waiting.iter().skip(at + 1);
        let Some(next) = behind.position(|report| report.member == member) else {
            return Left::Waits(None);
        };
        let next = at + 1 + next;
        match self.pass(next, now, outbox) {
            Left::Done => {
                self.faults.fates[at] = Fate::Send;
                if self.note_written(next, 1, outbox) {
                    Left::Overtaken
                } else {
                    Left::Full
                }
            }
            left => left,
        }
    }

    /// Sends the report at an index, if it may be sent.
    fn pass(&mut self, index: usize, now: Now, outbox: &mut Outbox) -> Left {
        let report = &self.market.waiting[index];
        let member = self.market.members.get(report.member as usize);
        if member.is_some_and(|member| self.faults.stalls(&member.name)) {
            return Left::Waits(None);
        }
        let times = match &self.faults.fates[index] {
            Fate::Drop => return Left::Done,
            Fate::After(until) if now.mono < *until => return Left::Waits(Some(*until)),
            Fate::Twice => 2,
            _ => 1,
        };
        let changed = match &self.faults.fates[index] {
            Fate::Changed(sets) => Some(with(&report.body, sets)),
            _ => None,
        };
        // A member whose session is no longer configured receives nothing.
        let route = self.routes.get(&report.member).copied();
        let Some(session) = route.or_else(|| self.route(report.member)) else {
            return Left::Done;
        };
        if let Some(at) = session.link() {
            return self.pass_frame(index, (at, times), now, outbox);
        }
        // The note about this report, and about the reports written before it, needs room too.
        let bytes = times * report.body.len() + 3 * NOTE_ROOM;
        if !outbox.has_room(times + 2, bytes) {
            return Left::Full;
        }
        let said = changed.as_ref().unwrap_or(&report.body);
        for _ in 0..times {
            let mut body = outbox.begin(session, &[report.msg_type]);
            body.encoded(said);
            if body.finish() == Err(BodyError::Full) {
                return Left::Full;
            }
        }
        self.note_again(index);
        Left::Done
    }

    /// Schedules a second delivery of the report at an index, if a fault repeats it.
    fn note_again(&mut self, index: usize) {
        if let Fate::Again(at) = self.faults.fates[index] {
            let report = self.market.waiting[index].clone();
            self.faults.again.push((at, report));
        }
    }

    /// Sends the repeated reports that are due. Returns the time at which the next one is due.
    fn repeat_reports(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        while let Some(index) = self.faults.due_again(now.mono) {
            let (_, report) = &self.faults.again[index];
            let bytes = 3 * (report.body.len() + NOTE_ROOM);
            if !outbox.has_room(6, bytes) {
                return Some(now.mono + RETRY);
            }
            let (_, report) = self.faults.again.remove(index);
            let Some(session) = self.route(report.member) else {
                continue;
            };
            if let Some(at) = session.link() {
                self.line_report(now, at, &report.body, outbox);
                continue;
            }
            let mut body = outbox.begin(session, &[report.msg_type]);
            body.encoded(&report.body);
            // The outbox has room for the report, and the report was written once before, so this cannot fail.
            let _ = body.finish();
        }
        self.faults.again.iter().map(|(at, _)| *at).min()
    }

    /// Sends a report over a TMP line. The frame gets its MsgSeqNum and a note even if the member is not logged in.
    fn pass_frame(
        &mut self,
        index: usize,
        (at, times): (usize, usize),
        now: Now,
        outbox: &mut Outbox,
    ) -> Left {
        let body = &self.market.waiting[index].body;
        // Room for the frame, its note and closing the connection; and for the notes about written reports.
        let bytes = times * (2 * body.len() + 2 * NOTE_ROOM) + 3 * NOTE_ROOM;
        if !outbox.has_room(times * 4 + 2, bytes) {
            return Left::Full;
        }
        let frame = body.clone();
        for _ in 0..times {
            self.line_report(now, at, &frame, outbox);
        }
        self.note_again(index);
        Left::Done
    }

    /// Writes a note that `count` reports from an index on were written. A report must not be sent twice, so the
    /// exchange stops if the note cannot be written.
    fn note_written(&mut self, at: usize, count: usize, outbox: &mut Outbox) -> bool {
        if count == 0 {
            return true;
        }
        self.faults.fates.drain(at..at + count);
        let event = MarketEvent::Written {
            at: at as u64,
            count: count as u64,
        };
        let is_kept = self.keep(event, outbox).is_ok();
        self.is_broken |= !is_kept;
        is_kept
    }

    /// The engine session of a member; `None` if the member no longer has one.
    fn route(&self, member: u32) -> Option<SessionId> {
        let member = self.market.members.get(member as usize)?;
        if member.dialect == Dialect::Tmp {
            let mut lines = self.lines.iter();
            let index = lines.position(|line| line.name == member.name)?;
            return u32::try_from(index).ok().map(SessionId::of_link);
        }
        let mut seats = self.seats.iter();
        let index = seats.position(|seat| seat.name == member.name)?;
        u32::try_from(index).ok().map(SessionId)
    }
}
