//! Converts a settings file of any engine to an equivalent `.toml` file.
//!
//! ```text
//! Settings --render--> TOML text --read again--> Settings --compare--> the text, or which key differs
//! ```
//!
//! Entries of `[DEFAULT]` go to `[default]`, and entries of a session go to `[[session]]`, in the order of the
//! registry. Where the defaults of the file's engine differ from fixwire's, they are written out with a comment.
//! Comments of the file and keys without effect are not kept.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::dialect::Dialect;
use super::ini::{MAX_FILE, Source};
use super::keys::Id;
use super::problem::LoadError;
use super::registry::{self, Known};
use super::resolve::Options;
use super::resolved::{Custom, Origin, SessionSettings, Setting, Settings};
use super::section::HIDDEN;
use super::toml::MAX_ARRAY;
use super::value::{SettingValue, ValueKind, thousandths};
use super::variables::{self, FileText, Values, VariableFault, VariableSyntax};

/// Why the settings of a file cannot be converted to TOML.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// A value contains text that fixwire would read as a variable, although the engine of the file does not.
    Variable {
        /// The key.
        key: String,
        /// Line of the key in the file, from 1.
        line: usize,
    },
    /// The converted text cannot be read back.
    Unreadable(LoadError),
    /// The conversion would change the value of a key.
    Differs {
        /// The key.
        key: String,
        /// The session's name.
        session: String,
    },
    /// The text exceeds the maximum length of a settings file.
    TooLarge,
    /// The file has tables of a gateway or an OMS, which the conversion would drop.
    Gateway,
    /// The file has tables of a simulated exchange, which the conversion would drop.
    Exchange,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { key, line } => write!(
                f,
                "line {line}: the value of {key} contains text that fixwire's own files read as a \
                 variable, and it cannot be escaped: change it"
            ),
            Self::Unreadable(error) => write!(f, "the converted file cannot be read back: {error}"),
            Self::Differs { key, session } => {
                write!(
                    f,
                    "the conversion would change the value of {key} of session {session}"
                )
            }
            Self::TooLarge => write!(f, "the result is larger than {MAX_FILE} bytes"),
            Self::Gateway => f.write_str(
                "this TOML file has tables of a gateway or an OMS, which a conversion would drop: \
                 copy the file instead",
            ),
            Self::Exchange => f.write_str(
                "this TOML file has tables of a simulated exchange, which a conversion would \
                 drop: copy the file instead",
            ),
        }
    }
}

impl std::error::Error for ConvertError {}

/// Converts settings to the text of a TOML file in which every session keeps its values.
///
/// The text contains the secrets of the file. `values` are the variables with which the file was read: the converted
/// text is read back with the same variables and compared.
///
/// # Errors
///
/// [`ConvertError`]. If the value of a key would change, the error names the key.
pub fn to_toml(settings: &Settings, values: &dyn Values) -> Result<String, ConvertError> {
    let text = render(settings, Secrets::Written)?;
    if text.len() as u64 > MAX_FILE {
        return Err(ConvertError::TooLarge);
    }
    let source = Source {
        // The converted text counts as a file in the same folder, because its paths are relative to that folder.
        path: settings.report.source.path.with_file_name("converted.toml"),
        text,
    };
    let options = Options {
        values,
        ..Options::default()
    };
    let again = Settings::read_with(&source, &options).map_err(ConvertError::Unreadable)?;
    match difference(settings, &again) {
        Some((key, session)) => Err(ConvertError::Differs { key, session }),
        None => Ok(source.text),
    }
}

/// The text of [`to_toml`] for review. In this text each secret is `"******"`.
///
/// # Errors
///
/// [`ConvertError::Variable`].
pub fn to_toml_without_secrets(settings: &Settings) -> Result<String, ConvertError> {
    render(settings, Secrets::Hidden)
}

/// The first key whose value in some session differs between two files, and the name of that session.
fn difference(one: &Settings, other: &Settings) -> Option<(String, String)> {
    type Values<'a> = BTreeMap<String, (Option<&'a SettingValue>, &'a str)>;
    fn values(session: &SessionSettings) -> Values<'_> {
        let settings = session.settings.iter().filter(|found| is_written(found));
        let custom = session.custom.iter();
        settings
            .map(|found| {
                (
                    registry::name(found.key, found.number),
                    (Some(&found.value), ""),
                )
            })
            .chain(custom.map(|found| (found.key.clone(), (None, &found.value[..]))))
            .collect()
    }
    debug_assert_eq!(one.sessions.len(), other.sessions.len());
    for (one, other) in one.sessions.iter().zip(&other.sessions) {
        let (there, here) = (values(one), values(other));
        let mut names = there.keys().chain(here.keys());
        if let Some(key) = names.find(|key| there.get(*key) != here.get(*key)) {
            return Some((key.clone(), one.name()));
        }
    }
    None
}

/// Whether the converted file has the key. Keys that decide how a file is read are left out.
fn is_written(setting: &Setting) -> bool {
    !matches!(setting.key.id, Id::Dialect | Id::ExpandVariables)
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Secrets {
    Written,
    Hidden,
}

fn render(settings: &Settings, secrets: Secrets) -> Result<String, ConvertError> {
    if !settings.gateway.is_empty() || !settings.oms.is_empty() {
        return Err(ConvertError::Gateway);
    }
    if !settings.exchange.is_empty() {
        return Err(ConvertError::Exchange);
    }
    let path = settings.report.source.path.display().to_string();
    let mut writer = Writer {
        settings,
        secrets,
        out: format!("# Converted from {}", path.escape_debug()),
    };
    match settings.dialect {
        Dialect::Fixwire => writer.out.push_str(".\n"),
        other => {
            let _ = writeln!(writer.out, ", a file of {other}.");
        }
    }
    let default = Table::default(settings);
    if !default.settings.is_empty() || !default.custom.is_empty() {
        writer.table("[default]", "[default.application]", &default)?;
    }
    for session in &settings.sessions {
        let own = Table::of_session(session, &default);
        writer.table("[[session]]", "[session.application]", &own)?;
    }
    Ok(writer.out)
}

/// A table of the converted file. The settings of a table are in the order of the registry.
struct Table<'a> {
    settings: Vec<&'a Setting>,
    /// Keys whose values must form an array, so that `[default]` adds nothing to them.
    whole: Vec<Id>,
    custom: Vec<&'a Custom>,
}

impl<'a> Table<'a> {
    /// The values of `[DEFAULT]`, and the defaults of the file's engine that all sessions share.
    fn default(settings: &'a Settings) -> Self {
        let (mut all, mut custom) = (BTreeMap::new(), BTreeMap::new());
        for session in &settings.sessions {
            for found in session.settings.iter().filter(|found| is_written(found)) {
                let shared = match found.origin {
                    Origin::Default(_) => true,
                    Origin::Dialect(_) => is_everywhere(found, settings),
                    Origin::Session(_) | Origin::BuiltIn => false,
                };
                if shared {
                    all.entry((found.key.id, found.number)).or_insert(found);
                }
            }
            for found in &session.custom {
                if matches!(found.origin, Origin::Default(_)) {
                    custom.entry(&found.key).or_insert(found);
                }
            }
        }
        Self {
            settings: all.into_values().collect(),
            whole: Vec::new(),
            custom: custom.into_values().collect(),
        }
    }

    /// The values of a session that differ from those in `[default]`.
    fn of_session(session: &'a SessionSettings, default: &Self) -> Self {
        let is_own = |found: &Setting| matches!(found.origin, Origin::Session(_));
        let is_default = |id: Id| default.settings.iter().any(|found| found.key.id == id);
        let mut table = Self {
            settings: Vec::new(),
            whole: Vec::new(),
            custom: Vec::new(),
        };
        for found in session.settings.iter().filter(|found| is_written(found)) {
            let id = found.key.id;
            let wanted = match found.origin {
                Origin::Session(_) => true,
                Origin::Dialect(_) => !is_default(id),
                // If one value of a numbered key is the session's own, the session gets all values of the key.
                Origin::Default(_) => found.key.numbered && session.all(id).any(is_own),
                Origin::BuiltIn => false,
            };
            if wanted {
                table.settings.push(found);
                if found.key.numbered && is_default(id) {
                    table.whole.push(id);
                }
            }
        }
        let custom = session.custom.iter();
        let own = custom.filter(|found| matches!(found.origin, Origin::Session(_)));
        table.custom.extend(own);
        table
    }
}

/// Whether a default of the file's engine applies in every session that does not set the key.
fn is_everywhere(default: &Setting, settings: &Settings) -> bool {
    let holds = |found: &Setting| match found.origin {
        Origin::Session(_) => true,
        Origin::Dialect(_) => found.value == default.value,
        Origin::Default(_) | Origin::BuiltIn => false,
    };
    let mut sessions = settings.sessions.iter();
    sessions.all(|session| session.find(default.key.id).is_some_and(holds))
}

struct Writer<'a> {
    settings: &'a Settings,
    secrets: Secrets,
    out: String,
}

impl Writer<'_> {
    fn table(
        &mut self,
        title: &str,
        application: &str,
        table: &Table<'_>,
    ) -> Result<(), ConvertError> {
        let _ = writeln!(self.out, "\n{title}");
        let key = |found: &&Setting| found.key.id;
        for same in table.settings.chunk_by(|one, other| key(one) == key(other)) {
            self.key(same, table.whole.contains(&key(&same[0])))?;
        }
        let marked = |found: &&&Custom| matches!(registry::find(&found.key), Some(Known::Custom));
        let (ours, others): (Vec<_>, Vec<_>) = table.custom.iter().partition(marked);
        for found in ours {
            self.custom(found)?;
        }
        if !others.is_empty() {
            let _ = writeln!(self.out, "\n{application}");
        }
        for found in others {
            self.custom(found)?;
        }
        Ok(())
    }

    /// Writes the values of one key, in the order of their numbers.
    fn key(&mut self, same: &[&Setting], whole: bool) -> Result<(), ConvertError> {
        let mut notes: Vec<&String> = same
            .iter()
            .filter_map(|found| found.differs.as_ref())
            .collect();
        notes.dedup();
        for note in notes {
            let _ = writeln!(
                self.out,
                "# {} {}",
                self.settings.dialect,
                note.escape_debug()
            );
        }
        // The longest run of values whose numbers have no gap, beginning with the value without a number.
        let in_turn = same.iter().zip(0..MAX_ARRAY).take_while(|(found, index)| {
            found.number.map(usize::from) == (*index > 0).then_some(*index)
        });
        let listed = match in_turn.count() {
            _ if same[0].key.id == Id::AppDataDictionary => 0,
            1 if !whole => 0,
            count if same[0].key.numbered => count,
            _ => 0,
        };
        let (list, others) = same.split_at(listed);
        if let [first, ..] = list {
            let values: Result<Vec<String>, _> =
                list.iter().map(|found| self.value(found)).collect();
            let _ = writeln!(self.out, "{} = [{}]", first.key.name, values?.join(", "));
        }
        for found in others {
            let (name, value) = (registry::name(found.key, found.number), self.value(found)?);
            let _ = write!(self.out, "{} = {value}", bare(&name));
            if let Origin::Dialect(dialect) = found.origin {
                let _ = write!(self.out, "  # {dialect}'s default");
            }
            self.out.push('\n');
        }
        Ok(())
    }

    fn custom(&mut self, found: &Custom) -> Result<(), ConvertError> {
        let value = match self.secrets {
            Secrets::Hidden if found.text == HIDDEN => HIDDEN.into(),
            _ => self.own_form(&found.key, &found.written, found.origin)?,
        };
        let _ = writeln!(self.out, "{} = {}", bare(&found.key), quoted(&value));
        Ok(())
    }

    /// The value as TOML text.
    fn value(&self, found: &Setting) -> Result<String, ConvertError> {
        if self.secrets == Secrets::Hidden && found.text == HIDDEN {
            return Ok(quoted(HIDDEN));
        }
        let name = registry::name(found.key, found.number);
        let text = self.own_form(&name, &found.written, found.origin)?;
        if found.key.kind.parse(&text).as_ref() != Ok(&found.value) {
            // The value has variables.
            return Ok(quoted(&text));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(match (found.key.kind, &found.value) {
            (_, SettingValue::Bool(yes)) => yes.to_string(),
            (_, SettingValue::Word(word)) => quoted(word),
            (ValueKind::Factor { .. }, SettingValue::Int(value)) => thousandths(*value),
            (
                ValueKind::Text
                | ValueKind::Name
                | ValueKind::SessionName
                | ValueKind::Secret
                | ValueKind::Path
                | ValueKind::Host,
                _,
            ) => quoted(&text),
            // A number of up to 18 digits fits into a TOML number, unless it begins with a zero.
            _ if is_number && text.len() <= 18 => match text.trim_start_matches('0') {
                "" => "0".into(),
                digits => digits.into(),
            },
            _ => quoted(&text),
        })
    }

    /// A value of the file, with its variables in fixwire's notation.
    fn own_form(&self, key: &str, written: &str, origin: Origin) -> Result<String, ConvertError> {
        let Some(span) = origin.span() else {
            return Ok(written.into());
        };
        let expand = |text: &str, form, values: &dyn Values| {
            variables::expand(text, form, values)
                .map(|done| done.text)
                .ok()
        };
        let form = self.settings.form;
        let own = expand(written, form, &Names);
        own.filter(|own| expand(own, VariableSyntax::Own, &Marks) == expand(written, form, &Marks))
            .ok_or_else(|| ConvertError::Variable {
                key: key.into(),
                line: self.settings.report.source.line(span),
            })
    }
}

/// Gives each variable its own name, in fixwire's notation, as its value.
struct Names;

impl Values for Names {
    fn env(&self, name: &str) -> Option<String> {
        Some(format!("${{env:{name}}}"))
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        let text = format!("${{file:{path}}}");
        let exposed = false;
        Ok(FileText { text, exposed })
    }
}

/// Gives each variable a value that occurs in no file.
struct Marks;

impl Values for Marks {
    fn env(&self, name: &str) -> Option<String> {
        Some(format!("\u{1}{name}\u{2}"))
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        let text = format!("\u{3}{path}\u{4}");
        let exposed = false;
        Ok(FileText { text, exposed })
    }
}

/// A key as TOML text; quoted if TOML requires quotes.
fn bare(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(is_bare) {
        key.into()
    } else {
        quoted(key)
    }
}

/// The text in quotes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
