//! Adds and removes sessions while the engine runs.
//!
//! A removed session keeps its index and its sequence numbers. When a session with the same name is added again, it
//! continues with these sequence numbers. Until then, messages for the session wait in the journal. An index is never
//! given to another name, so a message never reaches the wrong session.

use std::collections::{BTreeMap, HashMap, HashSet};

use fixwire_protocol::session::{DisconnectReason, LogonIdentity, Party, RESET_DUE, Role};
use fixwire_protocol::{Application, Mono, Now, Session, SessionId};

use crate::canary::{self, PlantedFault};
use crate::config::{Access, Connection, LONGEST_ID, SessionConfig, Template};
use crate::engine::{Engine, check_panics};
use crate::error::{AddError, EngineError};
use crate::event::{ConnectionRefusal, Ending, Event};
use crate::host::Host;
use crate::input::Input;
use crate::journal::{Disk, Journal, JournalError, RecordKind};
use crate::line::{Line, Presence};
use crate::lobby::{Lobby, Target};
use crate::transport::Transport;

impl Template {
    /// The settings of the session for a Logon; `None` when the ids in the Logon do not form a valid name.
    pub(crate) fn session_for(&self, logon: &LogonIdentity<'_>) -> Option<SessionConfig> {
        let mut made = self.session.clone();
        let own = &mut made.session.own;
        take(&mut own.comp_id, logon.own_comp_id)?;
        take(&mut own.sub_id, logon.own_sub_id)?;
        take(&mut own.location_id, logon.own_location_id)?;
        let peer = &mut made.session.peer;
        take(&mut peer.comp_id, logon.peer_comp_id)?;
        take(&mut peer.sub_id, logon.peer_sub_id)?;
        take(&mut peer.location_id, logon.peer_location_id)?;
        made.name = format!(
            "{}:{}->{}",
            made.session.begin_string.as_str(),
            name(&made.session.own),
            name(&made.session.peer)
        );
        Some(made)
    }

    /// The settings of the session with this name, if the template can have created it: the name of the template with
    /// another id in the place of its only `*`.
    fn session_named(&self, name: &str) -> Option<SessionConfig> {
        let mut made = self.session.clone();
        let Party {
            comp_id,
            sub_id,
            location_id,
        } = &mut made.session.own;
        let peer = &mut made.session.peer;
        let ids = [comp_id, sub_id, location_id];
        let ids =
            ids.into_iter()
                .chain([&mut peer.comp_id, &mut peer.sub_id, &mut peer.location_id]);
        let open: Vec<&mut Vec<u8>> = ids.filter(|id| *id == b"*").collect();
        let [id] = open.try_into().ok().filter(|_| !self.qualified)?;
        let begin = self.session.session.begin_string.as_str();
        let [own, peer] = [&self.session.session.own, &self.session.session.peer].map(self::name);
        let pattern = format!("{begin}:{own}->{peer}");
        let (before, after) = pattern.split_once('*')?;
        let value = name.strip_prefix(before)?.strip_suffix(after)?;
        take(id, value.as_bytes()).filter(|()| !value.is_empty())?;
        name.clone_into(&mut made.name);
        Some(made)
    }
}

/// The sessions that the templates created in earlier runs, as the journal has them. Sessions of the configuration are
/// left out; of several templates the first counts.
pub(crate) fn created<D: Disk>(
    journal: &Journal<D>,
    templates: &[Template],
    configured: &[SessionConfig],
) -> Vec<SessionConfig> {
    let configured: HashSet<&str> = configured.iter().map(|it| it.name.as_str()).collect();
    let names = journal.sessions().map(|(_, name, _)| name);
    let names = names.filter(|name| !configured.contains(name));
    let made = |name| templates.iter().find_map(|it| it.session_named(name));
    names.filter_map(made).collect()
}

/// Replaces a `*` by the id in the Logon. `None` when a name must not contain that id. Ids must not contain
/// separators of session names, characters with a meaning for a shell, a path or a terminal, or invisible characters.
fn take(ours: &mut Vec<u8>, theirs: &[u8]) -> Option<()> {
    if ours != b"*" {
        return Some(());
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+@#&".contains(byte);
    if theirs.len() > LONGEST_ID || !theirs.iter().all(plain) {
        return None;
    }
    *ours = theirs.to_vec();
    Some(())
}

fn name(party: &Party) -> String {
    let parts = [&party.comp_id, &party.sub_id, &party.location_id];
    let there = parts.into_iter().filter(|part| !part.is_empty());
    let texts: Vec<_> = there.map(|part| String::from_utf8_lossy(part)).collect();
    texts.join("/")
}

/// Restores a session from the journal. If a reset was in progress when the process ended, this function resets the
/// sequence numbers, and the caller must then call [`Engine::record_restart`].
pub(crate) fn restore<D: Disk>(
    journal: &mut Journal<D>,
    now: Now,
    index: usize,
    config: SessionConfig,
    room: usize,
    trail: u32,
) -> Result<Line, JournalError> {
    let id = journal.register(now.wall, &config.name)?;
    let stored = journal
        .counters(id)
        .ok_or(JournalError::UnknownSession(id))?;
    let mut session = config.session.clone();
    session.rules.logon_credentials |= compares_passwords(&config);
    let mut state = Session::new(SessionId(index as u32), session);
    let next_out = match canary::is(PlantedFault::ReuseNumber) {
        true => stored.next_out.saturating_sub(1).max(1),
        false => stored.next_out,
    };
    let next_in = match stored.next_in {
        0 if canary::is(PlantedFault::ForgetReset) => 1,
        // Messages were received after the last reset, and the connection ended with the process.
        number if config.session.reset_on.disconnect && number > 1 => RESET_DUE,
        number if number > 1 && canary::is(PlantedFault::ForgetInbound) => number - 1,
        number => number,
    };
    state.restore(next_out, next_in, u64::from(stored.epoch));
    let disabled = journal.is_disabled(id);
    let mut line = Line::new(state, config, id, room, trail);
    line.unsent_from = journal.waiting_from(id);
    line.disable(disabled);
    Ok(line)
}

/// All sessions of a configuration, restored from the journal.
pub(crate) fn restore_all<D: Disk>(
    journal: &mut Journal<D>,
    now: Now,
    configs: Vec<SessionConfig>,
    room: usize,
    trail: u32,
) -> Result<Vec<Line>, JournalError> {
    let lines = configs.into_iter().enumerate();
    lines
        .map(|(index, config)| restore(journal, now, index, config, room, trail))
        .collect()
}

/// Tells the lobby from which addresses peers logged on in earlier runs: peers of configured sessions, and peers of
/// sessions that a template creates at logon.
pub(crate) fn recall_peers<D: Disk>(journal: &Journal<D>, lines: &[Line], lobby: &mut Lobby) {
    let sessions = lines.iter().enumerate();
    let sessions: HashMap<_, _> = sessions.map(|(at, line)| (line.journal, at)).collect();
    for (id, _, _) in journal.sessions() {
        match (journal.peer(id), sessions.get(&id)) {
            (Some(peer), Some(session)) => lobby.know(peer, *session),
            (Some(peer), None) => lobby.know_of(peer),
            (None, _) => {}
        }
    }
}

/// Whether a peer of this session needs a password to log on.
fn compares_passwords(config: &SessionConfig) -> bool {
    let own = &config.session;
    let demanded = !(own.username.is_empty() && own.password.is_empty());
    config.access.users.is_some() || own.role == Role::Acceptor && demanded
}

/// Opens the listener of an acceptor session; does nothing for an initiator.
pub(crate) fn open(
    lobby: &mut Lobby,
    host: &mut impl Host,
    target: Target,
    config: &SessionConfig,
) -> Result<(), EngineError> {
    match config.connection {
        Connection::Acceptor { listen } => lobby.route(host, listen, target, config),
        Connection::Initiator { .. } => Ok(()),
    }
}

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Adds a session, or restores a removed one with its sequence numbers. Other threads use a
    /// [`Handle`](crate::Handle).
    ///
    /// # Errors
    ///
    /// The outer error ends the engine, as in [`Engine::turn`]. After the inner error, nothing has changed.
    pub fn add_session(
        &mut self,
        config: SessionConfig,
    ) -> Result<Result<SessionId, AddError>, EngineError> {
        let now = self.host.now();
        let added = self.add(now, config, true)?;
        Ok(added.map(|index| SessionId(index as u32)))
    }

    /// Removes a session. It is logged out, and no peer can log on to it any more. Its sequence numbers and messages
    /// stay in the journal.
    ///
    /// # Errors
    ///
    /// See [`Engine::turn`].
    pub fn remove_session(&mut self, session: SessionId) -> Result<(), EngineError> {
        let now = self.host.now();
        self.remove(now, session)
    }

    /// Adds a session. The session gets a listener only if `routed` is true; otherwise a template passes the
    /// connection to it.
    pub(crate) fn add(
        &mut self,
        now: Now,
        config: SessionConfig,
        routed: bool,
    ) -> Result<Result<usize, AddError>, EngineError> {
        if self.is_stopping() {
            return Ok(Err(AddError::Stopping));
        }
        let checked = config.check();
        if let Err(error) = checked.and_then(|()| check_panics(&self.app, &config)) {
            return Ok(Err(AddError::Config(error)));
        }
        let mut index = self.core.lines.len();
        for (at, line) in self.core.lines.iter().enumerate() {
            let is_same = line.config.name == config.name;
            if line.is_removed() {
                if is_same {
                    index = at;
                }
            } else if let Err(error) = config.check_beside(&line.config)
                // Sessions of one template may differ only in their names.
                && (routed || is_same)
            {
                return Ok(Err(AddError::Config(error)));
            }
        }
        let is_new = index == self.core.lines.len();
        if is_new && self.added >= self.most_added {
            return Ok(Err(AddError::TooMany(self.most_added)));
        }
        if !is_new && self.core.lines[index].link.is_some() {
            // The session was removed, but the peer has not answered its Logout yet.
            self.disconnect(now, index, Ending::Session(DisconnectReason::LoggedOut))?;
        }
        self.record_restarts(now)?;
        // The buffers for headers may grow: first write the messages that wait.
        self.core.commit_sent(now, &mut self.app, &mut self.host)?;
        self.release(now)?;
        if routed {
            let target = Target::Session(index);
            if let Err(error) = open(&mut self.lobby, &mut self.host, target, &config) {
                return Ok(Err(AddError::Listen(error)));
            }
        }
        let (room, trail) = (self.rest_room, self.core.trail_bytes);
        let line = restore(&mut self.core.journal, now, index, config, room, trail)?;
        if let Some(peer) = self.core.journal.peer(line.journal) {
            self.lobby.know(peer, index);
        }
        let (session, name) = (&line.session, &line.config.name);
        self.commands.know(name, session.id());
        self.core.outbox.widen(session.header_room());
        if let Some(dictionary) = &line.config.session.dictionary {
            self.decoder.learn(dictionary);
        }
        let event = Event::SessionAdded {
            session: session.id(),
            name: name.clone(),
        };
        self.app
            .on_session_added(now, session.id(), name, session.config());
        let input = Input::new(self.read_buffer);
        if is_new {
            self.added += 1;
            self.core.lines.push(line);
            self.core.timers.add();
            self.inputs.push(input);
        } else {
            self.core.lines[index] = line;
            self.core.timers.session(index, Mono(0));
            self.inputs[index] = input;
        }
        self.record_restart(now, index)?;
        self.restarts_recorded = self.core.lines.len();
        self.core.raise(now, &event);
        Ok(Ok(index))
    }

    /// Commits the reset of each session whose sequence numbers [`restore`] has reset, and notifies the application,
    /// before anything else happens to any session.
    pub(crate) fn record_restarts(&mut self, now: Now) -> Result<(), EngineError> {
        while self.restarts_recorded < self.core.lines.len() {
            self.record_restart(now, self.restarts_recorded)?;
            self.restarts_recorded += 1;
        }
        Ok(())
    }

    fn record_restart(&mut self, now: Now, index: usize) -> Result<(), EngineError> {
        self.core.tell_reset(now, index, &mut self.app);
        self.core
            .commit(now, index, RecordKind::Reset, None, &mut self.app)?;
        self.release_if_full(now)
    }

    pub(crate) fn remove(&mut self, now: Now, session: SessionId) -> Result<(), EngineError> {
        let index = session.0 as usize;
        let known = self.core.lines.get(index);
        if known.is_none_or(Line::is_removed) {
            return Ok(());
        }
        self.record_restarts(now)?;
        self.lobby.unroute(index);
        self.core.lines[index].presence = Presence::Removing;
        self.log_out(now, session, "")?;
        self.release(now)?;
        if self.core.lines[index].link.is_none() {
            self.bury(now, index);
        }
        Ok(())
    }

    /// Frees the memory of a removed session once it has no connection, including keys and passwords of users. Its
    /// name and its sequence numbers stay.
    pub(crate) fn bury(&mut self, now: Now, index: usize) {
        self.inputs[index] = Input::new(0);
        let line = &mut self.core.lines[index];
        line.output.shrink();
        line.dialler = None;
        line.config.transport = Transport::default();
        line.config.access = Access::default();
        line.config.custom = BTreeMap::new();
        if std::mem::replace(&mut line.presence, Presence::Removed) == Presence::Removing {
            let session = SessionId(index as u32);
            self.core.raise(now, &Event::SessionRemoved { session });
        }
    }

    /// The session for a template: an existing session, or a new one. With `qualified`, the first session with that
    /// name that is not connected.
    pub(crate) fn join_or_add(
        &mut self,
        now: Now,
        config: SessionConfig,
        qualified: bool,
    ) -> Result<Result<usize, ConnectionRefusal>, EngineError> {
        for qualifier in 1..=self.most_added + 1 {
            let mut config = config.clone();
            if qualified {
                config.name = format!("{}:{qualifier}", config.name);
            }
            let known = self
                .core
                .lines
                .iter()
                .position(|line| line.config.name == config.name && !line.is_removed());
            match known {
                Some(index) if !qualified => return Ok(Ok(index)),
                Some(index) if self.core.lines[index].link.is_none() => return Ok(Ok(index)),
                Some(_) => {}
                None => {
                    let added = self.add(now, config, !qualified)?;
                    return Ok(added.map_err(|error| match error {
                        AddError::Config(_) => ConnectionRefusal::NoName,
                        AddError::Stopping => ConnectionRefusal::Stopping,
                        AddError::TooMany(_) | AddError::Listen(_) => {
                            ConnectionRefusal::TooManySessions(self.most_added)
                        }
                    }));
                }
            }
        }
        Ok(Err(ConnectionRefusal::TooManySessions(self.most_added)))
    }
}
