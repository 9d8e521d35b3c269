//! The server of a control socket: its threads pass requests to the engine, and write the answers.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_engine::protocol::{OperatorRight, SessionId};
use fixwire_engine::{
    Handle, Operation, OperationError, Operator, OperatorAccess, OperatorStanding,
    PermissionRequest, SendError, SessionReport,
};

use crate::answer::{Answer, EngineReport, LinkLine, SessionLine, figures as figures_of};
use crate::ask::{Asked, ControlQuestion, ControlRight, LONGEST, Wish};
use crate::place::{Place, connect};
use crate::places::Places;

/// Maximum time for which a client may stay connected without a request.
const IDLE: Duration = Duration::from_secs(60);
/// Maximum time for the rest of a request after its first byte; and for the client to read the answer.
const LINE: Duration = Duration::from_secs(5);
/// Pause before a refusal is answered, so that refusals cannot flood the journal.
const REFUSED: Duration = Duration::from_millis(50);
/// Maximum time for the engine's answer. This time includes a Logout and the peer's answer to the Logout.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum number of sessions named in an error.
const NAMED: usize = 20;

/// The user at the other end of a connection.
struct Requester {
    by: Operator,
    standing: OperatorStanding,
}

/// The query that asks an application for its counters, for a status.
pub const COUNTS: &[u8] = b"counts";
/// The query that asks for the same counters as numbers: lines of tab-separated names and a value. A status shows the
/// counters as an object.
pub const FIGURES: &[u8] = b"figures";

/// Reloads the rules or settings in this file on behalf of an operator. The text says which kind of reload; it is
/// empty for an ordinary one. Returns the result, or an error.
pub type ReloadHandler = Box<dyn Fn(&Path, &str, Operator) -> Result<String, String> + Send + Sync>;

/// The names that an application has for sessions, by the identities that the engine has.
pub trait SessionNames: Send + Sync {
    /// The application's name of a session; `None` if it has none of its own.
    fn called(&self, identity: &str) -> Option<String>;

    /// The identity of the session with this name; `None` if no session has the name.
    fn identity(&self, called: &str) -> Option<String>;
}

/// By identity.
impl SessionNames for HashMap<String, String> {
    fn called(&self, identity: &str) -> Option<String> {
        self.get(identity).cloned()
    }

    fn identity(&self, called: &str) -> Option<String> {
        let mut names = self.iter();
        let found = names.find(|(_, name)| *name == called);
        found.map(|(identity, _)| identity.clone())
    }
}

/// Answers requests about an engine, until this value is dropped.
#[derive(Debug)]
pub struct Control {
    place: Place,
    ends: Arc<AtomicBool>,
}

/// The state that all threads share.
struct Served {
    engine: Mutex<Handle>,
    reload: Option<ReloadHandler>,
    place: Place,
    version: String,
    since: Instant,
    names: Box<dyn SessionNames>,
    places: Places,
    /// Time at which a refused connection was last reported.
    reported: Mutex<Option<Instant>>,
    ends: Arc<AtomicBool>,
}

impl Control {
    /// Starts to answer at this socket, in threads of its own. A status shows `version`. `reload` is `None` if the
    /// application has no rules or settings to reload.
    ///
    /// # Errors
    ///
    /// The socket cannot be created, or a thread cannot be started.
    pub fn start(
        engine: Handle,
        place: &Place,
        version: &str,
        reload: Option<ReloadHandler>,
    ) -> io::Result<Self> {
        let names = Box::new(HashMap::new());
        Self::start_named(engine, place, version, reload, names)
    }

    /// As [`start`](Self::start). In addition, `names` has the names of sessions in the settings. A status shows the
    /// sessions' names in the settings, and requests may use them.
    ///
    /// # Errors
    ///
    /// See [`start`](Self::start).
    pub fn start_named(
        engine: Handle,
        place: &Place,
        version: &str,
        reload: Option<ReloadHandler>,
        names: Box<dyn SessionNames>,
    ) -> io::Result<Self> {
        let listener = place.listen()?;
        let ends = Arc::new(AtomicBool::new(false));
        let served = Arc::new(Served {
            engine: Mutex::new(engine),
            reload,
            place: place.clone(),
            version: version.to_owned(),
            since: Instant::now(),
            names,
            places: Places::default(),
            reported: Mutex::new(None),
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
        // Wake the thread that accepts connections; it then finds that it must stop.
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
                // Most likely the process has no file descriptors left.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            let Some((number, by)) = self.take_place(&asks) else {
                continue;
            };
            let served = Arc::clone(&self);
            let serve = move || {
                // An error ends the connection, and the client finds it closed.
                let _ = served.serve(&asks, number, &by);
                served.places.leave(number);
            };
            if fixwire_threads::spawn("control-client", serve).is_err() {
                self.places.leave(number);
            }
        }
    }

    /// Takes a place for a connection. Without a place, sends the client the reason and returns `None`.
    fn take_place(&self, asks: &UnixStream) -> Option<(u64, Requester)> {
        let (who, standing) = match self.place.who(asks) {
            Ok(who) => who,
            Err(error) => {
                let _ = tell(asks, &Answer::error(0, error.to_string()));
                return None;
            }
        };
        let by = Operator::new(who, "");
        let by = Requester { by, standing };
        let is_operator = || {
            let access = OperatorAccess::Place;
            self.permit(&by, access, None, "connect").is_ok()
        };
        match self.places.take(asks, standing, is_operator) {
            Ok(number) => Some((number, by)),
            Err(why) => {
                self.report(&by, &why);
                let _ = tell(asks, &Answer::error(0, why));
                None
            }
        }
    }

    /// Reports a connection that was refused or closed; at most one per second.
    fn report(&self, by: &Requester, why: &str) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_some_and(|at| at.elapsed() < Duration::from_secs(1)) {
            return;
        }
        *reported = Some(Instant::now());
        let what = format!("connection to the control socket by {}: {why}", by.by);
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        // If the engine has stopped, it raises no event.
        let _ = engine.report_refusal(what);
    }

    /// Answers one connection until it ends.
    fn serve(&self, asks: &UnixStream, number: u64, by: &Requester) -> io::Result<()> {
        asks.set_write_timeout(Some(LINE))?;
        let mut lines = BufReader::new(asks);
        let mut line = Vec::new();
        loop {
            let why = match read_line(&mut lines, &mut line)? {
                LineRead::Line => {
                    self.places.set_busy(number, true);
                    let answer = self.answer(&line, by);
                    self.places.set_busy(number, false);
                    tell(asks, &answer)?;
                    continue;
                }
                LineRead::End => return Ok(()),
                LineRead::Long => {
                    format!("a request must be one line of at most {LONGEST} bytes")
                }
                LineRead::Late => {
                    let seconds = LINE.as_secs();
                    let why = format!("a request must be complete within {seconds} s");
                    self.report(by, &why);
                    why
                }
            };
            return tell(asks, &Answer::error(0, why));
        }
    }

    fn answer(&self, line: &[u8], by: &Requester) -> Answer {
        let asked = match Asked::read(line) {
            Ok(asked) => asked,
            Err(why) => return Answer::error(0, why),
        };
        let id = asked.id;
        let why = asked.why.clone().unwrap_or_default();
        let by = Requester {
            by: Operator::new(&*by.by.who, why),
            standing: by.standing,
        };
        let done = asked.wish();
        let done = done.and_then(|wish| self.carry_out(asked.what, wish, by));
        match done {
            Ok(answer) => Answer { id, ..answer },
            Err(why) => Answer::error(id, why),
        }
    }

    /// Executes a request, if the operator has the right.
    fn carry_out(
        &self,
        what: ControlQuestion,
        wish: Wish,
        by: Requester,
    ) -> Result<Answer, String> {
        match wish {
            Wish::Status(session) => self.status(session.as_deref(), &by),
            Wish::Operate(session, operation) => {
                let id = self.find(&session)?;
                let name = self.identity(&session);
                let access = access(what, OperatorRight::Session);
                self.permit(&by, access, Some(id), &format!("session {what}"))
                    .map_err(|why| format!("{name}: {why}"))?;
                self.operate((id, &name), operation, by.by)
            }
            Wish::Command(command) => {
                let access = OperatorAccess::Command(command.clone().into_bytes());
                self.permit(&by, access, None, &command)?;
                self.command(&command, by.by)
            }
            Wish::Query(query) => {
                let access = OperatorAccess::Query(query.clone().into_bytes());
                self.permit(&by, access, None, &format!("query {query}"))?;
                self.query(&query)
            }
            Wish::Reload(file, how) => {
                let access = match &*how {
                    "check" => OperatorAccess::Right(OperatorRight::Read),
                    _ => access(what, OperatorRight::Reload),
                };
                self.permit(&by, access, None, format!("reload {how}").trim())?;
                match &self.reload {
                    Some(reload) => {
                        let done = reload(Path::new(&file), &how, by.by);
                        done.map(|text| Answer::text(0, text))
                    }
                    None => Err("this process has no rules or settings to reload".into()),
                }
            }
        }
    }

    /// Asks the engine whether an operator has the right to do something. The error says why not.
    fn permit(
        &self,
        by: &Requester,
        access: OperatorAccess,
        session: Option<SessionId>,
        what: &str,
    ) -> Result<(), String> {
        let is_noted = !matches!(access, OperatorAccess::Part(_) | OperatorAccess::Place);
        let asked = PermissionRequest {
            by: by.by.clone(),
            standing: by.standing,
            access,
            session,
            what: what.to_owned(),
        };
        let permitted = self.ask(|engine| engine.permit(asked))?;
        permitted.map_err(|why| {
            if is_noted {
                thread::sleep(REFUSED);
            }
            why.to_string()
        })
    }

    fn status(&self, session: Option<&str>, by: &Requester) -> Result<Answer, String> {
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
        // The application's counters are shown only if the operator has the right to read.
        let (text, figures, links) = match session {
            None => {
                let access = OperatorAccess::Part(OperatorRight::Read);
                let (counts, figures) = match self.permit(by, access, None, "status") {
                    Ok(()) => (
                        self.ask(|engine| engine.query(COUNTS))?.ok(),
                        self.ask(|engine| engine.query(FIGURES))?.ok(),
                    ),
                    Err(_) => (None, None),
                };
                (counts, figures, self.ask(Handle::links)?)
            }
            Some(_) => (None, None, Vec::new()),
        };
        let links: Vec<LinkLine> = links.into_iter().map(LinkLine::from).collect();
        Ok(Answer {
            engine: Some(engine),
            sessions: Some(sessions.into_iter().map(|one| self.line(one)).collect()),
            links: Some(links).filter(|links| !links.is_empty()),
            text: text.map(|text| String::from_utf8_lossy(&text).into_owned()),
            application: figures.map(|text| figures_of(&String::from_utf8_lossy(&text))),
            ..Answer::default()
        })
    }

    fn line(&self, report: SessionReport) -> SessionLine {
        let session_name = self.names.called(&report.name);
        let session_name = session_name.filter(|name| *name != report.name);
        SessionLine {
            session_name,
            ..SessionLine::from(report)
        }
    }

    /// The identity of the session with this name in the settings. A text that is not a session's name in the settings
    /// is returned unchanged.
    fn identity(&self, called: &str) -> String {
        let identity = match self.names.called(called) {
            Some(_) => None,
            None => self.names.identity(called),
        };
        identity.unwrap_or_else(|| called.to_owned())
    }

    fn operate(
        &self,
        (id, session): (SessionId, &str),
        operation: Operation,
        by: Operator,
    ) -> Result<Answer, String> {
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

    fn find(&self, session: &str) -> Result<SessionId, String> {
        let session = &self.identity(session);
        let found = {
            let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
            engine.find(session)
        };
        match found {
            Some(id) => Ok(id),
            None => {
                let links = self.ask(Handle::links)?;
                Err(match links.iter().any(|link| link.name == *session) {
                    true => format!("{session} is a link, not a session: use fixwire status"),
                    false => unknown(session, &self.ask(Handle::status)?),
                })
            }
        }
    }

    /// Sends a query to the engine, and waits for the answer.
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
                format!("no response from the engine in {seconds} s: the engine may still execute the request")
            }
        })
    }
}

/// The right that a request requires.
fn access(what: ControlQuestion, other: OperatorRight) -> OperatorAccess {
    OperatorAccess::Right(match what.right() {
        ControlRight::Right(right) => right,
        ControlRight::Nothing | ControlRight::OfApplication => other,
    })
}

/// The result of reading a request.
enum LineRead {
    Line,
    /// The connection has ended, or was idle for too long.
    End,
    Long,
    /// The rest of the line did not arrive in time.
    Late,
}

/// Reads a request, including the end of its line.
fn read_line(lines: &mut BufReader<&UnixStream>, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let mut begun: Option<Instant> = None;
    loop {
        let left = match begun {
            None => IDLE,
            Some(begun) => match LINE.checked_sub(begun.elapsed()) {
                Some(left) if !left.is_zero() => left,
                _ => return Ok(LineRead::Late),
            },
        };
        lines.get_ref().set_read_timeout(Some(left))?;
        let chunk = match lines.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) => match (error.kind(), begun) {
                (ErrorKind::Interrupted, _) => continue,
                (ErrorKind::WouldBlock | ErrorKind::TimedOut, Some(_)) => {
                    return Ok(LineRead::Late);
                }
                (ErrorKind::WouldBlock | ErrorKind::TimedOut, None) => return Ok(LineRead::End),
                _ => return Err(error),
            },
        };
        if chunk.is_empty() {
            return Ok(match begun {
                Some(_) => LineRead::Long,
                None => LineRead::End,
            });
        }
        begun.get_or_insert_with(Instant::now);
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        line.extend_from_slice(&chunk[..taken]);
        lines.consume(taken);
        if line.len() > LONGEST {
            return Ok(LineRead::Long);
        }
        if end.is_some() {
            return Ok(LineRead::Line);
        }
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
