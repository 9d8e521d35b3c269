//! [`CertificationPlan`]: cases and their steps, as values.

use std::fmt;
use std::time::Duration;

use fixwire_client::Instruction;
use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::Version;

use crate::value::{ExpectedValue, SentValue};

/// The protocol of a plan.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum PlanProtocol {
    /// FIX: `session FILE` before the first case.
    #[default]
    Fix,
    /// TMP: `link FILE` before the first case.
    Tmp,
}

/// A plan, read from its text by [`CertificationPlan::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct CertificationPlan {
    /// Protocol of the plan.
    pub protocol: PlanProtocol,
    /// The settings file of the session or link, as written in the plan. The path is relative to the plan.
    pub settings: Option<String>,
    /// Name of the session or link in the settings file; `None` when the plan does not name one.
    pub session: Option<String>,
    /// Time limit of expectations that state none.
    pub limit: Duration,
    /// The cases, in the order of the file.
    pub cases: Vec<CertificationCase>,
}

/// A numbered case.
#[derive(Clone, Debug, PartialEq)]
pub struct CertificationCase {
    /// Number of the case, unique in the plan.
    pub number: u32,
    /// Title of the case.
    pub title: String,
    /// Line of the case in the plan.
    pub line: usize,
    /// Whether the case is optional. If so, its failure does not count.
    pub optional: bool,
    /// Number of rounds.
    pub rounds: u32,
    /// The FIX versions to which the case applies; empty when it applies to all versions.
    pub versions: Vec<Version>,
    /// The steps.
    pub steps: Vec<PlanStep>,
}

impl CertificationCase {
    /// Whether the case applies to sessions of this version.
    #[must_use]
    pub fn is_for(&self, version: Version) -> bool {
        self.versions.is_empty() || self.versions.contains(&version)
    }

    /// Whether the steps of the case open the connection themselves. If so, the case begins without a connection.
    #[must_use]
    pub fn opens_connection(&self) -> bool {
        let first = self.steps.first().map(|step| &step.action);
        matches!(first, Some(StepAction::Connect | StepAction::LoggedOn))
    }
}

/// A line of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// Line of the step in the plan.
    pub line: usize,
    /// Number of the step in the case, from 1. `@3` in a later step refers to step 3.
    pub number: usize,
    /// Text of the step, with secrets masked.
    pub text: String,
    /// The content.
    pub action: StepAction,
}

/// The action or expectation of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepAction {
    /// `connect`: opens the connection.
    Connect,
    /// `logon`: sends a Logon. These fields are added to the usual ones, or replace them.
    Logon(Vec<(Tag, SentValue)>),
    /// `logged-on`: connects and exchanges Logons, or the login messages of TMP.
    LoggedOn,
    /// `log-out`: sends a Logout with this Text(58), if any.
    LogOut(String),
    /// `drop`: closes the connection.
    Drop,
    /// `send`; or an order, a replace, a cancel or a status request: sends a message.
    Send(Outgoing),
    /// `garbled`: the message is sent with a wrong CheckSum(10).
    Garbled(Outgoing),
    /// `burst`: the message is sent this many times, without regard to the flow limit.
    Burst(u32, Outgoing),
    /// `raw`: these bytes are sent as they are.
    Raw(Vec<u8>),
    /// `skip`: we leave out this number of our sequence numbers.
    Skip(u64),
    /// `answers on`, `answers off`: whether Heartbeats, and the answers to TestRequest, ResendRequest and Logout, are
    /// sent automatically (over TMP, the answers to R04 and L41).
    Answers(bool),
    /// `wait`: waits for this time.
    Wait(Duration),
    /// `silence`: during this time, only Heartbeats and TestRequests may arrive.
    Silence(Duration),
    /// `expect`, `await` and their `and` lines.
    Expect(Expectation),
    /// `disconnect`: the venue must close the connection within this time; `None` means within the plan's time limit.
    Disconnect(Option<Duration>),
}

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// Fields including MsgType(35); or the name of a TMP message, and fields.
    Fields(Vec<(Tag, SentValue)>),
    /// A command of the order client.
    Command(Box<Instruction>),
}

/// Messages that must arrive, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// A pattern for each message.
    pub patterns: Vec<MessagePattern>,
    /// Time limit until all messages have arrived; `None` means the plan's time limit.
    pub within: Option<Duration>,
    /// Whether other messages may arrive before and between the expected messages (`await`).
    pub skips_others: bool,
}

/// The required fields of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagePattern {
    /// Line of the pattern in the plan.
    pub line: usize,
    /// Number of the step to which the pattern belongs.
    pub step: usize,
    /// Tags and values. A tag that occurs twice stands for two entries of a repeating group.
    pub fields: Vec<(Tag, ExpectedValue)>,
}

/// An error in the text of a plan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlanMistake {
    /// The line, from 1.
    pub line: usize,
    /// The error, with the correct form.
    pub what: String,
}

impl fmt::Display for PlanMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

impl std::error::Error for PlanMistake {}
