//! Reads FIX Antenna's `fixengine.properties` into sections of keys and values, each with its position.
//!
//! ```text
//! # for every session; those of `sessions.default` win over the others
//! validation = true
//! sessions.default.fixVersion = FIX.4.4
//! # the sessions, and the properties of each
//! sessionIDs = venue, broker
//! sessions.venue.host: fix.example.com
//! ```
//!
//! Lines have the syntax of Java's properties. Files of FIX Antenna for .NET are read in the same way; there `;` and
//! `'` begin comments too, and there are no escapes. Property names are not case-sensitive. [`properties`] maps each
//! property to a fixwire key, and the code after this reader sees only fixwire keys.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::Dialect;
use super::document::Document;
use super::ini::{IniEntry, MAX_SECTIONS, Section, SectionKind, Source, Span};
use super::keys::{Id, KEYS};
use super::problem::{Problem, SettingsFault};
use super::registry::{self, Known};
use super::section::HIDDEN;
use super::variables::{MAX_VALUE, VariableFault};
use line::PropertyLine;
use properties::{Becomes, Property, Special};

mod cron;
mod line;
pub mod properties;

/// Number of problems after which unknown properties are no longer compared with the known ones.
const COMPARED: usize = 100;

/// Maximum total size in bytes of all values with variables. Without this limit a short file could repeat a long
/// value many times.
const MAX_REPLACED: usize = 8 << 20;

/// Splits a text into sections. Unreadable lines become errors, and reading continues.
pub fn parse(source: &Source, problems: &mut Vec<Problem>) -> Document {
    let mut lines = line::lines(source, problems);
    for line in &mut lines {
        line.secret = is_secret(line);
    }
    let secrets = lines.iter().filter(|line| line.secret);
    let secrets = secrets.map(|line| line.value).collect();
    let mut reader = Reader {
        problems,
        sessions: Vec::new(),
        values: BTreeMap::new(),
        lines,
        room: MAX_REPLACED,
    };
    reader.sessions();
    reader.scopes();
    let sections = reader.sections();
    Document {
        sections,
        secrets,
        ..Document::default()
    }
}

/// Whether the value must never be shown. Fields of a Logon count, because they may contain a password.
fn is_secret(line: &PropertyLine) -> bool {
    let small = line.name.to_ascii_lowercase();
    registry::is_secret(&small, &line.text) || small.ends_with("fixmessage")
}

/// The scope of a property.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Scope {
    /// A property without a prefix. The property applies to every session.
    Global,
    /// A property whose name begins with `sessions.default.`. The property applies to every session.
    Default,
    /// The session at this index.
    Session(usize),
}

/// An entry of `sessionIDs`.
struct Session {
    id: String,
    place: Span,
}

struct Reader<'a> {
    problems: &'a mut Vec<Problem>,
    lines: Vec<PropertyLine>,
    sessions: Vec<Session>,
    /// For each property, the index of its line. The name is in lower case; if a property is repeated, the last line
    /// counts.
    values: BTreeMap<(Scope, String), usize>,
    /// Number of bytes that values with variables may still use.
    room: usize,
}

impl Reader<'_> {
    /// Finds the sessions of the file.
    fn sessions(&mut self) {
        let is = |line: &&PropertyLine| line.name.eq_ignore_ascii_case("sessionIDs");
        let Some(line) = self.lines.iter().rfind(is) else {
            return;
        };
        let mut seen = BTreeMap::new();
        let place = line.value;
        for id in line
            .text
            .split(',')
            .map(str::trim)
            .filter(|id| !id.is_empty())
        {
            let small = id.to_ascii_lowercase();
            let note = match () {
                () if self.sessions.len() + 2 > MAX_SECTIONS => {
                    Some(SettingsFault::TooManySections)
                }
                () if small == "default" => Some(SettingsFault::Conflict {
                    note: "`default` is not a session: `sessions.default` applies to all sessions"
                        .to_owned(),
                }),
                () if seen.insert(small, ()).is_some() => Some(SettingsFault::Conflict {
                    note: "duplicate session in `sessionIDs`".to_owned(),
                }),
                () => None,
            };
            if let Some(fault) = note {
                self.problems.push(Problem { span: place, fault });
                continue;
            }
            let id = id.to_owned();
            self.sessions.push(Session { id, place });
        }
    }

    /// Determines the scope of each line, and removes the scope's prefix from the name.
    fn scopes(&mut self) {
        const PREFIX: &str = "sessions.";
        let ids = self.sessions.iter().enumerate();
        let ids: BTreeMap<String, usize> = ids
            .map(|(index, session)| (session.id.to_ascii_lowercase(), index))
            .collect();
        let keys: Vec<Span> = self.lines.iter().map(|line| line.key).collect();
        let mut unlisted = BTreeSet::new();
        for (index, line) in self.lines.iter_mut().enumerate() {
            let small = line.name.to_ascii_lowercase();
            let scope = match small.strip_prefix(PREFIX) {
                None => Some((Scope::Global, 0)),
                Some(rest) if rest.starts_with("default.") => {
                    Some((Scope::Default, PREFIX.len() + "default.".len()))
                }
                Some(rest) => rest.match_indices('.').find_map(|(at, _)| {
                    let session = *ids.get(&rest[..at])?;
                    Some((Scope::Session(session), PREFIX.len() + at + 1))
                }),
            };
            let Some((scope, length)) = scope else {
                let id = small.split('.').nth(1).unwrap_or_default().to_owned();
                if unlisted.insert(id) {
                    let (span, dialect) = (line.key, Dialect::Antenna);
                    let fault = SettingsFault::PassedOver { dialect };
                    self.problems.push(Problem { span, fault });
                }
                continue;
            };
            line.name.drain(..length);
            let name = small[length..].to_owned();
            if let Some(first) = self.values.insert((scope, name), index) {
                let (span, first) = (keys[index], keys[first]);
                let fault = SettingsFault::Replaced { first };
                self.problems.push(Problem { span, fault });
            }
        }
    }

    /// The value that applies to a session, from whichever scope it comes.
    fn value(&self, scope: Scope, name: &str) -> Option<&PropertyLine> {
        let small = name.to_ascii_lowercase();
        [scope.max(Scope::Default), Scope::Default, Scope::Global]
            .into_iter()
            .filter_map(|scope| self.values.get(&(scope, small.clone())))
            .map(|index| &self.lines[*index])
            .find(|line| !line.text.is_empty())
    }

    /// Whether a session connects. Without `sessionType` a session connects if it has a host to connect to.
    fn connects(&self, scope: Scope) -> bool {
        match self.value(scope, "sessionType") {
            Some(line) => line.text.eq_ignore_ascii_case("initiator"),
            None => self.value(scope, "host").is_some(),
        }
    }

    fn sections(&mut self) -> Vec<Section> {
        let all: Vec<(Scope, usize)> = self
            .values
            .iter()
            .filter(|((scope, name), _)| {
                // `sessions.default` takes precedence over a property without prefix.
                *scope != Scope::Global
                    || !self.values.contains_key(&(Scope::Default, name.clone()))
            })
            .map(|((scope, _), index)| (*scope, *index))
            .collect();
        let start = Span::default();
        let mut sections = vec![section(SectionKind::Default, start)];
        sections.extend(
            self.sessions
                .iter()
                .map(|session| section(SectionKind::Session, session.place)),
        );
        for (scope, index) in all {
            let into = match scope {
                Scope::Global | Scope::Default => 0,
                Scope::Session(session) => session + 1,
            };
            sections[into].entries.extend(self.entries(scope, index));
        }
        for section in &mut sections {
            section.entries.sort_by_key(|entry| entry.value.start);
        }
        sections
    }

    /// Converts a line to fixwire keys.
    fn entries(&mut self, scope: Scope, index: usize) -> Vec<IniEntry> {
        let line = &self.lines[index];
        if line.text.is_empty() {
            return Vec::new();
        }
        let Some(property) = properties::find(&line.name) else {
            return self.unknown(index);
        };
        match property.becomes {
            Becomes::Key(Id::SessionQualifier, _) => self.qualifier(scope, index),
            Becomes::Key(id, form) => match form.convert(&line.text) {
                Ok(text) if text.is_empty() => Vec::new(),
                Ok(text) => self.entry(index, KEYS[id as usize].name.to_owned(), text),
                Err(expected) => self.malformed(index, property, expected),
            },
            Becomes::Read(special, _) => self.special(scope, index, property, special),
            Becomes::Nothing {
                refused,
                unless,
                note,
            } => {
                // Lists may contain blanks, and a class name may include its package.
                let plain = |text: &str| {
                    let last = text.rsplit('.').next().unwrap_or(text);
                    last.replace(' ', "").to_ascii_lowercase()
                };
                let fault = match refused {
                    _ if !unless.is_empty() && plain(&line.text) == plain(unless) => {
                        return Vec::new();
                    }
                    true => SettingsFault::Unsupported { note },
                    false => SettingsFault::WithoutEffect { note },
                };
                let span = line.key;
                self.problems.push(Problem { span, fault });
                Vec::new()
            }
        }
    }

    fn special(
        &mut self,
        scope: Scope,
        index: usize,
        property: &'static Property,
        special: Special,
    ) -> Vec<IniEntry> {
        let line = &self.lines[index];
        let key = |id: Id| KEYS[id as usize].name;
        match special {
            Special::Sessions | Special::Aside => Vec::new(),
            Special::Backup(id) => {
                let text = line.text.clone();
                self.entry(index, format!("{}1", key(id)), text)
            }
            Special::Port => {
                let (some, all) = match scope {
                    Scope::Session(_) => (self.connects(scope), self.connects(scope)),
                    _ => {
                        let sessions = (0..self.sessions.len()).map(Scope::Session);
                        let roles: Vec<bool> = sessions.map(|one| self.connects(one)).collect();
                        (roles.contains(&true), !roles.contains(&false))
                    }
                };
                let text = line.text.clone();
                let mut entries = Vec::new();
                if some {
                    let name = key(Id::SocketConnectPort).to_owned();
                    entries.extend(self.entry(index, name, text.clone()));
                }
                if !all {
                    let name = key(Id::SocketAcceptPort).to_owned();
                    entries.extend(self.entry(index, name, text));
                }
                entries
            }
            Special::Address => {
                let number = line.name[property.name.len()..].parse::<u16>();
                let number = number.ok().and_then(|number| number.checked_add(1));
                let (Some(number), Some((host, port))) = (number, line.text.rsplit_once(':'))
                else {
                    let expected = "host:port, and a number at the end of the name".to_owned();
                    return self.malformed(index, property, expected);
                };
                let (host, port) = (host.to_owned(), port.to_owned());
                let name = |id: Id| format!("{}{number}", key(id));
                let mut entries = self.entry(index, name(Id::SocketConnectHost), host);
                entries.extend(self.entry(index, name(Id::SocketConnectPort), port));
                entries
            }
            Special::ResetTime => self.reset_time(scope, index),
            Special::Hours => self.hours(scope, index, property),
        }
    }

    fn qualifier(&mut self, scope: Scope, index: usize) -> Vec<IniEntry> {
        let silent = self.value(scope, "suppressSessionQualifierTagInLogonMessage");
        if !silent.is_some_and(|line| line.text.eq_ignore_ascii_case("true")) {
            let note =
                "sends it in tag 9012 of its Logon: set LogonTag=9012=… if the peer requires it";
            let fault = SettingsFault::Differs {
                dialect: Dialect::Antenna,
                note: note.to_owned(),
            };
            let span = self.lines[index].key;
            self.problems.push(Problem { span, fault });
        }
        let text = self.lines[index].text.clone();
        self.entry(
            index,
            KEYS[Id::SessionQualifier as usize].name.to_owned(),
            text,
        )
    }

    /// Whether the file has a property for this session, or for all sessions.
    fn is_own(&self, scope: Scope, name: &str) -> bool {
        let everywhere = self.value(Scope::Default, name);
        match (self.value(scope, name), everywhere, scope) {
            (Some(own), Some(all), Scope::Session(_)) => !std::ptr::eq(own, all),
            (own, _, _) => own.is_some(),
        }
    }

    /// The `LogonTime` or `LogoutTime` that a line gives. If only this session has a `tradePeriodTimeZone`, that
    /// property gives both times.
    fn hours(&mut self, scope: Scope, index: usize, property: &'static Property) -> Vec<IniEntry> {
        const BOTH: [(&str, Id, Id); 2] = [
            ("tradePeriodBegin", Id::LogonTime, Id::LogonDay),
            ("tradePeriodEnd", Id::LogoutTime, Id::LogoutDay),
        ];
        let zone = self.value(scope, "tradePeriodTimeZone");
        let zone = zone.map_or("UTC", |line| &line.text).to_owned();
        let is_zone = !BOTH.iter().any(|(name, _, _)| *name == property.name);
        let mut entries = Vec::new();
        for (name, time, day) in BOTH {
            let wanted = match is_zone {
                true => matches!(scope, Scope::Session(_)) && !self.is_own(scope, name),
                false => name == property.name,
            };
            let Some(line) = self.value(scope, name).filter(|_| wanted) else {
                continue;
            };
            let Some(moment) = cron::read(&line.text) else {
                let expected = "one time a day as in `0 30 8 * * ?`, or one a week as in `0 30 8 ? * MON`; for any \
                                other schedule, remove this property and set StartTime and Weekdays after the \
                                conversion";
                return self.malformed(index, property, expected.to_owned());
            };
            let key = |id: Id| KEYS[id as usize].name.to_owned();
            let text = format!("{} {zone}", moment.time);
            entries.extend(self.entry(index, key(time), text));
            if let Some(named) = moment.day {
                entries.extend(self.entry(index, key(day), named.to_owned()));
            }
        }
        entries
    }

    /// The `ResetSeqTime` that three properties give together. The value is made once, at the first of the three
    /// properties in this scope.
    fn reset_time(&mut self, scope: Scope, index: usize) -> Vec<IniEntry> {
        const ALL: [&str; 3] = [
            "performResetSeqNumTime",
            "resetSequenceTime",
            "resetSequenceTimeZone",
        ];
        let is_on = |scope| {
            let line = self.value(scope, ALL[0]);
            line.is_some_and(|line| line.text.eq_ignore_ascii_case("true"))
        };
        let has = |name: &&str| self.is_own(scope, name);
        let first = ALL.iter().find(|name| has(name));
        let line = &self.lines[index];
        if !first.is_some_and(|name| name.eq_ignore_ascii_case(&line.name)) {
            return Vec::new();
        }
        match (is_on(scope), is_on(Scope::Default)) {
            (true, _) => {
                let of = |name| self.value(scope, name).map(|line| &line.text[..]);
                let time = of(ALL[1]).unwrap_or("00:00:00");
                let text = format!("{time} {}", of(ALL[2]).unwrap_or("UTC"));
                let name = KEYS[Id::ResetSeqTime as usize].name.to_owned();
                self.entry(index, name, text)
            }
            (false, true) => {
                let note = "performResetSeqNumTime=true for all sessions cannot be overridden in one session: set it \
                            only in the sessions that need it";
                let span = self.lines[index].key;
                let fault = SettingsFault::Conflict { note: note.into() };
                self.problems.push(Problem { span, fault });
                Vec::new()
            }
            (false, false) => Vec::new(),
        }
    }

    /// A fixwire key with the value of a line, whose property variables are replaced.
    fn entry(&mut self, index: usize, name: String, text: String) -> Vec<IniEntry> {
        let line = &self.lines[index];
        let (key, value, secret) = (line.key, line.value, line.secret);
        let text = match self.expand(&text, secret) {
            Ok(expanded) => expanded,
            Err(fault) => {
                self.problems.push(Problem { span: value, fault });
                return Vec::new();
            }
        };
        vec![IniEntry {
            key,
            value,
            name,
            text,
            list: false,
            application: false,
        }]
    }

    /// Replaces `${name}` by the value of a property that applies to all sessions. Secrets are not replaced, because
    /// their values would be shown under another name.
    fn expand(&mut self, text: &str, secret: bool) -> Result<String, SettingsFault> {
        if !text.contains("${") {
            return Ok(text.to_owned());
        }
        let mut done = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, from)) = rest.split_once("${") {
            done.push_str(before);
            let Some((name, behind)) = from.split_once('}') else {
                done.push_str("${");
                rest = from;
                continue;
            };
            let home = name.eq_ignore_ascii_case("fa.home");
            match self.value(Scope::Global, name) {
                Some(line) if !line.secret => {
                    done.push_str(&line.text);
                }
                None if home => done.push('.'),
                _ => done.extend(["${", name, "}"]),
            }
            if done.len() > MAX_VALUE {
                let name = if secret { HIDDEN } else { name }.to_owned();
                let why = VariableFault::TooLong;
                return Err(SettingsFault::Variable { name, why });
            }
            if done.len() > self.room {
                let note = format!("variables expand this file to more than {MAX_REPLACED} bytes");
                return Err(SettingsFault::Conflict { note });
            }
            rest = behind;
        }
        done.push_str(rest);
        self.room = self.room.saturating_sub(done.len());
        Ok(done)
    }

    fn malformed(
        &mut self,
        index: usize,
        property: &'static Property,
        expected: String,
    ) -> Vec<IniEntry> {
        let key = property.name;
        let fault = SettingsFault::Malformed { key, expected };
        let span = self.lines[index].value;
        self.problems.push(Problem { span, fault });
        Vec::new()
    }

    fn unknown(&mut self, index: usize) -> Vec<IniEntry> {
        let line = &self.lines[index];
        let name = line.name.clone();
        if matches!(registry::find(&name), Some(Known::Custom)) {
            let text = line.text.clone();
            return self.entry(index, name, text);
        }
        let compare = self.problems.len() < COMPARED;
        let nearest = compare.then(|| nearest(&name)).flatten();
        let span = line.key;
        let fault = SettingsFault::UnknownKey {
            nearest,
            kept_by: None,
        };
        self.problems.push(Problem { span, fault });
        Vec::new()
    }
}

fn section(kind: SectionKind, header: Span) -> Section {
    let entries = Vec::new();
    Section {
        kind,
        header,
        entries,
    }
}

/// The known property that was most likely meant.
fn nearest(name: &str) -> Option<&'static str> {
    let names = properties::PROPERTIES.iter().map(|property| property.name);
    fixwire_text::nearest(name, names)
}
