//! What `[[on]]` says about sessions that log on and out.

use alloc::string::String;

use fixwire_protocol::{Message, Now, SessionId};

use super::answer::plain;
use super::{Core, Event, Gateway, Trouble};
use crate::rules::{Facts, Happening, Outcome, Rules};

impl Gateway {
    /// Something has happened to a session, not to a message of it.
    pub(super) fn happened(&mut self, happening: Happening, session: SessionId) {
        let Self { rules, core, .. } = self;
        let mut each = |outcome: Outcome<'_>| core.simple(rules, outcome);
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
            // A condition that cannot be told does not hold, and a door stays open that was to be shut.
            Outcome::Untold { rule, failure } => {
                core.counters.scripts_failed += 1;
                core.counters.troubles += 1;
                (core.listener)(Event::Trouble {
                    from: session,
                    message: *logon,
                    rule: rules.name(rule),
                    trouble: Trouble::Untold(failure),
                });
            }
            outcome => core.simple(rules, outcome),
        };
        let facts = Facts {
            now,
            active,
            remembered: &[],
        };
        let (way, happening) = ((session.0 as usize, &[][..]), Happening::LogonRequest);
        rules.happened_to(happening, scratch, logon, way, &facts, &mut each);
        answer
    }
}

impl Core {
    /// Tells the owner of a limit of which most is taken.
    #[cold]
    pub(super) fn tell_most(&mut self) {
        if let Some((limit, most, client)) = self.notes.take_most() {
            (self.listener)(Event::Room {
                limit,
                client: client.map(|place| SessionId(place as u32)),
                is_share: most.client.is_some(),
                taken: most.taken,
                of: most.of,
            });
        }
    }

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
