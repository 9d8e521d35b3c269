//! The engine: its parts, its start, its loop and its stop.

mod links;
pub(crate) mod sessions;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::SocketAddr;

use fixwire_protocol::outbox::NOTE_ROOM;
use fixwire_protocol::{
    Application, Decoder, Mono, Nanos, Now, OperatorRights, Outbox, SessionId, Tag,
};

use crate::command::Commands;
use crate::commit::Core;
use crate::config::{
    ConfigError, Durability, EngineConfig, MissingDictionary, SessionConfig, Template, Wait,
};
use crate::counters::{LinkStatus, SessionStatus};
use crate::descriptors::{self, Need, Shortage};
use crate::error::EngineError;
use crate::event::{Event, Events};
use crate::flush::FLUSH_BYTES;
use crate::frame_link::FrameLink;
use crate::handle::Handle;
use crate::host::sim::SimHost;
use crate::host::{ConnId, Host, Os, Ready};
use crate::input::Input;
use crate::journal::sim::SimDisk;
use crate::journal::{
    self, Directory, Disk, JournalError, JournalTrouble, Memory, OsDisk, Torn, Wrote,
};
use crate::line::Line;
use crate::lobby::{Lobby, Target};
use crate::lock_memory::lock_memory;
use crate::log::{Feed, FeedStart};
use crate::notes::Notes;
use crate::timers::Timers;
use crate::turn::early::EarlyRelease;
use crate::unsent::UnsentMessages;
use fixwire_protocol::Redactor;

/// Number of segments of a journal in memory.
const MEMORY_SEGMENTS: usize = 4;
/// Longest sleep. Even without work the engine wakes up now and then to check the clock of the host.
const LONGEST_SLEEP: Nanos = Nanos(3_600_000_000_000);

/// An engine: runs sessions for an application.
///
/// One thread owns an engine and everything that the engine uses. Other threads use a [`Handle`].
///
/// ```text
/// let mut engine = Engine::new(config, application)?;
/// let handle = engine.handle();          // for other threads: send, log out, stop
/// engine.run()?;                         // until somebody stops it
/// ```
pub struct Engine<A, H: Host = Os, D: Disk = OsDisk> {
    pub(crate) host: H,
    pub(crate) app: A,
    pub(crate) core: Core<D>,
    /// The receive buffer of each session.
    pub(crate) inputs: Vec<Input>,
    /// The receive buffer of each link.
    pub(crate) link_inputs: Vec<Input>,
    pub(crate) decoder: Decoder,
    /// Buffer for a message that was queued while a gap was open.
    pub(crate) held: Vec<u8>,
    pub(crate) ready: Vec<Ready>,
    pub(crate) early: EarlyRelease,
    /// The sessions whose timers are due in this turn.
    pub(crate) due: Vec<usize>,
    /// The owner of each connection of the host: a session, a link, or an entry of [`Lobby`].
    pub(crate) owners: Vec<Owner>,
    pub(crate) lobby: Lobby,
    missing_dictionaries: Vec<MissingDictionary>,
    /// The operators in the configuration.
    pub(crate) operators: Vec<OperatorRights>,
    /// Fields whose values are masked wherever a message is shown.
    pub(crate) masked: Vec<Tag>,
    /// Data that was cut off when the journal was opened, until an event reports it.
    cut: Option<Torn>,
    /// Other faults of the journal that no event has reported yet.
    troubles: Vec<JournalTrouble>,
    /// Number of sessions whose reset at the start (by [`sessions::restore`]) is already in the journal. These
    /// sessions are the first in the list of sessions.
    pub(crate) restarts_recorded: usize,
    pub(crate) commands: Commands,
    /// Number of messages that could not be sent and that events have reported.
    pub(crate) unsent: u64,
    /// Number of panics of the application that events have reported.
    pub(crate) told: u64,
    /// The next time at which the application must be called.
    pub(crate) app_due: Mono,
    pub(crate) max_message: usize,
    pub(crate) stop_timeout: Nanos,
    pub(crate) stopping: Stopping,
    /// Whether the journal survives the process.
    pub(crate) keeps: bool,
    pub(crate) templates: Vec<Template>,
    /// Number of sessions added since the start, and the maximum.
    pub(crate) added: usize,
    pub(crate) most_added: usize,
    /// Set when the configuration may need more file descriptors than are available.
    shortage: Option<Shortage>,
    /// Sizes of the buffers of a session that is added.
    pub(crate) read_buffer: usize,
    pub(crate) rest_room: usize,
    /// Logs in addition to the journal. They end last, when everything committed has been logged.
    pub(crate) feeds: Vec<Feed>,
    wait: Wait,
    core_number: Option<usize>,
}

/// The owner of a connection of the host.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Owner {
    #[default]
    Nobody,
    /// A connection that has not logged on yet. The value is the index of the connection in [`Lobby`].
    Guest(usize),
    /// An attempt to connect, for this session.
    Dialling(usize),
    Session(usize),
    /// An attempt to connect, for this link.
    LinkDialling(usize),
    /// This link.
    Link(usize),
}

/// Progress of a stop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stopping {
    No,
    /// Logouts were sent. The engine waits for the answers until this time.
    Until(Mono),
    Done,
}

impl<A: Application> Engine<A> {
    /// Creates an engine on the operating system: it recovers its sessions from the journal, and listens. It connects
    /// and sends nothing before [`Engine::run`] or [`Engine::turn`].
    ///
    /// ```no_run
    /// use fixwire_engine::protocol::Application;
    /// use fixwire_engine::protocol::session::{BeginString, Config, Role};
    /// use fixwire_engine::{Connection, Engine, EngineConfig, SessionConfig};
    ///
    /// fn serve(app: impl Application) -> Result<(), Box<dyn std::error::Error>> {
    ///     let session = Config::new(BeginString::Fix44, Role::Acceptor, b"VENUE", b"DESK");
    ///     let listen = "127.0.0.1:5001".parse()?;
    ///     let connection = Connection::Acceptor { listen };
    ///     let mut config = EngineConfig::default();
    ///     config.journal_dir = "store".into();
    ///     config.sessions = vec![SessionConfig::new("VENUE->DESK", session, connection)];
    ///     Ok(Engine::new(config, app)?.run()?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The configuration is invalid, the journal is unreadable or in use, or an address cannot be bound.
    pub fn new(config: EngineConfig, app: A) -> Result<Self, EngineError> {
        Self::around(config, app, |os| os)
    }
}

impl<A: Application, H: Host> Engine<A, H> {
    /// Like [`Engine::new`], with a host that wraps the operating system, for example for measurements.
    ///
    /// # Errors
    ///
    /// See [`Engine::new`].
    pub fn around(
        config: EngineConfig,
        app: A,
        around: impl FnOnce(Os) -> H,
    ) -> Result<Self, EngineError> {
        if config.lock_memory {
            lock_memory()?;
        }
        let host = Os::new(config.wait).map_err(|source| EngineError::Io {
            doing: "poll",
            source,
        })?;
        let logs = config.logs.clone();
        let (folder, masked) = (config.journal_dir.clone(), config.masked_in_logs.clone());
        let shortage = Need::of(&config).shortage(descriptors::limit());
        let configured: Vec<String> = config.sessions.iter().map(|s| s.name.clone()).collect();
        let mut engine = Self::with_host(config, app, around(host), os_disk)?;
        if let Some(shortage) = shortage {
            // Reserve a descriptor for each configured session, however many unknown peers connect.
            let fit = usize::try_from(shortage.dynamic).unwrap_or(usize::MAX);
            engine.most_added = engine.most_added.min(fit);
            engine.shortage = Some(shortage);
        }
        let journal = &engine.core.journal;
        let start = FeedStart {
            journal: &folder,
            end: journal.positions().1,
            sessions: journal.sessions().map(|known| known.1.into()).collect(),
            configured,
            masked: &masked,
            wake_up: engine.host.wake_up(),
        };
        let feeds = logs.iter().map(|log| Feed::start(&**log, start.clone()));
        for feed in feeds.collect::<Vec<_>>() {
            let feed = feed.map_err(|error| {
                EngineError::after(engine.cut.as_ref(), EngineError::Log(error))
            })?;
            engine.core.events.log(feed.sink());
            engine.feeds.push(feed);
        }
        Ok(engine)
    }
}

impl<A: Application> Engine<A, SimHost, SimDisk> {
    /// An engine in a simulated world, with the disk of its host.
    ///
    /// # Errors
    ///
    /// See [`Engine::new`].
    pub fn simulated(config: EngineConfig, app: A, host: SimHost) -> Result<Self, EngineError> {
        let disk = host.disk();
        Self::with_host(config, app, host, |_| Ok(disk))
    }
}

/// The sessions of a configuration, and those in its templates.
fn configured(config: &EngineConfig) -> impl Iterator<Item = &SessionConfig> {
    let templates = config.templates.iter().map(|template| &template.session);
    config.sessions.iter().chain(templates)
}

/// A decoder with the groups of all sessions and templates.
fn decoder(config: &EngineConfig) -> Decoder {
    let mut decoder = Decoder::with_capacity(config.max_fields);
    let dictionaries = configured(config).filter_map(|it| it.session.dictionary.as_ref());
    dictionaries.for_each(|dictionary| decoder.learn(dictionary));
    decoder
}

/// Opens the listeners of all sessions and templates, in a new lobby.
fn open_lobby(config: &EngineConfig, host: &mut impl Host) -> Result<Lobby, EngineError> {
    let mut lobby = Lobby::new(&config.limits, host.wake_up());
    for (index, session) in config.sessions.iter().enumerate() {
        sessions::open(&mut lobby, host, Target::Session(index), session)?;
    }
    for (index, template) in config.templates.iter().enumerate() {
        sessions::open(&mut lobby, host, Target::Template(index), &template.session)?;
    }
    Ok(lobby)
}

fn sizes(config: &EngineConfig) -> journal::JournalConfig {
    journal::JournalConfig {
        segment_bytes: segment_bytes(config),
        synced_before_sent: config.durability == Durability::Disk,
        retention: config.retention,
        ..journal::JournalConfig::default()
    }
}

/// The disk for a configuration: its journal folder, or memory.
fn os_disk(config: &EngineConfig) -> Result<OsDisk, JournalError> {
    if config.durability == Durability::Memory {
        return Ok(OsDisk::Memory(Memory::new(MEMORY_SEGMENTS)));
    }
    if !config.new_journal {
        journal::refuse_other_store(&config.journal_dir)?;
    }
    let directory = Directory::open_with(&config.journal_dir, config.new_journal)?;
    directory.keep_reserve(journal::JournalReserve {
        segments: config.reserve_segments,
        segment_bytes: segment_bytes(config),
        warn_below: config.low_space,
    })?;
    Ok(OsDisk::Directory(directory))
}

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Creates an engine on any host. `disk` opens the disk on which the journal is.
    ///
    /// # Errors
    ///
    /// See [`Engine::new`].
    pub fn with_host(
        config: EngineConfig,
        mut app: A,
        mut host: H,
        disk: impl FnOnce(&EngineConfig) -> Result<D, JournalError>,
    ) -> Result<Self, EngineError> {
        config.check().map_err(EngineError::Config)?;
        for session in configured(&config) {
            check_panics(&app, session).map_err(EngineError::Config)?;
        }
        let (now, outbox_bytes) = (host.now(), config.outbox_bytes());
        // First open the listeners, because another process may use a port. Only then open the journal, which writes
        // files.
        let mut lobby = open_lobby(&config, &mut host)?;
        let doors = links::open(&config, &mut host)?;
        let mut disk = disk(&config)?;
        disk.wake_with(host.wake_up());
        let (mut journal, cut, folded) = Notes::open(disk, sizes(&config), &mut app)?;
        let after_cut = |error: JournalError| EngineError::after(cut.as_ref(), error.into());
        let (notes, troubles) =
            Notes::recover(&mut journal, &mut app, folded).map_err(after_cut)?;
        let rest_room = outbox_bytes + config.max_message;
        let (trail, decoder) = (config.limits.log_only_bytes_per_hour, decoder(&config));
        let configured = config.sessions.len();
        let mut sessions = config.sessions;
        if config.restores_created {
            let created = sessions::created(&journal, &config.templates, &sessions);
            sessions.extend(created);
        }
        let lines = sessions::restore_all(&mut journal, now, sessions, rest_room, trail)
            .map_err(after_cut)?;
        for line in &lines[configured..] {
            let (session, name) = (&line.session, &line.config.name);
            app.on_session_added(now, session.id(), name, session.config());
        }
        let links =
            links::restore(&mut journal, now, config.links, doors, rest_room).map_err(after_cut)?;
        sessions::recall_peers(&journal, &lines, &mut lobby);
        let header_rooms = lines.iter().map(|line| line.session.header_room());
        // A note begins with its time, even though it has no header.
        let header_room = header_rooms.max().unwrap_or_default().max(NOTE_ROOM);
        let outbox = Outbox::new(outbox_bytes, config.limits.outbox_messages, header_room)
            .with_gather()
            .with_max_message(config.max_message);
        let mut commands = Commands::new(host.wake_up(), config.max_message, outbox.max_body());
        for line in &lines {
            commands.know(&line.config.name, line.session.id());
        }
        Ok(Self {
            commands,
            read_buffer: config.read_buffer,
            rest_room,
            most_added: config.limits.dynamic_sessions,
            added: lines.len() - configured,
            shortage: None,
            templates: config.templates,
            missing_dictionaries: config.missing_dictionaries,
            operators: config.operators,
            masked: config.masked_in_logs.clone(),
            host,
            app,
            inputs: Input::several(lines.len(), config.read_buffer),
            link_inputs: Input::several(links.len(), config.read_buffer),
            core: Core {
                outbox,
                full_bytes: FLUSH_BYTES.min(outbox_bytes / 2),
                full_messages: config.limits.outbox_messages / 2,
                sync_first: config.durability == Durability::Disk,
                notes,
                astray: 0,
                unsent: UnsentMessages::new(config.masked_in_logs),
                panics: 0,
                redactor: Redactor::new(config.max_message, config.max_fields),
                busy: Vec::with_capacity(lines.len()),
                flushes: 0,
                reading: SessionId(0),
                failed: Vec::with_capacity(lines.len()),
                timers: Timers::new(lines.len()),
                lines,
                links,
                journal,
                clock: now.mono,
                events: Events::new(config.limits.events_per_second),
                slow: Vec::new(),
                stall_time: Nanos::from(config.limits.stall_time),
                lag_bytes: config.limits.lag_bytes,
                replay_per_turn: config.limits.replay_per_turn,
                keeps_trail: config.durability != Durability::Memory,
                trail_bytes: trail,
                places: Vec::new(),
                resent: Wrote::default(),
            },
            decoder,
            held: Vec::with_capacity(config.max_message),
            ready: Vec::with_capacity(1024),
            early: EarlyRelease::new(config.durability == Durability::Disk),
            due: Vec::new(),
            owners: Vec::new(),
            lobby,
            cut,
            troubles,
            restarts_recorded: 0,
            unsent: 0,
            told: 0,
            // Call the application at once: it may have started something before the last process was killed.
            app_due: Mono(0),
            max_message: config.max_message,
            stop_timeout: Nanos::from(config.stop_timeout),
            stopping: Stopping::No,
            keeps: config.durability != Durability::Memory,
            feeds: Vec::new(),
            wait: config.wait,
            core_number: config.core,
        })
    }

    /// A handle to this engine for other threads.
    pub fn handle(&self) -> Handle {
        self.commands.handle()
    }

    /// Delivers events to `sink`, on the engine's thread. The events of the start are delivered at once.
    pub fn on_event(&mut self, sink: impl FnMut(Now, &Event) + Send + 'static) {
        self.core.events.listen(Box::new(sink));
        let now = self.host.now();
        if let Some(cut) = self.cut.take() {
            self.core.raise(now, &Event::JournalCut { cut });
        }
        for trouble in std::mem::take(&mut self.troubles) {
            self.core.raise(now, &Event::JournalTrouble { trouble });
        }
        for MissingDictionary { file, version } in &self.missing_dictionaries {
            let (file, version) = (file.clone(), version.name());
            let event = Event::DictionaryMissing { file, version };
            self.core.raise(now, &event);
        }
        for index in self.core.lines.len() - self.added..self.core.lines.len() {
            let line = &self.core.lines[index];
            let (session, name) = (line.session.id(), line.config.name.clone());
            self.core.raise(now, &Event::SessionAdded { session, name });
        }
        for at in self.lobby.addresses() {
            self.core.raise(now, &Event::Listening { at });
        }
        let doors = self.core.links.iter().filter_map(|it| it.door.as_ref());
        for at in doors.map(|door| door.at).collect::<Vec<_>>() {
            self.core.raise(now, &Event::Listening { at });
        }
        if let Some(shortage) = self.shortage {
            self.core.raise(now, &Event::FewDescriptors(shortage));
        }
        for at in self.lobby.unprotected() {
            self.core.raise(now, &Event::Unprotected { at });
        }
    }

    /// Listening addresses of sessions, then of links. For port 0, the port that the system has chosen.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let doors = self.core.links.iter().filter_map(|it| it.door.as_ref());
        self.lobby.addresses().chain(doors.map(|door| door.at))
    }

    /// The application. After this call, its [`on_time`](Application::on_time) is called in the next turn.
    pub fn application_mut(&mut self) -> &mut A {
        self.app_due = Mono(0);
        &mut self.app
    }

    /// The host on which the engine runs.
    pub fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }

    /// The sessions, in configuration order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionStatus<'_>> {
        self.core.lines.iter().map(Line::status)
    }

    /// The links, in configuration order.
    pub fn links(&self) -> impl Iterator<Item = LinkStatus<'_>> {
        self.core.links.iter().map(FrameLink::status)
    }

    /// The listening address of a link; for port 0, with the port that the system has chosen. `None` for an
    /// initiator.
    pub fn link_address(&self, link: SessionId) -> Option<SocketAddr> {
        let link = self.core.links.get(link.link()?)?;
        link.door.as_ref().map(|door| door.at)
    }

    /// A number that changes whenever the state of a session or of the journal changes. A failed logon attempt must
    /// not change this number.
    pub fn state_hash(&self) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        self.core.journal.end().hash(&mut hasher);
        for line in &self.core.lines {
            line.session.state_hash().hash(&mut hasher);
            let connections = line.counters.connections;
            let link = (line.conn(), line.was_logged_on());
            (link, line.presence, connections).hash(&mut hasher);
        }
        for link in &self.core.links {
            let status = link.status();
            (status.connections, status.connected, status.frames_in).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Runs until a [`Handle`] stops the engine. Then it logs the sessions out, syncs the journal, and returns.
    ///
    /// # Errors
    ///
    /// The journal or the host failed. Every message that was sent is in the journal.
    pub fn run(&mut self) -> Result<(), EngineError> {
        let pinned = self.core_number.map(|core| {
            fixwire_threads::pin(core).map_err(|source| EngineError::NotPinned {
                core,
                why: fixwire_threads::why_not(core, &source),
                source,
            })
        });
        let _pinned = pinned.transpose()?;
        let mut worked = true;
        while self.stopping != Stopping::Done {
            let wait = match self.wait {
                Wait::Block => self.time_to_sleep(),
                Wait::Yield if !worked => {
                    std::thread::yield_now();
                    Nanos(0)
                }
                Wait::Spin | Wait::Yield => Nanos(0),
            };
            worked = self.turn_within(wait)? > 0;
        }
        Ok(())
    }

    /// One turn: handles everything that is ready, without waiting. Returns the amount of work done; 0 means none.
    ///
    /// # Errors
    ///
    /// See [`Engine::run`]. After an error the engine must not be used any more.
    pub fn turn(&mut self) -> Result<usize, EngineError> {
        self.turn_within(Nanos(0))
    }

    /// Whether the engine has stopped.
    pub fn is_done(&self) -> bool {
        self.stopping == Stopping::Done
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping != Stopping::No
    }

    /// Time until the engine has work, if neither data nor a command arrives before.
    fn time_to_sleep(&mut self) -> Nanos {
        if self.has_work() || self.commands.about_to_sleep() {
            return Nanos(0);
        }
        let due = self.core.timers.next().min(self.app_due);
        let now = self.host.now().mono;
        Nanos(due.0.saturating_sub(now.0).min(LONGEST_SLEEP.0))
    }

    pub(crate) fn set_owner(&mut self, conn: ConnId, owner: Owner) {
        let index = conn.0 as usize;
        if index >= self.owners.len() {
            self.owners.resize(index + 1, Owner::Nobody);
        }
        self.owners[index] = owner;
    }
}

impl<A, H: Host, D: Disk> fmt::Debug for Engine<A, H, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("sessions", &self.inputs.len())
            .finish_non_exhaustive()
    }
}

/// Segment size in bytes. A journal in memory uses the smallest size that holds any record, so that its ring stays in
/// the processor's caches.
fn segment_bytes(config: &EngineConfig) -> usize {
    const SMALLEST: usize = 4 << 20;
    if config.durability != Durability::Memory {
        return config.segment_bytes;
    }
    let record = config.max_message + config.outbox_bytes();
    let room = (record + (1 << 20)).next_multiple_of(1 << 20);
    room.max(SMALLEST).min(config.segment_bytes)
}

/// Checks that the application survives panics, if the session is configured to answer them.
pub(crate) fn check_panics(
    app: &impl Application,
    session: &SessionConfig,
) -> Result<(), ConfigError> {
    if session.answer_panics && !app.survives_panics() {
        return Err(ConfigError::Panics(session.name.clone()));
    }
    Ok(())
}
