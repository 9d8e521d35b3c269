//! Failures of a message that `[[on]]` entries react to.

use alloc::vec::Vec;

/// The failures of a message.
#[derive(Default)]
pub(super) struct Raised {
    pub(super) undelivered: Missed,
    pub(super) failed: Missed,
}

/// Whether something has happened, and which sessions the message did not get to because of it.
#[derive(Default)]
pub(super) struct Missed {
    pub(super) happened: bool,
    pub(super) sessions: Vec<usize>,
}

/// Where a message was to go.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Unknown,
    Session(usize),
    /// To the session that asked for it.
    Back,
    /// To those that the rule names behind this action.
    Behind {
        rule: usize,
        action: usize,
    },
}

impl Missed {
    pub(super) fn add(&mut self, session: usize) {
        if !self.sessions.contains(&session) {
            self.sessions.push(session);
        }
    }

    pub(super) fn clear(&mut self) {
        self.happened = false;
        self.sessions.clear();
    }
}
