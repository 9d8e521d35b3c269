//! Runs `[[on]]` entries for messages that were not delivered.

use core::mem;

use super::super::raised::{Raised, Target};
use super::{Facts, RuleScratch, Trouble, Work};
use crate::rules::RuleTrigger;

impl Work<'_> {
    pub(super) fn raise(&mut self, trouble: Trouble, target: Target) {
        // A failure while `[[on]]` entries run raises no further event.
        if self.happened {
            return;
        }
        let asked = self.asked();
        let raised = &mut self.core.raised;
        let missed = match trouble {
            Trouble::Failed { .. } => &mut raised.failed,
            // A failed condition and a routing loop raise no event: an entry could send the message into the loop
            // again.
            Trouble::Untold(_) | Trouble::CameBack | Trouble::OwnAnswer | Trouble::GoesRound => {
                return;
            }
            _ => &mut raised.undelivered,
        };
        missed.happened = true;
        match target {
            Target::Unknown => {}
            Target::Session(to) => missed.add(to),
            Target::Back => asked.into_iter().for_each(|to| missed.add(to)),
            Target::Behind { rule, action } => {
                let behind = self.rules.behind(rule, action);
                let known = behind.filter_map(|to| to.or(asked));
                known.for_each(|to| missed.add(to));
            }
        }
    }

    /// Runs the `[[on]]` entries for one event of the message.
    pub fn happened(&mut self, happening: RuleTrigger, scratch: &mut RuleScratch) {
        self.happened = true;
        let facts = Facts {
            now: self.now,
            active: self.active,
            remembered: &[],
        };
        let (rules, message) = (self.rules, self.message);
        let way = (self.source, &[][..]);
        let mut each = |rule: usize, outcome: super::RuleOutcome<'_>| self.outcome(rule, outcome);
        rules.happened_to(happening, scratch, message, way, &facts, &mut each);
    }

    /// Runs the `[[on]]` entries for the failures of a message, once per message.
    pub(super) fn happen(&mut self, scratch: &mut RuleScratch) {
        self.happened = true;
        let Raised {
            undelivered,
            failed,
        } = &self.core.raised;
        if !undelivered.happened && !failed.happened {
            return;
        }
        let mut raised = mem::take(&mut self.core.raised);
        let remembered = mem::take(&mut self.core.recalled);
        let facts = Facts {
            now: self.now,
            active: self.active,
            remembered: &remembered,
        };
        let (rules, message) = (self.rules, self.message);
        for (happening, missed) in [
            (RuleTrigger::Failed, &mut raised.failed),
            (RuleTrigger::Undelivered, &mut raised.undelivered),
        ] {
            if missed.happened {
                let way = (self.source, &missed.sessions[..]);
                let mut each =
                    |rule: usize, outcome: super::RuleOutcome<'_>| self.outcome(rule, outcome);
                rules.happened_to(happening, scratch, message, way, &facts, &mut each);
            }
            missed.clear();
        }
        // Put back, so that their memory is reused.
        self.core.raised = raised;
        self.core.recalled = remembered;
    }
}
