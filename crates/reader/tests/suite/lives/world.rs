//! A gateway between two clients and two venues, its effect on each message, and its journal.
//!
//! The gateway is real, with a rules file; so are the journal and its records. The session layer is simulated: sequence
//! numbers, daily resets, messages above a gap, Rejects.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_journal::{
    Arrival, Cause, Directory, Effect, Journal, JournalConfig, JournalId, RecordKind,
};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::frame::check_sum;
use fixwire_protocol::outbox::HeaderTemplate;
use fixwire_protocol::{Application, Decoder, Dictionary, Mono, Now, Outbox, SessionId, Timestamp};

/// Clients, then venues.
pub const NAMES: [&str; 4] = ["ANNA", "BERT", "XETA", "XETB"];
/// 2026-11-20 08:00:00 UTC.
const EIGHT: i64 = 1_795_161_600_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// A message as it is in the journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Said {
    pub time: i64,
    /// Segment and byte of its record.
    pub place: (u32, u32),
    pub mark: &'static str,
    pub bytes: Vec<u8>,
}

impl Said {
    /// The first value of a tag.
    pub fn get(&self, tag: u32) -> Option<String> {
        let wanted = format!("{tag}=");
        let mut fields = self.bytes.split(|byte| *byte == 1);
        let value = fields.find_map(|field| field.strip_prefix(wanted.as_bytes()))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

/// The gateway and its peers.
pub struct GatewayWorld {
    gateway: Gateway,
    outbox: Outbox,
    decoder: Decoder,
    journal: Journal<Directory>,
    ids: Vec<JournalId>,
    headers: Vec<HeaderTemplate>,
    next_in: [u64; 4],
    next_out: [u64; 4],
    /// Messages sent to each peer today, by MsgSeqNum.
    sent: [HashMap<u64, Vec<u8>>; 4],
    epoch: u32,
    pub wall: i64,
}

/// The file of the gateway: a rule for XETA, one for XETB, and none for anything else.
fn file(ids: &str) -> String {
    format!(
        "[gateway]\nids = '{ids}'\nmax_orders = 4000\nmax_id = 16\n\
         [[rule]]\nfrom = ['XETA', 'XETB']\ndo = ['return']\n\
         [[rule]]\nfrom = ['ANNA', 'BERT']\nwhen = 'Symbol = \"SIE\"'\ndo = ['send XETA']\n\
         [[rule]]\nfrom = ['ANNA', 'BERT']\nwhen = 'Symbol = \"BAS\"'\ndo = ['send XETB']\n"
    )
}

impl GatewayWorld {
    /// With its journal in this folder; `ids` is the gateway's setting.
    pub fn new(folder: &Path, ids: &str) -> Self {
        let sessions = NAMES.map(|name| GatewaySession {
            name,
            dictionary: Arc::new(Dictionary::built_in(Version::Fix44)),
            version: Version::Fix44,
            peer: name,
            resets: false,
        });
        let context = GatewayContext {
            sessions: &sessions,
            tables: &[],
            conversions: &[],
            hash_key: [7; 16],
        };
        let gateway = Gateway::load(&file(ids), &context, Box::new(|_| ())).expect("it is right");
        let directory = Directory::open(folder).unwrap();
        let (mut journal, _) = Journal::open(directory, JournalConfig::default()).unwrap();
        let ids = NAMES.map(|name| {
            let name = format!("FIX.4.4:GATE->{name}");
            journal.register(Timestamp(EIGHT), &name).unwrap()
        });
        let headers =
            NAMES.map(|name| HeaderTemplate::new(b"FIX.4.4", b"GATE", name.as_bytes(), &[]));
        Self {
            gateway,
            outbox: Outbox::new(1 << 18, 1024, 256),
            decoder: Decoder::with_capacity(64),
            journal,
            ids: ids.to_vec(),
            headers: headers.to_vec(),
            next_in: [1; 4],
            next_out: [1; 4],
            sent: Default::default(),
            epoch: 0,
            wall: EIGHT,
        }
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp(self.wall),
            mono: Mono((self.wall - EIGHT) as u64 + 1),
        }
    }

    /// The current SendingTime.
    fn stamp(&self) -> String {
        let day = 20 + (self.wall - EIGHT) / (86_400 * SECOND);
        let rest = (self.wall - EIGHT) % (86_400 * SECOND) / 1_000_000;
        let (second, milli) = (rest / 1000, rest % 1000);
        let (hour, minute, second) = (8 + second / 3600, second / 60 % 60, second % 60);
        format!("202611{day:02}-{hour:02}:{minute:02}:{second:02}.{milli:03}")
    }

    /// A message from a peer, with the next MsgSeqNum or this one.
    fn message(
        &mut self,
        from: usize,
        msg_type: &str,
        more: &str,
        body: &str,
        number: u64,
    ) -> Vec<u8> {
        let (name, stamp) = (NAMES[from], self.stamp());
        let body = format!("35={msg_type}|34={number}|49={name}|{more}52={stamp}|56=GATE|{body}");
        let body = body.replace('|', "\x01");
        let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        format!("{text}10={:03}\x01", check_sum(text.as_bytes())).into_bytes()
    }

    /// A day begins: all peers log on and sequence numbers reset.
    pub fn begin_day(&mut self, day: i64) {
        self.wall = self.wall.max(EIGHT + day * 86_400 * SECOND);
        self.epoch += 1;
        for peer in 0..NAMES.len() {
            (self.next_in[peer], self.next_out[peer]) = (1, 1);
            self.sent[peer].clear();
            let logon = self.message(peer, "A", "", "98=0|108=30|141=Y|", 1);
            let (now, session) = (self.now(), SessionId(peer as u32));
            self.gateway.on_reset(now, session, &mut self.outbox);
            let message = self.decoder.decode(&logon);
            self.gateway
                .on_logon(now, session, &message, &mut self.outbox);
            self.next_in[peer] = 2;
            let mut answer = self.outbox.begin(session, b"A");
            answer.field(98, b"0").field(108, b"30").field(141, b"Y");
            answer.finish().unwrap();
            self.record(peer, RecordKind::Message, Some(&logon));
        }
    }

    /// Seals the written messages, and appends the record with them.
    fn record(&mut self, from: usize, kind: RecordKind, inbound: Option<&[u8]>) -> Vec<Said> {
        let stamp = self.stamp();
        let mut effects = Vec::new();
        for at in 0..self.outbox.entries().len() {
            let entry = self.outbox.entries()[at];
            if entry.is_note() || entry.is_discarded() {
                continue;
            }
            let to = entry.session.0 as usize;
            let seq = self.next_out[to];
            self.next_out[to] += 1;
            let header = &self.headers[to];
            self.outbox.seal(at, header, seq, stamp.as_bytes());
            let bytes = self.outbox.sealed(at).to_vec();
            self.sent[to].insert(seq, bytes.clone());
            effects.push((to, seq, bytes));
        }
        self.outbox.clear();
        let cause = Cause {
            session: self.ids[from],
            kind,
            inbound,
            next_in: self.next_in[from],
            next_out: self.next_out[from],
            epoch: self.epoch,
        };
        let parts = effects.iter().map(|(to, seq, bytes)| Effect {
            session: self.ids[*to],
            seq: *seq,
            bytes,
        });
        let wall = Timestamp(self.wall);
        self.journal.append(wall, cause, parts).unwrap();
        let at = self.journal.last_record();
        self.journal.idle_work();
        let said = |mark, bytes| Said {
            time: self.wall,
            place: (at.segment(), at.offset()),
            mark,
            bytes,
        };
        let mark = match kind {
            RecordKind::Queued => "queued",
            RecordKind::Duplicate => "duplicate",
            _ => "",
        };
        let came = inbound.filter(|_| kind != RecordKind::Dequeued);
        let came = came.map(|bytes| said(mark, bytes.to_vec()));
        let effects = effects.into_iter().map(|(.., bytes)| said("", bytes));
        came.into_iter().chain(effects).collect()
    }

    fn give(&mut self, from: usize, bytes: &[u8]) {
        let now = self.now();
        let message = self.decoder.decode(bytes);
        let session = SessionId(from as u32);
        let taken = self
            .gateway
            .on_message(now, session, &message, &mut self.outbox);
        if taken.is_err() {
            let number = String::from_utf8_lossy(message.get(34).unwrap()).into_owned();
            let mut answer = self.outbox.begin(session, b"j");
            answer.field(45, number.as_bytes());
            answer.field(372, message.get(35).unwrap()).field(380, b"4");
            answer.finish().unwrap();
        }
    }

    /// A message arrives; it and its effects.
    pub fn arrives(&mut self, from: usize, msg_type: &str, body: &str) -> Vec<Said> {
        let number = self.next_in[from];
        let bytes = self.message(from, msg_type, "", body, number);
        self.next_in[from] += 1;
        self.give(from, &bytes);
        self.record(from, RecordKind::Message, Some(&bytes))
    }

    /// The same above a gap: a Heartbeat before it arrives later.
    pub fn arrives_early(&mut self, from: usize, msg_type: &str, body: &str) -> Vec<Said> {
        let number = self.next_in[from] + 1;
        let bytes = self.message(from, msg_type, "", body, number);
        let mut said = self.record(from, RecordKind::Queued, Some(&bytes));
        let at = self.journal.last_record();
        self.wall += 1_000_000;
        let heartbeat = self.message(from, "0", "43=Y|", "122=20261120-08:00:00|", number - 1);
        self.next_in[from] += 1;
        self.record(from, RecordKind::Message, Some(&heartbeat));
        self.wall += 1_000_000;
        self.next_in[from] += 1;
        self.give(from, &bytes);
        let arrival = Arrival { number, at }.to_bytes();
        said.extend(self.record(from, RecordKind::Dequeued, Some(&arrival)));
        said
    }

    /// An earlier message arrives again.
    pub fn arrives_again(
        &mut self,
        from: usize,
        msg_type: &str,
        body: &str,
        number: u64,
    ) -> Vec<Said> {
        let bytes = self.message(from, msg_type, "43=Y|", body, number);
        self.record(from, RecordKind::Duplicate, Some(&bytes))
    }

    /// A message arrives that the session rejects.
    pub fn is_invalid(&mut self, from: usize, msg_type: &str, body: &str) -> Vec<Said> {
        let number = self.next_in[from];
        let bytes = self.message(from, msg_type, "", body, number);
        self.next_in[from] += 1;
        let mut reject = self.outbox.begin(SessionId(from as u32), b"3");
        reject
            .field(45, number.to_string().as_bytes())
            .field(373, b"5");
        reject.finish().unwrap();
        self.record(from, RecordKind::Message, Some(&bytes))
    }

    /// A venue rejects the message with this MsgSeqNum.
    pub fn rejects(&mut self, from: usize, number: u64) -> Vec<Said> {
        let bytes = self.message(
            from,
            "3",
            "",
            &format!("45={number}|373=5|"),
            self.next_in[from],
        );
        self.next_in[from] += 1;
        let refused = self.sent[from].get(&number).cloned();
        let (now, session) = (self.now(), SessionId(from as u32));
        let reject = self.decoder.decode(&bytes);
        self.gateway
            .on_reject(now, session, &reject, refused.as_deref(), &mut self.outbox);
        self.record(from, RecordKind::Message, Some(&bytes))
    }
}
