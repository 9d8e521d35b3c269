//! What `[[on]]` says about sessions that log on and out.

use alloc::string::String;

use fixwire_protocol::{Message, Now, SessionId};

use super::answer::plain;
use super::{Core, Event, Gateway};
use crate::rules::{Facts, Happening, Outcome, Rules};

impl Gateway {
    /// Something has happened to a session, not to a message of it.
    pub(super) fn happened(&mut self, happening: Happening, session: SessionId) {
        let Self { rules, core, .. } = self;
        let mut each = |outcome: Outcome<'_>| core.tell_outcome(rules, outcome);
        rules.happened(happening, session.0 as usize, &mut each);
    }

    /// Whether rules let a peer log on; the text of the Logout when they do not.
    pub(super) fn asked_to_log_on(
        &mut self,
        now: Now,
        session: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        let Self {
            rules,
            scratch,
            active,
            core,
            ..
        } = self;
        let mut answer = Ok(());
        let mut each = |outcome: Outcome<'_>| match outcome {
            Outcome::Reject { text, .. } if answer.is_ok() => {
                answer = Err(String::from_utf8_lossy(plain(text)).into_owned());
            }
            outcome => core.tell_outcome(rules, outcome),
        };
        let facts = Facts { now, active };
        let (source, happening) = (session.0 as usize, Happening::LogonRequest);
        rules.happened_to(happening, scratch, logon, source, &facts, &mut each);
        answer
    }
}

impl Core {
    /// Carries an outcome out that sends nothing.
    pub(super) fn tell_outcome(&mut self, rules: &Rules, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Count { counter, .. } => self.counted[counter] += 1,
            Outcome::Notify { rule, text } => {
                let rule = rules.name(rule).unwrap_or_default();
                (self.listener)(Event::Notify { rule, text });
            }
            Outcome::Disconnect { rule, session } => {
                let rule = rules.name(rule).unwrap_or_default();
                let session = SessionId(session as u32);
                (self.listener)(Event::Disconnect { rule, session });
            }
            _ => {}
        }
    }
}
