//! One response, as a line of JSON.

use fixwire_engine::{LinkReport, SessionReport};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An answer: an error or a result. A program should ignore fields that it does not know.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// The id of the request; 0 when the request could not be read.
    pub id: u64,
    /// Why the request was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The result as a sentence, or the application's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// In a status: the application's counters, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Value>,
    /// In a status: the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineReport>,
    /// In a status: the sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<SessionLine>>,
    /// In a status of all sessions: the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkLine>>,
}

/// The answering process.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct EngineReport {
    /// Version of the program.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// Seconds since the process began to answer at this socket.
    pub seconds: u64,
}

/// The state of a session.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionLine {
    /// Identity of the session.
    pub name: String,
    /// Name of the session in the settings, if it differs from `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// Connection state, as text.
    pub state: String,
    /// Next expected MsgSeqNum.
    pub next_in: u64,
    /// Next MsgSeqNum to send.
    pub next_out: u64,
    /// Number of bytes that wait for the peer.
    pub waiting_bytes: u64,
    /// Messages received since the engine started.
    pub received: u64,
    /// Messages sent since the engine started, including resent messages.
    pub sent: u64,
    /// Garbled messages ignored since the engine started.
    pub garbled: u64,
    /// Number of connections since the engine started.
    pub connections: u64,
    /// Text(58) of the peer's last Logout since the engine started. Empty if that Logout had no Text; `None` if the
    /// peer has sent no Logout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_logout: Option<String>,
}

/// The state of a link, which carries frames of another protocol than FIX.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct LinkLine {
    /// Name of the link.
    pub name: String,
    /// Connection state, as text.
    pub state: String,
    /// Frames received on the present connection; if the link is disconnected, on the last one.
    pub frames_in: u64,
    /// Frames sent on the same connection.
    pub frames_out: u64,
    /// Number of bytes of frames that wait for the peer.
    pub waiting_bytes: u64,
    /// Number of connections since the engine started.
    pub connections: u64,
}

impl From<LinkReport> for LinkLine {
    fn from(report: LinkReport) -> Self {
        let state = match report.connected {
            true => "connected",
            false => "disconnected",
        };
        Self {
            name: report.name,
            state: state.to_owned(),
            frames_in: report.frames_in,
            frames_out: report.frames_out,
            waiting_bytes: report.waiting_bytes,
            connections: report.connections,
        }
    }
}

impl From<SessionReport> for SessionLine {
    fn from(report: SessionReport) -> Self {
        let counters = report.counters;
        Self {
            name: report.name,
            session_name: None,
            state: report.state.to_string(),
            next_in: report.next_in,
            next_out: report.next_out,
            waiting_bytes: report.waiting_bytes,
            received: counters.received,
            sent: counters.sent,
            garbled: counters.garbled,
            connections: counters.connections,
            last_logout: report.last_logout.map(|text| text.as_str().to_owned()),
        }
    }
}

/// The object in a value. A value that is not an object is replaced by an empty object.
fn inner(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it is one")
}

/// Converts lines of tab-separated names and a value to an object: `rules`, `orders`, `7` become
/// `{"rules":{"orders":7}}`. A number stays a number if a double can represent it.
pub(crate) fn figures(text: &str) -> Value {
    const EXACT: u64 = 1 << 53;
    let mut all = Map::new();
    for line in text.lines() {
        let Some((path, value)) = line.rsplit_once('\t') else {
            continue;
        };
        let value = match value.parse::<u64>() {
            Ok(number) if number <= EXACT && number.to_string() == value => Value::from(number),
            _ => Value::from(value),
        };
        let mut names: Vec<&str> = path.split('\t').collect();
        let last = names.pop().unwrap_or_default();
        let at = names.into_iter().fold(&mut all, |at, name| {
            let entry = at.entry(name).or_insert_with(|| Value::Object(Map::new()));
            inner(entry)
        });
        at.insert(last.to_owned(), value);
    }
    Value::Object(all)
}

impl Answer {
    /// An error.
    pub(crate) fn error(id: u64, why: impl Into<String>) -> Self {
        Self {
            id,
            error: Some(why.into()),
            ..Self::default()
        }
    }

    /// A result.
    pub(crate) fn text(id: u64, text: impl Into<String>) -> Self {
        Self {
            id,
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The answer as a line of JSON, including the end of the line.
    pub(crate) fn line(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_an_object_of_numbers_and_texts() {
        let text = "day\t2026-11-28\nevents\t7\nrules\torders\t5\nrules\tanswers\t1234567890123456789\nnone";
        let wanted = r#"{"day":"2026-11-28","events":7,"rules":{"answers":"1234567890123456789","orders":5}}"#;
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        assert_eq!(figures(text), wanted);
    }
}
