//! The stamps file of an OMS: one line per request and report, written by its own thread.
//!
//! ```text
//! Order|ClOrdID|MsgType|State|T0|T1(read)|T1(found)|T2(journalled)|T2(written)
//! 17|g2:1|D|Sending|1787319000123456000|1787319000123489000|1787319000123489100|1787319000123490000|1787319000123492000
//! 17|17|8|Reported|0|1787319000123689000|1787319000123689100|1787319000123690000|1787319000123692000
//! ```
//!
//! Times are nanoseconds since 1970; a missing time is 0. The times of a report (8, 9) are T3(read), T3(found),
//! T4(journalled) and T4(written). Order is the order number of the OMS; an unknown one is 0. The first line identifies
//! the version of the file. Each start of the OMS appends to the file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::stamp::{FirstState, Stamp, Stamps};

/// The first line.
pub const HEAD: &str =
    "Order|ClOrdID|MsgType|State|T0|T1(read)|T1(found)|T2(journalled)|T2(written)";
/// Polling interval of the thread.
const LOOK: Duration = Duration::from_millis(20);
/// Number of bytes that the first search for the last line reads, from the end of the file.
const FIRST_LOOK: u64 = 2048;

/// A file that is being written. The file is complete once first the host and then this value are dropped.
#[derive(Debug)]
pub struct StampsFile {
    stamps: Arc<Stamps>,
    ends: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
    cut: u64,
}

impl StampsFile {
    /// Opens or creates the file, and starts the thread that appends to it. Cuts off an incomplete last line, which a
    /// killed process may have left. A write error ends the thread; `fault` receives the error, and no order waits.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, another process writes it, or it is not a stamps file. Also when the thread cannot be
    /// started.
    pub fn start(
        path: &Path,
        mut fault: impl FnMut(io::Error) + Send + 'static,
    ) -> Result<Self, StampsFileError> {
        let (file, cut) = open(path)?;
        let mut file = BufWriter::new(file);
        let stamps = Arc::new(Stamps::default());
        let ends = Arc::new(AtomicBool::new(false));
        let writer = fixwire_threads::spawn("stamps", {
            let (stamps, ends) = (Arc::clone(&stamps), Arc::clone(&ends));
            move || {
                if let Err(error) = write_until(&mut file, &stamps, &ends) {
                    stamps.switch(false);
                    fault(error);
                }
            }
        })?;
        Ok(Self {
            stamps,
            ends,
            writer: Some(writer),
            cut,
        })
    }

    /// The buffer that the host fills.
    #[must_use]
    pub fn stamps(&self) -> Arc<Stamps> {
        Arc::clone(&self.stamps)
    }

    /// Bytes of an unfinished last line that were cut off at the start.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }
}

impl Drop for StampsFile {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(writer) = self.writer.take() {
            // Whether the thread has reported its error.
            let _ = writer.join();
        }
    }
}

/// Why stamps cannot be written to a file.
#[derive(Debug)]
pub enum StampsFileError {
    /// A system error.
    System(io::Error),
    /// Another process writes the stamps file.
    InUse,
    /// The file is not a stamps file of this version.
    Form {
        /// Byte offset of the error, from 0.
        byte: u64,
        /// The error.
        what: &'static str,
    },
}

impl std::fmt::Display for StampsFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::InUse => f.write_str("another process writes this stamps file"),
            Self::Form { byte, what } => write!(
                f,
                "byte {byte}: {what}; move the file away to start a new one"
            ),
        }
    }
}

impl std::error::Error for StampsFileError {}

impl From<io::Error> for StampsFileError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Opens a file to append to it. Writes a missing header and cuts off an incomplete last line; returns the number of
/// bytes cut off.
fn open(path: &Path) -> Result<(File, u64), StampsFileError> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StampsFileError::InUse),
        // A file system without locks is accepted.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let len = file.metadata()?.len();
    check_head(&file)?;
    let whole = check_tail(&mut file, len)?;
    if whole < len {
        file.set_len(whole)?;
    }
    if whole == 0 {
        writeln!(file, "{HEAD}")?;
    }
    Ok((file, len - whole))
}

/// Checks that a file begins with the header, or contains only a part of it.
fn check_head(file: &File) -> Result<(), StampsFileError> {
    let head = [HEAD.as_bytes(), b"\n"].concat();
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    match found.iter().zip(&head).position(|(a, b)| a != b) {
        Some(at) => Err(StampsFileError::Form {
            byte: at as u64,
            what: WRONG_HEAD,
        }),
        None => Ok(()),
    }
}

/// Length of the complete lines of a file, bytes; checks the last line.
fn check_tail(file: &mut File, len: u64) -> Result<u64, StampsFileError> {
    let ends = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
    let (mut tail, mut from) = (Vec::new(), len);
    // The loop ends when these bytes have the end of another line before the last complete line, or begin at the start
    // of the file.
    let (begins, last) = loop {
        let last = ends(&tail);
        match last.map(|last| (ends(&tail[..last]), last)) {
            Some((Some(before), last)) => break (before + 1, last),
            Some((None, last)) if from == 0 => break (0, last),
            None if from == 0 => return Ok(0),
            _ => {}
        }
        from = from.saturating_sub(FIRST_LOOK + 4 * tail.len() as u64);
        file.seek(SeekFrom::Start(from))?;
        tail.clear();
        (&*file).take(len - from).read_to_end(&mut tail)?;
    };
    let byte = from + begins as u64;
    let checked = match str::from_utf8(&tail[begins..last]) {
        Ok(HEAD) if byte == 0 => Ok(()),
        Ok(line) if line.starts_with('#') => Ok(()),
        Ok(line) => parse(line).map(drop),
        Err(_) => Err("a stamp must be UTF-8 text"),
    };
    checked.map_err(|what| StampsFileError::Form { byte, what })?;
    Ok(from + last as u64 + 1)
}

fn write_until(to: &mut impl Write, stamps: &Stamps, ends: &AtomicBool) -> io::Result<()> {
    let mut taken = Vec::new();
    loop {
        // This is read first, so that stamps stored before the end are still taken.
        let is_last = ends.load(Ordering::Acquire);
        let lost = stamps.take(&mut taken);
        if lost > 0 {
            writeln!(to, "# {lost} lost: the file was written too slowly")?;
        }
        for stamp in taken.drain(..) {
            write(to, &stamp)?;
        }
        to.flush()?;
        if is_last {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Writes the line of a stamp.
///
/// # Errors
///
/// Writing to `to` fails.
pub fn write(to: &mut impl Write, stamp: &Stamp) -> io::Result<()> {
    // Text from clients must not break lines or columns.
    let id = String::from_utf8_lossy(stamp.id()).replace(['|', '\n', '\r'], "?");
    let Stamp {
        order,
        sent,
        read,
        found,
        journalled,
        written,
        ..
    } = stamp;
    writeln!(
        to,
        "{order}|{id}|{}|{}|{sent}|{read}|{found}|{journalled}|{written}",
        char::from(stamp.kind),
        stamp.state.name()
    )
}

/// An invalid line of a stamps file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StampsError {
    /// The line, from 1.
    pub line: usize,
    /// Byte offset of its beginning, from 0; for a wrong header, of the first line.
    pub byte: u64,
    /// The error.
    pub what: String,
}

impl std::fmt::Display for StampsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, byte {}: {}", self.line, self.byte, self.what)
    }
}

impl std::error::Error for StampsError {}

const WRONG_HEAD: &str = "the first line is not that of a stamps file of this version";

/// Reads a stamps file: all stamps, or the stamps of one order. Skips an incomplete last line, which is being written
/// or which a killed process has left.
///
/// # Errors
///
/// Reading `from` fails, or a line is invalid. For the first invalid line, the [`io::Error`] has a [`StampsError`].
pub fn read(mut from: impl BufRead, order: Option<u64>) -> io::Result<Vec<Stamp>> {
    let prefix = order.map(|order| format!("{order}|"));
    let (mut text, mut stamps) = (String::new(), Vec::new());
    let (mut number, mut byte) = (0, 0);
    loop {
        text.clear();
        let len = from.read_line(&mut text)? as u64;
        number += 1;
        let wrong = |at: u64, what: &str| {
            let (line, what) = (number, what.to_owned());
            let byte = byte + at;
            io::Error::other(StampsError { line, byte, what })
        };
        let line = text.strip_suffix('\n');
        if number == 1 {
            if line != Some(HEAD) {
                let same = text.bytes().zip(HEAD.bytes()).take_while(|(a, b)| a == b);
                return Err(wrong(same.count() as u64, WRONG_HEAD));
            }
        } else {
            let Some(line) = line else {
                return Ok(stamps);
            };
            let is_asked = |prefix: &String| line.starts_with(prefix.as_str());
            if !line.starts_with('#') && prefix.as_ref().is_none_or(is_asked) {
                stamps.push(parse(line).map_err(|what| wrong(0, what))?);
            }
        }
        byte += len;
    }
}

fn parse(line: &str) -> Result<Stamp, &'static str> {
    let columns = "a stamp must have nine columns";
    let mut cells = line.split('|');
    let mut cell = || cells.next().ok_or(columns);
    let order = cell()?.parse().map_err(|_| "the order must be a number")?;
    let id = cell()?.as_bytes();
    let [kind] = cell()?.as_bytes() else {
        return Err("MsgType must be one character");
    };
    let state = FirstState::find(cell()?).ok_or("unknown state")?;
    let mut stamp = Stamp::new(*kind, id, state);
    stamp.order = order;
    for time in [
        &mut stamp.sent,
        &mut stamp.read,
        &mut stamp.found,
        &mut stamp.journalled,
        &mut stamp.written,
    ] {
        *time = cell()?
            .parse()
            .map_err(|_| "a time must be in nanoseconds")?;
    }
    match cells.next() {
        Some(_) => Err(columns),
        None => Ok(stamp),
    }
}

#[cfg(test)]
mod tests;
