//! Parses an acceptance script into steps.

use crate::wire::{SOH, complete, timestamp, value};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One line that does something.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// The line number in the file, from 1.
    pub line: usize,
    /// The connection of the step.
    pub connection: u32,
    /// The action.
    pub action: Action,
}

/// The action of a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Open the connection.
    Connect,
    /// Close the connection.
    Disconnect,
    /// Send a message; times and sums are still missing.
    Send(Vec<u8>),
    /// Wait for a message like this one.
    Expect(Vec<u8>),
    /// Wait until the engine closes the connection.
    ExpectDisconnect,
    /// Wait for the engine to open the connection.
    ExpectConnect,
    /// Set a counter inside the engine; there is no FIX message for that.
    SetCounter(String),
    /// Let time pass.
    Sleep(Duration),
}

/// The session that a script plays on, seen from the engine.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SessionKey {
    /// BeginString(8).
    pub begin_string: String,
    /// SenderCompID(49) of the engine.
    pub sender: String,
    /// TargetCompID(56) of the engine: our CompID.
    pub target: String,
}

/// A script and its source.
#[derive(Clone, Debug)]
pub struct Script {
    /// Folder and file, for example `fix42/1a_ValidLogonWithCorrectMsgSeqNum.def`.
    pub name: String,
    /// The actions, in order.
    pub steps: Vec<Step>,
}

/// A line that is not a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScriptError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 when the file could not be read.
    pub line: usize,
    /// The fault.
    pub fault: String,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.fault)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads one file; its name is relative to its folder.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let error = |line, fault| ScriptError {
            path: path.to_owned(),
            line,
            fault,
        };
        let text = std::fs::read(path).map_err(|fault| error(0, fault.to_string()))?;
        let part = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        let folder = part(path.parent().and_then(Path::file_name));
        let name = format!("{folder}/{}", part(path.file_name()));
        let steps = parse(&text).map_err(|(line, fault)| error(line, fault))?;
        Ok(Self { name, steps })
    }

    /// The session of the first message that names one.
    pub fn session(&self) -> Option<SessionKey> {
        self.steps.iter().find_map(|step| {
            let (raw, mine, theirs) = match &step.action {
                Action::Send(raw) => (raw, "56", "49"),
                Action::Expect(raw) => (raw, "49", "56"),
                _ => return None,
            };
            let text = |tag| Some(String::from_utf8_lossy(value(raw, tag)?).into_owned());
            Some(SessionKey {
                begin_string: text("8")?,
                sender: text(mine)?,
                target: text(theirs)?,
            })
        })
    }
}

/// Reads the steps of a script; an error has the line and its fault.
pub fn parse(text: &[u8]) -> Result<Vec<Step>, (usize, String)> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut steps = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let words = line.trim_ascii();
        if words.is_empty() || words.starts_with(b"#") {
            continue;
        }
        let step = step(line).ok_or_else(|| {
            (
                index + 1,
                format!("no such command: {}", String::from_utf8_lossy(words)),
            )
        })?;
        steps.push(Step {
            line: index + 1,
            ..step
        });
    }
    Ok(steps)
}

/// One line that is not a comment.
fn step(line: &[u8]) -> Option<Step> {
    if let Some(seconds) = line.trim_ascii().strip_prefix(b"sleep(") {
        let seconds = std::str::from_utf8(seconds.strip_suffix(b")")?)
            .ok()?
            .parse()
            .ok()?;
        let time = Duration::try_from_secs_f64(seconds).ok()?;
        return Some(Step {
            line: 0,
            connection: 1,
            action: Action::Sleep(time),
        });
    }
    if let Some(setting) = line.strip_prefix(b"iSET_SESSION") {
        let setting = String::from_utf8_lossy(setting).trim().to_owned();
        return Some(Step {
            line: 0,
            connection: 1,
            action: Action::SetCounter(setting),
        });
    }
    let (kind, rest) = line.split_first()?;
    let (connection, rest) = match rest.iter().position(|byte| !byte.is_ascii_digit()) {
        Some(digits) if digits > 0 && rest[digits] == b',' => (
            std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?,
            &rest[digits + 1..],
        ),
        _ => (1, rest),
    };
    let action = match (kind, rest.trim_ascii_end()) {
        (b'i', b"CONNECT") => Action::Connect,
        (b'i', b"DISCONNECT") => Action::Disconnect,
        (b'e', b"CONNECT") => Action::ExpectConnect,
        (b'e', b"DISCONNECT") => Action::ExpectDisconnect,
        (b'I' | b'R', _) => Action::Send(rest.to_vec()),
        (b'E', _) => Action::Expect(rest.to_vec()),
        _ => return None,
    };
    Some(Step {
        line: 0,
        connection,
        action,
    })
}

/// The bytes to send or to compare with: times, BodyLength and CheckSum filled in.
///
/// An offset is stretched by a tenth, and at least by a second: scripts use 121 s against a limit of 120 s, and neither
/// rounding nor a slow machine may bring that below the limit.
pub fn fill(raw: &[u8]) -> Vec<u8> {
    let mut filled = Vec::with_capacity(raw.len() + 32);
    let mut rest = raw;
    while let Some((before, offset, after)) = next_time(rest) {
        filled.extend_from_slice(before);
        let stretch = if offset == 0 {
            0
        } else {
            (offset.abs() / 10).max(1) * offset.signum()
        };
        filled.extend_from_slice(timestamp(offset + stretch, false).as_bytes());
        rest = after;
    }
    filled.extend_from_slice(rest);
    complete(&filled)
}

/// The text before the next `<TIME…>`, its offset in seconds, and the text after it.
fn next_time(raw: &[u8]) -> Option<(&[u8], i64, &[u8])> {
    let at = raw.windows(5).position(|window| window == b"<TIME")?;
    let length = raw[at..].iter().position(|byte| *byte == b'>')?;
    let offset = std::str::from_utf8(&raw[at + 5..at + length]).ok()?;
    let offset = if offset.is_empty() {
        0
    } else {
        offset.parse().ok()?
    };
    Some((&raw[..at], offset, &raw[at + length + 1..]))
}

/// HeartBtInt(108) of a message, when it is a Logon that names one.
pub fn heart_bt_int(raw: &[u8]) -> Option<u64> {
    let logon = raw
        .windows(6)
        .any(|window| window == [SOH, b'3', b'5', b'=', b'A', SOH]);
    logon.then(|| crate::wire::number(raw, "108")).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::show;

    #[test]
    fn every_command_is_read() {
        let text = b"# a comment\r\niCONNECT\n i\n".as_slice();
        assert_eq!(parse(text), Err((3, "no such command: i".to_owned())));
        let text =
            b"iCONNECT\ni2,CONNECT\nI2,8=FIX.4.2\x01\nE8=FIX.4.2\x01\ne2,DISCONNECT\nsleep(0.5)\n";
        let steps = parse(text).unwrap_or_default();
        let actions: Vec<_> = steps
            .iter()
            .map(|step| (step.connection, step.action.clone()))
            .collect();
        let raw = b"8=FIX.4.2\x01".to_vec();
        assert_eq!(
            actions,
            [
                (1, Action::Connect),
                (2, Action::Connect),
                (2, Action::Send(raw.clone())),
                (1, Action::Expect(raw)),
                (2, Action::ExpectDisconnect),
                (1, Action::Sleep(Duration::from_millis(500))),
            ]
        );
        assert_eq!(steps[5].line, 6);
    }

    #[test]
    fn an_unknown_line_is_an_error_with_its_number() {
        assert_eq!(
            parse(b"iCONNECT\nWAIT 5\n"),
            Err((2, "no such command: WAIT 5".to_owned()))
        );
    }

    #[test]
    fn a_session_is_seen_from_the_engine() {
        let key = |text: &[u8]| {
            Script {
                name: String::new(),
                steps: parse(text).unwrap_or_default(),
            }
            .session()
        };
        let sent = key(b"I8=FIX.4.2\x0149=TW\x0156=ISLD\x01\n");
        assert_eq!(sent, key(b"E8=FIX.4.2\x0149=ISLD\x0156=TW\x01\n"));
        assert_eq!(sent.map(|key| key.target), Some("TW".to_owned()));
    }

    #[test]
    fn times_become_text_and_sums_are_added() {
        let filled = show(&fill(
            b"8=FIX.4.2\x0135=0\x0152=<TIME-121>\x0160=<TIME>\x01",
        ));
        assert!(!filled.contains('<'), "{filled}");
        assert!(
            filled.starts_with("8=FIX.4.2|9=") && filled.contains("|10="),
            "{filled}"
        );
        assert_eq!(show(&fill(b"52=<SOON>\x01")), "52=<SOON>|");
    }
}
