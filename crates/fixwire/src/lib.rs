//! A FIX engine.
//!
//! A program says what it does with messages in an [`Application`](protocol::Application), names its sessions in
//! an [`EngineConfig`] or in a file of [`settings`], and runs an [`Engine`]. Other threads talk to that through a
//! [`Handle`]. Programs that look like QuickFIX programs are in `examples/`. What may fail is an
//! [`EngineError`]; what happens is an [`Event`].
//!
//! An acceptor whose sessions are in a settings file, as QuickFIX has them or in TOML:
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
//! An order from another thread, on the session of that name:
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
//! This crate has no code of its own but the typed [`messages`]: it gives the crates below it one name, and their
//! features too.
#![forbid(unsafe_code)]

pub mod messages;

// The Rust of the page that everybody reads first compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

// Generated messages name the crates of this one as a user does.
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

/// Gateways: messages routed, changed and converted by the rules of a file, and the way back of reports.
///
/// [`GatewayService`](gateway::GatewayService) is the application for an engine; `examples/gateway.rs` is a program around it.
#[cfg(feature = "gateway")]
pub mod gateway {
    pub use fixwire_gateway::gateway::*;
    pub use fixwire_gateway::{
        Draft, Gateway, GatewayContext, GatewaySession, OrderTracker, Rules,
    };
    pub use fixwire_gateway::{convert, draft, orders, rules};
    pub use fixwire_gateway_service::*;
}

/// Logs beside the journal, made from it.
pub mod log {
    pub use fixwire_engine::log::{Log, LogError, LogTarget};
    #[cfg(feature = "postgresql")]
    pub use fixwire_logs::RowDatabase;
    pub use fixwire_logs::{
        FileLog, RowChange, RowColumn, RowDay, RowFault, RowKind, RowPosition, RowSettings,
        RowTable, SqlLog, TableRow,
    };
}

/// Users and the hashes of their passwords.
pub mod passwords {
    pub use fixwire_engine::passwords::{PasswordFiles, Users, UsersChange, UsersError, hash};
}

/// When a session is open, and how that is written.
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
