//! `fixwire status` and `fixwire session`: query and control a running engine, or read the journal of an engine that is
//! stopped.

mod found;
mod table;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand, value_parser};
use fixwire::control::{
    Answer, Asked, Client, ClientError, ControlQuestion, LinkLine, SessionLine, this_user,
};
use fixwire::journal::{StoredSession, stored_sessions};
use fixwire::{Operator, set_stored_numbers};
use fixwire_protocol::Timestamp;
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::time::{Precision, TimestampWriter};
use serde_json::json;

use crate::failure::{Failure, tell};
use crate::place::Target;
use crate::reading::Reading;
use found::{Found, find, is_closed};
use watch::{Aim, watch};

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire session list broker.cfg
  fixwire session logout broker.cfg 'FIX.4.4:BROKER->CLIENT' --text 'See you tomorrow'
  fixwire session set-numbers store 'FIX.4.4:BROKER->CLIENT' --out 1 --why 'venue restored a backup'
  fixwire session send broker.cfg 'FIX.4.4:BROKER->CLIENT' B '148=Closing|33=1|58=At 17:00'
  fixwire session command sim.toml 'state halted VOD'

The settings file of an engine, the folder of its journal (FileStorePath) or its socket (ControlPath)
identifies it. The journal and an event of the engine record each command, its operator and the reason. The exit
code is 1 if the command failed: 'logon' if the session is not logged on in the end, 'logout' and 'disable' if it is
still connected.";

/// Exit code of `status` when no engine runs.
const NOT_RUNNING: u8 = 3;

/// The engine, and the options of a request to it.
#[derive(Args, Debug)]
pub struct EngineFlags {
    /// Timeout in seconds for the response of the engine, and for the logon or logout that the command begins
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    #[command(flatten)]
    reading: Reading,
    /// The settings file of the engine, the folder of its journal, or its socket
    pub engine: PathBuf,
}

/// One session of an engine.
#[derive(Args, Debug)]
pub struct One {
    #[command(flatten)]
    at: EngineFlags,
    /// The session, by its identity: FIX.4.4:BROKER->CLIENT; with a settings file also by its
    /// SessionName
    session: String,
    /// The reason, recorded in the journal
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    why: String,
}

/// Arguments of `fixwire status`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire status broker.cfg
  fixwire status store
  fixwire status --json gateway.toml | jq '.sessions[] | select(.state != \"logged on\")'

If the engine is not running, the state comes from its journal, and the exit code is 3, also for a user who cannot
read the journal and sees that no engine responds at ControlPath. SessionName is shown where the
settings have one. With --json, `application` has the counts of a gateway, an OMS or an exchange.")]
pub struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    at: EngineFlags,
}

/// Subcommands of `fixwire session`.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Lists the sessions
    List(StatusArgs),
    /// Shows one session
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        at: EngineFlags,
        /// The session, by its identity; with a settings file also by its SessionName
        session: String,
    },
    /// Lets an initiator connect at once, after a logout or between connection attempts
    Logon(One),
    /// Sends a Logout; an initiator does not log on again until the engine restarts or 'logon' is given
    Logout {
        #[command(flatten)]
        one: One,
        /// Text(58) of the Logout
        #[arg(long, default_value = "", hide_default_value = true)]
        text: String,
    },
    /// Closes the connection without a Logout; an initiator reconnects after its ReconnectInterval
    Disconnect(One),
    /// Enables a disabled session: it may log on again
    Enable(One),
    /// Logs the session out and refuses logons, also after a restart
    Disable(One),
    /// Resets both sequence numbers to 1; while logged on, by a Logon with ResetSeqNumFlag(141)=Y
    Reset(One),
    /// Sets the sequence numbers of a session that is not connected, also while no engine runs
    #[command(
        after_help = "If --out is not above the last MsgSeqNum sent, no earlier message is sent \
            again: a ResendRequest of the peer is answered with gap fills, and messages that wait \
            to be sent are dropped. A session schedule still resets sequence numbers from before \
            its current trading session, and ResetOnLogon, ResetOnLogout and ResetOnDisconnect \
            reset them too."
    )]
    SetNumbers {
        #[command(flatten)]
        one: One,
        /// MsgSeqNum to expect next
        #[arg(long = "in", value_name = "N")]
        next_in: Option<u64>,
        /// MsgSeqNum to send next
        #[arg(long = "out", value_name = "N")]
        next_out: Option<u64>,
        /// Log the session out first, if it is connected
        #[arg(long)]
        force: bool,
    },
    /// Sends a TestRequest
    TestRequest(One),
    /// Sends an application message
    Send {
        #[command(flatten)]
        one: One,
        /// MsgType(35)
        msg_type: String,
        /// The fields of its body: 11=A1|55=MSFT|54=1
        fields: String,
    },
    /// Sends a command to the application; see its documentation (docs/reference/exchange.md)
    Command {
        #[command(flatten)]
        at: EngineFlags,
        /// The command, in quotes
        text: String,
        /// The reason, recorded in the journal
        #[arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true
        )]
        why: String,
    },
}

/// Runs `fixwire status`.
pub fn status(args: &StatusArgs) -> Result<ExitCode, Failure> {
    show(&args.at, args.json, None)
}

/// Runs `fixwire session`.
pub fn run(command: &SessionCommand) -> Result<ExitCode, Failure> {
    let asked = Asked::default;
    match command {
        SessionCommand::List(args) => show(&args.at, args.json, None),
        SessionCommand::Status { json, at, session } => show(at, *json, Some(session)),
        SessionCommand::Logon(one) => watch(one, of(ControlQuestion::Logon), Aim::LoggedOn),
        SessionCommand::Logout { one, text } => {
            let text = Some(text.clone()).filter(|text| !text.is_empty());
            let what = ControlQuestion::Logout;
            watch(
                one,
                Asked {
                    what,
                    text,
                    ..asked()
                },
                Aim::LoggedOut,
            )
        }
        SessionCommand::Disconnect(one) => act(one, of(ControlQuestion::Disconnect)),
        SessionCommand::Enable(one) => watch(one, of(ControlQuestion::Enable), Aim::Any),
        SessionCommand::Disable(one) => watch(one, of(ControlQuestion::Disable), Aim::LoggedOut),
        SessionCommand::Reset(one) => act(one, of(ControlQuestion::Reset)),
        SessionCommand::SetNumbers {
            one,
            next_in,
            next_out,
            force,
        } => set_numbers(one, (*next_in, *next_out), *force),
        SessionCommand::TestRequest(one) => act(one, of(ControlQuestion::TestRequest)),
        SessionCommand::Command { at, text, why } => order(at, text, why),
        SessionCommand::Send {
            one,
            msg_type,
            fields,
        } => {
            let what = ControlQuestion::Send;
            let msg_type = Some(msg_type.clone());
            let fields = Some(fields.clone());
            act(
                one,
                Asked {
                    what,
                    msg_type,
                    fields,
                    ..asked()
                },
            )
        }
    }
}

fn of(what: ControlQuestion) -> Asked {
    Asked {
        what,
        ..Asked::default()
    }
}

/// A running engine.
///
/// # Errors
///
/// No engine runs.
pub fn running(at: &EngineFlags) -> Result<Client, Failure> {
    let target = Target::find(&at.engine, &at.reading)?;
    match find(at, target)? {
        Found::Running(client) => Ok(client),
        Found::Stopped(store) => Err(Failure::Text(format!(
            "no engine is running on {}",
            store.display()
        ))),
        Found::Absent(why) => Err(Failure::Text(why)),
    }
}

/// A client for the engine; `None` if the engine is not running or does not respond.
pub fn if_running(at: &EngineFlags) -> Option<Client> {
    let target = Target::find(&at.engine, &at.reading).ok()?;
    match find(at, target).ok()? {
        Found::Running(client) => Some(client),
        Found::Stopped(_) | Found::Absent(_) => None,
    }
}

/// The folder of an engine's journal.
///
/// # Errors
///
/// The engine has no journal.
pub fn store(at: &EngineFlags) -> Result<PathBuf, Failure> {
    let store = Target::find(&at.engine, &at.reading)?.store;
    store.ok_or_else(|| {
        Failure::Text(format!(
            "{} has no journal: pass the settings file or the folder",
            at.engine.display()
        ))
    })
}

/// The engine of a command, and the engine's name for a session.
fn find_session(at: &EngineFlags, session: &str) -> Result<(Found, String), Failure> {
    let target = Target::find(&at.engine, &at.reading)?;
    if target.links.iter().any(|link| link == session) {
        let why = format!("{session} is a link, not a session: use fixwire status");
        return Err(Failure::Text(why));
    }
    let name = target.session(session).to_owned();
    Ok((find(at, target)?, name))
}

fn refused(error: &ClientError) -> Failure {
    let why = error.to_string();
    Failure::Text(Escaped(why.as_bytes()).to_string())
}

/// Prints the sessions of an engine, or one of them.
fn show(at: &EngineFlags, json: bool, session: Option<&str>) -> Result<ExitCode, Failure> {
    let target = Target::find(&at.engine, &at.reading)?;
    let session = session.map(|session| target.session(session).to_owned());
    let session = session.as_deref();
    let of_file = target.links.clone();
    let names: Vec<_> = target.session_names().collect();
    let (engine, mut sessions, links, text, application) = match find(at, target)? {
        Found::Running(mut client) => {
            let asked = Asked {
                session: session.map(str::to_owned),
                ..of(ControlQuestion::Status)
            };
            let answer = client.ask(&asked).map_err(|error| refused(&error))?;
            (
                answer.engine,
                answer.sessions.unwrap_or_default(),
                answer.links.unwrap_or_default(),
                answer.text,
                answer.application,
            )
        }
        Found::Absent(why) => return absent(json, &why),
        Found::Stopped(store) => {
            let mut sessions = match stored(&store) {
                Ok(sessions) => sessions,
                Err(NotStored::Unread(why)) => return absent(json, &why),
                Err(NotStored::Failed(failure)) => return Err(failure),
            };
            if let Some(name) = session {
                there(&sessions, name)?;
                sessions.retain(|stored| stored.name == name);
            }
            if !json {
                let store = store.display();
                println!("not running; from the journal in {store}:");
            }
            let sessions = sessions.iter().map(line);
            let (links, sessions): (Vec<_>, Vec<_>) =
                sessions.partition(|one| of_file.contains(&one.name));
            let links = links.into_iter().map(stored_link).collect();
            (None, sessions, links, None, None)
        }
    };
    for one in &mut sessions {
        let found = names.iter().find(|(identity, _)| *identity == one.name);
        if let (None, Some((_, called))) = (&one.session_name, found) {
            one.session_name = Some(called.clone());
        }
    }
    let code = match engine {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(NOT_RUNNING),
    };
    let mut out = io::stdout().lock();
    if json {
        let application = application.or(text.map(Into::into));
        let all = json!({
            "running": engine.is_some(), "engine": engine, "sessions": sessions,
            "links": links, "application": application,
        });
        writeln!(out, "{all:#}")?;
        return Ok(code);
    }
    if let (Some(engine), None) = (&engine, session) {
        writeln!(out, "{}", table::head(engine, &sessions))?;
    }
    if !sessions.is_empty() || links.is_empty() {
        write!(out, "{}", table::of_sessions(&sessions, engine.is_some()))?;
    }
    write!(out, "{}", table::of_links(&links, engine.is_some()))?;
    if let (Some(_), [one]) = (session, &sessions[..])
        && let Some(said) = &one.last_logout
    {
        let said = Escaped(said.as_bytes()).to_string();
        let said = if said.is_empty() { "no Text" } else { &said };
        writeln!(out, "last Logout of the peer: {said}")?;
    }
    for line in text.iter().flat_map(|text| text.lines()) {
        writeln!(out, "{}", Escaped(line.as_bytes()))?;
    }
    Ok(code)
}

/// Prints that no engine runs, and why its journal cannot be shown.
fn absent(json: bool, why: &str) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    if json {
        let all = json!({
            "running": false, "engine": null, "sessions": [], "links": [], "application": null, "error": why,
        });
        writeln!(out, "{all:#}")?;
    } else {
        writeln!(out, "not running: {}", Escaped(why.as_bytes()))?;
    }
    Ok(ExitCode::from(NOT_RUNNING))
}

/// Why a stopped engine's journal has no sessions to show.
enum NotStored {
    /// The journal does not exist yet, or this user may not read it.
    Unread(String),
    Failed(Failure),
}

impl From<NotStored> for Failure {
    fn from(error: NotStored) -> Self {
        match error {
            NotStored::Unread(why) => Self::Text(why),
            NotStored::Failed(failure) => failure,
        }
    }
}

/// The sessions in a journal that no process has open.
fn stored(store: &Path) -> Result<Vec<StoredSession>, NotStored> {
    if !store.exists() {
        let store = store.display();
        let why = format!("no engine is running, and none has run yet: store {store} is missing");
        return Err(NotStored::Unread(why));
    }
    let failed = |why: String| Err(NotStored::Failed(Failure::Text(why)));
    let (sessions, verified) = match stored_sessions(store) {
        Ok(read) => read,
        Err(error) if is_closed(&error) => return Err(NotStored::Unread(error.to_string())),
        Err(error) => return failed(error.to_string()),
    };
    if verified.segments == 0 && verified.bad.is_none() {
        return failed(format!("{} contains no journal", store.display()));
    }
    match verified.bad {
        Some(bad) if !verified.torn => failed(bad.to_string()),
        _ => Ok(sessions),
    }
}

fn there(sessions: &[StoredSession], name: &str) -> Result<(), Failure> {
    if sessions.iter().any(|stored| stored.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = sessions.iter().map(|stored| stored.name.as_str()).collect();
    Err(Failure::Text(format!(
        "no session {name} in this journal; it has: {}",
        names.join(", ")
    )))
}

fn line(stored: &StoredSession) -> SessionLine {
    let last = stored.last.map(|last| {
        let mut stamp = TimestampWriter::new();
        let time = stamp.format(last, Precision::Seconds);
        format!(", last record {}", String::from_utf8_lossy(time))
    });
    let disabled = if stored.disabled {
        ", disabled by an operator"
    } else {
        ""
    };
    SessionLine {
        name: stored.name.clone(),
        state: format!("stopped{disabled}{}", last.unwrap_or_default()),
        next_in: stored.counters.next_in,
        next_out: stored.counters.next_out,
        ..SessionLine::default()
    }
}

/// The line for a link, from its frames of the last connection in the journal.
fn stored_link(one: SessionLine) -> LinkLine {
    LinkLine {
        name: one.name,
        state: one.state,
        frames_in: one.next_in.saturating_sub(1),
        frames_out: one.next_out.saturating_sub(1),
        ..LinkLine::default()
    }
}

/// Sends a command to a running engine and prints the result.
fn act(one: &One, asked: Asked) -> Result<ExitCode, Failure> {
    match find_session(&one.at, &one.session)? {
        (Found::Running(mut client), name) => say(&ask(&mut client, one, &name, asked)?),
        (Found::Stopped(store), _) => Err(stopped(&store)),
        (Found::Absent(why), _) => Err(Failure::Text(why)),
    }
}

fn stopped(store: &Path) -> Failure {
    let store = store.display();
    Failure::Text(format!(
        "no engine is running on {store}: only list, status and set-numbers work without one"
    ))
}

fn ask(client: &mut Client, one: &One, name: &str, asked: Asked) -> Result<Answer, Failure> {
    let asked = Asked {
        session: Some(name.to_owned()),
        why: Some(one.why.clone()).filter(|why| !why.is_empty()),
        ..asked
    };
    client.ask(&asked).map_err(|error| refused(&error))
}

/// Sends a command to the application of a running engine. The answer may have several lines.
fn order(at: &EngineFlags, text: &str, why: &str) -> Result<ExitCode, Failure> {
    let mut client = match find(at, Target::find(&at.engine, &at.reading)?)? {
        Found::Running(client) => client,
        Found::Stopped(store) => return Err(stopped(&store)),
        Found::Absent(why) => return Err(Failure::Text(why)),
    };
    let asked = Asked {
        text: Some(text.to_owned()),
        why: Some(why.to_owned()).filter(|why| !why.is_empty()),
        ..of(ControlQuestion::Command)
    };
    let answer = client.ask(&asked).map_err(|error| refused(&error))?;
    let mut out = io::stdout().lock();
    for line in answer.text.as_deref().unwrap_or_default().lines() {
        writeln!(out, "{}", Escaped(line.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn say(answer: &Answer) -> Result<ExitCode, Failure> {
    let text = answer.text.as_deref().unwrap_or_default();
    writeln!(io::stdout(), "{}", Escaped(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn set_numbers(
    one: &One,
    (next_in, next_out): (Option<u64>, Option<u64>),
    force: bool,
) -> Result<ExitCode, Failure> {
    if next_in.or(next_out).is_none() {
        let why = "set the sequence numbers with --in N, --out N or both";
        return Err(Failure::Text(why.to_owned()));
    }
    let (store, name) = match find_session(&one.at, &one.session)? {
        (Found::Running(mut client), name) => {
            let asked = Asked {
                next_in,
                next_out,
                force: force.then_some(true),
                ..of(ControlQuestion::SetNumbers)
            };
            return say(&ask(&mut client, one, &name, asked)?);
        }
        (Found::Stopped(store), name) => (store, name),
        (Found::Absent(why), _) => return Err(Failure::Text(why)),
    };
    there(&stored(&store)?, &name)?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = Timestamp(since_1970.map_or(0, |since| since.as_nanos() as i64));
    let by = Operator::new(this_user(), one.why.clone());
    let set = set_stored_numbers(&store, &name, (next_in, next_out), &by, now);
    let (said, cut) = set.map_err(|error| Failure::Text(error.to_string()))?;
    if let Some(cut) = cut {
        tell("warning", &cut.to_string());
    }
    writeln!(
        io::stdout(),
        "not running; {}: {}",
        Escaped(name.as_bytes()),
        Escaped(said.as_bytes())
    )?;
    Ok(ExitCode::SUCCESS)
}
