//! The engine that a scenario is played against over TCP: its configuration, its journal, and its reports to the
//! player.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixwire::event::{ConnectionRefusal as Closed, Ending};
use fixwire::journal::{self, Cause, Directory, Journal, RecordKind};
use fixwire::protocol::session::Role;
use fixwire::protocol::{Application, Message, Now, Outbox, Refusal, SessionId, Timestamp};
use fixwire::{
    Connection, Engine, EngineConfig, EngineError, Event, Handle, Limits, SessionConfig,
};

use super::peer::{self, Setup};
use super::{Action, Scenario};

/// The longest time until an expected event.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The session's name in the journal.
pub(super) const NAME: &str = "FIXWIRE->PEER";

/// The news from the engine's thread.
#[derive(Debug)]
pub(super) enum Told {
    /// With the word of the directive.
    Delivered(&'static str, Vec<u8>),
    /// The names of the reason; the engine's differ where it never asked the session.
    Ended(Vec<String>),
    Connected,
    DialFailed,
    LoggedOn,
    Turn,
}

/// Gives every message to the player, and refuses those that the scenario refuses.
pub(super) struct Recorder {
    pub(super) told: Sender<Told>,
    /// One answer for each message, in the order of the `deliver` lines.
    pub(super) answers: std::vec::IntoIter<Option<Refusal>>,
}

impl Application for Recorder {
    fn on_message(
        &mut self,
        _now: Now,
        _from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        // The player may have stopped.
        let bytes = message.bytes().to_vec();
        let _ = self.told.send(Told::Delivered("deliver", bytes));
        self.answers.next().flatten().map_or(Ok(()), Err)
    }

    fn on_poss_dup(
        &mut self,
        _now: Now,
        _from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
        let bytes = message.bytes().to_vec();
        let _ = self.told.send(Told::Delivered("duplicate", bytes));
    }
}

/// A refusal belongs to the last delivery before it.
pub(super) fn answers(scenario: &Scenario) -> Result<Vec<Option<Refusal>>, String> {
    let mut answers = Vec::new();
    for step in &scenario.steps {
        match &step.action {
            Action::Deliver(_) => answers.push(None),
            Action::Refuse(what) => match answers.last_mut() {
                Some(last) => *last = Some(peer::refusal(what)?),
                None => return Err("nothing was delivered that could be refused".to_owned()),
            },
            _ => {}
        }
    }
    Ok(answers)
}

pub(super) fn engine_config(setup: &Setup, port: u16, folder: &Path) -> EngineConfig {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let hour = Duration::from_secs(3600);
    let connection = match setup.config.role {
        Role::Acceptor => Connection::Acceptor { listen: local(0) },
        // Port 0 has no listener, and the second address is tried when the player asks for it.
        Role::Initiator => Connection::Initiator {
            hosts: vec![("127.0.0.1".to_owned(), 0), ("127.0.0.1".to_owned(), port)],
            reconnect: vec![hour],
            timeout: PATIENCE,
        },
    };
    let limits = Limits {
        pending: 4,
        pending_per_address: 4,
        logon_time: Duration::from_nanos(setup.config.logon_timeout.0),
        replay_per_turn: 1024,
        outbox_bytes: 64 << 10,
        outbox_messages: 256,
        events_per_second: 1 << 20,
        ..Limits::default()
    };
    EngineConfig {
        journal_dir: folder.join("journal"),
        segment_bytes: sizes().segment_bytes,
        max_message: 32 << 10,
        max_fields: 256,
        read_buffer: 64 << 10,
        stop_timeout: Duration::from_millis(10),
        limits,
        sessions: vec![SessionConfig::new(NAME, setup.config.clone(), connection)],
        ..EngineConfig::default()
    }
}

pub(super) fn sizes() -> journal::JournalConfig {
    journal::JournalConfig {
        segment_bytes: 512 << 10,
        ..journal::JournalConfig::default()
    }
}

/// The sequence numbers of an earlier day are in the journal before the engine starts.
pub(super) fn seed(config: &EngineConfig, setup: &Setup) -> Result<(), String> {
    let disk = Directory::open(&config.journal_dir).map_err(text)?;
    let (mut journal, _) = Journal::open(disk, sizes()).map_err(text)?;
    let session = journal.register(wall(), NAME).map_err(text)?;
    let cause = Cause {
        session,
        kind: RecordKind::Reset,
        inbound: None,
        next_in: setup.peer.next,
        next_out: setup.next_out,
        epoch: 0,
    };
    let appended = journal.append(wall(), cause, std::iter::empty());
    appended.map(|_| ()).map_err(text)
}

pub(super) fn tell(event: &Event) -> Option<Told> {
    Some(match event {
        Event::Connected { .. } => Told::Connected,
        Event::DialFailed { .. } => Told::DialFailed,
        Event::LoggedOn { .. } => Told::LoggedOn,
        Event::Disconnected {
            why: Ending::Session(reason),
            ..
        } => Told::Ended(vec![peer::reason(*reason)]),
        Event::Disconnected { why, .. } => Told::Ended(vec![format!("{why:?}")]),
        Event::Refused { why, .. } => Told::Ended(names(*why)),
        Event::NotSent { .. } => Told::Turn,
        _ => return None,
    })
}

/// The verdict of a session about a first message that the engine keeps from it.
fn names(why: Closed) -> Vec<String> {
    let session = match why {
        Closed::Timeout(_) => "LogonTimeout",
        Closed::NotALogon => "NotALogon",
        Closed::UnknownSession => "NotThisSession",
        Closed::Garbled => "GarbledLogon",
        _ => "none of the session",
    };
    vec![session.to_owned(), format!("{why:?}")]
}

pub(super) fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since.map_or(0, |since| since.as_nanos() as i64))
}

pub(super) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A running engine.
pub(super) struct Running {
    pub(super) handle: Handle,
    pub(super) engine: JoinHandle<Result<(), EngineError>>,
    pub(super) told: Receiver<Told>,
    pub(super) address: Option<SocketAddr>,
}

impl Running {
    pub(super) fn start(config: EngineConfig, answers: &[Option<Refusal>]) -> Result<Self, String> {
        let (sender, told) = channel();
        let answers = answers.to_vec();
        let recorder = Recorder {
            told: sender.clone(),
            answers: answers.into_iter(),
        };
        let mut engine = Engine::new(config, recorder).map_err(text)?;
        engine.on_event(move |_, event| {
            if let Some(told) = tell(event) {
                let _ = sender.send(told);
            }
        });
        let address = engine.addresses().next();
        Ok(Self {
            handle: engine.handle(),
            address,
            engine: std::thread::spawn(move || engine.run()),
            told,
        })
    }
}

/// The journal as its files are now.
pub(super) fn copy_journal(from: &Path, to: &Path) -> Result<(), String> {
    let private = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(to);
    private.map_err(text)?;
    for entry in std::fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "fwj") {
            std::fs::copy(&path, to.join(entry.file_name())).map_err(text)?;
        }
    }
    Ok(())
}
