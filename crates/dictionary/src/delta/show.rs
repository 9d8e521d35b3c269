//! Writes statements as lines that can be read again.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Write as _};

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::condition::{ConditionalRequirement, Test};
use fixwire_protocol::dictionary::{Dictionary, OtherValues};

use super::{Change, How, Place, Root, Spot};

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base(version) => write!(f, "base {}", Word(version)),
            Self::Version(version) => write!(f, "version {}", Word(version)),
            Self::Field {
                how,
                tag,
                name,
                kind,
                length,
                others,
            } => {
                let (how, kind) = (how.word(), kind.quickfix_name());
                write!(f, "{how} field {tag} {} {kind}", Word(name))?;
                show_rest(f, length.as_deref(), *others)
            }
            Self::RemoveField(field) => write!(f, "remove field {}", Word(field)),
            Self::Value {
                how,
                value,
                name,
                field,
            } => {
                let to = if *how == How::Change { "of" } else { "to" };
                let how = how.word();
                let (value, name, field) = (Word(value), Word(name), Word(field));
                write!(f, "{how} value {value} {name} {to} {field}")
            }
            Self::RemoveValue { value, field } => {
                write!(f, "remove value {} from {}", Word(value), Word(field))
            }
            Self::Message {
                how,
                msg_type,
                name,
            } => {
                let how = how.word();
                write!(f, "{how} message {} {}", Word(msg_type), Word(name))
            }
            Self::RemoveMessage(message) => write!(f, "remove message {}", Word(message)),
            Self::Member {
                member,
                place,
                required,
                spot,
                begin,
            } => {
                let what = if begin.is_some() { "group" } else { "member" };
                write!(f, "add {what} {} to {place}", Word(member))?;
                f.write_str(if *required { " required" } else { "" })?;
                write!(f, "{spot}")?;
                match begin {
                    Some((first, true)) => write!(f, " begin {} required", Word(first)),
                    Some((first, false)) => write!(f, " begin {}", Word(first)),
                    None => Ok(()),
                }
            }
            Self::Component {
                name,
                place,
                required,
                spot,
            } => {
                write!(f, "add component {} to {place}", Word(name))?;
                f.write_str(if *required { " required" } else { "" })?;
                write!(f, "{spot}")
            }
            Self::Requirement {
                member,
                place,
                required,
            } => {
                let word = if *required { "required" } else { "optional" };
                write!(f, "change member {} of {place} {word}", Word(member))
            }
            Self::RemoveMember { member, place } => {
                write!(f, "remove member {} from {place}", Word(member))
            }
            Self::Condition {
                how,
                places,
                required,
                terms,
            } => {
                if *how == How::Remove {
                    f.write_str("remove ")?;
                }
                for (at, place) in places.iter().enumerate() {
                    write!(f, "{}{place}", if at == 0 { "in " } else { ", " })?;
                }
                f.write_str(if places.is_empty() { "" } else { ": " })?;
                write!(f, "{} required when ", Word(required))?;
                show_terms(f, terms)
            }
        }
    }
}

/// The options that follow the type of a field.
fn show_rest(
    f: &mut fmt::Formatter<'_>,
    length: Option<&str>,
    others: Option<OtherValues>,
) -> fmt::Result {
    if let Some(length) = length {
        write!(f, " length {}", Word(length))?;
    }
    match others {
        Some(others) => write!(f, " others {others}"),
        None => Ok(()),
    }
}

fn show_terms(f: &mut fmt::Formatter<'_>, terms: &[(String, Test)]) -> fmt::Result {
    for (at, (field, test)) in terms.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { " and " })?;
        write!(f, "{}", Word(field))?;
        let values = match test {
            Test::Present => {
                f.write_str(" present")?;
                continue;
            }
            Test::Absent => {
                f.write_str(" absent")?;
                continue;
            }
            Test::In(values) => {
                f.write_str(" in ")?;
                values
            }
            Test::NotIn(values) => {
                f.write_str(" not in ")?;
                values
            }
        };
        for (at, value) in values.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            write!(f, "{}", Word(value))?;
        }
    }
    Ok(())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in self.groups.iter().rev() {
            write!(f, "{} of ", Word(group))?;
        }
        match &self.root {
            Root::Header => f.write_str("header"),
            Root::Trailer => f.write_str("trailer"),
            Root::Message(name) => write!(f, "{}", Word(name)),
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str(" first"),
            Self::After(field) => write!(f, " after {}", Word(field)),
            Self::Last => Ok(()),
        }
    }
}

/// A word as it must be written. The word is in quotes if it would otherwise be misread.
struct Word<'a>(&'a str);

const KEYWORDS: [&str; 25] = [
    "add",
    "after",
    "and",
    "absent",
    "base",
    "begin",
    "change",
    "component",
    "field",
    "first",
    "from",
    "group",
    "header",
    "in",
    "length",
    "member",
    "message",
    "not",
    "of",
    "optional",
    "others",
    "present",
    "remove",
    "required",
    "trailer",
];

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./+*-@$%&".contains(letter);
        let others = ["to", "value", "version", "when"];
        let keyword = KEYWORDS.contains(&self.0) || others.contains(&self.0);
        if !self.0.is_empty() && self.0.chars().all(plain) && !keyword {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}

/// A name as it is written in a statement, for sentences.
pub(super) fn word(name: &str) -> String {
    Word(name).to_string()
}

/// The statement for a condition, in the message with this name.
pub fn statement(
    condition: &ConditionalRequirement,
    dictionary: &Dictionary,
    message: &str,
) -> String {
    let name = |tag: Tag| match dictionary.field(tag) {
        Some(field) => field.name.clone(),
        None => format!("{tag}"),
    };
    let terms = condition.terms.iter();
    let change = Change::Condition {
        how: How::Add,
        places: [Place {
            root: Root::Message(message.into()),
            groups: condition.path.iter().map(|&tag| name(tag)).collect(),
        }]
        .into(),
        required: name(condition.required),
        terms: terms
            .map(|term| (name(term.tag), term.test.clone()))
            .collect(),
    };
    format!("{change}")
}
