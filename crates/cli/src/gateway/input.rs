//! The messages of logs and journals, one after the other.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use fixwire::journal::{JournalError, JournalPosition, Originals, RecordKind, Tail};
use fixwire::regular;
use fixwire_protocol::SOH;

use crate::failure::Failure;

/// The most bytes of a line.
const LONGEST_LINE: u64 = 64 << 20;

/// A line of a log, or a message of a journal.
pub struct Item<'a> {
    /// The file and the line, `messages.log:3`, or the journal, its segment and the byte in it.
    pub place: &'a str,
    /// From `8=FIX` on, with SOH behind each field; `None` when the line has no message.
    pub message: Option<&'a [u8]>,
}

/// Hands out what a log, a journal's folder or (`-`) the standard input has. Of a journal these are the
/// messages that came in.
///
/// # Errors
///
/// What the system answers, and those of `each`.
pub fn read(
    path: &Path,
    each: &mut impl FnMut(Item<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        return lines(io::stdin().lock(), "stdin", each);
    }
    let name = path.display().to_string();
    if path.is_dir() {
        return journal(path, &name, each);
    }
    let file = regular::open(path).map_err(|error| Failure::Text(format!("{name}: {error}")))?;
    lines(BufReader::new(file), &name, each)
}

fn lines(
    mut input: impl BufRead,
    name: &str,
    each: &mut impl FnMut(Item<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        let place = &format!("{name}:{number}");
        let failed = |what: String| Failure::Text(format!("{place}: {what}"));
        line.clear();
        let mut limited = Read::take(&mut input, LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut line);
        if read.map_err(|error| failed(error.to_string()))? == 0 {
            break;
        }
        if line.len() as u64 == LONGEST_LINE {
            let what = format!("the line is longer than {LONGEST_LINE} bytes");
            return Err(failed(what));
        }
        let is_empty = line.trim_ascii().is_empty();
        let message = message(&mut line);
        if !is_empty {
            each(Item { place, message })?;
        }
    }
    Ok(())
}

/// CheckSum(10) with the SOH before and behind it.
const TRAILER: usize = b"\x0110=000\x01".len();

/// The message of a line, whatever stands before and behind it.
fn message(line: &mut Vec<u8>) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"8=FIX";
    let begins = |&at: &usize| {
        let tag_goes_on = at > 0 && line[at - 1].is_ascii_digit();
        line[at..].starts_with(BEGIN) && !tag_goes_on
    };
    let start = (0..line.len()).find(begins)?;
    while line.last().is_some_and(|last| b"\r\n".contains(last)) {
        line.pop();
    }
    if !line[start..].contains(&SOH) {
        let bars = line[start..].iter_mut().filter(|byte| **byte == b'|');
        bars.for_each(|byte| *byte = SOH);
    }
    if line.last() != Some(&SOH) {
        line.push(SOH);
    }
    let message = &line[start..];
    let is_trailer = |bytes: &[u8]| bytes.starts_with(b"\x0110=") && bytes.ends_with(&[SOH]);
    let end = message.windows(TRAILER).position(is_trailer);
    Some(end.map_or(message, |end| &message[..end + TRAILER]))
}

fn journal(
    folder: &Path,
    name: &str,
    each: &mut impl FnMut(Item<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed = |error: JournalError| Failure::Text(error.to_string());
    let mut tail = Tail::new(folder, JournalPosition::START);
    let mut originals = Originals::new(folder);
    let mut is_empty = true;
    while let Some(record) = tail.next_record().map_err(failed)? {
        is_empty = false;
        // A queued message is worked on when its turn comes.
        if matches!(record.kind, RecordKind::Message | RecordKind::Dequeued) {
            let (segment, byte) = (record.at.segment(), record.at.offset());
            let place = &format!("{name}:{segment}:{byte}");
            let message = originals.inbound(&record).map_err(failed)?;
            if message.is_some() {
                each(Item { place, message })?;
            }
        }
    }
    match is_empty {
        true => Err(Failure::Text(format!("{name} contains no journal"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_whatever_a_log_writes_around_it() {
        let whole = "8=FIX.4.2|9=5|35=D|10=000|";
        for (line, found) in [
            (whole.to_owned(), Some(whole)),
            (format!("20261120-10:00:00.123 : {whole}\n"), Some(whole)),
            (format!("<in> 108=FIX {whole} (0 ms)\r\n"), Some(whole)),
            ("x 8=FIX.4.2|35=D|58=a".into(), Some("8=FIX.4.2|35=D|58=a|")),
            (
                "8=FIX.4.2\x0135=D\x0158=a|b\x01".into(),
                Some("8=FIX.4.2|35=D|58=a!b|"),
            ),
            ("20261120-10:00:00 logged on\n".into(), None),
        ] {
            let mut bytes = line.clone().into_bytes();
            let shown = message(&mut bytes).map(|bytes| {
                let text = String::from_utf8_lossy(bytes).replace('|', "!");
                text.replace('\x01', "|")
            });
            assert_eq!(shown.as_deref(), found, "{line}");
        }
    }
}
