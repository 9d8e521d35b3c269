//! Logs in files.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fixwire_protocol::Timestamp;

use super::line::Lines;
use super::{FileLog, LogError, Target};
use crate::journal::Position;
use crate::store::{Family, SessionName};

/// What belongs to no session is logged under this name.
const ENGINE: &str = "GLOBAL";
/// Bytes that are written at once.
const FULL: usize = 64 << 10;

/// The files of all sessions.
pub(super) struct Files {
    log: FileLog,
    lines: Lines,
    open: BTreeMap<PathBuf, Output>,
}

struct Output {
    file: File,
    waiting: Vec<u8>,
}

impl Files {
    /// # Errors
    ///
    /// When the folder cannot be made, or two sessions would share a file.
    pub(super) fn new(log: FileLog, sessions: &[String]) -> Result<Self, LogError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&log.folder)
            .map_err(failed("make", &log.folder))?;
        let mut stems: BTreeMap<String, &str> = BTreeMap::new();
        for session in sessions {
            if let Some(other) = stems.insert(stem(session, log.layout), session) {
                return Err(LogError(format!(
                    "sessions {other} and {session} would share a log file in the layout of {:?}",
                    log.layout
                )));
            }
        }
        Ok(Self {
            lines: Lines::new(&log),
            log,
            open: BTreeMap::new(),
        })
    }

    fn write_out(&mut self) -> Result<(), LogError> {
        for (path, output) in &mut self.open {
            if !output.waiting.is_empty() {
                output
                    .file
                    .write_all(&output.waiting)
                    .map_err(failed("write", path))?;
                output.waiting.clear();
            }
        }
        Ok(())
    }

    fn output(&mut self, session: &str, kind: &str) -> Result<&mut Output, LogError> {
        let current = match self.log.layout {
            Family::QuickfixJ => "",
            _ => ".current",
        };
        let name = format!("{}.{kind}{current}.log", stem(session, self.log.layout));
        let path = self.log.folder.join(name);
        if !self.open.contains_key(&path) {
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&path)
                .map_err(failed("open", &path))?;
            let waiting = Vec::new();
            self.open.insert(path.clone(), Output { file, waiting });
        }
        self.open
            .get_mut(&path)
            .ok_or_else(|| LogError("a log file was closed".into()))
    }
}

impl Target for Files {
    fn message(
        &mut self,
        session: &str,
        wall: Timestamp,
        _incoming: bool,
        message: &[u8],
    ) -> Result<(), LogError> {
        if !self.log.heartbeats && is_heartbeat(message) {
            return Ok(());
        }
        let mut text = std::mem::take(&mut self.output(session, "messages")?.waiting);
        self.lines.message(wall, message, &mut text);
        let output = self.output(session, "messages")?;
        output.waiting = text;
        if output.waiting.len() >= FULL {
            self.write_out()?;
        }
        Ok(())
    }

    fn event(
        &mut self,
        session: Option<&str>,
        wall: Timestamp,
        text: &str,
    ) -> Result<(), LogError> {
        let mut line = Vec::new();
        self.lines.event(wall, text, &mut line);
        let output = self.output(session.unwrap_or(ENGINE), "event")?;
        output.waiting.extend_from_slice(&line);
        Ok(())
    }

    fn flush(&mut self, _to: Position) -> Result<(), LogError> {
        self.write_out()
    }
}

/// Whether MsgType(35) is 0. It is the third field of every message.
pub(super) fn is_heartbeat(message: &[u8]) -> bool {
    message.split(|byte| *byte == 1).nth(2) == Some(b"35=0")
}

/// What the files of a session begin with. A name that is no session's leads to no other folder either.
fn stem(session: &str, layout: Family) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
            c
        } else {
            '_'
        }
    };
    match SessionName::parse(session) {
        Ok(name) => name.stem(layout),
        Err(_) => session.replace("->", "-").chars().map(plain).collect(),
    }
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LogError {
    let path = path.display().to_string();
    move |error| LogError(format!("cannot {doing} {path}: {error}"))
}
