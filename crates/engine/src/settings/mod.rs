//! Settings of an engine and its sessions, from a `.cfg` file in the style of QuickFIX.
//!
//! ```text
//! text --ini--> sections of entries, each with its place
//!      --registry--> keys, checked values
//!      --resolve--> for each session: every key, its value, where the value comes from
//!      --config--> EngineConfig
//! ```
//!
//! Every key is defined once, in [`keys`]; `docs/settings.md` is generated from there.

pub mod config;
pub mod docs;
pub mod elsewhere;
pub mod ini;
pub mod keys;
pub mod problem;
pub mod registry;
pub mod resolve;
mod rules;
mod safety;
pub mod value;

pub use ini::{Source, Span};
pub use keys::Id;
pub use problem::{Fault, LoadError, Problem, Report};
pub use resolve::{Origin, SessionSettings, Setting, Settings};
pub use value::Value;

#[cfg(test)]
mod tests;
