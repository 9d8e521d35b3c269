//! Messages, and the reader's results for them.

use std::path::{Path, PathBuf};

use fixwire_protocol::frame::check_sum;
use fixwire_reader::{LogReader, LogStep, ReadOptions};

/// A whole message; `|` in `body` is SOH.
pub fn message(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = check_sum(text.as_bytes());
    format!("{text}10={sum:03}\x01").into_bytes()
}

/// An order, or a report if `number` is even, sometimes long enough to need several segments.
pub fn order(number: usize) -> Vec<u8> {
    let (kind, from, to) = match number % 2 {
        1 => ("D", "CLIENT", "BROKER"),
        _ => ("8", "BROKER", "CLIENT"),
    };
    let second = number % 60;
    let text = "x".repeat(number * 37 % 400);
    message(&format!(
        "35={kind}|34={number}|49={from}|52=20261120-10:00:{second:02}.125|56={to}|11=A{number}|55=VOD|58={text}|"
    ))
}

/// The whole result of a reader: a line per message, and the skipped parts.
pub fn read(paths: &[PathBuf], options: ReadOptions) -> (Vec<String>, Vec<String>) {
    let mut reader = LogReader::open(paths, options).unwrap();
    let mut messages = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        let (time, source) = entry.time();
        let time = time.map_or(0, |time| time.0);
        messages.push(format!(
            "{} {time} {} {} {:?} {}",
            entry.place,
            source.name(),
            entry.session(),
            entry.direction(),
            String::from_utf8_lossy(entry.bytes).replace('\x01', "|"),
        ));
    }
    let left_out = reader
        .take_left_out()
        .iter()
        .map(ToString::to_string)
        .collect();
    (messages, left_out)
}

/// The messages of a file, byte for byte, and the skipped parts.
pub fn bytes_of(path: &Path) -> (Vec<Vec<u8>>, Vec<String>) {
    let mut reader = LogReader::open(&[path.to_owned()], ReadOptions::default()).unwrap();
    let mut messages = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        messages.push(entry.bytes.to_vec());
    }
    let left_out = reader
        .take_left_out()
        .iter()
        .map(ToString::to_string)
        .collect();
    (messages, left_out)
}
