//! Formats log lines in the layout of each engine.

use std::io::Write;

use fixwire_protocol::Timestamp;
use fixwire_protocol::time::{Precision, TimestampWriter};

use super::files::FileLog;
use crate::store::Family;

/// Writes lines into a buffer.
#[derive(Debug)]
pub(super) struct Lines {
    layout: Family,
    milliseconds: bool,
    stamp_messages: bool,
    stamp: TimestampWriter,
}

impl Lines {
    pub(super) fn new(log: &FileLog) -> Self {
        Self {
            layout: log.layout,
            milliseconds: log.milliseconds,
            stamp_messages: log.stamp_messages,
            stamp: TimestampWriter::new(),
        }
    }

    /// Writes a message on a line of its own. SOH is kept, because tools expect it.
    pub(super) fn message(&mut self, wall: Timestamp, message: &[u8], out: &mut Vec<u8>) {
        if self.layout != Family::QuickfixJ || self.stamp_messages {
            self.moment(wall, out);
        }
        write_safe(message, true, out);
        out.push(b'\n');
    }

    /// Writes an event on a line of its own.
    pub(super) fn event(&mut self, wall: Timestamp, text: &str, out: &mut Vec<u8>) {
        self.moment(wall, out);
        write_safe(text.as_bytes(), false, out);
        out.push(b'\n');
    }

    /// Writes the time, and the separator between the time and the text.
    fn moment(&mut self, wall: Timestamp, out: &mut Vec<u8>) {
        let (precision, between) = match self.layout {
            Family::Quickfix => (Precision::Nanos, " : "),
            Family::QuickfixN => (Precision::Millis, " : "),
            Family::QuickfixGo => (Precision::Micros, " "),
            Family::QuickfixJ if self.milliseconds => (Precision::Millis, ": "),
            Family::QuickfixJ => (Precision::Seconds, ": "),
        };
        let text = self.stamp.format(wall, precision);
        if self.layout == Family::QuickfixGo {
            let date = [&text[..4], b"/", &text[4..6], b"/", &text[6..8], b" "];
            out.extend_from_slice(&date.concat());
            out.extend_from_slice(&text[9..]);
        } else {
            out.extend_from_slice(text);
        }
        out.extend_from_slice(between.as_bytes());
    }
}

/// Writes text so that it stays on its line and cannot control a terminal: control characters and invalid bytes are
/// written as `\xNN`.
pub(super) fn write_safe(bytes: &[u8], keep_soh: bool, out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if !c.is_control() || c == '\x01' && keep_soh {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                // Writing to memory cannot fail.
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-08-21T13:30:00.123456789Z
    const MOMENT: Timestamp = Timestamp(1_787_319_000_123_456_789);

    #[test]
    fn lines_look_as_in_each_engine() {
        let shown = |layout, milliseconds, stamp_messages| {
            let mut log = FileLog::new("log");
            (log.layout, log.milliseconds, log.stamp_messages) =
                (layout, milliseconds, stamp_messages);
            let mut lines = Lines::new(&log);
            let mut out = Vec::new();
            lines.message(MOMENT, b"8=FIX.4.2\x0110=000\x01", &mut out);
            lines.event(MOMENT, "logged on", &mut out);
            String::from_utf8(out).unwrap().replace('\x01', "|")
        };
        let message = "8=FIX.4.2|10=000|\n";
        assert_eq!(
            shown(Family::Quickfix, false, false),
            format!(
                "20260821-13:30:00.123456789 : {message}20260821-13:30:00.123456789 : logged on\n"
            )
        );
        assert_eq!(
            shown(Family::QuickfixN, false, false),
            format!("20260821-13:30:00.123 : {message}20260821-13:30:00.123 : logged on\n")
        );
        assert_eq!(
            shown(Family::QuickfixGo, false, false),
            format!("2026/08/21 13:30:00.123456 {message}2026/08/21 13:30:00.123456 logged on\n")
        );
        assert_eq!(
            shown(Family::QuickfixJ, false, false),
            format!("{message}20260821-13:30:00: logged on\n")
        );
        assert_eq!(
            shown(Family::QuickfixJ, true, true),
            format!("20260821-13:30:00.123: {message}20260821-13:30:00.123: logged on\n")
        );
    }

    #[test]
    fn nothing_leaves_its_line_or_speaks_to_a_terminal() {
        let mut out = Vec::new();
        let hostile = b"58=a\r\nb\x1b[2Jc\x9bd\xc2\x9be\x7f\xc3\xbc\x00\x01";
        write_safe(hostile, true, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "58=a\\x0d\\x0ab\\x1b[2Jc\\x9bd\\x9be\\x7fü\\x00\x01"
        );
        let mut out = Vec::new();
        write_safe(b"a\x01b", false, &mut out);
        assert_eq!(out, b"a\\x01b");
    }
}
