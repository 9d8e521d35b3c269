//! What becomes of what happens to sessions and messages.

use core::cell::Cell;

use fixwire_protocol::Message;

use super::Rules;
use super::change::Failure;
use super::compile_event::{Happening, On};
use super::condition::{Facts, World};
use super::evaluate::{Outcome, Run, Scratch};
use super::fields::View;

impl Rules {
    fn events_of(
        &self,
        happening: Happening,
        session: usize,
    ) -> impl Iterator<Item = (usize, &On)> {
        let numbered = (self.rules.len()..).zip(&self.events);
        numbered.filter(move |(_, on)| {
            on.happening == happening && on.sessions.get(session).copied().unwrap_or(false)
        })
    }

    /// Hands out what is to be done when this happens to a message from a session, on its way to some, or
    /// to the session, whose peer has said it so.
    /// Each `[[on]]` that fits works on fields of its own, which begin as the message came.
    pub fn happened_to(
        &self,
        happening: Happening,
        scratch: &mut Scratch,
        message: &Message<'_>,
        (source, missed): (usize, &[usize]),
        facts: &Facts<'_>,
        out: &mut impl FnMut(Outcome<'_>),
    ) {
        let Some(from) = self.sessions.get(source) else {
            return;
        };
        let failed: Cell<Option<Failure>> = Cell::new(None);
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
                out(Outcome::Untold {
                    rule: number,
                    failure,
                });
            }
        }
    }
}
