//! `fixwire run`: the sessions of a settings file with a built-in application.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use fixwire::settings::{Id, Settings};
use fixwire::{Engine, EngineConfig, Event, Handle, SendError};
use fixwire_lab::scenario::Echo;
use fixwire_protocol::Now;
use fixwire_protocol::time::{Precision, Stamp};
use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, geteuid, set_dumpable_behavior, umask};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::app::conformance::Conformance;
use crate::app::log::{Log, Named};
use crate::app::{BuiltIn, Name};
use crate::check::Reading;
use crate::failure::{Failure, show};
use crate::print::Printer;
use crate::readable::Escaped;

/// What to run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire run broker.cfg                        print what arrives
  fixwire run --app echo broker.cfg             answer each order with an execution report
  fixwire run --app echo broker.cfg 2>events    keep logons, logouts and disconnects in a file

SIGTERM and SIGINT (Ctrl-C) log the sessions out, sync the journal and end the program; a second one
ends it at once. `fixwire check broker.cfg` says beforehand what would run.")]
pub struct RunArgs {
    /// What answers the sessions
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    app: Name,
    /// Let the system write a core file when the program crashes; passwords may stand in it
    #[arg(long)]
    core_dumps: bool,
    #[command(flatten)]
    reading: Reading,
    /// The settings file
    file: PathBuf,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    guard(args.core_dumps)?;
    let settings = args.reading.load(&args.file)?;
    show(&settings.report);
    if !settings.gateway.is_empty() {
        return Err(Failure::Text(format!(
            "{}: `fixwire run` does not carry out rules of a gateway yet; `fixwire gateway try` shows what they do",
            args.file.display()
        )));
    }
    let mut config = settings.to_config()?;
    if args.app == Name::Conformance {
        expect_as_the_scripts(&settings, &mut config);
    }
    let names: Vec<String> = config
        .sessions
        .iter()
        .map(|session| session.name.clone())
        .collect();
    if geteuid().is_root() {
        eprintln!("warning: this runs as root; give it a user of its own (docs/security.md)");
    }
    let app = application(args.app, &config)?;
    let cannot =
        |error: &dyn std::error::Error| Failure::Text(format!("{}: {error}", args.file.display()));
    let mut engine = Engine::new(config, app).map_err(|error| cannot(&error))?;
    stop_on_signals(engine.handle())?;
    let mut teller = Teller {
        names,
        printer: Printer::new(io::stderr())?,
        stamp: Stamp::new(),
    };
    engine.on_event(move |now, event| teller.tell(now, event));
    engine.run().map_err(|error| cannot(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// What this process writes is for its own user, and its memory for nobody.
fn guard(core_dumps: bool) -> io::Result<()> {
    umask(Mode::RWXG | Mode::RWXO);
    if !core_dumps {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

/// The acceptance scripts of QuickFIX (C++) want DefaultApplVerID(1137) in a BusinessMessageReject. No
/// dictionary has it there, so it is written only where an engine is held against those scripts.
fn expect_as_the_scripts(settings: &Settings, config: &mut EngineConfig) {
    for to in &mut config.sessions {
        let from = settings.sessions.iter().find(|from| from.name() == to.name);
        let found = from.and_then(|from| from.find(Id::ApplVerIDInBusinessReject));
        if found.is_none_or(|setting| setting.origin.span().is_none()) {
            to.session.appl_ver_id_in_business_reject = true;
        }
    }
}

fn application(name: Name, config: &EngineConfig) -> Result<BuiltIn, Failure> {
    Ok(match name {
        Name::Echo => BuiltIn::Echo(Echo),
        Name::Conformance => BuiltIn::Conformance(Conformance::default()),
        Name::Log => {
            let named = config.sessions.iter().map(|session| Named {
                name: session.name.clone(),
                dictionary: session.session.dictionary.clone(),
            });
            BuiltIn::Log(Log::new(named.collect(), Printer::new(io::stdout())?))
        }
    })
}

/// The first signal stops the engine, the second ends the process.
fn stop_on_signals(mut engine: Handle) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    let wait = move || {
        let mut stopping = false;
        for signal in signals.forever() {
            if stopping {
                // As a shell reports a process that a signal ended.
                std::process::exit(128 + signal);
            }
            stopping = true;
            while engine.stop() == Err(SendError::Full) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}

/// One line for each event: time, session, what happened.
struct Teller {
    names: Vec<String>,
    printer: Printer,
    stamp: Stamp,
}

impl Teller {
    fn tell(&mut self, now: Now, event: &Event) {
        if let Event::SessionAdded { session, name } = event
            && session.0 as usize == self.names.len()
        {
            self.names.push(name.clone());
        }
        let time = Escaped(self.stamp.format(now.wall, Precision::Millis)).to_string();
        let session = event.session().and_then(|id| self.names.get(id.0 as usize));
        let session = session.map_or("engine", String::as_str);
        let event = event.to_string();
        self.printer
            .line(format!("{time} {session} {}", Escaped(event.as_bytes())));
    }
}
