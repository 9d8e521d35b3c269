//! Reads a log once and creates a record for each of its blocks.

use std::io;
use std::path::Path;

use fixwire_sys::regular;

use crate::ahead::AheadInput;
use crate::entry::Hints;
use crate::feed::FileFeed;
use crate::index_file::tail_of;
use crate::index_record::{BLOCK, BlockBuilder, BlockRecord, LogState, Omitted, REASONS};
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};
use crate::text::TextInput;
use crate::zone::{Clock, LogZone};

/// Read size, bytes.
const READ: usize = 1 << 20;

/// A log, and the part of it that must be indexed.
pub(crate) struct Growth<'a> {
    pub(crate) path: &'a Path,
    pub(crate) zone: &'a LogZone,
    /// Position and line number of the first byte that no record covers.
    pub(crate) from: (u64, u64),
    /// Size and modification time of the log at the start of this run. Messages that are written to the log later are
    /// left for the next run.
    pub(crate) state: LogState,
}

/// Calls `keep` with the record of each complete block.
///
/// # Errors
///
/// A sentence that says why: the log cannot be opened, or a record cannot be written.
pub(crate) fn grow(
    growth: &Growth<'_>,
    mut write: impl FnMut(&BlockRecord) -> io::Result<()>,
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let name = growth.path.display().to_string();
    let log = regular::open(growth.path).map_err(failed)?;
    let feed = FileFeed::open(growth.path, false).map_err(failed)?;
    let hints = Hints::new(&name, &[], Clock::new(growth.zone.clone()), 0);
    let mut input = TextInput::new(name.clone(), hints, Box::new(feed), READ, "");
    let (mut start, line) = growth.from;
    input.go_to(start, line);
    let hints = Hints::new(&name, &[], Clock::new(growth.zone.clone()), 0);
    let mut input = AheadInput::start(name, hints, Box::new(input))?;
    let mut block = BlockBuilder::default();
    let mut left_out = LeftOuts::default();
    let mut parts = Vec::new();
    while input.advance(&mut left_out) == Step::Message {
        let (end, line) = input.end();
        for what in left_out.take() {
            match omitted(&what) {
                Some(part) => parts.push(part),
                // The rest cannot be read now, or is not text. It is read without the index.
                None => return Ok(()),
            }
        }
        if end > growth.state.size {
            break;
        }
        block.add(&input.entry());
        if end - start < BLOCK {
            continue;
        }
        let mut record = block.finish(end - start);
        (record.end, record.line, record.state) = (end, line, growth.state);
        record.tail = tail_of(&log, end).map_err(failed)?;
        record.left_out = std::mem::take(&mut parts);
        write(&record).map_err(failed)?;
        start = end;
    }
    Ok(())
}

fn omitted(what: &LeftOut) -> Option<Omitted> {
    let why = REASONS.iter().position(|why| *why == what.why)?;
    Some(Omitted {
        at: what.at?,
        len: what.len?,
        why: why as u8,
    })
}
