//! File descriptors: how many the settings may need, and what is refused when few are left.
//!
//! The system numbers descriptors from zero and always gives the lowest free number. The number of a new descriptor
//! therefore shows how many are left below the limit. The last ones are reserved for purposes that the engine cannot do
//! without:
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

/// Maximum number of reserved descriptors. If the limit is low, an eighth of it is reserved.
const RESERVE: u64 = 64;
/// Maximum number of descriptors of this process; `u64::MAX` when there is no limit.
#[must_use]
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of this process to the maximum that needs no privileges (`ulimit -Hn`), and returns the new
/// limit. Programs that still call `select` must not call this function.
///
/// # Errors
///
/// The error when the system call fails.
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

/// The use of a descriptor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// An accepted connection or a connection attempt.
    Connection,
    /// A log file. A log that cannot be written waits and continues later.
    Log,
}

/// Checks that a new descriptor is outside the reserve. If it is not, the caller must close the descriptor again.
///
/// # Errors
///
/// The error with the system's text for "Too many open files".
pub fn check_reserve(new: impl AsFd, purpose: Purpose) -> io::Result<()> {
    let new = u64::try_from(new.as_fd().as_raw_fd()).unwrap_or(0);
    match new < last_for(purpose, limit()) {
        true => Ok(()),
        false => Err(Errno::MFILE.into()),
    }
}

/// The lowest descriptor number that this purpose may not use.
#[must_use]
pub fn last_for(purpose: Purpose, limit: u64) -> u64 {
    let reserve = (limit / 8).min(RESERVE);
    match purpose {
        Purpose::Connection => limit - reserve,
        Purpose::Log => limit - reserve / 2,
    }
}

/// The settings may need more descriptors than the system allows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shortage {
    /// The number of descriptors that the settings may need, including those reserved for the journal.
    pub needed: u64,
    /// The limit.
    pub limit: u64,
    /// Number of sessions from templates for which there are descriptors; no more are created.
    pub dynamic: u64,
    /// Whether there are enough descriptors to connect all configured sessions at once.
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
