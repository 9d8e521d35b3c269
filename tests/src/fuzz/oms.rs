//! An OMS: its settings, and any messages and commands of clients, venues and operators.
//!
//! Input that begins with `settings` is the settings file and, each after a form feed, the files that it names. Any
//! other is lines: `c` and `v` a message of the client or the venue (MsgType(35), then fields with `|` between them),
//! `x` a command, `q` a query, `u` and `d` the line comes up or goes down, `t` milliseconds pass, `r` the process is
//! killed.

use std::sync::{Arc, OnceLock};

use fixwire_oms::load::load;
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{Oms, OmsSession, OmsState};
use fixwire_protocol::Dictionary;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{
    Application, Decoder, Ledger, Mono, Nanos, Now, OperatorCommand, Outbox, Parting, PeerLogout,
    SOH, SessionId, Timestamp,
};

use super::hold;
use super::input::show;

const CLIENT: SessionId = SessionId(0);
const LINE: SessionId = SessionId(1);
const SESSIONS: [&str; 2] = ["CLIENT", "SIM"];
const FILES: [&str; 4] = [
    "instruments.csv",
    "limits.csv",
    "positions.csv",
    "restricted.csv",
];

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
remembered = 2
self_trade = "reject"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A*"]
account = "A1"
may = ["new", "replace", "cancel", "mass cancel", "status"]
on_disconnect = "cancel after 1s"
own_numbers = true
[[line_group]]
name = "SIM"
lines = ["SIM"]
flow = "5 in 1s"
kept_for_cancels = 1
queue = "2s"
number_pool = "P"
[[line_group.error]]
text = "busy*"
do = "retry"
times = 2
after = "100ms"
[[number_pool]]
name = "P"
prefix = "T"
width = 1
[[route]]
symbols = ["*"]
to = "SIM"
"#;
const INSTRUMENTS: &str = "symbol,tick,lot,reference\nXYZ,0.05,10,100\n";
const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,100\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";

/// Panics when something does not hold.
pub fn run(data: &[u8]) {
    if let Err(fault) = check(data, OmsState::apply_note) {
        panic!("{fault}: {}", show(data));
    }
}

/// The same with another way to apply a note after a crash.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], apply: fn(&mut OmsState, &[u8])) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    if let Some(files) = text.strip_prefix("settings") {
        return check_settings(files);
    }
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_owned()),
        _ => Ok(LIMITS.to_owned()),
    };
    let rules = load(SETTINGS, &SESSIONS, &mut open).map_err(|errors| format!("{errors:?}"))?;
    let mut floor = Floor::new(rules);
    for line in data.split(|byte| *byte == b'\n').take(200) {
        floor.play(line);
        floor.check(apply)?;
    }
    Ok(())
}

/// Rules that an OMS starts with, or mistakes in one line each.
fn check_settings(files: &str) -> Result<(), String> {
    let mut parts = files.split('\u{c}');
    let settings = parts.next().unwrap_or_default();
    let texts: Vec<&str> = parts.collect();
    let mut open = |file: &str| {
        let place = FILES.iter().position(|known| *known == file);
        let text = place.and_then(|place| texts.get(place));
        text.map(|text| (*text).to_owned())
            .ok_or_else(|| "missing".to_owned())
    };
    match load(settings, &SESSIONS, &mut open) {
        Ok(rules) => {
            let mut floor = Floor::new(rules);
            floor.play(b"t 0");
            floor.check(OmsState::apply_note)
        }
        Err(errors) => {
            hold!(!errors.is_empty(), "refused without a word");
            for error in errors {
                let said = error.to_string();
                hold!(error.at <= settings.len(), "{said:?} is nowhere");
                hold!(
                    !said.is_empty() && !said.contains('\n'),
                    "not a line: {said:?}"
                );
            }
            Ok(())
        }
    }
}

/// An OMS and its notes.
struct Floor {
    oms: Oms,
    rules: RiskRules,
    outbox: Outbox,
    decoder: Decoder,
    millis: u64,
    noted: Vec<(Timestamp, Vec<u8>)>,
}

impl Floor {
    fn new(mut rules: RiskRules) -> Self {
        // Unused room takes time to clear.
        rules.orders = 16;
        Self {
            oms: oms(&rules),
            rules,
            outbox: Outbox::new(1 << 18, 1024, 256),
            decoder: Decoder::with_capacity(64),
            millis: 0,
            noted: Vec::new(),
        }
    }

    fn now(&self) -> Now {
        let since = Nanos(self.millis * 1_000_000);
        Now {
            wall: Timestamp(1_795_000_000_000_000_000 + since.0.cast_signed()),
            mono: Mono::default() + since,
        }
    }

    fn play(&mut self, line: &[u8]) {
        let (what, rest) = line.split_at(line.len().min(2));
        let (
            now,
            Self {
                oms,
                outbox,
                decoder,
                ..
            },
        ) = (self.now(), &mut *self);
        match what {
            b"c " | b"v " => {
                let bytes = message(rest);
                let from = if what == b"c " { CLIENT } else { LINE };
                let message = decoder.decode(&bytes);
                let _ = oms.on_message(now, from, &message, outbox);
            }
            b"x " => {
                let command = OperatorCommand {
                    bytes: rest,
                    who: "ann (uid 7)",
                    why: "why",
                };
                let _ = oms.on_command(now, command, &mut Vec::new(), outbox);
            }
            b"q " => {
                let _ = oms.on_query(now, rest, &mut Vec::new());
            }
            b"u" => {
                let bytes = message(b"A");
                oms.on_logon(now, LINE, &decoder.decode(&bytes), outbox);
            }
            b"d" => oms.on_disconnect(now, LINE, Parting::Lost, PeerLogout::NONE, outbox),
            b"t " => {
                let millis = std::str::from_utf8(rest)
                    .ok()
                    .and_then(|it| it.parse().ok());
                self.millis += millis.unwrap_or(0_u64).min(100_000_000);
            }
            b"r" => {
                let mut oms = oms_of(&self.rules, &self.noted);
                std::mem::swap(&mut self.oms, &mut oms);
            }
            _ => {}
        }
        self.keep(now);
        // Does the work that is due by itself, until no work is due.
        for _ in 0..1_000 {
            let now = self.now();
            let due = self.oms.on_time(now, &mut self.outbox);
            self.keep(now);
            if due.is_none_or(|due| due > now.mono) {
                return;
            }
        }
        panic!("it never rests");
    }

    fn keep(&mut self, now: Now) {
        for (index, entry) in self.outbox.entries().iter().enumerate() {
            if entry.is_note() {
                let note = self.outbox.body(index).to_vec();
                self.noted.push((now.wall, note));
            }
        }
        self.outbox.clear();
    }

    /// The notes make the state, and so does a checkpoint.
    fn check(&self, apply: fn(&mut OmsState, &[u8])) -> Result<(), String> {
        let state = self.oms.state();
        hold!(state.violations() == 0, "an event that does not fit");
        let mut replayed = OmsState::with_capacity(0);
        for (_, note) in &self.noted {
            apply(&mut replayed, note);
        }
        hold!(replayed.events() == state.events(), "events are missing");
        let mut written = Vec::new();
        state.write(&mut |bytes| written.extend_from_slice(bytes));
        let mut read = OmsState::with_capacity(0);
        let (_, version) = read.form();
        read.read(version, &written)?;
        hold!(read.hash() == state.hash(), "a checkpoint is another state");
        hold!(
            replayed.hash() == state.hash(),
            "the notes are another state"
        );
        Ok(())
    }
}

/// That of all sessions, which is made once.
static DICTIONARY: OnceLock<Arc<Dictionary>> = OnceLock::new();

fn oms(rules: &RiskRules) -> Oms {
    let session = |name: &str| OmsSession {
        name: name.to_owned(),
        version: Version::Fix44,
        dictionary: Arc::clone(DICTIONARY.get_or_init(|| OmsSession::built_in(Version::Fix44))),
        ids: Vec::new(),
    };
    let sessions = SESSIONS.map(session).to_vec();
    Oms::new(rules.clone(), sessions, 7, Box::new(|_| {}))
}

fn oms_of(rules: &RiskRules, noted: &[(Timestamp, Vec<u8>)]) -> Oms {
    let mut oms = oms(rules);
    for (at, note) in noted {
        oms.on_note(*at, note);
    }
    oms
}

/// `D 11=A|55=XYZ` as a message.
fn message(text: &[u8]) -> Vec<u8> {
    let mut parts = text.splitn(2, |byte| *byte == b' ');
    let msg_type = parts.next().unwrap_or_default();
    let body = parts.next().unwrap_or_default();
    let mut bytes = [b"8=FIX.4.4|9=5|35=", msg_type, b"|34=2|", body].concat();
    if bytes.last() != Some(&b'|') {
        bytes.push(b'|');
    }
    bytes.extend_from_slice(b"10=000|");
    for byte in &mut bytes {
        if *byte == b'|' {
            *byte = SOH;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &[u8] =
        b"u\nc D 11=A|55=XYZ|54=1|38=10|40=2|44=100\nv 8 11=1|37=V|17=1|150=0|39=0";

    #[test]
    fn an_order_is_played() {
        let rules = {
            let mut open = |file: &str| match file {
                "instruments.csv" => Ok(INSTRUMENTS.to_owned()),
                _ => Ok(LIMITS.to_owned()),
            };
            load(SETTINGS, &SESSIONS, &mut open).unwrap()
        };
        let mut floor = Floor::new(rules);
        for line in ORDER.split(|byte| *byte == b'\n') {
            floor.play(line);
        }
        let orders = floor.oms.state().orders();
        let order = orders.get(1).expect("it was taken");
        assert_eq!(order.state, fixwire_oms::OrderState::Working);
    }

    #[test]
    fn a_note_that_is_skipped_is_found() {
        assert_eq!(check(ORDER, OmsState::apply_note), Ok(()));
        let skips: fn(&mut OmsState, &[u8]) = |state, note| {
            // The note of the acceptance.
            if note[8] != 20 {
                state.apply_note(note);
            }
        };
        assert!(check(ORDER, skips).is_err());
    }
}
