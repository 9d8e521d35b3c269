//! [`CaseRecord`]: what happens in one case, line by line. Each line is kept in memory, and written to the file of
//! the case at once.

use std::fs::File;
use std::io::{self, Write};

use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

/// The lines of a case. Each line is written to the file at once, so that the file is readable whenever the process
/// ends.
#[derive(Debug, Default)]
pub(crate) struct CaseRecord {
    file: Option<File>,
    stamp: TimestampWriter,
    /// The first write error.
    error: Option<io::Error>,
}

impl CaseRecord {
    pub(crate) fn to(file: Option<File>) -> Self {
        Self {
            file,
            ..Self::default()
        }
    }

    /// Adds a line without a time.
    pub(crate) fn line(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(format!("{text}\n").as_bytes()) {
            self.error.get_or_insert(error);
        }
    }

    /// Adds a line with its time. The text begins with `>` for sent data and with `<` for received data.
    pub(crate) fn at(&mut self, at: Timestamp, what: &str) {
        let time = self.stamp.format(at, Precision::Micros);
        let line = format!("{} {what}", String::from_utf8_lossy(time));
        self.line(&line);
    }

    /// The first write error, if any.
    pub(crate) fn end(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}
