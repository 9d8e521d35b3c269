//! Finds the engine of a command: a running engine, or the journal of a stopped engine.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fixwire::control::{Client, ClientError};
use fixwire::journal::{self, JournalError};

use super::EngineFlags;
use crate::failure::Failure;
use crate::place::Target;

/// A running engine, or the journal of a stopped one.
pub(super) enum Found {
    Running(Client),
    Stopped(PathBuf),
    /// No engine runs, and the journal cannot be read. The value is the reason.
    Absent(String),
}

/// Maximum time from the lock of the journal to the first response of the engine.
const STARTS: Duration = Duration::from_secs(2);
/// Time between two attempts while the engine starts.
const ASKED_AGAIN: Duration = Duration::from_millis(20);

/// The engine of a target. Waits for an engine that is starting.
///
/// # Errors
///
/// The engine runs but does not respond, or its state is unknown.
pub(super) fn find(at: &EngineFlags, target: Target) -> Result<Found, Failure> {
    let patience = Duration::from_secs(at.timeout);
    let until = Instant::now() + patience.min(STARTS);
    loop {
        match find_now(patience, &target)? {
            Some(found) => return Ok(found),
            None if Instant::now() < until => thread::sleep(ASKED_AGAIN),
            None => {
                let store = target.store.as_deref().map(Path::display);
                let store = store.map_or_else(String::new, |store| store.to_string());
                let socket = shown(target.socket.as_deref());
                return Err(Failure::Text(format!(
                    "an engine is running on {store}, but does not respond at {socket}: it is \
                     still starting, or has no control socket"
                )));
            }
        }
    }
}

/// The engine of a target; `None` while its journal is in use and the engine does not respond.
fn find_now(patience: Duration, target: &Target) -> Result<Option<Found>, Failure> {
    let socket = target.socket.as_deref();
    let nobody = match socket.map(|socket| Client::connect(socket, patience)) {
        Some(Ok(client)) => return Ok(Some(Found::Running(client))),
        Some(Err(ClientError::Nobody)) | None => socket,
        Some(Err(ClientError::Io(error))) if error.kind() == io::ErrorKind::PermissionDenied => {
            let socket = shown(socket);
            let why = format!(
                "permission denied for the engine at {socket}: run this as the user of the engine, or as \
                a member of its ControlGroup"
            );
            return Err(Failure::Text(why));
        }
        Some(Err(error)) => return Err(Failure::Text(error.to_string())),
    };
    let Some(store) = &target.store else {
        return match nobody {
            Some(socket) => {
                let socket = socket.display();
                Ok(Some(Found::Absent(format!(
                    "no response from an engine at {socket}"
                ))))
            }
            None => Err(Failure::Text(
                "with Durability=memory an engine needs ControlPath to be controlled".to_owned(),
            )),
        };
    };
    match (journal::is_in_use(store), nobody) {
        (Ok(false), _) => Ok(Some(Found::Stopped(store.clone()))),
        (Ok(true), _) => Ok(None),
        // The journal cannot be read. A running engine would respond at its socket.
        (Err(error), Some(socket)) if is_closed(&error) => {
            let socket = socket.display();
            Ok(Some(Found::Absent(format!(
                "no response from an engine at {socket}, and this user cannot read its journal: {error}"
            ))))
        }
        (Err(error), _) => Err(Failure::Text(error.to_string())),
    }
}

/// Whether the error is that this user may not read the journal.
pub(super) fn is_closed(error: &JournalError) -> bool {
    match error {
        JournalError::Exposed { .. } => true,
        JournalError::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
        _ => false,
    }
}

fn shown(socket: Option<&Path>) -> String {
    socket.map_or_else(String::new, |socket| socket.display().to_string())
}
