//! A reconnect storm: all peers of an acceptor lose their connections at once and reconnect at once.
//!
//! The engine is real, with its journal in memory; sockets and clocks are simulated, because an operating system
//! does not have enough sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability, Engine};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_protocol::tag;
use fixwire_stamps::scenario::Echo;

use crate::arena::PATIENCE;
use crate::driven::{disk, log_on, turn};
use crate::error::{Error, engine_error};
use crate::fix_client::Writer;
use crate::numbered::Numbered;
use crate::pair::PairConfig;
use crate::wires::{WALL, Wires};

/// Turns per session after which an unanswered Logon is an error.
const MOST_TURNS: usize = 10;

/// An acceptor with many sessions, all logged on.
pub struct Storm {
    engine: Engine<Echo, Wires>,
    /// The next Logon of each peer.
    logons: Vec<Numbered>,
}

impl Storm {
    /// Its name on command lines.
    pub const NAME: &str = "engine-reconnect";

    /// Logs on this number of sessions, each from its own address.
    ///
    /// # Errors
    ///
    /// The engine did not start, or a session is not logged on.
    pub fn new(sessions: usize) -> Result<Self, Error> {
        let config = PairConfig {
            peer: None,
            initiator: "BENCH".to_owned(),
            acceptor: "EXEC".to_owned(),
            sessions: vec![Version::Fix42; sessions],
            durability: Durability::Memory,
            checked: false,
            nodelay: true,
            heart_bt_int_seconds: 0,
            patience: PATIENCE,
            asked: None,
            journals: Path::new("").to_owned(),
        };
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let settings = config.engine(Role::Acceptor, Connection::Acceptor { listen });
        let mut wires = Wires::default();
        let mut logons = Vec::with_capacity(sessions);
        for number in 0..sessions {
            let mut writer = Writer::of_initiator(&config, number);
            wires.connect(number, &log_on(&mut writer)?);
            let logon = writer.message(b"A", WALL, |body| {
                body.uint(tag::ENCRYPT_METHOD, 0).uint(tag::HEART_BT_INT, 0);
            })?;
            logons.push(Numbered::new(logon.to_vec(), &["34"]));
        }
        let engine = Engine::with_host(settings, Echo, wires, disk).map_err(engine_error)?;
        let mut storm = Self { engine, logons };
        storm.all_logged_on()?;
        Ok(storm)
    }

    /// Closes all connections; each peer reconnects with a Logon. Returns the number of turns.
    ///
    /// # Errors
    ///
    /// A session is not logged on again.
    pub fn pass(&mut self) -> Result<usize, Error> {
        let wires = self.engine.host_mut();
        (0..self.logons.len()).for_each(|number| wires.hang_up(number));
        turn(&mut self.engine)?;
        let wires = self.engine.host_mut();
        for (number, logon) in self.logons.iter_mut().enumerate() {
            wires.connect(number, logon.take());
        }
        Ok(1 + self.all_logged_on()?)
    }

    /// Runs turns until each peer has received a message; returns their number.
    fn all_logged_on(&mut self) -> Result<usize, Error> {
        let mut turns = 0;
        for number in 0..self.logons.len() {
            while !self.engine.host_mut().took(number, 1) {
                turns += 1;
                if turns > MOST_TURNS * self.logons.len() {
                    return Err(Error::Session(format!("peer {number} is not logged on")));
                }
                turn(&mut self.engine)?;
            }
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
            for status in storm.engine.sessions() {
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
