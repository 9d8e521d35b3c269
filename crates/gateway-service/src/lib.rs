//! Runs a gateway in a program. Loads the gateway with the sessions of a settings file, passes it to an engine, and
//! reloads it while it runs.
//!
//! ```text
//! Source, Settings --GatewayService::load--> GatewayService --Engine::new--> engine
//!                                                                              | handle
//!                                            Remote  <---------------attach----+
//!                                              ^
//! the same file, changed --Reloader::reload----+   all of its rules and tables at once, between two messages, or none
//! ```
//!
//! [`load()`] only reads a file, for programs that check or try the file. [`GatewayService`] carries out the actions
//! `connect` and `disconnect` of rules, answers the query `counts` of the control socket, and receives new rules from a
//! [`Reloader`]. `examples/gateway.rs` is a complete program.
#![forbid(unsafe_code)]

mod load;
mod notice;
mod reload;
mod remote;
mod service;

pub use load::{LoadedGateway, load, reload};
pub use notice::Notice;
pub use reload::{ReloadError, Reloader};
pub use remote::Remote;
pub use service::{GatewayService, counts};
