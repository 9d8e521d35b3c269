//! Settings of an engine and its sessions. Settings come from a `.cfg` file in the style of QuickFIX, from a `.toml`
//! file, or from a `.properties` file of FIX Antenna.
//!
//! ```text
//! text --ini, toml, antenna--> sections of entries with their places in the text, as the file's own engine reads them
//!      --section--> known keys, variables replaced, checked values
//!      --resolve--> for each session: every key, its value, where the value comes from
//!      --config--> EngineConfig
//!      --convert--> the text of a `.toml` file
//! ```
//!
//! Every key that is used is defined once, in [`keys`]. The keys of the QuickFIX family are in [`family`].
//! `docs/reference/settings.md` is generated from both modules.
#![forbid(unsafe_code)]

pub mod antenna;
pub mod config;
pub mod convert;
pub mod dialect;
pub mod dictionaries;
mod differences;
pub mod docs;
mod document;
pub mod elsewhere;
pub mod family;
pub mod ini;
pub mod keys;
mod kinds;
mod link_config;
pub mod link_keys;
pub mod link_settings;
mod links;
mod logs;
mod operators;
mod paths;
pub mod problem;
pub mod registry;
pub mod resolve;
pub mod resolved;
mod restart;
mod rules;
mod safety;
mod schedule;
mod section;
mod shelf;
mod signature;
mod tables;
pub mod times;
mod toml;
mod transport;
pub mod value;
pub mod variables;

pub use dialect::{Dialect, DialectSource};
pub use ini::{Source, Span};
pub use keys::Id;
pub use link_settings::{LinkSetting, LinkSettings};
pub use problem::{LoadError, Problem, SettingsFault, SettingsReport};
pub use resolve::Options;
pub use resolved::{Origin, SessionSettings, Setting, Settings};
pub use tables::TablesOwner;
pub use value::SettingValue;

#[cfg(test)]
mod tests;
