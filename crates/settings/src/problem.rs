//! What is wrong with a settings file: facts with places, made into sentences only when shown.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::dialect::Dialect;
use super::family::SampleKey;
use super::ini::{MAX_SECTIONS, Source, Span};
use super::kinds::APPL_VERSIONS;
use super::value::Value;
use super::variables::VariableFault;

/// One thing that is wrong, or worth a warning, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The part of the text that is meant.
    pub span: Span,
    /// What is the matter with it.
    pub fault: Fault,
}

/// What is the matter with a place in a settings file.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// An entry stands above the first `[SECTION]`.
    BeforeFirstSection,
    /// A section is neither `[DEFAULT]` nor `[SESSION]`.
    SectionName,
    /// The file has more sections than a settings file may have.
    TooManySections,
    /// The line has no `=`.
    NoEquals,
    /// Nothing stands before the `=`.
    EmptyKey,
    /// The file has no `[SESSION]`.
    NoSession,
    /// `[DEFAULT]`, a key of one section or a session's identity appears again.
    Repeated {
        /// Where it was first.
        first: Span,
    },
    /// No engine whose files are read has this key.
    UnknownKey {
        /// The known key that looks most like it.
        nearest: Option<&'static str>,
        /// The engine whose file it seems to be, which would keep such a key for the application.
        kept_by: Option<Dialect>,
    },
    /// A key of a sample application is kept for the application. A warning.
    OfSample {
        /// The key.
        sample: &'static SampleKey,
    },
    /// The file of a dictionary is missing, and the built-in one is used. A warning.
    BuiltInDictionary {
        /// What is built in: `FIX.4.2`.
        version: &'static str,
    },
    /// A key is known from the QuickFIX family, and ignoring it would be dangerous.
    Unsupported {
        /// Why, and what to do instead.
        note: &'static str,
    },
    /// A key is known from the QuickFIX family, and ignoring it is harmless. A warning.
    WithoutEffect {
        /// Why, and what to do instead.
        note: &'static str,
    },
    /// Nothing stands behind the `=`.
    NoValue {
        /// What was expected, as in "expected …".
        expected: String,
    },
    /// The value does not have the format its key asks for.
    Malformed {
        /// The key.
        key: &'static str,
        /// What was expected, as in "expected …".
        expected: String,
    },
    /// The section, with `[DEFAULT]`, lacks a key.
    Missing {
        /// The key.
        key: &'static str,
        /// Why it is needed.
        because: &'static str,
    },
    /// The engine has one value of this key, and another session asks for a different one.
    Disagrees {
        /// The key.
        key: &'static str,
        /// The other place.
        first: Span,
    },
    /// Two sessions cannot be told apart.
    SameSession {
        /// The second one's name.
        name: String,
        /// The first one's header.
        first: Span,
    },
    /// Values that are right by themselves do not go together.
    Conflict {
        /// Which, and what to do.
        note: String,
    },
    /// Something legal that is likely to surprise. A warning.
    Surprise {
        /// What will happen.
        note: &'static str,
    },
    /// The engine that the file was written for reads it otherwise. A warning.
    Differs {
        /// That engine.
        dialect: Dialect,
        /// What it does, as in "QuickFIX/J …".
        note: String,
    },
    /// What the engine that the file was written for passes over is passed over. A warning.
    PassedOver {
        /// That engine.
        dialect: Dialect,
    },
    /// A key stands twice, and as in the engine that the file was written for the last one holds. A
    /// warning.
    Replaced {
        /// Where it was first.
        first: Span,
    },
    /// A key that the engine of the file does not have is kept for the application. A warning.
    Kept {
        /// That engine.
        dialect: Dialect,
        /// The known key that looks most like it.
        nearest: Option<&'static str>,
    },
    /// A variable cannot be replaced by its value.
    Variable {
        /// Its name; a secret's is hidden.
        name: String,
        /// Why.
        why: VariableFault,
    },
    /// A secret stands where every user of the machine can read it. A warning.
    Exposed,
    /// Another reader of the file found it, such as that of a gateway's rules.
    Found {
        /// What is wrong, in words.
        title: String,
        /// What was meant or can be done.
        help: Option<String>,
    },
    /// The text is no TOML.
    Toml {
        /// What the TOML reader says.
        message: String,
    },
}

impl Fault {
    /// Whether the file is still usable.
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
                | Self::Exposed
        )
    }

    /// What was meant or can be done, for the operator.
    ///
    /// `text` is the text of the fault's span.
    pub fn help(&self, text: &str) -> Option<String> {
        match self {
            Self::BeforeFirstSection => Some("put `[DEFAULT]` or `[SESSION]` above it".into()),
            Self::SectionName => Some("the sections are `[DEFAULT]` and `[SESSION]`".into()),
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
                "did you mean `{nearest}`? If it is a key of your application, say Dialect={}: it is \
                 kept then",
                dialect.name()
            )),
            Self::UnknownKey {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownKey { nearest: None, .. } => Some(
                "keys that an application reads start with `X-`; for a file of another engine say \
                 `Dialect=quickfixj`, for example"
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
            Self::Toml { .. } => Some(
                "words and texts stand in quotes, and numbers, true and false without".into(),
            ),
            Self::Exposed => Some(
                "make the file readable to its owner alone (`chmod 600`), or say `${file:PATH}` and \
                 keep the secret in a file that is"
                    .into(),
            ),
            Self::Found { help, .. } => help.clone(),
            Self::Unsupported { note } | Self::WithoutEffect { note } => Some((*note).into()),
            Self::Missing { because, .. } => Some((*because).into()),
            Self::OfSample { .. } => Some(
                "`fixwire run --app echo` accepts orders of every type and fills none".into(),
            ),
            Self::BuiltInDictionary { .. } => Some(
                "say `built-in`, or leave the key out, if that is meant; else put the file there"
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

    /// Another place that the fault speaks of, and what it is.
    pub fn other_place(&self) -> Option<(Span, &'static str)> {
        match self {
            Self::Repeated { first }
            | Self::Replaced { first }
            | Self::SameSession { first, .. } => Some((*first, "first here")),
            Self::Disagrees { first, .. } => Some((*first, "another value here")),
            _ => None,
        }
    }

    /// The fault in a sentence about `text`, the text of its span.
    pub fn title(&self, text: &str) -> String {
        let text = Printable(text);
        match self {
            Self::BeforeFirstSection => format!("`{text}` stands above the first section"),
            Self::SectionName => format!("`{text}` is not a section"),
            Self::TooManySections => format!("more than {MAX_SECTIONS} sections"),
            Self::NoEquals => format!("`{text}` is neither a section nor `Key=value`"),
            Self::EmptyKey => "nothing stands before the `=`".into(),
            Self::NoSession => "the file has no `[SESSION]`".into(),
            Self::Repeated { .. } => format!("`{text}` appears twice"),
            Self::UnknownKey { .. } => format!("unknown key `{text}`"),
            Self::Unsupported { .. } => format!("`{text}` is not supported yet"),
            Self::WithoutEffect { .. } => format!("`{text}` has no effect"),
            Self::NoValue { expected } => format!("`{text}` has no value: expected {expected}"),
            Self::Malformed { key, expected } => {
                format!("`{text}` is not valid for {key}: expected {expected}")
            }
            Self::Missing { key, .. } => format!("`{key}` is missing"),
            Self::Disagrees { key, .. } => {
                format!("`{text}` for {key}: all sessions of an engine share this setting")
            }
            Self::SameSession { name, .. } => {
                format!(
                    "session {} cannot be told from another one",
                    Printable(name)
                )
            }
            Self::Conflict { note } => note.clone(),
            Self::Surprise { note } => (*note).into(),
            Self::Differs { dialect, note } => format!("{dialect} {note}"),
            Self::PassedOver { dialect } => format!("`{text}` is passed over, as {dialect} does"),
            Self::Replaced { .. } => format!("`{text}` appears twice: the last one holds"),
            Self::Kept { dialect, .. } => {
                format!(
                    "`{text}` is no key of {dialect} or fixwire: it is kept for the application"
                )
            }
            Self::OfSample { sample } => format!(
                "`{text}` is a key of {} of {}: it is kept for the application",
                sample.application, sample.dialect
            ),
            Self::BuiltInDictionary { version } => {
                format!("`{text}` is missing: the built-in dictionary of {version} is used")
            }
            Self::Variable { name, why } => format!("variable `{}` {why}", Printable(name)),
            Self::Found { title, .. } => title.clone(),
            Self::Exposed => "every user of this machine can read this secret".into(),
            Self::Toml { message } => format!("no TOML: {}", Printable(message)),
        }
    }
}

/// The version that travels over FIXT.1.1, by any of its names.
fn application_version(text: &str) -> Option<&'static str> {
    match APPL_VERSIONS.parse(text) {
        Ok(Value::Word(version)) if text.contains('5') && version.starts_with("FIX.5") => {
            Some(version)
        }
        _ => None,
    }
}

/// A text of the file for a terminal: no control characters, no endless line.
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

/// A file whose settings cannot be used, or only with warnings.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file.
    pub source: Source,
    /// What was found, in the order of the file.
    pub problems: Vec<Problem>,
}

impl Report {
    /// The text of a problem's place, with secrets hidden.
    pub fn text(&self, problem: &Problem) -> &str {
        self.source.slice(problem.span)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN).enumerate() {
            let (line, path) = (self.source.line(problem.span), self.source.path.display());
            let kind = if problem.fault.is_warning() {
                "warning: "
            } else {
                ""
            };
            let end = if index == 0 { "" } else { "\n" };
            // One line of a TOML file may hold many values.
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

/// Most problems of a file that are shown at once.
pub const SHOWN: usize = 100;

/// Why there are no settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is larger than any settings file.
    TooLarge {
        /// Which.
        path: PathBuf,
        /// In bytes.
        limit: u64,
    },
    /// The file is not text.
    NotUtf8 {
        /// Which.
        path: PathBuf,
        /// The first bad line.
        line: usize,
    },
    /// The file was read, and its content is wrong.
    Content(Box<Report>),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "{}: {error}", path.display()),
            Self::TooLarge { path, limit } => {
                write!(
                    f,
                    "{}: larger than {limit} bytes, no settings file",
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
