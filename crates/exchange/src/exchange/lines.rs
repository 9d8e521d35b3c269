//! TMP lines: handles received frames, sends frames, and writes the notes that the links require.

use alloc::vec::Vec;

use fixwire_ledger::Bytes;
use fixwire_protocol::{Hangup, Mono, Now, Outbox, SessionId};
use fixwire_tmp::messages::{R01, R07, R09, R11, R13, R15, R31, R37, R39};
use fixwire_tmp::{
    ApCode, ExchangeLinkState, LinkAction, LinkActions, LinkNumbers, TmpExecType, TmpFrame,
    TmpLayout, TmpStatus, key_value_range,
};

use super::{Exchange, NOTE_ROOM, RETRY, WAITING_MAX};
use crate::dialect::Dialect;
use crate::event::{MarketEvent, MemberRequest, RequestMsgType};
use crate::faults::LineFault;
use crate::fields::RequestFields;
use crate::tmp::line::link_now;
use crate::tmp::reports::{self, encode, shorten};
use crate::tmp::request::{self, TmpAsker, TmpRequest};
use crate::tmp::store::KeptFrames;

/// Closes a connection when the outbox has no room for the answer to a frame.
const FULL: Hangup = Hangup("no room in the outbox of the engine: log in again");
/// Room for the notes of a request, in bytes.
const REQUEST_ROOM: usize = 8192;

impl Exchange {
    /// Handles a new connection. If the line is new, it becomes a member.
    pub(super) fn line_up(&mut self, now: Now, at: usize, outbox: &mut Outbox) {
        self.lines[at].ending = None;
        if self.list(now, outbox).is_err() || self.line_member(at, outbox).is_none() {
            // Nothing was sent to the peer yet, so the peer will connect again.
            return self.end_line(at, Err(FULL), outbox);
        }
        let numbers = self.line_numbers(at);
        self.lines[at].link(numbers).on_connect(link_now(now));
    }

    /// Handles a frame of a member.
    pub(super) fn line_frame(
        &mut self,
        now: Now,
        at: usize,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        if let Some(why) = self.lines[at].ending.take() {
            return Err(why);
        }
        let numbers = self.line_numbers(at);
        let member = self.market.member(&self.lines[at].name);
        let store = member.and_then(|member| self.market.links.get(&member));
        let line = &mut self.lines[at];
        let mut actions = core::mem::take(&mut self.actions);
        actions.clear();
        let message = TmpFrame::read(frame).map_or("", |read| read.name());
        let state = line.link(numbers).state();
        let is_up = !matches!(state, ExchangeLinkState::Down | ExchangeLinkState::Dropping);
        let status = is_up.then(|| self.faults.refuses(&line.name, message));
        if let Some(status) = status.flatten() {
            line.refused = Some("refused by an injected fault");
            let link = line.link(numbers);
            link.refuse(link_now(now), TmpStatus(status), &mut actions);
        } else {
            let link = line.link(numbers);
            link.on_frame(link_now(now), frame, &mut KeptFrames(store), &mut actions);
        }
        let done = self.carry_out(now, at, &actions, outbox);
        self.actions = actions;
        done
    }

    /// Handles the timers of the lines. Returns the time at which the next timer is due.
    pub(super) fn line_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let mut due = None;
        for at in 0..self.lines.len() {
            if let Some(why) = self.lines[at].ending.take() {
                self.end_line(at, Err(why), outbox);
            }
            let Some(link) = self.lines[at].used() else {
                continue;
            };
            let mut actions = core::mem::take(&mut self.actions);
            actions.clear();
            link.on_time(link_now(now), &mut actions);
            let done = self.carry_out(now, at, &actions, outbox);
            self.actions = actions;
            self.end_line(at, done, outbox);
            let next = self.lines[at].used().and_then(|link| link.next_due());
            due = [due, next.map(Mono)].into_iter().flatten().min();
        }
        if self.lines.iter().any(|line| line.ending.is_some()) {
            due = [due, Some(now.mono + RETRY)].into_iter().flatten().min();
        }
        due
    }

    /// Sends a report to the member of a line, or keeps it for the member's next login. The caller has checked that
    /// the outbox has room.
    pub(super) fn line_report(&mut self, now: Now, at: usize, frame: &[u8], outbox: &mut Outbox) {
        let mut frame = frame.to_vec();
        if self.lines[at].settings.ap_code == ApCode::TRADING_SHORT {
            shorten(&mut frame);
        }
        let done = self.send(now, at, &mut frame, outbox);
        self.end_line(at, done, outbox);
    }

    /// Sends a message that is not a report. Closes the connection if the outbox has no room.
    pub(super) fn push_frame(
        &mut self,
        now: Now,
        at: usize,
        frame: &mut [u8],
        outbox: &mut Outbox,
    ) {
        let done = self.send(now, at, frame, outbox);
        self.end_line(at, done, outbox);
    }

    /// Sends a message over a line. If the member is not logged in, a message without a MsgSeqNum is lost.
    pub(super) fn send(
        &mut self,
        now: Now,
        at: usize,
        frame: &mut [u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let numbers = self.line_numbers(at);
        let mut actions = LinkActions::new();
        let link = self.lines[at].link(numbers);
        match link.send(link_now(now), frame, &mut actions) {
            Ok(()) => self.carry_out(now, at, &actions, outbox),
            Err(_) => Ok(()),
        }
    }

    /// Closes a line's connection if `done` is an error. If the outbox has no room for the end of the connection,
    /// closes the connection later.
    fn end_line(&mut self, at: usize, done: Result<(), Hangup>, outbox: &mut Outbox) {
        if let Err(why) = done {
            let link = SessionId::of_link(at as u32);
            self.lines[at].ending = outbox.hang_up(link, why).is_err().then_some(why);
        }
    }

    /// Carries out the actions of a link, all in the journal record of the current input. When the link's actions close
    /// the connection, the link may be ahead of its notes, so its MsgSeqNums are set back to those in the notes.
    fn carry_out(
        &mut self,
        now: Now,
        at: usize,
        actions: &LinkActions,
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let done = self.act(now, at, actions, outbox);
        if done.is_err() {
            let numbers = self.line_numbers(at);
            self.lines[at].rewind(numbers);
        }
        done
    }

    fn act(
        &mut self,
        now: Now,
        at: usize,
        actions: &LinkActions,
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        if actions.is_empty() {
            return Ok(());
        }
        let (messages, bytes) = room(actions);
        let has_room = outbox.has_room(messages, bytes);
        let member = self.line_member(at, outbox).filter(|_| has_room);
        let member = member.ok_or(FULL)?;
        let mut done = Ok(());
        for action in actions {
            match action {
                LinkAction::Send(frame) if done.is_ok() => {
                    done = self.send_frame(at, frame, outbox);
                }
                LinkAction::Send(_) => {}
                LinkAction::Keep { msg_seq_num, frame } => {
                    let event = MarketEvent::Kept {
                        member,
                        msg_seq_num,
                        frame: Bytes(frame),
                    };
                    self.keep(event, outbox).map_err(|_| FULL)?;
                }
                LinkAction::Deliver { frame, flow, .. } => {
                    let taken = self.line_message(now, at, member, frame, flow, outbox);
                    done = done.and(taken);
                }
                LinkAction::Ready(ready) => {
                    self.lines[at].cancel_order_sec = ready.cancel_order_sec;
                    self.lines[at].last.clear();
                }
                LinkAction::Save(LinkNumbers { inbound, .. }) => {
                    if self.line_numbers(at).inbound != inbound {
                        let event = MarketEvent::Received { member, inbound };
                        self.keep(event, outbox).map_err(|_| FULL)?;
                    }
                }
                LinkAction::Warn(warning) => {
                    self.lines[at].last = alloc::string::ToString::to_string(&warning);
                }
                LinkAction::Close(end) => {
                    let why = self.lines[at].end(&end);
                    done = done.and(Err(Hangup(why)));
                }
            }
        }
        done
    }

    /// Sends a frame. A fault of the settings may change the frame first, or drop it.
    fn send_frame(&mut self, at: usize, frame: &[u8], outbox: &mut Outbox) -> Result<(), Hangup> {
        let link = SessionId::of_link(at as u32);
        let name = &self.lines[at].name;
        if self.faults.silences(name) {
            return Ok(());
        }
        let read = TmpFrame::read(frame);
        let message = read.map_or("", |read| read.name());
        let mut put = |frame: &[u8]| outbox.frame(link, frame).map_err(|_| FULL);
        match self.faults.line_fault(name, message) {
            None => put(frame),
            Some(LineFault::Gap) => Ok(()),
            Some(LineFault::Disconnect) => Err(Hangup("disconnected by an injected fault")),
            Some(LineFault::CheckSum) => {
                let mut wrong = frame.to_vec();
                if let Some(sum) = wrong.last_mut() {
                    *sum = sum.wrapping_add(1);
                }
                put(&wrong)
            }
            Some(LineFault::Cut) => {
                put(&half(frame))?;
                Err(Hangup("disconnected inside a message by an injected fault"))
            }
        }
    }

    /// Handles an application message of a member. Messages arrive here in the order of their MsgSeqNum.
    fn line_message(
        &mut self,
        now: Now,
        at: usize,
        member: u32,
        frame: &[u8],
        flow: TmpStatus,
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let Ok(read) = TmpFrame::read(frame) else {
            return Ok(());
        };
        let line = &self.lines[at];
        let from = TmpAsker {
            member,
            fcm_id: line.settings.fcm_id,
            system: line.settings.system_type,
            status: flow,
            msg_seq_num: read.header().msg_seq_num,
            at: now.wall.0.max(0).cast_unsigned(),
        };
        if self.lines[at].gets_copies() && !matches!(read.code(), R11::CODE | R15::CODE) {
            let why = "ap_code 7 and 8 get copies of reports: the line sends R15 and R11 only";
            return self.refuse_line(now, at, why, outbox);
        }
        let refusal = self.refusal(now, at, &read);
        let market = &self.market;
        let mut requests: Vec<TmpRequest> = Vec::new();
        if let Ok(entry) = read.body::<R01>() {
            requests.push(match refusal {
                Some(status) => request::refused(&from, &entry, status),
                None => request::order(market, &from, &entry),
            });
        } else if let Ok(entry) = read.body::<R31>() {
            requests.push(match refusal {
                Some(status) => request::refused(&from, &entry, status),
                None => request::order(market, &from, &entry),
            });
        } else if let Ok(quote) = read.body::<R09>() {
            requests.extend(request::quote(market, &from, &quote, refusal));
        } else if let Ok(quote) = read.body::<R39>() {
            requests.extend(request::quote(market, &from, &quote, refusal));
        } else {
            return self.line_service(now, at, &read, (flow, refusal), outbox);
        }
        let is_flooded = self.is_flooded();
        for request in &requests {
            if is_flooded
                && let Some((_, mut reject)) =
                    reports::refused(RequestFields::new(&request.fields), 0)
            {
                // The reject is sent at once, so that it does not increase the number of waiting reports.
                self.send(now, at, &mut reject, outbox)?;
            } else {
                self.line_request(now, at, request, outbox)?;
            }
        }
        Ok(())
    }

    /// Whether so many reports wait that all requests are refused.
    fn is_flooded(&self) -> bool {
        self.market.waiting.len() > WAITING_MAX
    }

    /// The status code of a message that is refused before it reaches the market; `None` if it is not refused.
    fn refusal(&mut self, now: Now, at: usize, read: &TmpFrame<'_>) -> Option<TmpStatus> {
        let line = &self.lines[at];
        if let Some(status) = self.faults.reject_status(&line.name, read.name()) {
            return Some(TmpStatus(status));
        }
        if self.is_flooded() {
            return Some(TmpStatus::MAJOR_ERROR);
        }
        let exec_type = match read.code() {
            R01::CODE => read.body::<R01>().ok()?.exec_type,
            R31::CODE => read.body::<R31>().ok()?.exec_type,
            R09::CODE => read.body::<R09>().ok()?.exec_type,
            _ => read.body::<R39>().ok()?.exec_type,
        };
        let limit = u64::from(line.cancel_order_sec) * 1_000_000_000;
        let sent = read.header().msg_time.wall_ns();
        let age = link_now(now).wall_ns.saturating_sub(sent);
        let is_late = limit > 0 && age > limit && exec_type != TmpExecType::CANCEL;
        is_late.then_some(TmpStatus::TOO_LATE)
    }

    /// Writes the note of a request and applies the request.
    fn line_request(
        &mut self,
        now: Now,
        at: usize,
        asked: &TmpRequest,
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let request = MemberRequest {
            member: asked.member,
            at: now.wall,
            msg_type: asked.msg_type,
            fields: RequestFields::new(&asked.fields),
        };
        let is_new = request.msg_type == RequestMsgType::New && !self.scripts.is_empty();
        let name = &self.lines[at].name;
        let script = is_new.then(|| self.script(name, &request)).flatten();
        let event = match &script {
            Some(script) => MarketEvent::Scripted { request, script },
            None => MarketEvent::Request { request },
        };
        self.keep(event, outbox).map_err(|_| FULL)
    }

    /// Answers a message that is not about an order.
    fn line_service(
        &mut self,
        now: Now,
        at: usize,
        read: &TmpFrame<'_>,
        (flow, refusal): (TmpStatus, Option<TmpStatus>),
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        if let Ok(asked) = read.body::<R13<'_>>() {
            return self.bulletins_asked(now, at, &asked, (flow, refusal), outbox);
        }
        let mut frame = if let Ok(asked) = read.body::<R11>() {
            encode(&self.trade_request(at, &asked, refusal.unwrap_or(flow)))
        } else if let Ok(asked) = read.body::<R15>() {
            encode(&self.subscribe(at, &asked, refusal))
        } else if let Ok(asked) = read.body::<R07>() {
            encode(&self.inquiry(&asked, flow, refusal))
        } else if let Ok(asked) = read.body::<R37>() {
            encode(&self.inquiry(&asked, flow, refusal))
        } else {
            return self.refuse_line(now, at, unsupported(read.name()), outbox);
        };
        self.send(now, at, &mut frame, outbox)
    }

    /// Refuses a member that sent a message of a kind that its line may not send.
    fn refuse_line(
        &mut self,
        now: Now,
        at: usize,
        why: &'static str,
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let numbers = self.line_numbers(at);
        let mut actions = LinkActions::new();
        let line = &mut self.lines[at];
        line.refused = Some(why);
        let link = line.link(numbers);
        link.refuse(link_now(now), TmpStatus::FORMAT, &mut actions);
        self.carry_out(now, at, &actions, outbox)
    }

    /// The member number of a line; the first use of the link assigns it. `None` if the outbox has no room for the
    /// note.
    fn line_member(&mut self, at: usize, outbox: &mut Outbox) -> Option<u32> {
        let name = self.lines[at].name.clone();
        let number = self.seat(&name, Dialect::Tmp, 3, outbox).ok()?;
        let link = SessionId::of_link(u32::try_from(at).ok()?);
        self.routes.insert(number, link);
        Some(number)
    }

    /// The MsgSeqNums of a line, according to the notes.
    pub(super) fn line_numbers(&self, at: usize) -> LinkNumbers {
        let member = self.market.member(&self.lines[at].name);
        let store = member.and_then(|member| self.market.links.get(&member));
        store.map(|store| store.numbers()).unwrap_or_default()
    }
}

/// Maximum number of entries, and maximum number of bytes, that the actions need in the outbox.
fn room(actions: &LinkActions) -> (usize, usize) {
    let mut sum = (1, 0);
    for action in actions {
        let (messages, bytes) = match action {
            LinkAction::Send(frame) => (1, frame.len()),
            LinkAction::Keep { frame, .. } => (1, frame.len() + NOTE_ROOM),
            LinkAction::Deliver { .. } => (4, REQUEST_ROOM),
            LinkAction::Save(_) => (1, NOTE_ROOM),
            _ => (0, 0),
        };
        sum = (sum.0 + messages, sum.1 + bytes);
    }
    sum
}

/// Masks the password proof of an L40 in the journal; also masks the checksum, from which the proof could be
/// computed.
pub(super) fn mask_proof(frame: &[u8], outbox: &mut Outbox) {
    if let Some(key_value) = key_value_range(frame) {
        outbox.mask_inbound(key_value);
        outbox.mask_inbound(frame.len() - 1..frame.len());
    }
}

/// The first half of a frame, for a fault that cuts the frame. Length and checksum fit this half, so that the member
/// sees that the message is cut.
fn half(frame: &[u8]) -> Vec<u8> {
    let len = (frame.len() / 2).max(fixwire_tmp::FRAME_BYTES_LEAST);
    let mut half = frame.get(..len.min(frame.len())).unwrap_or(frame).to_vec();
    let length = u16::try_from(half.len() - 3).unwrap_or(u16::MAX);
    half[..2].copy_from_slice(&length.to_be_bytes());
    if let Some((sum, before)) = half.split_last_mut() {
        *sum = fixwire_tmp::checksum(before);
    }
    half
}

fn unsupported(message: &str) -> &'static str {
    match message {
        "R17" => "R17 (text commands) is not supported by the simulated exchange",
        _ => "the message is not supported by the simulated exchange",
    }
}
