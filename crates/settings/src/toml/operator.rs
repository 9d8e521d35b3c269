//! Reads `[[operator]]` tables of an engine or a gateway: a value of `ControlOperators`. An OMS reads its own.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Reader;
use crate::ini::{IniEntry, Section, SectionKind, Span};

/// Name of the tables.
pub const OPERATOR: &str = "operator";

const FORM: &str = "write `[[operator]]` with user = \"ann\" and may = [\"read\", \"session\"]";

impl Reader<'_> {
    /// Adds the operators to the defaults.
    pub(super) fn operators(&mut self, key: Span, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(tables) = value.get_ref() else {
            return self.conflict(key, FORM.into());
        };
        let mut all = Vec::new();
        for one in tables.iter() {
            let span = Span::from(one.span());
            match one.get_ref() {
                DeValue::Table(table) => match operator(table) {
                    Some(text) => all.push(text),
                    None => self.conflict(span, FORM.into()),
                },
                _ => self.conflict(span, FORM.into()),
            }
        }
        let header = tables
            .iter()
            .next()
            .map_or(key, |first| Span::from(first.span()));
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

/// `ann:read,session`; `None` when a key is missing, unknown or has another type.
fn operator(table: &DeTable<'_>) -> Option<String> {
    let (mut user, mut may) = (None, None);
    for (name, value) in table {
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("user", DeValue::String(text)) => user = Some(text.to_string()),
            ("may", DeValue::Array(rights)) => {
                let rights = rights.iter().map(|right| right.get_ref().as_str());
                let rights: Option<Vec<&str>> = rights.collect();
                may = Some(rights?.join(","));
            }
            _ => return None,
        }
    }
    let user = user.filter(|user| !user.is_empty() && !user.contains([':', ';']))?;
    Some(format!("{user}:{}", may.unwrap_or_default()))
}
