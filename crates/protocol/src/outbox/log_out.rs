//! Sessions that the application logs out.

use alloc::string::String;
use alloc::vec::Vec;

use super::Outbox;
use crate::SessionId;

impl Outbox {
    /// Logs a session out, with this Text(58), which ends before a SOH; empty for none. The Logout follows all
    /// messages of the call that asks for it, when they are committed, at the end of the engine's turn: messages that
    /// have arrived by then, and those that arrive before the peer's Logout, are still given to the application. The
    /// first text of a session counts.
    ///
    /// It is as the engine's `Handle::log_out`: an acceptor takes the next Logon, an initiator does not log on again by
    /// itself, and nothing happens to a session that is not logged on, but that its connection, or an attempt to
    /// connect, ends. Nothing of it is in the journal but the Logout: what a crash interrupts is not done later.
    pub fn log_out(&mut self, session: SessionId, text: &str) {
        let logouts = &mut self.ends.logouts;
        if !logouts.iter().any(|(known, _)| *known == session) {
            logouts.push((session, text.into()));
        }
    }

    /// The number of sessions to be logged out.
    #[inline]
    #[must_use]
    pub fn logouts(&self) -> usize {
        self.ends.logouts.len()
    }

    /// Drops all requests after the first `count`.
    pub fn truncate_logouts(&mut self, count: usize) {
        self.ends.logouts.truncate(count);
    }

    /// The sessions that are to be logged out, in the order of the requests, with Text(58) for each. Returned only
    /// once.
    pub fn take_logouts(&mut self) -> Vec<(SessionId, String)> {
        core::mem::take(&mut self.ends.logouts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_first_text_of_a_session_counts_and_is_taken_once() {
        let mut outbox = Outbox::new(64, 1, 16);
        assert_eq!(outbox.logouts(), 0);
        outbox.log_out(SessionId(3), "too fast");
        outbox.log_out(SessionId(1), "");
        outbox.log_out(SessionId(3), "again");
        // The written messages are sent, and the wish stays.
        outbox.clear();
        assert_eq!(outbox.logouts(), 2);
        outbox.log_out(SessionId(7), "taken back");
        outbox.truncate_logouts(2);
        let wanted = vec![(SessionId(3), "too fast".into()), (SessionId(1), "".into())];
        assert_eq!(outbox.take_logouts(), wanted);
        assert_eq!(outbox.take_logouts(), []);
    }
}
