//! Reads the `[[operator]]` tables of an engine or a gateway. Each becomes a value of `ControlOperators`. An OMS has
//! its own reader of these tables.

use fixwire_text::{TomlTable, TomlValue};

use super::Reader;
use crate::ini::{IniEntry, Section, SectionKind};

/// Name of the tables.
pub const OPERATOR: &str = "operator";

const FORM: &str = "write `[[operator]]` with user = \"ann\" and may = [\"read\", \"session\"]";

impl Reader<'_> {
    /// Adds the operators to the default values.
    pub(super) fn operators(&mut self, value: Option<TomlValue<'_>>) {
        let Some(value) = value else {
            return;
        };
        let Some(tables) = value.items() else {
            return self.conflict(value.key_span, FORM.into());
        };
        let (mut all, mut header) = (Vec::new(), None);
        for one in tables {
            header.get_or_insert(one.span());
            match one.table().ok().and_then(operator) {
                Some(text) => all.push(text),
                None => self.conflict(one.span(), FORM.into()),
            }
        }
        let header = header.unwrap_or(value.key_span);
        let entry = IniEntry {
            key: header,
            value: header,
            name: "ControlOperators".to_owned(),
            text: all.join(";"),
            list: false,
            application: false,
        };
        let sections = &mut self.document.sections;
        let default = sections
            .iter_mut()
            .find(|section| section.kind == SectionKind::Default);
        match default {
            Some(section) => section.entries.push(entry),
            None => sections.push(Section {
                kind: SectionKind::Default,
                header,
                entries: vec![entry],
            }),
        }
    }
}

/// The value of a table, such as `ann:read,session`. `None` when a key is missing or unknown, or has another type.
fn operator(table: TomlTable<'_>) -> Option<String> {
    let (mut user, mut may) = (None, None);
    for value in table.entries() {
        match value.key {
            "user" => user = Some(value.string()?),
            "may" => {
                let rights: Option<Vec<&str>> = value.items()?.map(|it| it.string()).collect();
                may = Some(rights?.join(","));
            }
            _ => return None,
        }
    }
    let user = user.filter(|user| !user.is_empty() && !user.contains([':', ';']))?;
    Some(format!("{user}:{}", may.unwrap_or_default()))
}
