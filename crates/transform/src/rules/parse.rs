//! Parses a condition into its syntax tree.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::problem::{Fault, RuleProblem, nearest};
use super::syntax::{CONDITIONS, Condition, Form, NameToken, Op, PatternMatch, RuleValue};
use super::token::{Spot, Token, split};

/// Maximum nesting depth of conditions and actions.
pub const MAX_DEPTH: usize = 32;

/// What must follow `script`, for errors.
pub(super) const SCRIPT: &str = "the name of a script";

/// Reads a condition.
///
/// # Errors
///
/// The first syntax error.
pub fn condition(text: &str) -> Result<Condition, Fault> {
    let mut parser = Parser::new(text)?;
    let condition = parser.or()?;
    parser.end("'and', 'or' or the end of the text")?;
    Ok(condition)
}

/// Walks over the tokens of one text.
pub(super) struct Parser {
    spots: Vec<Spot>,
    next: usize,
    depth: usize,
}

impl Parser {
    pub fn new(text: &str) -> Result<Self, Fault> {
        Ok(Self {
            spots: split(text)?,
            next: 0,
            depth: 0,
        })
    }

    /// The next token. After the last token, this is always [`Token::End`].
    pub fn peek(&self) -> &Spot {
        &self.spots[self.next.min(self.spots.len() - 1)]
    }

    pub fn take(&mut self) -> Spot {
        let spot = self.peek().clone();
        self.next += 1;
        spot
    }

    pub fn fail<T>(&self, wanted: &'static str) -> Result<T, Fault> {
        let spot = self.peek();
        let found = spot.token.shown();
        Err(Fault::new(
            spot.at,
            RuleProblem::Unexpected { found, wanted },
        ))
    }

    pub fn sees_word(&self, word: &str) -> bool {
        matches!(&self.peek().token, Token::Word(text) if text == word)
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let seen = self.sees_word(word);
        self.next += usize::from(seen);
        seen
    }

    pub fn takes_sign(&mut self, sign: &'static str) -> bool {
        let seen = self.peek().token == Token::Sign(sign);
        self.next += usize::from(seen);
        seen
    }

    pub fn word(&mut self, word: &str, wanted: &'static str) -> Result<(), Fault> {
        if self.takes_word(word) {
            return Ok(());
        }
        self.fail(wanted)
    }

    pub fn sign(&mut self, sign: &'static str, wanted: &'static str) -> Result<(), Fault> {
        if self.takes_sign(sign) {
            return Ok(());
        }
        self.fail(wanted)
    }

    pub fn end(&self, wanted: &'static str) -> Result<(), Fault> {
        match self.peek().token {
            Token::End => Ok(()),
            _ => self.fail(wanted),
        }
    }

    /// Runs `inner` at one more level of nesting, if the limit allows it.
    pub fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            let limit = MAX_DEPTH;
            let what = "nested levels";
            return Err(Fault::new(
                self.peek().at,
                RuleProblem::TooMany { what, limit },
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// A field by name or number.
    pub fn field(&mut self) -> Result<NameToken, Fault> {
        match self.peek().token {
            Token::Word(_) | Token::Number(_) => Ok(self.taken()),
            _ => self.fail("the name or number of a field"),
        }
    }

    /// A name as a word or in quotes.
    pub fn name(&mut self, wanted: &'static str) -> Result<NameToken, Fault> {
        match self.peek().token {
            Token::Word(_) | Token::Quoted(_) => Ok(self.taken()),
            _ => self.fail(wanted),
        }
    }

    /// A text in quotes.
    pub fn text(&mut self) -> Result<NameToken, Fault> {
        match self.peek().token {
            Token::Quoted(_) => Ok(self.taken()),
            _ => self.fail("a text in quotes"),
        }
    }

    /// A number within limits; an error says that `wanted` was expected.
    pub fn uint(&mut self, least: u32, most: u32, wanted: &'static str) -> Result<u32, Fault> {
        if let Token::Number(text) = &self.peek().token
            && let Ok(number) = text.parse::<u32>()
            && (least..=most).contains(&number)
        {
            self.next += 1;
            return Ok(number);
        }
        self.fail(wanted)
    }

    fn taken(&mut self) -> NameToken {
        let spot = self.take();
        let text = match spot.token {
            Token::Word(text) | Token::Number(text) | Token::Quoted(text) => text,
            Token::Sign(_) | Token::End => String::new(),
        };
        NameToken { text, at: spot.at }
    }

    /// Conditions separated by `or`.
    pub fn or(&mut self) -> Result<Condition, Fault> {
        self.deeper(|parser| parser.chain("or", Self::and, Condition::Or))
    }

    fn and(&mut self) -> Result<Condition, Fault> {
        self.chain("and", Self::not, Condition::And)
    }

    fn chain(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Condition, Fault>,
        whole: fn(Vec<Condition>) -> Condition,
    ) -> Result<Condition, Fault> {
        let first = part(self)?;
        if !self.sees_word(word) {
            return Ok(first);
        }
        let mut parts = alloc::vec![first];
        while self.takes_word(word) {
            parts.push(part(self)?);
        }
        Ok(whole(parts))
    }

    fn not(&mut self) -> Result<Condition, Fault> {
        if self.takes_word("not") {
            let inner = self.deeper(Self::not)?;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.takes_sign("(") {
            let inner = self.or()?;
            self.sign(")", "')'")?;
            return Ok(inner);
        }
        let opens = self
            .spots
            .get(self.next + 1)
            .is_some_and(|spot| spot.token == Token::Sign("("));
        match &self.peek().token {
            Token::Word(word) if word == "source" => {
                let (named, names) = self.sessions()?;
                let from = Condition::Source(names);
                Ok(match named {
                    true => from,
                    false => Condition::Not(Box::new(from)),
                })
            }
            Token::Word(word) if word == "target" => {
                let at = self.peek().at;
                let (named, names) = self.sessions()?;
                Ok(Condition::Target { at, named, names })
            }
            Token::Word(word) if word == "message" => {
                self.next += 1;
                self.word("matches", "'matches'")?;
                Ok(Condition::Message(self.text()?))
            }
            Token::Word(word) if word == "time" => {
                let at = self.peek().at;
                self.next += 1;
                let op = self.op()?;
                let time = self.time()?;
                Ok(Condition::Time { at, op, time })
            }
            Token::Word(_) if opens => self.call(),
            Token::Word(word) if word == "script" => {
                self.next += 1;
                self.name(SCRIPT).map(Condition::Script)
            }
            _ => self.comparison(),
        }
    }

    /// `has(F)` and the other conditions of this form.
    fn call(&mut self) -> Result<Condition, Fault> {
        let word = self.taken();
        self.sign("(", "'('")?;
        let condition = match word.text.as_str() {
            "has" => Condition::Has(self.field()?),
            "today" => Condition::Today(self.field()?),
            "active" => Condition::Active(self.name("the name of a session")?),
            "bits" => {
                let field = self.field()?;
                self.sign(",", "',' and the bits, such as 0x1F")?;
                Condition::Bits(field, self.bits()?)
            }
            "any" | "all" => {
                let count = self.field()?;
                self.sign(",", "',' and a condition")?;
                let inner = Box::new(self.or()?);
                if word.text == "any" {
                    Condition::AnyEntry(count, inner)
                } else {
                    Condition::AllEntries(count, inner)
                }
            }
            "length" => {
                let field = self.field()?;
                self.sign(")", "')'")?;
                let op = self.op()?;
                let length = self.uint(0, u32::MAX, "a number of bytes")?;
                return Ok(Condition::Length(field, op, length));
            }
            _ => {
                let found = word.text.clone();
                let problem = RuleProblem::Unexpected {
                    found,
                    wanted: "a condition",
                };
                let hint = nearest(&word.text, CONDITIONS);
                return Err(Fault::new(word.at, problem).hinting(hint));
            }
        };
        self.sign(")", "')'")?;
        Ok(condition)
    }

    /// `"13:30"` or `"13:30:15"`, in nanoseconds after midnight.
    fn time(&mut self) -> Result<u64, Fault> {
        const WANTED: &str = "a time of day in UTC, such as \"13:30\"";
        let part = |text: &str, limit: u64| {
            let is_number = text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
            let number = text.parse().ok().filter(|_| is_number);
            number.filter(|number| *number < limit)
        };
        let seconds = |text: &str| {
            let mut parts = text.split(':');
            let (hour, minute) = (part(parts.next()?, 24)?, part(parts.next()?, 60)?);
            let second = parts.next().map_or(Some(0), |text| part(text, 60))?;
            parts
                .next()
                .is_none()
                .then_some((hour * 60 + minute) * 60 + second)
        };
        if let Token::Quoted(text) = &self.peek().token
            && let Some(seconds) = seconds(text)
        {
            self.next += 1;
            return Ok(seconds * 1_000_000_000);
        }
        self.fail(WANTED)
    }

    fn bits(&mut self) -> Result<u64, Fault> {
        if let Token::Number(text) = &self.peek().token
            && let Some(digits) = text.strip_prefix("0x")
            && let Ok(bits) = u64::from_str_radix(digits, 16)
            && bits != 0
        {
            self.next += 1;
            return Ok(bits);
        }
        self.fail("bits in hexadecimal, such as 0x1F")
    }

    /// `source = "A"`, `source != "A"`, `source in ("A", @clients)`. Returns the names, and whether the named
    /// sessions match (`true`) or all others (`false`).
    fn sessions(&mut self) -> Result<(bool, Vec<NameToken>), Fault> {
        self.next += 1;
        let wanted = "a session, a pattern or a @group";
        if self.takes_sign("=") {
            return Ok((true, alloc::vec![self.name(wanted)?]));
        }
        if self.takes_sign("!=") {
            return Ok((false, alloc::vec![self.name(wanted)?]));
        }
        self.word("in", "'=', '!=' or 'in'")?;
        let names = self.list(|parser| parser.name(wanted))?;
        Ok((true, names))
    }

    fn comparison(&mut self) -> Result<Condition, Fault> {
        let field = self.field()?;
        let how = [
            ("like", PatternMatch::Like),
            ("matches", PatternMatch::Matches),
            ("begins", PatternMatch::Begins),
            ("contains", PatternMatch::Contains),
        ];
        for (word, how) in how {
            if self.takes_word(word) {
                return Ok(Condition::Text(field, how, self.text()?));
            }
        }
        if self.takes_word("in") {
            if self.peek().token != Token::Sign("(") {
                let table = self.name("'(' and values, or table.column")?;
                return Ok(Condition::InTable(field, table));
            }
            return self
                .list(Self::value)
                .map(|values| Condition::In(field, values));
        }
        if let Token::Word(word) = &self.peek().token {
            let hint = nearest(word, CONDITIONS);
            return self
                .fail("a comparison")
                .map_err(|fault| fault.hinting(hint));
        }
        let op = self.op()?;
        Ok(Condition::Compare(field, op, self.value()?))
    }

    fn op(&mut self) -> Result<Op, Fault> {
        let op = match self.peek().token {
            Token::Sign("=") => Op::Equal,
            Token::Sign("!=") => Op::NotEqual,
            Token::Sign("<") => Op::Less,
            Token::Sign("<=") => Op::AtMost,
            Token::Sign(">") => Op::Greater,
            Token::Sign(">=") => Op::AtLeast,
            _ => return self.fail("a comparison"),
        };
        self.next += 1;
        Ok(op)
    }

    fn value(&mut self) -> Result<RuleValue, Fault> {
        let form = match self.peek().token {
            Token::Quoted(_) => Form::Quoted,
            Token::Number(_) => Form::Number,
            Token::Word(_) => Form::Word,
            _ => return self.fail("a value"),
        };
        let name = self.taken();
        Ok(RuleValue { name, form })
    }

    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let at = self.peek().at;
        self.sign("(", "'(' and values")?;
        if self.takes_sign(")") {
            return Err(Fault::new(at, RuleProblem::EmptyList));
        }
        let mut items = alloc::vec![item(self)?];
        while self.takes_sign(",") {
            items.push(item(self)?);
        }
        self.sign(")", "',' or ')'")?;
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn and_binds_closer_than_or_and_not_closer_still() {
        let tree = condition("not has(A) and has(B) or has(C)").unwrap();
        let has = |name: &str, at| {
            let text = name.into();
            Condition::Has(NameToken { text, at })
        };
        let not = Condition::Not(Box::new(has("A", 8)));
        let and = Condition::And(alloc::vec![not, has("B", 19)]);
        assert_eq!(tree, Condition::Or(alloc::vec![and, has("C", 29)]));
    }

    #[test]
    fn what_is_too_deep_is_refused() {
        for (open, close) in [("(", ")"), ("not ", ""), ("any(NoAllocs, ", ")")] {
            let nest = |depth| {
                let text = open.repeat(depth) + "has(A)" + close.repeat(depth).as_str();
                condition(&text).map_err(|fault| fault.problem)
            };
            assert!(nest(MAX_DEPTH - 1).is_ok(), "{open}");
            assert!(
                matches!(nest(100_000), Err(RuleProblem::TooMany { .. })),
                "{open}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,80}") {
            let _ = condition(&text);
        }

        #[test]
        fn no_words_make_the_reader_panic(words in proptest::collection::vec(
            prop_oneof![
                "and|or|not|in|source|any|has|length|bits|like|A|1|0x1F",
                "[(),=<>!:]",
                "\"x\"",
            ], 0..20)) {
            let _ = condition(&words.join(" "));
        }
    }
}
