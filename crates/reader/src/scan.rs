//! Finds messages in bytes that arrive in blocks.

use fixwire_protocol::Garbled;
use memchr::memmem::Finder;
use memchr::{memchr_iter, memmem, memrchr};

use crate::find::{self, BEGIN, Found, Kind, LONGEST};

/// Number of bytes before a message that are kept, because they may state its time and direction.
pub(crate) const PREFIX: usize = 512;

/// Finds messages, one after another. The result does not depend on the block boundaries of the input.
pub(crate) struct Scanner {
    kind: Kind,
    finder: Finder<'static>,
    window: Vec<u8>,
    /// How much of the window has data.
    filled: usize,
    /// The position of the window's first byte in the source.
    base: u64,
    /// The position in the window at which the search continues.
    at: usize,
    /// The line of the byte at `counted`, from 1.
    line: u64,
    counted: usize,
    /// The end of the previous message.
    before: usize,
    block: usize,
    normal: Vec<u8>,
    others: Others,
    /// Bytes that every wanted message contains; other messages are skipped. `None` when every message is wanted.
    needle: Option<Finder<'static>>,
    pub(crate) found: Hit,
}

/// Counts the lines without a message.
#[derive(Clone, Copy, Debug)]
struct Others {
    count: u64,
    /// Whether a message was found in the current line.
    has_message: bool,
    /// Whether the current line has been blank so far.
    is_blank: bool,
}

impl Others {
    /// Processes a text without a message; returns the number of lines that end in it.
    fn pass(&mut self, text: &[u8]) -> u64 {
        let (mut from, mut lines) = (0, 0);
        for end in memchr_iter(b'\n', text) {
            self.piece(&text[from..end]);
            self.end_line();
            lines += 1;
            from = end + 1;
        }
        self.piece(&text[from..]);
        lines
    }

    fn piece(&mut self, text: &[u8]) {
        self.is_blank = self.is_blank && text.iter().all(u8::is_ascii_whitespace);
    }

    fn end_line(&mut self) {
        if !self.has_message && !self.is_blank {
            self.count += 1;
        }
        (self.has_message, self.is_blank) = (false, true);
    }
}

/// The last message found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hit {
    start: usize,
    end: usize,
    prefix: usize,
    rewritten: bool,
    /// The position of the message's first byte in the source.
    pub(crate) offset: u64,
    /// Line number of the first byte, from 1.
    pub(crate) line: u64,
    /// The fault of the message's frame; `None` for a correct frame.
    pub(crate) fault: Option<Garbled>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scan {
    /// A message was found; `found` has it.
    Message,
    /// Bytes are left out: position, number of bytes, and reason.
    LeftOut(u64, u64, &'static str),
    /// The available bytes have no further message.
    More,
}

impl Scanner {
    pub(crate) fn new(kind: Kind, block: usize) -> Self {
        Self {
            kind,
            finder: Finder::new(BEGIN),
            window: Vec::new(),
            filled: 0,
            base: 0,
            at: 0,
            line: 1,
            counted: 0,
            before: 0,
            block,
            normal: Vec::new(),
            others: Others {
                count: 0,
                has_message: false,
                is_blank: true,
            },
            needle: None,
            found: Hit::default(),
        }
    }

    /// Allows the reader to skip messages that do not contain these bytes, given as they are in the file.
    pub(crate) fn pass_over(&mut self, needle: &[u8]) {
        self.needle = Some(Finder::new(needle).into_owned());
    }

    /// The next message. `ended` is true when no more bytes will follow.
    pub(crate) fn next(&mut self, ended: bool) -> Scan {
        if !ended && self.skip() {
            return Scan::More;
        }
        loop {
            let bytes = &self.window[..self.filled];
            let Some(at) = self.finder.find(&bytes[self.at..]) else {
                // The last bytes may be the beginning of a message.
                self.at = self.at.max(self.filled.saturating_sub(BEGIN.len() - 1));
                return Scan::More;
            };
            let start = self.at + at;
            self.at = start;
            if start > self.before && bytes[start - 1].is_ascii_digit() {
                self.at = start + 1;
                continue;
            }
            match find::find(&bytes[start..], ended, self.kind, &mut self.normal) {
                Found::Message {
                    len,
                    rewritten,
                    fault,
                } => {
                    self.take(start, len, rewritten, fault);
                    return Scan::Message;
                }
                Found::NotOne => self.at = start + BEGIN.len(),
                Found::More => return Scan::More,
                Found::Cut(len) => {
                    self.at = start + len;
                    // The next message may follow at once, even within a digit of this one.
                    self.before = self.at;
                    let place = self.base + start as u64;
                    return Scan::LeftOut(place, len as u64, "a message without its end");
                }
                Found::TooLong => {
                    self.at = start + BEGIN.len();
                    let place = self.base + start as u64;
                    return Scan::LeftOut(place, LONGEST as u64, "a message longer than 16 MiB");
                }
            }
        }
    }

    /// Advances to the last message before the one that contains the wanted bytes next, because a message may contain
    /// another one. Returns true when the available bytes do not contain the wanted bytes, and some bytes were
    /// skipped.
    fn skip(&mut self) -> bool {
        let Some(needle) = &self.needle else {
            return false;
        };
        let rest = &self.window[self.at..self.filled];
        let hit = needle.find(rest);
        let until = hit.unwrap_or(rest.len());
        let Some(last) = last_begin(rest, until) else {
            return false;
        };
        let to = last_begin(rest, last).unwrap_or(0);
        self.at += to;
        hit.is_none() && to > 0
    }

    fn take(&mut self, start: usize, len: usize, rewritten: bool, fault: Option<Garbled>) {
        let line_start = match self.kind {
            Kind::Lines => {
                self.count_lines(start);
                self.others.has_message = true;
                let from = start.saturating_sub(PREFIX).max(self.before);
                from + memrchr(b'\n', &self.window[from..start]).map_or(0, |at| at + 1)
            }
            Kind::Stream => start,
        };
        self.found = Hit {
            start,
            end: start + len,
            prefix: line_start,
            rewritten,
            offset: self.base + start as u64,
            line: self.line,
            fault,
        };
        self.at = start + len;
        self.before = self.at;
        // A message may contain line ends.
        if self.kind == Kind::Lines {
            let lines = memchr_iter(b'\n', &self.window[start..self.at]).count();
            self.line += lines as u64;
            self.counted = self.at;
        }
    }

    /// Counts lines up to this position of the window.
    fn count_lines(&mut self, to: usize) {
        if self.kind == Kind::Lines && to > self.counted {
            let text = &self.window[self.counted..to];
            self.line += match self.needle {
                Some(_) => memchr_iter(b'\n', text).count() as u64,
                None => self.others.pass(text),
            };
            self.counted = to;
        }
    }

    /// Number of lines without a message so far, including the current line. Blank lines do not count.
    pub(crate) fn other_lines(&self) -> u64 {
        let mut others = self.others;
        others.pass(&self.window[self.counted..self.filled]);
        others.end_line();
        others.count
    }

    /// The message that was found, as it was sent.
    pub(crate) fn message(&self) -> &[u8] {
        match self.found.rewritten {
            true => &self.normal,
            false => &self.window[self.found.start..self.found.end],
        }
    }

    /// The text before the message on its line.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.window[self.found.prefix..self.found.start]
    }

    /// The position after the message that was found.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.found.end as u64
    }

    /// The line number at the position after the message found.
    pub(crate) fn end_line(&self) -> u64 {
        self.line
    }

    /// The position after the last byte that was read.
    pub(crate) fn read_to(&self) -> u64 {
        self.base + self.filled as u64
    }

    /// The position at which the search continues.
    pub(crate) fn searched(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Number of bytes in memory.
    pub(crate) fn held(&self) -> usize {
        self.window.len()
    }

    /// Space for the next bytes; [`Scanner::filled`] must report how many were read. Drops the message that was
    /// found.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.room_of(self.block)
    }

    fn room_of(&mut self, least: usize) -> &mut [u8] {
        let keep = self.at.saturating_sub(PREFIX);
        // Moving data to free a small part would cost more than it saves.
        if keep >= self.filled - keep {
            self.drop_before(keep);
        }
        // A long message is read in pieces that become larger, so that it is examined only a few times.
        let wanted = self.filled + least.max(self.filled / 2);
        if self.window.len() < self.filled + least {
            self.window.resize(wanted, 0);
        } else if self.filled == 0 && self.window.len() > 4 * (least + PREFIX) {
            self.window.truncate(least);
            self.window.shrink_to_fit();
        }
        &mut self.window[self.filled..]
    }

    fn drop_before(&mut self, keep: usize) {
        self.count_lines(keep);
        self.window.copy_within(keep..self.filled, 0);
        self.filled -= keep;
        self.base += keep as u64;
        self.at -= keep;
        self.counted = self.counted.saturating_sub(keep);
        self.before = self.before.saturating_sub(keep);
    }

    /// Records that this number of bytes was read into the space.
    pub(crate) fn filled(&mut self, len: usize) {
        self.filled += len;
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.room_of(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Continues at another position and drops incomplete messages. `line` is the line number there, if the position
    /// is in another file.
    pub(crate) fn jump(&mut self, place: u64, line: Option<u64>) {
        self.count_lines(self.filled);
        self.line = line.unwrap_or(self.line);
        (self.base, self.filled, self.at) = (place, 0, 0);
        (self.counted, self.before) = (0, 0);
    }
}

/// The last position before `end` at which a message may begin. Neither `58=FIX` nor a text that mentions `8=FIX.4.4`
/// begins a message.
fn last_begin(text: &[u8], mut end: usize) -> Option<usize> {
    loop {
        let at = memmem::rfind(&text[..end], BEGIN)?;
        let is_within = at > 0 && text[at - 1].is_ascii_digit();
        if !is_within && find::may_begin(&text[at..]) {
            return Some(at);
        }
        end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All results of a scan with these input blocks.
    fn scanned(bytes: &[u8], kind: Kind, cuts: &[usize]) -> Vec<String> {
        let mut scanner = Scanner::new(kind, 16);
        let mut said = Vec::new();
        let mut from = 0;
        let mut cuts = cuts
            .iter()
            .map(|cut| cut % (bytes.len() + 1))
            .collect::<Vec<_>>();
        cuts.sort_unstable();
        cuts.push(bytes.len());
        for to in cuts {
            scanner.push(&bytes[from..to.max(from)]);
            from = to.max(from);
            let ended = from == bytes.len();
            loop {
                match scanner.next(ended) {
                    Scan::Message => {
                        let Hit {
                            offset,
                            line,
                            fault,
                            ..
                        } = scanner.found;
                        let message = scanner.message().escape_ascii().to_string();
                        let prefix = scanner.prefix().escape_ascii().to_string();
                        said.push(format!("{offset} {line} {prefix} {message} {fault:?}"));
                    }
                    Scan::LeftOut(at, len, why) => said.push(format!("{at} {len} {why}")),
                    Scan::More => break,
                }
            }
        }
        said.dedup();
        said
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let message = ("[0-9A-Z=|]{0,40}", 0_usize..4).prop_map(|(text, wrong)| {
            let body = format!("35=D\x0158={text}\x01");
            let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len() + wrong / 3);
            let sum = fixwire_protocol::frame::check_sum(whole.as_bytes());
            format!("{whole}10={sum:03}\x01").into_bytes()
        });
        let between = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"20261120-10:00:00.123 : ".to_vec()),
            Just(b"8=FIX".to_vec()),
            Just(b"8=FIX.4.4|9=10|35=0|10=".to_vec()),
            Just(b"8=FIX.4.4\x019=10\x0135=0\x0110=16".to_vec()),
            Just(b" (OK)\r\n".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..20),
        ];
        let bars = message.clone().prop_map(|bytes| {
            bytes
                .iter()
                .map(|byte| if *byte == 1 { b'|' } else { *byte })
                .collect::<Vec<_>>()
        });
        prop_oneof![message.clone(), bars, between.clone(), between]
    }

    /// Start and end of each message; those without the needle may be skipped.
    fn places(bytes: &[u8], block: usize, needle: Option<&[u8]>) -> Vec<(usize, usize)> {
        let mut scanner = Scanner::new(Kind::Lines, 16);
        if let Some(needle) = needle {
            scanner.pass_over(needle);
        }
        let mut found = Vec::new();
        let mut blocks = bytes.chunks(block).peekable();
        while let Some(block) = blocks.next() {
            scanner.push(block);
            loop {
                match scanner.next(blocks.peek().is_none()) {
                    Scan::Message => {
                        found.push((scanner.found.offset as usize, scanner.end() as usize));
                    }
                    Scan::LeftOut(..) => {}
                    Scan::More => break,
                }
            }
        }
        found
    }

    /// A line with a message whose values mention FIX.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let field = prop_oneof![
            Just("55=VOD\x01"),
            Just("198=FIX7\x01"),
            Just("448=FIXDESK\x01"),
            Just("58=8=FIX.4.4 and 8=FIX.4.2\x01"),
            Just("11=A1\x01"),
        ];
        proptest::collection::vec(field, 0..6).prop_map(|fields| {
            let body = format!("35=8\x01{}", fields.concat());
            let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
            let sum = fixwire_protocol::frame::check_sum(whole.as_bytes());
            format!("10:00:00 : {whole}10={sum:03}\x01\n").into_bytes()
        })
    }

    proptest! {
        #[test]
        fn what_is_looked_for_is_not_passed_over(
            pieces in proptest::collection::vec(line(), 0..12),
            block in 1_usize..200,
        ) {
            let bytes = pieces.concat();
            let needle = b"55=VOD";
            let mut all = places(&bytes, block, None);
            all.retain(|(from, to)| memmem::find(&bytes[*from..*to], needle).is_some());
            let found = places(&bytes, block, Some(needle));
            for place in all {
                prop_assert!(found.contains(&place), "{place:?} of {found:?}");
            }
        }

        #[test]
        fn any_split_into_blocks_gives_the_same(
            pieces in proptest::collection::vec(piece(), 0..20),
            cuts in proptest::collection::vec(any::<usize>(), 0..40),
            stream in any::<bool>(),
        ) {
            let bytes = pieces.concat();
            let kind = if stream { Kind::Stream } else { Kind::Lines };
            prop_assert_eq!(scanned(&bytes, kind, &[]), scanned(&bytes, kind, &cuts));
        }
    }

    #[test]
    fn the_next_message_may_begin_within_a_sum() {
        let bytes = b"8=FIX.4.2\x019=5\x0135=0\x0110=168=FIX.4.2\x019=5\x0135=0\x0110=161\x01";
        let whole = scanned(bytes, Kind::Stream, &[]);
        assert_eq!(whole.len(), 2, "{whole:?}");
        for cut in 0..bytes.len() {
            assert_eq!(scanned(bytes, Kind::Stream, &[cut]), whole, "{cut}");
        }
    }

    #[test]
    fn a_long_line_is_passed_over_within_little_memory() {
        let mut scanner = Scanner::new(Kind::Lines, 1 << 16);
        for _ in 0..3000 {
            scanner.push(&[b'x'; 1 << 16]);
            assert_eq!(scanner.next(false), Scan::More);
        }
        scanner.push(b"\n8=FIX.4.4|9=5|35=0|10=161|\n");
        assert_eq!(scanner.next(true), Scan::Message);
        assert_eq!(
            (scanner.found.offset, scanner.found.line),
            ((3000 << 16) + 1, 2)
        );
        assert!(scanner.held() < 1 << 18, "{}", scanner.held());
    }
}
