//! Compiles and checks `[[on]]` entries, with all names resolved.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::compile::Compiler;
use super::file::EventEntry;
use super::parse_action::ActionKind;
use super::problem::{RuleProblem, nearest};
use super::rule::Rule;

/// The names of events.
const EVENTS: [(&str, RuleTrigger); 8] = [
    ("logon request", RuleTrigger::LogonRequest),
    ("logon", RuleTrigger::Logon),
    ("logout", RuleTrigger::Logout),
    ("disconnect", RuleTrigger::Disconnect),
    ("undelivered", RuleTrigger::Undelivered),
    ("failed", RuleTrigger::Failed),
    ("reject received", RuleTrigger::RejectReceived),
    ("reject sent", RuleTrigger::RejectSent),
];

/// An event of a session, or of a session's message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RuleTrigger {
    /// The session's peer has sent a Logon. The message of the event is this Logon.
    LogonRequest,
    /// The session has logged on. The message of the event is the peer's Logon.
    Logon,
    /// The session has logged out. The message of the event is the peer's Logout, or a Logout without fields.
    Logout,
    /// The session's connection has closed, with or without a logout. The message of the event is the Logout.
    Disconnect,
    /// A message from the session did not reach its target.
    Undelivered,
    /// An action failed for a message from the session.
    Failed,
    /// The session's peer has rejected a message. The message of the event is the peer's Reject(3).
    RejectReceived,
    /// The session has rejected a message of its peer with a Reject(3).
    RejectSent,
}

impl RuleTrigger {
    /// Whether actions may send the message of the event.
    fn may_be_sent(self) -> bool {
        matches!(self, Self::Undelivered | Self::Failed)
    }
}

/// `[[on]]`
#[derive(Clone, Debug)]
pub(super) struct On {
    pub happening: RuleTrigger,
    /// For each session, whether the entry applies to it.
    pub sessions: Vec<bool>,
    pub rule: Rule,
}

impl Compiler<'_, '_, '_> {
    /// Compiles an entry. `None` if it has errors, which are recorded. `reached` has for each session whether a rule
    /// handles its messages.
    pub fn on(&mut self, at: usize, entry: &EventEntry, reached: &[bool]) -> Option<On> {
        let event = entry.event.as_ref()?;
        let known = EVENTS.into_iter().find(|(name, _)| *name == event.value);
        let Some((_, happening)) = known else {
            let names = EVENTS.map(|(name, _)| name);
            let hint = nearest(&event.value, names);
            let hint = hint.unwrap_or_else(|| format!("the events are {}", names.join(", ")));
            let problem = RuleProblem::UnknownEvent(event.value.clone());
            self.errors.add(event.offset(0), problem, Some(hint));
            return None;
        };
        let sessions = self.sessions(&entry.sessions);
        let mut meant = sessions.iter().zip(reached).filter(|(meant, _)| **meant);
        if happening == RuleTrigger::Failed
            && sessions.contains(&true)
            && meant.all(|(_, reached)| !reached)
        {
            let why = "no rule handles messages of these sessions".to_string();
            self.errors
                .add(event.offset(0), RuleProblem::Never { why }, None);
        }
        let test = self.when(entry.when.as_ref(), &sessions);
        let (_, steps) = self.actions(&entry.actions, &sessions, |kind| refused(happening, kind));
        let unnamed = format!("on {}", at + 1);
        let name = entry.name.as_ref();
        Some(On {
            happening,
            sessions,
            rule: self.made(name, unnamed, entry.start, (test, steps)),
        })
    }
}

/// Why an action is not available for this event; `None` if it is available.
fn refused(happening: RuleTrigger, action: ActionKind) -> Option<&'static str> {
    match action {
        ActionKind::Operator => None,
        ActionKind::Reject if happening == RuleTrigger::LogonRequest => None,
        _ if happening == RuleTrigger::LogonRequest => {
            Some("the session is not logged on: use reject, count, notify, connect or disconnect")
        }
        _ if !happening.may_be_sent() => {
            Some("the event has no message to send: use count, notify, connect or disconnect")
        }
        ActionKind::Stop => Some("there is nothing to stop"),
        ActionKind::Throttle => Some("there is no message to throttle"),
        ActionKind::AnswerStatus => Some("only rules can answer a status request"),
        ActionKind::Return => Some("only rules can return a message"),
        _ => None,
    }
}
