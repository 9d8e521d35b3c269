//! Reads a `.toml` file into sections of keys and values, each with its position.
//!
//! ```toml
//! [default]                     # applies to every session
//! ConnectionType = "initiator"
//! ResetOnLogon = true
//! [[session]]                   # once for each session
//! SocketConnectHost = ["a.example", "b.example"]   # the second one is SocketConnectHost1
//! [session.application]         # keys of the application, whatever they are called
//! Desk = "Paris"
//! [[link]]                      # once for each link that speaks another protocol than FIX
//! name = "FUT-1"
//! ```
//!
//! The reader accepts only fixwire's own key names. The registry defines the values for `.cfg` and `.toml` files
//! alike. Tables of a gateway, an OMS or a simulated exchange are skipped here, because they have their own readers.

mod link;
mod operator;

use fixwire_text::{TomlFile, TomlScalar, TomlTable, TomlValue};

use super::document::Document;
use super::ini::{IniEntry, MAX_SECTIONS, Section, SectionKind, Source, Span};
use super::problem::{Problem, SettingsFault};
use super::registry::{self, Key, Known};
use super::value::ValueKind;

/// Maximum number of values in an array.
pub const MAX_ARRAY: usize = 1000;

/// Tables that belong to a gateway.
pub const GATEWAY: [&str; 9] = [
    "client",
    "conversion",
    "gateway",
    "group",
    "on",
    "rule",
    "script",
    "table",
    "target",
];

/// Tables that belong to an OMS.
pub const OMS: [&str; 9] = [
    "account",
    "drop_copy",
    "drop_copy_in",
    "line_group",
    "number_pool",
    "oms",
    "operator",
    "route",
    "user",
];

/// Tables that belong to a simulated exchange. `[[script]]`, which is a list, also belongs to an exchange, while
/// `[script]` belongs to a gateway.
pub const EXCHANGE: [&str; 4] = ["exchange", "fault", "instrument", "trader"];
const SCRIPT: &str = "script";

const TABLES: &str = "the tables are `[default]` (once), `[[session]]` (one for each session), `application` inside \
                      these two, and `[[link]]` (one for each TMP link); a gateway has `[gateway]`, `[group]`, \
                      `[script]`, `[conversion]`, `[table.NAME]`, `[client.NAME]`, `[target.NAME]`, `[[rule]]` and \
                      `[[on]]`; an OMS has `[oms]`, `[[account]]`, `[[user]]`, `[[line_group]]`, `[[number_pool]]`, \
                      `[[route]]`, `[[drop_copy]]` and `[[drop_copy_in]]`; an engine, a gateway and an OMS have \
                      `[[operator]]`; a simulated exchange has `[exchange]`, `[[instrument]]`, `[[fault]]`, \
                      `[[script]]` and `[[trader]]`";

/// Splits a text into sections. Text that cannot be read becomes an error, and reading continues unless the text is
/// not TOML at all.
pub fn parse(source: &Source, problems: &mut Vec<Problem>) -> Document {
    let file = match TomlFile::parse(&source.text) {
        Ok(file) => file,
        Err(mistake) => {
            let (start, message) = (mistake.at, mistake.what);
            let end = mistake.end.unwrap_or(start);
            problems.push(Problem {
                span: within(&source.text, Span { start, end }),
                fault: SettingsFault::Toml { message },
            });
            return Document {
                secrets: likely_secrets(&source.text),
                ..Document::default()
            };
        }
    };
    let mut reader = Reader {
        problems,
        document: Document::default(),
    };
    for value in file.root().entries() {
        reader.secrets(&[value.key], value);
        reader.top(value);
    }
    // `[[operator]]` tables belong to the OMS when the file has other OMS tables. Otherwise they belong to the
    // engine.
    if reader.document.oms == [operator::OPERATOR] {
        reader.document.oms.clear();
        reader.operators(file.root().get(operator::OPERATOR));
    }
    let mut document = reader.document;
    if document.exchange == [SCRIPT] {
        // Without instruments the scripts belong to a gateway, whose reader reports the correct form.
        document.gateway.append(&mut document.exchange);
    }
    document
        .sections
        .sort_by_key(|section| section.header.start);
    for section in &mut document.sections {
        section.entries.sort_by_key(|entry| entry.value.start);
    }
    document
}

/// The part of a span that lies within the text.
fn within(text: &str, span: Span) -> Span {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Span { start, end }
}

/// Where secrets may be in a text that is not TOML: after the `=` of a line that has the name of a secret key or of a
/// LogonTag. If the value may span lines, the place extends to the end of the text.
fn likely_secrets(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let plain = value.trim().trim_matches(['"', '\'']);
        // In an inline table the name is after the first `=`.
        let tag = line.to_ascii_lowercase().contains("logontag");
        if !tag && !registry::is_secret(line, plain) {
            continue;
        }
        let several = ["\"\"\"", "'''", "[", "{"];
        let start = start + name.len() + 1;
        if several.iter().any(|open| value.contains(open)) {
            found.push(Span {
                start,
                end: text.len(),
            });
            break;
        }
        found.push(Span { start, end: at });
    }
    found
}

struct Reader<'a> {
    problems: &'a mut Vec<Problem>,
    document: Document,
}

impl Reader<'_> {
    fn top(&mut self, value: TomlValue<'_>) {
        let document = &mut self.document;
        if value.items().is_some() && value.key == SCRIPT {
            return document.exchange.push(SCRIPT);
        }
        for (known, found) in [
            (&GATEWAY[..], &mut document.gateway),
            (&OMS[..], &mut document.oms),
            (&EXCHANGE[..], &mut document.exchange),
        ] {
            let mut known = known.iter();
            if let Some(known) = known.find(|known| **known == value.key) {
                return found.push(known);
            }
        }
        match (value.key, value.table(), value.items()) {
            ("default", Ok(table), _) => self.section(SectionKind::Default, table),
            (list @ ("session" | "link"), _, Some(tables)) => {
                for one in tables {
                    let count = self.document.sections.len() + self.document.links.len();
                    match one.table() {
                        Ok(_) if count >= MAX_SECTIONS => {
                            return self.report(one.span(), SettingsFault::TooManySections);
                        }
                        Ok(table) if list == "link" => self.link(table),
                        Ok(table) => self.section(SectionKind::Session, table),
                        Err(_) => self.conflict(one.span(), TABLES.into()),
                    }
                }
            }
            _ => self.conflict(value.key_span, TABLES.into()),
        }
    }

    fn section(&mut self, kind: SectionKind, table: TomlTable<'_>) {
        let mut entries = Vec::new();
        for value in table.entries() {
            match value.table() {
                Ok(table) if value.key == "application" => {
                    entries.extend(table.entries().filter_map(|it| self.application(it)));
                }
                _ => self.key(value, &mut entries),
            }
        }
        self.document.sections.push(Section {
            kind,
            header: table.span(),
            entries,
        });
    }

    /// Reads a key of the application, which may have any name.
    fn application(&mut self, value: TomlValue<'_>) -> Option<IniEntry> {
        if registry::find(value.key).is_some_and(|known| !matches!(known, Known::Custom)) {
            let note = "this is the name of a setting: move it to the table above".to_owned();
            self.conflict(value.key_span, note);
            return None;
        }
        let entry = self.text(value)?;
        Some(IniEntry {
            application: true,
            ..entry
        })
    }

    fn key(&mut self, value: TomlValue<'_>, entries: &mut Vec<IniEntry>) {
        let (name, key) = (value.key, value.key_span);
        let (used, number) = match registry::find(name) {
            Some(Known::Used(used, number)) => (used, number),
            // The key is unknown, belongs to another engine, or belongs to the application.
            _ => {
                entries.extend(self.text(value));
                return;
            }
        };
        let own = name
            .get(..used.name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(used.name));
        if !own {
            let nearest = Some(used.name);
            return self.report(
                key,
                SettingsFault::UnknownKey {
                    nearest,
                    kept_by: None,
                },
            );
        }
        let Some(values) = value.items() else {
            match scalar(used.kind, value) {
                Some(text) => entries.push(entry(name, value, text)),
                None => self.malformed(key, used),
            }
            return;
        };
        if matches!(used.kind, ValueKind::Pauses) {
            let parts: Option<Vec<String>> = values.map(|part| scalar(used.kind, part)).collect();
            return match parts {
                Some(parts) if !parts.is_empty() => {
                    entries.push(entry(name, value, parts.join(";")));
                }
                _ => self.malformed(key, used),
            };
        }
        let is_many = values.len() > MAX_ARRAY || values.len() == 0;
        if !used.numbered || number.is_some() || is_many {
            return self.malformed(key, used);
        }
        for (index, one) in values.enumerate() {
            let name = match index {
                0 => used.name.to_owned(),
                _ => format!("{}{index}", used.name),
            };
            match scalar(used.kind, one) {
                Some(text) => entries.push(IniEntry {
                    list: true,
                    ..entry(&name, one, text)
                }),
                None => self.malformed(key, used),
            }
        }
    }

    fn text(&mut self, value: TomlValue<'_>) -> Option<IniEntry> {
        // A key of another engine is reported, whatever its value.
        let is_foreign = matches!(registry::find(value.key), Some(Known::Elsewhere(_)) | None);
        let text = match value.scalar() {
            Some(TomlScalar::Text(text)) => text.to_owned(),
            Some(TomlScalar::Flag(yes)) if is_foreign => flag(yes),
            Some(TomlScalar::Integer { digits, radix: 10 }) if is_foreign => digits.to_owned(),
            _ if is_foreign => String::new(),
            _ => {
                let note = "the value of an application's key must be text in quotes".to_owned();
                self.conflict(value.key_span, note);
                return None;
            }
        };
        Some(entry(value.key, value, text))
    }

    /// Records the positions of secrets, wherever they are and whatever name they have.
    fn secrets(&mut self, names: &[&str], value: TomlValue<'_>) {
        if let Ok(table) = value.table() {
            for value in table.entries() {
                self.secrets(&[names, &[value.key]].concat(), value);
            }
        } else if let Some(values) = value.items() {
            values.for_each(|value| self.secrets(names, value));
        } else {
            let text = value.string().unwrap_or("");
            if names.iter().any(|name| registry::is_secret(name, text)) {
                self.document.secrets.push(value.span());
            }
        }
    }

    fn malformed(&mut self, span: Span, key: &Key) {
        let kind = key.kind.expected();
        let expected = match key.kind {
            ValueKind::Bool => "true or false".to_owned(),
            ValueKind::Pauses => format!("{kind}, in quotes or as an array"),
            _ if key.numbered => {
                format!("{kind}; put it in quotes unless it is a number, or an array")
            }
            ValueKind::Int { .. } | ValueKind::Port | ValueKind::Factor { .. } => kind,
            _ => format!("{kind}; put it in quotes unless it is a plain number"),
        };
        let key = key.name;
        self.report(span, SettingsFault::Malformed { key, expected });
    }

    fn conflict(&mut self, span: Span, note: String) {
        self.report(span, SettingsFault::Conflict { note });
    }

    fn report(&mut self, span: Span, fault: SettingsFault) {
        self.problems.push(Problem { span, fault });
    }
}

fn entry(name: &str, value: TomlValue<'_>, text: String) -> IniEntry {
    IniEntry {
        key: value.key_span,
        value: value.span(),
        name: name.to_owned(),
        text,
        list: false,
        application: false,
    }
}

fn flag(yes: bool) -> String {
    (if yes { "Y" } else { "N" }).to_owned()
}

/// The value in the form of `.cfg` files; `None` when the type is wrong for the key.
fn scalar(kind: ValueKind, value: TomlValue<'_>) -> Option<String> {
    match (value.scalar()?, kind) {
        (TomlScalar::Text(text), _) => Some(text.to_owned()),
        (TomlScalar::Flag(yes), ValueKind::Bool) => Some(flag(yes)),
        (
            TomlScalar::Integer { digits, radix: 10 },
            ValueKind::Int { .. }
            | ValueKind::Factor { .. }
            | ValueKind::Time { .. }
            | ValueKind::Bytes { .. }
            | ValueKind::Port
            | ValueKind::Pauses
            | ValueKind::Tags
            | ValueKind::Word(_),
        )
        | (TomlScalar::Float(digits), ValueKind::Factor { .. }) => Some(digits.to_owned()),
        (TomlScalar::Time(time), ValueKind::TimeOfDay) => Some(time),
        _ => None,
    }
}
