//! What `[[on]]` says about a message that did not get where it should.

use super::{Facts, Scratch, Trouble, Work};
use crate::rules::Happening;

/// What has happened to a message.
#[derive(Default)]
pub(super) struct Raised {
    undelivered: bool,
    failed: bool,
}

impl Work<'_> {
    pub(super) fn raise(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Failed { .. } => self.raised.failed = true,
            // What comes back is to stop here.
            Trouble::Untold(_) | Trouble::CameBack => {}
            _ => self.raised.undelivered = true,
        }
    }

    /// Does what is to be done about it, once for a message. What goes wrong then raises nothing.
    pub(super) fn happen(&mut self, scratch: &mut Scratch) {
        let Raised {
            undelivered,
            failed,
        } = self.raised;
        let remembered = core::mem::take(&mut self.core.recalled);
        let facts = Facts {
            now: self.now,
            active: self.active,
            remembered: &remembered,
        };
        let (rules, message, source) = (self.rules, self.message, self.source);
        for (happening, raised) in [
            (Happening::Failed, failed),
            (Happening::Undelivered, undelivered),
        ] {
            if raised {
                let mut each = |outcome: super::Outcome<'_>| self.outcome(outcome);
                rules.happened_to(happening, scratch, message, source, &facts, &mut each);
            }
        }
        self.core.recalled = remembered;
    }
}
