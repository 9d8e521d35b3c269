//! Evaluates `[[on]]` entries for events of sessions and messages.

use core::cell::Cell;

use fixwire_protocol::Message;

use super::Rules;
use super::compile_event::{On, RuleTrigger};
use super::condition::{Facts, World};
use super::evaluate::{RuleOutcome, RuleScratch, Run};
use super::fields::View;
use crate::TransformFailure;

impl Rules {
    fn events_of(
        &self,
        happening: RuleTrigger,
        session: usize,
    ) -> impl Iterator<Item = (usize, &On)> {
        let numbered = (self.rules.len()..).zip(&self.events);
        numbered.filter(move |(_, on)| {
            on.happening == happening && on.sessions.get(session).copied().unwrap_or(false)
        })
    }

    /// Emits the outcomes for an event of a session's message, or for an event of the session with its peer's
    /// message. Each matching `[[on]]` entry changes its own copy of the fields of that message.
    pub fn happened_to(
        &self,
        happening: RuleTrigger,
        scratch: &mut RuleScratch,
        message: &Message<'_>,
        (source, missed): (usize, &[usize]),
        facts: &Facts<'_>,
        out: &mut impl FnMut(usize, RuleOutcome<'_>),
    ) {
        let Some(from) = self.sessions.get(source) else {
            return;
        };
        let failed: Cell<Option<TransformFailure>> = Cell::new(None);
        let world = World {
            missed,
            ..self.world((source, from), message, &failed, facts)
        };
        let view = View::of(message, &from.dictionary);
        for (number, on) in self.events_of(happening, source) {
            let test = on.rule.test.as_ref();
            if test.is_none_or(|test| test.holds(&view, None, &world)) {
                let mut run = Run {
                    rules: self,
                    number,
                    message,
                    from,
                    world,
                };
                run.steps(&on.rule, scratch, out);
            }
            if let Some(failure) = failed.take() {
                out(number, RuleOutcome::Untold(failure));
            }
        }
    }
}
