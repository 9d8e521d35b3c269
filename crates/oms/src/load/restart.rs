//! Settings that take effect only after a restart.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, ReloadEffect};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::registry::setting_tables;

/// The keys of a table of the OMS that only a start reads; `None` for a table of others.
fn at_start(table: &str) -> Option<Vec<&'static str>> {
    let mut tables = setting_tables().into_iter();
    let (_, keys) = tables.find(|(name, _)| *name == table)?;
    let keys = keys.into_iter();
    let keys = keys.filter(|key| key.reload == ReloadEffect::Restart);
    Some(keys.map(|key| key.name).collect())
}

type Item<'d> = Spanned<DeValue<'d>>;

/// What differs in two texts of a settings file and needs a restart: sessions, lines, the store and the like. Each with
/// its place in the new text.
#[must_use]
pub fn restart_needed(old: &str, new: &str) -> Vec<Diagnostic> {
    let (Ok(old), Ok(new)) = (DeTable::parse(old), DeTable::parse(new)) else {
        return Vec::new();
    };
    let (old, new) = (old.into_inner(), new.into_inner());
    let mut found = Vec::new();
    for (key, value) in &new {
        let name: &str = key.get_ref();
        let before = old.get(name);
        let keys = at_start(name);
        // A reload reads all of it.
        if keys.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        tables(name, keys.as_deref(), (before, value), &mut found);
    }
    let removed = old.iter().filter(|(key, _)| {
        let name: &str = key.get_ref();
        let is_read = at_start(name).is_some_and(|keys| keys.is_empty());
        !new.contains_key(name) && !is_read
    });
    found.extend(removed.map(|(key, _)| error(0, &format!("[{}] was removed", key.get_ref()))));
    found
}

fn error(at: usize, what: &str) -> Diagnostic {
    let what = format!("{what}: it needs a restart");
    Diagnostic::new(at, what, "undo it, or restart the OMS")
}

/// Compares a table, or each of several; of some keys or of all.
fn tables(
    name: &str,
    keys: Option<&[&str]>,
    (before, value): (Option<&Item<'_>>, &Item<'_>),
    to: &mut Vec<Diagnostic>,
) {
    let (old, new) = (before.map(list).unwrap_or_default(), list(value));
    for (place, item) in new.iter().enumerate() {
        let at = item.span().start;
        let Some(was) = old.get(place) else {
            to.push(error(at, &format!("{name} was added")));
            continue;
        };
        let (DeValue::Table(was), DeValue::Table(is)) = (was.get_ref(), item.get_ref()) else {
            if !is_same(was, item) {
                to.push(error(at, &format!("{name} differs")));
            }
            continue;
        };
        let counts = |key: &str| keys.is_none_or(|keys| keys.contains(&key));
        for (key, value) in is {
            let key_name: &str = key.get_ref();
            let same = was.get(key_name).is_some_and(|was| is_same(was, value));
            if counts(key_name) && !same {
                let what = format!("{key_name} of {name} differs");
                to.push(error(key.span().start, &what));
            }
        }
        for (key, _) in was {
            let key_name: &str = key.get_ref();
            if counts(key_name) && !is.contains_key(key_name) {
                to.push(error(at, &format!("{key_name} of {name} was removed")));
            }
        }
    }
    if old.len() > new.len() {
        to.push(error(value.span().start, &format!("a {name} was removed")));
    }
}

/// The tables of a list, or the one table.
fn list<'d>(value: &'d Item<'d>) -> Vec<&'d Item<'d>> {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => Vec::from([value]),
    }
}

fn is_same(one: &Item<'_>, other: &Item<'_>) -> bool {
    match (one.get_ref(), other.get_ref()) {
        (DeValue::Table(one), DeValue::Table(other)) => {
            let mut keys = one.iter();
            let is = |(key, value): (&Spanned<_>, &Item<'_>)| {
                let key: &alloc::borrow::Cow<'_, str> = key.get_ref();
                let other = other.get(key.as_ref());
                other.is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && keys.all(is)
        }
        (DeValue::Array(one), DeValue::Array(other)) => {
            let mut pairs = one.iter().zip(other.iter());
            one.len() == other.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (one, other) => text(one) == text(other),
    }
}

/// A value that is neither a table nor a list, with its kind.
fn text(value: &DeValue<'_>) -> (u8, String) {
    match value {
        DeValue::String(text) => (0, text.to_string()),
        DeValue::Integer(number) => (1, format!("{} {}", number.radix(), number.as_str())),
        DeValue::Float(number) => (2, number.as_str().into()),
        DeValue::Boolean(is) => (3, is.to_string()),
        DeValue::Datetime(time) => (4, time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => (5, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
