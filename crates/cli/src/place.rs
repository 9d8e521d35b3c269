//! Finds the control socket of the engine that belongs to a settings file or store.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{self, Path, PathBuf};

use fixwire::control::Place;
use fixwire::settings::{Id, SessionSettings, Settings};

use crate::failure::Failure;
use crate::reading::Reading;

fn text(settings: &Settings, id: Id) -> Option<&str> {
    let engine = settings.engine();
    engine.and_then(|engine: &SessionSettings| engine.text(id))
}

/// Whether the settings name a socket.
pub fn named(settings: &Settings) -> bool {
    text(settings, Id::ControlPath).is_some()
}

/// The control socket that these settings name, or else the socket in their store; `None` if they name neither.
pub fn place_of(settings: &Settings) -> Option<Place> {
    if let Some(socket) = text(settings, Id::ControlPath) {
        let group = text(settings, Id::ControlGroup).map(str::to_owned);
        let path = path::absolute(socket).unwrap_or_else(|_| socket.into());
        return Some(Place { path, group });
    }
    store_of(settings).map(|store| Place::in_store(&store))
}

/// The folder of the journal that these settings name; `None` without a journal.
pub fn store_of(settings: &Settings) -> Option<PathBuf> {
    if text(settings, Id::Durability) == Some("memory") {
        return None;
    }
    let store = text(settings, Id::FileStorePath).unwrap_or("store");
    Some(path::absolute(store).unwrap_or_else(|_| store.into()))
}

/// The target of a command: a running engine, or the journal of a stopped one.
pub struct Target {
    /// The control socket of the engine, if known.
    pub socket: Option<PathBuf>,
    /// The folder of the engine's journal, if known.
    pub store: Option<PathBuf>,
    /// SessionName and identity of each session.
    called: Vec<(String, String)>,
    /// The names of the links.
    pub links: Vec<String>,
}

impl Target {
    /// The target of a settings file, the folder of a journal, or a socket.
    ///
    /// # Errors
    ///
    /// The path does not exist, or the settings have errors.
    pub fn find(path: &Path, reading: &Reading) -> Result<Self, Failure> {
        let found = fs::metadata(path)
            .map_err(|error| Failure::Text(format!("{}: {error}", path.display())))?;
        if found.is_dir() {
            let socket = Place::in_store(path).path;
            return Ok(Self {
                socket: Some(socket),
                store: Some(path.to_owned()),
                called: Vec::new(),
                links: Vec::new(),
            });
        }
        if found.file_type().is_socket() {
            return Ok(Self {
                socket: Some(path.to_owned()),
                store: None,
                called: Vec::new(),
                links: Vec::new(),
            });
        }
        let settings = reading.load(path)?;
        let sessions = settings.sessions.iter();
        Ok(Self {
            socket: place_of(&settings).map(|place| place.path),
            store: store_of(&settings),
            called: sessions
                .map(|session| (session.called(), session.name()))
                .collect(),
            links: settings
                .links
                .iter()
                .map(|link| link.name().to_owned())
                .collect(),
        })
    }

    /// The identity and SessionName of each session that has one.
    pub fn session_names(&self) -> impl Iterator<Item = (String, String)> {
        let named = self.called.iter().filter(|(short, name)| short != name);
        named.map(|(short, name)| (name.clone(), short.clone()))
    }

    /// The engine's name for a session. The session may be given by its `SessionName`, as in rules.
    pub fn session<'a>(&'a self, called: &'a str) -> &'a str {
        let is_name = self.called.iter().any(|(_, name)| name == called);
        let by_name = self.called.iter().find(|(short, _)| short == called);
        match by_name {
            Some((_, name)) if !is_name => name,
            _ => called,
        }
    }
}
