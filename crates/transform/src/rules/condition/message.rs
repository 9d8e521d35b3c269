//! [`MessageCondition`]: a condition outside of rules.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;

use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Message, Now, Tag};

use super::{Facts, Test, World};
use crate::rules::compile::Compiler;
use crate::rules::compile_script::Scripts;
use crate::rules::fields::View;
use crate::rules::file::{Errors, File, SourceText};
use crate::rules::names::Names;
use crate::rules::problem::{RuleError, RuleProblem};
use crate::rules::{NamedSession, RuleContext};

/// A condition on messages, in the language of `when`, outside of a file of rules. The condition may test the fields of
/// a message, its session and the time. Tables, scripts and `active` are not available.
#[derive(Clone, Debug)]
pub struct MessageCondition {
    test: Test,
    /// By session.
    dictionaries: Vec<Arc<Dictionary>>,
}

impl MessageCondition {
    /// Reads a condition for messages that come from some of the sessions.
    ///
    /// # Errors
    ///
    /// Every error with its place in the text.
    pub fn read(
        text: &str,
        sessions: &[NamedSession<'_>],
        from: &[bool],
    ) -> Result<Self, Vec<RuleError>> {
        let mut errors = Errors::new(text);
        let context = RuleContext {
            sessions,
            tables: &[],
        };
        let names = Names::new(&context);
        let scripts = Scripts::read(&File::default(), &mut errors);
        let mut compiler = Compiler::new(&names, &[], &scripts, &mut errors);
        let test = compiler.when(Some(&SourceText::whole(text)), from);
        let mut asks_sessions = false;
        if let Some(test) = &test {
            test.each(&mut |test| asks_sessions |= matches!(test, Test::Active(_)));
        }
        if asks_sessions {
            let found = String::from("active");
            let wanted = "a condition on fields, the source or the time";
            let at = text.find(&found).unwrap_or(0);
            errors.add(at, RuleProblem::Unexpected { found, wanted }, None);
        }
        match test {
            Some(test) if errors.is_empty() => Ok(Self {
                test,
                dictionaries: sessions.iter().map(|it| it.dictionary.clone()).collect(),
            }),
            _ => Err(errors.into_errors()),
        }
    }

    /// Whether the condition is true for a message at a time; `source` is the index of the message's session.
    #[must_use]
    pub fn holds(&self, message: &Message<'_>, source: usize, now: Now) -> bool {
        let Some(dictionary) = self.dictionaries.get(source) else {
            return false;
        };
        let failed = Cell::new(None);
        let facts = Facts {
            now,
            active: &[],
            remembered: &[],
        };
        let world = World {
            tables: &[],
            source,
            missed: &[],
            name: "",
            bytes: message.bytes(),
            failed: &failed,
            facts: &facts,
        };
        let view = View::of(message, dictionary);
        self.test.holds(&view, None, &world)
    }

    /// The tags of the fields that the condition reads, each once, in order.
    #[must_use]
    pub fn tags(&self) -> Vec<Tag> {
        let mut tags = Vec::new();
        self.test
            .each(&mut |test| tags.extend(test.field().map(|field| field.tag)));
        tags.sort_unstable();
        tags.dedup();
        tags
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use fixwire_protocol::Decoder;

    use super::*;
    use crate::rules::tests::{message, now, sessions};

    fn read(text: &str) -> Result<MessageCondition, Vec<String>> {
        let sessions = sessions();
        let from: Vec<bool> = sessions.iter().map(|it| it.name == "GAMMA").collect();
        let read = MessageCondition::read(text, &sessions, &from);
        read.map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    fn holds(text: &str, order: &str) -> bool {
        let bytes = message("GAMMA", order);
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&bytes);
        read(text).unwrap().holds(&message, 4, now())
    }

    #[test]
    fn it_reads_fields_groups_the_source_and_the_time() {
        let order = "35=D|11=1|1=A|453=1|448=X|452=3|55=V|38=100|";
        let yes = [
            "Account = \"A\" and OrderQty >= 100",
            "any(NoPartyIDs, PartyID = \"X\" and PartyRole = 3)",
            "source = GAMMA",
            "time >= \"10:00\" and time < \"10:00:01\"",
            "not has(ExDestination) and not time > \"10:00\"",
        ];
        for text in yes {
            assert!(holds(text, order), "{text}");
        }
        let no = [
            "Account = \"B\"",
            "any(NoPartyIDs, PartyID = \"Y\")",
            "time != \"10:00:00\"",
            "time < \"10:00\"",
        ];
        for text in no {
            assert!(!holds(text, order), "{text}");
        }
        let tags = read("any(NoPartyIDs, PartyID = \"X\") and Account = \"A\" or has(Account)");
        assert_eq!(tags.unwrap().tags(), [1, 448, 453]);
    }

    #[test]
    fn what_a_lone_condition_has_not_is_named() {
        let wrong = [
            (
                "active(VENUE)",
                "1:1: found active, expected a condition on fields, the source or the time",
            ),
            ("Symbol in venues.symbol", "1:11: unknown table 'venues'"),
            (
                "source = ALPHA",
                "1:10: this condition is never true: the message comes from another session",
            ),
            (
                "Acount = \"A\"",
                "1:1: unknown field 'Acount' (did you mean 'Account'?)",
            ),
            (
                "time > \"25:00\"",
                "1:8: found \"25:00\", expected a time of day in UTC, such as \"13:30\"",
            ),
        ];
        for (text, error) in wrong {
            assert_eq!(read(text).unwrap_err(), [error], "{text}");
        }
        assert!(read("script large").is_err());
        assert!(read("target = VENUE").is_err());
    }
}
