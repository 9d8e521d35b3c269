//! [`LogValidation`]: finds messages in logs that a session would have rejected.

use std::collections::{BTreeMap, HashMap};

use fixwire_protocol::dictionary::{Scratch, ValidationFault, ValidationRules, validate};
use fixwire_protocol::readable::{Escaped, ReadableValue};
use fixwire_protocol::session::reject::{Objection, RefTag};
use fixwire_protocol::{Decoder, Dictionary, Message};

use crate::entry::LogEntry;
use crate::summary::kind;

/// Maximum number of kinds of problems that are counted separately; further ones are counted together.
const MOST: usize = 10_000;
/// The reason under which problems above the limit are counted.
const BEYOND: &str = "(others)";
/// Maximum number of senders whose DefaultApplVerID(1137) is kept.
const MOST_SENDERS: usize = 100_000;
/// Maximum length of a MsgType(35) that is counted by name.
const LONGEST_TYPE: usize = 32;

/// The first error in a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageProblem {
    /// The reason, in the words of a Reject's Text(58).
    pub reason: String,
    /// SessionRejectReason(373). `None` for a wrong frame, and for a missing field that is required only under a
    /// condition.
    pub code: Option<u8>,
    /// The tag of the field, printable; `None` when the problem is not about a field.
    pub tag: Option<String>,
    /// The value, printable and with secrets masked; `None` when the problem is not about a value.
    pub value: Option<String>,
}

impl MessageProblem {
    fn of_frame(reason: String) -> Self {
        Self {
            reason,
            code: None,
            tag: None,
            value: None,
        }
    }

    fn new(message: &Message<'_>, fault: ValidationFault) -> Self {
        let objection = Objection::from_fault(message, fault);
        let tag = match objection.at {
            RefTag::None => None,
            RefTag::Tag(tag) => Some(tag.to_string()),
            RefTag::Text(text) => Some(Escaped(text).to_string()),
        };
        let field = fault.field.and_then(|field| message.fields().get(field));
        // For a missing field, `fault.field` is another field of the same group.
        let field = field.filter(|field| fault.tag.is_none_or(|tag| tag == field.tag));
        let value = field.map(|field| ReadableValue(field.tag, message.value(*field)).to_string());
        Self {
            reason: objection.sentence().into_owned(),
            code: (!fault.conditional).then(|| fault.reason.code()),
            tag,
            value,
        }
    }
}

/// How often a problem occurred.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProblemCount {
    /// Messages.
    pub count: u64,
    /// File and position of the first message with the problem.
    pub first: String,
}

/// Validates messages against their dictionary, as a session would.
pub struct LogValidation {
    /// Number of messages that were validated.
    pub messages: u64,
    /// Number of messages with a problem.
    pub invalid: u64,
    /// Counts by reason, tag and MsgType(35).
    pub counts: BTreeMap<[String; 3], ProblemCount>,
    rules: ValidationRules,
    scratch: Scratch,
    decoder: Decoder,
    /// DefaultApplVerID(1137) of the last Logon, by sender and target.
    versions: HashMap<(Vec<u8>, Vec<u8>), Vec<u8>>,
}

impl LogValidation {
    /// A validation with these rules. The decoder must know the data fields of the dictionaries.
    #[must_use]
    pub fn new(rules: ValidationRules, decoder: Decoder) -> Self {
        Self {
            messages: 0,
            invalid: 0,
            counts: BTreeMap::new(),
            rules,
            scratch: Scratch::default(),
            decoder,
            versions: HashMap::new(),
        }
    }

    /// Validates a message. `dictionary_of` returns the dictionary for a message, given the message and the
    /// DefaultApplVerID(1137) in the Logon of its sender.
    pub fn check<'d>(
        &mut self,
        entry: &LogEntry<'_>,
        dictionary_of: impl FnOnce(&Message<'_>, Option<&[u8]>) -> Option<&'d Dictionary>,
    ) -> Option<MessageProblem> {
        self.messages += 1;
        let problem = self.problem(entry, dictionary_of)?;
        self.invalid += 1;
        let msg_type = entry.get(35).unwrap_or_default();
        let msg_type = &msg_type[..msg_type.len().min(LONGEST_TYPE)];
        let key = [
            problem.reason.clone(),
            problem.tag.clone().unwrap_or_default(),
            Escaped(msg_type).to_string(),
        ];
        let key = match self.counts.len() < MOST || self.counts.contains_key(&key) {
            true => key,
            false => [BEYOND.to_owned(), String::new(), String::new()],
        };
        let count = self.counts.entry(key).or_insert_with(|| ProblemCount {
            count: 0,
            first: format!("{}:{}", entry.file, entry.place),
        });
        count.count += 1;
        Some(problem)
    }

    fn problem<'d>(
        &mut self,
        entry: &LogEntry<'_>,
        dictionary_of: impl FnOnce(&Message<'_>, Option<&[u8]>) -> Option<&'d Dictionary>,
    ) -> Option<MessageProblem> {
        if let Some(fault) = entry.fault {
            return Some(MessageProblem::of_frame(kind(fault).to_owned()));
        }
        let message = self.decoder.decode_whole(entry.bytes);
        let text = |tag| message.get(tag).unwrap_or_default().to_vec();
        let ends = || (text(49), text(56));
        let is_fixt = message.get(8) == Some(b"FIXT.1.1");
        if let Some(version) = message.get(1137).filter(|_| is_fixt)
            && message.msg_type() == b"A"
            && self.versions.len() < MOST_SENDERS
        {
            self.versions.insert(ends(), version.to_vec());
        }
        let version = match is_fixt {
            true => self.versions.get(&ends()),
            false => None,
        };
        let Some(dictionary) = dictionary_of(&message, version.map(Vec::as_slice)) else {
            let version = Escaped(message.get(8).unwrap_or_default()).to_string();
            let reason = format!("no dictionary for BeginString(8) {version}");
            return Some(MessageProblem::of_frame(reason));
        };
        let found = validate::check(dictionary, &message, &self.rules, &mut self.scratch);
        found
            .err()
            .map(|fault| MessageProblem::new(&message, fault))
    }
}
