//! Does the session keep its guarantees whatever happens to it?
//!
//! Two sessions talk over a connection that loses messages and breaks, while operators reset them and processes end and
//! restart; and one session receives arbitrary messages from a peer that follows no rules.

use std::collections::{BTreeMap, VecDeque};

use fixwire_protocol::session::{BeginString, Config, RESET_OPEN, Role, Verdict};
use fixwire_protocol::{
    Decoder, Mono, MsgSeqNumSource, Now, Outbox, Session, SessionId, Timestamp,
};
use proptest::prelude::*;

const START: Now = Now {
    wall: Timestamp(1_787_319_000_000_000_000),
    mono: Mono(1_000_000_000),
};

/// A session with the state that an engine keeps for it.
struct End {
    session: Session,
    outbox: Outbox,
    decoder: Decoder,
    stored: BTreeMap<u64, Vec<u8>>,
    epoch: u64,
    connected: bool,
    /// Bytes on the way to the other end.
    wire: VecDeque<Vec<u8>>,
    sent: Vec<u64>,
    delivered: Vec<u64>,
    last_delivered: u64,
    /// Operators have reset the sequence numbers.
    resets: usize,
    /// BeginSeqNo of the ResendRequest for the open gap.
    open_request: Option<(u64, Mono)>,
}

impl End {
    fn new(role: Role, version: BeginString, chunk: Option<u64>) -> Self {
        let (own, peer) = match role {
            Role::Initiator => ("BUY", "SELL"),
            Role::Acceptor => ("SELL", "BUY"),
        };
        let mut config = Config::new(version, role, own.as_bytes(), peer.as_bytes());
        config.resend_chunk = chunk;
        config.limits.same_resend_requests = 1_000_000;
        config.limits.held_messages = 5;
        // A message that takes two minutes on its way is rejected, and counted: lost by the rules.
        config.max_latency = None;
        let session = Session::new(SessionId(0), config);
        Self {
            outbox: Outbox::new(1 << 18, 64, session.header_room()),
            session,
            decoder: Decoder::with_capacity(64),
            stored: BTreeMap::new(),
            epoch: 0,
            connected: false,
            wire: VecDeque::new(),
            sent: Vec::new(),
            delivered: Vec::new(),
            last_delivered: 0,
            resets: 0,
            open_request: None,
        }
    }

    fn connect(&mut self, now: Now) {
        self.connected = true;
        let verdict = self.session.connected(now, &mut self.outbox);
        self.follow(now, verdict);
    }

    fn disconnect(&mut self, now: Now) {
        if self.connected {
            self.connected = false;
            self.session.disconnected(now);
            self.open_request = None;
        }
    }

    /// An operator resets the sequence numbers, if that is possible now.
    fn reset(&mut self, now: Now) {
        if self.session.is_logged_on() && self.session.can_reset() {
            self.resets += 1;
            let verdict = self.session.reset(now, &mut self.outbox);
            self.follow(now, verdict);
        }
    }

    /// The process ends at once and restarts with its journal.
    fn restart(&mut self) {
        let old = &self.session;
        let mut session = Session::new(old.id(), old.config().clone());
        session.restore(old.next_out(), old.next_in_to_keep(), old.epoch());
        self.session = session;
        self.connected = false;
        self.open_request = None;
    }

    fn app_send(&mut self, now: Now, id: u64) {
        let mut body = self.outbox.begin(self.session.id(), b"B");
        body.uint(148, id);
        body.finish().expect("room");
        self.sent.push(id);
        self.follow(now, Verdict::Handled);
    }

    fn receive(&mut self, now: Now, bytes: &[u8]) {
        self.receive_one(now, bytes);
        let mut held = Vec::new();
        while self.connected && self.session.take_held(&mut held) {
            self.receive_one(now, &held);
        }
    }

    fn receive_one(&mut self, now: Now, bytes: &[u8]) {
        let message = self.decoder.decode(bytes);
        let before = self.session.next_in();
        let was_open = self.session.next_in_to_keep() == RESET_OPEN;
        let verdict = self.session.receive(now, &message, &mut self.outbox);
        if was_open && self.session.next_in_to_keep() != RESET_OPEN {
            // The peer has reset as well, and no gap of the old numbers is open.
            self.last_delivered = 0;
            self.open_request = None;
        }
        if verdict == Verdict::Deliver {
            let number = message.seq_num().expect("34").expect("a number");
            let restarted = was_open && number == 1;
            assert!(number == before || restarted, "delivered out of order");
            assert_eq!(self.session.next_in(), number + 1, "delivered, not counted");
            if self.session.epoch() == self.epoch {
                assert!(number > self.last_delivered, "delivered twice");
            }
            self.last_delivered = number;
            if let Some(Ok(id)) = message.uint(148) {
                self.delivered.push(id);
            }
        }
        if self
            .open_request
            .is_some_and(|(begin, _)| self.session.next_in() != begin)
        {
            self.open_request = None;
        }
        self.follow(now, verdict);
    }

    fn elapse(&mut self, now: Now) {
        let mut calls = 0;
        while self.session.next_due().is_some_and(|due| due <= now.mono) {
            calls += 1;
            assert!(calls < 100, "the timers never come to rest");
            let verdict = self.session.elapse(now, &mut self.outbox);
            self.follow(now, verdict);
        }
    }

    fn follow(&mut self, now: Now, verdict: Verdict) {
        self.seal(now);
        match verdict {
            Verdict::LoggedOn | Verdict::Replay => {
                while let Some(number) = self.session.replay_due() {
                    assert!((1..self.session.next_out()).contains(&number));
                    let stored = self.stored.get(&number).map(Vec::as_slice);
                    self.session.replay(now, stored, &mut self.outbox);
                    self.seal(now);
                }
            }
            Verdict::Disconnect(_) => self.disconnect(now),
            _ => {}
        }
    }

    fn seal(&mut self, now: Now) {
        if self.session.epoch() != self.epoch {
            self.epoch = self.session.epoch();
            self.stored.clear();
            self.last_delivered = 0;
            self.open_request = None;
        }
        for index in self.outbox.unsealed() {
            let entry = self.outbox.entries()[index];
            let is_admin = entry.msg_type() != b"B";
            self.session.seal(now, &mut self.outbox, index);
            let bytes = self.outbox.sealed(index).to_vec();
            if entry.number == MsgSeqNumSource::Next {
                let number = self.outbox.entries()[index].seq;
                assert!(
                    self.stored.insert(number, bytes.clone()).is_none(),
                    "{number} twice"
                );
            }
            if entry.msg_type() == b"2" {
                self.check_request(now, &bytes);
            }
            if self.connected && (is_admin || self.session.is_logged_on()) {
                self.wire.push_back(bytes);
            }
        }
        self.outbox.clear();
    }

    /// One open ResendRequest from a number on, until that message arrives, the connection breaks, or the gap has not
    /// moved for so long that it is requested again.
    fn check_request(&mut self, now: Now, bytes: &[u8]) {
        let mut decoder = Decoder::with_capacity(32);
        let message = decoder.decode(bytes);
        let begin = message.uint(7).expect("7").expect("a number");
        assert_eq!(begin, self.session.next_in(), "asks for something else");
        let patience = self.session.config().limits.resend_patience;
        let again_from = match self.open_request {
            Some((open, at)) if open == begin => at + patience,
            _ => now.mono,
        };
        assert!(now.mono >= again_from, "asked twice for the same gap");
        self.open_request = Some((begin, now.mono));
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Send(bool),
    Arrive(bool),
    Lose(bool),
    Break,
    Connect,
    Wait(u64),
    Reset(bool),
    Restart(bool),
}

/// The events for sessions whose operators and processes are left alone.
fn calm_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any::<bool>().prop_map(Event::Send),
        12 => any::<bool>().prop_map(Event::Arrive),
        2 => any::<bool>().prop_map(Event::Lose),
        1 => Just(Event::Break),
        2 => Just(Event::Connect),
        1 => (1u64..40).prop_map(Event::Wait),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        22 => calm_event(),
        1 => any::<bool>().prop_map(Event::Reset),
        1 => any::<bool>().prop_map(Event::Restart),
    ]
}

struct Pair {
    ends: [End; 2],
    now: Now,
    next_id: u64,
}

impl Pair {
    fn happen(&mut self, event: Event) {
        match event {
            Event::Send(first) => {
                self.next_id += 1;
                self.ends[usize::from(first)].app_send(self.now, self.next_id);
            }
            Event::Arrive(first) => self.arrive(usize::from(first)),
            Event::Lose(first) => {
                let from = usize::from(first);
                let lost = self.ends[from].wire.pop_front();
                if lost.as_deref().is_some_and(is_reset) {
                    // Without it the new sequence numbers look like the old ones, so it is lost only with its
                    // connection.
                    self.break_connection();
                } else if lost.is_some() {
                    let to = &mut self.ends[1 - from];
                    let verdict = to.session.garbled(self.now, b"8=FIX", &mut to.outbox);
                    to.follow(self.now, verdict);
                }
            }
            Event::Break => self.break_connection(),
            Event::Reset(first) => self.ends[usize::from(first)].reset(self.now),
            Event::Restart(first) => {
                self.ends[usize::from(first)].restart();
                self.break_connection();
            }
            Event::Connect => {
                if self.ends.iter().all(|end| !end.connected) {
                    self.ends.iter_mut().for_each(|end| end.connect(self.now));
                }
            }
            Event::Wait(seconds) => {
                self.now.mono.0 += seconds * 1_000_000_000;
                self.now.wall.0 += seconds as i64 * 1_000_000_000;
                self.ends.iter_mut().for_each(|end| end.elapse(self.now));
            }
        }
        // When one end disconnects, the other does too.
        if self.ends.iter().any(|end| !end.connected) {
            self.break_connection();
        }
    }

    fn arrive(&mut self, from: usize) {
        if let Some(bytes) = self.ends[from].wire.pop_front() {
            self.ends[1 - from].receive(self.now, &bytes);
        }
    }

    fn break_connection(&mut self) {
        for end in &mut self.ends {
            end.disconnect(self.now);
            end.wire.clear();
        }
    }

    /// No more losses: connects, and lets all messages arrive.
    fn heal(&mut self) {
        self.happen(Event::Break);
        for _ in 0..8 {
            self.happen(Event::Connect);
            for _ in 0..2000 {
                if self.ends.iter().all(|end| end.wire.is_empty()) {
                    break;
                }
                self.happen(Event::Arrive(false));
                self.happen(Event::Arrive(true));
            }
            self.happen(Event::Wait(30));
        }
    }
}

/// Whether a message has ResetSeqNumFlag(141).
fn is_reset(message: &[u8]) -> bool {
    let field = b"\x01141=Y\x01";
    message.windows(field.len()).any(|part| part == field)
}

fn versions() -> impl Strategy<Value = BeginString> {
    prop::sample::select(BeginString::ALL.to_vec())
}

/// The number of cases of each property, for some seconds; `PROPTEST_CASES` overrides it.
fn cases() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 20_000;
    }
    config
}

/// Whether the delivered messages are sent ones, each once at most, in their order.
fn in_order_and_once(delivered: &[u64], sent: &[u64]) -> bool {
    let mut sent = sent.iter();
    delivered.iter().all(|id| sent.any(|other| other == id))
}

proptest! {
    #![proptest_config(cases())]

    /// Every application message arrives once and in order, whichever messages were lost on the way.
    #[test]
    fn nothing_is_lost_doubled_or_swapped(
        version in versions(),
        chunk in prop::option::of(1u64..6),
        events in prop::collection::vec(calm_event(), 0..200),
    ) {
        let ends = [Role::Initiator, Role::Acceptor].map(|role| End::new(role, version, chunk));
        let mut pair = Pair { ends, now: START, next_id: 0 };
        for event in events {
            pair.happen(event);
        }
        pair.heal();
        let [first, second] = &pair.ends;
        prop_assert_eq!(&first.sent, &second.delivered);
        prop_assert_eq!(&second.sent, &first.delivered);
        prop_assert!(first.session.is_logged_on() && second.session.is_logged_on());
    }

    /// Resets by either side and processes that end: messages made void by a reset are lost, but none is delivered
    /// twice or out of order, and the sessions agree again.
    #[test]
    fn resets_and_restarts_double_and_swap_nothing(
        version in versions(),
        chunk in prop::option::of(1u64..6),
        events in prop::collection::vec(event(), 0..200),
    ) {
        let ends = [Role::Initiator, Role::Acceptor].map(|role| End::new(role, version, chunk));
        let mut pair = Pair { ends, now: START, next_id: 0 };
        for event in events {
            pair.happen(event);
        }
        pair.heal();
        let resets = pair.ends.iter().map(|end| end.resets).sum::<usize>();
        for from in 0..2 {
            let (sent, delivered) = (&pair.ends[from].sent, &pair.ends[1 - from].delivered);
            prop_assert!(in_order_and_once(delivered, sent), "{delivered:?} of {sent:?}");
            prop_assert!(resets > 0 || delivered == sent, "{delivered:?} of {sent:?}");
        }
        // After all that, sent messages arrive.
        for first in [false, true] {
            pair.happen(Event::Send(first));
        }
        pair.heal();
        for from in 0..2 {
            prop_assert!(pair.ends[from].session.is_logged_on());
            prop_assert_eq!(pair.ends[from].sent.last(), pair.ends[1 - from].delivered.last());
        }
    }

    /// A peer that sends anything: no panic, no message out of order, one request for each gap.
    #[test]
    fn no_peer_can_confuse_it(
        version in versions(),
        role in prop::sample::select(vec![Role::Initiator, Role::Acceptor]),
        messages in prop::collection::vec(message(), 1..60),
    ) {
        let mut end = End::new(role, version, None);
        let mut now = START;
        let peer = if role == Role::Initiator { ("SELL", "BUY") } else { ("BUY", "SELL") };
        for message in messages {
            if !end.connected {
                end.connect(now);
                let logon = Words { kind: "A", number: Numbering::Next(0), fields: vec![(98, "0"), (108, "5"), (1137, "9")] };
                let bytes = logon.bytes(version, peer, end.session.next_in(), now);
                end.receive(now, &bytes);
            }
            let bytes = message.bytes(version, peer, end.session.next_in(), now);
            if end.connected {
                // After a Reject of our request, or a SequenceReset, we may ask again.
                if matches!(message.kind, "3" | "4") {
                    end.open_request = None;
                }
                end.receive(now, &bytes);
            }
            now.mono.0 += 700_000_000;
            now.wall.0 += 700_000_000;
            end.elapse(now);
            prop_assert!(end.session.next_in() >= 1 && end.session.next_out() >= 1);
        }
    }
}

#[derive(Clone, Debug)]
struct Words {
    kind: &'static str,
    number: Numbering,
    fields: Vec<(u32, &'static str)>,
}

#[derive(Clone, Debug)]
enum Numbering {
    /// The difference from the expected number.
    Next(i64),
    Text(&'static str),
    None,
}

fn message() -> impl Strategy<Value = Words> {
    let kinds = vec![
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "A",
        "B",
        "D",
        "8",
        "",
        "*",
        "toolongforatype99",
    ];
    let values = vec![
        "Y",
        "N",
        "0",
        "1",
        "2",
        "3",
        "7",
        "-1",
        "",
        "x",
        "999999999",
        "18446744073709551618",
        "999999999999999999",
    ];
    let tags = vec![
        7, 16, 36, 43, 45, 49, 56, 58, 98, 108, 112, 115, 122, 123, 141, 148, 789, 1137,
    ];
    let number = prop_oneof![
        6 => Just(Numbering::Next(0)),
        3 => (-3i64..6).prop_map(Numbering::Next),
        1 => prop::sample::select(values.clone()).prop_map(Numbering::Text),
        1 => Just(Numbering::None),
    ];
    let field = (prop::sample::select(tags), prop::sample::select(values));
    (
        prop::sample::select(kinds),
        number,
        prop::collection::vec(field, 0..5),
    )
        .prop_map(|(kind, number, fields)| Words {
            kind,
            number,
            fields,
        })
}

impl Words {
    fn bytes(
        &self,
        version: BeginString,
        (sender, target): (&str, &str),
        next: u64,
        now: Now,
    ) -> Vec<u8> {
        let mut stamp = fixwire_protocol::TimestampWriter::new();
        let time = stamp.format(now.wall, fixwire_protocol::Precision::Millis);
        let time = String::from_utf8_lossy(time);
        let mut body = format!("35={}\x01", self.kind);
        match self.number {
            Numbering::Next(offset) => {
                let number = next.saturating_add_signed(offset);
                body.push_str(&format!("34={number}\x01"));
            }
            Numbering::Text(text) => body.push_str(&format!("34={text}\x01")),
            Numbering::None => {}
        }
        body.push_str(&format!("49={sender}\x0152={time}\x0156={target}\x01"));
        for (tag, value) in &self.fields {
            body.push_str(&format!("{tag}={value}\x01"));
        }
        let mut message =
            format!("8={}\x019={}\x01{body}", version.as_str(), body.len()).into_bytes();
        let sum = message
            .iter()
            .fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        message
    }
}
