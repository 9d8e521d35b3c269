//! Two ends, a wire, a clock: all of it values.

use std::collections::{BTreeMap, VecDeque};

use fixwire_tmp::messages::{R01, R02};
use fixwire_tmp::uncertain::{is_numbered, may_be_numbered};
use fixwire_tmp::{
    ClientLinkSettings, ClientLinkState, ExchangeLinkSettings, ExchangeLinkState, LinkAction,
    LinkActions, LinkClient, LinkEnd, LinkExchange, LinkNow, LinkNumbers, LinkSendError,
    LinkWarning, ResendStore, SystemType, TmpExecType, TmpFrame, TmpHeader, TmpLayout, TmpPassword,
    TmpStatus, checksum,
};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;
/// How long a frame is under way.
const LATENCY: u64 = MS;
/// How long the broker usually waits before it connects again.
const PAUSE: u64 = S;

/// What the exchange has sent.
#[derive(Default)]
pub struct Store(pub BTreeMap<u32, Vec<u8>>);

impl ResendStore for Store {
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool {
        let frame = self.0.get(&msg_seq_num);
        to.extend_from_slice(frame.map_or(&[], |frame| frame));
        frame.is_some()
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WireFaultKind {
    /// The frame is lost.
    Drop,
    /// From this frame on nothing arrives on this connection, in this direction.
    Stall,
    /// The checksum is wrong.
    Checksum,
    /// MsgSeqNum is one more than it should be.
    Gap,
    /// The exchange refuses the broker now.
    Refuse(TmpStatus),
    /// The frame takes 20 s, and the ones behind it wait.
    Delay,
    /// The frame arrives twice.
    Duplicate,
    /// The next frame in this direction overtakes it.
    OutOfOrder,
    /// The connection is lost while the frame is under way.
    Cut,
    /// A byte of the body gets this value, and the checksum is right.
    Field(usize, u8),
}

#[derive(Clone, Copy, Debug)]
pub struct PlannedFault {
    /// To the exchange, or to the broker.
    pub to_exchange: bool,
    /// MessageType of the frame.
    pub code: u8,
    pub kind: WireFaultKind,
    /// How many frames of this type it still has to hit.
    pub times: u32,
}

#[derive(Default)]
struct WireWay {
    frames: VecDeque<(u64, Vec<u8>)>,
    held: Option<Vec<u8>>,
    stalled: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Who {
    Broker,
    Exchange,
    Wire,
}

/// What a broker was given so far: each MsgSeqNum is the one after the last.
#[derive(Default)]
pub struct InOrder {
    pub last: u32,
}

impl InOrder {
    /// Follows the actions of a broker.
    pub fn follow(&mut self, out: &LinkActions) -> Result<(), String> {
        for action in out {
            match action {
                LinkAction::Deliver { frame, .. } => {
                    let frame = TmpFrame::read(frame).map_err(|error| error.to_string())?;
                    let number = frame.header().msg_seq_num;
                    let without = number == 0 && !is_numbered(&frame);
                    if !may_be_numbered(frame.code()) || without {
                        continue;
                    }
                    if Some(number) != self.last.checked_add(1) {
                        return Err(format!("{number} is delivered after {}", self.last));
                    }
                    self.last = number;
                }
                LinkAction::Warn(LinkWarning::NumberLowered { from, to }) => {
                    if from != self.last || to >= from {
                        let last = self.last;
                        return Err(format!("lowered from {from} to {to} after {last}"));
                    }
                    self.last = to;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

pub struct World {
    pub now: LinkNow,
    pub client: LinkClient,
    pub exchange: LinkExchange,
    pub store: Store,
    ways: [WireWay; 2],
    up: bool,
    /// Whether the connection is lost now.
    pub cut: bool,
    connect_at: u64,
    refuse: Option<TmpStatus>,
    pub fault: Option<PlannedFault>,
    /// The states of both ends when the fault hit a frame.
    pub hit_in: Vec<(ClientLinkState, ExchangeLinkState)>,
    /// Who ended a connection, and why; none for the wire.
    pub ends: Vec<(Who, Option<LinkEnd>)>,
    pub warnings: Vec<(Who, LinkWarning)>,
    /// MsgSeqNum of what was delivered at the exchange, and the flow warning with it.
    pub orders: Vec<(u32, TmpStatus)>,
    /// Follows what the broker does.
    pub in_order: InOrder,
    /// MsgSeqNum of what was delivered to the broker.
    pub reports: Vec<u32>,
    /// The same, of those that came by L41.
    pub recovered: Vec<u32>,
    /// Whether each order is answered.
    pub answers: bool,
    /// Whether the broker connects again.
    pub reconnects: bool,
    /// How long it waits before.
    pub pause: u64,
    /// The exchange's wall clock minus the broker's, in nanoseconds.
    pub exchange_ahead: u64,
    queue: VecDeque<Vec<u8>>,
    try_at: u64,
    pub saved: [LinkNumbers; 2],
    pub trace: Vec<String>,
}

pub fn client_settings() -> ClientLinkSettings {
    ClientLinkSettings::new(279, 50, TmpPassword::new(4567), SystemType::FUTURES_DAY)
}

pub fn exchange_settings() -> ExchangeLinkSettings {
    ExchangeLinkSettings::new(279, 50, TmpPassword::new(4567), SystemType::FUTURES_DAY)
}

pub fn frame<'a, T: TmpLayout<'a>>(message: &T) -> Vec<u8> {
    let mut buffer = vec![0; 512];
    let len = message.encode(&TmpHeader::default(), &mut buffer);
    buffer.truncate(len.expect("room"));
    buffer
}

pub fn order() -> Vec<u8> {
    let exec_type = TmpExecType::NEW;
    frame(&R01 {
        exec_type,
        order_no: *b"A0001",
        ..R01::default()
    })
}

pub fn report() -> Vec<u8> {
    let exec_type = TmpExecType::NEW;
    frame(&R02 {
        exec_type,
        order_no: *b"A0001",
        ..R02::default()
    })
}

impl World {
    pub fn new(client: ClientLinkSettings, exchange: ExchangeLinkSettings) -> Self {
        Self {
            now: LinkNow {
                mono_ns: S,
                wall_ns: 1_700_000_000 * S,
            },
            client: LinkClient::new(client, LinkNumbers::default()),
            exchange: LinkExchange::new(exchange, LinkNumbers::default()),
            store: Store::default(),
            ways: Default::default(),
            up: false,
            cut: false,
            connect_at: 0,
            refuse: None,
            fault: None,
            hit_in: Vec::new(),
            ends: Vec::new(),
            warnings: Vec::new(),
            orders: Vec::new(),
            in_order: InOrder::default(),
            reports: Vec::new(),
            recovered: Vec::new(),
            answers: true,
            reconnects: true,
            pause: PAUSE,
            exchange_ahead: 0,
            queue: VecDeque::new(),
            try_at: 0,
            saved: [LinkNumbers::default(); 2],
            trace: Vec::new(),
        }
    }

    pub fn usual() -> Self {
        Self::new(client_settings(), exchange_settings())
    }

    /// The broker sends orders as soon as it may.
    pub fn queue_orders(&mut self, count: usize) {
        self.queue.extend((0..count).map(|_| order()));
    }

    /// The exchange sends a report, also while the link is down.
    pub fn exchange_reports(&mut self, count: usize) {
        for _ in 0..count {
            let mut out = LinkActions::new();
            let now = self.exchange_now();
            let sent = self.exchange.send(now, &mut report(), &mut out);
            sent.expect("it has a number");
            self.apply(Who::Exchange, out);
        }
    }

    /// The exchange refuses the broker.
    pub fn refuse(&mut self, status: TmpStatus) {
        self.refuse = Some(status);
    }

    pub fn is_ready(&self) -> bool {
        self.client.state() == ClientLinkState::Ready
            && self.exchange.state() == ExchangeLinkState::Ready
    }

    /// Runs for some time.
    pub fn run(&mut self, for_ns: u64) {
        let until = self.now.mono_ns + for_ns;
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps < 200_000, "it does not come to rest");
            if self.work() {
                continue;
            }
            let next = self.next().unwrap_or(u64::MAX).max(self.now.mono_ns + 1);
            if next > until {
                self.pass(until);
                return;
            }
            self.pass(next);
        }
    }

    /// Does one thing that is due.
    fn work(&mut self) -> bool {
        let now = self.now;
        if self.cut {
            self.ends.push((Who::Wire, None));
            self.disconnect();
            return true;
        }
        if let Some(status) = self.refuse.take() {
            let mut out = LinkActions::new();
            let now = self.exchange_now();
            self.exchange.refuse(now, status, &mut out);
            self.apply(Who::Exchange, out);
            return true;
        }
        if !self.up {
            if !self.reconnects || self.connect_at > now.mono_ns {
                return false;
            }
            self.up = true;
            let mut out = LinkActions::new();
            self.exchange.on_connect(self.exchange_now());
            self.client.on_connect(now, &mut out);
            self.apply(Who::Broker, out);
            return true;
        }
        for way in [0, 1] {
            let due = self.ways[way].frames.front();
            if due.is_some_and(|(due, _)| *due <= now.mono_ns) {
                let (_, frame) = self.ways[way].frames.pop_front().expect("it is due");
                self.arrive(way, &frame);
                return true;
            }
        }
        self.try_queue()
    }

    fn try_queue(&mut self) -> bool {
        let Some(frame) = self.queue.front_mut() else {
            return false;
        };
        if self.client.state() != ClientLinkState::Ready || self.try_at > self.now.mono_ns {
            return false;
        }
        let mut out = LinkActions::new();
        match self.client.send(self.now, frame, &mut out) {
            Ok(()) => {
                self.queue.pop_front();
            }
            Err(LinkSendError::FlowLimit { wait_ns }) => self.try_at = self.now.mono_ns + wait_ns,
            Err(error) => panic!("{error}"),
        }
        self.apply(Who::Broker, out);
        true
    }

    fn arrive(&mut self, way: usize, frame: &[u8]) {
        let mut out = LinkActions::new();
        if way == 0 {
            let now = self.exchange_now();
            self.exchange
                .on_frame(now, frame, &mut self.store, &mut out);
            self.apply(Who::Exchange, out);
        } else {
            self.client.on_frame(self.now, frame, &mut out);
            self.apply(Who::Broker, out);
        }
    }

    /// Time goes on.
    fn pass(&mut self, to: u64) {
        let passed = to - self.now.mono_ns;
        self.now.mono_ns += passed;
        self.now.wall_ns += passed;
        let mut out = LinkActions::new();
        self.client.on_time(self.now, &mut out);
        self.apply(Who::Broker, out);
        let mut out = LinkActions::new();
        let now = self.exchange_now();
        self.exchange.on_time(now, &mut out);
        self.apply(Who::Exchange, out);
    }

    /// When something happens next.
    fn next(&self) -> Option<u64> {
        let mut times: Vec<u64> = Vec::new();
        times.extend(self.client.next_due());
        times.extend(self.exchange.next_due());
        if self.up {
            times.extend(
                self.ways
                    .iter()
                    .filter_map(|way| Some(way.frames.front()?.0)),
            );
            times.extend((!self.queue.is_empty()).then_some(self.try_at));
        } else if self.reconnects {
            times.push(self.connect_at);
        }
        times.retain(|time| *time > self.now.mono_ns);
        times.into_iter().min()
    }

    fn exchange_now(&self) -> LinkNow {
        LinkNow {
            wall_ns: self.now.wall_ns + self.exchange_ahead,
            ..self.now
        }
    }

    fn disconnect(&mut self) {
        (self.up, self.cut, self.refuse) = (false, false, None);
        self.ways = Default::default();
        self.connect_at = self.now.mono_ns + self.pause;
        self.client.on_disconnect();
        self.exchange.on_disconnect();
    }

    fn apply(&mut self, who: Who, out: LinkActions) {
        let mut answers = 0;
        let mut ended = false;
        if who == Who::Broker {
            self.in_order.follow(&out).expect("in order");
        }
        for action in &out {
            match action {
                LinkAction::Send(frame) => self.push(who, frame),
                LinkAction::Keep { msg_seq_num, frame } => {
                    self.store.0.insert(msg_seq_num, frame.to_vec());
                }
                LinkAction::Deliver {
                    frame,
                    recovered,
                    flow,
                } => {
                    let frame = TmpFrame::read(frame).expect("a whole frame");
                    let number = frame.header().msg_seq_num;
                    if who == Who::Exchange {
                        self.orders.push((number, flow));
                        answers += usize::from(self.answers);
                    } else {
                        self.reports.push(number);
                        self.recovered.extend(recovered.then_some(number));
                    }
                }
                LinkAction::Ready(_) => self.trace.push(format!("{who:?} ready")),
                LinkAction::Save(numbers) => {
                    self.saved[usize::from(who == Who::Exchange)] = numbers;
                }
                LinkAction::Warn(warning) => self.warnings.push((who, warning)),
                LinkAction::Close(end) => {
                    self.ends.push((who, Some(end)));
                    ended = true;
                }
            }
        }
        if ended {
            self.disconnect();
        }
        self.exchange_reports(answers);
    }

    /// A frame leaves, past the fault.
    fn push(&mut self, who: Who, frame: &[u8]) {
        let to_exchange = who == Who::Broker;
        let way = &mut self.ways[usize::from(!to_exchange)];
        let mut due = self.now.mono_ns + LATENCY;
        let mut frame = frame.to_vec();
        self.trace.push(format!(
            "{who:?} {}",
            TmpFrame::read(&frame).expect("a frame").name()
        ));
        let hit = self.fault.as_mut().filter(|fault| {
            fault.times > 0 && fault.to_exchange == to_exchange && fault.code == frame[12]
        });
        let states = (self.client.state(), self.exchange.state());
        let kind = hit.map(|fault| {
            fault.times -= 1;
            self.hit_in.push(states);
            fault.kind
        });
        let mut copies = 1;
        match kind {
            None => {}
            Some(WireFaultKind::Drop) => copies = 0,
            Some(WireFaultKind::Stall) => way.stalled = true,
            Some(WireFaultKind::Checksum) => {
                let last = frame.len() - 1;
                frame[last] ^= 0x55;
            }
            Some(WireFaultKind::Gap) => {
                frame[5] = frame[5].wrapping_add(1);
                reseal(&mut frame);
            }
            Some(WireFaultKind::Field(at, value)) => {
                frame[at] = value;
                reseal(&mut frame);
            }
            Some(WireFaultKind::Refuse(status)) => self.refuse = Some(status),
            Some(WireFaultKind::Delay) => due += 20 * S,
            Some(WireFaultKind::Duplicate) => copies = 2,
            Some(WireFaultKind::OutOfOrder) => {
                way.held = Some(frame);
                return;
            }
            Some(WireFaultKind::Cut) => {
                self.cut = true;
                return;
            }
        }
        if way.stalled {
            return;
        }
        due = way.frames.back().map_or(due, |(last, _)| due.max(*last));
        for _ in 0..copies {
            way.frames.push_back((due, frame.clone()));
        }
        if let Some(held) = way.held.take() {
            way.frames.push_back((due, held));
        }
    }
}

/// Makes the checksum right again.
pub fn reseal(frame: &mut [u8]) {
    let last = frame.len() - 1;
    frame[last] = checksum(&frame[..last]);
}
