//! [`Problem`]s of a settings file. A problem is a fact with a position, and becomes text only when it is shown.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::dialect::Dialect;
use super::family::SampleKey;
use super::ini::{MAX_SECTIONS, Source, Span};
use super::kinds::APPL_VERSIONS;
use super::value::SettingValue;
use super::variables::VariableFault;

/// An error or warning, and its position.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The span of the problem in the text.
    pub span: Span,
    /// The fault.
    pub fault: SettingsFault,
}

/// An error or warning about a place in a settings file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SettingsFault {
    /// An entry before the first `[SECTION]`.
    BeforeFirstSection,
    /// A section is neither `[DEFAULT]` nor `[SESSION]`.
    SectionName,
    /// Text after the `]` of a section.
    BehindSection,
    /// The file has too many sections.
    TooManySections,
    /// The line has no `=`.
    NoEquals,
    /// The key before the `=` is missing.
    EmptyKey,
    /// The file has no `[SESSION]`.
    NoSession,
    /// `[DEFAULT]`, a key of a section or a session's identity appears twice.
    Repeated {
        /// Where the text that is repeated appears first in the file.
        first: Span,
    },
    /// An unknown key.
    UnknownKey {
        /// The most similar known key.
        nearest: Option<&'static str>,
        /// The engine for which the file was probably written. This engine would pass such a key to the application.
        kept_by: Option<Dialect>,
    },
    /// A key of a sample application, which is kept for the application. This is a warning.
    OfSample {
        /// The key.
        sample: &'static SampleKey,
    },
    /// The file of a dictionary is missing, and the built-in dictionary is used instead. This is a warning.
    BuiltInDictionary {
        /// The version of the built-in dictionary: `FIX.4.2`.
        version: &'static str,
    },
    /// A dictionary is unusual: no Logon can succeed with it, it is for another version than the session's, or it has
    /// odd forms. This is a warning.
    OddDictionary {
        /// The irregularity.
        note: String,
        /// How to correct the dictionary.
        help: &'static str,
    },
    /// A key of the QuickFIX family that fixwire does not have and must not ignore.
    Unsupported {
        /// The reason why the key is not supported, and what to do instead.
        note: &'static str,
    },
    /// A key of the QuickFIX family that fixwire does not have and can ignore. This is a warning.
    WithoutEffect {
        /// The reason why the key has no effect, and what to do instead.
        note: &'static str,
    },
    /// The value after the `=` is missing.
    NoValue {
        /// The expected value, to follow the word "expected".
        expected: String,
    },
    /// The value is not valid for its key.
    Malformed {
        /// The key.
        key: &'static str,
        /// The expected value, to follow the word "expected".
        expected: String,
    },
    /// A key is missing in the section and in `[DEFAULT]`.
    Missing {
        /// The key.
        key: &'static str,
        /// Why the key is required.
        because: &'static str,
    },
    /// A key of the engine has different values in two sessions.
    Disagrees {
        /// The key.
        key: &'static str,
        /// The other place.
        first: Span,
    },
    /// Two sessions have the same identity.
    SameSession {
        /// The name of the second session.
        name: String,
        /// The header of the first session.
        first: Span,
    },
    /// Valid values conflict with each other.
    Conflict {
        /// The conflicting values, and the correction.
        note: String,
    },
    /// Something that is valid but may be unexpected. This is a warning.
    Surprise {
        /// The effect.
        note: &'static str,
    },
    /// The engine that the file was written for reads this place of the file differently. This is a warning.
    Differs {
        /// The engine of the file.
        dialect: Dialect,
        /// The engine's behaviour, to follow the engine's name.
        note: String,
    },
    /// A line is ignored, as the engine that the file was written for ignores it. This is a warning.
    PassedOver {
        /// The engine of the file.
        dialect: Dialect,
    },
    /// A key appears twice. The last value applies, as in the engine that the file was written for. This is a
    /// warning.
    Replaced {
        /// Where the key appears first in the file.
        first: Span,
    },
    /// A key that the engine of the file does not have is kept for the application. This is a warning.
    Kept {
        /// The engine of the file.
        dialect: Dialect,
        /// The most similar known key.
        nearest: Option<&'static str>,
    },
    /// A variable cannot be replaced by its value.
    Variable {
        /// Name of the variable. If the name is a secret, it is hidden.
        name: String,
        /// The reason.
        why: VariableFault,
    },
    /// Every user of the machine can read this secret. This is a warning.
    Exposed,
    /// A problem that another reader of the file has found, such as the reader of gateway rules.
    Found {
        /// The fault, as text.
        title: String,
        /// How to correct the problem.
        help: Option<String>,
    },
    /// Invalid TOML.
    Toml {
        /// The message of the TOML parser.
        message: String,
    },
}

impl SettingsFault {
    /// Whether the file can be used despite the problem.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::WithoutEffect { .. }
                | Self::Surprise { .. }
                | Self::Differs { .. }
                | Self::PassedOver { .. }
                | Self::Replaced { .. }
                | Self::Kept { .. }
                | Self::OfSample { .. }
                | Self::BuiltInDictionary { .. }
                | Self::OddDictionary { .. }
                | Self::Exposed
        )
    }

    /// How the operator can correct the problem.
    ///
    /// `text` is the text at the span of the problem.
    pub fn help(&self, text: &str) -> Option<String> {
        match self {
            Self::BeforeFirstSection => Some("put `[DEFAULT]` or `[SESSION]` above it".into()),
            Self::SectionName => Some("the sections are `[DEFAULT]` and `[SESSION]`".into()),
            Self::BehindSection => Some(
                "write nothing after the `]`: put a comment on a line of its own, with `#` in the first column"
                    .into(),
            ),
            Self::NoEquals => {
                Some("write `Key=value`; a comment starts with `#` in the first column".into())
            }
            Self::NoSession => {
                let cfg = "add `[SESSION]` with BeginString, SenderCompID and TargetCompID";
                Some(format!("{cfg}; in a file of FIX Antenna, `sessionIDs`"))
            }
            Self::UnknownKey {
                nearest: Some(nearest),
                kept_by: Some(dialect),
            } => Some(format!(
                "did you mean `{nearest}`? If it is a key of your application, set Dialect={} to \
                 keep it",
                dialect.name()
            )),
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownKey { nearest: None, .. } => Some(
                "keys for an application start with `X-`; for a file of another engine set \
                 Dialect, for example `Dialect=quickfixj`"
                    .into(),
            ),
            Self::Kept {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::Variable {
                why: VariableFault::NotSet,
                ..
            } => Some("set it in the environment of the program".into()),
            Self::Toml { .. } => {
                Some("write words and texts in quotes, and numbers, true and false without".into())
            }
            Self::Exposed => Some(
                "make the file readable only to its owner (`chmod 600`), or use `${file:PATH}` \
                 and keep the secret in such a file"
                    .into(),
            ),
            Self::Found { help, .. } => help.clone(),
            Self::Unsupported { note } | Self::WithoutEffect { note } => Some((*note).into()),
            Self::Missing { because, .. } => Some((*because).into()),
            Self::OfSample { .. } => {
                Some("`fixwire run --app echo` accepts orders of every type and fills none".into())
            }
            Self::OddDictionary { help, .. } => Some((*help).into()),
            Self::BuiltInDictionary { .. } => Some(
                "if that is intended, set `built-in` or remove the key; otherwise provide the file"
                    .into(),
            ),
            Self::Malformed {
                key: "BeginString", ..
            } if application_version(text).is_some() => {
                let version = application_version(text).unwrap_or_default();
                Some(format!(
                    "write `BeginString=FIXT.1.1` and `DefaultApplVerID={version}`"
                ))
            }
            Self::Malformed { .. } if text.contains(" #") => {
                Some("a comment needs a line of its own".into())
            }
            Self::EmptyKey
            | Self::TooManySections
            | Self::Repeated { .. }
            | Self::NoValue { .. }
            | Self::Malformed { .. }
            | Self::SameSession { .. }
            | Self::Disagrees { .. }
            | Self::Conflict { .. }
            | Self::Surprise { .. }
            | Self::Differs { .. }
            | Self::PassedOver { .. }
            | Self::Replaced { .. }
            | Self::Kept { nearest: None, .. }
            | Self::Variable { .. } => None,
        }
    }

    /// The other position of the problem, and its label.
    pub fn other_place(&self) -> Option<(Span, &'static str)> {
        match self {
            Self::Repeated { first }
            | Self::Replaced { first }
            | Self::SameSession { first, .. } => Some((*first, "first here")),
            Self::Disagrees { first, .. } => Some((*first, "another value here")),
            _ => None,
        }
    }

    /// The problem as a sentence. `text` is the text at the problem's span.
    pub fn title(&self, text: &str) -> String {
        let text = Printable(text);
        match self {
            Self::BeforeFirstSection => format!("`{text}` is before the first section"),
            Self::SectionName => format!("`{text}` is not a section"),
            Self::BehindSection => format!("`{text}` has text after the section's `]`"),
            Self::TooManySections => format!("more than {MAX_SECTIONS} sections"),
            Self::NoEquals => format!("`{text}` is neither a section nor `Key=value`"),
            Self::EmptyKey => "the key before the `=` is missing".into(),
            Self::NoSession => "the file has no `[SESSION]`".into(),
            Self::Repeated { .. } => format!("`{text}` appears twice"),
            Self::UnknownKey { .. } => format!("unknown key `{text}`"),
            Self::Unsupported { .. } => format!("`{text}` is not supported"),
            Self::WithoutEffect { .. } => format!("`{text}` has no effect"),
            Self::NoValue { expected } => format!("`{text}` has no value: expected {expected}"),
            Self::Malformed { key, expected } => {
                format!("`{text}` is not valid for {key}: expected {expected}")
            }
            Self::Missing { key, .. } => format!("`{key}` is missing"),
            Self::Disagrees { key, .. } => {
                format!(
                    "`{text}` for {key} differs from another session: all sessions of an engine share \
                 this setting"
                )
            }
            Self::SameSession { name, .. } => {
                format!("duplicate session {}", Printable(name))
            }
            Self::Conflict { note } => note.clone(),
            Self::Surprise { note } => (*note).into(),
            Self::Differs { dialect, note } => format!("{dialect} {note}"),
            Self::PassedOver { dialect } => {
                format!("`{text}` is ignored: {dialect} ignores it too")
            }
            Self::Replaced { .. } => format!("`{text}` appears twice: the last one applies"),
            Self::Kept { dialect, .. } => {
                format!(
                    "`{text}` is not a key of {dialect} or fixwire: it is kept for the application"
                )
            }
            Self::OfSample { sample } => format!(
                "`{text}` is a key of the sample application {} of {}: it is kept for the application",
                sample.application, sample.dialect
            ),
            Self::BuiltInDictionary { version } => {
                format!("`{text}` is missing: the built-in dictionary of {version} is used")
            }
            Self::OddDictionary { note, .. } => format!("`{text}` {note}"),
            Self::Variable { name, why } => format!("variable `{}` {why}", Printable(name)),
            Self::Found { title, .. } => title.clone(),
            Self::Exposed => "every user of this machine can read this secret".into(),
            Self::Toml { message } => format!("invalid TOML: {}", Printable(message)),
        }
    }
}

/// The application version that FIXT.1.1 transports, found by any of its names.
fn application_version(text: &str) -> Option<&'static str> {
    match APPL_VERSIONS.parse(text) {
        Ok(SettingValue::Word(version)) if text.contains('5') && version.starts_with("FIX.5") => {
            Some(version)
        }
        _ => None,
    }
}

/// Text of the file for a terminal: without control characters and with a limited length.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        const LONGEST: usize = 80;
        for (index, c) in self.0.chars().enumerate() {
            if index == LONGEST {
                return f.write_str("...");
            }
            if c.is_control() {
                write!(f, "{}", c.escape_default())?
            } else {
                f.write_char(c)?
            }
        }
        Ok(())
    }
}

/// A file whose settings cannot be used, or can only be used with warnings.
#[derive(Clone, Debug)]
pub struct SettingsReport {
    /// The file.
    pub source: Source,
    /// The problems, in the order of the file.
    pub problems: Vec<Problem>,
}

impl SettingsReport {
    /// The text at a problem's position, with its secrets hidden.
    pub fn text(&self, problem: &Problem) -> &str {
        self.source.slice(problem.span)
    }
}

impl fmt::Display for SettingsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN).enumerate() {
            let (line, path) = (self.source.line(problem.span), self.source.path.display());
            let kind = if problem.fault.is_warning() {
                "warning: "
            } else {
                ""
            };
            let end = if index == 0 { "" } else { "\n" };
            // One line of a TOML file may contain many values.
            let column = match self.source.is_toml() {
                true => format!(":{}", self.source.column(problem.span)),
                false => String::new(),
            };
            write!(
                f,
                "{end}{path}:{line}{column}: {kind}{}",
                problem.fault.title(self.text(problem))
            )?;
            if let Some(help) = problem.fault.help(self.text(problem)) {
                write!(f, " ({help})")?;
            }
        }
        match self.problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Maximum number of problems shown for a file.
pub const SHOWN: usize = 100;

/// Why settings cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system error.
        error: io::Error,
    },
    /// The file is larger than a settings file may be.
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// The limit, bytes.
        limit: u64,
    },
    /// The file is not UTF-8 text.
    NotUtf8 {
        /// Path of the file.
        path: PathBuf,
        /// The first invalid line.
        line: usize,
    },
    /// The content of the file is invalid.
    Content(Box<SettingsReport>),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "{}: {error}", path.display()),
            Self::TooLarge { path, limit } => {
                write!(
                    f,
                    "{}: larger than the limit of {limit} bytes for a settings file",
                    path.display()
                )
            }
            Self::NotUtf8 { path, line } => {
                write!(f, "{}:{line}: not UTF-8 text", path.display())
            }
            Self::Content(report) => report.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}
