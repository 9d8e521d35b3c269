//! Copies of reports for lines that subscribe to them. An R15 requests the subscription, an R16 answers it, and then an
//! R06 follows for each report. A line for copies has ap_code 7 or 8 and sends no orders.

use fixwire_protocol::{Mono, Now, Outbox, SessionId};
use fixwire_tmp::messages::{R06, R15, R16};
use fixwire_tmp::uncertain::{ReportTarget, WRONG_MEMBER, WRONG_TARGET};
use fixwire_tmp::{ExchangeLinkState, TmpLayout, TmpStatus};

use super::{Exchange, NOTE_ROOM, RETRY};
use crate::faults::Fate;
use crate::tmp::copies::CopySubscription;
use crate::tmp::reports::encode;

/// The result for the next report of a subscription.
enum Next {
    /// A copy of the report was sent, or the subscription does not include the report.
    Passed,
    /// No report is left, or a fault holds the next report back for an unlimited time.
    Nothing,
    /// The next report waits until this time.
    Later(Mono),
}

impl Exchange {
    /// Answers an R15. A new subscription of a line replaces the line's earlier subscription for the same target.
    pub(super) fn subscribe(&mut self, at: usize, asked: &R15, refusal: Option<TmpStatus>) -> R16 {
        let line = &self.lines[at];
        let target = ReportTarget::of(asked.target_id);
        let status = match target {
            _ if refusal.is_some() => refusal.unwrap_or_default(),
            _ if !line.gets_copies() => TmpStatus::AP_CODE,
            _ if asked.member != line.settings.fcm_id => WRONG_MEMBER,
            None => WRONG_TARGET,
            Some(_) => TmpStatus::OK,
        };
        if let (Some(target), Some(copies)) = (target, &self.market.copies)
            && status.is_success()
        {
            let next = copies.first(asked.req_seq);
            let is_same = |it: &CopySubscription| (it.line, it.target_id) == (at, asked.target_id);
            self.subscriptions.retain(|it| !is_same(it));
            self.subscriptions.push(CopySubscription {
                line: at,
                target_id: asked.target_id,
                target,
                member: asked.member,
                next,
                until: None,
                behind: None,
            });
        }
        R16 {
            status,
            member: asked.member,
            target_id: asked.target_id,
            req_seq: asked.req_seq,
        }
    }

    /// Ends the subscriptions of a line whose connection closed.
    pub(super) fn unsubscribe(&mut self, session: SessionId) {
        let line = session.link();
        self.subscriptions.retain(|it| Some(it.line) != line);
    }

    /// Sends copies of reports as far as the outbox has room and faults allow it. Returns when to continue.
    pub(super) fn send_copies(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let mut due: Option<Mono> = None;
        for index in 0..self.subscriptions.len() {
            loop {
                match self.next_copy(index, now, outbox) {
                    Next::Passed => {}
                    Next::Nothing => break,
                    Next::Later(until) => {
                        due = [due, Some(until)].into_iter().flatten().min();
                        break;
                    }
                }
            }
        }
        due
    }

    fn next_copy(&mut self, index: usize, now: Now, outbox: &mut Outbox) -> Next {
        let (subscription, Some(copies)) = (&mut self.subscriptions[index], &self.market.copies)
        else {
            return Next::Nothing;
        };
        let (line, target_id) = (subscription.line, subscription.target_id);
        let Some((member, report)) = copies.get(&mut subscription.next) else {
            return Next::Nothing;
        };
        if !subscription.has(&report) {
            subscription.next += 1;
            return Next::Passed;
        }
        let numbers = self.line_numbers(line);
        if self.lines[line].link(numbers).state() != ExchangeLinkState::Ready
            || self.faults.stalls(&self.lines[line].name)
        {
            return Next::Nothing;
        }
        // Room for a copy that a fault sends twice, for a reordered copy, and for closing the connection.
        if !outbox.has_room(4, 3 * R06::SIZE + NOTE_ROOM) {
            return Next::Later(now.mono + RETRY);
        }
        let session_id = self.reported_on(member);
        let copy = R06::of(&report, target_id, session_id);
        let subscription = &mut self.subscriptions[index];
        let fate = match subscription.until {
            Some(until) if now.mono < until => return Next::Later(until),
            Some(_) => Fate::Send,
            None => {
                let name = &self.lines[line].name;
                self.faults.fate(now.mono, name, R06::NAME.as_bytes(), true)
            }
        };
        if let Fate::After(until) = fate {
            subscription.until = Some(until);
            return Next::Later(until);
        }
        subscription.until = None;
        subscription.next += 1;
        let (first, second) = match fate {
            Fate::Drop | Fate::After(_) => (None, None),
            Fate::Behind if subscription.behind.is_none() => {
                subscription.behind = Some(copy);
                (None, None)
            }
            // A copy that a fault would repeat later is repeated at once.
            Fate::Twice | Fate::Again(_) => (Some(copy), Some(copy)),
            Fate::Send | Fate::Behind | Fate::Changed(_) => {
                (Some(copy), subscription.behind.take())
            }
        };
        for copy in [first, second].into_iter().flatten() {
            self.push_frame(now, line, &mut encode(&copy), outbox);
        }
        Next::Passed
    }

    /// The session_id of the line that received a report; 0 for a line that is no longer configured.
    fn reported_on(&self, member: u32) -> u16 {
        let member = self.market.members.get(member as usize);
        let line = member.and_then(|it| self.lines.iter().find(|line| line.name == it.name));
        line.map_or(0, |line| line.settings.session_id)
    }
}
