//! Random days of a client: commands, answers of its venue, lost connections, restarts. Its notes must rebuild its open
//! orders, and the sent messages and the state of each world must match `worlds.txt`; see `fixwire_harness::worlds`.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::Mutex;

use fixwire_harness::Random;
use fixwire_harness::worlds::{self, WorldRecord, shown};
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{
    Application, Decoder, Ledger, Message, Mono, Nanos, Now, OperatorCommand, Outbox, Parting,
    PeerLogout, SessionId, Timestamp,
};

use super::state_lines::{kept_lines, state_lines};
use crate::{ClientEvent, ClientSetup, OrderClient, SendStats};

/// The file of hashes.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/worlds.txt");
const WORLDS: u64 = 60;
const INPUTS: u32 = 200;
const VENUE: SessionId = SessionId(0);
/// The version of a checkpoint.
pub(super) const VERSION: u32 = 1;

/// A client, its sent messages, and its notes.
pub(super) struct Desk {
    pub(super) client: OrderClient,
    pub(super) notes: Vec<Vec<u8>>,
    outbox: Outbox,
    now: Now,
    events: Arc<Mutex<Vec<String>>>,
    /// MsgType and fields of each message.
    sent: Vec<(String, String)>,
    /// Messages since the last call.
    left: Vec<String>,
}

/// The text of an event.
fn event_text(event: ClientEvent<'_>) -> String {
    match event {
        ClientEvent::Answer(line) => line.to_string(),
        ClientEvent::Session { at, text } => format!("{} {text}", at.0),
        ClientEvent::Orders(orders) => {
            let lines: Vec<String> = orders.iter().map(ToString::to_string).collect();
            lines.join("; ")
        }
        ClientEvent::Stats(stats) => {
            let SendStats {
                group,
                sent,
                accepted,
                rejected,
                filled,
                latencies,
            } = stats;
            let latencies: Vec<String> = latencies.iter().map(|it| it.0.to_string()).collect();
            let group = group.unwrap_or_default();
            format!(
                "stats {group}: sent {sent} accepted {accepted} rejected {rejected} filled {filled} after {}",
                latencies.join(" ")
            )
        }
        ClientEvent::Finished(Ok(())) => "done".to_string(),
        ClientEvent::Finished(Err(why)) => format!("failed: {why}"),
    }
}

pub(super) fn client(events: &Arc<Mutex<Vec<String>>>) -> OrderClient {
    let mut config = Config::new(BeginString::Fix42, Role::Initiator, b"CLIENT", b"VENUE");
    config.max_latency = None;
    let setup = ClientSetup {
        session: VENUE,
        config: &config,
        timeout: Nanos::from_secs(5),
    };
    let events = Arc::clone(events);
    OrderClient::new(
        &setup,
        Box::new(move |event| events.lock().unwrap().push(event_text(event))),
    )
}

impl Desk {
    pub(super) fn new() -> Self {
        let events = Arc::default();
        Self {
            client: client(&events),
            notes: Vec::new(),
            outbox: Outbox::new(1 << 13, 16, 256),
            now: Now {
                wall: Timestamp(1_772_438_400_000_000_000),
                mono: Mono(1_000_000_000),
            },
            events,
            sent: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The engine's part after a call: keeps notes, sends messages.
    fn collect(&mut self) {
        for (at, entry) in self.outbox.entries().iter().enumerate() {
            let body = self.outbox.body(at);
            if entry.is_note() {
                self.notes.push(body.to_vec());
                continue;
            }
            let msg_type = String::from_utf8_lossy(entry.msg_type()).into_owned();
            let body = shown(body);
            self.left.push(format!("35={msg_type}|{body}"));
            self.sent.push((msg_type, body));
        }
        self.outbox.clear();
    }

    /// Calls the client with a message: MsgType, and fields with `|` for SOH.
    fn hears(
        &mut self,
        text: &str,
        hear: impl FnOnce(&mut OrderClient, Now, &Message<'_>, &mut Outbox),
    ) {
        let bytes = bytes(text);
        let mut decoder = Decoder::with_capacity(64);
        hear(
            &mut self.client,
            self.now,
            &decoder.decode(&bytes),
            &mut self.outbox,
        );
        self.collect();
    }

    pub(super) fn log_on(&mut self) {
        self.hears("A 98=0|108=30|", |client, now, logon, outbox| {
            client.on_logon(now, VENUE, logon, outbox);
        });
    }

    fn disconnect(&mut self) {
        let (now, lost) = (self.now, Parting::Lost);
        self.client
            .on_disconnect(now, VENUE, lost, PeerLogout::NONE, &mut self.outbox);
        self.collect();
    }

    fn reset(&mut self) {
        self.client.on_reset(self.now, VENUE, &mut self.outbox);
        self.collect();
    }

    pub(super) fn answer(&mut self, text: &str) {
        self.hears(text, |client, now, message, outbox| {
            // An answer is never refused on the client's own session.
            client.on_message(now, VENUE, message, outbox).unwrap();
        });
    }

    /// The venue rejects a message of the client.
    fn reject(&mut self, refused: Option<&str>) {
        let refused = refused.map(bytes);
        self.hears("3 45=7|373=5|", |client, now, reject, outbox| {
            client.on_reject(now, VENUE, reject, refused.as_deref(), outbox);
        });
    }

    pub(super) fn command(&mut self, command: &str) -> Result<(), String> {
        let (bytes, who, why) = (command.as_bytes(), "operator", "");
        let command = OperatorCommand { bytes, who, why };
        let done = self
            .client
            .on_command(self.now, command, &mut Vec::new(), &mut self.outbox);
        self.collect();
        self.pass(0);
        done
    }

    /// Lets this number of milliseconds pass, and calls the client when it is due.
    pub(super) fn pass(&mut self, millis: u64) {
        let end = self.now.mono + Nanos::from_millis(millis);
        loop {
            let due = self.client.on_time(self.now, &mut self.outbox);
            self.collect();
            match due {
                Some(due) if due <= end => {
                    let step = Nanos(due.0.saturating_sub(self.now.mono.0));
                    self.now = Now {
                        wall: self.now.wall + step,
                        mono: self.now.mono + step,
                    };
                }
                _ => break,
            }
        }
        let rest = Nanos(end.0 - self.now.mono.0);
        self.now = Now {
            wall: self.now.wall + rest,
            mono: end,
        };
    }

    /// A checkpoint of these first notes.
    pub(super) fn checkpoint(&self, notes: usize) -> Vec<u8> {
        let mut ledger = self.client.ledger().unwrap();
        for note in &self.notes[..notes] {
            ledger.apply(Timestamp::default(), note);
        }
        let mut state = Vec::new();
        Ledger::write(&*ledger, &mut |bytes| state.extend_from_slice(bytes));
        state
    }

    /// The process is killed; the next one begins with a checkpoint of these first notes, or with all notes.
    fn restart(&mut self, notes: Option<usize>) {
        let mut next = client(&self.events);
        if let Some(notes) = notes {
            next.on_checkpoint(VERSION, &self.checkpoint(notes))
                .unwrap();
        }
        for note in &self.notes[notes.unwrap_or(0)..] {
            next.on_note(Timestamp::default(), note);
        }
        self.client = next;
    }
}

/// A message from its MsgType and fields.
fn bytes(text: &str) -> Vec<u8> {
    let (msg_type, fields) = text.split_once(' ').unwrap();
    let text = format!("8=FIX.4.2|9=5|35={msg_type}|34=7|{fields}10=000|");
    text.replace('|', "\x01").into_bytes()
}

/// The value of a field of a sent message.
fn value<'a>(fields: &'a str, tag: &str) -> Option<&'a str> {
    let mut fields = fields.split('|').filter_map(|field| field.split_once('='));
    fields.find(|field| field.0 == tag).map(|field| field.1)
}

fn of<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len() as u64) as usize]
}

/// A ClOrdID that the client has used, or another one.
fn any_id(random: &mut Random, desk: &Desk) -> String {
    let sent = random.below(desk.sent.len() as u64 + 1) as usize;
    let sent = desk.sent.get(sent);
    let id = sent.and_then(|(_, fields)| value(fields, "11"));
    id.unwrap_or("X1").to_string()
}

fn any_command(random: &mut Random, desk: &Desk) -> String {
    let id = any_id(random, desk);
    let group = of(random, &["g", "h"]);
    let count = 1 + random.below(9);
    match random.below(24) {
        0..4 => format!(
            "new {} {count} VOD @ 10.{count}",
            of(random, &["buy", "sell"])
        ),
        4 => format!("new sell {count} BP tif ioc account A 58=text"),
        5 => format!("cancel {id}"),
        6 => "cancel last".into(),
        7 => "cancel all".into(),
        8 | 9 => format!("replace {id} qty {count}"),
        10 => format!("replace last price 9.{count} 58=more"),
        11 => format!("status {id}"),
        12 => "orders".into(),
        13 => "orders all".into(),
        14 => format!("set O D 55=VOD|54=1|38={count}|40=2|44=5"),
        15 => of(
            random,
            &[
                "set C F 58=x",
                "set R G 38=4|44=6",
                "set N B 148=news",
                "set P D 11=P00{count}|55=BP|54=2",
            ],
        )
        .into(),
        16 | 17 => format!("send O {count} {group}"),
        18 => format!("send O {count}/20/2 {group}"),
        19 => format!("send {} {count} of {group}", of(random, &["C", "R"])),
        20 => of(
            random,
            &["send N 2", "send P 2 +", "stamps on", "stamps off"],
        )
        .into(),
        21 => format!("wait {count} reports"),
        22 => of(random, &["wait all", "wait 0.05", "sleep 0.2"]).into(),
        _ => of(
            random,
            &[
                "stats",
                "stats g",
                "stats h",
                "sell",
                "quit",
                "# nothing",
                "",
            ],
        )
        .into(),
    }
}

fn any_answer(random: &mut Random, desk: &Desk) -> String {
    let sent = random.below(desk.sent.len() as u64 + 1) as usize;
    let (msg_type, fields) = desk.sent.get(sent).cloned().unwrap_or_default();
    let (id, orig) = (
        value(&fields, "11").unwrap_or("X1"),
        value(&fields, "41").unwrap_or("X2"),
    );
    let codes = match msg_type.as_str() {
        "F" => of(random, &["150=6|39=6", "150=4|39=4"]),
        "G" => of(random, &["150=E|39=E", "150=5|39=5", "150=5|39=1"]),
        _ => of(
            random,
            &[
                "150=0|39=0",
                "150=0|39=0",
                "150=1|39=1",
                "150=2|39=2",
                "150=8|39=8",
                "150=4|39=4",
            ],
        ),
    };
    let (cum, leaves, number) = (random.below(9), random.below(9), random.below(1000));
    match random.below(8) {
        0 if matches!(msg_type.as_str(), "F" | "G") => {
            format!("9 37=V{number}|11={id}|41={orig}|39=8|434=1|102=1|")
        }
        1 => format!("j 45={number}|372={msg_type}|379={id}|380=3|58=no|"),
        2 => format!("j 45={}|372={msg_type}|380=3|", sent + 2),
        3 => "B 148=news|".into(),
        _ => {
            let order_id = of(random, &["V1", "NONE", "V2"]);
            let named = if orig == "X2" {
                String::new()
            } else {
                format!("41={orig}|")
            };
            format!(
                "8 37={order_id}|11={id}|{named}17={number}|20=0|{codes}|151={leaves}|14={cum}|55=VOD|54=1|6=0|"
            )
        }
    }
}

/// One input.
fn play_one(random: &mut Random, desk: &mut Desk, record: &mut WorldRecord) {
    match random.below(40) {
        0..14 => {
            let command = any_command(random, desk);
            record.input(&command);
            if let Err(why) = desk.command(&command) {
                record.output(format_args!("refused: {why}"));
            }
        }
        14..32 => {
            let answer = any_answer(random, desk);
            record.input(&answer);
            desk.answer(&answer);
        }
        32 => {
            let sent = random.below(desk.sent.len() as u64 + 1) as usize;
            let refused = desk
                .sent
                .get(sent)
                .map(|(msg_type, fields)| format!("{msg_type} {fields}"));
            record.input(&format!("3 of {refused:?}"));
            desk.reject(refused.as_deref());
        }
        33 => {
            record.input("the connection is lost, and back");
            desk.disconnect();
            desk.pass(random.below(3) * 10);
            desk.log_on();
        }
        34 => {
            record.input("sequence numbers are reset");
            desk.reset();
        }
        35 => {
            record.input("the process is killed");
            let notes = random.below(desk.notes.len() as u64 + 1) as usize;
            let is_checkpoint = random.below(2) == 0;
            desk.restart(is_checkpoint.then_some(notes));
            desk.log_on();
        }
        _ => {
            let millis = of(random, &["1", "30", "250", "6000"]);
            record.input(&format!("{millis} ms"));
            desk.pass(millis.parse().unwrap());
        }
    }
    desk.left
        .drain(..)
        .for_each(|message| record.output(message));
    let events = core::mem::take(&mut *desk.events.lock().unwrap());
    events
        .iter()
        .for_each(|event| record.output(format_args!("event {event}")));
    record.state(|| state_lines(&desk.client));
}

#[test]
fn random_days_are_as_before_and_notes_make_the_open_orders_again() {
    let mut played = Vec::new();
    let (mut sent, mut kept) = (0, 0);
    for seed in 1..=WORLDS {
        let mut record = WorldRecord::new(format!("client/{seed:02}"));
        let mut random = Random::new(seed);
        let mut desk = Desk::new();
        desk.reset();
        desk.log_on();
        for _ in 0..INPUTS {
            play_one(&mut random, &mut desk, &mut record);
        }
        played.push(record);
        let lines = kept_lines(&desk.client.book);
        (sent, kept) = (sent + desk.sent.len(), kept + lines.len());
        for notes in [None, Some(desk.notes.len())] {
            desk.restart(notes);
            let found = kept_lines(&desk.client.book);
            worlds::assert_same(
                &found,
                &lines,
                format_args!("seed {seed}, checkpoint of {notes:?}"),
            );
        }
    }
    assert!(sent > 2000 && kept > 1000, "{sent} {kept}");
    worlds::compare(FILE, "client", &played);
}
