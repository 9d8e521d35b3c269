//! Generates `docs/reference/settings.md` from the registry.

use std::fmt::Write;

use super::antenna::properties::{PROPERTIES, described};
use super::dialect::Dialect;
use super::elsewhere::GROUPS;
use super::family::{FAMILY, FamilyKey, SAMPLES, Suffix};
use super::keys::KEYS;
use super::link_keys::{CONNECTION_KEYS, LINK_KEYS, TmpEnd};
use super::registry::{self, Key, KeyScope, Known};

/// The whole document.
pub fn markdown() -> String {
    let samples: Vec<String> = SAMPLES.iter().map(|key| code(key.name)).collect();
    let mut out = INTRODUCTION.replace("SAMPLES", &samples.join(", "));
    for (title, text, scope) in [
        ("Of the engine", OF_THE_ENGINE, KeyScope::Engine),
        ("Of a session", OF_A_SESSION, KeyScope::Session),
    ] {
        let _ = write!(out, "\n## {title}\n\n{text}\n");
        for key in KEYS.iter().filter(|key| key.scope == scope) {
            describe(key, &mut out);
        }
    }
    of_links(&mut out);
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

/// The keys of links.
fn of_links(out: &mut String) {
    let connection = CONNECTION_KEYS.iter().map(|id| {
        let key = registry::key(*id);
        format!("[`{}`]({})", key.name, anchor(key))
    });
    let connection: Vec<String> = connection.collect();
    out.push_str(&OF_A_LINK.replace("CONNECTION", &connection.join(", ")));
    for key in LINK_KEYS {
        let default = key.default.map(code).unwrap_or_default();
        let end = match key.end {
            None => "",
            Some(TmpEnd::Broker) => "an OMS only",
            Some(TmpEnd::Exchange) => "a simulated exchange only",
        };
        let (name, expected) = (code(key.name), key.expected());
        let _ = writeln!(
            out,
            "| {name} | {expected} | {default} | {end} | {} |",
            key.doc
        );
    }
}

/// Every key of every engine, alphabetically.
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

`[DEFAULT]` applies to every session that does not override it. Keys, section names and words such as
`acceptor` are not case-sensitive; leading and trailing spaces of keys and values are ignored; a key may
appear once in a section. `fixwire check FILE.cfg` prints each value of each session and where the
value comes from. The last table of this page lists [all keys](#all-keys) of all engines.

A relative path starts from the folder of the settings file, in every key: `FileStorePath=store` in
`/etc/fix/broker.cfg` is `/etc/fix/store`, wherever the engine is started. The same holds for files of other engines,
although in QuickFIX (C++), /J, /Go and /n a relative path starts from the working folder. When the folder of the settings file has no journal but
the working folder has a journal of the same name, or the store of another engine, `check` and `run` stop and print both paths.

In fixwire's own files an unknown key is an error; the error suggests the most similar known key. Keys for
your application start with `X-`; fixwire keeps these keys and does not interpret them.

## TOML

A file whose name ends in `.toml` has the same settings in TOML, with fixwire's own key names and typed values:

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

`true` and `false` mean `Y` and `N`; write numbers without quotes, and values with a unit, words and
variables in quotes. An array sets the values of the key without a number, then with number 1, 2 and so on; in a
session the array replaces the whole array of `[default]`. All keys in `application` are for your application, whatever their
names, and so are keys that start with `X-`. Errors in a TOML file have the line and the column.

The tables of a gateway may be in the same file: `[gateway]`, `[group]`, `[script]`, `[table.NAME]`,
`[conversion]`, `[target.NAME]`, `[[rule]]` and `[[on]]` ([rules](gateway-rules.md), [commands](gateway-cli.md)).
`fixwire check` reads both. [`[[link]]`](#of-a-link) may also be in this file, and so may the tables of a simulated
exchange, `[exchange]`, `[[instrument]]`, `[[fault]]`, `[[script]]` and `[[trader]]` ([the exchange](exchange.md)),
for `fixwire sim`.

`fixwire config convert broker.cfg broker.toml` converts the settings file of any engine to TOML. Each session
keeps its values: `[DEFAULT]` becomes `[default]`, defaults of the file's engine are written out where fixwire
has other defaults, and the command reads the new text back and compares it with the old file before it writes the new file. Variables stay variables. Comments
and keys without effect are dropped; the command lists the dropped keys. Only the owner can read the new file, since
it contains the secrets of the old file. The command never overwrites an existing file. Relative paths do not
change: when the new file is in another folder, its relative paths name other files, and the command warns. `-` instead of a file name
prints the result with its secrets hidden.

## Files of other engines

Files of QuickFIX (C++), QuickFIX/J, QuickFIX/Go and QuickFIX/n are read as they are. Name the engine with
`Dialect=quickfix`, `quickfixj`, `quickfixgo` or `quickfixn` in `[DEFAULT]`, or with `--dialect`. Without `Dialect`
and `--dialect`, fixwire guesses the engine; `check` and `run` print the guess and the defaults that follow from
it:

* A file with a key that only fixwire has is fixwire's own.
* A file belongs to another engine when two or more of its keys exist only in that engine, and it has more keys
  of that engine than of any other. Keys that fixwire has under the same name do not count, so they never change
  the defaults of a file. Keys that several engines have do not count either.
* A file without `ConnectionType` and with a key that only QuickFIX/Go has is read as QuickFIX/Go's, which has
  no `ConnectionType`.
* Every other file is fixwire's own.

The engine decides

* which default applies where engines differ: `SocketNodelay` is `N` in QuickFIX and `Y` in QuickFIX/n.
  `check` prints such a default next to fixwire's own. QuickFIX/Go uses a dictionary only if one is
  configured, and has no `ConnectionType`: a session with a host to connect to is an initiator, one with a
  port to listen on an acceptor.
* how lines are read. In files of all four engines the last value applies when a key appears twice, and an unknown key is for the
  application. QuickFIX and QuickFIX/n skip lines without `=`, unknown sections and a second `[DEFAULT]`; in
  QuickFIX/J and QuickFIX/Go a second `[DEFAULT]` adds to the first.
* which variables are replaced (see below).
* whether a certificate switches TLS on. In QuickFIX the program decides: when `ServerCertificateFile` is the
  only TLS setting of a QuickFIX file, and the certificate is missing, the acceptor accepts plain text, with a
  warning. A certificate that exists switches TLS on; `SocketUseSSL` overrides both.

QuickFIX and its relatives ignore an unknown key. So fixwire keeps the key for the application, with a warning that
suggests a similar known key. When the engine was guessed and the key looks like a misspelt known key
(`NonStopSesion`), the key is an error: correct it, or set `Dialect`. Keys of the sample
applications (SAMPLES of QuickFIX/J's Executor) give a warning in any file.

A missing dictionary file with a name under which these engines ship it (`FIX40.xml` to `FIX50SP2.xml`,
`FIXT11.xml`, in any folder) is replaced by the built-in dictionary of that version: `check` warns, and an event
reports it at every start.

fixwire accepts some lines that the engine of the file ignores: a key in another case, under another engine's name, or
with a blank before its `=`. `check` warns of such a line, since the other engine used its default value instead.
After a line of more than 1023 bytes, at which QuickFIX stops, fixwire reads the rest of the file.

Files of FIX Antenna, whose names end in `.properties`, have properties instead of keys:
[how each property is read](#properties-of-fix-antenna).

## Variables and secrets

`${env:NAME}` in a value is replaced by an environment variable, `${file:PATH}` by the text of a file of at
most 64 KiB, without the newline at its end. In a file of QuickFIX/J `${name}` is an environment variable
too (in QuickFIX/J it is a Java system property); with `ExpandVariables=Y` also `$NAME`, `${NAME}` and `$(NAME)`, as
in QuickFIX. A variable that is not set is an error.

So a password need not be in the settings file: `Password=${file:/run/secrets/venue}`. `check`, errors and logs
never show the values of secrets. For a secret in a file that every user of the machine can read, fixwire prints a
warning.
";

const OF_THE_ENGINE: &str = "\
One engine runs all sessions of a file, on one thread with one journal. These keys belong in
`[DEFAULT]`; in a `[SESSION]` they are accepted if all sessions have the same value.";

const OF_A_SESSION: &str = "These keys belong in `[DEFAULT]` or `[SESSION]`.";

const OF_A_LINK: &str = "
## Of a link

These keys belong in `[[link]]` of a TOML file, once for each link that carries frames of another protocol than
FIX: the lines of an [OMS](oms.md) and the members of a [simulated exchange](exchange.md) that speak
[TMP](tmp.md#in-a-settings-file). The other tables of the file name a link in the same way as a session. A link
that accepts connections needs an address and port of its own, and cannot use TLS. A link has no session schedule.

These keys of a session, in the link or in `[default]`, define the connection of a link: CONNECTION. `HeartBtInt` is
for a simulated exchange only: at most 255 seconds, by default 30.

| key | value | default | in | |
| --- | --- | --- | --- | --- |
";

const TABLE: &str = "
## All keys

This table has each key of each engine, with the engine's default; the unit of a number without a unit; what fixwire
does with the key; and fixwire's default, which applies in fixwire's own files and when an engine has no default.

| key | engines | default in these engines | unit | in fixwire | default in fixwire |
| --- | --- | --- | --- | --- | --- |
";

const ELSEWHERE: &str = "
## Keys of other engines without effect here

A key of this table is an error if ignoring the key would weaken security, lose data or change what the session does.
If the key only selects a log or a detail of another engine, it gives a warning.

| answer | why | keys |
| --- | --- | --- |
";

const ANTENNA: &str = "
## Properties of FIX Antenna

fixwire reads a file whose name ends in `.properties`, or that is read with `--dialect antenna`, as a file of
FIX Antenna for Java or .NET. `fixwire check fixengine.properties` prints the resulting settings, and
`fixwire config convert fixengine.properties broker.toml` converts it to a file of fixwire's own.

```properties
validation = true
sessions.default.fixVersion = FIX.4.4
sessionIDs = venue
sessions.venue.senderCompID = BROKER
sessions.venue.targetCompID = VENUE
sessions.venue.host = fix.example.com
sessions.venue.port = 5001
```

`sessionIDs` lists the sessions. A property that begins with `sessions.` and the session's name applies to that
session. A property with `sessions.default.` or without a prefix applies to all sessions; if a file has both,
the property with `sessions.default.` applies. Names
are not case-sensitive. Lines are read as Java reads them: `=`, `:` or a blank after the name, `#` and `!` before comments, `\\`
at the end of a line that continues and before escaped characters. FIX Antenna for .NET reads a
`\\` literally; `check` warns of such lines. `;` and `'` start comments too, and quotes around a value are
removed, as .NET does.

`${name}` is replaced by the value of another property that applies to all sessions, unless that property is secret, or by
an environment variable. fixwire ignores environment variables that override properties in FIX Antenna (`FANET_…`): write
their values into the file.

Without `sessionType` a session is an initiator when it has a `host`. An unknown property is an error, unless it
starts with `X-`; a property with an empty value is ignored. A property that cannot be ignored is an error: remove the
property, or replace it in the converted file. `tradePeriodBegin` and `tradePeriodEnd` limit when a session may be logged on; its
sequence numbers continue. To reset the sequence numbers in each trading session, use `StartTime` and `EndTime`.

| property | default in FIX Antenna | in fixwire |
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
