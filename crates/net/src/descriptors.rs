//! File descriptors: how many the settings may need, and what goes without when they run short.
//!
//! The system numbers descriptors from zero and takes the lowest free one, so the number of a new one
//! says how few are left below the limit. The last ones are kept for what the engine cannot do without:
//!
//! ```text
//!   0 ............................ limit - reserve ....... limit - reserve / 2 ....... limit
//!   connections, logs, the journal | logs, the journal     | the journal, password files
//! ```

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The most descriptors that are kept back; of a low limit an eighth is.
const RESERVE: u64 = 64;
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

/// The purpose of a descriptor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
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
pub fn check_reserve(new: impl AsFd, purpose: Purpose) -> io::Result<()> {
    let new = u64::try_from(new.as_fd().as_raw_fd()).unwrap_or(0);
    match new < last_for(purpose, limit()) {
        true => Ok(()),
        false => Err(Errno::MFILE.into()),
    }
}

/// The first descriptor that is too high.
#[must_use]
pub fn last_for(purpose: Purpose, limit: u64) -> u64 {
    let reserve = (limit / 8).min(RESERVE);
    match purpose {
        Purpose::Connection => limit - reserve,
        Purpose::Log => limit - reserve / 2,
    }
}

/// The settings may need more descriptors than there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shortage {
    /// The number they may need, with what is kept for the journal.
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
            true => write!(f, "templates can create at most {dynamic} sessions")?,
            false => f.write_str("not all sessions can be connected at once")?,
        }
        f.write_str("; raise it (LimitNOFILE= of the service, or ulimit -n)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
