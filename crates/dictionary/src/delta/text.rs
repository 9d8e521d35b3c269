//! Reads statements from lines of text.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::condition::{MAX_TERMS, Test};
use fixwire_protocol::dictionary::{DataType, OtherValues};
use fixwire_text::{Comments, InnerQuote, Lexer, TokenKind};

use super::{Change, DeltaProblem, How, MAX_CHANGES, Place, Root, SourcePosition, Spot, Stated};

type Failure = (SourcePosition, DeltaProblem);

/// The statements in a text.
pub(super) fn read(text: &str) -> Result<Vec<Stated>, Failure> {
    let mut changes = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = split(number, line)?;
        if words.is_empty() {
            continue;
        }
        let end = SourcePosition {
            line: number,
            column: u32::try_from(line.chars().count() + 1).unwrap_or(u32::MAX),
        };
        let at = words[0].at;
        let mut words = Words { words: &words, end };
        let change = words.statement()?;
        if let Some(word) = words.words.first() {
            return Err(word.unexpected("nothing more, or # before a comment"));
        }
        if changes.len() == MAX_CHANGES {
            let what = "statements";
            let limit = MAX_CHANGES;
            return Err((at, DeltaProblem::TooMany { what, limit }));
        }
        changes.push(Stated { at, change });
    }
    Ok(changes)
}

/// A word, or one of the signs `,` `:` `=`.
struct Token {
    at: SourcePosition,
    text: String,
    /// Whether the word was in quotes. If so, it is a name, whatever the word is.
    quoted: bool,
}

impl Token {
    fn is(&self, word: &str) -> bool {
        !self.quoted && self.text == word
    }

    fn is_sign(&self) -> bool {
        !self.quoted && matches!(self.text.as_str(), "," | ":" | "=")
    }

    fn unexpected(&self, expected: &'static str) -> Failure {
        let found = self.text.clone();
        (self.at, DeltaProblem::Syntax { found, expected })
    }
}

/// Longest word, bytes.
const LONGEST_WORD: usize = 4096;
/// Maximum number of words in one line.
const MOST_WORDS: usize = 4096;

fn split(line: u32, text: &str) -> Result<Vec<Token>, Failure> {
    const LEXER: Lexer = Lexer {
        inner: InnerQuote::Escaped,
        signs: &[",", ":", "="],
        comments: Comments::BetweenWords,
        ..Lexer::WORDS
    };
    let column = |at: usize| u32::try_from(text[..at].chars().count() + 1).unwrap_or(u32::MAX);
    let wrong = |start, found, expected| {
        let column = column(start);
        (
            SourcePosition { line, column },
            DeltaProblem::Syntax { found, expected },
        )
    };
    let tokens = LEXER.tokens(text).map_err(|span| {
        let expected = "a quote at the end of the word, and \\\" for one inside";
        wrong(span.start, text.into(), expected)
    })?;
    let long = tokens.iter().find(|token| token.text.len() > LONGEST_WORD);
    let long = long.map(|token| (token, "words of at most 4096 bytes"));
    let many = tokens
        .get(MOST_WORDS)
        .map(|token| (token, "at most 4096 words in a line"));
    if let Some((token, expected)) = long.or(many) {
        return Err(wrong(
            token.span.start,
            token.text.clone().into_owned(),
            expected,
        ));
    }
    let tokens = tokens.into_iter().map(|token| Token {
        at: SourcePosition {
            line,
            column: column(token.span.start),
        },
        text: token.text.into_owned(),
        quoted: token.kind == TokenKind::Quoted,
    });
    Ok(tokens.collect())
}

/// The words of the line that have not been read yet.
struct Words<'a> {
    words: &'a [Token],
    end: SourcePosition,
}

impl<'a> Words<'a> {
    fn peek(&self, expected: &'static str) -> Result<&'a Token, Failure> {
        self.words.first().ok_or_else(|| {
            let found = String::new();
            (self.end, DeltaProblem::Syntax { found, expected })
        })
    }

    fn next(&mut self, expected: &'static str) -> Result<&'a Token, Failure> {
        let first = self.peek(expected)?;
        self.words = &self.words[1..];
        Ok(first)
    }

    /// Reads a name, which must not be a sign.
    fn name(&mut self, expected: &'static str) -> Result<String, Failure> {
        let token = self.next(expected)?;
        match token.is_sign() {
            true => Err(token.unexpected(expected)),
            false => Ok(token.text.clone()),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.words.first().is_some_and(|token| token.is(word));
        if there {
            self.words = &self.words[1..];
        }
        there
    }

    fn expect(&mut self, word: &str, expected: &'static str) -> Result<(), Failure> {
        let token = self.next(expected)?;
        match token.is(word) {
            true => Ok(()),
            false => Err(token.unexpected(expected)),
        }
    }

    fn statement(&mut self) -> Result<Change, Failure> {
        const STATEMENTS: &str =
            "base, version, add, change, remove, or FIELD required when ... as the first word";
        let first = self.words.first();
        let how = match first {
            Some(token) if token.is("add") => How::Add,
            Some(token) if token.is("change") => How::Change,
            Some(token) if token.is("remove") => How::Remove,
            Some(token) if token.is("base") => {
                self.words = &self.words[1..];
                return Ok(Change::Base(self.name("a version, such as FIX.4.4")?));
            }
            Some(token) if token.is("version") => {
                self.words = &self.words[1..];
                return Ok(Change::Version(self.name("the new version")?));
            }
            Some(token) if token.is_sign() => return Err(token.unexpected(STATEMENTS)),
            _ => return self.condition(How::Add),
        };
        self.words = &self.words[1..];
        const KINDS: &str =
            "field, value, message, member, group, component or, but for change, a condition";
        let token = self.peek(KINDS)?;
        let what = if token.quoted {
            ""
        } else {
            token.text.as_str()
        };
        let known = matches!(
            what,
            "field" | "value" | "message" | "member" | "group" | "component"
        );
        match how {
            _ if known => {}
            How::Change => return Err(token.unexpected(KINDS)),
            _ => return self.condition(how),
        }
        self.words = &self.words[1..];
        match (how, what) {
            (How::Remove, "field") => Ok(Change::RemoveField(self.name("a field")?)),
            (_, "field") => self.field(how),
            (How::Remove, "value") => {
                let value = self.name("the value")?;
                self.expect("from", "from FIELD")?;
                let field = self.name("a field")?;
                Ok(Change::RemoveValue { value, field })
            }
            (_, "value") => self.value(how),
            (How::Remove, "message") => Ok(Change::RemoveMessage(self.name("a message")?)),
            (_, "message") => {
                let msg_type = self.msg_type()?;
                let name = self.name("a name for the message")?;
                Ok(Change::Message {
                    how,
                    msg_type,
                    name,
                })
            }
            (How::Remove, "member" | "group") => {
                let member = self.name("a field")?;
                self.expect("from", "from MESSAGE, or from GROUP of MESSAGE")?;
                let place = self.place()?;
                Ok(Change::RemoveMember { member, place })
            }
            (How::Change, "member" | "group") => {
                let member = self.name("a field")?;
                self.expect("of", "of MESSAGE, or of GROUP of MESSAGE")?;
                let place = self.place()?;
                let required = self.take("required");
                if !required {
                    self.expect("optional", "required or optional")?;
                }
                Ok(Change::Requirement {
                    member,
                    place,
                    required,
                })
            }
            (How::Add, "component") => {
                let name = self.name("a component")?;
                self.expect("to", "to MESSAGE, or to GROUP of MESSAGE")?;
                let place = self.place()?;
                let required = self.take("required");
                let spot = self.spot()?;
                Ok(Change::Component {
                    name,
                    place,
                    required,
                    spot,
                })
            }
            (How::Add, _) => self.member(what == "group"),
            _ => Err(token.unexpected("member: a component is changed field by field")),
        }
    }

    fn value(&mut self, how: How) -> Result<Change, Failure> {
        let value = self.name("the value")?;
        let name = self.name("a name for the value")?;
        match how {
            How::Change => self.expect("of", "of FIELD")?,
            _ => self.expect("to", "to FIELD")?,
        }
        let field = self.name("a field")?;
        Ok(Change::Value {
            how,
            value,
            name,
            field,
        })
    }

    fn field(&mut self, how: How) -> Result<Change, Failure> {
        const NUMBER: &str = "the field's number, from 1 to 2147483647";
        let token = self.next(NUMBER)?;
        let tag = match token.text.parse() {
            Ok(tag @ 1..=0x7fff_ffff) if !token.text.starts_with(['+', '0']) => tag,
            _ => return Err(token.unexpected(NUMBER)),
        };
        let name = self.name("the field's name")?;
        const TYPE: &str = "a field type, such as STRING, CHAR, INT, PRICE or UTCTIMESTAMP";
        let token = self.next(TYPE)?;
        let kind = DataType::from_quickfix(&token.text).ok_or_else(|| token.unexpected(TYPE))?;
        let length = match self.take("length") {
            true => Some(self.name("the length field")?),
            false => None,
        };
        const OTHERS: &str = "none, any, 100+, 0..1000, quantity, tenor or country";
        let others = match self.take("others") {
            true => {
                let token = self.next(OTHERS)?;
                let others = OtherValues::from_word(&token.text);
                Some(others.ok_or_else(|| token.unexpected(OTHERS))?)
            }
            false => None,
        };
        Ok(Change::Field {
            how,
            tag,
            name,
            kind,
            length,
            others,
        })
    }

    fn msg_type(&mut self) -> Result<String, Failure> {
        const TYPE: &str = "a MsgType of up to 32 letters and digits";
        let token = self.next(TYPE)?;
        let text = token.text.as_str();
        let good = text.bytes().all(|byte| byte.is_ascii_graphic());
        match !token.is_sign() && good && (1..=32).contains(&text.len()) {
            true => Ok(text.into()),
            false => Err(token.unexpected(TYPE)),
        }
    }

    fn member(&mut self, group: bool) -> Result<Change, Failure> {
        let member = self.name("a field")?;
        self.expect("to", "to MESSAGE, or to GROUP of MESSAGE")?;
        let place = self.place()?;
        let required = self.take("required");
        let spot = self.spot()?;
        let begin = match group {
            true => {
                self.expect("begin", "begin FIELD, the one that each entry begins with")?;
                let first = self.name("a field")?;
                Some((first, self.take("required")))
            }
            false => None,
        };
        Ok(Change::Member {
            member,
            place,
            required,
            spot,
            begin,
        })
    }

    fn spot(&mut self) -> Result<Spot, Failure> {
        if self.take("first") {
            return Ok(Spot::First);
        }
        match self.take("after") {
            true => Ok(Spot::After(self.name("a field")?)),
            false => Ok(Spot::Last),
        }
    }

    /// Reads a place such as `NoNested of NoLegs of MESSAGE`.
    fn place(&mut self) -> Result<Place, Failure> {
        const PLACE: &str = "a message, header, trailer, or GROUP of MESSAGE";
        let mut groups = Vec::new();
        loop {
            let token = self.next(PLACE)?;
            if token.is_sign() {
                return Err(token.unexpected(PLACE));
            }
            if self.take("of") {
                groups.push(token.text.clone());
                continue;
            }
            let root = match token.text.as_str() {
                "header" if !token.quoted => Root::Header,
                "trailer" if !token.quoted => Root::Trailer,
                name => Root::Message(name.into()),
            };
            groups.reverse();
            return Ok(Place { root, groups });
        }
    }

    /// Reads a condition: `in PLACE, PLACE: FIELD required when TERM and TERM`.
    fn condition(&mut self, how: How) -> Result<Change, Failure> {
        let mut places = Vec::new();
        if self.take("in") {
            places.push(self.place()?);
            while self.take(",") {
                places.push(self.place()?);
            }
            self.expect(":", "a colon, or a comma and another message")?;
        }
        let required = self.name("the field that is required")?;
        const WHEN: &str = "FIELD required when FIELD in VALUE,VALUE, or add, change, remove";
        self.expect("required", WHEN)?;
        self.expect("when", WHEN)?;
        let mut terms = Vec::new();
        loop {
            if let (MAX_TERMS, Some(token)) = (terms.len(), self.words.first()) {
                return Err(token.unexpected("at most 32 terms"));
            }
            terms.push(self.term()?);
            if !self.take("and") {
                break;
            }
        }
        Ok(Change::Condition {
            how,
            places,
            required,
            terms,
        })
    }

    fn term(&mut self) -> Result<(String, Test), Failure> {
        let field = self.name("a field")?;
        const TEST: &str = "in VALUE,VALUE, not in VALUE,VALUE, = VALUE, present or absent";
        let token = self.next(TEST)?;
        if token.quoted {
            return Err(token.unexpected(TEST));
        }
        let test = match token.text.as_str() {
            "present" => Test::Present,
            "absent" => Test::Absent,
            "=" => Test::In([self.name("a value")?].into()),
            "in" => Test::In(self.values()?),
            "not" => {
                self.expect("in", TEST)?;
                Test::NotIn(self.values()?)
            }
            _ => return Err(token.unexpected(TEST)),
        };
        Ok((field, test))
    }

    fn values(&mut self) -> Result<Vec<String>, Failure> {
        let mut values = Vec::new();
        loop {
            values.push(self.name("a value")?);
            if !self.take(",") {
                return Ok(values);
            }
        }
    }
}
