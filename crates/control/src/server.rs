//! The server of a control socket: threads that pass requests to the engine and write the responses.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_engine::{Handle, Operation, OperationError, Operator, SendError, SessionReport};

use crate::answer::{Answer, EngineReport, LinkLine, SessionLine};
use crate::ask::{Asked, LONGEST, Wish};
use crate::place::{Place, connect};

/// How many may be connected at once.
const MOST: usize = 16;
/// How long a client may be connected without a request, or without reading the response.
const IDLE: Duration = Duration::from_secs(60);
/// How long the engine may take, a Logout and its answer included.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most sessions that an error names.
const NAMED: usize = 20;

/// The query that asks an application for its counts, for a status.
pub const COUNTS: &[u8] = b"counts";

/// Reloads the rules or settings of this file, for an operator; the text says how, and is empty for a plain reload.
/// Returns the result, either way.
pub type ReloadHandler = Box<dyn Fn(&Path, &str, Operator) -> Result<String, String> + Send + Sync>;

/// Answers requests about an engine, until it is dropped.
#[derive(Debug)]
pub struct Control {
    place: Place,
    ends: Arc<AtomicBool>,
}

/// State shared by the threads.
struct Served {
    engine: Mutex<Handle>,
    reload: Option<ReloadHandler>,
    place: Place,
    version: String,
    since: Instant,
    connected: AtomicUsize,
    ends: Arc<AtomicBool>,
}

impl Control {
    /// Answers at this place from now on, in threads of its own. `version` is what a status says; `reload` is
    /// there when what runs has rules.
    ///
    /// # Errors
    ///
    /// There can be no such socket, or the system gives no thread.
    pub fn start(
        engine: Handle,
        place: &Place,
        version: &str,
        reload: Option<ReloadHandler>,
    ) -> io::Result<Self> {
        let listener = place.listen()?;
        let ends = Arc::new(AtomicBool::new(false));
        let served = Arc::new(Served {
            engine: Mutex::new(engine),
            reload,
            place: place.clone(),
            version: version.to_owned(),
            since: Instant::now(),
            connected: AtomicUsize::new(0),
            ends: Arc::clone(&ends),
        });
        let wait = move || served.wait(&listener);
        fixwire_threads::spawn("control", wait)?;
        let place = place.clone();
        Ok(Self { place, ends })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // The thread that waits for connections looks at it then.
        let _ = connect(&self.place.path);
        let _ = fs::remove_file(&self.place.path);
    }
}

impl Served {
    fn wait(self: Arc<Self>, listener: &UnixListener) {
        for asks in listener.incoming() {
            if self.ends.load(Ordering::Relaxed) {
                return;
            }
            let Ok(asks) = asks else {
                // No descriptor is left, most likely.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.connected.fetch_add(1, Ordering::Relaxed) >= MOST {
                self.connected.fetch_sub(1, Ordering::Relaxed);
                let why = format!("{MOST} other clients are connected: try again later");
                let _ = tell(&asks, &Answer::error(0, why));
                continue;
            }
            let served = Arc::clone(&self);
            let serve = move || {
                // The client learns it from the end of the connection.
                let _ = served.serve(&asks);
                served.connected.fetch_sub(1, Ordering::Relaxed);
            };
            if fixwire_threads::spawn("control-client", serve).is_err() {
                self.connected.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Answers one connection until it ends.
    fn serve(&self, asks: &UnixStream) -> io::Result<()> {
        asks.set_read_timeout(Some(IDLE))?;
        asks.set_write_timeout(Some(IDLE))?;
        let who = match self.place.who(asks) {
            Ok(who) => who,
            Err(error) => return tell(asks, &Answer::error(0, error.to_string())),
        };
        let mut lines = BufReader::new(asks);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut bounded = Read::by_ref(&mut lines).take(LONGEST as u64);
            if bounded.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if !line.ends_with(b"\n") {
                let why = format!("a request must be one line of at most {LONGEST} bytes");
                return tell(asks, &Answer::error(0, why));
            }
            tell(asks, &self.answer(&line, &who))?;
        }
    }

    fn answer(&self, line: &[u8], who: &str) -> Answer {
        let asked = match Asked::read(line) {
            Ok(asked) => asked,
            Err(why) => return Answer::error(0, why),
        };
        let id = asked.id;
        let by = Operator::new(who, asked.why.clone().unwrap_or_default());
        let done = asked.wish().and_then(|wish| match wish {
            Wish::Status(session) => self.status(session.as_deref()),
            Wish::Operate(session, operation) => self.operate(&session, operation, by),
            Wish::Command(command) => self.command(&command, by),
            Wish::Query(query) => self.query(&query),
            Wish::Reload(file, how) => match &self.reload {
                Some(reload) => {
                    let done = reload(Path::new(&file), &how, by);
                    done.map(|text| Answer::text(0, text))
                }
                None => Err("this process has no rules or settings to reload".into()),
            },
        });
        match done {
            Ok(answer) => Answer { id, ..answer },
            Err(why) => Answer::error(id, why),
        }
    }

    fn status(&self, session: Option<&str>) -> Result<Answer, String> {
        let sessions: Vec<SessionReport> = match session {
            None => self.ask(Handle::status)?,
            Some(name) => {
                let id = self.find(name)?;
                let report = self.ask(|engine| engine.status_of(id))?;
                report.into_iter().collect()
            }
        };
        let engine = EngineReport {
            version: self.version.clone(),
            pid: std::process::id(),
            seconds: self.since.elapsed().as_secs(),
        };
        // The application's counts, if it has any.
        let (text, links) = match session {
            None => {
                let counts = self.ask(|engine| engine.query(COUNTS))?;
                (counts.ok(), self.ask(Handle::links)?)
            }
            Some(_) => (None, Vec::new()),
        };
        let links: Vec<LinkLine> = links.into_iter().map(LinkLine::from).collect();
        Ok(Answer {
            engine: Some(engine),
            sessions: Some(sessions.into_iter().map(SessionLine::from).collect()),
            links: Some(links).filter(|links| !links.is_empty()),
            text: text.map(|text| String::from_utf8_lossy(&text).into_owned()),
            ..Answer::default()
        })
    }

    fn operate(&self, session: &str, operation: Operation, by: Operator) -> Result<Answer, String> {
        let id = self.find(session)?;
        let text = match &operation {
            Operation::LogOn => "connects",
            Operation::LogOut { .. } => "logs out",
            Operation::Disconnect => "disconnected",
            Operation::Enable => "enabled",
            Operation::Disable => "disabled",
            Operation::Reset => "sequence numbers reset",
            Operation::SetNumbers { .. } => "sequence numbers set",
            Operation::TestRequest => "TestRequest sent",
            Operation::Send { .. } => "message accepted",
            _ => "done",
        };
        self.ask(|engine| engine.operate(id, operation, by))?
            .map_err(|why| format!("{session}: {why}"))?;
        Ok(Answer::text(0, format!("{session}: {text}")))
    }

    fn command(&self, command: &str, by: Operator) -> Result<Answer, String> {
        let answer = self.ask(|engine| engine.command(command.as_bytes(), by))?;
        let answer = answer.map_err(|why: OperationError| why.to_string())?;
        Ok(Answer::text(0, String::from_utf8_lossy(&answer)))
    }

    fn query(&self, query: &str) -> Result<Answer, String> {
        let answer = self.ask(|engine| engine.query(query.as_bytes()))?;
        let answer = answer.map_err(|why: OperationError| why.to_string())?;
        Ok(Answer::text(0, String::from_utf8_lossy(&answer)))
    }

    fn find(&self, session: &str) -> Result<fixwire_engine::protocol::SessionId, String> {
        let found = {
            let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
            engine.find(session)
        };
        match found {
            Some(id) => Ok(id),
            None => {
                let links = self.ask(Handle::links)?;
                Err(match links.iter().any(|link| link.name == session) {
                    true => format!("{session} is a link, not a session: use fixwire status"),
                    false => unknown(session, &self.ask(Handle::status)?),
                })
            }
        }
    }

    /// Asks the engine, and waits for its answer.
    fn ask<T>(
        &self,
        ask: impl FnOnce(&mut Handle) -> Result<Receiver<T>, SendError>,
    ) -> Result<T, String> {
        let asked = {
            let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
            ask(&mut engine)
        };
        let answer = asked.map_err(|error| error.to_string())?;
        answer.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Disconnected => "the engine has stopped".into(),
            RecvTimeoutError::Timeout => {
                let seconds = PATIENCE.as_secs();
                format!("no response from the engine in {seconds} s: it may still do it")
            }
        })
    }
}

fn unknown(session: &str, sessions: &[SessionReport]) -> String {
    let names: Vec<&str> = sessions.iter().map(|one| one.name.as_str()).collect();
    let more = match names.len() {
        ..=NAMED => String::new(),
        all => format!(" and {} more", all - NAMED),
    };
    let named = names[..names.len().min(NAMED)].join(", ");
    format!("unknown session {session}; known sessions: {named}{more}")
}

fn tell(mut asks: &UnixStream, answer: &Answer) -> io::Result<()> {
    asks.write_all(answer.line().as_bytes())
}
