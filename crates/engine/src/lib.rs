//! The engine: sockets, the journal and the turn around the sessions.
//!
//! An [`Engine`] runs the sessions of an [`EngineConfig`] for one [`Application`](protocol::Application), on one
//! thread, which owns all of it. [`Engine::run`] is this loop:
//!
//! ```text
//! while !stopped {
//!     turn: poll the sockets, read the clock,
//!           for each connection that is readable: read once, carry out each whole message
//!             (decode, session, application, MsgSeqNum, one journal record), write once for a few messages,
//!           then timers, commands of other threads, Application::on_time, rare work
//!     nothing done?  spin: again · yield: offer the core · block: sleep until something is due
//! }
//! ```
//!
//! Other threads use a [`Handle`]. Failures are returned as [`EngineError`]; an [`Event`] reports everything else.
//! Programs use the crate `fixwire`, which includes this crate.
#![forbid(unsafe_code)]

mod bucket;
mod command;
mod commit;
pub mod config;
mod consult;
mod counters;
pub mod descriptors;
mod engine;
mod error;
pub mod event;
mod flush;
mod frame_link;
mod frames;
mod handle;
pub mod host;
mod input;
mod line;
mod lobby;
mod lock_memory;
pub mod log;
mod notes;
mod operation;
mod permit;
mod raise;
mod rejected;
mod resending;
mod timers;
mod trail;
mod turn;
mod unsent;

pub use fixwire_journal as journal;
#[doc(hidden)]
pub use fixwire_journal::canary;
pub use fixwire_net::network::{Network, NetworkError};
pub use fixwire_net::{tls, transport};
pub use fixwire_passwords as passwords;
pub use fixwire_protocol as protocol;
pub use fixwire_schedule as schedule;
pub use fixwire_sys::regular;

pub use bucket::Rate;
pub use config::{
    Access, ConfigError, Connection, Durability, EngineConfig, Excess, Flow, Limits, LinkConfig,
    LogonLimits, MissingDictionary, SessionConfig, Template, Throttle, Wait,
};
pub use counters::{Counters, LinkReport, LinkStatus, SessionReport, SessionState, SessionStatus};
pub use engine::Engine;
pub use error::{AddError, EngineError};
pub use event::Event;
pub use handle::{Handle, SendError};
pub use host::Host;
pub use operation::{Operation, OperationError, Operator, StoredError, set_stored_numbers};
pub use passwords::{PasswordFiles, Users, UsersError};
pub use permit::{OperatorAccess, OperatorStanding, PermissionRequest};
