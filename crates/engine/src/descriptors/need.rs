//! Counts the file descriptors that a configuration may need.

use std::collections::HashSet;

use super::{Purpose, Shortage, last_for};
use crate::config::{Connection, EngineConfig};

/// Descriptors that every engine needs: for standard streams, poller, lock, journal and signals; and for clients of a
/// control socket.
const OWN: u64 = 24 + 17;

/// The number of file descriptors that a configuration needs at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Need {
    /// Number needed when every configured session is connected, and when there are as many connections without a
    /// Logon as allowed.
    pub configured: u64,
    /// Number needed for each session that a template creates.
    pub each_dynamic: u64,
    /// Maximum number of sessions that templates create; 0 without a template.
    pub dynamic: u64,
}

impl Need {
    /// Counts the descriptors of a configuration.
    #[must_use]
    pub fn of(config: &EngineConfig) -> Self {
        let logs = config.logs.iter().map(|log| log.files_of_a_session());
        let logs: u64 = logs.sum();
        let sessions = config.sessions.len() as u64;
        let templates = config.templates.iter().map(|template| &template.session);
        let listeners: HashSet<_> = (config.sessions.iter().chain(templates))
            .filter_map(|session| match session.connection {
                Connection::Acceptor { listen } => Some(listen),
                Connection::Initiator { .. } => None,
            })
            .collect();
        let links = config.links.iter().map(|link| match link.connection {
            Connection::Acceptor { .. } => 2,
            Connection::Initiator { .. } => 1,
        });
        let links: u64 = links.sum();
        let listeners = listeners.len() as u64;
        let pending = config.limits.pending as u64;
        Self {
            // The engine itself has a set of log files too.
            configured: OWN + listeners + links + pending + sessions * (1 + logs) + logs,
            each_dynamic: 1 + logs,
            dynamic: match config.templates.is_empty() {
                true => 0,
                false => config.limits.dynamic_sessions as u64,
            },
        }
    }

    /// The total.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.configured + self.dynamic * self.each_dynamic
    }

    /// Number of descriptors that are missing if the process may open `limit` files. A part of `limit` is reserved
    /// for the journal. `None` when the limit is high enough.
    #[must_use]
    pub fn shortage(&self, limit: u64) -> Option<Shortage> {
        let usable = last_for(Purpose::Connection, limit);
        (self.total() > usable).then(|| Shortage {
            needed: self.total() + (limit - usable),
            limit,
            dynamic: usable.saturating_sub(self.configured) / self.each_dynamic,
            configured_fit: self.configured <= usable,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Limits, SessionConfig, Template};
    use crate::log::{Log, LogError, LogTarget};
    use fixwire_protocol::session::{self, BeginString, Role};
    use std::path::Path;
    use std::sync::Arc;

    /// A message log and an event log.
    #[derive(Debug)]
    struct TwoFiles;

    impl Log for TwoFiles {
        fn kind(&self) -> &'static str {
            "files"
        }

        fn files_of_a_session(&self) -> u64 {
            2
        }

        fn open(&self, _: &Path, _: &[String]) -> Result<Box<dyn LogTarget>, LogError> {
            unreachable!("nothing is logged here")
        }
    }

    fn need(sessions: usize, dynamic: Option<usize>) -> Need {
        let fix = session::Config::new(BeginString::Fix42, Role::Acceptor, b"A", b"B");
        let listen = "127.0.0.1:5001".parse().expect("an address");
        let connection = Connection::Acceptor { listen };
        let session = SessionConfig::new("FIX.4.2:A->B".to_owned(), fix, connection);
        let qualified = false;
        Need::of(&EngineConfig {
            sessions: vec![session.clone(); sessions],
            templates: match dynamic {
                Some(_) => vec![Template { session, qualified }],
                None => Vec::new(),
            },
            limits: Limits {
                dynamic_sessions: dynamic.unwrap_or(1000),
                ..Limits::default()
            },
            logs: vec![Arc::new(TwoFiles)],
            ..EngineConfig::default()
        })
    }

    #[test]
    fn sessions_have_a_connection_and_two_logs_each() {
        assert_eq!(need(100, None).total() - need(99, None).total(), 3);
        assert_eq!(need(1, Some(30)).total() - need(1, Some(29)).total(), 3);
        assert_eq!(need(1, None).dynamic, 0, "nobody makes any");
    }

    #[test]
    fn a_low_limit_leaves_room_for_the_configured_sessions_first() {
        let need = need(1, Some(1000));
        assert_eq!(need.shortage(u64::MAX), None);
        let short = need.shortage(256).expect("it is too low");
        assert!(short.configured_fit);
        assert_eq!(short.dynamic, (256 - 32 - need.configured) / 3);
        assert!(short.needed > 3000);
        let short = need.shortage(32).expect("it is too low");
        assert_eq!((short.dynamic, short.configured_fit), (0, false));
    }
}
