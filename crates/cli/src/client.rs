//! `fixwire client`: sends orders, interactively or from a script, on the session of a settings file.

mod commands;
mod reader;
mod show;

use std::io::{self, IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{TryRecvError, channel};
use std::time::Duration;

use clap::Args;
use fixwire::settings::{SessionSettings, Settings, Source};
use fixwire::{Connection, Durability, Engine, EngineConfig, Event, descriptors};
use fixwire_client::{ClientSetup, HELP, OrderClient};
use fixwire_protocol::{Nanos, SessionId};

use crate::failure::{Failure, show, tell};
use crate::reading::Reading;
use crate::run::{control, guard, guard_journal};
use crate::signals::{Caught, Passwords};
use crate::teller::{start_line, tell_end, tell_some_events};

use commands::Commands;
use reader::Reader;

/// Arguments of `fixwire client`.
#[derive(Args, Debug)]
#[command(after_help = format!("Commands:\n{HELP}\n
Examples:
  fixwire client client.cfg
  fixwire client client.cfg -c 'new buy 100 VOD @ 12.50; wait all; stats'
  fixwire client client.cfg --script orders.txt --json | jq .

In -c a ';' ends a command. A script, and -c, stops at its first error, with exit code 1; the exit code is 0 if
everything was sent and every 'wait' was satisfied. See docs/reference/client.md."))]
pub struct ClientArgs {
    /// Read the commands from this file, and exit after the last one
    #[arg(long, value_name = "FILE", conflicts_with = "commands")]
    script: Option<PathBuf>,
    /// Run these commands, and exit
    #[arg(short = 'c', value_name = "COMMANDS")]
    commands: Option<String>,
    /// Print one JSON object for each report, each order, each line of counts and each change of the session's state
    #[arg(long)]
    json: bool,
    /// Print no reports
    #[arg(short, long)]
    quiet: bool,
    /// Timeout in seconds for the logon, and for the responses in each 'wait'
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// The session, by its identity or SessionName, if the file has several
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Start a new journal in a folder whose journal was removed; sequence numbers reset to 1
    #[arg(long)]
    new_journal: bool,
    #[command(flatten)]
    reading: Reading,
    /// The settings file
    file: PathBuf,
}

/// Runs the command.
pub fn run(args: &ClientArgs) -> Result<ExitCode, Failure> {
    guard(false)?;
    if let Err(error) = descriptors::raise_limit() {
        let text = format!("cannot raise the limit of open files: {error}");
        tell("warning", &text);
    }
    let commands = match (&args.script, &args.commands) {
        (Some(file), _) => Commands::of_file(file)?,
        (None, Some(text)) => Commands::of_text(text)?,
        (None, None) if stdin().is_terminal() => Commands::terminal(),
        (None, None) => Commands::stdin(),
    };
    let signals = Caught::catch()?;
    let source = Source::read(&args.file)?;
    let settings = args.reading.of_file(&source)?;
    show(&settings.report);
    let mut config = settings.to_config()?;
    config.new_journal = args.new_journal;
    let name = args.session.as_deref();
    choose_session(&args.file, name, "the client", &settings, &mut config)?;
    guard_journal(&config)?;
    if config.durability == Durability::Memory {
        let text = "no journal (Durability=memory): after a restart the client does not know the \
            orders of this run, and uses their ClOrdIDs again";
        tell("warning", text);
    }
    let (finished, results) = channel();
    let listener = show::listener(args.json, args.quiet, finished)?;
    let setup = ClientSetup {
        session: SessionId(0),
        config: &config.sessions[0].session,
        timeout: Nanos::from(Duration::from_secs(args.timeout.into())),
    };
    let app = OrderClient::new(&setup, listener);
    let start = start_line(&args.file, "client", &settings, &config);
    let names = config.sessions.iter().map(|session| session.name.clone());
    let names = names.collect();
    let mut engine = Engine::new(config, app).map_err(|error| cannot(args, &error))?;
    let _control = control(engine.handle(), &settings, None)?;
    signals.serve(engine.handle(), Passwords::default())?;
    // The client's own commands are not printed again. Rejects are printed as answers.
    let is_told =
        |event: &Event| !matches!(event, Event::Operated { .. } | Event::RejectReceived { .. });
    tell_some_events(&mut engine, names, &start, is_told)?;
    let is_interactive = commands.is_terminal();
    let reader = Reader::new(engine.handle(), results);
    let (done, outcome) = channel();
    let read = move || reader.run(commands, &done);
    fixwire_threads::spawn("commands", read).map_err(Failure::thread)?;
    engine.run().map_err(|error| cannot(args, &error))?;
    tell_end(engine);
    match outcome.try_recv() {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::FAILURE),
        // A signal has ended the client.
        Err(TryRecvError::Empty | TryRecvError::Disconnected) if is_interactive => {
            Ok(ExitCode::SUCCESS)
        }
        Err(_) => Err(Failure::Text(
            "the client was stopped before its last command".to_owned(),
        )),
    }
}

/// Reduces the configuration to one initiator session. If the file has several, the session with this name is chosen.
/// `who` is the command's name in errors.
pub fn choose_session(
    file: &Path,
    name: Option<&str>,
    who: &str,
    settings: &Settings,
    config: &mut EngineConfig,
) -> Result<(), Failure> {
    let fail = |why: String| Failure::Text(format!("{}: {why}", file.display()));
    if !settings.gateway.is_empty() {
        return Err(fail(format!(
            "the file has gateway rules: use a separate settings file for {who}"
        )));
    }
    let called =
        |session: &SessionSettings, name: &str| session.called() == name || session.name() == name;
    if let Some(name) = name {
        let found = settings.sessions.iter().find(|it| called(it, name));
        let found = found.ok_or_else(|| {
            fail(format!(
                "no session {name}: 'fixwire check' lists the sessions of the file"
            ))
        })?;
        let found = found.name();
        config.sessions.retain(|session| session.name == found);
    }
    config.templates.clear();
    let [session] = &config.sessions[..] else {
        let count = config.sessions.len();
        let why = format!(
            "the file has {count} sessions, and {who} uses one: select it with \
                           --session"
        );
        return Err(fail(why));
    };
    if !matches!(session.connection, Connection::Initiator { .. }) {
        let why = format!(
            "session {} is an acceptor: {who} needs ConnectionType=initiator",
            session.name
        );
        return Err(fail(why));
    }
    Ok(())
}

fn cannot(args: &ClientArgs, error: &dyn std::error::Error) -> Failure {
    Failure::Text(format!("{}: {error}", args.file.display()))
}

/// Writes a text to standard output; an error means that the output is closed.
fn say(text: &str) {
    use io::Write;
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
