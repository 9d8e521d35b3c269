//! A session with the state that an engine stores for it, and its guarantees so far.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use fixwire_protocol::dictionary::validate::{self, Scratch};
use fixwire_protocol::dictionary::{Dictionary, ValidationRules, Version};
use fixwire_protocol::session::{BeginString, Config, Phase, RESET_OPEN, Role, Verdict};
use fixwire_protocol::{
    Decoder, Frame, Message, Mono, MsgSeqNumSource, Nanos, Now, Outbox, Refusal, Session,
    SessionId, Timestamp, frame,
};

use crate::fuzz::hold;
use crate::fuzz::input::{Input, show};

/// The two ends, by the names the session has for them.
pub const OWN: &str = "OWN";
pub const PEER: &str = "PEER";
/// 2026-08-21T13:30:00Z.
const START: Now = Now {
    wall: Timestamp(1_787_319_000_000_000_000),
    mono: Mono(1_000_000_000),
};
/// Small limits, so that inputs reach them.
const HELD_MESSAGES: usize = 5;
const HELD_BYTES: usize = 1_000;
/// The most messages that one call may write.
const MOST_AT_ONCE: usize = 4;

/// The session under test.
pub struct End {
    pub session: Session,
    pub now: Now,
    pub begin_string: BeginString,
    tamper: fn(i64, Verdict) -> Verdict,
    dictionary: Arc<Dictionary>,
    outbox: Outbox,
    stored: BTreeMap<u64, Vec<u8>>,
    epoch: u64,
    connected: bool,
    delivered: Option<Vec<u8>>,
    request: Option<Request>,
    /// The peer uses ResetSeqNumFlag(141), in any version; then so do we.
    flags_resets: bool,
}

/// The ResendRequest for the open gap.
#[derive(Clone, Copy)]
struct Request {
    begin: u64,
    number: u64,
    /// The number of requests, each after twice the patience of the one before.
    times: u32,
    at: Mono,
}

/// State that may not change without reason.
type Numbers = (u64, u64, u64);

impl End {
    pub fn new(input: &mut Input<'_>, tamper: fn(i64, Verdict) -> Verdict) -> Self {
        let (version, switches, more) = (input.byte(), input.byte(), input.byte());
        let version = usize::from(version) % BeginString::ALL.len();
        let begin_string = BeginString::ALL[version];
        let on = |bit: u8| switches >> bit & 1 == 1;
        let role = if on(0) {
            Role::Initiator
        } else {
            Role::Acceptor
        };
        let mut config = Config::new(begin_string, role, OWN.as_bytes(), PEER.as_bytes());
        let dictionary = Arc::clone(&dictionaries()[version]);
        config.dictionary = on(1).then(|| Arc::clone(&dictionary));
        config.resend_chunk = on(2).then_some(2);
        config.next_expected_msg_seq_num = on(3) && begin_string >= BeginString::Fix44;
        config.last_msg_seq_num_processed = on(4) && begin_string >= BeginString::Fix42;
        config.check_comp_id = !on(5);
        config.reset_on.logon = on(6);
        config.reset_on.disconnect = on(7);
        config.reset_on.logout = more & 1 == 1;
        config.require_orig_sending_time = more & 2 == 0;
        config.max_latency = (more & 4 == 0).then_some(Nanos::from_secs(120));
        config.max_order_age = (more & 8 == 8).then_some(Nanos::from_secs(5));
        config.limits.held_messages = HELD_MESSAGES;
        config.limits.held_bytes = HELD_BYTES;
        config.limits.waiting_resends = 2;
        config.limits.same_resend_requests = 3;
        let session = Session::new(SessionId(0), config);
        Self {
            outbox: Outbox::new(1 << 16, 64, session.header_room()),
            session,
            now: START,
            begin_string,
            tamper,
            dictionary,
            stored: BTreeMap::new(),
            epoch: 0,
            connected: false,
            delivered: None,
            request: None,
            flags_resets: false,
        }
    }

    pub fn connect(&mut self) -> Result<(), String> {
        if self.connected {
            return Ok(());
        }
        self.connected = true;
        let verdict = self.session.connected(self.now, &mut self.outbox);
        self.follow(verdict)
    }

    pub fn lose_connection(&mut self) {
        if std::mem::take(&mut self.connected) {
            self.session.disconnected(self.now);
            self.request = None;
            self.notice_epoch();
        }
    }

    pub fn garbled(&mut self) -> Result<(), String> {
        if !self.connected {
            return Ok(());
        }
        let before = self.numbers();
        let verdict = self.session.garbled(self.now, b"8=FIX", &mut self.outbox);
        hold!(self.outbox.is_empty(), "garbled bytes are answered");
        hold!(self.numbers() == before, "garbled bytes are counted");
        self.follow(verdict)
    }

    /// Time passes, and each timer is called when it is due.
    pub fn pass(&mut self, millis: u64) -> Result<(), String> {
        let end = self.now.mono + Nanos::from_millis(millis);
        let mut calls = 0;
        while let Some(due) = self.session.next_due().filter(|due| *due <= end) {
            calls += 1;
            hold!(calls < 300, "the timers never come to rest");
            self.pass_to(due.max(self.now.mono));
            let verdict = self.session.elapse(self.now, &mut self.outbox);
            self.follow(verdict)?;
        }
        self.pass_to(end);
        Ok(())
    }

    fn pass_to(&mut self, mono: Mono) {
        self.now.wall.0 += (mono - self.now.mono).0 as i64;
        self.now.mono = mono;
    }

    pub fn app_send(&mut self, what: u8) -> Result<(), String> {
        let mut body = self.outbox.begin(self.session.id(), b"B");
        body.uint(148, u64::from(what)).uint(33, 1).field(58, b"x");
        body.finish().map_err(|error| format!("no room: {error}"))?;
        self.follow(Verdict::Handled)
    }

    pub fn log_out(&mut self) -> Result<(), String> {
        let verdict = self.session.log_out(self.now, "end", &mut self.outbox);
        self.follow(verdict)
    }

    pub fn reset(&mut self) -> Result<(), String> {
        let verdict = self.session.reset(self.now, &mut self.outbox);
        self.follow(verdict)
    }

    /// The application rejects the last message.
    pub fn refuse(&mut self, how: u8) -> Result<(), String> {
        let Some(bytes) = self
            .delivered
            .take()
            .filter(|_| self.session.is_logged_on())
        else {
            return Ok(());
        };
        let refusal = match how % 4 {
            0 => Refusal::UnsupportedMessageType,
            1 => Refusal::NotAvailable,
            2 => Refusal::ConditionallyRequiredFieldMissing(u32::from(how)),
            _ => Refusal::ValueOutOfRange(33),
        };
        let mut decoder = Decoder::with_capacity(128);
        let message = decoder.decode(&bytes);
        self.session
            .refuse(self.now, &message, refusal, &mut self.outbox);
        self.follow(Verdict::Handled)
    }

    /// Handles one message of the peer, then the messages that were kept until it came.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), String> {
        if !self.connected {
            return Ok(());
        }
        self.receive_one(bytes)?;
        let (mut held, mut messages, mut size) = (Vec::new(), 0, 0);
        while self.connected && self.session.take_held(&mut held) {
            messages += 1;
            size += held.len();
            hold!(messages <= HELD_MESSAGES, "more messages kept than allowed");
            hold!(size <= HELD_BYTES, "more bytes kept than allowed");
            self.receive_one(&held)?;
        }
        Ok(())
    }

    fn receive_one(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut decoder = Decoder::with_capacity(128);
        let message = decoder.decode(bytes);
        let (before, phase) = (self.numbers(), self.session.phase());
        let open = self.session.next_in_to_keep() == RESET_OPEN;
        self.flags_resets |= message.has(141);
        let answer = self.session.receive(self.now, &message, &mut self.outbox);
        let number = message.seq_num().and_then(Result::ok);
        let distance = number.map_or(0, |number| number as i64 - before.0 as i64);
        let verdict = (self.tamper)(distance, answer);
        let told = |what: &str| format!("{what}: {} at {before:?}, {phase:?}", show(bytes));
        let after = self.numbers();
        let ended = matches!(phase, Phase::LoggedOn(_)) && !self.session.is_logged_on();
        let is_told = matches!(answer, Verdict::Ended { .. } | Verdict::Disconnect(_));
        hold!(
            !ended || is_told,
            "{}",
            told("ended, and the verdict says nothing")
        );
        if verdict == Verdict::Deliver {
            // Number 1 confirms a reset of ours.
            let restarted = open && number == Some(1);
            let expected = if restarted { 1 } else { before.0 };
            hold!(number == Some(expected), "{}", told("out of sequence"));
            hold!(after.0 == expected + 1, "{}", told("not counted"));
            hold!(
                matches!(phase, Phase::LoggedOn(_)),
                "{}",
                told("delivered before Logon")
            );
            self.delivered = Some(bytes.to_vec());
        } else if self.must_deliver(&message, phase, before) {
            return Err(told("not delivered"));
        }
        if after.0 < before.0 && after.2 == before.2 {
            let reset = message.msg_type() == b"A" && message.get(141) == Some(b"Y");
            hold!(
                open && (reset || number == Some(1)),
                "{}",
                told("expects a lower number")
            );
        }
        hold!(
            after.1 >= before.1 || after.2 > before.2,
            "{}",
            told("sends lower numbers")
        );
        self.check_untouched(&message, phase, before, verdict)
            .map_err(|what| told(&what))?;
        self.forget_request(&message);
        self.follow(verdict)
    }

    /// Before Logon, a message for another session leaves no trace, and a refused message only an answer.
    fn check_untouched(
        &self,
        message: &Message<'_>,
        phase: Phase,
        before: Numbers,
        verdict: Verdict,
    ) -> Result<(), String> {
        let early = matches!(phase, Phase::AwaitingLogon { .. } | Phase::LogonSent { .. });
        if !early || self.session.is_logged_on() {
            return Ok(());
        }
        let after = self.numbers();
        hold!(
            matches!(verdict, Verdict::Disconnect(_)),
            "not a Logon, and the connection stays"
        );
        hold!(after.2 == before.2, "a reset before Logon");
        hold!(
            after.1 == before.1,
            "numbers are given out before they are sealed"
        );
        let refused = message.msg_type() == b"5" && matches!(phase, Phase::LogonSent { .. });
        let counted = refused && after.0 == before.0 + 1;
        hold!(
            after.0 == before.0 || counted,
            "a number is counted before Logon"
        );
        let check = self.session.config().check_comp_id;
        let is = |tag, value: &str| message.get(tag) == Some(value.as_bytes());
        let stranger = message.msg_type() != b"A"
            || !is(8, self.begin_string.as_str())
            || check && !(is(49, PEER) && is(56, OWN));
        hold!(
            !stranger || self.outbox.is_empty(),
            "a stranger is answered"
        );
        Ok(())
    }

    /// A plain application message with the expected number is the application's.
    fn must_deliver(&self, message: &Message<'_>, phase: Phase, before: Numbers) -> bool {
        let Phase::LoggedOn(_) = phase else {
            return false;
        };
        let plain = |tag| !message.has(tag);
        let is = |tag, value: &str| message.get(tag) == Some(value.as_bytes());
        let recent = message
            .time(52)
            .and_then(Result::ok)
            .is_some_and(|sent| sent == self.now.wall);
        let config = self.session.config();
        message.fault().is_none()
            && message.msg_type() == b"B"
            && is(8, self.begin_string.as_str())
            && message.seq_num() == Some(Ok(before.0))
            && is(34, &before.0.to_string())
            && is(49, PEER)
            && is(56, OWN)
            && recent
            && plain(43)
            && config.dictionary.as_ref().is_none_or(|dictionary| {
                validate::check(dictionary, message, &config.rules, &mut Scratch::default()).is_ok()
            })
    }

    /// The gap is a new one when its number moves, when the peer announces that it does not resend, and when it starts
    /// again.
    fn forget_request(&mut self, message: &Message<'_>) {
        let Some(request) = self.request else {
            return;
        };
        let rejected = message.msg_type() == b"3" && message.uint(45) == Some(Ok(request.number));
        let reset = message.msg_type() == b"4" && message.get(123) != Some(b"Y")
            || message.msg_type() == b"A";
        if rejected || reset || self.session.next_in() != request.begin {
            self.request = None;
        }
    }

    fn numbers(&self) -> Numbers {
        (
            self.session.next_in(),
            self.session.next_out(),
            self.session.epoch(),
        )
    }

    /// The engine's work after a call.
    fn follow(&mut self, verdict: Verdict) -> Result<(), String> {
        let written = self.outbox.unsealed().len();
        hold!(written <= MOST_AT_ONCE, "{written} messages from one call");
        self.seal()?;
        match verdict {
            Verdict::LoggedOn | Verdict::Replay => {
                let mut calls = 0;
                while let Some(number) = self.session.replay_due() {
                    let sent = (1..self.session.next_out()).contains(&number);
                    hold!(sent, "resends {number}, which was never sent");
                    calls += 1;
                    hold!(calls <= 8 * self.session.next_out(), "a replay without end");
                    let stored = self.stored.get(&number).map(Vec::as_slice);
                    self.session.replay(self.now, stored, &mut self.outbox);
                    self.seal()?;
                }
            }
            Verdict::Disconnect(_) => self.lose_connection(),
            _ => {}
        }
        hold!(self.outbox.failures() == 0, "a message did not fit");
        Ok(())
    }

    fn notice_epoch(&mut self) {
        if self.session.epoch() != self.epoch {
            self.epoch = self.session.epoch();
            self.stored.clear();
            self.request = None;
        }
    }

    fn seal(&mut self) -> Result<(), String> {
        self.notice_epoch();
        for index in self.outbox.unsealed() {
            let number = self.outbox.entries()[index].number;
            let expected = match number {
                MsgSeqNumSource::Next => self.session.next_out(),
                MsgSeqNumSource::Fixed(number) => number,
            };
            self.session.seal(self.now, &mut self.outbox, index);
            let bytes = self.outbox.sealed(index).to_vec();
            self.check_sent(&bytes, number, expected)?;
            if number == MsgSeqNumSource::Next {
                let twice = self.stored.insert(expected, bytes).is_some();
                hold!(!twice, "{expected} was given out twice");
            }
        }
        self.outbox.clear();
        Ok(())
    }

    /// A message that we write is one that every peer accepts.
    fn check_sent(
        &mut self,
        bytes: &[u8],
        number: MsgSeqNumSource,
        expected: u64,
    ) -> Result<(), String> {
        let len = bytes.len();
        let whole = frame::next(bytes, len) == Frame::Whole { skip: 0, len };
        hold!(whole, "wrote no message: {}", show(bytes));
        let mut decoder = Decoder::with_capacity(128);
        let message = decoder.decode(bytes);
        hold!(
            message.seq_num() == Some(Ok(expected)),
            "wrong number: {}",
            show(bytes)
        );
        let valid = validate::check(
            &self.dictionary,
            &message,
            &ValidationRules::default(),
            &mut Scratch::default(),
        );
        // A tag that is not a number is echoed unchanged; the application's messages are the application's own.
        let ours = match valid.err().and_then(|fault| fault.tag) {
            Some(141) => !(self.flags_resets && self.begin_string == BeginString::Fix40),
            Some(371) => message.msg_type() != b"3",
            _ => message.msg_type() != b"B",
        };
        hold!(
            valid.is_ok() || !ours,
            "wrote what is not valid ({valid:?}): {}",
            show(bytes)
        );
        if let MsgSeqNumSource::Fixed(number) = number {
            let again = message.get(43) == Some(b"Y");
            let fill = message.msg_type() == b"4" && message.get(123) == Some(b"Y");
            let stored = self
                .stored
                .get(&number)
                .is_some_and(|stored| same(stored, bytes));
            hold!(
                again && (fill || stored),
                "neither sent before nor a gap fill: {}",
                show(bytes)
            );
        }
        if message.msg_type() == b"2" {
            let begin = message
                .uint(7)
                .and_then(Result::ok)
                .ok_or("a ResendRequest without 7")?;
            hold!(
                begin == self.session.next_in(),
                "asks for {begin}, which is not missing"
            );
            let open = self.request.filter(|open| open.begin == begin);
            let times = open.map_or(0, |open| open.times);
            if let Some(open) = open {
                let patience = self.session.config().limits.resend_patience;
                let again = open.at + Nanos(patience.0 << (times - 1).min(16));
                let now = self.now.mono;
                hold!(
                    now >= again,
                    "asks again for {begin} while the request is open"
                );
            }
            self.request = Some(Request {
                begin,
                number: expected,
                times: times + 1,
                at: self.now.mono,
            });
        }
        Ok(())
    }
}

/// Whether two messages are equal except for their sending times.
fn same(stored: &[u8], again: &[u8]) -> bool {
    let fields = |bytes: &[u8]| {
        let of_sending = |field: &&[u8]| {
            [&b"9="[..], b"10=", b"43=", b"52=", b"122="]
                .iter()
                .any(|tag| field.starts_with(tag))
        };
        let kept = bytes
            .split(|byte| *byte == 1)
            .filter(|field| !of_sending(field));
        kept.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    fields(stored) == fields(again)
}

/// One for each of `BeginString::ALL`, made once.
fn dictionaries() -> &'static [Arc<Dictionary>; 6] {
    static MADE: OnceLock<[Arc<Dictionary>; 6]> = OnceLock::new();
    MADE.get_or_init(|| {
        let plain = |version| Arc::new(Dictionary::built_in(version));
        let transport = Dictionary::built_in(Version::Fixt11);
        [
            plain(Version::Fix40),
            plain(Version::Fix41),
            plain(Version::Fix42),
            plain(Version::Fix43),
            plain(Version::Fix44),
            Arc::new(Dictionary::built_in(Version::Fix50Sp2).over(&transport)),
        ]
    })
}
