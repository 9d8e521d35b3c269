//! Reads a `[[link]]` table: the keys of the link protocol, and the session keys for the connection.

use fixwire_text::{TomlTable, TomlValue};

use super::{Reader, entry, scalar};
use crate::document::LinkTable;
use crate::ini::{Section, SectionKind, Span};
use crate::link_keys::{self, CONNECTION_KEYS, LINK_KEYS, LinkKey};
use crate::problem::{Problem, SettingsFault};
use crate::registry::{self, KeyScope, Known};
use crate::value::ValueKind;

impl Reader<'_> {
    pub(super) fn link(&mut self, table: TomlTable<'_>) {
        let section = Section {
            kind: SectionKind::Session,
            header: table.span(),
            entries: Vec::new(),
        };
        let mut link = LinkTable {
            section,
            entries: Vec::new(),
            broken: Vec::new(),
        };
        for value in table.entries() {
            let (text, key) = (value.key, value.key_span);
            if let Some(known) = link_keys::find(text) {
                self.of_protocol(known, value, &mut link);
                continue;
            }
            match registry::find(text) {
                Some(Known::Used(used, _)) if CONNECTION_KEYS.contains(&used.id) => {
                    self.key(value, &mut link.section.entries);
                }
                Some(Known::Used(used, _)) if used.scope == KeyScope::Engine => {
                    let title = format!("`{}` is a setting of the engine", used.name);
                    self.wrong_key(key, &title, "move it to `[default]`");
                }
                found => self.unknown(text, key, matches!(found, Some(Known::Used(..)))),
            }
        }
        link.section.entries.sort_by_key(|entry| entry.value.start);
        self.document.links.push(link);
    }

    fn of_protocol(&mut self, known: &'static LinkKey, value: TomlValue<'_>, link: &mut LinkTable) {
        let Some(text) = scalar(known.kind, value) else {
            link.broken.push(known.name);
            let expected = match known.kind {
                ValueKind::Int { .. } => known.kind.expected(),
                _ => format!("{}, in quotes", known.expected()),
            };
            let fault = SettingsFault::Malformed {
                key: known.name,
                expected,
            };
            return self.report(value.span(), fault);
        };
        link.entries.push((known, entry(known.name, value, text)));
    }

    /// Reports a key that links do not have.
    fn unknown(&mut self, name: &str, key: Span, is_a_sessions: bool) {
        let own = LINK_KEYS.iter().map(|key| key.name);
        let connection = CONNECTION_KEYS.iter().map(|id| registry::key(*id).name);
        let help = match fixwire_text::nearest(name, own.clone().chain(connection)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if is_a_sessions => {
                "remove the key: a link has only the keys of its protocol and the connection keys of a session"
                    .to_owned()
            }
            None => format!(
                "the keys of a link are {}, and the connection keys of a session",
                own.collect::<Vec<_>>().join(", ")
            ),
        };
        let title = match is_a_sessions {
            true => format!("`{name}` is a key of FIX sessions, not of links"),
            false => format!("unknown key `{name}` of a link"),
        };
        self.wrong_key(key, &title, &help);
    }

    fn wrong_key(&mut self, key: Span, title: &str, help: &str) {
        self.problems.push(Problem::found(key, title, Some(help)));
    }
}
