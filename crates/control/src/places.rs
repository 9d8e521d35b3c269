//! Limits the number of connections: there are places for every user, and additional places for operators.
//!
//! When all places are taken, an operator gets the place of the connection that has been without a complete request
//! for the longest time. If a connection has sent no request, this time counts from the beginning of the connection.
//! Connections that wait for an answer keep their places.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fixwire_engine::OperatorStanding;

/// Number of places for connections of all users.
pub const MOST: usize = 16;
/// Number of additional places for operators: the process's user and root.
pub const KEPT: usize = 8;

/// The connections in use.
#[derive(Debug, Default)]
pub(crate) struct Places {
    all: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    places: Vec<Connected>,
}

#[derive(Debug)]
struct Connected {
    number: u64,
    is_owner: bool,
    /// Whether a request on this connection is being answered.
    is_busy: bool,
    since: Instant,
    stream: UnixStream,
}

impl Places {
    /// Takes a place, and returns its number. `is_operator` is called only when no place for other users is left.
    ///
    /// # Errors
    ///
    /// No place is left. The text states the limit.
    pub fn take(
        &self,
        stream: &UnixStream,
        standing: OperatorStanding,
        is_operator: impl FnOnce() -> bool,
    ) -> Result<u64, String> {
        let is_owner = standing == OperatorStanding::Owner;
        let has_room = self.taken().places.len() < MOST;
        if !has_room && !is_owner && !is_operator() {
            return Err(format!(
                "{MOST} clients are connected, which is the maximum; {KEPT} more connections are kept for operators, \
                 the engine's own user and root: try again later"
            ));
        }
        let stream = stream
            .try_clone()
            .map_err(|error| format!("cannot accept the connection: {error}"))?;
        let mut taken = self.taken();
        if taken.places.len() >= MOST + KEPT {
            let waits = taken.places.iter().filter(|one| !one.is_busy);
            let longest = waits.min_by_key(|one| (one.is_owner, one.since));
            let Some(longest) = longest.map(|one| one.number) else {
                let most = MOST + KEPT;
                return Err(format!(
                    "{most} requests are being answered, which is the maximum: try again later"
                ));
            };
            taken.leave(longest);
        }
        taken.last += 1;
        let number = taken.last;
        taken.places.push(Connected {
            number,
            is_owner,
            is_busy: false,
            since: Instant::now(),
            stream,
        });
        Ok(number)
    }

    /// Records whether a request on this connection is being answered.
    pub fn set_busy(&self, number: u64, is_busy: bool) {
        let mut taken = self.taken();
        let mut places = taken.places.iter_mut();
        if let Some(one) = places.find(|one| one.number == number) {
            one.is_busy = is_busy;
            one.since = Instant::now();
        }
    }

    /// Frees the place of a connection that has ended.
    pub fn leave(&self, number: u64) {
        self.taken().leave(number);
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn leave(&mut self, number: u64) {
        if let Some(at) = self.places.iter().position(|one| one.number == number) {
            let one = self.places.swap_remove(at);
            // The thread that reads from this connection then finds that it is closed.
            let _ = one.stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn places_are_kept_for_operators_who_take_those_of_idle_clients() {
        let places = Places::default();
        let pairs: Vec<_> = (0..30).map(|_| UnixStream::pair().unwrap()).collect();
        let take = |at: usize, standing, is_operator: bool| {
            places.take(&pairs[at].0, standing, || is_operator)
        };
        let numbers: Vec<u64> = (0..MOST)
            .map(|at| take(at, OperatorStanding::Member, false).unwrap())
            .collect();
        let why = take(16, OperatorStanding::Member, false).unwrap_err();
        assert!(why.starts_with("16 clients are connected"), "{why}");
        places.set_busy(numbers[0], true);
        for at in 16..23 {
            take(at, OperatorStanding::Owner, false).unwrap();
        }
        take(23, OperatorStanding::Member, true).unwrap();
        // All places are in use: the connection that has been without a request for the longest time is closed.
        take(24, OperatorStanding::Member, true).unwrap();
        let ended = |at: usize| {
            let mut end = &pairs[at].1;
            end.set_nonblocking(true).unwrap();
            end.read(&mut [0]).is_ok()
        };
        assert!(!ended(0) && ended(1) && !ended(2));
        places.leave(numbers[0]);
        assert!(ended(0));
    }
}
