//! Reads an action: parses its words, and compiles the step with all names resolved.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::change::Change;
use super::compile::Compiler;
use super::compile_action::{Step, Write};
use super::parse::{Parser, SCRIPT};
use super::problem::{Fault, RuleProblem, nearest};
use super::pseudonym::Pseudonym;
use super::syntax::{ACTIONS, Format, NameToken, RejectKind};
use super::token::Token;

/// Maximum length for `format F pad` and `cut`, in bytes.
pub const MAX_PAD: u32 = 256;
/// Maximum rate of `throttle`, in messages a second.
pub const MAX_RATE: u32 = 1_000_000;

const FIELD_TO: &str = "'to' and a field";
const SESSION: &str = "the name of a session";
const TABLE: &str = "table.column";
const FORMATS: &str = "upper, lower, trim, pad left, pad right, cut or sha256";

/// The kind of an action, as far as its words alone determine it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ActionKind {
    /// Changes fields.
    Change,
    Convert,
    Send,
    CopyTo,
    Return,
    Remember,
    Forget,
    Reject,
    AnswerStatus,
    Stop,
    Throttle,
    /// Connects or disconnects a session, counts, or raises an event.
    Operator,
}

impl ActionKind {
    /// Whether the action decides the message, so that with `match = "first"` no later rule handles it.
    pub fn decides(self) -> bool {
        matches!(
            self,
            Self::Send | Self::Return | Self::Reject | Self::AnswerStatus | Self::Stop
        )
    }

    /// Whether the action uses the present fields.
    pub fn uses_fields(self) -> bool {
        matches!(
            self,
            Self::Send | Self::Return | Self::CopyTo | Self::Remember
        )
    }
}

/// An action: its kind, and its step. No step if its names have errors, which are recorded.
pub(super) type ReadAction = (ActionKind, Option<Step>);

impl Compiler<'_, '_, '_> {
    /// Reads one action.
    ///
    /// # Errors
    ///
    /// The first syntax error.
    pub fn action(&mut self) -> Result<ReadAction, Fault> {
        let mut words = Parser::new(&self.here.text.value)?;
        let action = self.step(&mut words)?;
        words.end("the end of the text")?;
        Ok(action)
    }

    fn step(&mut self, words: &mut Parser) -> Result<ReadAction, Fault> {
        let spot = words.peek().clone();
        let Token::Word(word) = &spot.token else {
            return words.fail("an action");
        };
        if !ACTIONS.contains(&word.as_str()) {
            let hint = nearest(word, ACTIONS);
            return words.fail("an action").map_err(|fault| fault.hinting(hint));
        }
        words.take();
        Ok(match word.as_str() {
            "copy" if words.takes_word("to") => {
                let to = self.session(&words.name(SESSION)?);
                (ActionKind::CopyTo, to.map(Step::CopyTo))
            }
            "send" => (ActionKind::Send, self.send(words)?),
            "reject" => {
                let kind = reject_kind(words);
                let text = self.template(&words.text()?);
                let step = text.map(|text| Step::Reject(kind, text));
                (ActionKind::Reject, step)
            }
            "answer" => {
                words.word("status", "'status'")?;
                (ActionKind::AnswerStatus, Some(Step::AnswerStatus))
            }
            "connect" => {
                let session = self.session(&words.name(SESSION)?);
                (ActionKind::Operator, session.map(Step::Connect))
            }
            "disconnect" => {
                let session = self.session(&words.name(SESSION)?);
                (ActionKind::Operator, session.map(Step::Disconnect))
            }
            "count" => {
                let counter = self.counter(words.name("the name of a counter")?.text);
                (ActionKind::Operator, Some(Step::Count(counter)))
            }
            "notify" => {
                let text = self.template(&words.text()?);
                (ActionKind::Operator, text.map(Step::Notify))
            }
            "throttle" => (ActionKind::Throttle, Some(self.throttle(words)?)),
            "remember" => {
                let fields = words.fields()?;
                (ActionKind::Remember, self.remember(spot.at, &fields))
            }
            "forget" => {
                let id = self.cl_ord_id(spot.at);
                (ActionKind::Forget, id.map(Step::Forget))
            }
            "convert" => (ActionKind::Convert, Some(Step::Convert)),
            "return" => (ActionKind::Return, Some(Step::Return)),
            "stop" => (ActionKind::Stop, Some(Step::Stop)),
            word => {
                let change = self.change(words, word)?;
                (ActionKind::Change, change.map(Step::Change))
            }
        })
    }

    fn change(&mut self, words: &mut Parser, word: &str) -> Result<Option<Change>, Fault> {
        Ok(match word {
            "set" => {
                let (field, text) = (words.field()?, words.text()?);
                self.set(&field, &text)
            }
            "try" => {
                let mut verbs = ["copy", "move", "map", "recall"].into_iter();
                match verbs.find(|verb| words.takes_word(verb)) {
                    Some(verb) => self.change(words, verb)?.map(Change::tried),
                    None => return words.fail("copy, move, map or recall"),
                }
            }
            "copy" => {
                let [from, to] = words.two_fields()?;
                self.copied(&from, &to)
            }
            "move" => {
                let [from, to] = words.two_fields()?;
                self.moved(&from, &to)
            }
            "map" => {
                let from = words.field()?;
                words.word("by", "'by' and table.column")?;
                let table = words.name(TABLE)?;
                words.word("to", FIELD_TO)?;
                let to = words.field()?;
                let otherwise = words.otherwise()?;
                self.map([&from, &table, &to], otherwise.as_ref())
            }
            "remove" => self.removed(&words.field()?),
            "format" => {
                let name = words.field()?;
                match words.takes_word("sha256") {
                    true => {
                        let key = words.key()?;
                        let key = key.as_ref().map(|key| key.text.as_bytes());
                        let field = self.hashed(&name);
                        field.map(|field| Change::Pseudonym(field, Pseudonym::new(key)))
                    }
                    false => {
                        let format = words.format()?;
                        let field = self.written(&name, Write::Set);
                        field.map(|field| Change::Format(field, format))
                    }
                }
            }
            "each" => {
                let count = words.field()?;
                words.sign(":", "':' and what is done in each entry")?;
                self.each(words, &count)?
            }
            "drop" => {
                words.word("entries", "'entries of'")?;
                words.word("of", "'of' and a group")?;
                let count = words.field()?;
                words.word("where", "'where' and a condition")?;
                let test = self.entries(&count, &words.or()?);
                test.map(|(count, test)| Change::Drop(count, test))
            }
            "script" => {
                let script = self.script(&words.name(SCRIPT)?, true);
                script.map(|script| Change::Script(Box::new(script)))
            }
            _ => {
                let (fields, otherwise) = (words.fields()?, words.otherwise()?);
                self.recall(&fields, otherwise.as_ref())
            }
        })
    }

    fn each(&mut self, words: &mut Parser, count: &NameToken) -> Result<Option<Change>, Fault> {
        let found = self.names.group(&self.here.scope, &count.text);
        let group = self.noted(count.at, found);
        let (at, mark) = (words.peek().at, self.errors.len());
        let depth = self.here.scope.groups.len();
        let (count, defs) = group.unzip();
        self.here.scope.groups.extend(defs);
        let (kind, step) = words.deeper(|words| self.step(words))?;
        self.here.scope.groups.truncate(depth);
        if kind != ActionKind::Change {
            let found = "another action".into();
            let wanted = "an action that changes fields";
            return Err(Fault::new(at, RuleProblem::Unexpected { found, wanted }));
        }
        let Some(count) = count else {
            // When the group is unknown, only that is reported. Errors in the names of its fields are dropped.
            self.errors.cut(mark);
            return Ok(None);
        };
        Ok(match step {
            Some(Step::Change(change)) => Some(Change::Each(count, Box::new(change))),
            _ => None,
        })
    }

    fn send(&mut self, words: &mut Parser) -> Result<Option<Step>, Fault> {
        if !words.takes_word("by") {
            let to = self.session(&words.name(SESSION)?);
            return Ok(to.map(Step::Send));
        }
        let at = words.peek().at;
        if words.takes_word("DeliverToCompID") {
            return Ok(self.send_by_comp_id(at));
        }
        words.word("table", "'DeliverToCompID' or 'table'")?;
        let (field, table) = (words.field()?, words.name(TABLE)?);
        Ok(self.send_by_table(&field, &table))
    }

    fn throttle(&mut self, words: &mut Parser) -> Result<Step, Fault> {
        let rate = words.uint(1, MAX_RATE, "messages a second, 1 to 1000000")?;
        words.word("per", "'per second'")?;
        words.word("second", "'second'")?;
        words.word("else", "'else reject' or 'else drop'")?;
        let reject = words.takes_word("reject");
        if !reject {
            words.word("drop", "'reject' or 'drop'")?;
        }
        let bucket = self.throttles;
        self.throttles += 1;
        Ok(Step::Throttle {
            bucket,
            rate,
            reject,
        })
    }
}

fn reject_kind(words: &mut Parser) -> RejectKind {
    if words.takes_word("session") {
        RejectKind::Session
    } else if words.takes_word("business") {
        RejectKind::Business
    } else if words.takes_word("order") {
        RejectKind::Order
    } else {
        RejectKind::Fitting
    }
}

impl Parser {
    fn fields(&mut self) -> Result<Vec<NameToken>, Fault> {
        let mut fields = alloc::vec![self.field()?];
        while self.takes_sign(",") {
            fields.push(self.field()?);
        }
        Ok(fields)
    }

    /// The text after `else`, if present.
    fn otherwise(&mut self) -> Result<Option<NameToken>, Fault> {
        match self.takes_word("else") {
            true => self.text().map(Some),
            false => Ok(None),
        }
    }

    /// `F to G`
    fn two_fields(&mut self) -> Result<[NameToken; 2], Fault> {
        let from = self.field()?;
        self.word("to", FIELD_TO)?;
        Ok([from, self.field()?])
    }

    fn format(&mut self) -> Result<Format, Fault> {
        let wanted = "a number of bytes from 1 to 256";
        if self.takes_word("upper") {
            Ok(Format::Upper)
        } else if self.takes_word("lower") {
            Ok(Format::Lower)
        } else if self.takes_word("trim") {
            Ok(Format::Trim)
        } else if self.takes_word("cut") {
            Ok(Format::Cut(self.uint(1, MAX_PAD, wanted)?))
        } else if self.takes_word("pad") {
            let left = self.takes_word("left");
            if !left {
                self.word("right", "'left' or 'right'")?;
            }
            let width = self.uint(1, MAX_PAD, wanted)?;
            let fill = self.peek().at;
            let text = self.text()?;
            let &[byte @ 0x20..=0x7e] = text.text.as_bytes() else {
                let found = alloc::format!("\"{}\"", text.text);
                let wanted = "one ASCII character in quotes";
                return Err(Fault::new(fill, RuleProblem::Unexpected { found, wanted }));
            };
            Ok(match left {
                true => Format::PadLeft(width, byte),
                false => Format::PadRight(width, byte),
            })
        } else {
            self.fail(FORMATS)
        }
    }

    /// The arguments of `sha256`.
    fn key(&mut self) -> Result<Option<NameToken>, Fault> {
        if !self.takes_word("with") {
            return Ok(None);
        }
        let key = self.text()?;
        if key.text.is_empty() {
            let found = "\"\"".into();
            let wanted = "a key that is not empty";
            return Err(Fault::new(
                key.at,
                RuleProblem::Unexpected { found, wanted },
            ));
        }
        Ok(Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleContext;
    use crate::rules::compile_script::Scripts;
    use crate::rules::file::{Errors, File, SourceText};
    use crate::rules::names::Names;
    use crate::rules::parse::MAX_DEPTH;
    use alloc::string::String;
    use proptest::prelude::*;

    /// Reads an action of a file without sessions.
    fn action(text: &str) -> Result<ActionKind, Fault> {
        let context = RuleContext {
            sessions: &[],
            tables: &[],
        };
        let (names, mut errors) = (Names::new(&context), Errors::new(""));
        let scripts = Scripts::read(&File::default(), &mut errors);
        let mut compiler = Compiler::new(&names, &[], &scripts, &mut errors);
        let place = SourceText::default();
        compiler.begin(&place, &[]);
        let mut words = Parser::new(text)?;
        let (kind, _) = compiler.step(&mut words)?;
        words.end("the end of the text").map(|()| kind)
    }

    #[test]
    fn every_word_for_an_action_begins_one() {
        for word in ACTIONS {
            let fault = match action(word) {
                Ok(_) => continue,
                Err(fault) => fault,
            };
            assert_ne!(fault.at, 0, "{word}");
        }
        let fault = action("sned VENUE").unwrap_err();
        assert_eq!(fault.hint.as_deref(), Some("did you mean 'send'?"));
    }

    #[test]
    fn only_changes_stand_in_each_entry() {
        assert!(action("each NoAllocs: set AllocAccount \"X\"").is_ok());
        assert!(action("each NoLegs: each NoLegAllocs: remove LegAllocAccount").is_ok());
        assert_eq!(action("each NoAllocs: send VENUE").unwrap_err().at, 15);
        let deep = "each NoAllocs: ".repeat(MAX_DEPTH + 1) + "remove AllocAccount";
        assert!(matches!(
            action(&deep).unwrap_err().problem,
            RuleProblem::TooMany { .. }
        ));
    }

    proptest! {
        #[test]
        fn no_words_make_the_reader_panic(words in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(ACTIONS.to_vec()).prop_map(String::from),
                "to|by|table|else|per|second|entries|of|where|pad|left|A|5|\"x\"|:|has\\(A\\)|\\PC",
            ], 0..12)) {
            let words: Vec<String> = words;
            let _ = action(&words.join(" "));
        }
    }
}
