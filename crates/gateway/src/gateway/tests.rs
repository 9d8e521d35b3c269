//! The whole path of a message.

mod away;
mod cancelled;
mod checkpoint_bytes;
mod conversion_files;
mod events;
mod held;
mod held_recovery;
mod ledger;
mod memory;
mod options;
mod order_ids;
mod page;
mod path;
mod recovery;
mod rejected;
mod rejects;
mod reload;
mod remember;
mod rounds;
#[cfg(feature = "scripts")]
mod scripts;
mod shares;
mod state_lines;
mod status;
mod worlds;

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, OnceLock};
use std::vec;
use std::vec::Vec;

use fixwire_ledger::Bytes;
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{
    Application, Decoder, Message, Mono, Now, Outbox, Parting, PeerLogout, Refusal, SessionId,
    Timestamp,
};

use super::notes::note::{GatewayNote, SetupNote};
use super::{Gateway, GatewayContext, GatewayEvent, GatewaySession, note_text};
use crate::rules::RuleError;

/// Two clients and a drop copy of FIX 4.2, venues of FIX 4.4.
const SESSIONS: [(&str, Version); 6] = [
    ("ANNA", Version::Fix42),
    ("BERT", Version::Fix42),
    ("AUDIT", Version::Fix42),
    ("VENUE", Version::Fix44),
    ("BACKUP", Version::Fix44),
    ("THIRD", Version::Fix44),
];
const VENUES: &str = "symbol,session\nVOD,VENUE\nSAP,THIRD\n";

/// Orders go to VENUE, answers come back.
const PLAIN: &str = r#"
[[rule]]
name = "out"
from = ["ANNA", "BERT"]
do = ['convert', 'send VENUE']
[[rule]]
name = "back"
from = ["VENUE", "BACKUP", "THIRD"]
do = ['convert', 'return']
"#;

/// The dictionary of a session's messages.
fn dictionary(version: Version) -> Arc<Dictionary> {
    static MADE: OnceLock<Mutex<BTreeMap<&str, Arc<Dictionary>>>> = OnceLock::new();
    let mut made = MADE.get_or_init(Mutex::default).lock().unwrap();
    let make = || {
        let dictionary = Dictionary::built_in(version);
        Arc::new(match version {
            Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
                dictionary.over(&Dictionary::built_in(Version::Fixt11))
            }
            _ => dictionary,
        })
    };
    made.entry(version.name()).or_insert_with(make).clone()
}

fn load(
    text: &str,
    sessions: &[(&'static str, Version)],
    listener: super::Listener,
) -> Result<Gateway, Vec<RuleError>> {
    in_context(sessions, |context| Gateway::load(text, context, listener))
}

fn in_context<T>(
    sessions: &[(&'static str, Version)],
    load: impl FnOnce(&GatewayContext<'_>) -> T,
) -> T {
    with_conversions(sessions, &[], load)
}

fn with_conversions<T>(
    sessions: &[(&'static str, Version)],
    conversions: &[(&str, &str)],
    load: impl FnOnce(&GatewayContext<'_>) -> T,
) -> T {
    let sessions = sessions.iter().map(|(name, version)| GatewaySession {
        name,
        dictionary: dictionary(*version),
        version: *version,
        peer: name.split('#').next().unwrap(),
        resets: name.starts_with("FRESH"),
    });
    let context = GatewayContext {
        sessions: &sessions.collect::<Vec<_>>(),
        tables: &[("venues", VENUES)],
        conversions,
        hash_key: [7; 16],
    };
    load(&context)
}

/// A gateway between named sessions, with its written messages and its events.
struct Rig {
    gateway: Gateway,
    sessions: Vec<(&'static str, Version)>,
    heard: Arc<Mutex<Vec<String>>>,
    notes: Vec<(Timestamp, Vec<u8>)>,
    outbox: Outbox,
    wall: i64,
    refusal: Result<(), Refusal>,
}

impl Rig {
    /// A gateway with all sessions logged on.
    fn new(text: &str) -> Self {
        let mut rig = Self::of(text, &SESSIONS);
        rig.all_log_on();
        rig
    }

    fn of(text: &str, sessions: &[(&'static str, Version)]) -> Self {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = heard.clone();
        let names: Vec<&str> = sessions.iter().map(|(name, _)| *name).collect();
        let listener = move |event: GatewayEvent<'_>| {
            told.lock().unwrap().push(match event {
                GatewayEvent::Notify { rule, text } => {
                    format!("{rule}: {}", String::from_utf8_lossy(text))
                }
                GatewayEvent::Connect { rule, session } => {
                    format!("{rule}: connect {}", names[session.0 as usize])
                }
                GatewayEvent::Disconnect { rule, session } => {
                    format!("{rule}: disconnect {}", names[session.0 as usize])
                }
                GatewayEvent::Trouble { rule, trouble, .. } => {
                    format!("{}: {trouble}", rule.unwrap_or("no rule"))
                }
                GatewayEvent::Undelivered { trouble, .. } => format!("held: {trouble}"),
                GatewayEvent::Room {
                    limit,
                    client,
                    is_share,
                    taken,
                    of,
                } => {
                    let client = client.map_or("", |client| names[client.0 as usize]);
                    format!("{limit}: {client} {is_share} {taken} of {of}")
                }
                GatewayEvent::Note(error) => error.to_string(),
            });
        };
        let gateway = load(text, sessions, std::boxed::Box::new(listener));
        let gateway = gateway.unwrap_or_else(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("{text}\n{}", lines.join("\n"))
        });
        Self {
            gateway,
            sessions: sessions.to_vec(),
            heard,
            notes: Vec::new(),
            outbox: Outbox::new(1 << 16, 64, 256),
            wall: Timestamp::parse(b"20261120-10:00:00").unwrap().0,
            refusal: Ok(()),
        }
    }

    fn all_log_on(&mut self) {
        for (name, _) in self.sessions.clone() {
            self.log_on(name);
        }
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp(self.wall),
            mono: Mono(self.wall as u64),
        }
    }

    fn id(&self, name: &str) -> SessionId {
        let place = self.sessions.iter().position(|(one, _)| *one == name);
        SessionId(place.unwrap_or_else(|| panic!("no session {name}")) as u32)
    }

    fn log_on(&mut self, name: &str) {
        let (now, id) = (self.now(), self.id(name));
        let bytes = message(self.version(name), name, "35=A|98=0|108=30|");
        let mut decoder = Decoder::with_capacity(64);
        let logon = decoder.decode(&bytes);
        self.gateway.on_logon(now, id, &logon, &mut self.outbox);
        self.collect();
    }

    fn lose(&mut self, name: &str) {
        self.part(name, Parting::Lost, PeerLogout::NONE);
    }

    /// The peer logs out with this text.
    fn log_out(&mut self, name: &str, text: &str) {
        let bytes = message(self.version(name), name, &format!("35=5|58={text}|"));
        let mut decoder = Decoder::with_capacity(64);
        let logout = decoder.decode(&bytes);
        self.part(name, Parting::LoggedOut, PeerLogout::of(&logout));
    }

    fn part(&mut self, name: &str, parting: Parting, logout: PeerLogout<'_>) {
        let (now, id) = (self.now(), self.id(name));
        self.gateway.on_logout(now, id, logout);
        self.gateway
            .on_disconnect(now, id, parting, logout, &mut self.outbox);
        self.collect();
    }

    /// Resets the sequence numbers of a session.
    fn reset(&mut self, name: &str) -> Vec<String> {
        let (now, id) = (self.now(), self.id(name));
        self.gateway.on_reset(now, id, &mut self.outbox);
        self.collect()
    }

    fn version(&self, name: &str) -> Version {
        self.sessions[self.id(name).0 as usize].1
    }

    fn set_hours(&mut self, name: &str, open: bool) {
        let (now, id) = (self.now(), self.id(name));
        self.gateway.on_hours(now, id, open);
    }

    /// Receives a message; returns the written messages: `VENUE: 35=D|11=1|`.
    fn hears(&mut self, from: &str, text: &str) -> Vec<String> {
        self.wall += 1_000_000;
        let now = self.now();
        let id = self.id(from);
        let version = self.sessions[id.0 as usize].1;
        let bytes = message(version, from, text);
        let mut decoder = Decoder::with_capacity(128);
        let message = decoder.decode(&bytes);
        self.refusal = self.gateway.on_message(now, id, &message, &mut self.outbox);
        self.collect()
    }

    /// Receives a Reject(3) for a written message; returns the messages written then: `VENUE: 35=D|11=1|`.
    fn rejects(&mut self, reject: &str, refused: Option<&str>) -> Vec<String> {
        self.rejects_by(reject, refused, Gateway::on_reject)
    }

    /// Receives a BusinessMessageReject(j) for a written message; returns the messages written then.
    fn business_rejects(&mut self, reject: &str, refused: Option<&str>) -> Vec<String> {
        self.rejects_by(
            reject,
            refused,
            |gateway, now, id, reject, refused, outbox| {
                let _ = gateway.on_business_reject(now, id, reject, refused, outbox);
            },
        )
    }

    fn rejects_by(
        &mut self,
        reject: &str,
        refused: Option<&str>,
        hear: fn(&mut Gateway, Now, SessionId, &Message<'_>, Option<&[u8]>, &mut Outbox),
    ) -> Vec<String> {
        self.wall += 1_000_000;
        let (from, reject) = reject.split_once(": ").unwrap();
        let (now, id) = (self.now(), self.id(from));
        let version = self.sessions[id.0 as usize].1;
        let refused = refused.map(|written| {
            let (to, text) = written.split_once(": ").unwrap();
            assert_eq!(to, from, "it rejects what it was sent");
            message(version, "GATE", text)
        });
        let bytes = message(version, from, reject);
        let mut decoder = Decoder::with_capacity(64);
        let reject = decoder.decode(&bytes);
        let (refused, outbox) = (refused.as_deref(), &mut self.outbox);
        hear(&mut self.gateway, now, id, &reject, refused, outbox);
        self.collect()
    }

    /// Advances the clock; returns the messages written then.
    fn wait(&mut self, seconds: u64) -> Vec<String> {
        self.wall += seconds as i64 * 1_000_000_000;
        let mut written = Vec::new();
        loop {
            let now = self.now();
            let due = self.gateway.on_time(now, &mut self.outbox);
            written.extend(self.collect());
            if due.is_none_or(|due| due > now.mono) {
                return written;
            }
        }
    }

    #[track_caller]
    fn expect(&mut self, from: &str, text: &str, written: &[&str]) {
        assert_eq!(self.hears(from, text), written, "{:?}", self.said());
        assert_eq!(self.refusal, Ok(()));
    }

    /// Events since the last call.
    fn said(&self) -> Vec<String> {
        core::mem::take(&mut self.heard.lock().unwrap())
    }

    fn collect(&mut self) -> Vec<String> {
        let mut written = Vec::new();
        for (at, entry) in self.outbox.entries().iter().enumerate() {
            let body = self.outbox.body(at);
            if entry.is_note() {
                self.notes.push((Timestamp(self.wall), body.to_vec()));
                continue;
            }
            let body = String::from_utf8_lossy(body).replace('\x01', "|");
            let msg_type = String::from_utf8_lossy(entry.msg_type());
            let to = self.sessions[entry.session.0 as usize].0;
            written.push(format!("{to}: 35={msg_type}|{body}"));
        }
        self.outbox.clear();
        written
    }

    /// The notes so far, as readable text.
    fn shown_notes(&self) -> Vec<String> {
        let notes = self.notes.iter();
        let shown = notes.map(|(_, note)| note_text(note).unwrap().replace('\x01', "|"));
        shown.collect()
    }

    /// Replays these notes in another gateway, or in the same gateway after a restart.
    fn replay(&mut self, notes: &[(Timestamp, Vec<u8>)]) {
        for (at, note) in notes {
            self.gateway.on_note(*at, note);
        }
    }
}

/// The bytes of a note.
fn note(note: GatewayNote<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    note.put(&mut bytes);
    bytes
}

/// The note that introduces a session.
fn session_note(session: u32, name: &str) -> Vec<u8> {
    note(GatewayNote::Setup(SetupNote::Session {
        session,
        ids: None,
        name,
    }))
}

/// The bytes of a message from `35=D|...`, with a header and trailer.
fn message(version: Version, from: &str, text: &str) -> Vec<u8> {
    let begin = match version {
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => "FIXT.1.1",
        _ => version.name(),
    };
    let (kind, rest) = text.split_once('|').unwrap();
    let head = format!("{kind}|34=7|49={from}|52=20261120-10:00:00|56=GATE");
    let body = format!("{head}|{rest}").replace('|', "\x01");
    let start = format!("8={begin}|9={}|", body.len()).replace('|', "\x01");
    let mut bytes = (start + body.as_str()).into_bytes();
    let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
    bytes.extend(format!("10={:03}\x01", sum % 256).into_bytes());
    bytes
}
