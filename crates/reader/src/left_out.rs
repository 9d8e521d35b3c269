//! [`LeftOut`]: the parts of sources that could not be read, with reasons.

use std::fmt;

/// Bytes that were not read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftOut {
    /// The file; for a journal, its folder.
    pub file: String,
    /// The connection in a capture, `10.0.0.1:4000 > 10.0.0.2:5001`; `None` for other sources.
    pub connection: Option<String>,
    /// Offset of the first byte: for a packed file in the unpacked data, for a connection in its data. `None` when a
    /// whole source was left out.
    pub at: Option<u64>,
    /// Number of bytes; `None` when unknown, or when everything after `at` was left out.
    pub len: Option<u64>,
    /// The reason.
    pub why: String,
    /// Whether this is the beginning of a journal, whose segments were removed before the journal was read.
    pub is_removed_beginning: bool,
}

/// Maximum number of parts that are listed; further parts are only counted.
const MOST: usize = 10_000;

/// The parts that were left out. The memory for left-out parts is bounded.
#[derive(Debug, Default)]
pub(crate) struct LeftOuts {
    kept: Vec<LeftOut>,
    more: u64,
}

impl LeftOuts {
    pub(crate) fn push(&mut self, what: LeftOut) {
        if self.kept.len() < MOST {
            self.kept.push(what);
        } else {
            self.more += 1;
        }
    }

    /// A mark: the number of parts so far.
    pub(crate) fn mark(&self) -> (usize, u64) {
        (self.kept.len(), self.more)
    }

    /// Removes the parts that were added after a mark.
    pub(crate) fn forget(&mut self, mark: (usize, u64)) {
        self.kept.truncate(mark.0);
        self.more = mark.1;
    }

    pub(crate) fn take(&mut self) -> Vec<LeftOut> {
        let more = std::mem::take(&mut self.more);
        let mut all = std::mem::take(&mut self.kept);
        if more > 0 {
            all.push(LeftOut::whole("and", format!("{more} further parts")));
        }
        all
    }
}

impl LeftOut {
    pub(crate) fn whole(file: &str, why: impl ToString) -> Self {
        Self {
            file: file.to_owned(),
            connection: None,
            at: None,
            len: None,
            why: why.to_string(),
            is_removed_beginning: false,
        }
    }

    pub(crate) fn bytes(file: &str, at: u64, len: Option<u64>, why: impl ToString) -> Self {
        Self {
            at: Some(at),
            len,
            ..Self::whole(file, why)
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(connection) = &self.connection {
            write!(f, ": {connection}")?;
        }
        match (self.at, self.len) {
            (Some(at), Some(1)) => write!(f, ": byte {at}")?,
            (Some(at), Some(len)) => write!(f, ": bytes {at} to {}", at + len.saturating_sub(1))?,
            (Some(at), None) => write!(f, ": from byte {at} on")?,
            (None, _) => {}
        }
        write!(f, ": {}", self.why)
    }
}
