//! Runs `[[on]]` entries for sessions that log on and out.

use alloc::string::String;

use fixwire_protocol::{Message, Now, SessionId};

use super::answer::plain;
use super::{Core, Gateway, GatewayEvent, Trouble};
use crate::rules::{Facts, RuleOutcome, RuleTrigger, Rules};

/// The text of a broken connection.
const SILENT_LOGOUT: &[u8] = b"35=5\x01";

impl Gateway {
    /// Something has happened to a session, whose peer has said so with this message; without one there is
    /// a Logout that says nothing. The text of a reject, if that is what is to be done.
    pub(super) fn happened(
        &mut self,
        happening: RuleTrigger,
        now: Now,
        session: SessionId,
        message: Option<&Message<'_>>,
    ) -> Option<String> {
        let Self {
            rules,
            scratch,
            active,
            core,
            decoder,
            ..
        } = self;
        let silent = decoder.decode(SILENT_LOGOUT);
        let message = message.unwrap_or(&silent);
        let mut rejected = None;
        let mut each = |outcome: RuleOutcome<'_>| match outcome {
            RuleOutcome::Reject { text, .. } if rejected.is_none() => {
                rejected = Some(String::from_utf8_lossy(plain(text)).into_owned());
            }
            // A condition that cannot be evaluated is false, so a logon that it should reject is
            // accepted.
            RuleOutcome::Untold { rule, failure } => {
                core.counters.scripts_failed += 1;
                core.counters.troubles += 1;
                (core.listener)(GatewayEvent::Trouble {
                    from: session,
                    message: *message,
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
        let way = (session.0 as usize, &[][..]);
        rules.happened_to(happening, scratch, message, way, &facts, &mut each);
        rejected
    }
}

impl Core {
    /// Tells the owner of a limit of which most is taken.
    #[cold]
    pub(super) fn tell_most(&mut self) {
        if let Some((limit, most, client)) = self.notes.take_most() {
            (self.listener)(GatewayEvent::Room {
                limit,
                client: client.map(|place| SessionId(place as u32)),
                is_share: most.client.is_some(),
                taken: most.taken,
                of: most.of,
            });
        }
    }

    /// Counts, or tells the owner, what needs no message.
    pub(super) fn simple(&mut self, rules: &Rules, outcome: RuleOutcome<'_>) {
        let name = |rule| rules.name(rule).unwrap_or_default();
        let event = match outcome {
            RuleOutcome::Count { counter, .. } => {
                self.counted[counter] += 1;
                return;
            }
            RuleOutcome::Notify { rule, text } => GatewayEvent::Notify {
                rule: name(rule),
                text,
            },
            RuleOutcome::Connect { rule, session } => GatewayEvent::Connect {
                rule: name(rule),
                session: SessionId(session as u32),
            },
            RuleOutcome::Disconnect { rule, session } => GatewayEvent::Disconnect {
                rule: name(rule),
                session: SessionId(session as u32),
            },
            _ => return,
        };
        (self.listener)(event);
    }
}
