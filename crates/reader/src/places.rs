//! [`TextPlaces`]: reads messages of a plain text again, by their positions.

use std::io;
use std::path::Path;

use crate::entry::{Hints, LogEntry, LogPlace};
use crate::feed::{Content, FileFeed, START};
use crate::input::{LogInput, Step};
use crate::left_out::LeftOuts;
use crate::reader::ReadOptions;
use crate::text::TextInput;
use crate::zone::Clock;

/// Read size, bytes.
const READ: usize = 1 << 13;

/// A plain text whose messages can be read again. The file stays open, so a rename does not matter.
pub struct TextPlaces {
    input: TextInput,
}

impl TextPlaces {
    /// Opens a file. `None` when the file is packed, a capture or a journal segment, because these have no random
    /// access.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn open(path: &Path, options: &ReadOptions) -> io::Result<Option<Self>> {
        if path.is_dir() || path == Path::new("-") {
            return Ok(None);
        }
        let mut feed = FileFeed::open(path, false)?;
        if Content::of(&feed.start(START)?) != Content::Text {
            return Ok(None);
        }
        let name = path.display().to_string();
        let clock = Clock::new(options.zone.clone());
        let hints = Hints::new(&name, &options.ours, clock, options.shift_of(&name));
        let input = TextInput::new(name, hints, Box::new(feed), READ, "");
        Ok(Some(Self { input }))
    }

    /// Calls `take` with the message at a position; returns `None` when the message no longer exists. The text before
    /// the message on its line is not read, so time and direction come from the message alone.
    pub fn read<R>(
        &mut self,
        offset: u64,
        line: u64,
        look: impl FnOnce(&LogEntry<'_>) -> R,
    ) -> Option<R> {
        self.input.go_to(offset, line);
        let mut left_out = LeftOuts::default();
        if self.input.advance(&mut left_out) != Step::Message {
            return None;
        }
        let entry = self.input.entry();
        let is_there = entry.place == LogPlace::Text { offset, line };
        is_there.then(|| look(&entry))
    }
}
