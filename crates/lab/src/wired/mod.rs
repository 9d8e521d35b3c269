//! Engines over sockets in memory, driven turn by turn, for counts that system sockets would disturb.

pub mod aging;
pub mod driven;
pub mod storm;
pub(crate) mod wires;

use fixwire::journal::{Directory, JournalError, Memory, OsDisk};
use fixwire::{Durability, Engine, EngineConfig};
use fixwire_protocol::Application;

use crate::error::{Error, engine_error};
use crate::wired::wires::Wires;

/// Number of turns after which an answer counts as missing.
const MOST_TURNS: usize = 100;

/// An engine whose peers are a script.
pub(crate) struct Wired<A: Application> {
    pub(crate) engine: Engine<A, Wires>,
}

impl<A: Application> Wired<A> {
    /// Starts the engine, with its journal in memory or in the folder that the settings name.
    ///
    /// # Errors
    ///
    /// The engine did not start.
    pub(crate) fn start(settings: EngineConfig, app: A, wires: Wires) -> Result<Self, Error> {
        let engine = Engine::with_host(settings, app, wires, disk).map_err(engine_error)?;
        Ok(Self { engine })
    }

    /// The sockets.
    pub(crate) fn wires(&mut self) -> &mut Wires {
        self.engine.host_mut()
    }

    /// One turn. Engines are driven from this place only: a second call of `turn` would change how the engine is
    /// compiled.
    pub(crate) fn turn(&mut self) -> Result<(), Error> {
        self.engine.turn().map(drop).map_err(engine_error)
    }

    /// Runs turns until this peer has received `count` messages since the last call; returns the number of turns.
    ///
    /// # Errors
    ///
    /// The engine stopped, or the messages are not received.
    pub(crate) fn await_messages(&mut self, number: usize, count: usize) -> Result<usize, Error> {
        for turns in 0..=MOST_TURNS {
            if self.wires().took(number, count) {
                return Ok(turns);
            }
            self.turn()?;
        }
        let what = format!("no {count} messages for peer {number}");
        Err(Error::Session(what))
    }
}

/// The disk of the journal: memory, or the folder that the settings name.
pub(crate) fn disk(config: &EngineConfig) -> Result<OsDisk, JournalError> {
    Ok(match config.durability {
        Durability::Memory => OsDisk::Memory(Memory::new(2)),
        _ => OsDisk::Directory(Directory::open(&config.journal_dir)?),
    })
}
