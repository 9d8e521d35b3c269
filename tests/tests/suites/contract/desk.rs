//! An OMS between a client, a venue and a drop copy, without an engine.

use std::sync::{Arc, OnceLock};

use fixwire_dictionary::DocumentLimits;
use fixwire_dictionary::delta::{Delta, apply};
use fixwire_oms::load::load;
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{Oms, OmsSession};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::dictionary::validate::{Scratch, ValidationRules, check};
use fixwire_protocol::{
    Application, Decoder, Dictionary, Message, Mono, Now, Outbox, Refusal, SessionId, Timestamp,
};

pub const CLIENT: usize = 0;
pub const VENUE: usize = 1;
pub const COPY: usize = 2;

/// The dictionary of a session.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub name: &'static str,
    pub version: Version,
    pub dictionary: Arc<Dictionary>,
}

/// The dictionaries of three versions, and of four venues.
pub fn spoken() -> &'static [Spoken] {
    static ALL: OnceLock<Vec<Spoken>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of_venue = |name, version, delta: &str| Spoken {
            name,
            version,
            dictionary: with(version, delta),
        };
        let of_version = |name, version| of_venue(name, version, "");
        vec![
            of_version("FIX 4.2", Version::Fix42),
            of_version("FIX 4.4", Version::Fix44),
            of_version("FIX 5.0 SP2", Version::Fix50Sp2),
            of_venue(
                "US equities",
                Version::Fix42,
                include_str!("us-equities.delta"),
            ),
            of_venue("futures", Version::Fix42, include_str!("futures.delta")),
            of_venue(
                "crypto spot",
                Version::Fix44,
                include_str!("crypto-spot.delta"),
            ),
            of_venue(
                "European equities",
                Version::Fix50Sp2,
                include_str!("european-equities.delta"),
            ),
        ]
    })
}

fn with(version: Version, delta: &str) -> Arc<Dictionary> {
    if delta.is_empty() {
        return OmsSession::built_in(version);
    }
    let delta = Delta::read("delta", delta, DocumentLimits::of_delta());
    let delta = delta.unwrap_or_else(|error| panic!("{error}"));
    let dictionary = apply(&Dictionary::built_in(version), &[delta]);
    let dictionary = dictionary.unwrap_or_else(|error| panic!("{error}"));
    Arc::new(match version >= Version::Fix50 {
        true => dictionary.over(&Dictionary::built_in(Version::Fixt11)),
        false => dictionary,
    })
}

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 20000
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote", "price inquiry", "reports"]
account = "A1"
USER
[[line_group]]
name = "V"
lines = ["V"]
GROUP
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "COPY"
accounts = ["*"]
"#;

/// The rules of settings in which the user and the line group have these keys.
///
/// # Errors
///
/// Their mistakes.
pub fn rules(user: &str, group: &str) -> Result<RiskRules, Vec<String>> {
    let settings = SETTINGS.replace("USER", user).replace("GROUP", group);
    let mut open = |file: &str| {
        Ok(match file {
            "instruments.csv" => "symbol,tick,lot,reference,ric,exchange,maturity\nXYZ,0.5,1,100,XYZ.L,XLON,2027-01-15\n".to_owned(),
            _ => "scope,control,limit\nfirm,RC6,1000000\nfirm,RC7,1000000000\nfirm,RC8,90\n\
                  firm,RC13,100000\nfirm,RC14,1000000000000\nfirm,RC15,100000000\n"
                .to_owned(),
        })
    };
    let loaded = load(&settings, &["C", "V", "COPY"], &mut open);
    loaded.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// A message that the OMS sent, its body with `|` for SOH.
#[derive(Clone, Debug)]
pub struct Sent {
    pub to: usize,
    pub msg_type: String,
    pub body: String,
}

impl Sent {
    pub fn get(&self, tag: u32) -> Option<&str> {
        let mut fields = self.body.split('|');
        fields.find_map(|field| field.strip_prefix(&*format!("{tag}=")))
    }
}

/// What the OMS did with a message.
#[derive(Debug)]
pub struct Answer {
    pub refusal: Option<Refusal>,
    pub sent: Vec<Sent>,
}

impl Answer {
    /// The message that a session got, of a type.
    pub fn to(&self, session: usize, msg_type: &str) -> Option<&Sent> {
        let mut all = self.sent.iter();
        all.find(|sent| sent.to == session && sent.msg_type == msg_type)
    }
}

pub struct Desk {
    pub oms: Oms,
    outbox: Outbox,
    decoders: Vec<(Decoder, Arc<Dictionary>)>,
    scratch: Scratch,
    wall: i64,
}

impl Desk {
    /// An OMS whose sessions have just logged on.
    pub fn new(rules: RiskRules, client: &Spoken, venue: &Spoken, copy: &Spoken) -> Self {
        let all = [("C", client), ("V", venue), ("COPY", copy)];
        let sessions = all.map(|(name, of)| OmsSession {
            name: name.to_owned(),
            version: of.version,
            dictionary: Arc::clone(&of.dictionary),
            ids: Vec::new(),
        });
        let decoders = all.map(|(_, of)| {
            let mut decoder = Decoder::with_capacity(2048);
            decoder.learn(&of.dictionary);
            (decoder, Arc::clone(&of.dictionary))
        });
        let mut desk = Self {
            oms: Oms::new(rules, sessions.into(), 7, Box::new(|_| {})),
            outbox: Outbox::new(1 << 20, 1 << 14, 256),
            decoders: decoders.into(),
            scratch: Scratch::default(),
            // 2026-11-22 08:00 UTC.
            wall: 1_795_334_400_000_000_000,
        };
        desk.turn();
        for session in [VENUE, CLIENT, COPY] {
            let now = desk.now();
            let logon = desk.decoders[0].0.decode(b"8=FIX.4.4\x019=0\x0135=A\x01");
            let id = SessionId(session as u32);
            desk.oms.on_logon(now, id, &logon, &mut desk.outbox);
            desk.turn();
        }
        desk
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp(self.wall),
            mono: Mono(self.wall.unsigned_abs()),
        }
    }

    /// A session sends a message: fields with `|` for SOH, MsgType(35) first.
    ///
    /// # Panics
    ///
    /// When the session's dictionary does not allow it: its engine would have rejected it.
    pub fn hears(&mut self, from: usize, fields: &str) -> Answer {
        let bytes = format!("8=FIX.4.4|9=0|{fields}").replace('|', "\x01");
        let (decoder, dictionary) = &mut self.decoders[from];
        let message = decoder.decode(bytes.as_bytes());
        let fault = fault(dictionary, &message, &mut self.scratch);
        assert_eq!(fault, None, "{fields}");
        self.wall += 1_000_000;
        let now = Now {
            wall: Timestamp(self.wall),
            mono: Mono(self.wall.unsigned_abs()),
        };
        let from = SessionId(from as u32);
        let refusal = self.oms.on_message(now, from, &message, &mut self.outbox);
        Answer {
            refusal: refusal.err(),
            sent: self.turn(),
        }
    }

    /// Until the OMS has nothing to do now.
    fn turn(&mut self) -> Vec<Sent> {
        let mut sent = self.collect();
        loop {
            let now = self.now();
            let due = self.oms.on_time(now, &mut self.outbox);
            sent.extend(self.collect());
            if due.is_none_or(|due| due > now.mono) {
                return sent;
            }
        }
    }

    fn collect(&mut self) -> Vec<Sent> {
        assert_eq!(self.outbox.failures(), 0);
        let outbox = &self.outbox;
        let messages = outbox.unsealed();
        let messages = messages.filter(|at| !outbox.entries()[*at].is_note());
        let sent = messages.map(|at| Sent {
            to: outbox.entries()[at].session.0 as usize,
            msg_type: String::from_utf8_lossy(outbox.msg_type(at)).into_owned(),
            body: String::from_utf8_lossy(outbox.body(at)).replace('\x01', "|"),
        });
        let sent = sent.collect();
        self.outbox.clear();
        sent
    }

    /// A column of `fixwire oms status`.
    pub fn status(&mut self, column: &str) -> String {
        let mut answer = Vec::new();
        let asked = self.oms.on_query(self.now(), b"status", &mut answer);
        assert_eq!(asked, Ok(()));
        let text = String::from_utf8_lossy(&answer).into_owned();
        let rows: Vec<Vec<&str>> = text.lines().map(|it| it.split('\t').collect()).collect();
        let at = rows[0].iter().position(|it| *it == column).expect(column);
        rows[1][at].to_owned()
    }
}

/// What an engine's session would reject in a message whose required fields are all there, and which may have fields of
/// the user.
fn fault(dictionary: &Dictionary, message: &Message<'_>, scratch: &mut Scratch) -> Option<String> {
    let rules = ValidationRules {
        required_fields: false,
        conditional_fields: false,
        user_defined_fields: false,
        ..ValidationRules::default()
    };
    let checked = check(dictionary, message, &rules, scratch);
    checked.err().map(|fault| format!("{fault:?}"))
}
