//! `docs/reference/settings.md`, made from the registry.

use std::fmt::Write;

use super::antenna::properties::{PROPERTIES, described};
use super::dialect::Dialect;
use super::elsewhere::GROUPS;
use super::family::{FAMILY, FamilyKey, SAMPLES, Suffix};
use super::keys::KEYS;
use super::registry::{self, Key, Known, Scope};

/// The whole document.
pub fn markdown() -> String {
    let samples: Vec<String> = SAMPLES.iter().map(|key| code(key.name)).collect();
    let mut out = INTRODUCTION.replace("SAMPLES", &samples.join(", "));
    for (title, text, scope) in [
        ("Of the engine", OF_THE_ENGINE, Scope::Engine),
        ("Of a session", OF_A_SESSION, Scope::Session),
    ] {
        let _ = write!(out, "\n## {title}\n\n{text}\n");
        for key in KEYS.iter().filter(|key| key.scope == scope) {
            describe(key, &mut out);
        }
    }
    out.push_str(TABLE);
    table(&mut out);
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
    out.push_str(ANTENNA);
    for property in PROPERTIES {
        let suffix = match property.name.ends_with(['.', '_']) {
            true => "…",
            false => "",
        };
        let name = code(&format!("{}{suffix}", property.name));
        let default = match property.default {
            "" => String::new(),
            default => code(default),
        };
        let _ = writeln!(out, "| {name} | {default} | {} |", described(property));
    }
    out
}

/// Every key of every engine, in the order of the alphabet.
fn table(out: &mut String) {
    let ours = KEYS.iter().filter(|key| key.names.is_empty());
    let mut rows: Vec<(&str, String)> = ours.map(|key| (key.name, own_row(key))).collect();
    rows.extend(FAMILY.iter().map(|key| (key.name, family_row(key))));
    rows.sort_by_key(|(name, _)| name.to_ascii_lowercase());
    for (_, row) in rows {
        out.push_str(&row);
    }
}

fn own_row(key: &Key) -> String {
    let default = key.default.map(code).unwrap_or_default();
    format!(
        "| {} | fixwire | | {} | [used]({}) | {default} |\n",
        code(key.name),
        key.kind.unit(),
        anchor(key)
    )
}

fn family_row(key: &FamilyKey) -> String {
    let suffix = match key.suffix {
        Suffix::Nothing => "",
        Suffix::Number => "[n]",
        Suffix::Version => "[.BeginString]",
    };
    let engines: Vec<String> = key.engines().map(|engine| engine.to_string()).collect();
    let mut defaults: Vec<(&str, Vec<Dialect>)> = Vec::new();
    for engine in key.engines() {
        let Some(default) = key.default(engine) else {
            continue;
        };
        match defaults.iter_mut().find(|(same, _)| *same == default) {
            Some((_, engines)) => engines.push(engine),
            None => defaults.push((default, vec![engine])),
        }
    }
    let there: Vec<String> = match &defaults[..] {
        [(default, engines)] if engines.len() == key.engines().count() => vec![code(default)],
        _ => {
            let one = |(default, engines): &(&str, Vec<Dialect>)| {
                let engines: Vec<String> = engines.iter().map(Dialect::to_string).collect();
                format!("{} in {}", code(default), engines.join(", "))
            };
            defaults.iter().map(one).collect()
        }
    };
    let (answer, unit, default) = match registry::find(key.name) {
        Some(Known::Used(ours, _)) => {
            let name = if ours.name == key.name {
                "used".to_owned()
            } else {
                format!("as `{}`", ours.name)
            };
            let default = ours.default.map(code).unwrap_or_default();
            (
                format!("[{name}]({})", anchor(ours)),
                ours.kind.unit(),
                default,
            )
        }
        Some(Known::Elsewhere(group)) => {
            let answer = match (group.refused, group.unless) {
                (true, Some(value)) => format!("error unless {}", code(value)),
                (true, None) => "error".to_owned(),
                (false, _) => "no effect".to_owned(),
            };
            (answer, key.unit, String::new())
        }
        Some(Known::Custom) | None => (String::new(), key.unit, String::new()),
    };
    format!(
        "| {} | {} | {} | {unit} | {answer} | {default} |\n",
        code(&format!("{}{suffix}", key.name)),
        engines.join(", "),
        there.join("; ")
    )
}

fn anchor(key: &Key) -> String {
    let number = if key.numbered { "n" } else { "" };
    format!("#{}{number}", key.name.to_ascii_lowercase())
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
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
            let engines: Vec<String> = other.dialects.chars().map(engine).collect();
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

fn engine(letter: char) -> String {
    let mut family = Dialect::FAMILY.into_iter();
    let found = family.find(|dialect| dialect.letter() == Some(letter));
    found.unwrap_or(Dialect::Fixwire).to_string()
}

const INTRODUCTION: &str = "\
# Settings

<!-- Made from crates/settings/src/keys.rs by `UPDATE=1 cargo test -p fixwire-settings`. -->

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
part of it; each key stands once in a section. `fixwire check FILE.cfg` prints each value of each session
and where it comes from. One table has [all keys](#all-keys) of all engines.

In fixwire's own file a key that nobody has is an error, with the known key that looks most like it. Keys
that an application of yours reads start with `X-`; fixwire keeps them and reads nothing into them.

## TOML

A file whose name ends in `.toml` says the same in TOML, with fixwire's own names of keys and typed values:

```toml
[default]
ConnectionType = \"initiator\"
HeartBtInt = 30
ResetOnLogon = true
ReconnectInterval = [\"3x10\", 60]

[[session]]
BeginString = \"FIX.4.4\"
SenderCompID = \"BROKER\"
TargetCompID = \"VENUE\"
SocketConnectHost = [\"a.example\", \"b.example\"]
SocketConnectPort = [5001, 5001]
LogonTimeout = \"1500ms\"

[session.application]
Desk = \"Paris\"
```

`true` and `false` are `Y` and `N`; numbers stand without quotes, and anything with a unit, a word or a
variable in quotes. An array gives the key without a number, with 1, with 2 and so on; in a session it
replaces the whole array of `[default]`. What stands in `application` is the application's, whatever it is
called; keys that start with `X-` are as well. Errors name line and column.

The tables of a gateway may stand in the same file: `[gateway]`, `[group]`, `[script]`, `[table.NAME]`,
`[conversion]`, `[target.NAME]`, `[[rule]]` and `[[on]]` ([rules](gateway-rules.md), [commands](gateway-cli.md)). `fixwire check` reads both.
So may those of a simulated exchange, `[exchange]`, `[[instrument]]`, `[[fault]]` and `[[script]]` ([the exchange](exchange.md)), for `fixwire sim`.

`fixwire config convert broker.cfg broker.toml` writes this form of a file of any engine. Each session has the
values that it had: what stands in `[DEFAULT]` goes to `[default]`, defaults of the file's engine are written
out where fixwire has others, and the result is read again and compared before it is kept. Variables stay
variables. Comments and keys without effect are not kept; the command names the latter. The new file can be
read by its owner alone, since secrets of the file move along, and never replaces one that is there; `-`
instead of a name prints it with its secrets hidden.

## Files of other engines

Files of QuickFIX (C++), QuickFIX/J, QuickFIX/Go and QuickFIX/n are read as they are. Say whose file it is
with `Dialect=quickfix`, `quickfixj`, `quickfixgo` or `quickfixn` in `[DEFAULT]`, or with `--dialect`. When
neither says so, it is a guess, which `check` prints and `run` too, with the defaults that hold by it:

* A file with a key that only fixwire has is fixwire's own.
* It is of another engine when two or more of its keys are that engine's alone, and more than any other
  engine's. A key that this document has under the same name says nothing, so no such key changes the
  defaults of a file; nor does a key that several engines have.
* A file without `ConnectionType` and with a key of QuickFIX/Go alone is QuickFIX/Go's, which has none.
* Everything else is fixwire's own.

The engine decides

* which default holds where engines have different ones: `SocketNodelay` is `N` in QuickFIX and `Y` in
  QuickFIX/n. `check` prints such a default with fixwire's beside it. QuickFIX/Go uses a dictionary only
  when one is named, and has no `ConnectionType`: a host to connect to or a port to listen on tells.
* how lines are read. In every one of them the last of two equal keys holds, and a key that it does not
  have is the application's. QuickFIX and QuickFIX/n pass over lines without `=`, sections of other names
  and a second `[DEFAULT]`; in QuickFIX/J and QuickFIX/Go that one adds to the first.
* which variables are replaced (see below).
* whether a certificate switches TLS on. In QuickFIX the program decides: when `ServerCertificateFile` is all
  that a file of QuickFIX says of TLS, and the certificate is missing, the acceptor takes plain text, with a
  warning. A certificate that is there switches TLS on, and `SocketUseSSL` settles it either way.

A key that nobody has counts for nothing in these engines, so it is kept for the application, with a warning
that names the known key that looks like it. When the engine was guessed and the key is a slip of the pen away
from a known one (`NonStopSesion`), it is an error: correct it, or say `Dialect=`. Keys of the sample
applications (SAMPLES of QuickFIX/J's Executor) give a warning in any file.

A dictionary file that is missing and has the name that these engines ship it under (`FIX40.xml` to
`FIX50SP2.xml`, `FIXT11.xml`, in any folder) means the built-in dictionary of that version: `check` warns, and an
event says so at every start.

What the engine would not have done is done here, with a warning: a key in another case, under another
engine's name or with a blank before its `=` counts, although that deployment ran on the default; a file
of QuickFIX is read on behind a line of more than 1023 bytes.

Files of FIX Antenna, whose names end in `.properties`, have properties instead of keys:
[what becomes of each](#properties-of-fix-antenna).

## Variables and secrets

`${env:NAME}` in a value is replaced by an environment variable, `${file:PATH}` by the text of a file of at
most 64 KiB without the end of its last line. In a file of QuickFIX/J `${name}` is an environment variable
too (there it is a Java system property); with `ExpandVariables=Y` also `$NAME`, `${NAME}` and `$(NAME)`, as
in QuickFIX. A variable that is not set is an error.

So a password need not stand in the file: `Password=${file:/run/secrets/venue}`. Values of secrets are never
shown, in `check`, in errors or in logs. A secret in a file that every user of the machine can read gives a
warning.
";

const OF_THE_ENGINE: &str = "\
One engine runs all sessions of a file, on one thread with one journal. These keys belong in
`[DEFAULT]`; in a `[SESSION]` they are taken as long as all sessions say the same.";

const OF_A_SESSION: &str = "In `[DEFAULT]` or `[SESSION]`.";

const TABLE: &str = "
## All keys

Each key of each engine, with its default there; what fixwire makes of it; the unit of a bare number; and
fixwire's default, which holds in its own files and where an engine has none.

| key | engines | default there | unit | here | default here |
| --- | --- | --- | --- | --- | --- |
";

const ELSEWHERE: &str = "
## Keys of other engines without effect here

Where leaving a key out of account would weaken security, lose data or change what the session does,
it is an error; where it only chooses a log or a detail, a warning.

| answer | why | keys |
| --- | --- | --- |
";

const ANTENNA: &str = "
## Properties of FIX Antenna

A file whose name ends in `.properties`, or that is read with `--dialect antenna`, is one of FIX Antenna,
for Java or .NET. `fixwire check fixengine.properties` tells what it comes to, and
`fixwire config convert fixengine.properties broker.toml` makes a file of fixwire's own.

```properties
validation = true
sessions.default.fixVersion = FIX.4.4
sessionIDs = venue
sessions.venue.senderCompID = BROKER
sessions.venue.targetCompID = VENUE
sessions.venue.host = fix.example.com
sessions.venue.port = 5001
```

The sessions are those that `sessionIDs` names. A property that begins with `sessions.` and the session's name
is the session's own; `sessions.default.` and no such beginning stand for all, and the former wins. Names are
read in any case, lines as Java reads them: `=`, `:` or a blank behind the name, `#` and `!` before comments, `\\`
at the end of a line that goes on and before characters that stand for others. FIX Antenna for .NET takes a
`\\` as it stands; the command names such lines. `;` and `'` begin comments too, and quotes around a value are
taken off, as .NET does.

`${name}` is another property that stands for all sessions, unless it is secret, or an environment variable. Environment
variables that override properties there (`FANET_…`) are not looked at: write them into the file.

Without `sessionType` a session is an initiator when it has a `host`. A property that nobody has is an error,
unless it starts with `X-`; a value that is empty says nothing. An error names what cannot be left out of
account; take it out or say it otherwise in the converted file. `tradePeriodBegin` and `tradePeriodEnd` keep the
hours of a session whose numbers go on; numbers that restart with the hours want `StartTime` and `EndTime`.

| property | default there | here |
| --- | --- | --- |
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_document_is_the_registrys() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/settings.md"
        );
        let made = markdown();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &made).expect("docs/reference/settings.md can be written");
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            there == made,
            "docs/reference/settings.md is behind the registry: run with UPDATE=1"
        );
    }
}
