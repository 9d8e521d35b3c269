//! What `[[on]]` says about sessions that log on and out.

use fixwire_protocol::SessionId;

use super::{Event, Gateway};
use crate::rules::{Happening, Outcome};

impl Gateway {
    /// Something has happened to a session, not to a message of it.
    pub(super) fn happened(&mut self, happening: Happening, session: SessionId) {
        let Self { rules, core, .. } = self;
        let mut each = |outcome: Outcome<'_>| match outcome {
            Outcome::Count { counter, .. } => core.counted[counter] += 1,
            Outcome::Notify { rule, text } => {
                let rule = rules.name(rule).unwrap_or_default();
                (core.listener)(Event::Notify { rule, text });
            }
            Outcome::Disconnect { rule, session } => {
                let rule = rules.name(rule).unwrap_or_default();
                let session = SessionId(session as u32);
                (core.listener)(Event::Disconnect { rule, session });
            }
            _ => {}
        };
        rules.happened(happening, session.0 as usize, &mut each);
    }
}
