//! File descriptors: how many the settings may need, and what does without when they run short.
//!
//! The system numbers descriptors from zero and takes the lowest free one, so the number of a new one
//! says how few are left below the limit. The last ones are kept for what the engine cannot do without:
//!
//! ```text
//!   0 ............................ limit - reserve ....... limit - reserve / 2 ....... limit
//!   connections, logs, the journal | logs, the journal     | the journal, password files
//! ```

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::{Connection, EngineConfig};

/// The most descriptors that are kept back; of a low limit an eighth is.
const RESERVE: u64 = 64;
/// Standard streams, poller, lock, journal, signals and the like.
const OWN: u64 = 24;
/// A message log and an event log.
const LOGS_OF_A_SESSION: u64 = 2;

/// The most descriptors that this process may have; `u64::MAX` for no limit.
#[must_use]
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of this process to the most that it may have without privileges (`ulimit -Hn`), and
/// answers the limit then. Programs that still call `select` must not do so.
///
/// # Errors
///
/// When the system refuses.
pub fn raise_limit() -> io::Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    )?;
    Ok(limit())
}

/// What a descriptor is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// A connection that was accepted or is made.
    Connection,
    /// A log file; a log that cannot be written waits and goes on later.
    Log,
}

/// Whether a new descriptor leaves the reserve alone. When not, it has to be closed again.
///
/// # Errors
///
/// "Too many open files", as the system says it.
pub(crate) fn check_reserve(new: impl AsFd, purpose: Purpose) -> io::Result<()> {
    let new = u64::try_from(new.as_fd().as_raw_fd()).unwrap_or(0);
    match new < last_for(purpose, limit()) {
        true => Ok(()),
        false => Err(Errno::MFILE.into()),
    }
}

/// The first descriptor that is too high.
fn last_for(purpose: Purpose, limit: u64) -> u64 {
    let reserve = (limit / 8).min(RESERVE);
    match purpose {
        Purpose::Connection => limit - reserve,
        Purpose::Log => limit - reserve / 2,
    }
}

/// How many descriptors a configuration may need at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Need {
    /// With every configured session connected, and as many connections as may wait for a Logon.
    pub configured: u64,
    /// For each session that a template makes.
    pub each_dynamic: u64,
    /// The most sessions that templates may make; 0 without a template.
    pub dynamic: u64,
}

impl Need {
    /// Counts.
    #[must_use]
    pub fn of(config: &EngineConfig) -> Self {
        let logs = match config.file_log {
            Some(_) => LOGS_OF_A_SESSION,
            None => 0,
        };
        let sessions = config.sessions.len() as u64;
        let templates = config.templates.iter().map(|template| &template.session);
        let listeners: HashSet<_> = (config.sessions.iter().chain(templates))
            .filter_map(|session| match session.connection {
                Connection::Acceptor { listen } => Some(listen),
                Connection::Initiator { .. } => None,
            })
            .collect();
        let listeners = listeners.len() as u64;
        let pending = config.limits.pending as u64;
        Self {
            // The engine itself has logs too.
            configured: OWN + listeners + pending + sessions * (1 + logs) + logs,
            each_dynamic: 1 + logs,
            dynamic: match config.templates.is_empty() {
                true => 0,
                false => config.limits.dynamic_sessions as u64,
            },
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.configured + self.dynamic * self.each_dynamic
    }

    /// What is missing under a limit, of which a part is kept for the journal.
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

/// The settings may need more descriptors than there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shortage {
    /// What they may need, with what is kept for the journal.
    pub needed: u64,
    /// The limit.
    pub limit: u64,
    /// So many sessions of templates fit; no more are made.
    pub dynamic: u64,
    /// All configured sessions can be connected at once.
    pub configured_fit: bool,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            needed,
            limit,
            dynamic,
            ..
        } = self;
        write!(
            f,
            "these settings may need {needed} open files and sockets, and the limit is {limit}: "
        )?;
        match self.configured_fit {
            true => write!(f, "templates make at most {dynamic} sessions")?,
            false => f.write_str("not all sessions can be connected at once")?,
        }
        f.write_str("; raise it (LimitNOFILE= of the service, or ulimit -n)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Limits, SessionConfig, Template};
    use crate::log::FileLog;
    use fixwire_protocol::session::{self, BeginString, Role};

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
            file_log: Some(FileLog::new("log")),
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

    #[test]
    fn connections_stop_before_logs_and_logs_before_the_journal() {
        for limit in [8, 64, 128, 1024, 1 << 20, u64::MAX] {
            let connections = last_for(Purpose::Connection, limit);
            let logs = last_for(Purpose::Log, limit);
            assert!(connections <= logs && logs <= limit, "{limit}");
            assert!(limit < 64 || logs + 4 <= limit, "{limit}");
        }
    }
}
