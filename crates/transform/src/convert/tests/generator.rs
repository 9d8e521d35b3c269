//! Makes random messages that are valid by a dictionary.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use fixwire_harness::Random;
use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{DataType, Dictionary, FieldDef, Member};

use crate::draft::OF_THE_SESSION;

/// Whether a message may have a field, with its value if that is already known; the last argument has the fields
/// before it in the message or entry.
pub type Allowed = fn(Tag, Option<&[u8]>, &[u8]) -> bool;

pub struct Generator<'a> {
    pub dictionary: &'a Dictionary,
    /// State of the random generator, never 0.
    pub random: Random,
    /// Percentage of optional fields that a message has.
    pub density: u64,
    pub allowed: Allowed,
    /// Optional fields that a message always has where allowed.
    pub always: Vec<Tag>,
}

impl Generator<'_> {
    /// The fields of a message in the order of the dictionary, header and trailer included, without the fields
    /// that each session fills in.
    pub fn message(&mut self, msg_type: &str) -> Vec<u8> {
        let dictionary = self.dictionary;
        let message = dictionary.message(msg_type.as_bytes()).unwrap();
        let mut out = Vec::new();
        for part in [dictionary.header(), message, dictionary.trailer()] {
            self.members(part.members(), 0, &mut out);
        }
        out
    }

    fn members(&mut self, members: &[Member], delimiter: Tag, out: &mut Vec<u8>) {
        let start = out.len();
        for member in members {
            let tag = member.tag;
            let field = self.dictionary.field(tag).unwrap();
            let wanted = member.required
                || tag == delimiter
                || self.always.contains(&tag)
                || self.below(100) < self.density;
            if OF_THE_SESSION.contains(&tag) || field.kind.is_data() || !wanted {
                continue;
            }
            if !member.required && !(self.allowed)(tag, None, &out[start..]) {
                continue;
            }
            if let Some(group) = &member.group {
                let entries = 1 + self.below(3);
                put(out, tag, entries.to_string().as_bytes());
                for _ in 0..entries {
                    self.members(group.members(), group.delimiter(), out);
                }
            } else if let Some(data) = field.partner {
                let length = 1 + self.below(9) as usize;
                let bytes: Vec<u8> = (0..length).map(|_| self.below(256) as u8).collect();
                put(out, tag, length.to_string().as_bytes());
                put(out, data, &bytes);
            } else {
                let value = self.allowed_value(field, &out[start..]);
                put(out, tag, &value);
            }
        }
    }

    fn allowed_value(&mut self, field: &FieldDef, before: &[u8]) -> Vec<u8> {
        loop {
            let value = self.value(field);
            if (self.allowed)(field.tag, Some(&value), before) {
                return value;
            }
        }
    }

    fn value(&mut self, field: &FieldDef) -> Vec<u8> {
        if field.values.is_empty() {
            return self.of_kind(field.kind);
        }
        let count = if field.kind.is_multiple() {
            1 + self.below(3) as usize
        } else {
            1
        };
        let mut words = Vec::new();
        for _ in 0..count {
            let word = &field.values[self.below(field.values.len() as u64) as usize].value;
            if !words.contains(&word.as_str()) {
                words.push(word);
            }
        }
        words.join(" ").into_bytes()
    }

    fn of_kind(&mut self, kind: DataType) -> Vec<u8> {
        let (month, day) = (1 + self.below(12), 1 + self.below(28));
        let date = format!("2026{month:02}{day:02}");
        let time = format!(
            "{:02}:{:02}:{:02}",
            self.below(24),
            self.below(60),
            self.below(60)
        );
        let text = match kind {
            DataType::Int => format!("{}", self.below(2000) as i64 - 1000),
            DataType::Length | DataType::SeqNum | DataType::NumInGroup | DataType::TagNum => {
                format!("{}", self.below(1000))
            }
            DataType::DayOfMonth => format!("{}", 1 + self.below(31)),
            DataType::Char | DataType::MultipleCharValue => {
                char::from(b'A' + self.below(26) as u8).to_string()
            }
            DataType::Boolean => ["Y", "N"][self.below(2) as usize].to_string(),
            DataType::MonthYear => match self.below(8) {
                0 => format!("2026{month:02}w2"),
                1 => date,
                _ => format!("2026{month:02}"),
            },
            DataType::UtcTimestamp => format!("{date}-{time}"),
            DataType::UtcTimeOnly | DataType::LocalMktTime => time,
            DataType::UtcDateOnly | DataType::LocalMktDate => date,
            DataType::TzTimeOnly => format!("{time}Z"),
            DataType::TzTimestamp => format!("{date}-{time}Z"),
            kind if kind.is_decimal() => match self.below(4) {
                0 => "0".to_string(),
                1 => format!("-{}.{}", self.below(100), self.below(100)),
                _ => format!("{}", self.below(100_000)),
            },
            _ if self.below(4) == 0 => format!("{}", self.below(50)),
            _ => format!("t{}", self.below(50)),
        };
        text.into_bytes()
    }

    /// A random number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }
}

fn put(out: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    out.extend_from_slice(format!("{tag}=").as_bytes());
    out.extend_from_slice(value);
    out.push(1);
}
