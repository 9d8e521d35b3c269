//! The text before a message on its line, which may state the time and the direction of the message.

use fixwire_journal::Direction;
use fixwire_protocol::Timestamp;

use crate::zone::{Clock, SECOND, offset};

/// Words before a message that state its direction, in lower case.
const INCOMING: [&str; 9] = [
    "<in>", "[in]", " in ", "incoming", "received", "recv", "inbound", "<--", "<<",
];
const OUTGOING: [&str; 9] = [
    "<out>", "[out]", " out ", "outgoing", "sent", "sending", "outbound", "-->", ">>",
];

/// The first bytes of the words in the two lists above.
const FIRST: &[u8] = b"<[ iros->";
/// Maximum length of a prefix. In a log line only a few words precede the message; a longer text is not from a log
/// line.
const LONGEST: usize = 256;

/// The time in a prefix, for example `20260821-13:30:00.123 : `; `None` when it has no time.
pub(crate) fn moment(prefix: &[u8], clock: &mut Clock) -> Option<Timestamp> {
    let prefix = prefix.trim_ascii_start();
    let mut from = 0;
    // The time comes first, or after a few words, such as the log level.
    for _ in 0..4 {
        let rest = &prefix[from..];
        let found = calendar(rest, clock).or_else(|| epoch(rest).filter(|_| from == 0));
        if found.is_some() {
            return found;
        }
        let blank = rest.iter().position(|byte| b" [".contains(byte))?;
        from += blank + 1;
    }
    None
}

/// Reads a date, a separator, and a time.
fn calendar(text: &[u8], clock: &mut Clock) -> Option<Timestamp> {
    let text = text.strip_prefix(b"[").unwrap_or(text);
    // Convert to the FIX form: 20260821-13:30:00.
    let mut whole = *b"00000000-00:00:00";
    let dash = text.get(4).copied().filter(|byte| b"/-".contains(byte));
    let (date, time) = whole.split_at_mut(8);
    let mut rest = text;
    copy(&mut rest, None, &mut date[..4])?;
    copy(&mut rest, dash, &mut date[4..6])?;
    copy(&mut rest, dash, &mut date[6..])?;
    let between = rest.split_off_first()?;
    if !b"- T".contains(between) {
        return None;
    }
    copy(&mut rest, None, &mut time[1..3])?;
    copy(&mut rest, Some(b':'), &mut time[4..6])?;
    copy(&mut rest, Some(b':'), &mut time[7..])?;
    let whole = Timestamp::parse(&whole).ok()?;
    let mut nanos = 0;
    if let Some((b'.' | b',', behind)) = rest.split_first() {
        let len = behind
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (fraction, behind) = behind.split_at(len);
        nanos = (0..9).fold(0, |nanos, at| {
            nanos * 10 + fraction.get(at).map_or(0, |digit| i64::from(digit - b'0'))
        });
        rest = behind;
    }
    let local = Timestamp(whole.0.checked_add(nanos)?);
    let zone_end = rest
        .iter()
        .position(|byte| b" ]:|,\t".contains(byte) && !rest.starts_with(b"+"));
    let zone = match rest.first() {
        Some(b'+' | b'-') => rest
            .get(..6)
            .and_then(offset)
            .or_else(|| offset(rest.get(..5)?)),
        _ => offset(&rest[..zone_end.unwrap_or(rest.len())]),
    };
    match zone {
        Some(seconds) => local.0.checked_sub(seconds * SECOND).map(Timestamp),
        None => clock.moment(local),
    }
}

/// Copies digits up to the separator, and skips digits and separator. `None` when the text is shorter or has another
/// separator.
fn copy(text: &mut &[u8], separator: Option<u8>, to: &mut [u8]) -> Option<()> {
    if let Some(separator) = separator {
        *text = text.strip_prefix(&[separator])?;
    }
    to.copy_from_slice(text.split_off(..to.len())?);
    Some(())
}

/// A number of seconds since 1970, or of smaller units: `%20s: ` as Artio's FixArchivePrinter writes it.
fn epoch(text: &[u8]) -> Option<Timestamp> {
    let mut rest = text;
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // From 2001 to 2286, times have this number of digits.
    let unit = match len {
        10 => SECOND,
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => return None,
    };
    let number = digits(&mut rest, len)?;
    let ends = rest.starts_with(b":") || rest.starts_with(b" ");
    number.checked_mul(unit).filter(|_| ends).map(Timestamp)
}

fn digits(text: &mut &[u8], len: usize) -> Option<i64> {
    let (digits, behind) = text.split_at_checked(len)?;
    let is_number = digits.iter().all(u8::is_ascii_digit);
    *text = behind;
    str::from_utf8(digits)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

/// The direction that a prefix states; `None` when none of its words states one.
pub(crate) fn direction(prefix: &[u8]) -> Option<Direction> {
    if prefix.is_empty() || prefix.len() > LONGEST {
        return None;
    }
    let mut text = [0; LONGEST];
    let text = &mut text[..prefix.len()];
    text.copy_from_slice(prefix);
    text.make_ascii_lowercase();
    // A search that is prepared for each word would take longer than the text.
    let has = |words: &[&str], at: usize| {
        let starts = |word: &&str| text[at..].starts_with(word.as_bytes());
        words.iter().any(starts)
    };
    let (mut comes, mut goes) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        if FIRST.contains(byte) {
            comes = comes || has(&INCOMING, at);
            goes = goes || has(&OUTGOING, at);
        }
    }
    match (comes, goes) {
        (true, false) => Some(Direction::In),
        (false, true) => Some(Direction::Out),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::LogZone;

    #[test]
    fn the_time_of_each_engine_is_read() {
        let mut clock = Clock::new(LogZone::parse("+01:00").unwrap());
        let mut at = |prefix: &str| moment(prefix.as_bytes(), &mut clock).map(|it| it.0);
        // 2026-08-21T13:30:00.123456789Z
        let moment = 1_787_319_000_123_456_789;
        let (millis, micros) = (moment / 1_000_000 * 1_000_000, moment / 1000 * 1000);
        let hour = 3600 * SECOND;
        for (prefix, expected) in [
            ("20260821-13:30:00.123456789 : ", moment - hour),
            ("20260821-13:30:00.123 : ", millis - hour),
            ("20260821-13:30:00: ", moment / SECOND * SECOND - hour),
            ("2026/08/21 13:30:00.123456 ", micros - hour),
            ("20260821 13:30:00.123 - ", millis - hour),
            ("20260821 13:30:00.123456700 - ", moment - 89 - hour),
            ("2026-08-21T13:30:00.123Z INFO ", millis),
            ("2026-08-21 13:30:00,123 INFO [main] ", millis - hour),
            ("2026-08-21T13:30:00.123+02:00 ", millis - 2 * hour),
            ("INFO [2026-08-21T15:30:00.123+0200] x ", millis),
            (" 1787319000123456789: ", moment),
            ("       1787319000123: ", millis),
            ("    1787319000123456: ", micros),
        ] {
            assert_eq!(at(prefix), Some(expected), "{prefix}");
        }
        for prefix in [
            "",
            "x : ",
            "20261321-13:30:00 : ",
            "12345: ",
            "2026-08/21 13:30:00 ",
        ] {
            assert_eq!(at(prefix), None, "{prefix}");
        }
    }

    #[test]
    fn every_word_of_a_direction_is_found_at_each_place() {
        for (words, expected) in [(INCOMING, Direction::In), (OUTGOING, Direction::Out)] {
            for word in words {
                let upper = word.to_ascii_uppercase();
                for prefix in [
                    format!("{word}x"),
                    format!("1234: {upper}"),
                    format!("7{word}7"),
                ] {
                    assert_eq!(direction(prefix.as_bytes()), Some(expected), "{prefix}");
                }
                let longest = format!("{}{word}", "7".repeat(LONGEST - word.len()));
                assert_eq!(direction(longest.as_bytes()), Some(expected), "{word}");
                assert_eq!(direction(format!("7{longest}").as_bytes()), None, "{word}");
            }
        }
    }

    #[test]
    fn the_direction_is_that_of_the_words_before() {
        for (prefix, expected) in [
            (
                "2026-08-21 INFO quickfixj.msg.incoming - FIX.4.4:A->B: ",
                Some(Direction::In),
            ),
            ("<OUT> ", Some(Direction::Out)),
            ("received, not sent: ", None),
            ("20260821-13:30:00.123 : ", None),
        ] {
            assert_eq!(direction(prefix.as_bytes()), expected, "{prefix}");
        }
    }
}
