//! [`TextPlaces`]: rereads messages of a plain text at their positions.

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

/// A plain text whose messages are reread. The same file stays open, even when it is renamed.
pub struct TextPlaces {
    input: TextInput,
}

impl TextPlaces {
    /// Opens a file; `None` when it is packed, a capture, or a journal segment, which have no random access.
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

    /// Passes on the message at a position; `None` when it no longer exists. The text before it on its line is not
    /// read, so time and direction come from the message alone.
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
