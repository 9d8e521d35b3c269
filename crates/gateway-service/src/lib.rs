//! A gateway as a program runs it: loaded with the sessions of a settings file, handed to an engine, reloaded
//! while it runs.
//!
//! ```text
//! Source, Settings --GatewayService::load--> GatewayService --Engine::new--> engine
//!                                                                              | handle
//!                                            Remote  <---------------attach----+
//!                                              ^
//! the same file, changed --Reloader::reload----+   all of its rules and tables at once, between two messages, or none
//! ```
//!
//! [`load()`] only reads, for whoever checks or tries a file. [`GatewayService`] carries out what rules ask of the
//! engine (`connect`, `disconnect`), answers the control socket's `counts`, and takes other rules from a
//! [`Reloader`]. `examples/gateway.rs` is a whole program.
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
