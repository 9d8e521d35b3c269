//! The exchange's end of a link.

mod login;
mod reject;

use alloc::vec::Vec;
use core::fmt;

use crate::frame::TmpFrame;
use crate::header::{TmpHeader, seal, stamp};
use crate::layout::TmpLayout;
use crate::link::actions::LinkActions;
use crate::link::clock::clock_difference;
use crate::link::end::{LinkEnd, LinkSendError, LinkWarning};
use crate::link::flow::{FlowWindow, is_counted};
use crate::link::heartbeat::{Beat, HeartbeatClock};
use crate::link::resend::{ResendBlocks, ResendStore};
use crate::link::settings::{ExchangeLinkSettings, LinkNow, LinkNumbers};
use crate::messages::{L10, L20, L40, L42, L60, R04, R05};
use crate::status::TmpStatus;
use crate::uncertain::{
    DROP_AFTER_NS, FLOW_EXCEEDED_MOST, accepts_first, ends_application, frame_status,
    has_flow_limit, is_numbered, may_be_numbered,
};
use crate::wire::TmpTime;

/// How an invalid frame is handled: the status of the L10 that answers it, and why the connection is closed.
type Wrong = (TmpStatus, LinkEnd);

/// The progress of a login.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ExchangeLinkState {
    /// Not connected.
    #[default]
    Down,
    /// Connected.
    AwaitL10,
    /// L10 is sent.
    AwaitL20,
    /// L30 is sent.
    AwaitL40,
    /// A block of missed messages was sent.
    AwaitL42,
    /// L50 is sent.
    AwaitL60,
    /// Logged in.
    Ready,
    /// An L10 with a status was sent. The connection will be closed in a moment; received frames are dropped.
    Dropping,
}

/// The exchange's end of a link. The exchange's end verifies logins, resends missed messages, and checks MsgSeqNums and
/// the flow limit.
///
/// ```text
///  Down -> AwaitL10 -> AwaitL20 -> AwaitL40 -+-> AwaitL42 <-+ (more blocks)
///          send L10    send L30              |      | | send L41
///                                            |      | +-----+
///                                            +------+-> AwaitL60 -> Ready
///                                              send L50
///  any state: something wrong > L10 with a status > Dropping > close 0.1 s later
/// ```
///
/// MsgSeqNums, the count of wrong logins, the flow window and the lock are kept when a connection ends.
pub struct LinkExchange {
    settings: ExchangeLinkSettings,
    numbers: LinkNumbers,
    state: ExchangeLinkState,
    /// Time at which the current step of the login began, or at which the drop began.
    step_ns: u64,
    /// Why the connection is being dropped.
    cause: LinkEnd,
    connections: u64,
    append_no: u16,
    /// The last MsgSeqNum that L30 announced.
    end: u32,
    cancel_order_sec: u8,
    /// Whether the broker has sent no MsgSeqNum since this login.
    is_first: bool,
    wrong_logins: u32,
    flow_exceeded: u32,
    locked: bool,
    heartbeat: HeartbeatClock,
    flow: FlowWindow,
    resend: ResendBlocks,
    buffer: Vec<u8>,
}

impl LinkExchange {
    /// A link that is down, with the MsgSeqNums that were saved last.
    #[must_use]
    pub fn new(settings: ExchangeLinkSettings, numbers: LinkNumbers) -> Self {
        let mut flow = FlowWindow::default();
        flow.set_limit(settings.max_flow_ctrl_cnt);
        Self {
            heartbeat: HeartbeatClock::new(settings.heartbeat, 0, 0),
            settings,
            numbers,
            state: ExchangeLinkState::Down,
            step_ns: 0,
            cause: LinkEnd::Stopped,
            connections: 0,
            append_no: 0,
            end: 0,
            cancel_order_sec: 0,
            is_first: true,
            wrong_logins: 0,
            flow_exceeded: 0,
            locked: false,
            flow,
            resend: ResendBlocks::default(),
            buffer: Vec::new(),
        }
    }

    /// The progress of the login.
    #[must_use]
    pub fn state(&self) -> ExchangeLinkState {
        self.state
    }

    /// The last sequence numbers.
    #[must_use]
    pub fn numbers(&self) -> LinkNumbers {
        self.numbers
    }

    /// Whether the session is locked. If so, each login is refused with status 241.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// Locks the session. The lock takes effect at the next login.
    pub fn lock(&mut self) {
        self.locked = true;
    }

    /// Unlocks the session and clears the count of wrong logins.
    pub fn unlock(&mut self) {
        (self.locked, self.wrong_logins, self.flow_exceeded) = (false, 0, 0);
    }

    /// Handles a new connection.
    pub fn on_connect(&mut self, now: LinkNow) {
        self.connections += 1;
        self.is_first = true;
        self.heartbeat = HeartbeatClock::new(self.settings.heartbeat, 0, now.mono_ns);
        self.step(now, ExchangeLinkState::AwaitL10);
    }

    /// Handles the end of the connection.
    pub fn on_disconnect(&mut self) {
        self.state = ExchangeLinkState::Down;
    }

    /// Restores the MsgSeqNums that were saved last, because the connection ended before the last actions were
    /// carried out. Everything else that is kept across connections stays.
    pub fn rewind(&mut self, numbers: LinkNumbers) {
        self.numbers = numbers;
        self.on_disconnect();
    }

    /// Refuses the broker now: sends an L10 with a status, and closes the connection a moment later. For injected
    /// faults of a simulator.
    pub fn refuse(&mut self, now: LinkNow, status: TmpStatus, out: &mut LinkActions) {
        self.drop_broker(now, status, LinkEnd::RefusedByProgram { status }, out);
    }

    /// Handles a complete frame. Length and checksum are checked here. The store is read at a login.
    pub fn on_frame(
        &mut self,
        now: LinkNow,
        frame: &[u8],
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) {
        if matches!(
            self.state,
            ExchangeLinkState::Down | ExchangeLinkState::Dropping
        ) {
            return;
        }
        if ends_application(frame) {
            self.close(LinkEnd::EndOfApplication, out);
            return;
        }
        if let Err((status, cause)) = self.receive(now, frame, store, out) {
            self.drop_broker(now, status, cause, out);
        }
    }

    /// Handles the passage of time; see [`LinkExchange::next_due`].
    pub fn on_time(&mut self, now: LinkNow, out: &mut LinkActions) {
        match self.state {
            ExchangeLinkState::Down => {}
            ExchangeLinkState::Ready => match self.heartbeat.elapse(now.mono_ns) {
                Beat::Nothing => {}
                Beat::Ask => self.emit(now, &R04::default(), out),
                Beat::GiveUp => self.close(LinkEnd::HeartbeatTimeout, out),
            },
            _ if self.step_due() > now.mono_ns => {}
            ExchangeLinkState::Dropping => self.close(self.cause, out),
            _ => {
                let awaited = self.awaited();
                let cause = LinkEnd::StepTimeout { awaited };
                self.drop_broker(now, TmpStatus::TIMEOUT, cause, out);
            }
        }
    }

    /// When [`LinkExchange::on_time`] must be called next, on the monotonic clock.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        match self.state {
            ExchangeLinkState::Down => None,
            ExchangeLinkState::Ready => self.heartbeat.next_due(),
            _ => Some(self.step_due()),
        }
    }

    /// Sends an application message: writes MsgSeqNum, time, broker, session and checksum into the frame. While the
    /// link is not ready, a message with a MsgSeqNum is kept for the broker's next login.
    ///
    /// # Errors
    ///
    /// The link is not ready and the message has no MsgSeqNum, or the bytes are not a frame that an exchange sends.
    pub fn send(
        &mut self,
        now: LinkNow,
        frame: &mut [u8],
        out: &mut LinkActions,
    ) -> Result<(), LinkSendError> {
        let checked = TmpFrame::read(frame).map_err(LinkSendError::Frame)?;
        let layout = checked.layout();
        if !layout.from_exchange || layout.from_broker || layout.code < 100 {
            let message = layout.name;
            return Err(LinkSendError::OtherEnd { message });
        }
        let ready = self.state == ExchangeLinkState::Ready;
        let mut msg_seq_num = 0;
        if is_numbered(&checked) {
            let next = self.numbers.outbound.checked_add(1);
            msg_seq_num = next.ok_or(LinkSendError::NumbersUsed)?;
            self.numbers.outbound = msg_seq_num;
            out.save(self.numbers);
        } else if !ready {
            return Err(LinkSendError::NotReady);
        }
        stamp(&self.header(now, msg_seq_num), frame);
        seal(frame);
        if msg_seq_num == 0 {
            out.send(frame);
        } else {
            out.keep(msg_seq_num, frame, ready);
        }
        if ready {
            self.heartbeat.spoke(now.mono_ns);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        now: LinkNow,
        bytes: &[u8],
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        let frame = TmpFrame::read(bytes);
        let frame = frame.map_err(|it| (frame_status(it.is_length()), LinkEnd::BadFrame(it)))?;
        self.heartbeat.heard(now.mono_ns);
        self.check_header(&frame)?;
        let flow = self.count(now, &frame, out)?;
        let unread = |error| (TmpStatus::FORMAT, LinkEnd::BadFrame(error));
        match (self.state, frame.code()) {
            (ExchangeLinkState::AwaitL10, L10::CODE) => self.greet(now, &frame, out)?,
            (ExchangeLinkState::AwaitL20, L20::CODE) => self.challenge(now, out),
            (ExchangeLinkState::AwaitL40, L40::CODE) => {
                self.log_in(now, &frame.body().map_err(unread)?, store, out)?;
            }
            (ExchangeLinkState::AwaitL42, L42::CODE) => self.next_block(now, store, out)?,
            (ExchangeLinkState::AwaitL60, L60::CODE) => self.become_ready(now, store, out)?,
            (ExchangeLinkState::Ready, R04::CODE) => self.answer(now, &frame, flow, out),
            (ExchangeLinkState::Ready, R05::CODE) => {}
            (ExchangeLinkState::Ready, 100..) if frame.layout().from_broker => {
                self.accept(&frame, flow, out)?;
            }
            _ => {
                let (message, awaited) = (frame.name(), self.awaited());
                let cause = LinkEnd::Unexpected { message, awaited };
                return Err((TmpStatus::FORMAT, cause));
            }
        }
        Ok(())
    }

    fn check_header(&self, frame: &TmpFrame<'_>) -> Result<(), Wrong> {
        let (header, own) = (frame.header(), &self.settings);
        let (fcm_id, session_id) = (TmpStatus::FCM_ID, TmpStatus::SESSION_ID);
        let fields = [
            (fcm_id, "fcm_id", own.fcm_id, header.fcm_id),
            (session_id, "session_id", own.session_id, header.session_id),
        ];
        for (status, field, expected, found) in fields {
            if found != expected {
                let message = frame.name();
                let cause = LinkEnd::OtherHeader {
                    message,
                    field,
                    expected,
                    found,
                };
                return Err((status, cause));
            }
        }
        Ok(())
    }

    /// Counts a message toward the flow limit; returns the warning for its reply.
    fn count(
        &mut self,
        now: LinkNow,
        frame: &TmpFrame<'_>,
        out: &mut LinkActions,
    ) -> Result<TmpStatus, Wrong> {
        let limit = self.settings.max_flow_ctrl_cnt;
        if !is_counted(frame.code()) || !has_flow_limit(limit) {
            return Ok(TmpStatus::OK);
        }
        let (count, most) = (self.flow.record(now.mono_ns), usize::from(limit));
        if count > most {
            self.flow_exceeded += 1;
            self.locked |= self.flow_exceeded > FLOW_EXCEEDED_MOST;
            if self.state == ExchangeLinkState::Ready {
                self.reject_flow(now, frame, out);
            }
            let cause = LinkEnd::FlowExceeded { limit };
            return Err((TmpStatus::FLOW_EXCEEDED, cause));
        }
        Ok(match 10 * count {
            count if count >= 9 * most => TmpStatus::FLOW_90,
            count if count >= 8 * most => TmpStatus::FLOW_80,
            _ => TmpStatus::OK,
        })
    }

    /// Answers an R04, and warns when the clocks differ or the flow limit is near.
    fn answer(
        &mut self,
        now: LinkNow,
        frame: &TmpFrame<'_>,
        flow: TmpStatus,
        out: &mut LinkActions,
    ) {
        let millis = clock_difference(now, frame);
        let status = match millis {
            Some(_) => TmpStatus::CLOCK,
            None => flow,
        };
        self.emit(now, &R05 { status }, out);
        if let Some(millis) = millis {
            out.warn(LinkWarning::ClockDifference { millis });
        }
    }

    /// Delivers a message from the broker if its MsgSeqNum is the next one.
    fn accept(
        &mut self,
        frame: &TmpFrame<'_>,
        flow: TmpStatus,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        let found = frame.header().msg_seq_num;
        let without = !may_be_numbered(frame.code()) || (found == 0 && !is_numbered(frame));
        if without {
            out.deliver(frame.bytes(), false, flow);
            return Ok(());
        }
        let next = self.numbers.inbound.checked_add(1);
        let right = match self.is_first {
            true => accepts_first(found),
            false => next == Some(found),
        };
        if !right {
            let expected = next.unwrap_or(u32::MAX);
            let cause = LinkEnd::SequenceGap { expected, found };
            return Err((TmpStatus::MSG_SEQ_NUM, cause));
        }
        (self.is_first, self.numbers.inbound) = (false, found);
        out.deliver(frame.bytes(), false, flow);
        out.save(self.numbers);
        Ok(())
    }

    /// Rejects an order, or both sides of a quote, because the flow limit is exceeded.
    fn reject_flow(&mut self, now: LinkNow, frame: &TmpFrame<'_>, out: &mut LinkActions) {
        for reject in reject::rejects(frame, TmpStatus::FLOW_EXCEEDED)
            .into_iter()
            .flatten()
        {
            let mut buffer = [0; 64];
            if let Ok(len) = reject.encode(&TmpHeader::default(), &mut buffer) {
                // If all MsgSeqNums are used, this fails, but the L10 that follows says enough.
                let _ = self.send(now, &mut buffer[..len], out);
            }
        }
    }

    /// Sends an L10 with a status. The connection is closed a moment later.
    fn drop_broker(
        &mut self,
        now: LinkNow,
        status: TmpStatus,
        cause: LinkEnd,
        out: &mut LinkActions,
    ) {
        if matches!(
            self.state,
            ExchangeLinkState::Down | ExchangeLinkState::Dropping
        ) {
            return;
        }
        let start_in_bound_num = 0;
        let l10 = L10 {
            status,
            start_in_bound_num,
        };
        self.emit(now, &l10, out);
        self.cause = cause;
        self.step(now, ExchangeLinkState::Dropping);
    }

    fn close(&mut self, end: LinkEnd, out: &mut LinkActions) {
        self.state = ExchangeLinkState::Down;
        out.close(end);
    }

    /// Name of the message for which the current state waits.
    fn awaited(&self) -> &'static str {
        match self.state {
            ExchangeLinkState::Down => "a connection",
            ExchangeLinkState::AwaitL10 => "L10",
            ExchangeLinkState::AwaitL20 => "L20",
            ExchangeLinkState::AwaitL40 => "L40",
            ExchangeLinkState::AwaitL42 => "L42",
            ExchangeLinkState::AwaitL60 => "L60",
            ExchangeLinkState::Ready => "an application message of the broker",
            ExchangeLinkState::Dropping => "nothing",
        }
    }

    fn step(&mut self, now: LinkNow, state: ExchangeLinkState) {
        (self.state, self.step_ns) = (state, now.mono_ns);
    }

    fn step_due(&self) -> u64 {
        let within = match self.state {
            ExchangeLinkState::Dropping => DROP_AFTER_NS,
            _ => self.settings.step_within_ns,
        };
        self.step_ns.saturating_add(within)
    }

    fn header(&self, now: LinkNow, msg_seq_num: u32) -> TmpHeader {
        TmpHeader {
            msg_seq_num,
            msg_time: TmpTime::from_wall_ns(now.wall_ns),
            fcm_id: self.settings.fcm_id,
            session_id: self.settings.session_id,
        }
    }

    /// Sends a link message, which has no MsgSeqNum.
    fn emit<'a, T: TmpLayout<'a>>(&mut self, now: LinkNow, message: &T, out: &mut LinkActions) {
        let mut buffer = [0; 64];
        // The longest link message has 27 bytes.
        if let Ok(len) = message.encode(&self.header(now, 0), &mut buffer) {
            self.heartbeat.spoke(now.mono_ns);
            out.send(&buffer[..len]);
        }
    }
}

/// Shows neither the password nor bytes of messages.
impl fmt::Debug for LinkExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LinkExchange");
        shown.field("settings", &self.settings);
        shown.field("state", &self.state);
        shown.field("numbers", &self.numbers);
        shown.field("locked", &self.locked);
        shown.finish_non_exhaustive()
    }
}
