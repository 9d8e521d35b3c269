//! Settings that take effect only after a restart.

use alloc::format;
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, ReloadEffect, TomlFile, TomlValue};

use super::registry::setting_tables;

/// The keys of a table that take effect only after a restart; `None` if the table does not belong to the OMS.
fn at_start(table: &str) -> Option<Vec<&'static str>> {
    let mut tables = setting_tables().into_iter();
    let (_, keys) = tables.find(|(name, _)| *name == table)?;
    let keys = keys.into_iter();
    let keys = keys.filter(|key| key.reload == ReloadEffect::Restart);
    Some(keys.map(|key| key.name).collect())
}

/// Differences between two texts of a settings file that need a restart, such as changed sessions, lines or stores.
/// Each has its position in the new text.
#[must_use]
pub fn restart_needed(old: &str, new: &str) -> Vec<Diagnostic> {
    let (Ok(old), Ok(new)) = (TomlFile::parse(old), TomlFile::parse(new)) else {
        return Vec::new();
    };
    let (old, new) = (old.root(), new.root());
    let mut found = Vec::new();
    for value in new.entries() {
        let keys = at_start(value.key);
        // All keys of this table can be reloaded.
        if keys.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        tables(keys.as_deref(), old.get(value.key), value, &mut found);
    }
    let removed = old.entries().filter(|value| {
        let is_read = at_start(value.key).is_some_and(|keys| keys.is_empty());
        !new.has(value.key) && !is_read
    });
    found.extend(removed.map(|value| error(0, &format!("[{}] was removed", value.key))));
    found
}

fn error(at: usize, what: &str) -> Diagnostic {
    let what = format!("{what}: it needs a restart");
    Diagnostic::new(at, what, "undo it, or restart the OMS")
}

/// Where an error about a value points. The address of a database may have a password, which the shown line would have.
fn shown_at(table: &TomlValue<'_>, value: &TomlValue<'_>) -> usize {
    match value.key {
        "database" => table.at,
        _ => value.key_span.start,
    }
}

/// Compares a table, or each table of a list: the given keys, or all keys.
fn tables(
    keys: Option<&[&str]>,
    before: Option<TomlValue<'_>>,
    value: TomlValue<'_>,
    to: &mut Vec<Diagnostic>,
) {
    let name = value.key;
    let (old, new) = (before.map(list).unwrap_or_default(), list(value));
    for (place, item) in new.iter().enumerate() {
        let Some(was) = old.get(place) else {
            to.push(error(item.at, &format!("{name} was added")));
            continue;
        };
        let (Ok(was), Ok(is)) = (was.table(), item.table()) else {
            if !was.is_same(item) {
                to.push(error(item.at, &format!("{name} differs")));
            }
            continue;
        };
        let counts = |key: &str| keys.is_none_or(|keys| keys.contains(&key));
        for value in is.entries().filter(|value| counts(value.key)) {
            if !was.get(value.key).is_some_and(|was| was.is_same(&value)) {
                let what = format!("{} of {name} differs", value.key);
                to.push(error(shown_at(item, &value), &what));
            }
        }
        for value in was.entries().filter(|value| counts(value.key)) {
            if !is.has(value.key) {
                let what = format!("{} of {name} was removed", value.key);
                to.push(error(item.at, &what));
            }
        }
    }
    if old.len() > new.len() {
        to.push(error(value.at, &format!("a {name} was removed")));
    }
}

/// The tables of a list of tables, or the single table.
fn list(value: TomlValue<'_>) -> Vec<TomlValue<'_>> {
    match value.items() {
        Some(items) => items.collect(),
        None => Vec::from([value]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    const OLD: &str = "[default]\nFileStorePath = \"store\"\n[[session]]\nSenderCompID = \"A\"\nHeartBtInt = 30\n\
                       [[session]]\nSenderCompID = \"B\"\n[oms]\norders = 10\nlimits = \"limits.csv\"\n\
                       [[line_group]]\nname = \"SIM\"\nlines = [\"B\"]\nqueue = \"5s\"\n[[user]]\nsession = \"A\"\n";

    fn found(old: &str, new: &str) -> Vec<String> {
        assert!(OLD.contains(old), "{old}");
        let text = OLD.replacen(old, new, 1);
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let errors = restart_needed(OLD, &text);
        let found = errors
            .iter()
            .map(|it| format!("{}: {}", line(it.at), it.what));
        found.collect()
    }

    #[test]
    fn what_a_start_reads_is_named_with_its_line() {
        assert_eq!(
            found("store", "other"),
            ["2: FileStorePath of default differs: it needs a restart"]
        );
        assert_eq!(
            found("30", "60"),
            ["5: HeartBtInt of session differs: it needs a restart"]
        );
        assert_eq!(
            found("30", "\"30\""),
            ["5: HeartBtInt of session differs: it needs a restart"]
        );
        assert_eq!(
            found("HeartBtInt = 30\n", ""),
            ["3: HeartBtInt of session was removed: it needs a restart"]
        );
        assert_eq!(
            found("[oms]", "[[session]]\nSenderCompID = \"C\"\n[oms]"),
            ["8: session was added: it needs a restart"]
        );
        assert_eq!(
            found("[[session]]\nSenderCompID = \"B\"\n", ""),
            ["3: a session was removed: it needs a restart"]
        );
        assert_eq!(
            found("[default]\nFileStorePath = \"store\"\n", ""),
            ["1: [default] was removed: it needs a restart"]
        );
        assert_eq!(
            found("[default]", "[[link]]\nname = \"L\"\n[default]"),
            ["1: link was added: it needs a restart"]
        );
        assert_eq!(
            found("orders = 10", "orders = 11"),
            ["9: orders of oms differs: it needs a restart"]
        );
        assert_eq!(
            found("lines = [\"B\"]", "lines = [\"B\", \"A\"]"),
            ["13: lines of line_group differs: it needs a restart"]
        );
    }

    #[test]
    fn what_a_reload_reads_is_not() {
        for (old, new) in [
            ("limits.csv", "other.csv"),
            ("5s", "6s"),
            ("[[user]]", "# a note\n[[account]]\nname = \"A1\"\n[[user]]"),
            ("[[user]]\nsession = \"A\"\n", ""),
            ("[\"B\"]", "[ \"B\" ]"),
        ] {
            assert_eq!(found(old, new), [""; 0], "{new}");
        }
        assert!(
            restart_needed(OLD, "[").is_empty(),
            "the reader of the settings says what is wrong"
        );
    }
}
