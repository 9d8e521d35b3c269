//! [`Document`]: what the readers of all forms make of a text.

use super::ini::{IniEntry, Section, Span};
use super::link_keys::LinkKey;

/// A text that was read.
#[derive(Debug, Default)]
pub struct Document {
    /// Its tables.
    pub sections: Vec<Section>,
    /// Its links.
    pub links: Vec<LinkTable>,
    /// Places of secrets that are no values of entries.
    pub secrets: Vec<Span>,
    /// Which of [`GATEWAY`](super::toml::GATEWAY) it has.
    pub gateway: Vec<&'static str>,
    /// Which of [`OMS`](super::toml::OMS) it has.
    pub oms: Vec<&'static str>,
    /// Which of [`EXCHANGE`](super::toml::EXCHANGE) it has.
    pub exchange: Vec<&'static str>,
}

/// A `[[link]]` table.
#[derive(Debug)]
pub struct LinkTable {
    /// Its keys that sessions have too.
    pub section: Section,
    /// Keys of its protocol.
    pub entries: Vec<(&'static LinkKey, IniEntry)>,
    /// Keys that are there with a wrong value, and so not missing.
    pub broken: Vec<&'static str>,
}
