//! The file of stamps beside an OMS: one line for each request, written by a thread of its own.
//!
//! ```text
//! ClOrdID|MsgType|State|T0|T1(read)|T1(found)|T2(journalled)|T2(written)
//! g2:1|D|Sending|1787319000123456000|1787319000123489000|1787319000123489100|1787319000123490000|1787319000123492000
//! ```
//!
//! Times are nanoseconds since 1970, 0 where there is none.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::stamps::{FirstState, Stamp, Stamps};

/// The first line.
pub const HEAD: &str = "ClOrdID|MsgType|State|T0|T1(read)|T1(found)|T2(journalled)|T2(written)";
/// How often the thread looks for stamps.
const LOOK: Duration = Duration::from_millis(20);

/// A file that is being written; whole when this is dropped, and the host before it.
#[derive(Debug)]
pub struct StampsFile {
    stamps: Arc<Stamps>,
    ends: Arc<AtomicBool>,
    writer: Option<JoinHandle<()>>,
}

impl StampsFile {
    /// Makes the file, or empties it, and starts the thread. An error while it is written ends it: `fault` is
    /// given it, and no order waits.
    ///
    /// # Errors
    ///
    /// The file cannot be made, or the system gives no thread.
    pub fn start(
        path: &Path,
        mut fault: impl FnMut(io::Error) + Send + 'static,
    ) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
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
        })
    }

    /// What the host fills.
    #[must_use]
    pub fn stamps(&self) -> Arc<Stamps> {
        Arc::clone(&self.stamps)
    }
}

impl Drop for StampsFile {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(writer) = self.writer.take() {
            // It has said why it ended.
            let _ = writer.join();
        }
    }
}

fn write_until(to: &mut impl Write, stamps: &Stamps, ends: &AtomicBool) -> io::Result<()> {
    writeln!(to, "{HEAD}")?;
    let mut taken = Vec::new();
    loop {
        // Asked first: what is kept before the end is taken after it.
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
/// Those of `to`.
pub fn write(to: &mut impl Write, stamp: &Stamp) -> io::Result<()> {
    // What a client sent stays on its line and in its column.
    let id = String::from_utf8_lossy(stamp.id()).replace(['|', '\n', '\r'], "?");
    let Stamp {
        sent,
        read,
        found,
        journalled,
        written,
        ..
    } = stamp;
    writeln!(
        to,
        "{id}|{}|{}|{sent}|{read}|{found}|{journalled}|{written}",
        char::from(stamp.kind),
        stamp.state.name()
    )
}

/// A line that is none of a stamps file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StampsError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl std::fmt::Display for StampsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for StampsError {}

/// Reads a stamps file.
///
/// # Errors
///
/// The first line that is none of such a file.
pub fn read(text: &str) -> Result<Vec<Stamp>, StampsError> {
    let wrong = |line: usize, what: &str| StampsError {
        line,
        what: what.to_owned(),
    };
    let mut lines = (1..).zip(text.lines());
    match lines.next() {
        Some((_, HEAD)) => {}
        _ => return Err(wrong(1, &format!("a stamps file begins with {HEAD}"))),
    }
    // A process that was killed leaves an unfinished last line.
    let unfinished = !text.ends_with('\n');
    let count = text.lines().count();
    let mut stamps = Vec::new();
    for (number, line) in lines {
        if line.starts_with('#') || (unfinished && number == count) {
            continue;
        }
        let cells: Vec<&str> = line.split('|').collect();
        let [id, kind, state, times @ ..] = &cells[..] else {
            return Err(wrong(number, "a stamp has eight columns"));
        };
        let kind = match kind.as_bytes() {
            [kind] => *kind,
            _ => return Err(wrong(number, "MsgType is one character")),
        };
        let state = FirstState::ALL.into_iter().find(|it| it.name() == *state);
        let state = state.ok_or_else(|| wrong(number, "no such state"))?;
        let times: Result<Vec<u64>, _> = times.iter().map(|time| time.parse()).collect();
        let Ok([sent, read, found, journalled, written]) = times.as_deref() else {
            return Err(wrong(number, "five times follow, in nanoseconds"));
        };
        let mut stamp = Stamp::new(kind, id.as_bytes(), state);
        (stamp.sent, stamp.read, stamp.found) = (*sent, *read, *found);
        (stamp.journalled, stamp.written) = (*journalled, *written);
        stamps.push(stamp);
    }
    Ok(stamps)
}
