//! Errors in a file of rules.

use alloc::string::String;
use core::fmt::{self, Write};

/// An error in the text of rules, and its position.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RuleError {
    /// Line of the error, from 1.
    pub line: usize,
    /// Column of the error in characters, from 1.
    pub column: usize,
    /// The error.
    pub problem: RuleProblem,
    /// The nearest known name, or how to correct the error.
    pub hint: Option<String>,
}

/// Errors in rules.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RuleProblem {
    /// Invalid TOML, with the message of the TOML parser.
    Toml(String),
    /// A limit is exceeded.
    TooMany {
        /// The limited items.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A table has a mistake in its keys or in an option.
    Option(String),
    /// A required key is missing.
    MissingKey(&'static str),
    /// A value has the wrong type.
    WrongType {
        /// The expected type.
        wanted: &'static str,
    },
    /// A syntax error.
    Unexpected {
        /// The text found.
        found: String,
        /// The text expected.
        wanted: &'static str,
    },
    /// A text lacks its closing quote.
    Unclosed,
    /// No dictionary of a source has this field.
    UnknownField(String),
    /// The dictionaries of the sources have different tags for this name.
    SeveralTags(String),
    /// An unknown session.
    UnknownSession(String),
    /// An unknown group of sessions.
    UnknownGroup(String),
    /// No session matches this pattern.
    NoSession(String),
    /// An unknown table.
    UnknownTable(String),
    /// An unknown column of a table.
    UnknownColumn(String),
    /// In its place, the field does not count a repeating group.
    NoRepeatingGroup(String),
    /// The field appears only in entries of this group.
    OnlyInGroup {
        /// The field.
        field: String,
        /// The name of the group's count field.
        group: String,
    },
    /// The entries of the group do not have this field.
    NotInGroup {
        /// The field.
        field: String,
        /// The name of the group's count field.
        group: String,
    },
    /// A value that is not valid for the field.
    BadValue {
        /// The field.
        field: String,
        /// The value.
        value: String,
    },
    /// A text in quotes is required, not a word.
    Unquoted(String),
    /// A regular expression that is invalid or too large.
    BadPattern(String),
    /// An invalid script.
    Script(String),
    /// This build has no scripts: the feature `scripts` is off.
    NoScripts,
    /// An unknown script.
    UnknownScript(String),
    /// An unknown function in a script.
    UnknownFunction(String),
    /// An unknown event.
    UnknownEvent(String),
    /// An action is not available for the event; with the reason.
    NotForEvent(&'static str),
    /// A rule answers with the status of sessions, but matches messages that do not request it.
    NoQuestion,
    /// The FIX version of this session has no request for the status of sessions.
    CannotAsk(String),
    /// A rule reads the target of a message, but rules run before the target is known.
    NoTarget,
    /// An empty list.
    EmptyList,
    /// The condition is never true.
    Never {
        /// The contradiction.
        why: String,
    },
    /// A rule is never reached: earlier rules decide every message that it matches.
    Unreachable {
        /// The name of the earlier rule.
        by: String,
        /// The line where the earlier rule begins.
        line: usize,
    },
    /// A rule that does nothing.
    NoAction,
    /// An action is never reached.
    AfterStop,
    /// Fields are changed, but nothing is sent afterwards.
    Lost,
    /// A duplicate name.
    Duplicate {
        /// The name.
        name: String,
        /// The line where the name was used first.
        line: usize,
    },
    /// The rule may not write this field in this way.
    NotWritable {
        /// The field.
        field: String,
        /// Why.
        why: &'static str,
    },
    /// A field that cannot be remembered.
    NotKept {
        /// The field.
        field: String,
        /// Why.
        why: &'static str,
    },
    /// No rule remembers this field, so there is nothing to recall.
    NeverRemembered(String),
    /// The gateway does not track the orders of this session, so no values are remembered for them.
    NoOrders(String),
    /// An error in a table.
    Table {
        /// Line of the table's text, from 1.
        line: usize,
        /// The error.
        what: String,
    },
    /// A rule converts between versions for which no conversion exists.
    NoConversion {
        /// The version of the message.
        from: &'static str,
        /// The version of the destination session.
        to: &'static str,
    },
    /// No rule uses this conversion table.
    UnusedConversion {
        /// The version of the messages.
        from: &'static str,
        /// The version to convert to.
        to: &'static str,
    },
    /// Copies that wait while this session is not logged on would be lost, because the session resets its sequence
    /// numbers.
    VoidWhenHeld(String),
    /// The peers of two sessions have the same CompID, so DeliverToCompID(128) is ambiguous.
    SameCompId {
        /// Name of one session.
        one: String,
        /// Name of the other session.
        other: String,
    },
}

/// Writes the error in one line, even if names in the file contain line breaks.
impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Escaped(f);
        write!(line, "{}:{}: {}", self.line, self.column, self.problem)?;
        match &self.hint {
            Some(hint) => write!(line, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Writes control characters as escape sequences.
struct Escaped<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            if c.is_control() {
                write!(self.0, "{}", c.escape_default())
            } else {
                self.0.write_char(c)
            }
        })
    }
}

impl core::error::Error for RuleError {}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toml(text) => write!(f, "invalid TOML: {text}"),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
            Self::Option(what) => f.write_str(what),
            Self::MissingKey(key) => write!(f, "'{key}' is missing"),
            Self::WrongType { wanted } => write!(f, "this must be {wanted}"),
            Self::Unexpected { found, wanted } => write!(f, "found {found}, expected {wanted}"),
            Self::Unclosed => f.write_str("missing closing quote"),
            Self::UnknownField(name) => write!(f, "unknown field '{name}'"),
            Self::SeveralTags(name) => {
                write!(
                    f,
                    "'{name}' has different tags in the dictionaries of the source sessions"
                )
            }
            Self::UnknownSession(name) => write!(f, "unknown session '{name}'"),
            Self::UnknownGroup(name) => write!(f, "unknown group of sessions '{name}'"),
            Self::NoSession(pattern) => write!(f, "no session matches '{pattern}'"),
            Self::UnknownTable(name) => write!(f, "unknown table '{name}'"),
            Self::UnknownColumn(name) => write!(f, "unknown column '{name}'"),
            Self::NoRepeatingGroup(name) => write!(f, "'{name}' is not a repeating group here"),
            Self::OnlyInGroup { field, group } => {
                write!(f, "'{field}' appears only in entries of {group}")
            }
            Self::NotInGroup { field, group } => {
                write!(f, "entries of {group} do not have '{field}'")
            }
            Self::BadValue { field, value } => {
                write!(f, "'{value}' is not a valid value of {field}")
            }
            Self::Unquoted(word) => write!(f, "'{word}' is not a value of this field"),
            Self::BadPattern(why) => write!(f, "invalid regular expression: {why}"),
            Self::Script(why) => write!(f, "invalid script: {why}"),
            Self::NoScripts => {
                f.write_str("this build does not support scripts: build with the cargo feature `scripts` (cargo build \
                    --release --features scripts)")
            }
            Self::UnknownScript(name) => write!(f, "unknown script '{name}'"),
            Self::UnknownFunction(name) => write!(f, "scripts have no function '{name}'"),
            Self::UnknownEvent(name) => write!(f, "unknown event '{name}'"),
            Self::NotForEvent(why) => write!(f, "not available for this event: {why}"),
            Self::NoQuestion => f.write_str(
                "the rule also matches messages that do not request the status of \
                             sessions",
            ),
            Self::CannotAsk(name) => {
                write!(
                    f,
                    "the FIX version of '{name}' has no request for the status of sessions"
                )
            }
            Self::NoTarget => {
                f.write_str("'target' is not known before the rules choose a destination")
            }
            Self::EmptyList => f.write_str("an empty list never matches"),
            Self::Never { why } => write!(f, "this condition is never true: {why}"),
            Self::Unreachable { by, line } => {
                write!(
                    f,
                    "unreachable rule: '{by}' (line {line}) already matches every message"
                )
            }
            Self::NoAction => f.write_str("rule without an action"),
            Self::AfterStop => f.write_str("unreachable action after 'stop'"),
            Self::Lost => f.write_str("this change has no effect: nothing is sent after it"),
            Self::Duplicate { name, line } => {
                write!(f, "the name '{name}' is already used in line {line}")
            }
            Self::NotWritable { field, why } => write!(f, "'{field}' cannot be written: {why}"),
            Self::NotKept { field, why } => {
                write!(f, "'{field}' cannot be remembered: {why}")
            }
            Self::NeverRemembered(field) => write!(f, "no rule remembers '{field}'"),
            Self::NoOrders(name) => write!(
                f,
                "nothing can be recalled for messages of '{name}': with ids = \"pass\" the gateway does not track the \
                 orders of '{name}'"
            ),
            Self::Table { line, what } => write!(f, "line {line} of the table: {what}"),
            Self::NoConversion { from, to } => write!(f, "no conversion from {from} to {to}"),
            Self::UnusedConversion { from, to } => {
                write!(
                    f,
                    "this table is not used: no rule converts from {from} to {to}"
                )
            }
            Self::VoidWhenHeld(name) => write!(
                f,
                "copies that wait for '{name}' would be lost when the sequence numbers of '{name}' are reset"
            ),
            Self::SameCompId { one, other } => {
                write!(f, "the peers of '{one}' and '{other}' have the same CompID")
            }
        }
    }
}

/// An error at a byte offset of a text.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub problem: RuleProblem,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(at: usize, problem: RuleProblem) -> Self {
        Self {
            at,
            problem,
            hint: None,
        }
    }

    pub fn hinting(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

/// The hint `did you mean 'OrderQty'?` with the nearest known name, if one is near.
#[must_use]
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    fixwire_text::nearest(word, names).map(|name| alloc::format!("did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["OrderQty", "OrdType", "Price"];
        let near = |word| nearest(word, names);
        assert_eq!(near("OrdQty").as_deref(), Some("did you mean 'OrderQty'?"));
        assert_eq!(near("price").as_deref(), Some("did you mean 'Price'?"));
        assert_eq!(near("Currency"), None);
        assert_eq!(near("Pirce").as_deref(), Some("did you mean 'Price'?"));
    }
}
