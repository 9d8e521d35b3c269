//! One response, as a line of JSON.

use fixwire_engine::{LinkReport, SessionReport};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An answer: an error, or what was asked for. A program should pass over fields that it does not know.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// That of the request; 0 when it could not be read.
    pub id: u64,
    /// Why nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The result, or the application's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of a status: what the application counts, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Value>,
    /// Of a status: the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineReport>,
    /// Of a status: the sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<SessionLine>>,
    /// Of a status of all sessions: the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkLine>>,
}

/// The process that answers.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct EngineReport {
    /// Its version.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// For how many seconds it has answered here.
    pub seconds: u64,
}

/// The state of a session.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionLine {
    /// Its identity.
    pub name: String,
    /// Its name in the settings, if they have another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// How far it is from being logged on, in words.
    pub state: String,
    /// MsgSeqNum that is expected next.
    pub next_in: u64,
    /// MsgSeqNum that is sent next.
    pub next_out: u64,
    /// Bytes of messages that wait for the peer.
    pub waiting_bytes: u64,
    /// Messages received since the engine started.
    pub received: u64,
    /// Messages sent since then, resends included.
    pub sent: u64,
    /// Garbled messages ignored since then.
    pub garbled: u64,
    /// Connections since then.
    pub connections: u64,
    /// Text(58) of the last Logout that came from the peer since then; empty when it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_logout: Option<String>,
}

/// The state of a link, which carries frames of another protocol than FIX.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct LinkLine {
    /// Its name.
    pub name: String,
    /// Whether it is connected, in words.
    pub state: String,
    /// Frames received on this connection, or on the last one.
    pub frames_in: u64,
    /// Frames sent on it.
    pub frames_out: u64,
    /// Bytes of frames that wait for the peer.
    pub waiting_bytes: u64,
    /// Connections since the engine started.
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

/// The object in a value, which is none yet when it was something else.
fn inner(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it is one")
}

/// Lines of names and a value, which tabs part, as an object: `rules`, `orders`, `7` is `{"rules":{"orders":7}}`. A
/// number that a double can hold stays one.
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
    /// One that says why nothing was done.
    pub(crate) fn error(id: u64, why: impl Into<String>) -> Self {
        Self {
            id,
            error: Some(why.into()),
            ..Self::default()
        }
    }

    /// One that says what was done.
    pub(crate) fn text(id: u64, text: impl Into<String>) -> Self {
        Self {
            id,
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The line, with its end.
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
