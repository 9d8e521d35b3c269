//! What `[[on]]` says about sessions that log on and out.

use fixwire_protocol::SessionId;

use super::{Core, Event, Gateway};
use crate::rules::{Happening, Outcome, Rules};

impl Gateway {
    /// Something has happened to a session, not to a message of it.
    pub(super) fn happened(&mut self, happening: Happening, session: SessionId) {
        let Self { rules, core, .. } = self;
        let mut each = |outcome: Outcome<'_>| core.simple(rules, outcome);
        rules.happened(happening, session.0 as usize, &mut each);
    }
}

impl Core {
    /// Counts, or tells the owner, what needs no message.
    pub(super) fn simple(&mut self, rules: &Rules, outcome: Outcome<'_>) {
        let name = |rule| rules.name(rule).unwrap_or_default();
        let event = match outcome {
            Outcome::Count { counter, .. } => {
                self.counted[counter] += 1;
                return;
            }
            Outcome::Notify { rule, text } => Event::Notify {
                rule: name(rule),
                text,
            },
            Outcome::Connect { rule, session } => Event::Connect {
                rule: name(rule),
                session: SessionId(session as u32),
            },
            Outcome::Disconnect { rule, session } => Event::Disconnect {
                rule: name(rule),
                session: SessionId(session as u32),
            },
            _ => return,
        };
        (self.listener)(event);
    }
}
