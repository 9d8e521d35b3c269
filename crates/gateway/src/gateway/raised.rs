//! Failures of a message that `[[on]]` entries react to.

use alloc::vec::Vec;

/// The failures of a message.
#[derive(Default)]
pub(super) struct Raised {
    pub(super) undelivered: Missed,
    pub(super) failed: Missed,
}

/// Whether a failure has occurred, and the sessions that did not get the message because of it.
#[derive(Default)]
pub(super) struct Missed {
    pub(super) happened: bool,
    pub(super) sessions: Vec<usize>,
}

/// The intended destination of a message.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Unknown,
    Session(usize),
    /// The session that sent the request.
    Back,
    /// The sessions that the rule names after this action.
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
