//! One request, as a line of JSON.

use fixwire_engine::Operation;
use fixwire_engine::protocol::OperatorRight;
use serde::{Deserialize, Serialize};

/// Maximum length of a line, bytes.
pub const LONGEST: usize = 64 << 10;

/// A request. A field that the request does not use, or that is unknown, is an error.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The id of the request. The answer repeats it.
    #[serde(default)]
    pub id: u64,
    /// The kind of request.
    #[serde(rename = "do")]
    pub what: ControlQuestion,
    /// The session, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The operator's reason. The request is recorded in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Text(58) of a Logout; the command of an application; the kind of a reload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Next expected MsgSeqNum, to be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_in: Option<u64>,
    /// Next MsgSeqNum to send, to be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_out: Option<u64>,
    /// Whether the session may be logged out first, if that is necessary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// MsgType(35) of a message to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msg_type: Option<String>,
    /// The body fields of the message to send, each followed by `|` or SOH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<String>,
    /// The settings file to reload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlQuestion {
    /// The state of the engine, and of all sessions or of one session.
    #[default]
    Status,
    /// [`Operation::LogOn`].
    Logon,
    /// [`Operation::LogOut`].
    Logout,
    /// [`Operation::Disconnect`].
    Disconnect,
    /// [`Operation::Enable`].
    Enable,
    /// [`Operation::Disable`].
    Disable,
    /// [`Operation::Reset`].
    Reset,
    /// [`Operation::SetNumbers`].
    SetNumbers,
    /// [`Operation::TestRequest`].
    TestRequest,
    /// [`Operation::Send`].
    Send,
    /// A command to the application.
    Command,
    /// A query to the application, which changes nothing.
    Query,
    /// Reloads the rules of a gateway, or the settings of an OMS. With the text `check`, only reports what would
    /// change. With `back`, restores the previous settings.
    Reload,
}

/// The right that a request requires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ControlRight {
    /// No right. But the application's part of a status requires [`OperatorRight::Read`].
    Nothing,
    /// This right.
    Right(OperatorRight),
    /// The right that the application defines for its command or query.
    OfApplication,
}

impl ControlQuestion {
    /// All kinds of requests.
    pub const ALL: [Self; 13] = [
        Self::Status,
        Self::Logon,
        Self::Logout,
        Self::Disconnect,
        Self::Enable,
        Self::Disable,
        Self::Reset,
        Self::SetNumbers,
        Self::TestRequest,
        Self::Send,
        Self::Command,
        Self::Query,
        Self::Reload,
    ];

    /// The right that the request requires. A reload with `check` requires [`OperatorRight::Read`].
    #[must_use]
    pub const fn right(self) -> ControlRight {
        match self {
            Self::Status => ControlRight::Nothing,
            Self::Logon
            | Self::Logout
            | Self::Disconnect
            | Self::Enable
            | Self::Disable
            | Self::TestRequest => ControlRight::Right(OperatorRight::Session),
            Self::Reset | Self::SetNumbers => ControlRight::Right(OperatorRight::Numbers),
            Self::Send => ControlRight::Right(OperatorRight::Send),
            Self::Command | Self::Query => ControlRight::OfApplication,
            Self::Reload => ControlRight::Right(OperatorRight::Reload),
        }
    }
}

/// The content of a request, after its checks.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Wish {
    Status(Option<String>),
    Operate(String, Operation),
    Command(String),
    Query(String),
    Reload(String, String),
}

impl Asked {
    /// Parses a request from a line.
    ///
    /// # Errors
    ///
    /// A sentence with the fault and its position.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        // Serde would also accept an array of values without names. Accept only an object.
        if line.trim_ascii_start().starts_with(b"[") {
            return Err("not a request: expected an object, found an array".into());
        }
        serde_json::from_slice(line).map_err(|error| format!("not a request: {error}"))
    }

    /// The request as a line of JSON, including the end of the line.
    #[must_use]
    pub fn line(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        text + "\n"
    }

    /// Checks that the request has all fields that it needs, and no others.
    ///
    /// # Errors
    ///
    /// The field that is missing or not allowed.
    pub fn check(&self) -> Result<(), String> {
        self.wish().map(drop)
    }

    /// The content of the request; an error when a field is missing or not allowed.
    pub(crate) fn wish(&self) -> Result<Wish, String> {
        let what = self.what;
        let uses: &[&str] = match what {
            ControlQuestion::Status => &["session"],
            ControlQuestion::Logon
            | ControlQuestion::Disconnect
            | ControlQuestion::Enable
            | ControlQuestion::Disable => &["session", "why"],
            ControlQuestion::Reset | ControlQuestion::TestRequest => &["session", "why"],
            ControlQuestion::Logout => &["session", "why", "text"],
            ControlQuestion::SetNumbers => &["session", "why", "next_in", "next_out", "force"],
            ControlQuestion::Send => &["session", "why", "msg_type", "fields"],
            ControlQuestion::Command => &["why", "text"],
            ControlQuestion::Query => &["text"],
            ControlQuestion::Reload => &["why", "file", "text"],
        };
        let given = [
            ("session", self.session.is_some()),
            ("why", self.why.is_some()),
            ("text", self.text.is_some()),
            ("next_in", self.next_in.is_some()),
            ("next_out", self.next_out.is_some()),
            ("force", self.force.is_some()),
            ("msg_type", self.msg_type.is_some()),
            ("fields", self.fields.is_some()),
            ("file", self.file.is_some()),
        ];
        if let Some((field, _)) = given.iter().find(|(name, is)| *is && !uses.contains(name)) {
            let uses = uses.join(", ");
            return Err(format!(
                "{what} does not use {field}; the fields of this request are {uses}"
            ));
        }
        let needed = |field: &Option<String>, name: &str| {
            field.clone().ok_or_else(|| format!("{what} needs {name}"))
        };
        let operation = match what {
            ControlQuestion::Status => return Ok(Wish::Status(self.session.clone())),
            ControlQuestion::Command => return Ok(Wish::Command(needed(&self.text, "text")?)),
            ControlQuestion::Query => return Ok(Wish::Query(needed(&self.text, "text")?)),
            ControlQuestion::Reload => {
                let how = self.text.clone().unwrap_or_default();
                return Ok(Wish::Reload(needed(&self.file, "file")?, how));
            }
            ControlQuestion::Logon => Operation::LogOn,
            ControlQuestion::Logout => Operation::LogOut {
                text: self.text.clone().unwrap_or_default(),
            },
            ControlQuestion::Disconnect => Operation::Disconnect,
            ControlQuestion::Enable => Operation::Enable,
            ControlQuestion::Disable => Operation::Disable,
            ControlQuestion::Reset => Operation::Reset,
            ControlQuestion::SetNumbers if self.next_in.or(self.next_out).is_none() => {
                return Err(format!("{what} needs next_in, next_out or both"));
            }
            ControlQuestion::SetNumbers => Operation::SetNumbers {
                next_in: self.next_in,
                next_out: self.next_out,
                force: self.force.unwrap_or(false),
            },
            ControlQuestion::TestRequest => Operation::TestRequest,
            ControlQuestion::Send => Operation::Send {
                msg_type: needed(&self.msg_type, "msg_type")?.into_bytes(),
                fields: fields(&needed(&self.fields, "fields")?),
            },
        };
        Ok(Wish::Operate(needed(&self.session, "session")?, operation))
    }
}

impl std::fmt::Display for ControlQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// The fields of a body as they will be sent. `|` stands for SOH, unless the text contains SOH. The last separator
/// may be missing.
fn fields(text: &str) -> Vec<u8> {
    let mut fields = match text.contains('\x01') {
        true => text.to_owned(),
        false => text.replace('|', "\x01"),
    };
    if !fields.ends_with('\x01') {
        fields.push('\x01');
    }
    fields.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str) -> Result<Wish, String> {
        Asked::read(line.as_bytes())?.wish()
    }

    #[test]
    fn a_line_says_what_is_to_be_done() {
        assert_eq!(wish(r#"{"do":"status"}"#), Ok(Wish::Status(None)));
        let session = || "A->B".to_owned();
        let one =
            r#"{"id":1,"do":"set-numbers","session":"A->B","next_out":7,"force":true,"why":"x"}"#;
        let set = Operation::SetNumbers {
            next_in: None,
            next_out: Some(7),
            force: true,
        };
        assert_eq!(wish(one), Ok(Wish::Operate(session(), set)));
        for fields in ["55=X|44=1", "55=X|44=1|", r"55=X\u000144=1\u0001"] {
            let line =
                format!(r#"{{"do":"send","session":"A->B","msg_type":"D","fields":"{fields}"}}"#);
            let send = Operation::Send {
                msg_type: b"D".to_vec(),
                fields: b"55=X\x0144=1\x01".to_vec(),
            };
            assert_eq!(wish(&line), Ok(Wish::Operate(session(), send)));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, says) in [
            (
                "",
                "not a request: EOF while parsing a value at line 1 column 0",
            ),
            (" [1]", "not a request: expected an object, found an array"),
            (
                r#"{"do":"dance"}"#,
                "unknown variant `dance`, expected one of `status`, `logon`",
            ),
            (r#"{"do":"status","who":"root"}"#, "unknown field `who`"),
            (r#"{"id":1}"#, "missing field `do`"),
            (
                r#"{"do":"status","why":"a"}"#,
                "status does not use why; the fields of this request are session",
            ),
            (r#"{"do":"logon"}"#, "logon needs session"),
            (r#"{"do":"send","session":"A"}"#, "send needs msg_type"),
            (
                r#"{"do":"set-numbers","session":"A"}"#,
                "set-numbers needs next_in, next_out or both",
            ),
            (
                r#"{"do":"set-numbers","session":"A","next_in":-1}"#,
                "invalid value: integer `-1`",
            ),
            (
                r#"{"do":"reload","session":"A"}"#,
                "reload does not use session; the fields of this request are why, file",
            ),
            (r#"{"do":"command"}"#, "command needs text"),
        ] {
            let error = wish(line).unwrap_err();
            assert!(error.contains(says), "{line}: {error}");
        }
    }
}
