//! Test fixture: an exchange with members, and short forms of their messages.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::BookState;
use fixwire_protocol::session::{ApplVerId, BeginString, Config, Role};
use fixwire_protocol::{
    Application, Decimal, Decoder, Ledger, Mono, Nanos, Now, OperatorCommand, Outbox, Refusal,
    SessionId, Tag, Timestamp,
};

use crate::{Exchange, ExchangeConfig, ExchangeSession, InstrumentConfig};

/// Members by session id: two of FIX 4.4, then one of FIX 4.2 and one of FIX 5.0 SP2.
pub(super) const A: SessionId = SessionId(0);
pub(super) const B: SessionId = SessionId(1);
pub(super) const OLD: SessionId = SessionId(2);
pub(super) const NEW: SessionId = SessionId(3);

pub(super) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap()
}

/// Two instruments: VOD in hundredths and whole pieces, BTC in halves and thousandths.
pub(super) fn config() -> ExchangeConfig {
    let vod = InstrumentConfig {
        symbol: "VOD".to_string(),
        tick: decimal("0.01"),
        lot: decimal("1"),
        low: Some(decimal("5")),
        high: Some(decimal("20.00")),
        reference: None,
        state: BookState::Continuous,
        legs: None,
    };
    let btc = InstrumentConfig {
        symbol: "BTC".to_string(),
        tick: decimal("0.5"),
        lot: decimal("0.001"),
        low: None,
        high: None,
        ..vod.clone()
    };
    ExchangeConfig {
        instruments: [vod, btc].into(),
        ..ExchangeConfig::default()
    }
}

/// An exchange, its outbox, and its notes.
pub(super) struct Desk {
    pub(super) exchange: Exchange,
    outbox: Outbox,
    pub(super) notes: Vec<Vec<u8>>,
    now: Now,
}

/// A message of the exchange.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) to: SessionId,
    pub(super) text: String,
}

pub(super) fn sessions() -> Vec<(String, Config)> {
    let versions = [
        BeginString::Fix44,
        BeginString::Fix44,
        BeginString::Fix42,
        BeginString::Fixt11,
    ];
    let session = |(index, version): (usize, &BeginString)| {
        let mut config = Config::new(*version, Role::Acceptor, b"EXCHANGE", b"MEMBER");
        config.default_appl_ver_id =
            (*version == BeginString::Fixt11).then_some(ApplVerId::FIX50_SP2);
        (format!("M{index}"), config)
    };
    versions.iter().enumerate().map(session).collect()
}

pub(super) fn exchange(config: ExchangeConfig) -> Exchange {
    let sessions = sessions();
    let sessions = sessions
        .iter()
        .map(|(name, session)| ExchangeSession { name, session });
    Exchange::new(config, sessions).unwrap()
}

impl Desk {
    pub(super) fn new() -> Self {
        Self::of(config())
    }

    pub(super) fn of(config: ExchangeConfig) -> Self {
        Self {
            exchange: exchange(config),
            outbox: Outbox::new(1 << 16, 64, 256),
            notes: Vec::new(),
            now: Now {
                wall: Timestamp(1_772_438_400_000_000_000),
                mono: Mono::default(),
            },
        }
    }

    /// Sets the size of the outbox, in bytes.
    pub(super) fn with_room(mut self, bytes: usize, messages: usize) -> Self {
        self.outbox = Outbox::new(bytes, messages, 256);
        self
    }

    /// Sends a member's message: MsgType, and fields with `|` for SOH.
    pub(super) fn ask(&mut self, from: SessionId, message: &str) -> Result<Vec<Said>, Refusal> {
        let (msg_type, fields) = message.split_once(' ').unwrap();
        let text = format!("8=FIX|9=5|35={msg_type}|34=2|{fields}|10=000|");
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&bytes);
        self.now.wall.0 += 1_000_000;
        let taken = self
            .exchange
            .on_message(self.now, from, &message, &mut self.outbox);
        let said = self.collect();
        taken.map(|()| said)
    }

    /// Sends a member's message that must not be refused.
    pub(super) fn say(&mut self, from: SessionId, message: &str) -> Vec<Said> {
        self.ask(from, message).unwrap()
    }

    pub(super) fn command(&mut self, command: &str) -> (Result<String, String>, Vec<Said>) {
        let mut answer = Vec::new();
        self.now.wall.0 += 1_000_000;
        let done = self.exchange.on_command(
            self.now,
            OperatorCommand {
                bytes: command.as_bytes(),
                who: "operator",
                why: "",
            },
            &mut answer,
            &mut self.outbox,
        );
        let answer = done.map(|()| String::from_utf8(answer).unwrap());
        (answer, self.collect())
    }

    pub(super) fn query(&self, query: &str) -> Result<String, String> {
        let mut answer = Vec::new();
        let done = self
            .exchange
            .on_query(self.now, query.as_bytes(), &mut answer);
        done.map(|()| String::from_utf8(answer).unwrap())
    }

    /// Advances the clock to the exchange's next timer, if any.
    pub(super) fn pass(&mut self) -> (bool, Vec<Said>) {
        let again = self.exchange.on_time(self.now, &mut self.outbox);
        (again.is_some(), self.collect())
    }

    /// Advances the clock by this number of milliseconds.
    pub(super) fn sleep(&mut self, millis: u64) {
        self.now.mono = self.now.mono + Nanos::from_millis(millis);
        self.now.wall.0 += millis.cast_signed() * 1_000_000;
    }

    /// Does the engine's part after a call: keeps notes, sends messages.
    fn collect(&mut self) -> Vec<Said> {
        let mut said = Vec::new();
        for (index, entry) in self.outbox.entries().iter().enumerate() {
            let body = self.outbox.body(index);
            if entry.is_note() {
                self.notes.push(body.to_vec());
                continue;
            }
            let msg_type = String::from_utf8_lossy(self.outbox.msg_type(index));
            let body = String::from_utf8_lossy(body).replace('\x01', "|");
            said.push(Said {
                to: entry.session,
                text: format!("35={msg_type}|{body}"),
            });
        }
        self.outbox.clear();
        said
    }

    /// The exchange after a restart, from its notes alone.
    pub(super) fn again(&self, config: ExchangeConfig) -> Exchange {
        let mut exchange = exchange(config);
        for note in &self.notes {
            exchange.on_note(Timestamp::default(), note);
        }
        exchange
    }

    /// The ledger of the notes.
    pub(super) fn ledger(&self) -> alloc::boxed::Box<dyn Ledger> {
        let mut ledger = self.exchange.ledger().unwrap();
        for note in &self.notes {
            ledger.apply(Timestamp::default(), note);
        }
        ledger
    }
}

impl Said {
    /// The values of the message's fields.
    pub(super) fn fields(&self) -> BTreeMap<Tag, &str> {
        let fields = self
            .text
            .split('|')
            .filter_map(|field| field.split_once('='));
        fields
            .map(|(tag, value)| (tag.parse().unwrap(), value))
            .collect()
    }

    /// Asserts `tag=value` for each required field, and `!tag` for each forbidden field.
    #[track_caller]
    pub(super) fn has(&self, wanted: &str) -> &Self {
        let fields = self.fields();
        for field in wanted.split('|').filter(|field| !field.is_empty()) {
            let (tag, value) = match field.strip_prefix('!') {
                Some(tag) => (tag, None),
                None => field
                    .split_once('=')
                    .map(|(tag, it)| (tag, Some(it)))
                    .unwrap(),
            };
            let found = fields.get(&tag.parse().unwrap()).copied();
            assert_eq!(found, value, "{field} in {}", self.text);
        }
        self
    }
}
