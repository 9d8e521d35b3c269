//! Lines that speak TMP. Passes received frames and the time to the links, and carries out the actions that the links
//! request.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Hangup, Link, Now, Outbox, SessionId};
use fixwire_tmp::{
    ClientLinkState, LinkAction, LinkEnd, LinkNow, LinkNumbers, LinkReady, LinkSendError,
    LinkWarning, TmpFrame, TmpStatus, key_value_range,
};

use super::Oms;
use crate::decide::venue::ReportOutcome;
use crate::desk::notice::{OmsEvent, is_wrong_login};
use crate::tmp::{OmsTmpLine, TmpLines, TmpOutcome, problems, question};
use crate::values::ids::SessionNo;
use crate::values::rules::RiskRules;
use crate::values::value::Presence;

/// Maximum number of bytes of received frames that wait until the outbox has room for their effects.
const BEHIND_MOST: usize = 8 << 20;
/// Maximum number of requests that a link sends before their frames are written.
const BATCH: usize = 64;
/// Maximum number of reports that one frame causes: one for the acceptance, one for the fill, and one for the cancel of
/// the rest.
const REPORTS: usize = 3;
/// Time from the start of the process to the first login, in nanoseconds. The first login waits one second and one
/// nanosecond, so that the second is over.
const FLOW_SECOND: u64 = 1_000_000_001;
/// Maximum number of bytes of the journal note with the sequence numbers of a link.
const NOTE: usize = 64;
/// Number of consecutive refused logins after which the OMS does not log in again. The exchange would lock the session
/// at the third.
const REFUSED_MOST: u8 = 2;

/// The event of the engine has only this reason; the event of the OMS has the full reason.
const LINK_ENDED: Hangup = Hangup("the TMP link ended: the OMS has an event with the reason");

fn link_now(now: Now) -> LinkNow {
    LinkNow {
        mono_ns: now.mono.0,
        wall_ns: now.wall.0.max(0).cast_unsigned(),
    }
}

fn both((inbound, outbound): (u32, u32)) -> LinkNumbers {
    LinkNumbers { inbound, outbound }
}

impl Oms {
    /// Adds lines that speak TMP, in the order of the engine's links. The OMS holds the stop orders of their line
    /// groups. [`Oms::tmp_problems`] reports lines and settings that contradict each other.
    #[must_use]
    pub fn with_tmp_lines(mut self, lines: Vec<OmsTmpLine>) -> Self {
        self.links.tmp = TmpLines::new(lines);
        self.links.tmp.complete(&mut self.core.rules);
        self
    }

    /// Checks that lines that speak TMP and the settings do not contradict each other: one sentence for each fault.
    #[must_use]
    pub fn tmp_problems(rules: &RiskRules, lines: &[OmsTmpLine]) -> Vec<String> {
        problems(rules, lines)
    }

    /// Finds the TMP lines in the state, and continues with the sequence numbers that the state has for them.
    pub(super) fn find_links(&mut self) {
        let (state, tmp) = (self.core.state(), &mut self.links.tmp);
        for line in &mut tmp.lines {
            line.index = state.sessions().find(line.name.as_bytes());
            let numbers = line.index.map(|index| state.link_numbers(index));
            line.restart(both(numbers.unwrap_or_default()));
            if let Some(copies) = &mut line.copies {
                let mut sources = self.core.rules().copy_sources.iter();
                let source = sources.find(|it| it.session == line.name);
                copies.target = source.and_then(|it| it.target).unwrap_or(copies.target);
            }
            line.day = state.day();
        }
        tmp.scales.clone_from(&self.core.tmp_scales);
        let started = self.start.map_or(0, |(mono, _)| mono.0);
        tmp.greets_at = started.saturating_add(FLOW_SECOND);
    }

    /// Handles a frame that has arrived on a link.
    pub(super) fn link_says(
        &mut self,
        now: Now,
        from: SessionId,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let lines = &mut self.links.tmp.lines;
        let Some(line) = from.link().and_then(|at| lines.get_mut(at)) else {
            return Err(Hangup("the OMS has no line with this link"));
        };
        if line.behind > BEHIND_MOST {
            return Err(Hangup("the exchange sends faster than the OMS reads"));
        }
        line.client
            .on_frame(link_now(now), frame, &mut line.actions);
        if !line.actions.is_empty() {
            line.behind += frame.len();
        }
        self.serve_links(now, outbox);
        self.send_frames(now, outbox);
        Ok(())
    }

    /// Handles that a link is connected or disconnected.
    pub(super) fn link_is(
        &mut self,
        now: Now,
        session: SessionId,
        link: Link,
        outbox: &mut Outbox,
    ) {
        let lines = &mut self.links.tmp.lines;
        let Some(line) = session.link().and_then(|at| lines.get_mut(at)) else {
            return;
        };
        line.warned = TmpStatus::OK;
        line.is_up = link == Link::Up;
        line.greets = line.is_up;
        line.client.on_disconnect();
        if let Link::Down { .. } = link {
            self.lose_link(session);
        }
        self.serve_links(now, outbox);
    }

    /// Handles the disconnect of a link. Requests that were not sent count as in flight, like sent requests. After the
    /// next login, the exchange resends reports that were not applied.
    fn lose_link(&mut self, session: SessionId) {
        let index = self.index(session);
        let numbers = index.map(|index| self.core.state().link_numbers(index));
        let lines = &mut self.links.tmp.lines;
        if let Some(line) = session.link().and_then(|at| lines.get_mut(at)) {
            match numbers {
                Some(numbers) if !line.actions.is_empty() => line.restart(both(numbers)),
                _ => line.forget(),
            }
        }
        self.changed.push_back((session, Some(Presence::Lost)));
    }

    /// Does what is due at this time on all links.
    pub(super) fn links_at(&mut self, now: Now, outbox: &mut Outbox) {
        for line in &mut self.links.tmp.lines {
            if line.client.next_due().is_some_and(|due| due <= now.mono.0) {
                line.client.on_time(link_now(now), &mut line.actions);
            }
        }
        self.serve_links(now, outbox);
    }

    /// Carries out the actions that the links request, as far as the outbox has room.
    fn serve_links(&mut self, now: Now, outbox: &mut Outbox) {
        if !self.begin(now, outbox) || !self.renew_links(now, outbox) {
            return;
        }
        let may_greet = self.links.tmp.greets_at <= now.mono.0;
        for link in 0..self.links.tmp.lines.len() {
            let line = &mut self.links.tmp.lines[link];
            if line.greets && may_greet {
                if line.refused >= REFUSED_MOST {
                    self.leave_locked_out(now, link, outbox);
                    continue;
                }
                line.greets = false;
                line.client.on_connect(link_now(now), &mut line.actions);
            }
            self.carry_out(now, link, outbox);
        }
    }

    /// Closes the connection of a link whose login would be refused.
    fn leave_locked_out(&mut self, now: Now, link: usize, outbox: &mut Outbox) {
        if self.has_link_room(outbox) {
            self.links.tmp.lines[link].greets = false;
            let why = Hangup(
                "the exchange refused the last two logins, and would lock the session at the third: correct the link in its settings and restart",
            );
            self.close(now, link, (why, None), outbox);
        }
    }

    fn has_link_room(&self, outbox: &Outbox) -> bool {
        self.has_report_room(1, outbox)
    }

    /// Whether the outbox has room for this number of reports.
    fn has_report_room(&self, reports: usize, outbox: &Outbox) -> bool {
        let (messages, bytes) = self.room();
        // At most two of the reports that a frame causes repeat its texts.
        let bytes = bytes * reports.min(2);
        outbox.has_room(reports * messages + 1, bytes + NOTE)
    }

    fn carry_out(&mut self, now: Now, link: usize, outbox: &mut Outbox) {
        let line = &mut self.links.tmp.lines[link];
        let (Some(index), false) = (line.index, line.actions.is_empty()) else {
            return;
        };
        let (mut actions, mut done) = (core::mem::take(&mut line.actions), line.done);
        let is_copy = line.copies.is_some();
        // If the trading day of the line's sequence numbers is over, received reports count, but the line sends
        // nothing.
        let is_over = line.day != self.core.state().day();
        let mut saved = None;
        let mut left = false;
        for action in actions.iter().skip(done) {
            let reports = match action {
                LinkAction::Deliver { .. } => REPORTS,
                _ => 1,
            };
            left = !self.has_report_room(reports, outbox);
            if left {
                break;
            }
            done += 1;
            match action {
                LinkAction::Save(_) | LinkAction::Send(_) | LinkAction::Ready(_) if is_over => {}
                LinkAction::Save(_) if is_copy => {}
                LinkAction::Save(numbers) => saved = Some(numbers),
                other => self.carry_out_one(now, link, index, &other, outbox),
            }
        }
        if !left {
            actions.clear();
            done = 0;
        }
        let line = &mut self.links.tmp.lines[link];
        (line.actions, line.done) = (actions, done);
        if !left {
            line.behind = 0;
        }
        if let Some(numbers) = saved {
            self.save(now, link, index, numbers, outbox);
        }
    }

    fn save(
        &mut self,
        now: Now,
        link: usize,
        index: SessionNo,
        LinkNumbers {
            mut inbound,
            outbound,
        }: LinkNumbers,
        outbox: &mut Outbox,
    ) {
        if self.links.tmp.lines[link].is_lowered {
            inbound = self.core.state().link_numbers(index).0;
        }
        let at = self.at(now);
        let (core, mut out) = self.parts(outbox, None);
        core.set_link_numbers(at, index, inbound, outbound, &mut out);
    }

    /// Saves the lowered sequence number of a link in the journal, once the status of all orders is requested.
    fn save_lowered(&mut self, now: Now, link: usize, outbox: &mut Outbox) {
        let line = &self.links.tmp.lines[link];
        let is_ready = line.client.state() == ClientLinkState::Ready;
        let is_idle = line.queue.is_empty() && line.actions.is_empty();
        let is_done = is_ready && is_idle && !self.core.is_asking();
        if let Some(index) = line.index
            && line.is_lowered
            && is_done
            && self.has_link_room(outbox)
        {
            let numbers = line.client.numbers();
            self.links.tmp.lines[link].is_lowered = false;
            self.save(now, link, index, numbers, outbox);
        }
    }

    fn carry_out_one(
        &mut self,
        now: Now,
        link: usize,
        index: SessionNo,
        action: &LinkAction<'_>,
        outbox: &mut Outbox,
    ) {
        let session = SessionId::of_link(link as u32);
        match *action {
            LinkAction::Send(frame) => {
                // The outbox has room: that was checked before.
                let _ = outbox.frame(session, frame);
                // The journal has stars instead of the proof of the password.
                if let Some(key_value) = key_value_range(frame) {
                    outbox.mask_outbound(key_value);
                }
            }
            LinkAction::Deliver { frame, .. } => self.delivered(now, link, index, frame, outbox),
            LinkAction::Ready(LinkReady {
                max_flow_ctrl_cnt, ..
            }) => {
                let line = &mut self.links.tmp.lines[link];
                line.refused = 0;
                let (line, limit) = (&line.name, max_flow_ctrl_cnt);
                (self.listener)(OmsEvent::LinkReady { line, limit });
                self.check_flow(link, limit);
                self.ask_copies(link, index);
                if self.links.tmp.lines[link].is_lowered {
                    self.core.set_reset(index);
                }
                let at = self.at(now);
                if self.core.is_line(index) {
                    self.line_is(at, index, Some(Presence::Connected), outbox);
                    self.ask_markets(link, index);
                }
            }
            LinkAction::Warn(warning) => {
                // The exchange has lost reports, and perhaps orders.
                if let LinkWarning::NumberLowered { .. } = warning {
                    self.links.tmp.lines[link].is_lowered = true;
                }
                let line = &self.links.tmp.lines[link].name;
                (self.listener)(OmsEvent::LinkWarned { line, warning });
            }
            LinkAction::Close(why) => self.close(now, link, (LINK_ENDED, Some(why)), outbox),
            LinkAction::Save(_) | LinkAction::Keep { .. } => {}
        }
    }

    /// Requests the state of trading of each flow group from the exchange, when the settings say so.
    pub(super) fn ask_markets(&mut self, link: usize, index: SessionNo) {
        if self.core.follows_markets(index) {
            let questions = self.core.flow_groups(index).into_iter();
            let line = &mut self.links.tmp.lines[link];
            line.queue.extend(questions.filter_map(question));
        }
    }

    /// Raises an event when the exchange accepts fewer messages than the flow limit of the line's group allows.
    fn check_flow(&mut self, link: usize, limit: u16) {
        let line = &self.links.tmp.lines[link].name;
        let mut groups = self.core.rules().groups.iter();
        let Some(group) = groups.find(|group| group.lines.contains(line)) else {
            return;
        };
        if limit != 0
            && group
                .flow
                .is_some_and(|flow| flow.in_a_second() > limit.into())
        {
            let group = &group.name;
            (self.listener)(OmsEvent::FlowAbove { line, group, limit });
        }
    }

    /// Closes the connection of a link.
    fn close(
        &mut self,
        now: Now,
        link: usize,
        (hangup, why): (Hangup, Option<LinkEnd>),
        outbox: &mut Outbox,
    ) {
        let line = &mut self.links.tmp.lines[link];
        line.client.on_disconnect();
        line.queue.clear();
        line.is_up = false;
        if why.as_ref().is_some_and(is_wrong_login) {
            line.refused = line.refused.saturating_add(1);
        }
        let (index, line) = (line.index, &line.name);
        (self.listener)(match why {
            Some(why) => OmsEvent::LinkClosed { line, why },
            None => OmsEvent::LinkStopped {
                line,
                why: hangup.0,
            },
        });
        // The outbox has room: that was checked before.
        let _ = outbox.hang_up(SessionId::of_link(link as u32), hangup);
        if let Some(index) = index {
            let at = self.at(now);
            if self.links.tmp.lines[link].copies.is_some() {
                self.core.copy_session(at, index, false);
            } else {
                self.line_is(at, index, Some(Presence::Lost), outbox);
            }
        }
    }

    /// Handles an application message of the exchange.
    fn delivered(
        &mut self,
        now: Now,
        link: usize,
        index: SessionNo,
        frame: &[u8],
        outbox: &mut Outbox,
    ) {
        // The link has checked the checksum.
        let Ok(frame) = TmpFrame::read_again(frame) else {
            return;
        };
        let at = self.at(now);
        if self.links.tmp.lines[link].copies.is_some() {
            return self.copy_delivered(at, link, index, &frame, outbox);
        }
        if self.bulletin(link, &frame) {
            return;
        }
        let (core, mut out) = self.parts(outbox, None);
        let Some(said) = core.tmp_says(at, index, &frame, &mut out) else {
            return;
        };
        if let Some((state, symbols)) = said.market {
            let line = self.core.state().sessions().name(index);
            (self.listener)(OmsEvent::MarketStatus {
                line,
                state,
                symbols,
            });
        }
        self.raise_heard(&said);
        let line = &mut self.links.tmp.lines[link];
        let is_warning = matches!(said.status, TmpStatus::FLOW_80 | TmpStatus::FLOW_90);
        if is_warning && said.status > line.warned {
            line.warned = said.status;
            let (line, status) = (&line.name, said.status);
            (self.listener)(OmsEvent::FlowWarned { line, status });
        }
    }

    /// Raises the event for a report that changes no order of the OMS.
    pub(super) fn raise_heard(&mut self, said: &TmpOutcome) {
        match said.heard {
            ReportOutcome::FillsMissing(order) => self.fills_missing(order),
            ReportOutcome::NotAtVenue(order) => (self.listener)(OmsEvent::NotAtVenue { order }),
            heard @ (ReportOutcome::Unknown | ReportOutcome::Unreadable) => {
                (self.listener)(OmsEvent::StrayReport {
                    id: &said.order_no[..],
                    unreadable: heard == ReportOutcome::Unreadable,
                    is_known: said.is_known,
                    why: "",
                });
            }
            ReportOutcome::Taken | ReportOutcome::Known | ReportOutcome::Broken => {}
        }
    }

    /// Sends queued requests, as far as the flow limits and the room in the outbox allow.
    pub(super) fn send_frames(&mut self, now: Now, outbox: &mut Outbox) {
        while !self.links.tmp.unsent.is_empty() && self.has_link_room(outbox) {
            let number = self.links.tmp.unsent.pop_front().unwrap_or_default();
            let at = self.at(now);
            let (core, mut out) = self.parts(outbox, None);
            core.not_sendable(at, number, &mut out);
        }
        if !self.renew_links(now, outbox) {
            return;
        }
        for link in 0..self.links.tmp.lines.len() {
            while self.send_some(now, link, outbox) {}
            self.save_lowered(now, link, outbox);
        }
    }

    /// Sends some queued requests of a line; returns whether more can be sent.
    fn send_some(&mut self, now: Now, link: usize, outbox: &mut Outbox) -> bool {
        let room = self.has_link_room(outbox);
        let line = &mut self.links.tmp.lines[link];
        let is_idle = line.queue.is_empty() || line.due.is_some_and(|due| now.mono.0 < due);
        if line.is_overfull && room {
            line.is_overfull = false;
            let why = Hangup("more than 65536 requests wait for the flow limit");
            self.close(now, link, (why, None), outbox);
            return false;
        }
        if is_idle || !room || !line.actions.is_empty() {
            return false;
        }
        line.due = None;
        let mut failed = None;
        for _ in 0..BATCH {
            let Some(frame) = line.queue.front_mut() else {
                break;
            };
            let sent = line
                .client
                .send(link_now(now), frame.bytes_mut(), &mut line.actions);
            match sent {
                Ok(()) => {
                    line.queue.pop_front();
                }
                Err(LinkSendError::FlowLimit { wait_ns }) => {
                    line.due = Some(now.mono.0.saturating_add(wait_ns));
                    break;
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        self.carry_out(now, link, outbox);
        match failed {
            // The link was closed in this turn, so its requests count as in flight.
            Some(LinkSendError::NotReady) => self.links.tmp.lines[link].queue.clear(),
            // Without room in the outbox, the OMS tries again later.
            Some(LinkSendError::NumbersUsed) if !self.has_link_room(outbox) => {}
            Some(LinkSendError::NumbersUsed) => {
                let why = Hangup("all sequence numbers of the day are used");
                self.close(now, link, (why, None), outbox);
            }
            Some(_) => {
                self.links.tmp.lines[link].queue.pop_front();
            }
            None => {}
        }
        let line = &self.links.tmp.lines[link];
        let has_more = !line.queue.is_empty() && line.due.is_none();
        has_more && line.actions.is_empty() && failed.is_none()
    }

    /// Starts new connections on a new trading day, because the sequence numbers of a day begin again. Returns true
    /// when all lines have the new sequence numbers. Reports that were received before are handled first.
    fn renew_links(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        if !self.begun {
            return false;
        }
        let day = self.core.state().day();
        for link in 0..self.links.tmp.lines.len() {
            if self.links.tmp.lines[link].day == day {
                continue;
            }
            self.carry_out(now, link, outbox);
            let line = &self.links.tmp.lines[link];
            if !line.actions.is_empty() || !self.has_link_room(outbox) {
                return false;
            }
            if line.is_up && !line.greets {
                let why = Hangup("a new trading day: sequence numbers begin again at 1");
                self.close(now, link, (why, None), outbox);
            }
            let line = &mut self.links.tmp.lines[link];
            line.restart(LinkNumbers::default());
            line.day = day;
        }
        true
    }
}
