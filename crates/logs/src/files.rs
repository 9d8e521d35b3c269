//! Logs in files.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fixwire_engine::descriptors::{Purpose, check_reserve};
use fixwire_engine::journal::JournalPosition;
use fixwire_engine::log::{Log, LogError, LogTarget};
use fixwire_protocol::Timestamp;
use fixwire_sys::private;

use super::line::Lines;
use super::rotation::{FileExtent, FileLogRotation, LogDay, LogFolder};
use crate::store::{Family, SessionName};

/// Name that stands for the session in the files for events of the engine itself.
const ENGINE: &str = "GLOBAL";
/// Approximate maximum number of bytes that wait in memory to be written, over all files, including files that cannot
/// be written.
const FULL: usize = 1 << 20;

/// Logs in files. Each session has two files: one for messages, one for events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileLog {
    /// The folder of the files; it is created if missing.
    pub folder: PathBuf,
    /// The engine whose file names and line format are used.
    pub layout: Family,
    /// Whether Heartbeats are logged.
    pub heartbeats: bool,
    /// Whether times have milliseconds. Only for the layout of QuickFIX/J; the other layouts have a fixed precision.
    pub milliseconds: bool,
    /// Whether messages have times. Only for the layout of QuickFIX/J; in the other layouts messages always have
    /// times.
    pub stamp_messages: bool,
    /// When files are renamed, and how many of them stay.
    pub rotation: FileLogRotation,
}

impl FileLog {
    /// A log that includes Heartbeats, in the layout of QuickFIX (C++).
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            layout: Family::Quickfix,
            heartbeats: true,
            milliseconds: false,
            stamp_messages: false,
            rotation: FileLogRotation::default(),
        }
    }
}

impl Log for FileLog {
    fn kind(&self) -> &'static str {
        "files"
    }

    fn files_of_a_session(&self) -> u64 {
        2
    }

    fn open(&self, _: &Path, sessions: &[String]) -> Result<Box<dyn LogTarget>, LogError> {
        Ok(Box::new(Files::new(self.clone(), sessions)?))
    }
}

/// The files of all sessions.
pub(crate) struct Files {
    log: FileLog,
    lines: Lines,
    outputs: BTreeMap<PathBuf, Output>,
    names: LogFolder,
    /// Number of bytes that wait in all files together.
    waiting: usize,
    /// The journal position up to which the log has received records; `None` before the first record.
    given: Option<JournalPosition>,
}

/// A file; it is opened on first use.
#[derive(Default)]
struct Output {
    file: Option<File>,
    waiting: Vec<u8>,
    /// The file with all lines that wait for it, after the last of `ends`.
    extent: FileExtent,
    /// Where the file is renamed among the lines that wait.
    ends: VecDeque<FileEnd>,
}

/// The end of a file that will be renamed.
struct FileEnd {
    /// Number of waiting bytes that still belong to the file.
    bytes: usize,
    /// The day of its last line.
    day: LogDay,
}

impl Files {
    /// # Errors
    ///
    /// The folder cannot be created, or two sessions would share a file.
    pub(crate) fn new(log: FileLog, sessions: &[String]) -> Result<Self, LogError> {
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
            outputs: BTreeMap::new(),
            names: LogFolder::default(),
            waiting: 0,
            given: None,
        })
    }

    fn path(&self, session: &str, kind: &str) -> PathBuf {
        let current = match self.log.layout {
            Family::QuickfixJ => "",
            _ => ".current",
        };
        let name = format!("{}.{kind}{current}.log", stem(session, self.log.layout));
        self.log.folder.join(name)
    }
}

impl Output {
    fn open(&mut self, path: &Path) -> Result<&mut File, LogError> {
        let file = private().append(true).open(path);
        let kept = file.and_then(|file| {
            check_reserve(&file, Purpose::Log)?;
            Ok(file)
        });
        Ok(self.file.insert(kept.map_err(failed("open", path))?))
    }

    /// Counts a line that was added to what waits; it may begin a new file.
    fn count(&mut self, before: usize, wall: Timestamp, rotation: &FileLogRotation) -> usize {
        let line = self.waiting.len() - before;
        let day = LogDay::of(wall);
        if rotation.is_due(&self.extent, line as u64, day) {
            self.ends.push_back(FileEnd {
                bytes: before,
                day: self.extent.day.unwrap_or(day),
            });
            self.extent = FileExtent::default();
        }
        self.extent.bytes += line as u64;
        self.extent.day = self.extent.day.max(Some(day));
        line
    }

    /// Writes what waits, and renames the file where it ends.
    fn write_out(
        &mut self,
        path: &Path,
        keep: Option<u32>,
        names: &mut LogFolder,
    ) -> Result<(), LogError> {
        let mut result = Ok(());
        while let Some(end) = self.ends.front() {
            let (bytes, day) = (end.bytes, end.day);
            self.write(path, bytes)?;
            names.rotate(path, day).map_err(failed("rename", path))?;
            self.file = None;
            self.ends.pop_front();
            let surplus = keep.map_or(Vec::new(), |keep| names.surplus(path, keep));
            for path in surplus {
                let gone = fs::remove_file(&path).map_err(failed("remove", &path));
                result = result.and(gone);
            }
        }
        let written = self.write(path, self.waiting.len());
        result.and(written)
    }

    /// Writes this many bytes of what waits.
    fn write(&mut self, path: &Path, bytes: usize) -> Result<(), LogError> {
        if bytes == 0 {
            return Ok(());
        }
        if self.file.is_none() {
            self.open(path)?;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let before = self.waiting.len();
        let result = drain(&mut self.waiting, bytes, file).map_err(failed("write", path));
        let written = before - self.waiting.len();
        for end in &mut self.ends {
            end.bytes -= written;
        }
        result
    }
}

/// Writes this many bytes of what waits. After a failure, what was not written still waits, even if it begins in the
/// middle of a line.
fn drain(waiting: &mut Vec<u8>, bytes: usize, to: &mut impl Write) -> io::Result<()> {
    let mut written = 0;
    let result = loop {
        if written == bytes {
            break Ok(());
        }
        match to.write(&waiting[written..bytes]) {
            Ok(0) => break Err(ErrorKind::WriteZero.into()),
            Ok(bytes) => written += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    waiting.drain(..written);
    result
}

impl LogTarget for Files {
    /// Everything that was received is written or waits to be written, so nothing must be sent again.
    fn open(&mut self, from: JournalPosition) -> Result<JournalPosition, LogError> {
        Ok(self.given.unwrap_or(from))
    }

    fn message(&mut self, session: &str, wall: Timestamp, _incoming: bool, message: &[u8]) {
        if !self.log.heartbeats && is_heartbeat(message) {
            return;
        }
        let path = self.path(session, "messages");
        let output = output(&mut self.outputs, path);
        let before = output.waiting.len();
        self.lines.message(wall, message, &mut output.waiting);
        self.waiting += output.count(before, wall, &self.log.rotation);
    }

    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str) {
        let path = self.path(session.unwrap_or(ENGINE), "event");
        let output = output(&mut self.outputs, path);
        let before = output.waiting.len();
        self.lines.event(wall, text, &mut output.waiting);
        self.waiting += output.count(before, wall, &self.log.rotation);
    }

    /// Lines that wait for a file that could not be written go to the new file.
    fn reopen(&mut self) -> Result<bool, LogError> {
        let mut result = Ok(true);
        for (path, output) in &mut self.outputs {
            if output.file.take().is_some() {
                // A file that cannot be opened is tried again with its next line.
                result = result.and(output.open(path).map(|_| true));
                if output.ends.is_empty() {
                    output.extent = FileExtent::at(path);
                    output.extent.bytes += output.waiting.len() as u64;
                }
            }
        }
        result
    }

    fn is_full(&self) -> bool {
        self.waiting >= FULL
    }

    fn flush(&mut self, to: JournalPosition) -> Result<(), LogError> {
        self.given = Some(to);
        let mut result = Ok(());
        self.waiting = 0;
        for (path, output) in &mut self.outputs {
            // A file that fails does not delay the other files.
            let written = output.write_out(path, self.log.rotation.keep, &mut self.names);
            result = result.and(written);
            self.waiting += output.waiting.len();
        }
        result
    }
}

/// The output for the file at this path, which may be there from an earlier run.
fn output(outputs: &mut BTreeMap<PathBuf, Output>, path: PathBuf) -> &mut Output {
    let extent = |path: &Path| Output {
        extent: FileExtent::at(path),
        ..Output::default()
    };
    let found = outputs.entry(path);
    found.or_insert_with_key(|path| extent(path))
}

/// Whether the message is a Heartbeat: MsgType(35), the third field of every message, is 0.
pub(super) fn is_heartbeat(message: &[u8]) -> bool {
    message.split(|byte| *byte == 1).nth(2) == Some(b"35=0")
}

/// The beginning of the names of a session's files. Even an invalid session name cannot lead to another folder.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A disk with room for this number of bytes, which accepts three at a time.
    struct Disk(usize, Vec<u8>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(3).min(self.0 - self.1.len());
            self.1.extend_from_slice(&bytes[..taken]);
            match taken {
                0 => Err(ErrorKind::StorageFull.into()),
                _ => Ok(taken),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn drain_all(waiting: &mut Vec<u8>, disk: &mut Disk) -> io::Result<()> {
        let bytes = waiting.len();
        drain(waiting, bytes, disk)
    }

    #[test]
    fn a_line_that_a_full_disk_cut_is_ended_later() {
        let mut waiting = b"first\nsecond\n".to_vec();
        let mut disk = Disk(8, Vec::new());
        for _ in 0..2 {
            let error = drain_all(&mut waiting, &mut disk).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert_eq!(waiting, b"cond\n");
        }
        disk.0 = 100;
        waiting.extend_from_slice(b"third\n");
        drain_all(&mut waiting, &mut disk).unwrap();
        assert!(waiting.is_empty());
        assert_eq!(disk.1, b"first\nsecond\nthird\n");
    }

    #[test]
    fn a_file_that_cannot_be_written_holds_up_and_repeats_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Files::new(FileLog::new(folder.path()), &[]).unwrap();
        let names = ["FIX.4.2:A->B", "FIX.4.2:A->C", "FIX.4.2:A->D"];
        let paths = names.map(|name| files.path(name, "messages"));
        let full = Output {
            file: Some(
                std::fs::OpenOptions::new()
                    .write(true)
                    .open("/dev/full")
                    .unwrap(),
            ),
            ..Output::default()
        };
        files.outputs.insert(paths[1].clone(), full);
        let lines = |at: usize| {
            let text = fs::read_to_string(&paths[at]).unwrap_or_default();
            text.lines().count()
        };
        for (round, to) in (1..=3).zip(100..) {
            for name in names {
                files.message(name, Timestamp(0), true, b"8=FIX.4.2\x0135=D\x01");
            }
            let to = JournalPosition::new(1, to);
            let error = files.flush(to).unwrap_err().to_string();
            assert!(error.contains("FIX.4.2-A-C.messages"), "{error}");
            // Nothing is sent again.
            assert_eq!(files.open(JournalPosition::START), Ok(to));
            assert_eq!([lines(0), lines(1), lines(2)], [round, 0, round]);
        }
        assert!(!files.is_full());
        files.message(names[1], Timestamp(0), true, &[b'a'; FULL]);
        assert!(files.is_full());
        files.outputs.get_mut(&paths[1]).unwrap().file = None;
        files.flush(JournalPosition::new(1, 200)).unwrap();
        assert!(!files.is_full());
        assert_eq!([lines(0), lines(1), lines(2)], [3, 4, 3]);
    }
}
