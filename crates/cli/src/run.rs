//! `fixwire run`: runs the sessions of a settings file with a built-in application.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};
use fixwire::control::{Control, Place, ReloadHandler, SessionNames};
use fixwire::gateway::{GatewayService, Reloader, Remote, counts};
use fixwire::host::Os;
use fixwire::journal::end_on_truncation;
use fixwire::settings::{Id, SessionSettings, Settings, Source};
use fixwire::{Durability, Engine, EngineConfig, Handle, Host, Operator, descriptors};
use fixwire_protocol::Application;
use fixwire_stamps::StampingHost;
use fixwire_stamps::clock::Clock;
use fixwire_stamps::file::StampsFile;
use fixwire_stamps::scenario::Echo;
use rustix::fs::Mode;
use rustix::process::{
    DumpableBehavior, Resource, geteuid, getrlimit, set_dumpable_behavior, umask,
};

use crate::app::conformance::Conformance;
use crate::app::echo::OrderEcho;
use crate::app::log::{MessageLog, Named};
use crate::app::{AppName, BuiltIn};
use crate::check::guess;
use crate::failure::{Failure, show, tell};
use crate::gateway::events::{printed, shown};
use crate::gateway::reload::show as show_reload;
use crate::oms::archive::JournalArchive;
#[cfg(feature = "postgresql")]
use crate::oms::database::{DatabasePlan, DatabaseThread};
use crate::oms::day::{DayFilesPlan, DayFilesThread};
use crate::oms::reload::SettingsReloader;
use crate::oms::{self, CreatedNames};
use crate::place::{named, place_of, store_of};
use crate::print::Printer;
use crate::reading::Reading;
use crate::signals::{Caught, Obey, Passwords};
use crate::teller::{start_line, tell_end, tell_events};

/// Arguments of `fixwire run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire run broker.cfg                        print received messages
  fixwire run --app echo broker.cfg             accept each order with an execution report
  fixwire run --app bench broker.cfg            respond to each order as in the published benchmark
  fixwire run --app echo broker.cfg 2>events    keep logons, logouts and disconnects in a file
  fixwire run gateway.toml                      run a gateway with the rules of a file (docs/reference/gateway-cli.md)
  fixwire run oms.toml                          run an OMS (docs/reference/oms.md)

If neither Dialect nor --dialect says which engine a file was written for, a note at startup says whose defaults
apply.

--app echo acknowledges each order (D) as New with the fields of the order, and fills none. It cancels (F) and
replaces (G) orders that it has accepted since its start, and rejects other requests (9); OrderIDs and ExecIDs are
never reused. An invalid order is rejected, with the reason in Text(58).

Signals:
  SIGTERM, SIGINT (Ctrl-C)  log the sessions out, sync the journal, exit; a second one exits at once
  SIGHUP                    reopen the files of FileLogPath, read password files again, and reload the
                            rules of a gateway; after the terminal was closed, log out and exit as on
                            SIGTERM
  SIGUSR1                   print each session with its state and next sequence numbers, and the
                            counts of a gateway

`fixwire status` and `fixwire session` query and control a running engine.
`fixwire check broker.cfg` shows beforehand what would run. `fixwire gateway reload gateway.toml` reloads rules
and tables of a gateway too; if they have errors, the old ones stay in effect.")]
pub struct RunArgs {
    /// The application that handles the sessions [default: log]; a file with gateway rules runs the
    /// gateway
    #[arg(long, value_enum, value_name = "NAME")]
    app: Option<AppName>,
    #[command(flatten)]
    how: RunOptions,
}

/// Number of request stamps that are kept before the writing thread gets them.
const STAMPS: usize = 4096;

/// How an engine runs, whatever its application.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// Let the system write a core file when the program crashes; it may contain passwords
    #[arg(long)]
    core_dumps: bool,
    /// Start a new journal in a folder whose journal was removed; sequence numbers reset to 1
    #[arg(long)]
    new_journal: bool,
    #[command(flatten)]
    reading: Reading,
    /// The settings file
    pub file: PathBuf,
}

/// The start values of an engine: its file, its settings, and pending signals.
pub struct Begun {
    /// The file.
    pub source: Source,
    /// Settings of the engine.
    pub settings: Settings,
    signals: Caught,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let how = &args.how;
    let begun = how.begin()?;
    let settings = &begun.settings;
    if !settings.exchange.is_empty() {
        let file = how.file.display();
        let why = "the file has a simulated exchange: run it with fixwire sim";
        return Err(Failure::Text(format!("{file}: {why}")));
    }
    if !settings.gateway.is_empty() && !settings.oms.is_empty() {
        let file = how.file.display();
        let why = format!(
            "the file has tables of a gateway ({}) and of an OMS ({}): use a separate file for \
             each",
            settings.gateway.join(", "),
            settings.oms.join(", ")
        );
        return Err(Failure::Text(format!("{file}: {why}")));
    }
    if !settings.gateway.is_empty() {
        return run_gateway(args, begun);
    }
    if !settings.oms.is_empty() {
        return run_oms(args, begun);
    }
    let mut config = how.config(settings)?;
    let app = args.app.unwrap_or_default();
    if app == AppName::Conformance {
        expect_as_the_scripts(settings, &mut config);
    }
    let named = app.to_possible_value();
    let named = named.as_ref().map_or("", |app| app.get_name());
    let app = application(app, &config)?;
    how.serve(begun, named, config, app)
}

impl RunOptions {
    /// Protects the process, reads its settings file and prints warnings about the file.
    ///
    /// # Errors
    ///
    /// The file is invalid, or a system call fails.
    pub fn begin(&self) -> Result<Begun, Failure> {
        self.begin_with(None)
    }

    /// Does the same with these settings instead of a file.
    ///
    /// # Errors
    ///
    /// See [`begin`](Self::begin).
    pub fn begin_with(&self, built_in: Option<Source>) -> Result<Begun, Failure> {
        guard(self.core_dumps)?;
        warn_of_limits();
        let signals = Caught::catch()?;
        let source = match built_in {
            Some(source) => source,
            None => Source::read(&self.file)?,
        };
        let settings = self.reading.of_file(&source)?;
        show(&settings.report);
        if let Some(note) = guess(&settings) {
            tell("note", &note);
        }
        if geteuid().is_root() {
            eprintln!(
                "warning: running as root; use a dedicated user (docs/operating/security.md)"
            );
        }
        Ok(Begun {
            source,
            settings,
            signals,
        })
    }

    /// The configuration of the engine. Also protects its journal.
    ///
    /// # Errors
    ///
    /// The settings conflict, or a system call fails.
    pub fn config(&self, settings: &Settings) -> Result<EngineConfig, Failure> {
        let mut config = settings.to_config()?;
        config.new_journal = self.new_journal;
        guard_journal(&config)?;
        Ok(config)
    }

    /// Runs an engine with this application until it ends.
    ///
    /// # Errors
    ///
    /// The reason why the engine does not start, or why it has ended.
    pub fn serve<A: Application>(
        &self,
        begun: Begun,
        named: &str,
        config: EngineConfig,
        app: A,
    ) -> Result<ExitCode, Failure> {
        self.serve_around(begun, named, config, app, |os| os, |_| Ok(None))
    }

    /// Runs an engine on a host that wraps the operating system. `started` receives a handle of the engine, and a way
    /// to reload it.
    ///
    /// # Errors
    ///
    /// See [`serve`](Self::serve).
    pub fn serve_around<A: Application, H: Host>(
        &self,
        begun: Begun,
        named: &str,
        config: EngineConfig,
        app: A,
        around: impl FnOnce(Os) -> H,
        started: impl FnOnce(Handle) -> Result<Option<ReloadHandler>, Failure>,
    ) -> Result<ExitCode, Failure> {
        // The names of the sessions in the settings, for applications that use them.
        let names = if begun.settings.oms.is_empty() {
            config.sessions.iter().map(|it| it.name.clone()).collect()
        } else {
            let sessions = begun.settings.sessions.iter();
            let sessions = sessions.filter(|session| !session.is_template());
            sessions.map(SessionSettings::called).collect()
        };
        // Only an OMS has other names for sessions that Logons create.
        let created = match begun.settings.oms.is_empty() {
            true => CreatedNames::default(),
            false => CreatedNames::of(&begun.settings),
        };
        let start = start_line(&self.file, named, &begun.settings, &config);
        let passwords = config.password_files();
        let engine = Engine::around(config, app, around);
        let mut engine = engine.map_err(|error| cannot(self, &error))?;
        let reload = started(engine.handle())?;
        let _control = control(engine.handle(), &begun.settings, reload)?;
        begun.signals.serve(engine.handle(), Passwords(passwords))?;
        tell_events(&mut engine, names, created, &start)?;
        engine.run().map_err(|error| cannot(self, &error))?;
        tell_end(engine);
        Ok(ExitCode::SUCCESS)
    }
}

/// Raises the limit of open files, and warns when the memory is limited.
fn warn_of_limits() {
    if let Err(error) = descriptors::raise_limit() {
        let text = format!("cannot raise the limit of open files: {error}");
        tell("warning", &text);
    }
    if let Some(bytes) = getrlimit(Resource::As).current {
        let text = format!(
            "the address space is limited to {} MiB (ulimit -v, LimitAS): fixwire stops when this \
            address space is used up, and the journal needs room for eight segments",
            bytes >> 20
        );
        tell("warning", &text);
    }
}

fn run_gateway(args: &RunArgs, begun: Begun) -> Result<ExitCode, Failure> {
    let how = &args.how;
    let Begun {
        source,
        settings,
        signals,
    } = begun;
    if args.app.is_some() {
        let file = how.file.display();
        let why = "the file has rules and runs as a gateway: remove --app";
        return Err(Failure::Text(format!("{file}: {why}")));
    }
    let config = how.config(&settings)?;
    let start = start_line(&how.file, "gateway", &settings, &config);
    let passwords = config.password_files();
    let app = GatewayService::load(&source, &settings, printed()?)?;
    let (remote, names) = (app.remote(), app.loaded().names.clone());
    let mut engine = Engine::new(config, app).map_err(|error| cannot(how, &error))?;
    remote.attach(engine.handle());
    let reloader = Reloader::new(&settings, &remote).with_passwords(passwords);
    let reloader = Arc::new(reloader);
    let printer = Arc::new(Mutex::new(Printer::new(io::stderr())?));
    let shared = Arc::clone(&printer);
    let reload = Arc::clone(&reloader).for_control(move |done| show_reload(done, &shared));
    let _control = control(engine.handle(), &settings, Some(reload))?;
    let ruled = Ruled {
        remote,
        reloader,
        printer,
    };
    signals.serve(engine.handle(), ruled)?;
    tell_events(&mut engine, names, CreatedNames::default(), &start)?;
    let ended = engine.run().map_err(|error| cannot(how, &error));
    let counts = counts(&engine.application_mut().loaded().gateway);
    show_counts(&counts.join("\n"));
    ended?;
    tell_end(engine);
    Ok(ExitCode::SUCCESS)
}

fn run_oms(args: &RunArgs, begun: Begun) -> Result<ExitCode, Failure> {
    let how = &args.how;
    if args.app.is_some() {
        let file = how.file.display();
        let why = "the file has tables of an OMS and runs as an OMS: remove --app";
        return Err(Failure::Text(format!("{file}: {why}")));
    }
    let mut config = how.config(&begun.settings)?;
    // Created sessions have orders, and reports that wait for them.
    config.restores_created = true;
    let mut app = oms::load(&begun.source, &begun.settings, oms::listener()?)?;
    if how.new_journal {
        app.set_replaces_journal();
    }
    oms::day::check(
        &begun.source,
        &begun.settings,
        app.rules(),
        config.durability,
    )?;
    oms::database::check(
        &begun.source,
        &begun.settings,
        app.rules(),
        config.durability,
    )?;
    if app.rules().recovers_reports() && config.durability != Durability::Memory {
        let archive = JournalArchive::start(&config.journal_dir).map_err(Failure::thread)?;
        app.set_archive(Box::new(archive));
    }
    let reloader = SettingsReloader::new(&begun.source, &how.reading, &mut app)?;
    // This value is dropped after the engine. Its thread then ends with the file that it is writing.
    let mut day_files = None;
    let plan = DayFilesPlan::of(&begun.source.path, app.rules(), &config.journal_dir);
    #[cfg(feature = "postgresql")]
    let mut database = None;
    #[cfg(feature = "postgresql")]
    let rows = DatabasePlan::of(&begun.source.path, app.rules(), &config.journal_dir)?;
    let started = |engine: Handle| {
        let reload = reloader.attach(engine).map_err(Failure::thread)?;
        #[cfg(feature = "postgresql")]
        if let Some(plan) = rows {
            database = Some(DatabaseThread::start(plan, oms::listener()?)?);
        }
        if let Some(plan) = plan {
            let thread = DayFilesThread::start(plan, oms::listener()?);
            day_files = Some(thread.map_err(Failure::thread)?);
        }
        Ok(Some(reload))
    };
    let Some(file) = &app.rules().stamps else {
        return how.serve_around(begun, "oms", config, app, |os| os, started);
    };
    let send_time = app.rules().own_tags.send_time;
    let file = oms::stamps::place(&begun.source.path, file);
    let shown = file.display().to_string();
    let stamps = StampsFile::start(&file, move |error| {
        tell(
            "warning",
            &format!("{shown}: stamps are no longer written: {error}"),
        );
    });
    // This value is dropped after the engine, so that it writes the engine's last stamps.
    let stamps = stamps.map_err(|error| Failure::Text(format!("{}: {error}", file.display())))?;
    if stamps.cut() > 0 {
        let text = format!(
            "{}: removed {} bytes of an unfinished last line",
            file.display(),
            stamps.cut()
        );
        tell("note", &text);
    }
    let around = |os| {
        let host = StampingHost::new(os, Clock::start(), stamps.stamps(), true, STAMPS);
        host.with_send_time(send_time)
    };
    how.serve_around(begun, "oms", config, app, around, started)
}

/// The actions of a gateway on signals.
struct Ruled {
    remote: Remote,
    reloader: Arc<Reloader>,
    printer: Arc<Mutex<Printer>>,
}

impl Obey for Ruled {
    fn reload(&self) {
        let done = self.reloader.reload(Operator::new("SIGHUP", ""));
        show_reload(&done, &self.printer);
    }

    fn count(&self) {
        if let Ok(counts) = self.remote.counts() {
            let mut printer = self.printer.lock().unwrap_or_else(PoisonError::into_inner);
            printer.line(shown(&counts));
        }
    }
}

fn show_counts(counts: &str) {
    // Fails only when the output is closed.
    let _ = writeln!(io::stderr(), "{}", shown(counts));
}

/// The names that a settings file gives to sessions: to those of its sections, and to those that Logons create.
struct CalledSessions {
    /// By identity.
    known: HashMap<String, String>,
    created: CreatedNames,
}

impl SessionNames for CalledSessions {
    fn called(&self, identity: &str) -> Option<String> {
        let known = self.known.get(identity).cloned();
        known.or_else(|| self.created.called(identity))
    }

    fn identity(&self, called: &str) -> Option<String> {
        let known = SessionNames::identity(&self.known, called);
        known.or_else(|| self.created.identity(called))
    }
}

/// Opens the control socket for operators. A socket that the settings name is required. Without the default socket in
/// the store, the engine also runs.
pub fn control(
    engine: Handle,
    settings: &Settings,
    reload: Option<ReloadHandler>,
) -> Result<Option<Control>, Failure> {
    let Some(place) = place_of(settings) else {
        return Ok(None);
    };
    let names = settings.sessions.iter();
    let names = names.map(|session| (session.name(), session.called()));
    let names = CalledSessions {
        known: names.collect(),
        created: match settings.oms.is_empty() {
            true => CreatedNames::default(),
            false => CreatedNames::of(settings),
        },
    };
    let version = env!("CARGO_PKG_VERSION");
    match Control::start_named(engine, &place, version, reload, Box::new(names)) {
        Ok(control) => {
            if named(settings) {
                point_to(&place.path, settings);
            }
            Ok(Some(control))
        }
        Err(error) => {
            let socket = place.path.display();
            let text = format!(
                "control socket {socket} is not available (fixwire session, fixwire \
                         status): {error}"
            );
            match named(settings) {
                true => Err(Failure::Text(text)),
                false => {
                    tell("warning", &text);
                    Ok(None)
                }
            }
        }
    }
}

/// Creates a link in the store to the control socket of the settings, so that commands find the socket from the store.
fn point_to(socket: &Path, settings: &Settings) {
    let Some(store) = store_of(settings) else {
        return;
    };
    let link = Place::in_store(&store).path;
    if link != socket {
        // An earlier start may have left a link. Without a link, commands find the engine by its settings.
        let _ = fs::remove_file(&link);
        let _ = symlink(socket, &link);
    }
}

fn cannot(how: &RunOptions, error: &dyn std::error::Error) -> Failure {
    Failure::Text(format!("{}: {error}", how.file.display()))
}

/// Sets up that this process ends with a message when another process truncates the journal.
pub fn guard_journal(config: &EngineConfig) -> Result<(), Failure> {
    if config.durability == Durability::Memory {
        return Ok(());
    }
    end_on_truncation(&config.journal_dir)
        .map_err(|error| Failure::Text(format!("cannot handle SIGBUS: {error}")))
}

/// Makes the files of this process private to its user, and its memory unreadable for others.
pub fn guard(core_dumps: bool) -> io::Result<()> {
    umask(Mode::RWXG | Mode::RWXO);
    if !core_dumps {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

/// Makes the sessions write DefaultApplVerID(1137) in a BusinessMessageReject(j), as the acceptance scripts of
/// QuickFIX (C++) expect. No dictionary allows the field in that message, so it is written only in tests with these
/// scripts.
fn expect_as_the_scripts(settings: &Settings, config: &mut EngineConfig) {
    for to in &mut config.sessions {
        let from = settings.sessions.iter().find(|from| from.name() == to.name);
        let found = from.and_then(|from| from.find(Id::ApplVerIDInBusinessReject));
        if found.is_none_or(|setting| setting.origin.span().is_none()) {
            to.session.appl_ver_id_in_business_reject = true;
        }
    }
}

fn application(name: AppName, config: &EngineConfig) -> Result<BuiltIn, Failure> {
    Ok(match name {
        AppName::Echo => BuiltIn::Echo(OrderEcho::new(config)),
        AppName::Bench => BuiltIn::Bench(Echo),
        AppName::Conformance => BuiltIn::Conformance(Conformance::default()),
        AppName::Log => {
            let named = config.sessions.iter().map(|session| Named {
                name: session.name.clone(),
                dictionary: session.session.dictionary.clone(),
            });
            BuiltIn::Log(MessageLog::new(
                named.collect(),
                Printer::new(io::stdout())?,
            ))
        }
    })
}
