//! [`Document`]: what a reader of settings text returns, whatever the form of the text.

use super::ini::{IniEntry, Section, Span};
use super::link_keys::LinkKey;

/// A parsed text.
#[derive(Debug, Default)]
pub struct Document {
    /// Tables of the file.
    pub sections: Vec<Section>,
    /// Links of the file.
    pub links: Vec<LinkTable>,
    /// Positions of secrets that are not values of entries.
    pub secrets: Vec<Span>,
    /// Names of the gateway tables that the file has, of those listed in [`GATEWAY`](super::toml::GATEWAY).
    pub gateway: Vec<&'static str>,
    /// Names of the OMS tables that the file has, of those listed in [`OMS`](super::toml::OMS).
    pub oms: Vec<&'static str>,
    /// Names of the exchange tables that the file has, of those listed in [`EXCHANGE`](super::toml::EXCHANGE).
    pub exchange: Vec<&'static str>,
}

/// A `[[link]]` table.
#[derive(Debug)]
pub struct LinkTable {
    /// Keys of the link that sessions have too.
    pub section: Section,
    /// Keys of the link's protocol.
    pub entries: Vec<(&'static LinkKey, IniEntry)>,
    /// Keys with an invalid value. Keys with an invalid value do not count as missing.
    pub broken: Vec<&'static str>,
}
