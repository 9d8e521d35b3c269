//! Sessions that the application wants to log out.

use alloc::string::String;
use alloc::vec::Vec;

use super::Outbox;
use crate::SessionId;

impl Outbox {
    /// Logs a session out. The Logout has this Text(58) up to the first SOH; if the text is empty, the Logout has no
    /// Text(58). The Logout follows all messages of the call that requests it. The engine writes the Logout when
    /// these messages are committed, at the end of its turn. The application still receives messages that arrive
    /// before the peer's Logout. If several texts are given for a session, the first one counts.
    ///
    /// The effect is that of the engine's `Handle::log_out`. An acceptor accepts the next Logon; an initiator does not
    /// log on again by itself. If the session is not logged on, only its connection, or its attempt to connect, ends.
    /// The journal has no record of the request, only the Logout. A request that is lost in a crash is therefore not
    /// repeated after the restart.
    pub fn log_out(&mut self, session: SessionId, text: &str) {
        let logouts = &mut self.ends.logouts;
        if !logouts.iter().any(|(known, _)| *known == session) {
            logouts.push((session, text.into()));
        }
    }

    /// The number of sessions that are to be logged out.
    #[inline]
    #[must_use]
    pub fn logouts(&self) -> usize {
        self.ends.logouts.len()
    }

    /// Drops all requests after the first `count` requests.
    pub fn truncate_logouts(&mut self, count: usize) {
        self.ends.logouts.truncate(count);
    }

    /// The sessions that are to be logged out, in the order of the requests, each with the Text(58) of its Logout. Each
    /// Logout is returned only once.
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
