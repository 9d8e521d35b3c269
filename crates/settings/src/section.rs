//! Reads one section: finds its keys and checks their values.

use std::collections::BTreeMap;
use std::path::Path;

use super::dialect::Dialect;
use super::ini::{IniEntry, Section, SectionKind, Span};
use super::keys::Id;
use super::problem::{Problem, SettingsFault};
use super::registry::{self, Key, Known};
use super::resolved::{Custom, Origin, Setting};
use super::variables::{self, Expanded, Values, VariableSyntax};
use super::{differences, elsewhere, family};

/// A section with known keys and valid values.
pub struct Checked {
    /// Kind of the section.
    pub kind: SectionKind,
    /// The `[NAME]` of the section.
    pub header: Span,
    /// The values of keys that are used.
    pub settings: Vec<Setting>,
    /// The application's keys.
    pub custom: Vec<Custom>,
    /// Keys with an invalid value. Keys with an invalid value do not count as missing.
    pub broken: Vec<Id>,
    /// Keys whose list of values is complete: values of other sections, whatever their numbers, are not added.
    pub whole: Vec<Id>,
}

/// How a section is read.
pub struct SectionReading<'a> {
    /// The engine that the file was written for.
    pub dialect: Dialect,
    /// The kind of variables that are replaced.
    pub form: VariableSyntax,
    /// The source of the values of variables.
    pub values: &'a dyn Values,
    /// The folder of the file. Relative paths in the file start from this folder.
    pub folder: &'a Path,
    /// Whether every user of the machine can read the file.
    pub exposed: bool,
    /// Whether the engine of the file was not stated.
    pub guessed: bool,
}

/// The text that is shown in place of a secret.
pub const HIDDEN: &str = "******";

/// Number of problems after which unknown keys are no longer compared with the known ones. A file with so many
/// problems is not a settings file, and each comparison takes time.
const COMPARED: usize = 100;
const VARIABLE: &str = "this looks like a variable but is not replaced: fixwire replaces \
                        `${env:NAME}` and `${file:PATH}`, and with ExpandVariables=Y also `$NAME`";

/// Checks a section, entry by entry.
pub fn check(
    reading: &SectionReading<'_>,
    section: &Section,
    problems: &mut Vec<Problem>,
) -> Checked {
    let mut checked = Checked {
        kind: section.kind,
        header: section.header,
        settings: Vec::new(),
        custom: Vec::new(),
        broken: Vec::new(),
        whole: Vec::new(),
    };
    let names: Vec<String> = section.entries.iter().map(canonical).collect();
    let mut firsts: BTreeMap<&str, Span> = BTreeMap::new();
    let mut lasts: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, (name, entry)) in names.iter().zip(&section.entries).enumerate() {
        firsts.entry(name).or_insert(entry.key);
        lasts.insert(name, index);
    }
    for (index, (name, entry)) in names.iter().zip(&section.entries).enumerate() {
        let (span, first) = (entry.key, firsts[&name[..]]);
        if !reading.dialect.takes_the_last() {
            if first != span {
                let fault = SettingsFault::Repeated { first };
                problems.push(Problem { span, fault });
                continue;
            }
        } else if lasts[&name[..]] != index {
            continue;
        } else if first != span {
            let fault = SettingsFault::Replaced { first };
            problems.push(Problem { span, fault });
        }
        checked.entry(reading, entry, problems);
    }
    checked
}

/// The meaning of the key of an entry.
fn known(entry: &IniEntry) -> Option<Known> {
    if entry.application {
        return Some(Known::Custom);
    }
    registry::find(&entry.name)
}

/// One text that stands for all names of a key.
fn canonical(entry: &IniEntry) -> String {
    match known(entry) {
        Some(Known::Used(key, Some(number))) => format!("{}{number}", key.name),
        Some(Known::Used(key, None)) => key.name.to_owned(),
        _ => entry.name.to_ascii_lowercase(),
    }
}

impl Checked {
    fn entry(
        &mut self,
        reading: &SectionReading<'_>,
        entry: &IniEntry,
        problems: &mut Vec<Problem>,
    ) {
        let known = known(entry);
        let compare = problems.len() < COMPARED;
        let mut report = |span, fault| problems.push(Problem { span, fault });
        let secret = registry::is_secret(&entry.name, &entry.text);
        let expanded = match variables::expand(&entry.text, reading.form, reading.values) {
            Ok(expanded) => expanded,
            Err((name, why)) => {
                // A value that is one reference and nothing else shows no secret.
                let is_hidden = secret && !variables::is_reference(&entry.text);
                let name = if is_hidden { HIDDEN.into() } else { name };
                report(entry.value, SettingsFault::Variable { name, why });
                if let Some(Known::Used(key, _)) = known {
                    self.broken.push(key.id);
                }
                return;
            }
        };
        if expanded.left && !secret {
            report(entry.value, SettingsFault::Surprise { note: VARIABLE });
        }
        let readable = expanded.exposed || (reading.exposed && !expanded.any);
        if secret && readable && !entry.text.is_empty() {
            report(entry.value, SettingsFault::Exposed);
        }
        match known {
            None => {
                if let Some(sample) = family::sample(&entry.name) {
                    report(entry.key, SettingsFault::OfSample { sample });
                    return self.custom(entry, expanded, secret);
                }
                let nearest = compare.then(|| registry::nearest(&entry.name)).flatten();
                let dialect = reading.dialect;
                // In the engine of the file the key would have no effect either, but that engine is only a guess.
                let is_slip = nearest.is_some_and(|key| registry::is_slip(&entry.name, key));
                let kept = dialect.keeps_unknown_keys();
                if kept && !(reading.guessed && is_slip) {
                    report(entry.key, SettingsFault::Kept { dialect, nearest });
                    return self.custom(entry, expanded, secret);
                }
                let kept_by = kept.then_some(dialect);
                report(entry.key, SettingsFault::UnknownKey { nearest, kept_by });
            }
            Some(Known::Custom) => self.custom(entry, expanded, secret),
            Some(Known::Elsewhere(group)) => {
                if let Some(fault) = of_another_engine(group, &expanded.text) {
                    report(entry.key, fault);
                }
                let dialect = reading.dialect;
                if let Some(note) = differences::of_a_name_not_used(&entry.name, dialect) {
                    report(entry.key, SettingsFault::Differs { dialect, note });
                }
            }
            Some(Known::Used(key, number)) => {
                if entry.list {
                    self.whole.push(key.id);
                }
                if let Err(expected) = self.setting(reading, entry, key, number, &expanded) {
                    self.broken.push(key.id);
                    if entry.text.is_empty() {
                        report(entry.key, SettingsFault::NoValue { expected });
                    } else {
                        let key = key.name;
                        report(entry.value, SettingsFault::Malformed { key, expected });
                    }
                } else if let Some(note) = self.settings.last().and_then(|set| set.differs.clone())
                {
                    let dialect = reading.dialect;
                    report(entry.key, SettingsFault::Differs { dialect, note });
                }
            }
        }
    }

    fn setting(
        &mut self,
        reading: &SectionReading<'_>,
        entry: &IniEntry,
        key: &'static Key,
        number: Option<u16>,
        expanded: &Expanded,
    ) -> Result<(), String> {
        let value = key.kind.parse(&expanded.text)?;
        let hidden = registry::is_secret(key.name, &expanded.text);
        let differs = differences::of_the_name(&entry.name, key, reading.dialect)
            .or_else(|| differences::of_the_value(key, &expanded.text, reading.dialect));
        self.settings.push(Setting {
            key,
            number,
            value,
            text: if hidden { HIDDEN } else { &expanded.text }.into(),
            written: entry.text.clone(),
            origin: self.origin(entry),
            differs,
        });
        Ok(())
    }

    fn custom(&mut self, entry: &IniEntry, expanded: Expanded, secret: bool) {
        // The value of a variable may be secret.
        let text = match (secret, expanded.any) {
            (true, _) => HIDDEN,
            (false, true) => &entry.text,
            (false, false) => &expanded.text,
        };
        let text = text.to_owned();
        self.custom.push(Custom {
            key: entry.name.clone(),
            value: expanded.text,
            text,
            written: entry.text.clone(),
            origin: self.origin(entry),
        });
    }

    fn origin(&self, entry: &IniEntry) -> Origin {
        match self.kind {
            SectionKind::Default => Origin::Default(entry.value),
            SectionKind::Session => Origin::Session(entry.value),
        }
    }
}

/// The problem to report for a key that other engines have and that fixwire does not use.
fn of_another_engine(group: &elsewhere::KeyGroup, text: &str) -> Option<SettingsFault> {
    let asks_for_nothing = group
        .unless
        .is_some_and(|value| value.eq_ignore_ascii_case(text));
    let note = group.note;
    match (asks_for_nothing, group.refused) {
        (true, _) => None,
        (false, true) => Some(SettingsFault::Unsupported { note }),
        (false, false) => Some(SettingsFault::WithoutEffect { note }),
    }
}
