//! A FIX engine.
//!
//! A program handles messages in an [`Application`](protocol::Application), lists its sessions in an [`EngineConfig`]
//! or in a file of [`settings`], and runs an [`Engine`]. Other threads reach the engine through a [`Handle`]. The
//! engine returns an [`EngineError`] when something fails, and raises an [`Event`] when something happens. The programs
//! in `examples/` look like QuickFIX programs.
//!
//! An acceptor whose sessions are in a settings file, in the format of QuickFIX or in TOML:
//!
//! ```no_run
//! use fixwire::Engine;
//! use fixwire::protocol::{Application, Message, Now, Outbox, Refusal, SessionId, tag};
//! use fixwire::settings::Settings;
//! use std::path::Path;
//!
//! /// Accepts each order.
//! struct Broker;
//!
//! impl Application for Broker {
//!     fn on_message(
//!         &mut self,
//!         _now: Now,
//!         from: SessionId,
//!         order: &Message<'_>,
//!         outbox: &mut Outbox,
//!     ) -> Result<(), Refusal> {
//!         let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
//!         let mut report = outbox.begin(from, b"8");
//!         report.field(tag::ORDER_ID, id).field(tag::CL_ORD_ID, id);
//!         report.char(tag::EXEC_TYPE, b'0').char(tag::ORD_STATUS, b'0');
//!         report.finish().map_err(|_| Refusal::NotAvailable)
//!     }
//! }
//!
//! let config = Settings::load(Path::new("acceptor.cfg"))?.to_config()?;
//! let mut engine = Engine::new(config, Broker)?;
//! engine.on_event(|_, event| eprintln!("{event}"));
//! engine.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sends an order from another thread, on the session of this name:
//!
//! ```no_run
//! # use fixwire::{Engine, protocol::{Application, tag}};
//! # fn orders(engine: Engine<impl Application + Send + 'static>) -> Result<(), Box<dyn std::error::Error>> {
//! let mut handle = engine.handle();
//! let thread = std::thread::spawn(move || {
//!     let mut engine = engine;
//!     engine.run()
//! });
//! let session = handle.find("FIX.4.4:DESK->VENUE").ok_or("no such session")?;
//! handle.send(session, b"D", |order| {
//!     order.field(tag::CL_ORD_ID, b"A1").field(tag::SYMBOL, b"VOD");
//!     order.char(tag::SIDE, b'1').uint(tag::ORDER_QTY, 100).char(tag::ORD_TYPE, b'1');
//! })?;
//! handle.stop()?;
//! thread.join().map_err(|_| "the engine panicked")??;
//! # Ok(())
//! # }
//! ```
//!
//! Except for the typed [`messages`], this crate has no code of its own. This crate re-exports the crates below it
//! under one name, with their features.
#![forbid(unsafe_code)]

pub mod messages;

// The Rust code in the README is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

// Generated messages refer to the crates under `fixwire`, as in a user's program.
extern crate self as fixwire;

pub use fixwire_control as control;
pub use fixwire_dictionary as dictionary;
#[doc(hidden)]
pub use fixwire_engine::canary;
pub use fixwire_engine::{config, descriptors, event, host};
pub use fixwire_engine::{journal, protocol};
pub use fixwire_engine::{regular, tls, transport};
#[cfg(feature = "harness")]
pub use fixwire_harness as harness;
pub use fixwire_logs::store;
pub use fixwire_settings as settings;
pub use fixwire_settings::dictionaries;
#[cfg(feature = "signing")]
pub use fixwire_signing as signing;

/// Gateways: route, change and convert messages by the rules of a file, and route the reports back.
///
/// [`GatewayService`](gateway::GatewayService) is the application for an engine. `examples/gateway.rs` is a program
/// with a gateway.
#[cfg(feature = "gateway")]
pub mod gateway {
    pub use fixwire_gateway::gateway::*;
    pub use fixwire_gateway::{
        Draft, Gateway, GatewayContext, GatewaySession, OrderTracker, Rules,
    };
    pub use fixwire_gateway::{convert, draft, orders, rules};
    pub use fixwire_gateway_service::*;
}

/// Logs in addition to the journal. These logs are written from the journal.
pub mod log {
    pub use fixwire_engine::log::{Log, LogError, LogTarget};
    #[cfg(feature = "postgresql")]
    pub use fixwire_logs::RowDatabase;
    pub use fixwire_logs::{
        FileLog, FileLogRotation, RowChange, RowColumn, RowDay, RowFault, RowKind, RowPosition,
        RowSettings, RowTable, SqlLog, TableRow,
    };
}

/// Users and the hashes of their passwords.
pub mod passwords {
    pub use fixwire_engine::passwords::{PasswordFiles, Users, UsersChange, UsersError, hash};
}

/// The times at which a session is open, and the text form of such schedules.
pub mod schedule {
    pub use fixwire_engine::schedule::*;
    pub use fixwire_settings::times::*;
}

pub use fixwire_engine::{
    Access, ConfigError, Connection, Durability, EngineConfig, Excess, Flow, Limits, LogonLimits,
    MissingDictionary, SessionConfig, Template, Throttle, Wait,
};
pub use fixwire_engine::{AddError, Engine, EngineError, Event, Handle, Host, SendError};
pub use fixwire_engine::{Counters, LinkReport, SessionReport, SessionState, SessionStatus};
pub use fixwire_engine::{Network, NetworkError, Rate, Users, UsersError};
pub use fixwire_engine::{Operation, OperationError, Operator, StoredError, set_stored_numbers};
pub use fixwire_engine::{OperatorAccess, OperatorStanding, PermissionRequest};
