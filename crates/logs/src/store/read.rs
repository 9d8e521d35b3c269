//! Reads a file store: its sequence numbers, and its messages one by one.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fixwire_engine::journal::Damage;
use fixwire_engine::regular;
use fixwire_protocol::time::Timestamp;
use fixwire_protocol::{Decoder, Frame, frame, tag};

use super::numbers::{self, Wrong};
use super::{Family, SessionName, StoreError};

/// Maximum number of bytes that are read from a small file.
const SMALL: u64 = 256;
/// Maximum size of an entry of a header in text form, bytes: three numbers of at most 20 digits.
const ENTRY: u64 = 64;
/// Maximum length of a message, bytes.
const LONGEST: u64 = 64 << 20;

/// An open store. The sequence numbers and 24 bytes for each message are in memory; the messages stay on disk.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) next_in: u64,
    pub(super) next_out: u64,
    /// Time at which the session's sequence numbers began.
    pub(super) began: Timestamp,
    /// The messages sorted by MsgSeqNum, each once.
    entries: Vec<Entry>,
    /// Number of messages whose MsgSeqNum is not below the store's next one: the engine was killed before it sent
    /// them, or the sequence numbers were set back.
    pub(super) left_out: u64,
    body: File,
    body_path: PathBuf,
    begin_string: String,
    sender: String,
    target: String,
    decoder: Decoder,
    message: Vec<u8>,
}

/// The position of a message in the body.
#[derive(Clone, Copy, Debug)]
struct Entry {
    seq: u64,
    at: u64,
    len: u32,
    /// Length of the message according to the header. Java counts characters there, so the length is too small if a
    /// charset needs several bytes per character.
    stated: u32,
}

impl Store {
    /// Opens the store of a session and reads it completely, every message once.
    pub(super) fn open(
        family: Family,
        folder: &Path,
        name: &SessionName,
    ) -> Result<Self, StoreError> {
        for ending in family.endings() {
            let path = name.path(family, folder, ending);
            if !path.is_file() {
                let file = path.display().to_string();
                return Err(StoreError::Missing { file });
            }
        }
        let path = |ending| name.path(family, folder, ending);
        let (next_out, next_in) = match family {
            Family::Quickfix | Family::QuickfixN => {
                small(&path("seqnums"), |bytes| numbers::read_pair(family, bytes))?
            }
            Family::QuickfixJ | Family::QuickfixGo => {
                let read = |bytes: &[u8]| numbers::read_single(family, bytes);
                (
                    small(&path("senderseqnums"), read)?,
                    small(&path("targetseqnums"), read)?,
                )
            }
        };
        let began = small(&path("session"), |bytes| numbers::read_time(family, bytes))?;
        let body_path = path("body");
        let body = regular::open(&body_path).map_err(StoreError::io("open", &body_path))?;
        let body_len = body
            .metadata()
            .map_err(StoreError::io("look at", &body_path))?
            .len();
        let entries = entries(family, &path("header"), body_len)?;
        check_end(&entries, &body_path, body_len)?;
        if let Some(last) = entries.last()
            && next_out == 1
        {
            // If the sequence numbers are lost, the store looks like that of a session without messages.
            return Err(StoreError::Damaged(Damage {
                file: path(family.endings()[0]).display().to_string(),
                offset: 0,
                expected: format!("a number above 1, because message {} was stored", last.seq),
                found: "nothing, or 1".into(),
            }));
        }
        let longest = entries.iter().map(|entry| entry.len).max().unwrap_or(0);
        let mut store = Self {
            next_in,
            next_out,
            began,
            entries,
            left_out: 0,
            body,
            body_path,
            begin_string: name.begin_string.clone(),
            sender: name.sender.join("/"),
            target: name.target.join("/"),
            decoder: Decoder::with_capacity(64),
            message: vec![0; longest as usize],
        };
        for index in 0..store.messages() {
            store.message(index)?;
        }
        store.settle();
        Ok(store)
    }

    /// Sorts the messages by MsgSeqNum. When two messages have the same MsgSeqNum, the later one counts, as in the
    /// engines.
    fn settle(&mut self) {
        self.entries.reverse();
        self.entries.sort_by_key(|entry| entry.seq);
        self.entries.dedup_by_key(|entry| entry.seq);
        let sent = self
            .entries
            .partition_point(|entry| entry.seq < self.next_out);
        self.left_out = (self.entries.len() - sent) as u64;
        self.entries.truncate(sent);
    }

    /// Number of messages.
    pub(super) fn messages(&self) -> usize {
        self.entries.len()
    }

    /// A message by its index, from 0, with its MsgSeqNum. The message must be a complete message of this session with
    /// this MsgSeqNum.
    pub(super) fn message(&mut self, index: usize) -> Result<(u64, &[u8]), StoreError> {
        let Entry {
            seq,
            at,
            len,
            stated,
        } = self.entries[index];
        let message = &mut self.message[..len as usize];
        self.body
            .read_exact_at(message, at)
            .map_err(StoreError::io("read", &self.body_path))?;
        let damaged = |offset: u64, expected: String, found: String| {
            StoreError::Damaged(Damage {
                file: self.body_path.display().to_string(),
                offset,
                expected,
                found,
            })
        };
        let whole = Frame::Whole {
            skip: 0,
            len: message.len(),
        };
        let fits = stated == len || stated < len && !message.is_ascii();
        if !fits || frame::next(message, message.len()) != whole {
            return Err(damaged(
                at,
                format!("message {seq} of {stated} bytes, as the header says, with its CheckSum"),
                excerpt(message),
            ));
        }
        let decoded = self.decoder.decode(message);
        if decoded.seq_num() != Some(Ok(seq)) {
            let stands = decoded.get(tag::MSG_SEQ_NUM).unwrap_or(b"no number");
            return Err(damaged(
                at,
                format!("MsgSeqNum(34) {seq}, as the header says"),
                excerpt(stands),
            ));
        }
        let (sender, target) = (
            decoded.get(tag::SENDER_COMP_ID).unwrap_or_default(),
            decoded.get(tag::TARGET_COMP_ID).unwrap_or_default(),
        );
        if decoded.begin_string() != self.begin_string.as_bytes()
            || !is_side(&self.sender, sender)
            || !is_side(&self.target, target)
        {
            let expected = format!(
                "a message of {} from {} to {}",
                self.begin_string, self.sender, self.target
            );
            return Err(damaged(at, expected, excerpt(message)));
        }
        Ok((seq, message))
    }
}

/// Whether a CompID is that of one side. The side may also have a SubID and a LocationID.
fn is_side(side: &str, comp_id: &[u8]) -> bool {
    match side.as_bytes().strip_prefix(comp_id) {
        Some(rest) => !comp_id.is_empty() && (rest.is_empty() || rest[0] == b'/'),
        None => false,
    }
}

fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let shown = bytes[..bytes.len().min(SHOWN)].escape_ascii();
    let more = if bytes.len() > SHOWN { "..." } else { "" };
    format!("`{}{more}`", shown.to_string().replace("\\x01", "|"))
}

/// Reads a file of a few bytes.
fn small<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, Wrong>) -> Result<T, StoreError> {
    let mut bytes = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(SMALL + 1).read_to_end(&mut bytes))
        .map_err(StoreError::io("read", path))?;
    read(&bytes).map_err(|wrong| {
        StoreError::Damaged(Damage {
            file: path.display().to_string(),
            offset: wrong.at as u64,
            expected: wrong.expected.into(),
            found: wrong.found,
        })
    })
}

/// The entries of a header, in the order of the messages in the body.
fn entries(family: Family, path: &Path, body_len: u64) -> Result<Vec<Entry>, StoreError> {
    let file = regular::open(path).map_err(StoreError::io("open", path))?;
    let len = fs::metadata(path)
        .map_err(StoreError::io("look at", path))?
        .len();
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let mut found: Vec<Entry> = Vec::new();
    let (mut at, mut body_at) = (0_u64, 0_u64);
    let mut raw = Vec::new();
    while at < len {
        let damaged = |expected: String, found: String| {
            StoreError::Damaged(Damage {
                file: path.display().to_string(),
                offset: at,
                expected,
                found,
            })
        };
        raw.clear();
        let taken = match family {
            Family::QuickfixJ => reader.by_ref().take(16).read_to_end(&mut raw),
            Family::Quickfix => reader.by_ref().take(ENTRY).read_until(b' ', &mut raw),
            _ => reader.by_ref().take(ENTRY).read_until(b'\n', &mut raw),
        };
        let taken = taken.map_err(StoreError::io("read", path))? as u64;
        let entry = match family {
            Family::QuickfixJ => binary_entry(&raw),
            _ => text_entry(family, &raw),
        };
        let Some((seq, offset, stated)) = entry else {
            let shape = match family {
                Family::QuickfixJ => "an entry of 16 bytes: number, offset and size",
                Family::Quickfix => "an entry `number,offset,size` and a blank",
                _ => "an entry `number,offset,size` and a line's end",
            };
            return Err(damaged(shape.into(), excerpt(&raw)));
        };
        // If sizes are in characters, only the next entry shows where a message ends.
        if family == Family::QuickfixJ && offset > body_at && !found.is_empty() {
            let last = found.len() - 1;
            found[last].len = (offset - found[last].at).min(LONGEST) as u32;
            body_at = offset;
        }
        if offset != body_at {
            let expected = format!("offset {body_at} in the body, where the previous message ends");
            return Err(damaged(
                expected,
                format!("offset {offset} of message {seq}"),
            ));
        }
        if stated == 0 || stated > LONGEST || offset + stated > body_len {
            let expected = format!("a message inside of the body, which has {body_len} bytes");
            let found = format!("message {seq} of {stated} bytes at offset {offset}");
            return Err(damaged(expected, found));
        }
        found.push(Entry {
            seq,
            at: offset,
            len: stated as u32,
            stated: stated as u32,
        });
        body_at = offset + stated;
        at += taken;
    }
    if family == Family::QuickfixJ
        && let Some(last) = found.last_mut()
    {
        last.len = (body_len - last.at).min(LONGEST) as u32;
    }
    Ok(found)
}

/// Checks that the body contains only messages that the header lists.
fn check_end(entries: &[Entry], path: &Path, len: u64) -> Result<(), StoreError> {
    let end = entries
        .last()
        .map_or(0, |entry| entry.at + u64::from(entry.len));
    if end == len {
        return Ok(());
    }
    Err(StoreError::Damaged(Damage {
        file: path.display().to_string(),
        offset: end,
        expected: "the end of the file, because the header lists no further message".into(),
        found: format!("{} bytes more", len - end),
    }))
}

fn binary_entry(raw: &[u8]) -> Option<(u64, u64, u64)> {
    let raw: &[u8; 16] = raw.try_into().ok()?;
    let seq = i32::from_be_bytes([raw[0], raw[1], raw[2], raw[3]]);
    let offset = i64::from_be_bytes(*raw[4..].first_chunk()?);
    let size = i32::from_be_bytes(*raw[12..].first_chunk()?);
    let seq = u64::try_from(seq).ok().filter(|seq| *seq > 0)?;
    Some((seq, u64::try_from(offset).ok()?, u64::try_from(size).ok()?))
}

fn text_entry(family: Family, raw: &[u8]) -> Option<(u64, u64, u64)> {
    let text = match family {
        Family::Quickfix => raw.strip_suffix(b" ")?,
        _ => {
            let line = raw.strip_suffix(b"\n")?;
            line.strip_suffix(b"\r").unwrap_or(line)
        }
    };
    let mut numbers = text.split(|byte| *byte == b',').map(|digits| {
        let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let text = str::from_utf8(digits).ok().filter(|_| plain)?;
        text.parse::<u64>().ok()
    });
    let entry = (numbers.next()??, numbers.next()??, numbers.next()??);
    (numbers.next().is_none() && entry.0 > 0).then_some(entry)
}
