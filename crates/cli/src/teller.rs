//! The output of `fixwire run` about a running engine: a line at startup, a line for each event, and totals at the end.

use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fixwire::settings::{Id, Settings};
use fixwire::{
    Connection, Durability, Engine, EngineConfig, Event, Host, LinkReport, SessionConfig,
    SessionReport,
};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::time::{Precision, TimestampWriter};
use fixwire_protocol::{Application, Now, Timestamp};

use crate::failure::Failure;
use crate::oms::CreatedNames;
use crate::print::Printer;

/// The startup line, with application, sessions and message store.
pub fn start_line(
    file: &Path,
    application: &str,
    settings: &Settings,
    config: &EngineConfig,
) -> String {
    let accepts =
        |session: &&SessionConfig| matches!(session.connection, Connection::Acceptor { .. });
    let acceptors = config.sessions.iter().filter(accepts).count();
    let initiators = config.sessions.len() - acceptors;
    let store = match config.durability {
        Durability::Memory => "no store (Durability=memory)".to_owned(),
        Durability::Process => format!(
            "store {} (Durability=process)",
            config.journal_dir.display()
        ),
        Durability::Disk => format!("store {} (Durability=disk)", config.journal_dir.display()),
    };
    let links = match config.links.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "link")),
    };
    let logs = settings.engine();
    let logs = logs.and_then(|session| session.text(Id::FileLogPath));
    let logs = logs.map(|folder| format!(", logs in {folder}"));
    format!(
        "{}: {application}, {}, {}{links}, {store}{}",
        file.display(),
        counted(acceptors, "acceptor"),
        counted(initiators, "initiator"),
        logs.unwrap_or_default()
    )
}

/// A number with its noun: singular for 1, otherwise plural.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// Prints the totals of each session that connected, and of all sessions together.
pub fn tell_end<A: Application, H: Host>(engine: Engine<A, H>) {
    let sessions: Vec<SessionReport> = engine.sessions().map(SessionReport::from).collect();
    let links: Vec<LinkReport> = engine.links().map(LinkReport::from).collect();
    // When the engine is dropped, it writes its last events.
    drop(engine);
    let (mut lines, mut received, mut sent) = (String::new(), 0, 0);
    for session in sessions.iter().filter(|it| it.counters.connections > 0) {
        let counters = session.counters;
        let session = session.to_string();
        lines += &format!(
            "stopped: {}, {} received, {} sent\n",
            Escaped(session.as_bytes()),
            counters.received,
            counters.sent
        );
        received += counters.received;
        sent += counters.sent;
    }
    for link in links.iter().filter(|it| it.connections > 0) {
        let connections = counted(link.connections as usize, "connection");
        let name = Escaped(link.name.as_bytes());
        lines += &format!(
            "stopped: link {name}, {connections}, on the last connection {} frames received, {} \
            sent\n",
            link.frames_in, link.frames_out
        );
    }
    lines += &format!(
        "stopped: {}, {} received, {sent} sent\n",
        counted(sessions.len(), "session"),
        counted(received as usize, "message")
    );
    // An error can no longer be reported here.
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// Prints the startup line, and from then on a line for each event. `names` are those of the sessions of the settings,
/// `created` those of the sessions that Logons create.
pub fn tell_events<A: Application, H: Host>(
    engine: &mut Engine<A, H>,
    names: Vec<String>,
    created: CreatedNames,
    start: &str,
) -> Result<(), Failure> {
    tell(engine, names, created, start, |_| true)
}

/// Prints only some of the events.
pub fn tell_some_events<A: Application, H: Host>(
    engine: &mut Engine<A, H>,
    names: Vec<String>,
    start: &str,
    is_told: fn(&Event) -> bool,
) -> Result<(), Failure> {
    tell(engine, names, CreatedNames::default(), start, is_told)
}

fn tell<A: Application, H: Host>(
    engine: &mut Engine<A, H>,
    names: Vec<String>,
    created: CreatedNames,
    start: &str,
    is_told: fn(&Event) -> bool,
) -> Result<(), Failure> {
    let mut teller = Teller {
        names,
        created,
        links: engine.links().map(|link| link.name.to_owned()).collect(),
        printer: Printer::new(io::stderr())?,
        stamp: TimestampWriter::new(),
    };
    teller.line(now(), "engine", start);
    engine.on_event(move |now, event| {
        if is_told(event) {
            teller.tell(now, event);
        }
    });
    Ok(())
}

/// The time of the wall clock.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    Timestamp(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// Prints one line for each event: time, session, and what happened.
struct Teller {
    names: Vec<String>,
    created: CreatedNames,
    links: Vec<String>,
    printer: Printer,
    stamp: TimestampWriter,
}

impl Teller {
    fn tell(&mut self, now: Now, event: &Event) {
        if let Event::SessionAdded { session, name } = event
            && session.0 as usize == self.names.len()
        {
            let called = self.created.called(name);
            self.names.push(called.unwrap_or_else(|| name.clone()));
        }
        let session = event.session().and_then(|id| match id.link() {
            Some(link) => self.links.get(link),
            None => self.names.get(id.0 as usize),
        });
        let session = session.map_or_else(|| "engine".to_owned(), String::clone);
        self.line(now.wall, &session, &event.to_string());
    }

    fn line(&mut self, at: Timestamp, session: &str, text: &str) {
        let time = Escaped(self.stamp.format(at, Precision::Millis)).to_string();
        let text = Escaped(text.as_bytes());
        self.printer.line(format!("{time} {session} {text}"));
    }
}
