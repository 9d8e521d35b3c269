//! Messages of a text.

use std::io::Read;

use crate::entry::{Hints, LogEntry, LogPlace};
use crate::feed::{Fed, Feed};
use crate::find::Kind;
use crate::index_choice::{BlockPlan, PlannedBlock};
use crate::index_record::REASONS;
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};
use crate::scan::{Scan, Scanner};

/// A text, plain or packed, as a source of messages.
pub(crate) struct TextInput {
    file: String,
    hints: Hints,
    scanner: Scanner,
    feed: Box<dyn Feed>,
    ended: bool,
    /// A jump that must be made after the text before it was searched.
    jump: Option<(u64, Option<u64>)>,
    /// The compression of the text, as a word for errors.
    packed: &'static str,
    plan: Option<Box<Planned>>,
}

/// The blocks of an indexed log that must be read.
struct Planned {
    plan: BlockPlan,
    /// The end of the current block; `None` for the part after the last block.
    end: Option<u64>,
    /// The latest time before the current block, if any.
    before: Option<i64>,
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
            plan: None,
        }
    }

    /// Reads only the blocks of this plan.
    pub(crate) fn follow_plan(&mut self, plan: BlockPlan, left_out: &mut LeftOuts) {
        self.plan = Some(Box::new(Planned {
            plan,
            end: Some(0),
            before: None,
        }));
        self.next_block(left_out);
    }

    /// Allows the reader to skip messages that do not contain these bytes, given as they are in the file.
    pub(crate) fn pass_over(&mut self, needle: &[u8]) {
        self.scanner.pass_over(needle);
    }

    /// Continues at another position of the file; `line` is the line number there.
    pub(crate) fn go_to(&mut self, place: u64, line: u64) {
        self.feed.go_to(place);
        self.scanner.jump(place, Some(line));
        (self.ended, self.jump) = (false, None);
    }

    /// Advances to the next block that must be read; false when it directly follows the current one.
    fn next_block(&mut self, left_out: &mut LeftOuts) -> bool {
        let Some(planned) = &mut self.plan else {
            return false;
        };
        let was = planned.end;
        let Some(block) = planned.plan.next() else {
            return false;
        };
        (planned.end, planned.before) = (block.end, block.before);
        let PlannedBlock {
            start,
            line,
            left_out: parts,
            ..
        } = block;
        for part in parts {
            let why = REASONS.get(usize::from(part.why)).unwrap_or(&REASONS[0]);
            left_out.push(LeftOut::bytes(&self.file, part.at, Some(part.len), why));
        }
        if was == Some(start) {
            return false;
        }
        self.go_to(start, line);
        true
    }

    /// Whether this position is after the current block.
    fn is_behind(&self, place: u64) -> bool {
        let end = self.plan.as_ref().and_then(|planned| planned.end);
        end.is_some_and(|end| place >= end)
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
        'search: loop {
            match self.scanner.next(self.ended || self.jump.is_some()) {
                Scan::Message => {
                    while self.is_behind(self.scanner.found.offset) {
                        if self.next_block(left_out) {
                            continue 'search;
                        }
                    }
                    return Step::Message;
                }
                Scan::LeftOut(at, len, why) => {
                    while self.is_behind(at) {
                        if self.next_block(left_out) {
                            continue 'search;
                        }
                    }
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
            record: None,
        }
    }

    fn other_lines(&self) -> u64 {
        self.scanner.other_lines()
    }

    fn end(&self) -> (u64, u64) {
        (self.scanner.end(), self.scanner.end_line())
    }

    fn time_before(&self) -> Option<i64> {
        let before = self.plan.as_ref().and_then(|planned| planned.before);
        before.map(|time| time.saturating_add(self.hints.shift))
    }
}

/// A feed as a reader, for packed data.
pub(crate) struct FeedReader(pub(crate) Box<dyn Feed>);

impl Read for FeedReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.feed(into)? {
            Fed::Bytes(len) => Ok(len),
            // Packed data has no holes, so a hole ends it like the end of the file.
            Fed::Hole(_) | Fed::Wait | Fed::Restart(_) | Fed::End => Ok(0),
        }
    }
}
