//! Plays a scenario against the engine over TCP, with its journal, its timers and its application.
//!
//! The player owns one end of a loopback connection; the engine runs on a thread of its own and sleeps when it has
//! nothing to do. The pure player looks into the session, this one watches it from outside: messages arrive on the
//! socket, deliveries at the application, the reason of a disconnect is the engine's event, and the counters are
//! recovered from a copy of the journal, as after a crash. A restart is a new engine on such a copy.
//!
//! The player knows without waiting that a session stays silent: it sends commands for a session that does not exist,
//! and the engine's complaint about one of them shows that a whole turn has passed since the last bytes were written.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixwire::journal::{Directory, Journal, SequenceCounters};
use fixwire::protocol::session::{RESET_DUE, RESET_OPEN, Role};
use fixwire::protocol::{Body, Frame, Refusal, SessionId, Timestamp, frame};
use fixwire::{EngineError, Handle};

use super::peer::{self, Peer, Setup, written};
use super::subject::{
    NAME, PATIENCE, Running, Told, answers, copy_journal, engine_config, seed, sizes, text, wall,
};
use super::{Action, Failure, Fields, Scenario, message};

/// A scenario with longer waits in total is left to the pure player.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// A shorter wait leaves no margin on a real clock.
const SHORTEST_WAIT: Duration = Duration::from_millis(500);
/// The most that a time may differ from `now`.
const NOW: i64 = 10_000_000_000;
/// Turns until the engine has surely taken the written bytes: it accepts in one turn and reads in another.
const TURNS: usize = 3;
const SESSION: SessionId = SessionId(0);
const NOBODY: SessionId = SessionId(u32::MAX);

/// The reason why a scenario cannot be played over TCP; `None` when it can.
#[must_use]
pub fn pure_only(scenario: &Scenario) -> Option<&'static str> {
    let mut total = Duration::ZERO;
    let mut connected = false;
    for step in &scenario.steps {
        match step.action {
            Action::Connect | Action::LoggedOn => connected = true,
            Action::Send(_) if !connected => return Some("what nobody is there for is on no wire"),
            Action::Forget => return Some("a journal does not forget"),
            Action::OutOfHours => return Some("hours are played in a simulated world"),
            Action::Wait(span) if span < SHORTEST_WAIT => {
                return Some("waits less than 0.5 s: no margin on a real clock");
            }
            Action::Wait(span) => total += span,
            _ => {}
        }
    }
    (total > LONGEST_WAIT).then_some("waits longer than 2 s")
}

/// Plays a scenario for which [`pure_only`] returns no reason; `folder` is for its journal alone.
///
/// # Errors
///
/// The first line at which the engine differs from the scenario, or that cannot be played.
pub fn play(scenario: &Scenario, version: &str, folder: &Path) -> Result<(), Failure> {
    let failure = |line, what| Failure {
        scenario: format!("{} [{version}] over TCP", scenario.name),
        line,
        what,
    };
    let mut player = Player::new(scenario, version, folder)
        .map_err(|what| failure(scenario.settings_line, what))?;
    let mut last = 0;
    for step in &scenario.steps {
        last = step.line;
        player
            .step(&step.action)
            .map_err(|what| failure(step.line, what))?;
    }
    player
        .nothing_left()
        .and_then(|()| player.stop())
        .map_err(|what| failure(last + 1, what))
}

/// An engine and the other end of its connection.
struct Player {
    setup: Setup,
    role: Role,
    peer: Peer,
    folder: PathBuf,
    /// The place of the running engine's journal.
    journal: PathBuf,
    /// The application's answers to delivered messages, and the number of messages.
    answers: Vec<Option<Refusal>>,
    answered: usize,
    engine: Option<JoinHandle<Result<(), EngineError>>>,
    handle: Handle,
    told: Receiver<Told>,
    /// The engine's address.
    address: Option<SocketAddr>,
    /// Our address.
    listener: TcpListener,
    stream: Option<TcpStream>,
    /// The messages that have arrived and were not checked yet.
    arrived: Vec<u8>,
    /// With the word of the directive.
    delivered: VecDeque<(&'static str, Vec<u8>)>,
    ended: Option<Vec<String>>,
    connected: Option<bool>,
    logged_on: bool,
    turns: usize,
    epoch: u32,
    next_new: u64,
    stored: BTreeMap<u64, Vec<u8>>,
}

impl Player {
    fn new(scenario: &Scenario, version: &str, folder: &Path) -> Result<Self, String> {
        let setup = Setup::new(version, &scenario.settings)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
        let port = listener.local_addr().map_err(text)?.port();
        let config = engine_config(&setup, port, folder);
        let journal = config.journal_dir.clone();
        seed(&config, &setup)?;
        let answers = answers(scenario)?;
        let running = Running::start(config, &answers)?;
        let mut player = Self {
            role: setup.config.role,
            peer: setup.peer.clone(),
            folder: folder.to_owned(),
            journal,
            answers,
            answered: 0,
            handle: running.handle,
            address: running.address,
            engine: Some(running.engine),
            told: running.told,
            listener,
            stream: None,
            arrived: Vec::new(),
            delivered: VecDeque::new(),
            ended: None,
            connected: None,
            logged_on: false,
            turns: 0,
            epoch: 0,
            next_new: setup.next_out,
            stored: BTreeMap::new(),
            setup,
        };
        player.begin()?;
        Ok(player)
    }

    /// The first attempt of an initiator fails, so that the engine waits for `connect`.
    fn begin(&mut self) -> Result<(), String> {
        self.connected = None;
        if self.role == Role::Initiator {
            self.until("an attempt to connect", |player| player.connected.is_some())?;
        }
        Ok(())
    }

    /// The process has ended: another engine continues with its journal.
    fn restart(&mut self) -> Result<(), String> {
        let left = self.folder.join(format!("journal-{}", self.turns));
        copy_journal(&self.journal, &left)?;
        self.stop()?;
        self.journal = left;
        let port = self.listener.local_addr().map_err(text)?.port();
        let mut config = engine_config(&self.setup, port, &self.folder);
        config.journal_dir = self.journal.clone();
        let running = Running::start(config, &self.answers[self.answered..])?;
        self.handle = running.handle;
        self.address = running.address;
        self.engine = Some(running.engine);
        self.told = running.told;
        self.ended = None;
        self.begin()
    }

    fn step(&mut self, action: &Action) -> Result<(), String> {
        // A refusal was already the application's answer.
        if !action.is_expectation() && !matches!(action, Action::Refuse(_)) {
            self.nothing_left()?;
        }
        match action {
            Action::Connect => self.connect(),
            Action::LoggedOn => self.log_on(),
            Action::Receive(fields) => self.receive(fields),
            Action::Garbled(Some(fields)) => {
                let bytes = self.peer.message(fields, wall())?;
                self.write(&peer::spoil(bytes))
            }
            Action::Garbled(None) => self.write(&self.garbled()),
            Action::Wait(span) => {
                std::thread::sleep(*span);
                Ok(())
            }
            Action::AppSend(fields) => self.app_send(fields),
            Action::Refuse(_) => Ok(()),
            Action::Reset => self.handle.reset(SESSION).map_err(text),
            Action::LogOut(words) => self.handle.log_out(SESSION, words).map_err(text),
            Action::Drop => {
                self.stream = None;
                self.until("the end of the connection", |player| player.ended.is_some())?;
                self.ended = None;
                Ok(())
            }
            Action::Send(fields) => self.expect_send(fields),
            Action::Deliver(fields) => self.expect_deliver("deliver", fields),
            Action::Duplicate(fields) => self.expect_deliver("duplicate", fields),
            Action::Disconnect(reason) => self.expect_disconnect(reason),
            Action::Numbers(numbers) => self.expect_numbers(numbers),
            Action::Restart => self.restart(),
            Action::Forget | Action::OutOfHours => Err("cannot be played over TCP".to_owned()),
        }
    }

    fn connect(&mut self) -> Result<(), String> {
        self.ended = None;
        self.arrived.clear();
        self.logged_on = false;
        let stream = if let Some(address) = self.address {
            TcpStream::connect(address).map_err(text)?
        } else {
            // The engine may be about to try the address without a listener.
            self.connected = None;
            while self.connected != Some(true) {
                self.connected = None;
                self.handle.log_on(SESSION).map_err(text)?;
                self.until("a connection", |player| player.connected.is_some())?;
            }
            self.listener.accept().map_err(text)?.0
        };
        stream.set_nodelay(true).map_err(text)?;
        self.stream = Some(stream);
        Ok(())
    }

    /// Both Logons, which must be the usual ones.
    fn log_on(&mut self) -> Result<(), String> {
        self.connect()?;
        if self.role == Role::Acceptor {
            self.receive(&peer::usual_logon())?;
        }
        match self.next_message()? {
            Some(bytes) if message::split(&bytes)[2].1 == "A" => {}
            other => return Err(self.difference("send 35=A", other)),
        }
        if self.role == Role::Initiator {
            self.receive(&peer::usual_logon())?;
        }
        self.until("both Logons", |player| player.logged_on)?;
        self.nothing_left()
    }

    fn receive(&mut self, fields: &Fields) -> Result<(), String> {
        let bytes = self.peer.message(fields, wall())?;
        self.write(&bytes)
    }

    /// A message whose CheckSum is wrong.
    fn garbled(&self) -> Vec<u8> {
        let begin = self.peer.begin_string.as_str();
        format!("8={begin}\x019=5\x0135=0\x0110=255\x01").into_bytes()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &mut self.stream {
            Some(stream) => stream.write_all(bytes).map_err(text),
            None => Err("there is no connection".to_owned()),
        }
    }

    fn app_send(&mut self, fields: &Fields) -> Result<(), String> {
        let Some((35, msg_type)) = fields.first() else {
            return Err("`app-send` begins with 35".to_owned());
        };
        let mut resolved = Vec::new();
        for (tag, value) in &fields[1..] {
            resolved.push((*tag, message::resolve(value, wall(), self.peer.precision)?));
        }
        let build = |body: &mut Body<'_>| {
            for (tag, value) in &resolved {
                body.field(*tag, value.as_bytes());
            }
        };
        let sent = self.handle.send(SESSION, msg_type.as_bytes(), build);
        sent.map_err(text)
    }

    fn expect_send(&mut self, wanted: &Fields) -> Result<(), String> {
        let wanted = self.peer.expected(wanted);
        let what = format!("send {}", written(&wanted));
        let Some(bytes) = self.next_message()? else {
            return Err(self.difference(&what, None));
        };
        let precision = self.peer.precision;
        let same = |wanted: &str, is: &str| {
            let resolved = message::resolve(wanted, wall(), precision);
            match resolved {
                Ok(resolved) if resolved != wanted => near(&resolved, is),
                _ => wanted == is,
            }
        };
        match peer::is_exactly(&wanted, &bytes, same) {
            true => Ok(()),
            false => Err(self.difference(&what, Some(bytes))),
        }
    }

    fn expect_deliver(&mut self, how: &str, wanted: &Fields) -> Result<(), String> {
        let what = format!("{how} {}", written(wanted));
        self.until_or_settled(|player| !player.delivered.is_empty())?;
        let Some((got, bytes)) = self.delivered.pop_front() else {
            return Err(self.difference(&what, None));
        };
        let has = message::split(&bytes);
        match got == how && wanted.iter().all(|field| has.contains(field)) {
            true => Ok(()),
            false => Err(format!(
                "expected {what}, got {got} {}",
                message::show(&bytes)
            )),
        }
    }

    fn expect_disconnect(&mut self, reason: &str) -> Result<(), String> {
        let what = format!("disconnect {reason}");
        if let Some(bytes) = self.next_message()? {
            return Err(self.difference(&what, Some(bytes)));
        }
        self.until_or_settled(|player| player.ended.is_some())?;
        match self.ended.take() {
            Some(names) if reason.is_empty() || names.iter().any(|name| name == reason) => {
                self.stream = None;
                Ok(())
            }
            names => {
                self.ended = names;
                Err(self.difference(&what, None))
            }
        }
    }

    fn expect_numbers(&mut self, numbers: &[(String, u64)]) -> Result<(), String> {
        self.settle()?;
        let mut counters = self.counters()?;
        if let RESET_OPEN | RESET_DUE = counters.next_in {
            // The values that the session restores them to.
            (counters.next_in, counters.next_out) = (1, 1);
            counters.epoch += 1;
        }
        for (key, wanted) in numbers {
            let is = match key.as_str() {
                "in" => counters.next_in,
                "out" => counters.next_out,
                _ => u64::from(counters.epoch),
            };
            if is != *wanted {
                return Err(format!("expected {key}={wanted}, got {key}={is}"));
            }
        }
        Ok(())
    }

    /// Whether the engine did more than the lines so far expect.
    fn nothing_left(&mut self) -> Result<(), String> {
        self.settle()?;
        let nothing = |what: String| Err(format!("expected nothing, got {what}"));
        self.fill(Duration::ZERO)?;
        if let Some(bytes) = self.take_message()? {
            return nothing(format!("send {}", message::show(&bytes)));
        }
        if let Some((how, bytes)) = self.delivered.front() {
            return nothing(format!("{how} {}", message::show(bytes)));
        }
        if let Some(names) = &self.ended {
            return nothing(format!("disconnect {}", names.join(" or ")));
        }
        self.notice_epoch()
    }

    /// The action in place of the expected one.
    fn difference(&self, wanted: &str, got: Option<Vec<u8>>) -> String {
        let got = match (got, self.delivered.front(), &self.ended) {
            (Some(bytes), ..) => format!("send {}", message::show(&bytes)),
            (None, Some((how, bytes)), _) => format!("{how} {}", message::show(bytes)),
            (None, None, Some(names)) => format!("disconnect {}", names.join(" or ")),
            (None, None, None) => "nothing".to_owned(),
        };
        format!("expected {wanted}, got {got}")
    }

    /// The next message of the engine; `None` when it sends no more.
    fn next_message(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.settle()?;
        self.fill(Duration::ZERO)?;
        if let Some(bytes) = self.take_message()? {
            return Ok(Some(bytes));
        }
        // The system may still carry bytes of the turns that have passed.
        self.fill(Duration::from_millis(50))?;
        self.take_message()
    }

    /// Reads the bytes that are there, and waits for the first one.
    fn fill(&mut self, patience: Duration) -> Result<(), String> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        let mut bytes = [0; 16 << 10];
        match patience.is_zero() {
            true => stream.set_nonblocking(true),
            false => stream
                .set_nonblocking(false)
                .and_then(|()| stream.set_read_timeout(Some(patience))),
        }
        .map_err(text)?;
        loop {
            match stream.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => self.arrived.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // A peer that closes with bytes unread resets the connection.
                Err(_) => break,
            }
            stream.set_nonblocking(true).map_err(text)?;
        }
        stream.set_nonblocking(false).map_err(text)
    }

    /// Takes a whole message from the received bytes, and checks the rules for every message.
    fn take_message(&mut self) -> Result<Option<Vec<u8>>, String> {
        let len = match frame::next(&self.arrived, 1 << 20) {
            Frame::Whole { skip: 0, len } => len,
            Frame::Partial { skip: 0 } => return Ok(None),
            other => {
                let shown = message::show(&self.arrived);
                return Err(format!("sent no message ({other:?}): {shown}"));
            }
        };
        let bytes: Vec<u8> = self.arrived.drain(..len).collect();
        self.peer.check_frame(&bytes)?;
        let fields = message::split(&bytes);
        let value = |tag| {
            fields
                .iter()
                .find(|(t, _)| *t == tag)
                .map(|(_, v)| v.as_str())
        };
        let number = value(34).and_then(|text| text.parse().ok()).unwrap_or(0);
        // A router's message can be marked as a repetition and yet be new to this session.
        if value(43) == Some("Y") && number != self.next_new {
            peer::check_repetition(self.stored.get(&number).map(Vec::as_slice), &bytes)?;
            return Ok(Some(bytes));
        }
        if number != self.next_new {
            self.notice_epoch()?;
            if number != 1 || self.epoch == 0 {
                let (wanted, shown) = (self.next_new, message::show(&bytes));
                return Err(format!("sent {number}, should be {wanted}: {shown}"));
            }
            self.stored.clear();
        }
        self.next_new = number + 1;
        self.stored.insert(number, bytes.clone());
        Ok(Some(bytes))
    }

    /// After a reset the sequence numbers begin again.
    fn notice_epoch(&mut self) -> Result<(), String> {
        let counters = self.counters()?;
        if counters.epoch != self.epoch {
            self.epoch = counters.epoch;
            self.next_new = counters.next_out;
            if counters.next_in == 1 {
                self.peer.next = 1;
            }
        }
        Ok(())
    }

    /// The counters that would be recovered if the engine's process ended now.
    fn counters(&self) -> Result<SequenceCounters, String> {
        let copy = self.folder.join("copy");
        let _ = std::fs::remove_dir_all(&copy);
        copy_journal(&self.journal, &copy)?;
        let disk = Directory::open(&copy).map_err(text)?;
        let (journal, _) = Journal::open(disk, sizes()).map_err(text)?;
        let mut sessions = journal.sessions();
        let found = sessions.find(|(_, name, _)| *name == NAME);
        found
            .map(|(_, _, counters)| counters)
            .ok_or_else(|| "the journal has lost the session".to_owned())
    }

    /// Returns when the engine has taken everything that was written or commanded so far.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..TURNS {
            let turns = self.turns;
            self.handle.send_fields(NOBODY, b"0", b"").map_err(text)?;
            self.until("a turn of the engine", |player| player.turns > turns)?;
        }
        Ok(())
    }

    fn until_or_settled(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), String> {
        if done(self) {
            return Ok(());
        }
        self.settle()
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.told.recv_timeout(left) {
                Ok(Told::Delivered(how, bytes)) => {
                    self.answered += usize::from(how == "deliver");
                    self.delivered.push_back((how, bytes));
                }
                Ok(Told::Ended(names)) => self.ended = Some(names),
                Ok(Told::Connected) => self.connected = Some(true),
                Ok(Told::DialFailed) => self.connected = Some(false),
                Ok(Told::LoggedOn) => self.logged_on = true,
                Ok(Told::Turn) => self.turns += 1,
                Err(_) => return Err(format!("expected {what}, got nothing in {PATIENCE:?}")),
            }
        }
        Ok(())
    }

    /// Ends the engine without waiting for a Logout.
    fn stop(&mut self) -> Result<(), String> {
        self.stream = None;
        let Some(engine) = self.engine.take() else {
            return Ok(());
        };
        self.handle.stop().map_err(text)?;
        let ended = engine
            .join()
            .map_err(|_| "the engine panicked".to_owned())?;
        ended.map_err(text)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // An engine that fails a scenario only has to end.
        let _ = self.stop();
    }
}

fn near(wanted: &str, is: &str) -> bool {
    let parse = |text: &str| Timestamp::parse(text.as_bytes()).ok();
    let same_digits = wanted.len() == is.len();
    match (parse(wanted), parse(is)) {
        (Some(wanted), Some(is)) => same_digits && (wanted.0 - is.0).abs() <= NOW,
        _ => false,
    }
}
