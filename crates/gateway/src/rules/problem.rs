//! Mistakes in a file of rules.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// A mistake in the text of rules, and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RuleError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: Problem,
    /// What may have been meant: the nearest known name, or what would be right.
    pub hint: Option<String>,
}

/// What can be wrong with rules.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// It is no TOML; what the reader of TOML says.
    Toml(String),
    /// More of something than there may be.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// A key that rules do not have.
    UnknownKey(String),
    /// A key that must be there.
    MissingKey(&'static str),
    /// A value of another type.
    WrongType {
        /// What it has to be.
        wanted: &'static str,
    },
    /// Something else has to stand here.
    Unexpected {
        /// What stands here.
        found: String,
        /// What has to.
        wanted: &'static str,
    },
    /// A text without its second quote.
    Unclosed,
    /// No dictionary of a source has this field.
    UnknownField(String),
    /// Dictionaries of the sources give this name to fields of different tags.
    SeveralTags(String),
    /// There is no such session.
    UnknownSession(String),
    /// There is no such group of sessions.
    UnknownGroup(String),
    /// No session has a name like this.
    NoSession(String),
    /// There is no such table.
    UnknownTable(String),
    /// The table has no such column.
    UnknownColumn(String),
    /// The field counts no entries where it stands.
    NoRepeatingGroup(String),
    /// The field stands only in entries of this group.
    OnlyInGroup {
        /// The field.
        field: String,
        /// The name of the group's count.
        group: String,
    },
    /// The group's entries do not have this field.
    NotInGroup {
        /// The field.
        field: String,
        /// The name of the group's count.
        group: String,
    },
    /// A value that the field cannot have.
    BadValue {
        /// The field.
        field: String,
        /// The value.
        value: String,
    },
    /// A word where a text in quotes belongs.
    Unquoted(String),
    /// A regular expression that cannot be read, or becomes too large.
    BadPattern(String),
    /// A script that cannot be read.
    Script(String),
    /// There is no such script.
    UnknownScript(String),
    /// Scripts have no such function.
    UnknownFunction(String),
    /// There is no such event.
    UnknownEvent(String),
    /// What cannot stand for an event, and why.
    NotForEvent(&'static str),
    /// A rule that answers messages with the status of sessions that do not ask for it.
    NoQuestion,
    /// A session that cannot ask for the status of sessions.
    CannotAsk(String),
    /// A rule that asks for the target of a message.
    NoTarget,
    /// A list of no values.
    EmptyList,
    /// No message can fulfil the condition.
    Never {
        /// What contradicts what.
        why: String,
    },
    /// Earlier rules decide about every message that could come here.
    Unreachable {
        /// The name of the rule that decides.
        by: String,
        /// The line where that rule begins.
        line: usize,
    },
    /// A rule that does nothing.
    NoAction,
    /// An action that is never reached.
    AfterStop,
    /// A change of fields that are sent nowhere after it.
    Lost,
    /// A name that was given before.
    Duplicate {
        /// The name.
        name: String,
        /// The line where it was given first.
        line: usize,
    },
    /// A field that no rule may write.
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
    /// Nothing is known of the orders that this session has, so nothing that is remembered is found.
    NoOrders(String),
    /// A table's text is wrong.
    Table {
        /// Line of the table's text, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A rule converts, and there is no way from one version to the other.
    NoConversion {
        /// The version of the message.
        from: &'static str,
        /// That of the session that it goes to.
        to: &'static str,
    },
    /// No rule converts by the table that is given for these versions.
    UnusedConversion {
        /// The version of the messages.
        from: &'static str,
        /// What they would become.
        to: &'static str,
    },
    /// What is held for this session would be void when it logs on: its numbers go back to 1.
    VoidWhenHeld(String),
    /// Messages for a session that is away would come to this one again and again.
    AwayLoop(String),
    /// Two sessions whose peers have the same CompID, which DeliverToCompID cannot tell apart.
    SameCompId {
        /// One session.
        one: String,
        /// The other.
        other: String,
    },
}

/// One line, whatever the file has in its names.
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

/// Writes control characters as escapes.
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toml(text) => write!(f, "not TOML: {text}"),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
            Self::UnknownKey(key) => write!(f, "unknown key '{key}'"),
            Self::MissingKey(key) => write!(f, "'{key}' is missing"),
            Self::WrongType { wanted } => write!(f, "this must be {wanted}"),
            Self::Unexpected { found, wanted } => write!(f, "found {found}, expected {wanted}"),
            Self::Unclosed => f.write_str("a text without its second quote"),
            Self::UnknownField(name) => write!(f, "unknown field '{name}'"),
            Self::SeveralTags(name) => {
                write!(f, "'{name}' has another tag in another source's dictionary")
            }
            Self::UnknownSession(name) => write!(f, "unknown session '{name}'"),
            Self::UnknownGroup(name) => write!(f, "unknown group of sessions '{name}'"),
            Self::NoSession(pattern) => write!(f, "no session has a name like '{pattern}'"),
            Self::UnknownTable(name) => write!(f, "unknown table '{name}'"),
            Self::UnknownColumn(name) => write!(f, "unknown column '{name}'"),
            Self::NoRepeatingGroup(name) => write!(f, "'{name}' is no repeating group here"),
            Self::OnlyInGroup { field, group } => {
                write!(f, "'{field}' stands only in entries of {group}")
            }
            Self::NotInGroup { field, group } => {
                write!(f, "entries of {group} do not have '{field}'")
            }
            Self::BadValue { field, value } => write!(f, "{field} cannot be '{value}'"),
            Self::Unquoted(word) => write!(f, "'{word}' is no value of this field"),
            Self::BadPattern(why) => write!(f, "bad regular expression: {why}"),
            Self::Script(why) => write!(f, "bad script: {why}"),
            Self::UnknownScript(name) => write!(f, "unknown script '{name}'"),
            Self::UnknownFunction(name) => write!(f, "scripts have no function '{name}'"),
            Self::UnknownEvent(name) => write!(f, "unknown event '{name}'"),
            Self::NotForEvent(why) => write!(f, "not for this event: {why}"),
            Self::NoQuestion => {
                f.write_str("not all of these messages ask for the status of sessions")
            }
            Self::CannotAsk(name) => {
                write!(
                    f,
                    "'{name}' cannot ask for the status of sessions in its version"
                )
            }
            Self::NoTarget => {
                f.write_str("a message has no 'target' before its rules say where it goes")
            }
            Self::EmptyList => f.write_str("a list of no values never holds"),
            Self::Never { why } => write!(f, "this can never hold: {why}"),
            Self::Unreachable { by, line } => {
                write!(f, "no message comes here: '{by}' (line {line}) takes all")
            }
            Self::NoAction => f.write_str("a rule without action"),
            Self::AfterStop => f.write_str("no action behind 'stop' is reached"),
            Self::Lost => f.write_str("nothing is sent after this change, so it is lost"),
            Self::Duplicate { name, line } => {
                write!(f, "the name '{name}' was given in line {line}")
            }
            Self::NotWritable { field, why } => write!(f, "'{field}' cannot be written: {why}"),
            Self::NotKept { field, why } => {
                write!(f, "'{field}' cannot be remembered: {why}")
            }
            Self::NeverRemembered(field) => write!(f, "no rule remembers '{field}'"),
            Self::NoOrders(name) => write!(
                f,
                "nothing can be recalled for messages of '{name}': its ids pass, so nothing is known of its orders"
            ),
            Self::Table { line, what } => write!(f, "line {line} of the table: {what}"),
            Self::NoConversion { from, to } => write!(f, "no conversion from {from} to {to}"),
            Self::UnusedConversion { from, to } => {
                write!(f, "no rule converts from {from} to {to} by this table")
            }
            Self::VoidWhenHeld(name) => write!(
                f,
                "what waits for '{name}' would be lost when its numbers go back to 1"
            ),
            Self::AwayLoop(name) => write!(f, "what is for '{name}' would come back to it"),
            Self::SameCompId { one, other } => {
                write!(f, "the peers of '{one}' and '{other}' have the same CompID")
            }
        }
    }
}

/// A problem at a byte of the text that it is found in.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub at: usize,
    pub problem: Problem,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(at: usize, problem: Problem) -> Self {
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

/// The longest name that is compared with others.
const MAX_NAME: usize = 64;

/// `did you mean 'OrderQty'?` for the known name that is nearest, if one is near.
pub(crate) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let far = distance(word, name);
        if far <= word.len().max(3) / 3 && best.is_none_or(|(least, _)| far < least) {
            best = Some((far, name));
        }
    }
    best.map(|(_, name)| alloc::format!("did you mean '{name}'?"))
}

/// How many bytes have to be changed, added, left out or swapped with the next one to make one of the
/// other; letter case does not count.
fn distance(one: &str, other: &str) -> usize {
    if one.len() > MAX_NAME || other.len() > MAX_NAME {
        return usize::MAX;
    }
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for i in 0..one.len() {
        let mut next = alloc::vec![i + 1];
        for j in 0..other.len() {
            let changed = row[j] + usize::from(one[i] != other[j]);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = core::mem::replace(&mut row, next);
    }
    row[other.len()]
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
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(near("Pirce").as_deref(), Some("did you mean 'Price'?"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
