//! A reconnect storm: all peers of an acceptor lose their connections at once and reconnect at once.
//!
//! The engine is real, with its journal in memory; sockets and clocks are simulated, because an operating system
//! does not have enough sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_stamps::scenario::Echo;

use crate::error::Error;
use crate::sockets::fix_client::Writer;
use crate::sockets::numbered::Numbered;
use crate::sockets::pair::PairConfig;
use crate::wired::Wired;
use crate::wired::driven::FIRST_SEQ;
use crate::wired::wires::{WALL, Wires};

/// An acceptor with many sessions, all logged on.
pub struct Storm {
    wired: Wired<Echo>,
    /// The next Logon of each peer.
    logons: Vec<Numbered>,
}

impl Storm {
    /// Name of the storm on command lines.
    pub const NAME: &str = "engine-reconnect";

    /// Logs on this number of sessions, each from its own address.
    ///
    /// # Errors
    ///
    /// The engine did not start, or a session is not logged on.
    pub fn new(sessions: usize) -> Result<Self, Error> {
        let config = PairConfig {
            durability: Durability::Memory,
            checked: false,
            ..PairConfig::new(
                "BENCH",
                "EXEC",
                &vec![Version::Fix42; sessions],
                Path::new(""),
            )
        };
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let settings = config.engine(Role::Acceptor, Connection::Acceptor { listen });
        let mut wires = Wires::default();
        let mut logons = Vec::with_capacity(sessions);
        for number in 0..sessions {
            let mut writer = Writer::of_initiator(&config, number);
            wires.connect(number, &writer.log_on_and_fill(WALL, FIRST_SEQ)?);
            let logon = writer.log_on(WALL, 0, false)?.to_vec();
            logons.push(Numbered::new(logon, &["34"]));
        }
        let wired = Wired::start(settings, Echo, wires)?;
        let mut storm = Self { wired, logons };
        storm.all_logged_on()?;
        Ok(storm)
    }

    /// Closes all connections; each peer reconnects with a Logon. Returns the number of turns.
    ///
    /// # Errors
    ///
    /// A session is not logged on again.
    pub fn pass(&mut self) -> Result<usize, Error> {
        let wires = self.wired.wires();
        (0..self.logons.len()).for_each(|number| wires.hang_up(number));
        self.wired.turn()?;
        let wires = self.wired.wires();
        for (number, logon) in self.logons.iter_mut().enumerate() {
            wires.connect(number, logon.take());
        }
        Ok(1 + self.all_logged_on()?)
    }

    /// Runs turns until each peer has received a message; returns the number of turns.
    fn all_logged_on(&mut self) -> Result<usize, Error> {
        let mut turns = 0;
        for number in 0..self.logons.len() {
            turns += self.wired.await_messages(number, 1)?;
        }
        Ok(turns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_returns_with_the_next_number() {
        let mut storm = Storm::new(100).unwrap();
        for time in 1..=3 {
            // One turn closes all connections, a turn accepts 16 connections, and their Logons are read in the next.
            assert_eq!(storm.pass().unwrap(), 1 + 100_usize.div_ceil(16) + 1);
            for status in storm.wired.engine.sessions() {
                assert!(status.logged_on);
                assert_eq!(
                    (status.next_in, status.next_out),
                    (100_000 + time, 2 + time)
                );
                assert_eq!(status.counters.connections, 1 + time);
            }
        }
    }
}
