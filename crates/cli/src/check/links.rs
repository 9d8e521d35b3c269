//! Links in the output of `fixwire check`.

use std::io::{self, Write};

use fixwire::settings::{LinkSettings, Origin, Settings};
use serde_json::{Value, json};

use super::rows::{Row, is_changed, key, origin, place, section};

/// Prints a section for each link: the keys of its protocol, then the keys of its connection.
pub fn table(settings: &Settings, changed: bool, out: &mut impl Write) -> io::Result<()> {
    for link in &settings.links {
        let own = link.settings.iter();
        let own = own.filter(|it| !changed || it.origin != Origin::BuiltIn);
        let mut rows: Vec<Row> = own
            .map(|setting| Row {
                key: setting.key.name.to_owned(),
                value: setting.text.clone(),
                origin: place(settings, setting.origin),
                differs: None,
            })
            .collect();
        let connection = link.connection_settings();
        let connection = connection.filter(|it| !changed || is_changed(it));
        rows.extend(connection.map(|setting| Row {
            key: key(setting),
            value: setting.text.clone(),
            origin: origin(settings, setting),
            differs: None,
        }));
        writeln!(out)?;
        let title = format!("Link {}", link.name());
        section(&title, &rows, settings.dialect, out)?;
    }
    Ok(())
}

/// The links as JSON.
pub fn json(settings: &Settings, changed: bool) -> Vec<Value> {
    let entry = |key: String, value: &str, origin: Origin| {
        let (from, span) = match origin {
            Origin::BuiltIn => ("built-in", None),
            Origin::Dialect(dialect) => (dialect.name(), None),
            Origin::Default(span) => ("default", Some(span)),
            Origin::Session(span) => ("link", Some(span)),
        };
        let line = span.map(|span| settings.report.source.line(span));
        json!({ "key": key, "value": value, "from": from, "line": line })
    };
    let of = |link: &LinkSettings| {
        let own = link.settings.iter();
        let own = own.filter(|it| !changed || it.origin != Origin::BuiltIn);
        let own = own.map(|it| entry(it.key.name.to_owned(), &it.text, it.origin));
        let connection = link.connection_settings();
        let connection = connection.filter(|it| !changed || is_changed(it));
        let connection = connection.map(|it| entry(key(it), &it.text, it.origin));
        json!({ "name": link.name(), "settings": own.chain(connection).collect::<Vec<_>>() })
    };
    settings.links.iter().map(of).collect()
}
