//! Finds the end of a message in a text or a byte stream, for any separator between fields.

use fixwire_protocol::SOH;
use fixwire_protocol::frame::{self, Frame, Garbled};
use memchr::{memchr, memmem};

/// The beginning of each message.
pub(crate) const BEGIN: &[u8] = b"8=FIX";
/// Maximum length of a message.
pub(crate) const LONGEST: usize = 16 << 20;
/// Length of the shortest message. This number of bytes is enough to read the version, the separator, and (with a
/// separator of one byte) BodyLength(9).
const LOOK: usize = 26;
/// Length of `10=ddd`, without the separator.
const SUM: usize = 6;
/// Separators of several bytes that log writers print for SOH.
const WORDS: [&[u8]; 9] = [
    b"\\x01",
    b"\\u0001",
    b"\\001",
    b"<SOH>",
    b"[SOH]",
    b"^A",
    "\u{2401}".as_bytes(),
    b"&#1;",
    b"&#x01;",
];

/// Maximum length of a version after `FIX`.
const LONGEST_VERSION: usize = 8;
/// Maximum length of a separator that is not in [`WORDS`].
const MOST_BETWEEN: usize = 4;

/// The kind of source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A text with lines. A message without a valid frame ends with its line.
    Lines,
    /// The data of a connection.
    Stream,
}

/// Result of examining bytes that begin with [`BEGIN`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    /// A message.
    Message {
        /// Number of bytes that the message occupies in the source.
        len: usize,
        /// Whether `normal` has the message as it was sent, because the bytes in the source differ from the sent
        /// bytes.
        rewritten: bool,
        /// The fault of the message's frame; `None` for a correct frame.
        fault: Option<Garbled>,
    },
    /// No message begins here: the text only mentions a FIX version.
    NotOne,
    /// A message without an end. The value is the number of bytes that belong to the message.
    Cut(usize),
    /// The message does not end within [`LONGEST`] bytes.
    TooLong,
    /// More bytes are needed.
    More,
}

/// Examines `bytes`, which begin with [`BEGIN`]. `ended` is true when no bytes follow. If the message is printed with
/// another separator than SOH, `normal` gets the message as it was sent.
pub(crate) fn find(bytes: &[u8], ended: bool, kind: Kind, normal: &mut Vec<u8>) -> Found {
    if bytes.len() < LOOK && !ended {
        return Found::More;
    }
    let head = &bytes[..bytes.len().min(LOOK)];
    let Some(version_end) = version_end(head) else {
        return Found::NotOne;
    };
    let Some(between) = between(&head[version_end..]) else {
        // A stream may be cut anywhere. In a text, an ending like this only mentions a version.
        let is_cut = ended && kind == Kind::Stream && head.len() < LOOK;
        return if is_cut {
            Found::Cut(bytes.len())
        } else {
            Found::NotOne
        };
    };
    let text = Text {
        bytes,
        ended,
        kind,
        between: &head[version_end..version_end + between],
    };
    let stated = text.stated_length(version_end + between);
    let framed = match between {
        1 => stated.and_then(|total| text.framed(total, normal)),
        _ => text.framed_by_words(version_end + between, normal),
    };
    match framed {
        Some(Found::NotOne) | None => text.unframed(stated, normal),
        Some(found) => found,
    }
}

/// Whether a message may begin here, judging from the bytes that are available.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    let Some(head) = bytes.get(..LOOK) else {
        return false;
    };
    version_end(head).is_some_and(|end| between(&head[end..]).is_some())
}

/// The end of the version after `8=FIX`; versions with other spellings, such as `FIX.5.0SP2` or `FIX4.4`, are
/// accepted. `None` when no version follows.
fn version_end(head: &[u8]) -> Option<usize> {
    let rest = head.get(BEGIN.len()..)?;
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'.';
    let len = rest.iter().take_while(|byte| is_part(byte)).count();
    let has_number = rest[..len].iter().any(u8::is_ascii_digit);
    (len <= LONGEST_VERSION && has_number).then_some(BEGIN.len() + len)
}

/// Length of the separator after the version.
fn between(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"\x019=") {
        return Some(1);
    }
    let field_at = |at: usize| {
        let rest = rest.get(at..).unwrap_or_default();
        rest.starts_with(b"9=") || rest.starts_with(b"35=")
    };
    let word = WORDS.iter().find(|word| rest.starts_with(word));
    if let Some(word) = word.filter(|word| field_at(word.len())) {
        return Some(word.len());
    }
    for len in 1..=MOST_BETWEEN {
        let byte = *rest.get(len - 1)?;
        let is_name = byte.is_ascii_alphanumeric() || b"=.\r\n".contains(&byte);
        if is_name {
            return None;
        }
        if field_at(len) {
            return Some(len);
        }
    }
    None
}

/// A message whose end is not known yet.
struct Text<'a> {
    bytes: &'a [u8],
    ended: bool,
    kind: Kind,
    /// The separator between the fields of a message.
    between: &'a [u8],
}

impl Text<'_> {
    /// Reads BodyLength(9) at this position: the start of the body, and the length of the body as sent. `None` when
    /// it is not a number, or an impossible one.
    fn body(&self, at: usize) -> Option<(usize, usize)> {
        let rest = self.bytes.get(at..)?.strip_prefix(b"9=")?;
        let digits = rest
            .iter()
            .take(10)
            .take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        let len: usize = str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        let is_whole = rest[digits..].starts_with(self.between);
        (is_whole && len >= 5).then_some((at + 2 + digits + self.between.len(), len))
    }

    /// The length of the whole message according to BodyLength(9), for a separator of one byte; `None` without a
    /// usable BodyLength.
    fn stated_length(&self, at: usize) -> Option<usize> {
        let (begin, len) = self.body(at)?;
        Some(begin + len + SUM + 1)
    }

    /// The message, for a separator of several bytes, if it ends where BodyLength says. The data fields of a message
    /// may contain other messages. `None` when it does not end there.
    fn framed_by_words(&self, at: usize, normal: &mut Vec<u8>) -> Option<Found> {
        let (mut place, len) = self.body(at)?;
        if len > LONGEST {
            return None;
        }
        let more = || (!self.ended).then_some(Found::More);
        for _ in 0..len {
            let rest = &self.bytes[place..];
            if rest.len() < self.between.len() {
                return more();
            }
            place += if rest.starts_with(self.between) {
                self.between.len()
            } else {
                1
            };
        }
        let (body, rest) = self.bytes.split_at(place);
        if rest.len() < SUM + self.between.len() && !self.ended {
            return more();
        }
        let sum = rest.strip_prefix(b"10=")?;
        let is_sum = sum.get(..3)?.iter().all(u8::is_ascii_digit);
        // At the end of a line, the last separator may be missing.
        let behind = match &sum[3..] {
            behind if behind.starts_with(self.between) => self.between.len(),
            [] | [b'\r' | b'\n', ..] if self.kind == Kind::Lines => 0,
            _ => return None,
        };
        if !is_sum || !body.ends_with(self.between) {
            return None;
        }
        let len = place + SUM + behind;
        let wrong = restore(&self.bytes[..len], self.between, normal);
        Some(Found::Message {
            len,
            rewritten: true,
            fault: wrong,
        })
    }

    /// The message, if it ends where BodyLength says; `None` when it does not end there.
    fn framed(&self, total: usize, normal: &mut Vec<u8>) -> Option<Found> {
        if total > LONGEST {
            return None;
        }
        let last = total - 1;
        let Some(message) = self.bytes.get(..last) else {
            return (!self.ended).then_some(Found::More);
        };
        // At the end of a line, the last separator may be missing.
        let delimiter = self.between[0];
        let len = match self.bytes.get(last) {
            Some(byte) if *byte == delimiter => total,
            Some(b'\r' | b'\n') if self.kind == Kind::Lines => last,
            Some(_) => return None,
            None if !self.ended => return Some(Found::More),
            None if self.kind == Kind::Lines => last,
            None => return None,
        };
        let (body, sum) = message.split_at(last - SUM);
        let is_sum = sum.starts_with(b"10=") && sum[3..].iter().all(u8::is_ascii_digit);
        if !is_sum || body.last() != Some(&delimiter) {
            return None;
        }
        if delimiter == SOH && len == total {
            return Some(Found::Message {
                len,
                rewritten: false,
                fault: fault(&self.bytes[..len]),
            });
        }
        let wrong = restore(message, self.between, normal);
        Some(Found::Message {
            len,
            rewritten: true,
            fault: wrong,
        })
    }

    /// The message up to its trailer; without a trailer, up to the end of its line.
    fn unframed(&self, stated: Option<usize>, normal: &mut Vec<u8>) -> Found {
        let most = &self.bytes[..self.bytes.len().min(LONGEST)];
        let next = memmem::find(&most[BEGIN.len()..], BEGIN).map(|at| at + BEGIN.len());
        let end = next.unwrap_or(most.len());
        let line = match self.kind {
            Kind::Lines => memchr(b'\n', &most[..end]),
            Kind::Stream => None,
        };
        let text = &most[..line.unwrap_or(end)];
        let is_closed = line.or(next).is_some() || self.ended && most.len() == self.bytes.len();
        let trailer = trailer(text, self.between, is_closed);
        let len = match (trailer, is_closed) {
            (Some(end), _) => end,
            (None, false) if most.len() < LONGEST => return Found::More,
            (None, false) => return Found::TooLong,
            (None, true) => {
                let is_short = match stated {
                    Some(total) => total > text.len(),
                    None => memmem::find(text, b"35=").is_none(),
                };
                let is_open = line.or(next).is_none();
                if self.kind == Kind::Stream || is_open && is_short {
                    return Found::Cut(text.len());
                }
                text.len() - text.iter().rev().take_while(|byte| **byte == b'\r').count()
            }
        };
        let message = &self.bytes[..len];
        if self.between == [SOH] && message.ends_with(&[SOH]) && !has_escapes(message) {
            return Found::Message {
                len,
                rewritten: false,
                fault: fault(message),
            };
        }
        let wrong = restore(message, self.between, normal);
        Found::Message {
            len,
            rewritten: true,
            fault: wrong,
        }
    }
}

/// The end of the first CheckSum(10) in a text, including its separator. `None` when the text has no complete
/// CheckSum(10), or not yet.
fn trailer(text: &[u8], between: &[u8], is_closed: bool) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memmem::find(&text[from..], b"10=") {
        let at = from + at;
        let behind = &text[at + 3..];
        from = at + 3;
        if !text[..at].ends_with(between) {
            continue;
        }
        let ends = behind.len() >= 3 && behind[3..].starts_with(between);
        // The next message may begin before three digits are complete.
        let least = 3 + between.len().max(BEGIN.len() - 1);
        if !ends && behind.len() < least && !is_closed {
            return None;
        }
        let is_sum = behind.len() >= 3 && behind[..3].iter().all(u8::is_ascii_digit);
        if !is_sum || behind.get(3).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        return Some(at + SUM + if ends { between.len() } else { 0 });
    }
    None
}

/// Writes a message into `normal` as it was sent. When several readings are possible, the one with a correct frame is
/// used; if no reading has one, each separator ends a field. Returns what is wrong with the frame.
fn restore(message: &[u8], between: &[u8], normal: &mut Vec<u8>) -> Option<Garbled> {
    // Of readings of the same length, CheckSum(10) fits one at most, unless they differ in 256 separators. Most messages
    // have no separator in a value.
    if between.len() == 1 {
        replace(message, between, normal);
        fault(normal)?;
    }
    rewrite(message, between, normal);
    fault(normal)?;
    if has_escapes(normal) {
        let plain = unescape(normal);
        if fault(&plain).is_none() {
            *normal = plain;
            return None;
        }
    }
    replace(message, between, normal);
    fault(normal)
}

/// Writes a message with SOH in place of each separator.
fn replace(message: &[u8], between: &[u8], normal: &mut Vec<u8>) {
    normal.clear();
    if let [one] = between {
        let sent = |byte: &u8| if byte == one { SOH } else { *byte };
        normal.extend(message.iter().map(sent));
    } else {
        let mut from = 0;
        for at in memmem::find_iter(message, between) {
            normal.extend_from_slice(&message[from..at]);
            normal.push(SOH);
            from = at + between.len();
        }
        normal.extend_from_slice(&message[from..]);
    }
    if normal.last() != Some(&SOH) {
        normal.push(SOH);
    }
}

/// Writes a message with SOH after each field. A separator counts only where a tag follows, or where the message
/// ends.
fn rewrite(message: &[u8], between: &[u8], normal: &mut Vec<u8>) {
    normal.clear();
    let mut from = 0;
    for at in memmem::find_iter(message, between) {
        let behind = at + between.len();
        let rest = &message[behind..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_end = rest.is_empty() || digits > 0 && rest.get(digits) == Some(&b'=');
        if at >= from && (is_end || between == [SOH]) {
            normal.extend_from_slice(&message[from..at]);
            normal.push(SOH);
            from = behind;
        }
    }
    normal.extend_from_slice(&message[from..]);
    if normal.last() != Some(&SOH) {
        normal.push(SOH);
    }
}

/// The fault of a message's frame; `None` for a correct frame.
fn fault(message: &[u8]) -> Option<Garbled> {
    match frame::next(message, message.len()) {
        Frame::Whole { skip: 0, len } if len == message.len() => None,
        Frame::Garbled { why, .. } => Some(why),
        Frame::TooLarge { .. } => Some(Garbled::BodyLength),
        Frame::Whole { .. } | Frame::Partial { .. } => Some(Garbled::Trailer),
    }
}

fn has_escapes(message: &[u8]) -> bool {
    memmem::find(message, b"\\x").is_some()
}

/// Decodes each `\xNN` into a byte.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.strip_prefix(b"x").and_then(|it| it.get(..2));
        let digits = digits.filter(|it| *first == b'\\' && it.iter().all(u8::is_ascii_hexdigit));
        let value = digits.and_then(|it| u8::from_str_radix(str::from_utf8(it).ok()?, 16).ok());
        plain.push(value.unwrap_or(*first));
        rest = if value.is_some() {
            &behind[3..]
        } else {
            behind
        };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first message of a text, with `|` for SOH, its length in the text, and its fault.
    fn found(text: &str) -> Option<(String, usize, bool)> {
        let mut normal = Vec::new();
        match find(text.as_bytes(), true, Kind::Lines, &mut normal) {
            Found::Message {
                len,
                rewritten,
                fault,
            } => {
                let bytes = if rewritten {
                    &normal
                } else {
                    &text.as_bytes()[..len]
                };
                let text = String::from_utf8_lossy(bytes).replace('\x01', "|");
                Some((text, len, fault.is_none()))
            }
            _ => None,
        }
    }

    fn message(body: &str) -> String {
        let text = format!("8=FIX.4.4|9={}|{body}", body.len()).replace('|', "\x01");
        let text = text.replace('!', "|");
        format!("{text}10={:03}\x01", frame::check_sum(text.as_bytes()))
    }

    #[test]
    fn every_delimiter_gives_the_same_message() {
        let sent = message("35=D|11=A1|58=10=5^A|");
        let shown = sent.replace('\x01', "|");
        for between in [
            "\x01", "|", ";", "^", " | ", "^A", "\\x01", "\\u0001", "<SOH>", "[SOH]", "\u{2401}",
            "~",
        ] {
            let text = sent.replace('\x01', between);
            for (end, cut) in [("", 0), (" (OK)\n", 0), ("\r\n", 0), ("\n", between.len())] {
                let line = format!("{}{end}", &text[..text.len() - cut]);
                let (message, len, is_whole) = found(&line).expect(&line);
                assert_eq!((&message, is_whole), (&shown, true), "{line}");
                assert_eq!(len, text.len() - cut, "{line}");
            }
        }
    }

    #[test]
    fn a_message_within_a_data_field_does_not_end_the_one_around_it() {
        let inner = message("35=D|34=7|11=IN|");
        let plain = inner.replace('\x01', "|");
        // XMLnonFIX as CME uses it, and RawData of any other message.
        for body in [
            format!("35=n|212={}|213={plain}|49=A|", inner.len()),
            format!("35=B|148=x|95={}|96={plain}|58=behind|", inner.len()),
        ] {
            let sent = message(&body);
            for between in [
                "\x01", "|", "^A", "\\x01", "<SOH>", " | ", "\u{2401}", "&#x01;",
            ] {
                let line = format!("{}\n", sent.replace('\x01', between));
                let (text, len, is_whole) = found(&line).expect(&line);
                assert!(is_whole, "{between}: {text}");
                assert_eq!(text, sent.replace('\x01', "|"), "{between}");
                assert_eq!(len, line.len() - 1, "{between}");
            }
        }
    }

    #[test]
    fn a_delimiter_within_a_value_stays() {
        for body in ["35=D|58=a!b|", "35=D|58=a!12|", "35=B|95=8|96=x\n!1=y\n|"] {
            let sent = message(body);
            let (text, _, is_whole) = found(&sent.replace('\x01', "|")).unwrap();
            // A value that looks like a field counts as an additional field.
            if !body.contains("!1=") {
                assert_eq!(text.replace('|', "!"), sent.replace(['\x01', '|'], "!"));
                assert!(is_whole, "{text}");
            }
            let (text, len, is_whole) = found(&format!("{sent}8=FIX")).unwrap();
            assert_eq!((len, is_whole), (sent.len(), true), "{text}");
        }
    }

    #[test]
    fn control_characters_that_a_log_escaped_are_those_that_were_sent() {
        let sent = message("35=D|58=a\nb\u{e9}\\x4|");
        let printed = sent.replace('\n', "\\x0a");
        let (text, _, is_whole) = found(&printed).unwrap();
        assert!(is_whole, "{text}");
        assert_eq!(text, sent.replace('\x01', "|"));
    }

    #[test]
    fn a_message_with_a_wrong_frame_ends_with_its_trailer_or_its_line() {
        for (line, shown) in [
            (
                "8=FIX.4.4|9=5|35=D|11=x|10=000|more",
                "8=FIX.4.4|9=5|35=D|11=x|10=000|",
            ),
            ("8=FIX.4.2|35=D|58=a\r\nnext", "8=FIX.4.2|35=D|58=a|"),
            (
                "8=FIX.4.2|9=500|35=D|58=a\n8=FIX.4.2|9=5|35=0|10=0",
                "8=FIX.4.2|9=500|35=D|58=a|",
            ),
            (
                "8=FIX.4.2|9=x|35=D|10=1234|11=a\n",
                "8=FIX.4.2|9=x|35=D|10=1234|11=a|",
            ),
        ] {
            let (text, _, is_whole) = found(line).unwrap();
            assert_eq!((text.as_str(), is_whole), (shown, false));
        }
    }

    #[test]
    fn a_version_that_the_standard_does_not_have_is_read() {
        for version in ["FIX.5.0SP2", "FIX4.4", "FIX.5.0", "FIXT.1.2", "FIX.4.10"] {
            let sent = message("35=D|11=x|").replace("FIX.4.4", version);
            for line in [
                sent.clone(),
                sent.replace('\x01', "|"),
                sent.replace('\x01', "^A"),
            ] {
                let (text, len, _) = found(&line).expect(&line);
                assert_eq!((text, len), (sent.replace('\x01', "|"), line.len()));
            }
        }
    }

    #[test]
    fn what_only_speaks_of_a_message_is_none() {
        for text in [
            "8=FIX.4.4",
            "8=FIX.4.4 is not supported",
            "8=FIXX",
            "8=FIX.4.4|11=x|",
            "8=FIX.44|9=5|",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        let cut = &message("35=D|11=x|")[..30];
        assert_eq!(
            find(cut.as_bytes(), true, Kind::Lines, &mut Vec::new()),
            Found::Cut(cut.len())
        );
        assert_eq!(
            find(cut.as_bytes(), true, Kind::Stream, &mut Vec::new()),
            Found::Cut(cut.len())
        );
    }
}
