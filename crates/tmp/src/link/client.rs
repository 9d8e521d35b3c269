//! The broker's end of a link.

use core::fmt;

use crate::frame::TmpFrame;
use crate::header::{TmpHeader, seal, stamp};
use crate::layout::TmpLayout;
use crate::link::actions::LinkActions;
use crate::link::clock::{clock_difference, millis_ahead};
use crate::link::end::{LinkEnd, LinkReady, LinkSendError, LinkWarning};
use crate::link::flow::{FlowWindow, is_counted};
use crate::link::heartbeat::{Beat, HeartbeatClock};
use crate::link::settings::{ClientLinkSettings, LinkNow, LinkNumbers};
use crate::link::tail::BlockTail;
use crate::messages::{L10, L20, L30, L40, L41, L42, L50, L60, R04, R05};
use crate::status::TmpStatus;
use crate::uncertain::{ends_application, is_numbered, may_be_numbered, resends};
use crate::wire::TmpTime;

/// The progress of a login.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ClientLinkState {
    /// Not connected, or closed and waiting for [`LinkClient::on_disconnect`].
    #[default]
    Down,
    /// L10 was sent, or the flow limit holds it back.
    AwaitL10,
    /// L20 was sent, or the flow limit holds it back.
    AwaitL30,
    /// L40 was sent, or the flow limit holds it back. The exchange sends blocks of missed messages, then L50.
    AwaitL50,
    /// L60 is sent.
    Ready,
}

/// A login message that counts toward the flow limit.
#[derive(Clone, Copy)]
enum LoginMessage {
    L10,
    L20,
    L40(L40),
    L42,
}

/// The broker's end of a link. The link logs in, recovers missed messages, assigns MsgSeqNums to what it sends, and
/// respects the flow limit.
///
/// ```text
///   on_connect       L10              L30              L41 (missed messages)
///  Down ----> AwaitL10 ----> AwaitL30 ----> AwaitL50 <-----------------+
///       L10            L20            L40      |  |     send L42       |
///                                              |  +--------------------+
///                                              | L50
///                                              v  send L60
///                                            Ready     R04, R05, application messages
/// ```
///
/// Each call appends to [`LinkActions`], which the caller carries out in order. After [`crate::LinkAction::Close`]
/// the link is down until the next [`LinkClient::on_connect`].
pub struct LinkClient {
    settings: ClientLinkSettings,
    numbers: LinkNumbers,
    state: ClientLinkState,
    /// Time at which the current step of the login began.
    step_ns: u64,
    /// The last MsgSeqNum that L30 announced.
    end: u32,
    /// Whether further L41 must arrive.
    missing: bool,
    /// The login message that the flow limit holds back, and the time at which it may be sent.
    held: Option<(u64, LoginMessage)>,
    tail: BlockTail,
    heartbeat: HeartbeatClock,
    flow: FlowWindow,
}

impl LinkClient {
    /// A link that is down, with the MsgSeqNums that were saved last. The link learns the flow limit from its first
    /// L50. After a restart, wait one second before connecting, so that messages sent earlier no longer count.
    #[must_use]
    pub fn new(settings: ClientLinkSettings, numbers: LinkNumbers) -> Self {
        Self {
            heartbeat: HeartbeatClock::new(settings.heartbeat, 0, 0),
            settings,
            numbers,
            state: ClientLinkState::Down,
            step_ns: 0,
            end: 0,
            missing: false,
            held: None,
            tail: BlockTail::default(),
            flow: FlowWindow::default(),
        }
    }

    /// The progress of the login.
    #[must_use]
    pub fn state(&self) -> ClientLinkState {
        self.state
    }

    /// The last sequence numbers.
    #[must_use]
    pub fn numbers(&self) -> LinkNumbers {
        self.numbers
    }

    /// Sets the MsgSeqNums: to those that were saved, or to zero for a new trading day. The link is down afterwards.
    /// Messages sent within the last second still count toward the flow limit.
    pub fn set_numbers(&mut self, numbers: LinkNumbers) {
        self.on_disconnect();
        self.numbers = numbers;
    }

    /// Handles a new connection: sends L10, or holds it back while the flow limit has no room for a login.
    pub fn on_connect(&mut self, now: LinkNow, out: &mut LinkActions) {
        self.tail.clear();
        self.missing = false;
        // No heartbeats before L50 gives the interval.
        self.heartbeat = HeartbeatClock::new(self.settings.heartbeat, 0, now.mono_ns);
        self.send_or_hold(now, LoginMessage::L10, out);
    }

    /// Handles the end of the connection.
    pub fn on_disconnect(&mut self) {
        self.state = ClientLinkState::Down;
        self.tail.clear();
    }

    /// Ends the link. The protocol has no message for it, so the connection is closed.
    pub fn stop(&mut self, out: &mut LinkActions) {
        if self.state != ClientLinkState::Down {
            self.end(LinkEnd::Stopped, out);
        }
    }

    /// Handles a complete frame. Length and checksum are checked here.
    pub fn on_frame(&mut self, now: LinkNow, frame: &[u8], out: &mut LinkActions) {
        if self.state == ClientLinkState::Down {
            return;
        }
        if let Err(end) = self.receive(now, frame, out) {
            self.end(end, out);
        }
    }

    /// Handles the passage of time; see [`LinkClient::next_due`].
    pub fn on_time(&mut self, now: LinkNow, out: &mut LinkActions) {
        match self.state {
            ClientLinkState::Down => {}
            ClientLinkState::Ready => match self.heartbeat.elapse(now.mono_ns) {
                Beat::Nothing => {}
                Beat::Ask => self.emit(now, &R04::default(), out),
                Beat::GiveUp => self.end(LinkEnd::HeartbeatTimeout, out),
            },
            _ => match self.held {
                Some((due, held)) if due <= now.mono_ns => self.send_or_hold(now, held, out),
                Some(_) => {}
                None if self.step_due() <= now.mono_ns => {
                    let awaited = self.awaited();
                    self.end(LinkEnd::StepTimeout { awaited }, out);
                }
                None => {}
            },
        }
    }

    /// When [`LinkClient::on_time`] must be called next, on the monotonic clock.
    #[must_use]
    #[inline]
    pub fn next_due(&self) -> Option<u64> {
        match self.state {
            ClientLinkState::Down => None,
            ClientLinkState::Ready => self.heartbeat.next_due(),
            _ => self.held.map(|(due, _)| due).or(Some(self.step_due())),
        }
    }

    /// How long the flow limit requires to wait before the next message that counts; `None` if it may be sent now.
    pub fn flow_wait_ns(&mut self, now: LinkNow) -> Option<u64> {
        let kept_back = kept_back(self.flow.limit());
        self.flow.wait_ns(now.mono_ns, kept_back)
    }

    /// Sends an application message: writes MsgSeqNum, time, broker, session and checksum into the frame.
    ///
    /// # Errors
    ///
    /// The link is not ready, the flow limit is reached, or the bytes are not a frame that a broker sends. The link
    /// was not changed, but the bytes of the frame may be. The caller should queue the frame.
    pub fn send(
        &mut self,
        now: LinkNow,
        frame: &mut [u8],
        out: &mut LinkActions,
    ) -> Result<(), LinkSendError> {
        if self.state != ClientLinkState::Ready {
            return Err(LinkSendError::NotReady);
        }
        let checked = TmpFrame::read(frame).map_err(LinkSendError::Frame)?;
        let (code, layout) = (checked.code(), checked.layout());
        if !layout.from_broker || layout.from_exchange || code < 100 {
            let message = layout.name;
            return Err(LinkSendError::OtherEnd { message });
        }
        let numbered = is_numbered(&checked);
        if is_counted(code)
            && let Some(wait_ns) = self.flow_wait_ns(now)
        {
            return Err(LinkSendError::FlowLimit { wait_ns });
        }
        let mut msg_seq_num = 0;
        if numbered {
            let next = self.numbers.outbound.checked_add(1);
            msg_seq_num = next.ok_or(LinkSendError::NumbersUsed)?;
            self.numbers.outbound = msg_seq_num;
            out.save(self.numbers);
        }
        stamp(&self.header(now, msg_seq_num), frame);
        seal(frame);
        self.leaves(now, code);
        out.send(frame);
        Ok(())
    }

    fn receive(
        &mut self,
        now: LinkNow,
        bytes: &[u8],
        out: &mut LinkActions,
    ) -> Result<(), LinkEnd> {
        if ends_application(bytes) {
            return Err(LinkEnd::EndOfApplication);
        }
        let frame = TmpFrame::read(bytes).map_err(LinkEnd::BadFrame)?;
        self.heartbeat.heard(now.mono_ns);
        let (code, message) = (frame.code(), frame.name());
        let status = TmpStatus(frame.byte(17));
        if code < 100 && status != TmpStatus::OK {
            return Err(LinkEnd::Refused { message, status });
        }
        if let Some((_, held)) = self.held
            && !matches!(code, R04::CODE | R05::CODE)
        {
            let before = held.name();
            return Err(LinkEnd::TooEarly { message, before });
        }
        match (self.state, code) {
            (_, R04::CODE) => self.answer(now, &frame, out),
            (_, R05::CODE) => notice(now, &frame, status, out),
            (ClientLinkState::AwaitL10, L10::CODE) => {
                self.send_or_hold(now, LoginMessage::L20, out);
            }
            (ClientLinkState::AwaitL30, L30::CODE) => {
                self.identify(now, &frame.body().map_err(LinkEnd::BadFrame)?, out)?;
            }
            (ClientLinkState::AwaitL50, L41::CODE) if self.missing => {
                self.recover(now, &frame.body().map_err(LinkEnd::BadFrame)?, out)?;
            }
            (ClientLinkState::AwaitL50, L50::CODE) => {
                self.become_ready(now, &frame.body().map_err(LinkEnd::BadFrame)?, out)?;
            }
            (ClientLinkState::Ready, 100..) if frame.layout().from_exchange => {
                if accept(&mut self.numbers, &frame, false, out)? {
                    out.save(self.numbers);
                }
            }
            _ => {
                let awaited = self.awaited();
                return Err(LinkEnd::Unexpected { message, awaited });
            }
        }
        Ok(())
    }

    /// Answers an R04, and warns when the clocks differ.
    fn answer(&mut self, now: LinkNow, frame: &TmpFrame<'_>, out: &mut LinkActions) {
        let millis = clock_difference(now, frame);
        let status = match millis {
            Some(_) => TmpStatus::CLOCK,
            None => TmpStatus::OK,
        };
        self.emit(now, &R05 { status }, out);
        if let Some(millis) = millis {
            out.warn(LinkWarning::ClockDifference { millis });
        }
    }

    /// Answers an L30 with the broker's identification (L40).
    fn identify(&mut self, now: LinkNow, l30: &L30, out: &mut LinkActions) -> Result<(), LinkEnd> {
        let settings = &self.settings;
        if l30.system_type != settings.system_type {
            return Err(LinkEnd::OtherSystem {
                expected: settings.system_type.0,
                found: l30.system_type.0,
            });
        }
        let (from, to) = (self.numbers.inbound, l30.end_out_bound_num);
        if to < from {
            self.numbers.inbound = to;
            out.warn(LinkWarning::NumberLowered { from, to });
            out.save(self.numbers);
        }
        let l40 = L40 {
            status: TmpStatus::OK,
            append_no: l30.append_no,
            fcm_id: settings.fcm_id,
            session_id: settings.session_id,
            system_type: settings.system_type,
            ap_code: settings.ap_code,
            key_value: settings.password.key_value(l30.append_no),
            request_start_seq: self.numbers.inbound,
            cancel_order_sec: settings.cancel_order_sec,
        };
        self.end = to;
        self.missing = resends(self.numbers.inbound, to);
        self.send_or_hold(now, LoginMessage::L40(l40), out);
        Ok(())
    }

    /// Delivers the messages of a block (L41), and confirms it.
    fn recover(
        &mut self,
        now: LinkNow,
        l41: &L41<'_>,
        out: &mut LinkActions,
    ) -> Result<(), LinkEnd> {
        let (before, numbers) = (self.numbers, &mut self.numbers);
        let read = self.tail.read(l41.data, |frame| {
            let (message, awaited) = (frame.name(), "messages with a number");
            match may_be_numbered(frame.code()) && frame.layout().from_exchange {
                true => accept(numbers, frame, true, out).map(|_| ()),
                false => Err(LinkEnd::Unexpected { message, awaited }),
            }
        });
        if self.numbers != before {
            out.save(self.numbers);
        }
        read?;
        if l41.is_eof != 0 {
            if self.tail.len() != 0 {
                let bytes = self.tail.len();
                return Err(LinkEnd::RecoveryCut { bytes });
            }
            self.all_recovered()?;
            self.missing = false;
        }
        self.send_or_hold(now, LoginMessage::L42, out);
        Ok(())
    }

    /// Sends a login message and begins the next step of the login. If the flow limit has no room, holds the message
    /// back.
    fn send_or_hold(&mut self, now: LinkNow, message: LoginMessage, out: &mut LinkActions) {
        let wait_ns = self.flow.wait_ns(now.mono_ns, message.kept_back());
        self.held = wait_ns.map(|wait_ns| (now.mono_ns.saturating_add(wait_ns), message));
        if self.held.is_none() {
            match message {
                LoginMessage::L10 => self.emit(now, &L10::default(), out),
                LoginMessage::L20 => self.emit(now, &L20::default(), out),
                LoginMessage::L40(l40) => self.emit(now, &l40, out),
                LoginMessage::L42 => self.emit(now, &L42::default(), out),
            }
        }
        self.step(now, message.leads_to());
    }

    fn all_recovered(&self) -> Result<(), LinkEnd> {
        let (last, end) = (self.numbers.inbound, self.end);
        if last < end {
            return Err(LinkEnd::RecoveryShort { last, end });
        }
        Ok(())
    }

    fn become_ready(
        &mut self,
        now: LinkNow,
        l50: &L50,
        out: &mut LinkActions,
    ) -> Result<(), LinkEnd> {
        self.all_recovered()?;
        self.flow.set_limit(l50.max_flow_ctrl_cnt);
        let rule = self.settings.heartbeat;
        self.heartbeat = HeartbeatClock::new(rule, l50.heart_bt_int, now.mono_ns);
        self.emit(now, &L60::default(), out);
        self.state = ClientLinkState::Ready;
        out.ready(LinkReady {
            heart_bt_int: l50.heart_bt_int,
            max_flow_ctrl_cnt: l50.max_flow_ctrl_cnt,
            cancel_order_sec: self.settings.cancel_order_sec,
        });
        Ok(())
    }

    /// Name of the message for which the current state waits.
    fn awaited(&self) -> &'static str {
        match self.state {
            ClientLinkState::Down => "a connection",
            ClientLinkState::AwaitL10 => "L10",
            ClientLinkState::AwaitL30 => "L30",
            ClientLinkState::AwaitL50 if self.missing => "L41",
            ClientLinkState::AwaitL50 => "L50",
            ClientLinkState::Ready => "an application message of the exchange",
        }
    }

    fn step(&mut self, now: LinkNow, state: ClientLinkState) {
        (self.state, self.step_ns) = (state, now.mono_ns);
    }

    fn step_due(&self) -> u64 {
        self.step_ns.saturating_add(self.settings.step_within_ns)
    }

    fn end(&mut self, end: LinkEnd, out: &mut LinkActions) {
        self.state = ClientLinkState::Down;
        self.tail.clear();
        out.close(end);
    }

    fn header(&self, now: LinkNow, msg_seq_num: u32) -> TmpHeader {
        TmpHeader {
            msg_seq_num,
            msg_time: TmpTime::from_wall_ns(now.wall_ns),
            fcm_id: self.settings.fcm_id,
            session_id: self.settings.session_id,
        }
    }

    /// A message leaves.
    fn leaves(&mut self, now: LinkNow, code: u8) {
        self.heartbeat.spoke(now.mono_ns);
        if is_counted(code) {
            self.flow.record(now.mono_ns);
        }
    }

    /// Sends a link message, which has no MsgSeqNum.
    fn emit<'a, T: TmpLayout<'a>>(&mut self, now: LinkNow, message: &T, out: &mut LinkActions) {
        let mut buffer = [0; 64];
        // The longest link message has 33 bytes.
        if let Ok(len) = message.encode(&self.header(now, 0), &mut buffer) {
            self.leaves(now, T::CODE);
            out.send(&buffer[..len]);
        }
    }
}

impl LoginMessage {
    fn name(self) -> &'static str {
        match self {
            Self::L10 => L10::NAME,
            Self::L20 => L20::NAME,
            Self::L40(_) => L40::NAME,
            Self::L42 => L42::NAME,
        }
    }

    /// How much of the flow limit stays reserved for later login messages: after L10, a login sends L20 and L40.
    fn kept_back(self) -> usize {
        match self {
            Self::L10 => 2,
            _ => 0,
        }
    }

    fn leads_to(self) -> ClientLinkState {
        match self {
            Self::L10 => ClientLinkState::AwaitL10,
            Self::L20 => ClientLinkState::AwaitL30,
            Self::L40(_) | Self::L42 => ClientLinkState::AwaitL50,
        }
    }
}

/// How much of the flow limit stays reserved for heartbeats.
fn kept_back(limit: u16) -> usize {
    match limit {
        0 | 1 => 0,
        2..=8 => 1,
        _ => 2,
    }
}

/// Delivers a message from the exchange if its MsgSeqNum is the next one, or if the message has no MsgSeqNum. Returns
/// whether the last MsgSeqNum changed.
fn accept(
    numbers: &mut LinkNumbers,
    frame: &TmpFrame<'_>,
    recovered: bool,
    out: &mut LinkActions,
) -> Result<bool, LinkEnd> {
    let found = frame.header().msg_seq_num;
    let without = !may_be_numbered(frame.code()) || (found == 0 && !is_numbered(frame));
    if without && !recovered {
        out.deliver(frame.bytes(), recovered, TmpStatus::OK);
        return Ok(false);
    }
    let msg_seq_num = found;
    if found != 0 && found <= numbers.inbound {
        out.warn(LinkWarning::PossibleDuplicate { msg_seq_num });
        return Ok(false);
    }
    if numbers.inbound.checked_add(1) != Some(found) {
        let expected = numbers.inbound.saturating_add(1);
        return Err(LinkEnd::SequenceGap { expected, found });
    }
    numbers.inbound = found;
    out.deliver(frame.bytes(), recovered, TmpStatus::OK);
    Ok(true)
}

/// Raises a warning for what an R05 says besides that the peer is alive.
fn notice(now: LinkNow, frame: &TmpFrame<'_>, status: TmpStatus, out: &mut LinkActions) {
    match status {
        TmpStatus::OK => {}
        TmpStatus::CLOCK => out.warn(LinkWarning::ClockDifference {
            millis: millis_ahead(now, frame),
        }),
        _ => out.warn(LinkWarning::PeerStatus { status }),
    }
}

/// Shows neither the password nor bytes of messages.
impl fmt::Debug for LinkClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LinkClient");
        shown.field("settings", &self.settings);
        shown.field("state", &self.state);
        shown.field("numbers", &self.numbers);
        shown.finish_non_exhaustive()
    }
}
