//! Messages of a text.

use std::io::Read;

use crate::entry::{Hints, LogEntry, LogPlace};
use crate::feed::{Fed, Feed};
use crate::find::Kind;
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};
use crate::scan::{Scan, Scanner};

/// A text, plain or unpacked.
pub(crate) struct TextInput {
    file: String,
    hints: Hints,
    scanner: Scanner,
    feed: Box<dyn Feed>,
    ended: bool,
    /// A jump to be made when what stands before is searched through.
    jump: Option<(u64, Option<u64>)>,
    /// How its bytes are packed, in words for an error.
    packed: &'static str,
}

impl TextInput {
    pub(crate) fn new(
        file: String,
        hints: Hints,
        feed: Box<dyn Feed>,
        block: usize,
        packed: &'static str,
    ) -> Self {
        Self {
            file,
            hints,
            scanner: Scanner::new(Kind::Lines, block),
            feed,
            ended: false,
            jump: None,
            packed,
        }
    }

    fn read(&mut self, left_out: &mut LeftOuts) -> Option<Step> {
        match self.feed.feed(self.scanner.room()) {
            Ok(Fed::Bytes(len)) => self.scanner.filled(len),
            Ok(Fed::Hole(to)) => self.jump = Some((to, None)),
            Ok(Fed::Restart(why)) => {
                self.jump = Some((0, Some(1)));
                if !why.is_empty() {
                    left_out.push(LeftOut::whole(&self.file, why));
                }
            }
            Ok(Fed::Wait) => return Some(Step::Wait),
            Ok(Fed::End) => self.ended = true,
            Err(error) => {
                let at = self.scanner.read_to();
                let why = format!("{}{error}", self.packed);
                left_out.push(LeftOut::bytes(&self.file, at, None, why));
                self.ended = true;
            }
        }
        None
    }
}

impl LogInput for TextInput {
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step {
        loop {
            match self.scanner.next(self.ended || self.jump.is_some()) {
                Scan::Message => return Step::Message,
                Scan::LeftOut(at, len, why) => {
                    left_out.push(LeftOut::bytes(&self.file, at, Some(len), why));
                    continue;
                }
                Scan::More => {}
            }
            if let Some((place, line)) = self.jump.take() {
                self.scanner.jump(place, line);
            }
            if self.ended {
                return Step::End;
            }
            if let Some(step) = self.read(left_out) {
                return step;
            }
        }
    }

    fn entry(&self) -> LogEntry<'_> {
        let found = &self.scanner.found;
        LogEntry {
            file: &self.file,
            place: LogPlace::Text {
                offset: found.offset,
                line: found.line,
            },
            bytes: self.scanner.message(),
            fault: found.fault,
            journal_session: None,
            mark: "",
            known_direction: None,
            known_time: None,
            prefix: self.scanner.prefix(),
            hints: &self.hints,
        }
    }

    fn other_lines(&self) -> u64 {
        self.scanner.other_lines()
    }
}

/// A feed as a reader, for what is packed in it.
pub(crate) struct FeedReader(pub(crate) Box<dyn Feed>);

impl Read for FeedReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.feed(into)? {
            Fed::Bytes(len) => Ok(len),
            // Zeros are no part of packed data.
            Fed::Hole(_) | Fed::Wait | Fed::Restart(_) | Fed::End => Ok(0),
        }
    }
}
