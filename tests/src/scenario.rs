//! Scenarios: conversations in text files, from the session's point of view.
//!
//! ```text
//! # A number above the expected one asks for what is missing, once.
//! # Source: FIX Session Layer Test Cases, 2b.
//! session role=acceptor heartbeat=30
//! logged-on
//! recv 35=0|34=4
//! send 35=2|7=2|16=0
//! ```
//!
//! One directive a line. These are inputs of the session:
//!
//! | directive | meaning |
//! | --- | --- |
//! | `session key=value ...` | settings, see [`settings`]; before everything else |
//! | `connect` | a connection is open |
//! | `logged-on` | `connect` and both Logons, unless something unusual happens |
//! | `recv 35=..\|..` | a message arrives; what is not given of 8, 34, 49, 52, 56 is filled in |
//! | `garbled` | bytes arrive that are no message; with fields, that message with a wrong CheckSum |
//! | `wait 6s`, `wait 250ms` | time passes, timers run when they are due |
//! | `app-send 35=..\|..` | the application sends a message |
//! | `refuse unsupported` | the application refuses the message delivered last; also `not-available`, `missing TAG`, `not-authorized`, `range TAG`, `format TAG` |
//! | `log-out TEXT` | the operator ends the session |
//! | `reset` | the operator starts the numbers again |
//! | `out-of-hours` | the schedule allows no logon from now |
//! | `drop` | the connection is lost |
//! | `forget` | the store loses all messages |
//! | `restart` | the process ends at once and starts again; the connection is lost |
//!
//! These are its required actions, in this order, and no others:
//!
//! | directive | meaning |
//! | --- | --- |
//! | `send 35=..\|..` | exactly these fields, in any order; 34 only when given; 8, 9, 49, 52, 56, 10 are checked by the player |
//! | `deliver 35=..\|..` | the application gets a message that has these fields |
//! | `duplicate 35=..\|..` | the application is shown a message that it has had before |
//! | `disconnect REASON` | the connection is closed; the reason, if given, is the name in `Reason` |
//! | `numbers in=2 out=3 epoch=0` | the counters now |
//!
//! A scenario is played in every version, unless a `versions:` line names those that have its fields and messages. A
//! `send` line is written for FIX 4.4: where an earlier version has no EndSeqNo(16) = 0, or no such field or reason in
//! a Reject, the player expects that version's form instead.
//!
//! `|` is SOH. A value `now`, `now+10s`, `now-121s` is that time; `*` in `send` is any value;
//! `(none)` in `recv` leaves a header field out; `<SOH>` is a delimiter inside a value.

use std::fmt;
use std::path::Path;
use std::time::Duration;

pub mod message;
pub mod peer;
pub mod player;
pub mod settings;
mod subject;
pub mod tcp;

/// The version that a scenario can run under: BeginString and, for FIXT, DefaultApplVerID.
pub const VERSIONS: [&str; 8] = ["4.0", "4.1", "4.2", "4.3", "4.4", "5.0", "5.0SP1", "5.0SP2"];

/// A file, read.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file's name without folder and ending, and the role if it is played in both roles.
    pub name: String,
    /// Has a `# Source:` line.
    pub has_source: bool,
    /// The versions that the scenario is played in: all, unless a `versions:` line names fewer.
    pub versions: Vec<&'static str>,
    /// The settings of the `session` line.
    pub settings: Vec<(String, String)>,
    /// Line of the `session` directive.
    pub settings_line: usize,
    /// An input or an expectation.
    pub steps: Vec<Step>,
}

/// One directive and its line.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counted from 1.
    pub line: usize,
    /// The content.
    pub action: Action,
}

/// The meaning of a directive.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `connect`
    Connect,
    /// `logged-on`
    LoggedOn,
    /// `recv`
    Receive(Fields),
    /// `garbled`
    Garbled(Option<Fields>),
    /// `wait`
    Wait(Duration),
    /// `app-send`
    AppSend(Fields),
    /// `refuse`
    Refuse(String),
    /// `log-out`
    LogOut(String),
    /// `reset`
    Reset,
    /// The schedule allows no logon from now.
    OutOfHours,
    /// `drop`
    Drop,
    /// `forget`
    Forget,
    /// `restart`
    Restart,
    /// `send`
    Send(Fields),
    /// `deliver`
    Deliver(Fields),
    /// `duplicate`
    Duplicate(Fields),
    /// `disconnect`
    Disconnect(String),
    /// `numbers`
    Numbers(Vec<(String, u64)>),
}

impl Action {
    /// Whether the directive is an expectation, not an input.
    #[must_use]
    pub fn is_expectation(&self) -> bool {
        matches!(
            self,
            Self::Send(_)
                | Self::Deliver(_)
                | Self::Duplicate(_)
                | Self::Disconnect(_)
                | Self::Numbers(_)
        )
    }

    /// The same expectation with a small change, so that it must fail; `None` for a line that expects nothing.
    #[must_use]
    pub fn spoilt(&self) -> Option<Self> {
        let with_another_field = |fields: &Fields| {
            let mut fields = fields.clone();
            fields.push((9999, "X".to_owned()));
            fields
        };
        match self {
            Self::Send(fields) => Some(Self::Send(with_another_field(fields))),
            Self::Deliver(fields) => Some(Self::Deliver(with_another_field(fields))),
            Self::Duplicate(fields) => Some(Self::Duplicate(with_another_field(fields))),
            Self::Disconnect(_) => Some(Self::Disconnect("AnotherReason".to_owned())),
            Self::Numbers(numbers) => {
                let (key, value) = numbers.first()?;
                Some(Self::Numbers(vec![(key.clone(), value + 1)]))
            }
            _ => None,
        }
    }
}

/// Tags and values as in the file.
pub type Fields = Vec<(u32, String)>;

/// A mistake in a scenario file, or a session that differs from the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The scenario, with its version.
    pub scenario: String,
    /// Line in the file.
    pub line: usize,
    /// The fault.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.scenario, self.line, self.what)
    }
}

impl std::error::Error for Failure {}

impl Scenario {
    /// Reads all scenarios of a folder, in the order of their names; a scenario with `role=both` becomes two.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read, and the errors of [`Scenario::read`].
    pub fn all(folder: &Path) -> Result<Vec<Self>, Failure> {
        let failure = |error: std::io::Error| Failure {
            scenario: folder.display().to_string(),
            line: 0,
            what: error.to_string(),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failure)? {
            let path = entry.map_err(failure)?.path();
            if path.extension().is_some_and(|ending| ending == "txt") {
                files.push(path);
            }
        }
        files.sort();
        let mut all = Vec::new();
        for path in files {
            all.extend(Self::read(&path)?.in_each_role());
        }
        Ok(all)
    }

    /// The scenario itself, or, with `role=both`, one for each role.
    fn in_each_role(self) -> Vec<Self> {
        let both = ("role".to_owned(), "both".to_owned());
        let Some(at) = self.settings.iter().position(|setting| *setting == both) else {
            return vec![self];
        };
        let in_role = |role: &str| {
            let mut scenario = self.clone();
            scenario.settings[at].1 = role.to_owned();
            scenario.name = format!("{} as {role}", self.name);
            scenario
        };
        vec![in_role("acceptor"), in_role("initiator")]
    }

    /// The file's name without folder and ending.
    #[must_use]
    pub fn file(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    ///
    /// The first line that is not a directive, or that has a wrong argument.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let text = std::fs::read_to_string(path).map_err(|error| Failure {
            scenario: name.clone(),
            line: 0,
            what: format!("{}: {error}", path.display()),
        })?;
        Self::parse(&name, &text)
    }

    /// Reads the text of a scenario.
    ///
    /// # Errors
    ///
    /// As [`Scenario::read`].
    pub fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let mut scenario = Self {
            name: name.to_owned(),
            has_source: false,
            versions: VERSIONS.to_vec(),
            settings: Vec::new(),
            settings_line: 0,
            steps: Vec::new(),
        };
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let line = line.trim();
            scenario.take_line(number, line).map_err(|what| Failure {
                scenario: name.to_owned(),
                line: number,
                what,
            })?;
        }
        match scenario
            .steps
            .iter()
            .any(|step| step.action.is_expectation())
        {
            true => Ok(scenario),
            false => Err(Failure {
                scenario: name.to_owned(),
                line: text.lines().count(),
                what: "the scenario expects nothing".to_owned(),
            }),
        }
    }

    fn take_line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            self.has_source |= comment.trim_start().starts_with("Source:");
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        if let Some(list) = line.strip_prefix("versions:") {
            self.versions = list
                .split_whitespace()
                .map(|word| {
                    let known = VERSIONS.into_iter().find(|version| *version == word);
                    known.ok_or_else(|| format!("unknown version {word}"))
                })
                .collect::<Result<_, _>>()?;
            return Ok(());
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        if word == "session" {
            if self.settings_line != 0 || !self.steps.is_empty() {
                return Err("`session` comes once, before everything else".to_owned());
            }
            self.settings_line = number;
            self.settings = pairs(rest)?;
            return Ok(());
        }
        let action = parse_action(word, rest)?;
        self.steps.push(Step {
            line: number,
            action,
        });
        Ok(())
    }
}

fn parse_action(word: &str, rest: &str) -> Result<Action, String> {
    let bare = |action| match rest {
        "" => Ok(action),
        _ => Err(format!("`{word}` takes no argument")),
    };
    match word {
        "connect" => bare(Action::Connect),
        "logged-on" => bare(Action::LoggedOn),
        "garbled" if rest.is_empty() => Ok(Action::Garbled(None)),
        "garbled" => fields(rest).map(|fields| Action::Garbled(Some(fields))),
        "restart" => bare(Action::Restart),
        "reset" => bare(Action::Reset),
        "out-of-hours" => bare(Action::OutOfHours),
        "drop" => bare(Action::Drop),
        "forget" => bare(Action::Forget),
        "recv" => fields(rest).map(Action::Receive),
        "app-send" => fields(rest).map(Action::AppSend),
        "send" => fields(rest).map(Action::Send),
        "deliver" => fields(rest).map(Action::Deliver),
        "duplicate" => fields(rest).map(Action::Duplicate),
        "wait" => duration(rest).map(Action::Wait),
        "refuse" => Ok(Action::Refuse(rest.to_owned())),
        "log-out" => Ok(Action::LogOut(rest.to_owned())),
        "disconnect" => Ok(Action::Disconnect(rest.to_owned())),
        "numbers" => pairs(rest)?
            .into_iter()
            .map(|(key, value)| match (key.as_str(), value.parse()) {
                ("in" | "out" | "epoch", Ok(value)) => Ok((key, value)),
                _ => Err(format!(
                    "`numbers` takes in=, out= and epoch=, not {key}={value}"
                )),
            })
            .collect::<Result<_, _>>()
            .map(Action::Numbers),
        _ => Err(format!("unknown directive `{word}`")),
    }
}

/// `key=value key=value`
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    text.split_whitespace()
        .map(|word| match word.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(format!("expected key=value, not `{word}`")),
        })
        .collect()
}

/// `35=0|34=2`
fn fields(text: &str) -> Result<Fields, String> {
    if text.is_empty() {
        return Err("expected fields".to_owned());
    }
    text.split('|')
        .map(|field| {
            let (tag, value) = field
                .split_once('=')
                .ok_or_else(|| format!("`{field}` is no field"))?;
            let tag = tag.parse().map_err(|_| format!("`{tag}` is no tag"))?;
            Ok((tag, value.replace("<SOH>", "\x01")))
        })
        .collect()
}

/// `6s`, `1.5s` or `250ms`
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time; write 6s, 1.5s or 250ms");
    if let Some(millis) = text.strip_suffix("ms") {
        return millis
            .parse()
            .map(Duration::from_millis)
            .map_err(|_| wrong());
    }
    let seconds: f64 = text
        .strip_suffix('s')
        .and_then(|seconds| seconds.parse().ok())
        .ok_or_else(wrong)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}
