//! Parses an action into its syntax tree.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::parse::{Parser, SCRIPT};
use super::problem::{Fault, RuleProblem, nearest};
use super::syntax::{ACTIONS, Action, Format, NameToken, RejectKind, SendTarget};
use super::token::Token;

/// Maximum length for `format F pad` and `cut`, in bytes.
pub const MAX_PAD: u32 = 256;
/// Maximum rate of `throttle`, in messages a second.
pub const MAX_RATE: u32 = 1_000_000;

const FIELD_TO: &str = "'to' and a field";
const SESSION: &str = "the name of a session";
const TABLE: &str = "table.column";
const FORMATS: &str = "upper, lower, trim, pad left, pad right, cut or sha256";

/// Reads an action.
///
/// # Errors
///
/// The first syntax error.
pub fn action(text: &str) -> Result<Action, Fault> {
    let mut parser = Parser::new(text)?;
    let action = parser.action()?;
    parser.end("the end")?;
    Ok(action)
}

impl Parser {
    fn action(&mut self) -> Result<Action, Fault> {
        let spot = self.peek().clone();
        let Token::Word(word) = &spot.token else {
            return self.fail("an action");
        };
        if !ACTIONS.contains(&word.as_str()) {
            let hint = nearest(word, ACTIONS);
            return self.fail("an action").map_err(|fault| fault.hinting(hint));
        }
        self.take();
        let action = match word.as_str() {
            "set" => Action::Set(self.field()?, self.text()?),
            "try" => return self.tried(),
            "copy" if self.takes_word("to") => Action::CopyTo(self.name(SESSION)?),
            "copy" => self.copy(false)?,
            "move" => self.moved(false)?,
            "map" => self.map(false)?,
            "remove" => Action::Remove(self.field()?),
            "format" => {
                let field = self.field()?;
                match self.takes_word("sha256") {
                    true => Action::Pseudonym(field, self.key()?),
                    false => Action::Format(field, self.format()?),
                }
            }
            "each" => {
                let count = self.field()?;
                self.sign(":", "':' and what is done in each entry")?;
                let at = self.peek().at;
                let inner = self.deeper(Self::action)?;
                if !inner.changes() {
                    let found = "another action".into();
                    let wanted = "an action that changes fields";
                    return Err(Fault::new(at, RuleProblem::Unexpected { found, wanted }));
                }
                Action::Each(count, Box::new(inner))
            }
            "drop" => {
                self.word("entries", "'entries of'")?;
                self.word("of", "'of' and a group")?;
                let count = self.field()?;
                self.word("where", "'where' and a condition")?;
                Action::Drop(count, self.or()?)
            }
            "send" if self.takes_word("by") => Action::Send(self.target()?),
            "send" => Action::Send(SendTarget::Session(self.name(SESSION)?)),
            "reject" => self.reject()?,
            "answer" => {
                self.word("status", "'status'")?;
                Action::AnswerStatus
            }
            "connect" => Action::Connect(self.name(SESSION)?),
            "disconnect" => Action::Disconnect(self.name(SESSION)?),
            "count" => Action::Count(self.name("the name of a counter")?),
            "notify" => Action::Notify(self.text()?),
            "throttle" => self.throttle()?,
            "script" => Action::Script(self.name(SCRIPT)?),
            "remember" => Action::Remember(self.fields()?, spot.at),
            "recall" => self.recall(false)?,
            "forget" => Action::Forget(spot.at),
            "convert" => Action::Convert,
            "return" => Action::Return,
            _ => Action::Stop,
        };
        Ok(action)
    }

    fn tried(&mut self) -> Result<Action, Fault> {
        if self.takes_word("copy") {
            self.copy(true)
        } else if self.takes_word("move") {
            self.moved(true)
        } else if self.takes_word("map") {
            self.map(true)
        } else if self.takes_word("recall") {
            self.recall(true)
        } else {
            self.fail("copy, move, map or recall")
        }
    }

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

    fn recall(&mut self, tried: bool) -> Result<Action, Fault> {
        Ok(Action::Recall {
            fields: self.fields()?,
            otherwise: self.otherwise()?,
            tried,
        })
    }

    fn copy(&mut self, tried: bool) -> Result<Action, Fault> {
        let from = self.field()?;
        self.word("to", FIELD_TO)?;
        let to = self.field()?;
        Ok(Action::Copy { from, to, tried })
    }

    fn moved(&mut self, tried: bool) -> Result<Action, Fault> {
        let from = self.field()?;
        self.word("to", FIELD_TO)?;
        let to = self.field()?;
        Ok(Action::Move { from, to, tried })
    }

    fn map(&mut self, tried: bool) -> Result<Action, Fault> {
        let from = self.field()?;
        self.word("by", "'by' and table.column")?;
        let table = self.name(TABLE)?;
        self.word("to", FIELD_TO)?;
        let to = self.field()?;
        let otherwise = self.otherwise()?;
        Ok(Action::Map {
            from,
            table,
            to,
            otherwise,
            tried,
        })
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

    fn target(&mut self) -> Result<SendTarget, Fault> {
        let at = self.peek().at;
        if self.takes_word("DeliverToCompID") {
            return Ok(SendTarget::DeliverToCompId(at));
        }
        self.word("table", "'DeliverToCompID' or 'table'")?;
        Ok(SendTarget::Table(self.field()?, self.name(TABLE)?))
    }

    fn reject(&mut self) -> Result<Action, Fault> {
        let kind = if self.takes_word("session") {
            RejectKind::Session
        } else if self.takes_word("business") {
            RejectKind::Business
        } else if self.takes_word("order") {
            RejectKind::Order
        } else {
            RejectKind::Fitting
        };
        Ok(Action::Reject(kind, self.text()?))
    }

    fn throttle(&mut self) -> Result<Action, Fault> {
        let rate = self.uint(1, MAX_RATE, "messages a second, 1 to 1000000")?;
        self.word("per", "'per second'")?;
        self.word("second", "'second'")?;
        self.word("else", "'else reject' or 'else drop'")?;
        let reject = self.takes_word("reject");
        if !reject {
            self.word("drop", "'reject' or 'drop'")?;
        }
        Ok(Action::Throttle { rate, reject })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::parse::MAX_DEPTH;
    use alloc::string::String;
    use proptest::prelude::*;

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
