//! Test fixture: an exchange with FIX members and TMP lines, and the brokers at the other ends of these lines.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_harness::worlds::shown;
use fixwire_protocol::framing::Framed;
use fixwire_protocol::{
    Application, Decoder, Hangup, Ledger, Link, Nanos, Now, OperatorCommand, Outbox, SessionId,
    Timestamp,
};
use fixwire_tmp::messages::{R01, R02, R03};
use fixwire_tmp::{
    ApCode, ClientLinkSettings, ClientLinkState, ExchangeLinkSettings, LinkAction, LinkActions,
    LinkClient, LinkEnd, LinkNow, LinkNumbers, LinkSendError, SystemType, TmpExecType, TmpFrame,
    TmpHeader, TmpLayout, TmpOrdType, TmpPassword, TmpPositionEffect, TmpSide, TmpSymbol,
    TmpSymbolType, TmpTimeInForce,
};

use super::desk::{Said, exchange};
use crate::{Exchange, ExchangeConfig, ExchangeTmpLine};

/// Lines by their numbers: two of broker 279, one of broker 280 with reports in short form.
pub(super) const ONE: usize = 0;
pub(super) const TWO: usize = 1;
pub(super) const OTHER: usize = 2;
/// With [`TmpDesk::with_copies`]: the drop copy of the first broker, and the clearing member of all.
pub(super) const COPY: usize = 3;
pub(super) const MEMBER: usize = 4;
/// The broker of the first two lines.
pub(super) const FCM: u16 = 279;

/// A frame that a broker has received in sequence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Heard {
    pub(super) frame: Vec<u8>,
    /// Whether the frame arrived in an L41.
    pub(super) recovered: bool,
}

/// The broker at the other end of a line.
pub(super) struct Broker {
    pub(super) link: LinkClient,
    pub(super) heard: Vec<Heard>,
    pub(super) ends: Vec<LinkEnd>,
    /// Why the exchange has closed the connection.
    pub(super) hangups: Vec<&'static str>,
    is_up: bool,
}

/// An exchange with FIX members and TMP lines, and the lines' brokers.
pub(super) struct TmpDesk {
    pub(super) exchange: Exchange,
    pub(super) brokers: Vec<Broker>,
    pub(super) notes: Vec<Vec<u8>>,
    /// Messages that FIX members have received.
    pub(super) said: Vec<Said>,
    /// All messages that the exchange has sent, as text.
    pub(super) left: Vec<String>,
    outbox: Outbox,
    pub(super) now: Now,
    /// Frames in transit to brokers; `None` closes the connection.
    wire: VecDeque<(usize, Option<Vec<u8>>)>,
    config: ExchangeConfig,
    /// Nanoseconds by which brokers' clocks are late when they send orders.
    pub(super) behind_ns: u64,
}

pub(super) fn settings(at: usize) -> ExchangeLinkSettings {
    let fcm_id = [FCM, FCM, 280, FCM, 7][at];
    let password = TmpPassword::new(4567 + at as u32);
    let system = SystemType::FUTURES_DAY;
    let mut settings = ExchangeLinkSettings::new(fcm_id, 50 + at as u16, password, system);
    settings.max_flow_ctrl_cnt = 0;
    settings.ap_code = match at {
        OTHER => ApCode::TRADING_SHORT,
        COPY => ApCode::DROP_COPY,
        MEMBER => ApCode::CLEARING_MEMBER,
        _ => ApCode::TRADING,
    };
    settings
}

pub(super) fn lines() -> Vec<ExchangeTmpLine> {
    first_lines(3)
}

fn first_lines(count: usize) -> Vec<ExchangeTmpLine> {
    let line = |at: usize| ExchangeTmpLine {
        name: ["T1", "T2", "T3", "DC", "CM"][at].to_string(),
        settings: settings(at),
    };
    (0..count).map(line).collect()
}

fn client(at: usize, numbers: LinkNumbers, cancel_order_sec: u8) -> LinkClient {
    let own = settings(at);
    let (fcm_id, session_id) = (own.fcm_id, own.session_id);
    let mut settings = ClientLinkSettings::new(fcm_id, session_id, own.password, own.system_type);
    settings.ap_code = own.ap_code;
    settings.cancel_order_sec = cancel_order_sec;
    LinkClient::new(settings, numbers)
}

impl TmpDesk {
    pub(super) fn new() -> Self {
        Self::of(super::desk::config())
    }

    pub(super) fn of(config: ExchangeConfig) -> Self {
        Self::with_lines(config, 3)
    }

    /// Adds lines that get copies of reports.
    pub(super) fn with_copies() -> Self {
        Self::with_copies_of(super::desk::config())
    }

    pub(super) fn with_copies_of(config: ExchangeConfig) -> Self {
        Self::with_lines(config, 5)
    }

    fn with_lines(config: ExchangeConfig, count: usize) -> Self {
        let broker = |at| Broker {
            link: client(at, LinkNumbers::default(), 0),
            heard: Vec::new(),
            ends: Vec::new(),
            hangups: Vec::new(),
            is_up: false,
        };
        Self {
            exchange: exchange(config.clone()).with_tmp_lines(first_lines(count)),
            brokers: (0..count).map(broker).collect(),
            notes: Vec::new(),
            said: Vec::new(),
            left: Vec::new(),
            outbox: Outbox::new(1 << 18, 256, 256),
            now: Now {
                wall: Timestamp(1_772_438_400_000_000_000),
                mono: fixwire_protocol::Mono(1_000_000_000),
            },
            wire: VecDeque::new(),
            config,
            behind_ns: 0,
        }
    }

    /// Sets the size of the outbox, in bytes.
    pub(super) fn with_room(mut self, bytes: usize, messages: usize) -> Self {
        self.outbox = Outbox::new(bytes, messages, 256);
        self
    }

    /// Sets the first line's flow limit, in messages a second.
    pub(super) fn with_flow(mut self, most: u16) -> Self {
        let mut lines = lines();
        lines[ONE].settings.max_flow_ctrl_cnt = most;
        self.exchange = exchange(self.config.clone()).with_tmp_lines(lines);
        self
    }

    fn link_now(&self) -> LinkNow {
        LinkNow {
            mono_ns: self.now.mono.0,
            wall_ns: self.now.wall.0 as u64,
        }
    }

    /// The broker connects and logs in, as far as the exchange allows.
    pub(super) fn connect(&mut self, at: usize) -> ClientLinkState {
        let link = SessionId::of_link(at as u32);
        self.brokers[at].is_up = true;
        self.exchange
            .on_link(self.now, link, Link::Up, &mut self.outbox);
        self.collect();
        let mut actions = LinkActions::new();
        let now = self.link_now();
        self.brokers[at].link.on_connect(now, &mut actions);
        self.carry_out(at, &actions);
        self.pump();
        self.brokers[at].link.state()
    }

    /// The broker connects, and frames of the exchange stay in transit: the exchange has answered the first
    /// message.
    pub(super) fn connect_slowly(&mut self, at: usize) {
        self.connect_silently(at);
        let mut actions = LinkActions::new();
        let now = self.link_now();
        self.brokers[at].link.on_connect(now, &mut actions);
        self.carry_out(at, &actions);
    }

    /// The connection is up, and the broker has sent nothing.
    pub(super) fn connect_silently(&mut self, at: usize) {
        let link = SessionId::of_link(at as u32);
        self.brokers[at].is_up = true;
        self.exchange
            .on_link(self.now, link, Link::Up, &mut self.outbox);
        self.collect();
    }

    /// The broker sends its first message on a connection that is up.
    pub(super) fn begin(&mut self, at: usize) {
        if self.brokers[at].is_up && self.brokers[at].link.state() == ClientLinkState::Down {
            let mut actions = LinkActions::new();
            let now = self.link_now();
            self.brokers[at].link.on_connect(now, &mut actions);
            self.carry_out(at, &actions);
            self.pump();
        }
    }

    /// Delivers the next frame in transit, and its answer to the exchange.
    pub(super) fn deliver_one(&mut self) {
        if let Some((at, frame)) = self.wire.pop_front() {
            self.deliver(at, frame);
        }
    }

    /// Whether a broker is connected.
    pub(super) fn is_up(&self, at: usize) -> bool {
        self.brokers[at].is_up
    }

    /// All brokers log in.
    pub(super) fn log_in(mut self) -> Self {
        for at in 0..self.brokers.len() {
            assert_eq!(self.connect(at), ClientLinkState::Ready, "line {at}");
        }
        self
    }

    /// The connection breaks.
    pub(super) fn disconnect(&mut self, at: usize) {
        let broker = &mut self.brokers[at];
        if core::mem::take(&mut broker.is_up) {
            broker.link.on_disconnect();
            let (link, down) = (SessionId::of_link(at as u32), Link::Down { written: 0 });
            self.exchange
                .on_link(self.now, link, down, &mut self.outbox);
            self.collect();
        }
    }

    /// Kills the process of the exchange: frames in transit are lost, and the next process begins with the notes.
    pub(super) fn kill(&mut self) {
        let lines = first_lines(self.brokers.len());
        let mut next = exchange(self.config.clone()).with_tmp_lines(lines);
        for note in &self.notes {
            next.on_note(Timestamp::default(), note);
        }
        self.take_over(next);
    }

    /// Kills the process of the exchange, and restarts it with a checkpoint of the first notes.
    pub(super) fn kill_with_checkpoint(&mut self, notes: usize) {
        let lines = first_lines(self.brokers.len());
        let mut next = exchange(self.config.clone()).with_tmp_lines(lines);
        let state = self.state(notes);
        next.on_checkpoint(1, &state).unwrap();
        for note in &self.notes[notes..] {
            next.on_note(Timestamp::default(), note);
        }
        assert_eq!(next.state_hash(), self.exchange.state_hash());
        self.take_over(next);
    }

    fn take_over(&mut self, next: Exchange) {
        self.exchange = next;
        self.wire.clear();
        self.outbox.clear();
        for broker in &mut self.brokers {
            broker.is_up = false;
            broker.link.on_disconnect();
        }
    }

    /// The state that a ledger of this number of first notes writes.
    pub(super) fn state(&self, notes: usize) -> Vec<u8> {
        let mut ledger = self.exchange.ledger().unwrap();
        for note in &self.notes[..notes] {
            ledger.apply(Timestamp::default(), note);
        }
        let mut state = Vec::new();
        Ledger::write(&*ledger, &mut |bytes| state.extend_from_slice(bytes));
        state
    }

    /// The broker sends an application message.
    pub(super) fn send<'a, T: TmpLayout<'a>>(&mut self, at: usize, message: &T) {
        self.try_send(at, message).unwrap();
    }

    /// The broker sends an application message, but frames of the exchange stay in transit.
    pub(super) fn send_slowly<'a, T: TmpLayout<'a>>(&mut self, at: usize, message: &T) {
        self.hand_over(at, message).unwrap();
    }

    pub(super) fn try_send<'a, T: TmpLayout<'a>>(
        &mut self,
        at: usize,
        message: &T,
    ) -> Result<(), LinkSendError> {
        let sent = self.hand_over(at, message);
        self.pump();
        sent
    }

    fn hand_over<'a, T: TmpLayout<'a>>(
        &mut self,
        at: usize,
        message: &T,
    ) -> Result<(), LinkSendError> {
        let mut frame = alloc::vec![0; T::SIZE + message.data().len()];
        message.encode(&TmpHeader::default(), &mut frame).unwrap();
        let mut actions = LinkActions::new();
        let mut now = self.link_now();
        now.wall_ns -= self.behind_ns;
        let sent = self.brokers[at].link.send(now, &mut frame, &mut actions);
        self.carry_out(at, &actions);
        sent
    }

    /// Sends a message, and returns the reports that the broker has received since.
    pub(super) fn ask(&mut self, at: usize, order: &R01) -> Vec<TmpSaid> {
        self.brokers[at].heard.clear();
        self.send(at, order);
        self.heard(at)
    }

    /// Takes the reports that a broker has received.
    pub(super) fn heard(&mut self, at: usize) -> Vec<TmpSaid> {
        let heard = core::mem::take(&mut self.brokers[at].heard);
        heard.iter().map(|it| TmpSaid::of(&it.frame)).collect()
    }

    /// Sends bytes of a broker that its link has not made.
    pub(super) fn raw(&mut self, at: usize, frame: &[u8]) -> Result<(), Hangup> {
        let done = self.frame(at, frame);
        self.pump();
        done
    }

    /// A FIX member sends a message, with `|` for SOH; returns the messages that FIX members have received since.
    pub(super) fn say(&mut self, from: SessionId, message: &str) -> Vec<Said> {
        self.say_lost(from, message);
        self.pump();
        core::mem::take(&mut self.said)
    }

    /// A FIX member sends a message, but frames to brokers stay in transit.
    pub(super) fn say_lost(&mut self, from: SessionId, message: &str) {
        let (msg_type, fields) = message.split_once(' ').unwrap();
        let text = alloc::format!("8=FIX|9=5|35={msg_type}|34=2|{fields}|10=000|");
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&bytes);
        self.now.wall.0 += 1_000_000;
        self.exchange
            .on_message(self.now, from, &message, &mut self.outbox)
            .unwrap();
        self.collect();
    }

    pub(super) fn command(&mut self, command: &str) -> Result<String, String> {
        let done = self.carry_out_command(command);
        self.pump();
        done
    }

    /// Gives an operator's command, but frames in transit stay there.
    pub(super) fn command_later(&mut self, command: &str) {
        self.carry_out_command(command).unwrap();
    }

    fn carry_out_command(&mut self, command: &str) -> Result<String, String> {
        let mut answer = Vec::new();
        let bytes = command.as_bytes();
        let (who, why) = ("operator", "");
        let command = OperatorCommand { bytes, who, why };
        let done = self
            .exchange
            .on_command(self.now, command, &mut answer, &mut self.outbox);
        self.collect();
        done.map(|()| String::from_utf8(answer).unwrap())
    }

    pub(super) fn query(&self, query: &str) -> String {
        let mut answer = Vec::new();
        self.exchange
            .on_query(self.now, query.as_bytes(), &mut answer)
            .unwrap();
        String::from_utf8(answer).unwrap()
    }

    /// Time passes at both ends, in steps of at most 50 ms.
    pub(super) fn sleep(&mut self, millis: u64) {
        let mut left = millis;
        while left > 0 {
            let step = left.min(50);
            left -= step;
            self.now.mono = self.now.mono + Nanos::from_millis(step);
            self.now.wall.0 += step.cast_signed() * 1_000_000;
            self.exchange.on_time(self.now, &mut self.outbox);
            self.collect();
            for at in 0..self.brokers.len() {
                let mut actions = LinkActions::new();
                let now = self.link_now();
                self.brokers[at].link.on_time(now, &mut actions);
                self.carry_out(at, &actions);
            }
            self.pump();
        }
    }

    /// Gives a frame to the exchange.
    fn frame(&mut self, at: usize, frame: &[u8]) -> Result<(), Hangup> {
        self.now.wall.0 += 1_000_000;
        let link = SessionId::of_link(at as u32);
        self.outbox.set_in_frame(true);
        let done = self
            .exchange
            .on_frame(self.now, link, frame, &mut self.outbox);
        let is_l40 = frame.get(12) == Some(&40);
        assert_eq!(self.outbox.has_masks(Outbox::INBOUND), is_l40);
        self.outbox.set_in_frame(false);
        self.collect();
        if let Err(Hangup(why)) = done {
            self.brokers[at].hangups.push(why);
            self.wire.push_back((at, None));
        }
        done
    }

    /// Delivers frames in transit to the brokers, and their answers back, until no frame is left.
    fn pump(&mut self) {
        while let Some((at, frame)) = self.wire.pop_front() {
            self.deliver(at, frame);
        }
    }

    fn deliver(&mut self, at: usize, frame: Option<Vec<u8>>) {
        match frame {
            None => self.disconnect(at),
            Some(_) if !self.brokers[at].is_up => {}
            Some(frame) => {
                let mut actions = LinkActions::new();
                let now = self.link_now();
                self.brokers[at].link.on_frame(now, &frame, &mut actions);
                self.carry_out(at, &actions);
            }
        }
    }

    /// Does the broker's part after a call of its link.
    fn carry_out(&mut self, at: usize, actions: &LinkActions) {
        for action in actions {
            match action {
                LinkAction::Send(frame) if self.brokers[at].is_up => {
                    let _ = self.frame(at, frame);
                }
                LinkAction::Deliver {
                    frame, recovered, ..
                } => self.brokers[at].heard.push(Heard {
                    frame: frame.to_vec(),
                    recovered,
                }),
                LinkAction::Close(end) => {
                    self.brokers[at].ends.push(end);
                    self.disconnect(at);
                }
                _ => {}
            }
        }
    }

    /// Does the engine's part after a call: keeps notes, sends messages and frames.
    fn collect(&mut self) {
        for (index, entry) in self.outbox.entries().iter().enumerate() {
            let body = self.outbox.body(index);
            if entry.is_note() {
                self.notes.push(body.to_vec());
            } else if entry.is_hangup() {
                let at = entry.session.link().unwrap();
                self.wire.push_back((at, None));
            } else if entry.is_frame() {
                let frame = self.outbox.unsealed_frame(index).to_vec();
                let whole = ExchangeTmpLine::framing().next(&frame);
                assert_eq!(whole, Framed::Whole(frame.len()));
                let at = entry.session.link().unwrap();
                self.left
                    .push(alloc::format!("line {at}: {}", shown(&frame)));
                self.wire.push_back((at, Some(frame)));
            } else {
                let msg_type = String::from_utf8_lossy(self.outbox.msg_type(index));
                let body = String::from_utf8_lossy(body).replace('\x01', "|");
                let (to, text) = (entry.session, alloc::format!("35={msg_type}|{body}"));
                self.left.push(alloc::format!("M{}: {text}", to.0));
                self.said.push(Said { to, text });
            }
        }
        for at in 0..self.brokers.len() {
            let why = self.outbox.take_hangup(SessionId::of_link(at as u32));
            self.brokers[at].hangups.extend(why.map(|why| why.0));
        }
        self.outbox.clear();
    }

    /// From its next login on, broker `at` requests the refusal of its orders that are older than this.
    pub(super) fn with_cancel_order_sec(mut self, seconds: u8) -> Self {
        for (at, broker) in self.brokers.iter_mut().enumerate() {
            broker.link = client(at, LinkNumbers::default(), seconds);
        }
        self
    }
}

/// A report, and its MsgSeqNum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TmpSaid {
    Report(u32, R02),
    Reject(u32, R03),
    /// Another message.
    More(&'static str),
}

impl TmpSaid {
    fn of(frame: &[u8]) -> Self {
        let read = TmpFrame::read(frame).unwrap();
        let number = read.header().msg_seq_num;
        match (read.body::<R02>(), read.body::<R03>()) {
            (Ok(report), _) => Self::Report(number, report),
            (_, Ok(reject)) => Self::Reject(number, reject),
            _ => Self::More(read.name()),
        }
    }

    #[track_caller]
    pub(super) fn report(&self) -> &R02 {
        match self {
            Self::Report(_, report) => report,
            other => panic!("no R02: {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn reject(&self) -> &R03 {
        match self {
            Self::Reject(_, reject) => reject,
            other => panic!("no R03: {other:?}"),
        }
    }

    /// ExecType, status, quantities: last, cumulated, left, before.
    #[track_caller]
    pub(super) fn numbers(&self) -> (char, u8, [u16; 4]) {
        let it = self.report();
        let quantities = [it.last_qty, it.cum_qty, it.leaves_qty, it.before_qty];
        (char::from(it.exec_type.0), it.status.0, quantities)
    }
}

/// A new order for VOD, at a price in hundredths.
pub(super) fn new(order_no: &str, side: TmpSide, qty: u16, price: i32) -> R01 {
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<20>().unwrap();
    assert_eq!(symbol_type, TmpSymbolType::TEXT_20);
    R01 {
        exec_type: TmpExecType::NEW,
        cm_id: 7,
        fcm_id: FCM,
        order_no: order_no.as_bytes().try_into().unwrap(),
        ord_id: 1,
        user_define: *b"00000001",
        symbol_type,
        symbol,
        price,
        qty,
        account: 1_234_567,
        account_flag: b'A',
        side,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: TmpTimeInForce::DAY,
        position_effect: TmpPositionEffect::OPEN,
        order_source: b'D',
        info_source: *b"903",
    }
}

/// A change of an order.
pub(super) fn change(order: &R01, exec_type: TmpExecType, qty: u16, price: i32) -> R01 {
    R01 {
        exec_type,
        qty,
        price,
        ord_id: order.ord_id + 1,
        user_define: *b"00000002",
        ..*order
    }
}
