//! `docs/settings.md`, made from the registry.

use std::fmt::Write;

use super::elsewhere::GROUPS;
use super::keys::KEYS;
use super::registry::{Key, Scope};

/// The whole document.
pub fn markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    for (title, text, scope) in [
        ("Of the engine", OF_THE_ENGINE, Scope::Engine),
        ("Of a session", OF_A_SESSION, Scope::Session),
    ] {
        let _ = write!(out, "\n## {title}\n\n{text}\n");
        for key in KEYS.iter().filter(|key| key.scope == scope) {
            describe(key, &mut out);
        }
    }
    out.push_str(ELSEWHERE);
    for group in GROUPS {
        let answer = if group.refused { "error" } else { "warning" };
        let keys: Vec<String> = group
            .keys
            .iter()
            .map(|key| match key.strip_suffix('.') {
                Some(stem) => format!("`{stem}.BeginString`"),
                None => format!("`{key}`"),
            })
            .collect();
        let unless = match group.unless {
            Some(value) => format!(" (not with the value `{value}`)"),
            None => String::new(),
        };
        let _ = writeln!(
            out,
            "| {answer}{unless} | {} | {} |",
            group.note,
            keys.join(", ")
        );
    }
    out
}

fn describe(key: &Key, out: &mut String) {
    let number = if key.numbered { "[n]" } else { "" };
    let _ = write!(
        out,
        "\n### {}{number}\n\n{}\n",
        key.name,
        key.doc.replace("\n ", "\n").trim()
    );
    let _ = write!(out, "\n* Value: {}\n", key.kind.expected());
    match key.default {
        Some(default) => {
            let _ = writeln!(out, "* Default: `{default}`");
        }
        None => out.push_str("* Default: none\n"),
    }
    let names: Vec<String> = key
        .names
        .iter()
        .map(|other| {
            let engines: Vec<&str> = other.dialects.chars().map(engine).collect();
            format!("`{}` in {}", other.name, engines.join(", "))
        })
        .collect();
    let names = if names.is_empty() {
        "fixwire only".into()
    } else {
        names.join("; ")
    };
    let _ = writeln!(out, "* Names: {names}");
}

fn engine(letter: char) -> &'static str {
    match letter {
        'C' => "QuickFIX",
        'J' => "QuickFIX/J",
        'G' => "QuickFIX/Go",
        _ => "QuickFIX/n",
    }
}

const INTRODUCTION: &str = "\
# Settings

<!-- Made from crates/engine/src/settings/keys.rs by `UPDATE=1 cargo test -p fixwire settings`. -->

A settings file has the form that QuickFIX users know:

```ini
# A comment: only where `#` is the first character of the line.
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=9876
FileStorePath=store

[SESSION]
BeginString=FIX.4.4
SenderCompID=BROKER
TargetCompID=CLIENT
```

What stands in `[DEFAULT]` holds for every session that does not say otherwise. Keys, section names
and words such as `acceptor` are read in any case; spaces at either end of a key or a value are no
part of it; each key stands once in a section. Variables are not expanded. `fixwire check FILE.cfg`
prints each value of each session and the line it comes from.

A key that no engine of the QuickFIX family has is an error, with the known key that looks most like
it. Keys that an application of yours reads start with `X-`; fixwire keeps them and reads nothing into
them.
";

const OF_THE_ENGINE: &str = "\
One engine runs all sessions of a file, on one thread with one journal. These keys belong in
`[DEFAULT]`; in a `[SESSION]` they are taken as long as all sessions say the same.";

const OF_A_SESSION: &str = "In `[DEFAULT]` or `[SESSION]`.";

const ELSEWHERE: &str = "
## Keys of other engines without effect here

Where leaving a key out of account would weaken security, lose data or change what the session does,
it is an error; where it only chooses a log or a detail, a warning.

| answer | why | keys |
| --- | --- | --- |
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_document_is_the_registrys() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let made = markdown();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &made).expect("docs/settings.md can be written");
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            there == made,
            "docs/settings.md is behind the registry: run with UPDATE=1"
        );
    }
}
