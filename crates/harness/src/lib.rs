//! A simulated world for tests of an application. The world has the application's engine, a disk, a network and the
//! counterparties of the sessions. The world runs in one thread and follows a seed.
//!
//! [`Trial`] plays a script and kills the process at every point of the script. The trial detects everything that the
//! application does twice, loses, or keeps outside its notes. A failure names the [`CrashPoint`] that reproduces it.
//! [`World`] is one such world, for a test that controls the events itself. `docs/guide/applications.md` has the
//! guarantees for an application. `examples/dealer` is an application with such a test. Programs use this crate as
//! `fixwire::harness`, with the feature `harness` in their dev-dependencies.
//!
//! ```
//! use fixwire_engine::protocol::session::{BeginString, Config, Role};
//! use fixwire_engine::protocol::{Application, Message, Now, Outbox, Refusal, SessionId};
//! use fixwire_engine::{Connection, EngineConfig, SessionConfig};
//! use fixwire_harness::Trial;
//!
//! /// Acknowledges orders.
//! struct Desk;
//!
//! impl Application for Desk {
//!     fn on_message(
//!         &mut self,
//!         _now: Now,
//!         from: SessionId,
//!         order: &Message<'_>,
//!         outbox: &mut Outbox,
//!     ) -> Result<(), Refusal> {
//!         let mut report = outbox.begin(from, b"8");
//!         report.field(11, order.get(11).unwrap_or_default());
//!         report.finish().map_err(|_| Refusal::NotAvailable)
//!     }
//! }
//!
//! let session = Config::new(BeginString::Fix42, Role::Acceptor, b"DESK", b"CLIENT");
//! let listen = Connection::Acceptor { listen: "127.0.0.1:9878".parse().unwrap() };
//! let config = EngineConfig {
//!     sessions: vec![SessionConfig::new("DESK->CLIENT", session, listen)],
//!     ..EngineConfig::default()
//! };
//! let tally = Trial::new(config, || || Desk)
//!     .send(SessionId(0), "D", "11=A1|55=MSFT|54=1|38=100|40=1|")
//!     .run()
//!     .unwrap();
//! assert!(tally.kills > 20 && tally.handed_again > 0);
//! ```
#![forbid(unsafe_code)]

mod crash;
mod peer;
mod play;
mod trial;
mod watched;
mod wire;
mod world;
#[doc(hidden)]
pub mod worlds;

pub use crash::{CrashKind, CrashPoint, REPEAT, TrialError, TrialTally};
#[doc(hidden)]
pub use fixwire_random::Random;
pub use peer::Peer;
pub use trial::Trial;
pub use wire::Received;
pub use world::{Turn, World};
