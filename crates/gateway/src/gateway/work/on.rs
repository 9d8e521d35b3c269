//! What `[[on]]` says about a message that did not get where it should.

use super::{Facts, Scratch, Trouble, Work};
use crate::rules::Happening;

/// What has happened to a message.
#[derive(Default)]
pub(super) struct Raised {
    undelivered: bool,
    failed: bool,
    /// Not by what is done with the message.
    other: Option<Happening>,
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

    /// This has happened to the message: does what is to be done about it, and nothing else.
    pub fn happened(&mut self, happening: Happening, scratch: &mut Scratch) {
        self.raised.other = Some(happening);
        self.happen(scratch);
    }

    /// Does what is to be done about it, once for a message. What goes wrong then raises nothing.
    pub(super) fn happen(&mut self, scratch: &mut Scratch) {
        let Raised {
            undelivered,
            failed,
            other,
        } = self.raised;
        let facts = Facts {
            now: self.now,
            active: self.active,
        };
        let (rules, message, source) = (self.rules, self.message, self.source);
        let happenings = [
            failed.then_some(Happening::Failed),
            undelivered.then_some(Happening::Undelivered),
            other,
        ];
        for happening in happenings.into_iter().flatten() {
            let mut each = |outcome: super::Outcome<'_>| self.outcome(outcome);
            rules.happened_to(happening, scratch, message, source, &facts, &mut each);
        }
    }
}
