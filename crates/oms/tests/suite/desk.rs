//! An OMS with clients and venue sessions, without an engine: messages in, messages out.

use std::sync::{Arc, Mutex};

use fixwire_dictionary::DocumentLimits;
use fixwire_dictionary::delta::{self, Delta};
use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::session::{BeginString, Config, Role};
use fixwire_engine::protocol::{
    Application, Decoder, Dictionary, DiskRoom, Ledger as _, Mono, Now, OperatorCommand, Outbox,
    Parting, PeerLogout, Refusal, SessionId, Timestamp,
};
use fixwire_oms::history::{History, OrderRecall};
use fixwire_oms::load::load_with;
use fixwire_oms::rules::CreatedName;
use fixwire_oms::{
    LeftMemory, NewSettings, Oms, OmsEvent, OmsSession, OmsState, ReloadKind, SessionTemplate,
};
use fixwire_transform::convert::BuiltInConversions;

use crate::archive::{Kept, MemoryArchive};
use crate::floor::Slot;
use crate::proof::{self, Recorder};

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Set-up of an OMS: its settings, its files by name, its sessions and their versions.
#[derive(Clone, Debug)]
pub struct Setup {
    pub settings: String,
    pub files: Vec<(&'static str, String)>,
    pub sessions: Vec<(&'static str, Version)>,
}

/// Inputs of an OMS. Sessions are indices into [`Setup::sessions`].
#[derive(Clone, Debug)]
pub enum Input {
    /// A message: its MsgType(35) and its body, with `|` for SOH.
    Says(usize, &'static str, String),
    /// A session logs on; with its numbers reset or not.
    Up(usize, bool),
    /// A session disconnected, with or without a Logout.
    Down(usize, bool),
    /// The peer of a session says Logout; the connection still stands.
    Leaves(usize),
    /// Nanoseconds pass.
    Pass(i64),
    /// An operator's command.
    Command(String),
    /// The process is killed, and starts again so many days later; from a checkpoint or from its notes.
    Restart(i64, bool),
}

/// A message that the OMS has written.
#[derive(Clone, Debug)]
pub struct Said {
    pub to: usize,
    pub msg_type: String,
    pub fields: Vec<(u32, String)>,
}

impl Said {
    pub fn get(&self, tag: u32) -> Option<&str> {
        let field = self.fields.iter().find(|(known, _)| *known == tag);
        field.map(|(_, value)| value.as_str())
    }
}

pub struct Desk {
    setup: Setup,
    own_dictionaries: OwnDictionaries,
    oms: Oms,
    templates: Vec<SessionTemplate>,
    /// The created sessions, by their names in the engine, in the order in which it restores them.
    pub created: Vec<String>,
    outbox: Outbox,
    decoder: Decoder,
    wall: i64,
    notes: Vec<(i64, Vec<u8>)>,
    /// The same, with the messages that caused them.
    kept: Kept,
    /// The message that is handled.
    cause: Vec<u8>,
    /// Events for operators.
    events: Events,
    /// The answer to the last command.
    answer: String,
    /// The messages that the last one caused: to whom, their types, and their fields as bytes.
    pub bodies: Vec<(usize, String, Vec<u8>)>,
    /// What happens, for the proof; and how many events it has.
    recorder: Option<Recorder>,
    recorded_events: usize,
}

type Events = Arc<Mutex<Vec<String>>>;

/// The built-in dictionary of a version, which is made once.
pub fn dictionary(version: Version) -> Arc<Dictionary> {
    static MADE: Mutex<Vec<(Version, Arc<Dictionary>)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap();
    if let Some((_, known)) = made.iter().find(|(known, _)| *known == version) {
        return Arc::clone(known);
    }
    let dictionary = OmsSession::built_in(version);
    made.push((version, Arc::clone(&dictionary)));
    dictionary
}

/// The conversion tables between these versions, which are read once: that takes ten times as long as a start.
pub fn conversions(versions: &[Version]) -> BuiltInConversions {
    static MADE: Mutex<Option<BuiltInConversions>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap();
    let made = made.get_or_insert_default();
    for from in versions {
        for to in versions {
            made.conversion(*from, *to);
        }
    }
    made.clone()
}

/// Dictionaries that sessions have instead of the built-in ones, by session.
type OwnDictionaries = Vec<(usize, Arc<Dictionary>)>;

fn oms(
    setup: &Setup,
    templates: &[SessionTemplate],
    own: &OwnDictionaries,
    events: &Events,
) -> Oms {
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone())
            .ok_or_else(|| format!("no {wanted}"))
    };
    let names: Vec<&str> = setup.sessions.iter().map(|(name, _)| *name).collect();
    let created: Vec<CreatedName> = templates.iter().map(|it| it.user.clone()).collect();
    let rules = load_with(&setup.settings, &names, &created, &mut open);
    let rules = rules.unwrap_or_else(|why| panic!("{why:?}"));
    let sessions = setup.sessions.iter().enumerate();
    let sessions = sessions.map(|(at, (name, version))| OmsSession {
        name: (*name).to_owned(),
        version: *version,
        dictionary: match own.iter().find(|(of, _)| *of == at) {
            Some((_, own)) => Arc::clone(own),
            None => dictionary(*version),
        },
        ids: Vec::new(),
    });
    crate::canaries::plant();
    let events = Arc::clone(events);
    let listener = Box::new(move |event: OmsEvent<'_>| {
        events.lock().unwrap().push(event.to_string());
    });
    let mut oms = Oms::new(rules, sessions.collect(), 7, listener);
    let versions: Vec<Version> = setup.sessions.iter().map(|(_, version)| *version).collect();
    oms.use_conversions(conversions(&versions));
    oms.set_templates(templates.to_vec());
    oms
}

impl Desk {
    /// One that has just started: nobody is logged on.
    pub fn new(setup: &Setup) -> Self {
        Self::with_templates(setup, Vec::new())
    }

    /// One that also has the sessions that Logons create.
    pub fn with_templates(setup: &Setup, templates: Vec<SessionTemplate>) -> Self {
        let kept = Kept::default();
        let events = Events::default();
        let mut desk = Self {
            oms: oms(setup, &templates, &Vec::new(), &events),
            own_dictionaries: Vec::new(),
            templates,
            created: Vec::new(),
            events,
            kept: Arc::clone(&kept),
            cause: Vec::new(),
            setup: setup.clone(),
            outbox: Outbox::new(1 << 22, 1 << 14, 256),
            decoder: Decoder::with_capacity(1024),
            // 2026-11-22 08:00 UTC.
            wall: 1_795_334_400_000_000_000,
            notes: Vec::new(),
            answer: String::new(),
            bodies: Vec::new(),
            recorder: None,
            recorded_events: 0,
        };
        desk.oms.set_archive(Box::new(MemoryArchive::new(kept)));
        desk.turn(&mut Vec::new());
        desk
    }

    /// A session has another version and its dictionary, from the next restart on.
    pub fn set_version(&mut self, session: usize, version: Version) {
        self.setup.sessions[session].1 = version;
    }

    /// A session has the built-in dictionary of its version with these changes, from the next restart on.
    pub fn set_dictionary(&mut self, session: usize, delta: &str) {
        let delta = Delta::read("venue.delta", delta, DocumentLimits::default()).unwrap();
        let base = dictionary(self.setup.sessions[session].1);
        let changed = delta::apply(&base, &[delta]).unwrap();
        self.own_dictionaries.retain(|(of, _)| *of != session);
        self.own_dictionaries.push((session, Arc::new(changed)));
    }

    /// Changes the settings, from the next restart on.
    pub fn set(&mut self, from: &str, to: &str) {
        assert!(self.setup.settings.contains(from), "{from}");
        self.setup.settings = self.setup.settings.replace(from, to);
    }

    pub fn state(&self) -> &OmsState {
        self.oms.state()
    }

    /// The events for operators since the last call.
    pub fn events(&mut self) -> Vec<String> {
        self.recorded_events = 0;
        std::mem::take(&mut self.events.lock().unwrap())
    }

    /// Its journal says that so many of the first events were removed.
    pub fn remove(&mut self, events: u64) {
        self.kept.lock().unwrap().removed = events;
    }

    /// A file is another one from the next start on.
    pub fn set_file(&mut self, name: &str, text: &str) {
        let files = self.setup.files.iter_mut();
        let file = files.filter(|(known, _)| *known == name);
        file.for_each(|(_, known)| text.clone_into(known));
    }

    /// The answer to a query.
    pub fn query(&self, text: &str) -> String {
        let mut answer = Vec::new();
        let asked = self
            .oms
            .on_query(self.clocks(), text.as_bytes(), &mut answer);
        assert_eq!(asked, Ok(()), "{text}");
        String::from_utf8(answer).unwrap()
    }

    /// The answer to the last command.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// Nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.wall
    }

    fn clocks(&self) -> Now {
        Now {
            wall: Timestamp(self.wall),
            mono: Mono(self.wall.unsigned_abs()),
        }
    }

    /// A session sends a message.
    pub fn says(&mut self, from: usize, msg_type: &'static str, body: &str) -> Vec<Said> {
        self.hear(&Input::Says(from, msg_type, body.to_owned()))
    }

    /// A session sends a message, which the OMS may refuse; what it then writes.
    pub fn asks(
        &mut self,
        from: usize,
        msg_type: &str,
        body: &str,
    ) -> (Result<(), Refusal>, Vec<Said>) {
        self.wall += 1_000_000;
        let now = self.clocks();
        let bytes = format!("8=FIX.4.4|9=0|35={msg_type}|{body}").replace('|', "\x01");
        let message = self.decoder.decode(bytes.as_bytes());
        let from = SessionId(from as u32);
        self.bodies.clear();
        let heard = self.oms.on_message(now, from, &message, &mut self.outbox);
        let mut said = Vec::new();
        self.turn(&mut said);
        (heard, said)
    }

    /// The disk of the journal is full or has room again.
    pub fn disk(&mut self, room: DiskRoom) {
        self.oms.on_disk(self.clocks(), room);
    }

    /// Records what happens from now on.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// What was recorded, with the state and the answers to all queries as they are now.
    pub fn recorded(&mut self) -> Option<Recorder> {
        let mut recorder = self.recorder.take()?;
        recorder.state(&proof::lines(&self.oms));
        for query in fixwire_oms::QUERIES.map(|query| query.name) {
            let mut answer = Vec::new();
            let asked = self
                .oms
                .on_query(self.clocks(), query.as_bytes(), &mut answer);
            let answer = String::from_utf8_lossy(&answer);
            recorder.output(query, &format!("{asked:?} {answer}"));
        }
        Some(recorder)
    }

    fn record_input(&mut self, input: &Input, said: &[Said]) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let with_state = recorder.input(&format!("{input:?}"));
        for message in said {
            let (to, _) = self.setup.sessions[message.to];
            let fields = message.fields.iter();
            let fields: String = fields
                .map(|(tag, value)| format!("|{tag}={value}"))
                .collect();
            recorder.output(to, &format!("35={}{fields}", message.msg_type));
        }
        if let Input::Command(_) = input {
            recorder.output("answer", &self.answer);
        }
        let events = self.events.lock().unwrap();
        for event in &events[self.recorded_events.min(events.len())..] {
            recorder.output("event", event);
        }
        self.recorded_events = events.len();
        if with_state {
            recorder.state(&proof::lines(&self.oms));
        }
    }

    /// A millisecond later something happens; what the OMS then writes, when it has done all that is to be done.
    pub fn hear(&mut self, input: &Input) -> Vec<Said> {
        let said = self.hear_unrecorded(input);
        self.record_input(input, &said);
        said
    }

    fn hear_unrecorded(&mut self, input: &Input) -> Vec<Said> {
        self.bodies.clear();
        self.wall += 1_000_000;
        let now = self.clocks();
        let mut said = Vec::new();
        match input {
            Input::Says(from, msg_type, body) => {
                let known = self.setup.sessions.get(*from);
                let begin = match known.map(|(_, version)| *version) {
                    Some(Version::Fix42) => "FIX.4.2",
                    _ => "FIX.4.4",
                };
                let bytes = format!("8={begin}|9=0|35={msg_type}|{body}").replace('|', "\x01");
                bytes.as_bytes().clone_into(&mut self.cause);
                let message = self.decoder.decode(bytes.as_bytes());
                if matches!(*msg_type, "3" | "j") {
                    // Here 45 has the ClOrdID of the message whose number it is, and 372 its type.
                    let field = |tag| message.get(tag).map(String::from_utf8_lossy);
                    let refused = field(45).zip(field(372));
                    let refused = refused
                        .map(|(id, of)| format!("8={begin}|9=0|35={of}|11={id}|"))
                        .map(|it| it.replace('|', "\x01").into_bytes());
                    let (id, outbox) = (SessionId(*from as u32), &mut self.outbox);
                    let refused = refused.as_deref();
                    if *msg_type == "3" {
                        self.oms.on_reject(now, id, &message, refused, outbox);
                    } else {
                        let heard = self
                            .oms
                            .on_business_reject(now, id, &message, refused, outbox);
                        assert_eq!(heard, Ok(()), "{input:?}");
                    }
                    self.turn(&mut said);
                    return said;
                }
                let heard =
                    self.oms
                        .on_message(now, SessionId(*from as u32), &message, &mut self.outbox);
                assert_eq!(heard, Ok(()), "{input:?}");
            }
            Input::Up(session, reset) => {
                let id = SessionId(*session as u32);
                if *reset {
                    self.oms.on_reset(now, id, &mut self.outbox);
                }
                let logon = self.decoder.decode(b"8=FIX.4.4\x019=0\x0135=A\x01");
                self.oms.on_logon(now, id, &logon, &mut self.outbox);
            }
            Input::Down(session, logged_out) => {
                let id = SessionId(*session as u32);
                let parting = if *logged_out {
                    Parting::LoggedOut
                } else {
                    Parting::Lost
                };
                self.oms.on_logout(now, id, PeerLogout::NONE);
                self.oms
                    .on_disconnect(now, id, parting, PeerLogout::NONE, &mut self.outbox);
            }
            Input::Leaves(session) => {
                let id = SessionId(*session as u32);
                self.oms.on_logout(now, id, PeerLogout::NONE);
            }
            Input::Pass(time) => self.wall += time,
            Input::Command(text) => {
                let command = OperatorCommand {
                    bytes: text.as_bytes(),
                    who: "ann",
                    why: "why",
                };
                let mut answer = Vec::new();
                let done = self
                    .oms
                    .on_command(now, command, &mut answer, &mut self.outbox);
                // Whether an order may be run again, a break be settled, or a position be set, is known only to what is tested.
                let may_fail = [
                    "rerun", "settle", "report", "position", "load", "bust", "correct", "recall",
                ];
                let may_fail = may_fail.iter().any(|verb| text.starts_with(verb));
                self.answer = format!("{done:?} {}", String::from_utf8_lossy(&answer));
                assert!(done.is_ok() || may_fail, "{input:?}: {done:?}");
            }
            Input::Restart(days, from_checkpoint) => {
                self.wall += days * DAY;
                self.restart(*from_checkpoint);
            }
        }
        self.turn(&mut said);
        said
    }

    /// The command that brings an order back which has left memory, from the notes.
    pub fn recall(&self, wanted: &LeftMemory) -> Result<Option<String>, String> {
        let mut found = OrderRecall::new(OmsState::default(), std::slice::from_ref(wanted));
        self.notes.iter().for_each(|(_, note)| found.take(note));
        Ok(found.command(wanted)?.map(str::to_owned))
    }

    /// The history of an order, from the notes.
    pub fn history(&self, order: u64) -> Vec<String> {
        let mut history = History::new(order, OmsState::default());
        let steps = self.notes.iter();
        let steps = steps.filter_map(|(_, note)| history.take(note));
        steps.map(|step| step.text).collect()
    }

    /// A command of another operator than that of [`Input::Command`]: the answer, and what the OMS wrote.
    pub fn command_of(&mut self, who: &str, text: &str) -> (String, Vec<Said>) {
        self.bodies.clear();
        self.wall += 1_000_000;
        let command = OperatorCommand {
            bytes: text.as_bytes(),
            who,
            why: "why",
        };
        let (now, mut answer, mut said) = (self.clocks(), Vec::new(), Vec::new());
        let done = self
            .oms
            .on_command(now, command, &mut answer, &mut self.outbox);
        self.turn(&mut said);
        (
            format!("{done:?} {}", String::from_utf8_lossy(&answer)),
            said,
        )
    }

    /// A peer logs on with CompIDs that make this name in the engine: the index of its session.
    pub fn log_on_as(&mut self, engine: &str) -> Result<usize, &'static str> {
        let (now, config) = (self.clocks(), self.config());
        self.oms.on_session_request(now, engine, &config)?;
        let known = self.created.iter().position(|it| it == engine);
        let at = known.unwrap_or_else(|| {
            self.created.push(engine.to_owned());
            let at = self.created.len() - 1;
            self.add(at);
            at
        });
        let session = self.setup.sessions.len() + at;
        self.hear(&Input::Up(session, false));
        Ok(session)
    }

    /// The engine has this created session.
    fn add(&mut self, at: usize) {
        let (now, config) = (self.clocks(), self.config());
        let id = SessionId((self.setup.sessions.len() + at) as u32);
        let name = &self.created[at];
        self.oms.on_session_added(now, id, name, &config);
    }

    fn config(&self) -> Config {
        Config::new(BeginString::Fix44, Role::Acceptor, b"OMS", b"CLIENT")
    }

    /// The files change, and an operator reloads them; what the OMS answers.
    pub fn reload(&mut self, old: &str, new: &str) -> String {
        self.set(old, new);
        let rules = oms(
            &self.setup,
            &self.templates,
            &self.own_dictionaries,
            &self.events,
        );
        let slot = Slot::default();
        let settings = NewSettings {
            rules: rules.rules().clone(),
            kind: ReloadKind::Files,
            is_applied: false,
        };
        *slot.new.lock().unwrap() = Some(Box::new(settings));
        self.oms.set_settings_source(Box::new(slot));
        self.hear(&Input::Command("reload".into()));
        self.answer.clone()
    }

    fn restart(&mut self, from_checkpoint: bool) {
        let before = (self.state().hash(), proof::state_lines(self.state()));
        let mut written = Vec::new();
        self.state()
            .write(&mut |bytes| written.extend_from_slice(bytes));
        self.oms = oms(
            &self.setup,
            &self.templates,
            &self.own_dictionaries,
            &self.events,
        );
        let archive = MemoryArchive::new(Arc::clone(&self.kept));
        self.oms.set_archive(Box::new(archive));
        if from_checkpoint {
            let (_, version) = OmsState::default().form();
            let read = self.oms.on_checkpoint(version, &written);
            assert_eq!(read, Ok(()));
        } else {
            for (at, note) in &self.notes {
                self.oms.on_note(Timestamp(*at), note);
            }
        }
        for at in 0..self.created.len() {
            self.add(at);
        }
        proof::assert_same(&before.1, &proof::state_lines(self.state()));
        assert_eq!(self.state().hash(), before.0, "it is the same state");
    }

    /// Whether a message that the peer has missed goes out again.
    pub fn resends(&mut self, said: &Said) -> bool {
        let fields = said.fields.iter();
        let body: String = fields
            .map(|(tag, value)| format!("{tag}={value}\x01"))
            .collect();
        let stored = format!("8=FIX.4.4\x019=0\x0135={}\x01{body}", said.msg_type);
        let now = self.clocks();
        let goes = self
            .oms
            .on_resend(now, SessionId(said.to as u32), stored.as_bytes());
        if let Some(recorder) = &mut self.recorder {
            recorder.output("resent", &format!("{goes}: {body}"));
        }
        goes
    }

    /// Until the OMS has nothing to do now.
    fn turn(&mut self, said: &mut Vec<Said>) {
        self.collect(said);
        self.cause.clear();
        loop {
            let now = self.clocks();
            let due = self.oms.on_time(now, &mut self.outbox);
            self.collect(said);
            if due.is_none_or(|due| due > now.mono) {
                return;
            }
        }
    }

    fn collect(&mut self, said: &mut Vec<Said>) {
        assert_eq!(self.outbox.failures(), 0);
        for index in self.outbox.unsealed() {
            let body = self.outbox.body(index);
            let entry = &self.outbox.entries()[index];
            if entry.is_note() {
                self.notes.push((self.wall, body.to_vec()));
                let kept = (body.to_vec(), self.cause.clone());
                self.kept.lock().unwrap().notes.push(kept);
                continue;
            }
            let fields = body.split(|byte| *byte == 1).filter_map(|field| {
                let text = String::from_utf8_lossy(field);
                let (tag, value) = text.split_once('=')?;
                Some((tag.parse().ok()?, value.to_owned()))
            });
            let msg_type = String::from_utf8_lossy(self.outbox.msg_type(index)).into_owned();
            self.bodies
                .push((entry.session.0 as usize, msg_type, body.to_vec()));
            said.push(Said {
                to: entry.session.0 as usize,
                msg_type: String::from_utf8_lossy(self.outbox.msg_type(index)).into_owned(),
                fields: fields.collect(),
            });
        }
        self.outbox.clear();
    }
}
