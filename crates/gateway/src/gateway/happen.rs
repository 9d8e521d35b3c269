//! Runs the `[[on]]` entries of sessions that log on or out.

use alloc::string::String;

use fixwire_protocol::{Message, Now, SessionId};

use super::{Core, Gateway, GatewayEvent, Trouble};
use crate::rules::{Facts, RuleOutcome, RuleTrigger, Rules};

/// The message of a connection that broke without a Logout: a Logout without fields.
const SILENT_LOGOUT: &[u8] = b"35=5\x01";

impl Gateway {
    /// Runs the `[[on]]` entries for an event of a session. `message` is the peer's message; without one it is a
    /// Logout without fields. Returns the text of a reject, if an entry rejects.
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
        let mut each = |rule: usize, outcome: RuleOutcome<'_>| match outcome {
            RuleOutcome::Reject { text, .. } if rejected.is_none() => {
                rejected = Some(String::from_utf8_lossy(text).replace('\x01', " "));
            }
            // A condition that cannot be evaluated counts as false, so a Logon that the condition should reject is
            // accepted.
            RuleOutcome::Untold(failure) => {
                core.counters.scripts_failed += 1;
                core.counters.troubles += 1;
                (core.listener)(GatewayEvent::Trouble {
                    from: session,
                    message: *message,
                    rule: rules.name(rule),
                    trouble: Trouble::Untold(failure),
                });
            }
            outcome => core.simple(rules, rule, outcome),
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
    /// Raises an event when a limit is nearly reached.
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

    /// Carries out an action that sends no message: a counter or an event.
    pub(super) fn simple(&mut self, rules: &Rules, rule: usize, outcome: RuleOutcome<'_>) {
        let rule = rules.name(rule).unwrap_or_default();
        let event = match outcome {
            RuleOutcome::Count(counter) => {
                self.counted[counter] += 1;
                return;
            }
            RuleOutcome::Notify(text) => GatewayEvent::Notify { rule, text },
            RuleOutcome::Connect(session) => GatewayEvent::Connect {
                rule,
                session: SessionId(session as u32),
            },
            RuleOutcome::Disconnect(session) => GatewayEvent::Disconnect {
                rule,
                session: SessionId(session as u32),
            },
            _ => return,
        };
        (self.listener)(event);
    }
}
