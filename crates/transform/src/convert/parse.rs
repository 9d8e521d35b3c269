//! Parses a conversion table and checks it against both dictionaries.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, FIRST_USER_DEFINED, Version};
use fixwire_text::{Comments, Lexer};

use super::level::Levels;
use super::policy::{Policies, Policy};
use super::problem::{ConversionProblem, ConversionTableError};
use super::statement::{ConversionAction, MapRow, Operand, Path, Statement, Use};
use crate::value_test::{Op, ValueTest};
use crate::verb::{Piece, Verb};

/// Maximum length of a table, in bytes.
pub const MAX_TABLE: usize = 1 << 18;

type Outcome<T> = Result<T, ConversionProblem>;

/// The versions that a table names.
pub fn versions(text: &str) -> Result<(Version, Version), ConversionTableError> {
    let mut lines = lines(text);
    let mut next = |word: &str| {
        let (line, words) = match lines.next() {
            None => return Err(at(1, ConversionProblem::NoVersions)),
            Some((line, words)) => (line, words.map_err(|problem| at(line, problem))?),
        };
        match &*words {
            [first, name] if first == word => Version::from_name(name)
                .ok_or_else(|| at(line, ConversionProblem::UnknownVersion(name.clone()))),
            _ => Err(at(line, ConversionProblem::NoVersions)),
        }
    };
    Ok((next("from")?, next("to")?))
}

/// Reads the statements and policies of a table, and assigns each statement to the levels where it applies.
pub fn table(
    text: &str,
    from: &Dictionary,
    to: &Dictionary,
    levels: &mut Levels,
) -> Result<(Vec<Statement>, Policies), ConversionTableError> {
    if text.len() > MAX_TABLE {
        return Err(at(1, ConversionProblem::TooLong));
    }
    versions(text)?;
    let mut table = Table {
        from,
        to,
        levels,
        places: None,
        statements: Vec::new(),
        policies: Policies {
            usual: Policy::Drop,
            fields: Vec::new(),
        },
    };
    for (line, words) in lines(text) {
        let read = words.and_then(|words| table.line(&words));
        read.map_err(|problem| at(line, problem))?;
    }
    table.policies.fields.sort_unstable_by_key(|&(tag, _)| tag);
    Ok((table.statements, table.policies))
}

fn at(line: usize, problem: ConversionProblem) -> ConversionTableError {
    ConversionTableError { line, problem }
}

/// The lines that are not empty, each with its number and its words.
fn lines(text: &str) -> impl Iterator<Item = (usize, Outcome<Vec<String>>)> {
    let lines = (1..).zip(text.lines());
    lines
        .map(|(line, text)| (line, words(text)))
        .filter(|(_, words)| !words.as_ref().is_ok_and(Vec::is_empty))
}

/// The words of a line up to `#`. Between quotation marks, spaces and `#` are ordinary characters.
fn words(line: &str) -> Outcome<Vec<String>> {
    const LEXER: Lexer = Lexer {
        is_glued: true,
        comments: Comments::Anywhere,
        ..Lexer::WORDS
    };
    let words = LEXER
        .tokens(line)
        .map_err(|_| ConversionProblem::OpenQuote)?;
    Ok(words
        .into_iter()
        .map(|word| word.text.into_owned())
        .collect())
}

/// The levels in which the following statements apply.
enum Places {
    /// In every level that has the fields of the statement.
    All,
    These(Vec<usize>),
}

struct Table<'a> {
    from: &'a Dictionary,
    to: &'a Dictionary,
    levels: &'a mut Levels,
    places: Option<Places>,
    statements: Vec<Statement>,
    policies: Policies,
}

impl Table<'_> {
    fn line(&mut self, words: &[String]) -> Outcome<()> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match &*words {
            ["from", version] => same_version(version, self.from),
            ["to", version] => same_version(version, self.to),
            ["homeless", rest @ ..] => self.homeless(rest),
            ["for", places @ ..] => self.places(places),
            _ => self.statement(&words),
        }
    }

    fn homeless(&mut self, words: &[&str]) -> Outcome<()> {
        let (tag, words) = match words {
            ["drop" | "tag" | "reject", ..] | [] => (None, words),
            [tag, rest @ ..] => (Some(self.tag(tag)?), rest),
        };
        let policy = match words {
            ["drop"] => Policy::Drop,
            ["reject"] => Policy::Reject,
            ["tag", offset] => match offset.parse() {
                Ok(offset @ FIRST_USER_DEFINED..=100_000_000) => Policy::Tag(offset),
                _ => return Err(ConversionProblem::Offset((*offset).into())),
            },
            _ => {
                return Err(ConversionProblem::Form(
                    "homeless [TAG] drop, tag OFFSET or reject",
                ));
            }
        };
        match tag {
            None => self.policies.usual = policy,
            Some(tag) if self.policies.fields.iter().any(|&(known, _)| known == tag) => {
                return Err(ConversionProblem::TwicePolicy(tag));
            }
            Some(tag) => self.policies.fields.push((tag, policy)),
        }
        Ok(())
    }

    fn places(&mut self, words: &[&str]) -> Outcome<()> {
        let places = match words {
            [] => return Err(ConversionProblem::Form("for MESSAGE[/GROUP] ... or for *")),
            ["*"] => Places::All,
            places => Places::These(
                places
                    .iter()
                    .map(|place| self.place(place))
                    .collect::<Outcome<_>>()?,
            ),
        };
        self.places = Some(places);
        Ok(())
    }

    /// The level of a path: the type or name of a message, then the counts of groups.
    fn place(&self, path: &str) -> Outcome<usize> {
        let mut parts = path.split('/');
        let name = parts.next().unwrap_or_default();
        let message = self.from.message(name.as_bytes());
        let message = message.or_else(|| self.from.message_named(name));
        let message = message.ok_or_else(|| ConversionProblem::UnknownMessage(name.into()))?;
        let level = self.levels.root(message.msg_type().as_bytes());
        let mut level = level.ok_or_else(|| ConversionProblem::NoSuchTarget(name.into()))?;
        for part in parts {
            let count = self.tag(part)?;
            let entries = self.levels[level].entries(count);
            level = entries.ok_or(ConversionProblem::UnknownGroup(count))?;
        }
        Ok(level)
    }

    fn statement(&mut self, words: &[&str]) -> Outcome<()> {
        let end = words.iter().position(|&word| word == "if");
        let (words, mut conditions) = match end {
            Some(end) => (&words[..end], self.conditions(&words[end + 1..])?),
            None => (words, Vec::new()),
        };
        let action = self.action(words)?;
        // These statements add a field that is absent.
        let added = match (words, &action) {
            (["default", ..], ConversionAction::Verb(Verb::Set(tag, _)))
            | (
                _,
                ConversionAction::Field { to: tag, .. }
                | ConversionAction::Join { date: tag, .. }
                | ConversionAction::Sum { to: tag, .. }
                | ConversionAction::Wrap(tag),
            ) => Some(*tag),
            _ => None,
        };
        conditions.extend(added.map(|tag| (tag, ValueTest::Absent)));
        let statement = Statement { conditions, action };
        let uses = statement.uses();
        let (index, needs) = (self.statements.len() as u32, Use::needs(&uses));
        match &self.places {
            None => return Err(ConversionProblem::NoMessages),
            Some(Places::These(levels)) => {
                for &level in levels {
                    let fit = Use::fit(&uses, self.levels, level);
                    fit.map_err(ConversionProblem::NeverApplies)?;
                    self.levels.hold(level, index, needs);
                }
            }
            Some(Places::All) => {
                let mut anywhere = false;
                for level in 0..self.levels.len() {
                    let here = &self.levels[level];
                    let known = here.has_source && here.has_target;
                    if known && Use::fit(&uses, self.levels, level).is_ok() {
                        self.levels.hold(level, index, needs);
                        anywhere = true;
                    }
                }
                if !anywhere {
                    return Err(ConversionProblem::AppliesNowhere);
                }
            }
        }
        self.statements.push(statement);
        Ok(())
    }

    fn conditions(&self, words: &[&str]) -> Outcome<Vec<(Tag, ValueTest)>> {
        const FORM: ConversionProblem = ConversionProblem::Form(
            "... if TAG=VALUE|VALUE TAG~WORD TAG^START has TAG no TAG zero TAG",
        );
        let (mut conditions, mut rest) = (Vec::new(), words);
        while let [word, tail @ ..] = rest {
            rest = tail;
            let condition = if let "has" | "no" | "zero" = *word {
                let [tag, tail @ ..] = rest else {
                    return Err(FORM);
                };
                rest = tail;
                let test = match *word {
                    "has" => ValueTest::Present,
                    "no" => ValueTest::Absent,
                    _ => ValueTest::Zero,
                };
                (self.tag(tag)?, test)
            } else if let Some((tag, word)) = word.split_once('~') {
                let tag = self.tag(tag)?;
                (tag, ValueTest::Word(self.either(tag, word)?))
            } else if let Some((tag, start)) = word.split_once('^')
                && !start.is_empty()
            {
                (self.tag(tag)?, ValueTest::Begins(start.into()))
            } else {
                let (tag, values) = word.split_once('=').ok_or(FORM)?;
                let tag = self.tag(tag)?;
                let values = values.split('|').map(|value| self.either(tag, value));
                let mut values = values.collect::<Outcome<Vec<_>>>()?;
                values.sort_unstable();
                match values.len() {
                    1 => (tag, ValueTest::Bytes(Op::Equal, values.remove(0))),
                    _ => (tag, ValueTest::OneOf(values)),
                }
            };
            conditions.push(condition);
        }
        if conditions.is_empty() {
            return Err(FORM);
        }
        contradict(&conditions)?;
        Ok(conditions)
    }

    fn action(&self, words: &[&str]) -> Outcome<ConversionAction> {
        match words {
            ["set", field] => {
                let (tag, value) = self.assignment(field, "set TAG=VALUE")?;
                Ok(ConversionAction::Verb(Verb::Set(tag, alloc::vec![value])))
            }
            ["default", field] => {
                let (tag, value) = self.assignment(field, "default TAG=VALUE")?;
                Ok(ConversionAction::Verb(Verb::Set(tag, alloc::vec![value])))
            }
            ["remove", tag] => Ok(ConversionAction::Verb(Verb::Remove(self.tag(tag)?))),
            ["move", from, "->", to] => {
                let (from, to) = (self.tag(from)?, self.tag(to)?);
                Ok(ConversionAction::Verb(Verb::Move(from, to)))
            }
            ["map", from, "->", to, rows @ ..] if !rows.is_empty() => self.map(from, to, rows),
            ["word", tag, word] => {
                let tag = self.tag(tag)?;
                let word = self.either(tag, word)?;
                Ok(ConversionAction::Word {
                    tag,
                    word,
                    other: None,
                })
            }
            ["word", tag, word, "->", other] => {
                let tag = self.tag(tag)?;
                Ok(ConversionAction::Word {
                    tag,
                    word: self.either(tag, word)?,
                    other: Some(self.target(tag, other)?),
                })
            }
            ["entry", from, "->", path @ ..] => {
                let (from, path) = (self.tag(from)?, self.path(path)?);
                // A statement that writes needs a value, not `*`.
                match path
                    .fixed
                    .iter()
                    .any(|(_, operand)| *operand == Operand::Any)
                {
                    true => Err(form("entry")),
                    false => Ok(ConversionAction::Entry { from, path }),
                }
            }
            ["field", path @ .., "->", to] => Ok(ConversionAction::Field {
                path: self.path(path)?,
                to: self.tag(to)?,
            }),
            ["join", month, day, "->", date] => Ok(ConversionAction::Join {
                month: self.tag(month)?,
                day: self.tag(day)?,
                date: self.tag(date)?,
            }),
            ["split", date, "->", month, day] => Ok(ConversionAction::Split {
                date: self.tag(date)?,
                month: self.tag(month)?,
                day: self.tag(day)?,
            }),
            ["wrap", count] => Ok(ConversionAction::Wrap(self.tag(count)?)),
            ["unwrap", count] => Ok(ConversionAction::Unwrap(self.tag(count)?)),
            [word @ ("sum" | "difference"), one, other, "->", to] => Ok(ConversionAction::Sum {
                one: self.tag(one)?,
                other: self.tag(other)?,
                sign: if *word == "sum" { 1 } else { -1 },
                to: self.tag(to)?,
            }),
            [word, ..] => Err(form(word)),
            [] => Err(ConversionProblem::UnknownStatement("if".into())),
        }
    }

    fn map(&self, from: &str, to: &str, rows: &[&str]) -> Outcome<ConversionAction> {
        let tags = |text: &str| {
            text.split('+')
                .map(|tag| self.tag(tag))
                .collect::<Outcome<Vec<_>>>()
        };
        let (from, to) = (tags(from)?, tags(to)?);
        let mut read: Vec<MapRow> = Vec::new();
        for row in rows {
            let (left, right) = row.split_once('=').ok_or(form("map"))?;
            let left = cells(left, &from, |tag, value| self.either(tag, value))?;
            let right = cells(right, &to, |tag, value| self.target(tag, value))?;
            if right.contains(&Operand::Any) {
                return Err(form("map"));
            }
            if !left.iter().any(|cell| matches!(cell, Operand::Value(_))) {
                return Err(ConversionProblem::BlindRow((*row).into()));
            }
            let takes_all = |earlier: &MapRow| {
                let mut cells = earlier.from.iter().zip(&left);
                cells.all(|(earlier, cell)| *earlier == Operand::Any || earlier == cell)
            };
            if read.iter().any(takes_all) {
                return Err(ConversionProblem::ShadowedRow((*row).into()));
            }
            read.push(MapRow {
                from: left,
                to: right,
            });
        }
        Ok(ConversionAction::Map {
            from,
            to,
            rows: read,
        })
    }

    /// Reads `COUNT TAG TAG=VALUE ...`, optionally after `COUNT TAG=VALUE ... /`.
    fn path(&self, words: &[&str]) -> Outcome<Path> {
        const FORM: ConversionProblem = ConversionProblem::Form(
            "COUNT VALUETAG TAG=VALUE ..., inside an entry COUNT TAG=VALUE ... / before it",
        );
        let (outer, words) = match words.iter().position(|&word| word == "/") {
            None => (None, words),
            Some(end) => {
                let [count, known_by @ ..] = &words[..end] else {
                    return Err(FORM);
                };
                let known_by = known_by.iter().map(|field| self.fixed(field));
                let outer = (self.tag(count)?, known_by.collect::<Outcome<_>>()?);
                (Some(outer), &words[end + 1..])
            }
        };
        let [count, value, fixed @ ..] = words else {
            return Err(FORM);
        };
        Ok(Path {
            outer,
            count: self.tag(count)?,
            value: self.tag(value)?,
            fixed: fixed
                .iter()
                .map(|field| self.fixed(field))
                .collect::<Outcome<_>>()?,
        })
    }

    fn fixed(&self, field: &str) -> Outcome<(Tag, Operand)> {
        let (tag, value) = field
            .split_once('=')
            .ok_or(ConversionProblem::Form("TAG=VALUE"))?;
        let tag = self.tag(tag)?;
        let operand = match (value, value.strip_prefix('@')) {
            ("*", _) => Operand::Any,
            (_, Some(other)) => Operand::Value(Piece::Field(self.tag(other)?)),
            _ => Operand::Value(Piece::Text(self.either(tag, value)?)),
        };
        Ok((tag, operand))
    }

    fn assignment(&self, field: &str, form: &'static str) -> Outcome<(Tag, Piece<Tag>)> {
        let (tag, value) = field.split_once('=').ok_or(ConversionProblem::Form(form))?;
        let tag = self.tag(tag)?;
        let value = match value.strip_prefix('@') {
            Some(other) => Piece::Field(self.tag(other)?),
            None => Piece::Text(self.target(tag, value)?),
        };
        Ok((tag, value))
    }

    /// The tag of a field given by tag or name. At least one of the two dictionaries must have the field.
    fn tag(&self, text: &str) -> Outcome<Tag> {
        let both = [self.from, self.to];
        let found = match text.parse() {
            Ok(tag) => both
                .iter()
                .any(|side| side.field(tag).is_some())
                .then_some(tag),
            Err(_) => both.iter().find_map(|side| side.tag_of(text)),
        };
        found.ok_or_else(|| ConversionProblem::UnknownField(text.into()))
    }

    /// A value that source or target allows for the field.
    fn either(&self, tag: Tag, value: &str) -> Outcome<Vec<u8>> {
        if has_value(self.from, tag, value) || has_value(self.to, tag, value) {
            return Ok(value.as_bytes().into());
        }
        Err(unknown_value(tag, value))
    }

    /// A value that the target allows for the field.
    fn target(&self, tag: Tag, value: &str) -> Outcome<Vec<u8>> {
        if self.to.field(tag).is_none() {
            return Err(ConversionProblem::NeverApplies(tag));
        }
        match has_value(self.to, tag, value) {
            true => Ok(value.as_bytes().into()),
            false => Err(unknown_value(tag, value)),
        }
    }
}

fn has_value(dictionary: &Dictionary, tag: Tag, value: &str) -> bool {
    let Some(field) = dictionary.field(tag) else {
        return false;
    };
    let allowed = |word: &str| field.allows(word.as_bytes());
    let is_one = allowed(value) || field.kind.is_multiple() && value.split(' ').all(allowed);
    !value.is_empty() && field.kind.accepts(value.as_bytes()) && is_one
}

fn unknown_value(tag: Tag, value: &str) -> ConversionProblem {
    ConversionProblem::UnknownValue {
        tag,
        value: value.into(),
    }
}

/// The cells of one side of a row. `*` stands for any value or an absent field; an empty cell stands for an absent
/// field.
fn cells(
    text: &str,
    tags: &[Tag],
    value: impl Fn(Tag, &str) -> Outcome<Vec<u8>>,
) -> Outcome<Vec<Operand>> {
    let mut parts = text.split('+');
    let cell = |&tag: &Tag| match parts.next() {
        None | Some("") => Ok(Operand::Nothing),
        Some("*") => Ok(Operand::Any),
        Some(text) => value(tag, text).map(|text| Operand::Value(Piece::Text(text))),
    };
    let cells = tags.iter().map(cell).collect::<Outcome<_>>()?;
    match parts.next() {
        None => Ok(cells),
        Some(_) => Err(form("map")),
    }
}

fn same_version(name: &str, dictionary: &Dictionary) -> Outcome<()> {
    let known = Version::from_name(name);
    if known.is_some() && known == Version::from_name(dictionary.version()) {
        return Ok(());
    }
    Err(ConversionProblem::OtherVersion {
        table: name.into(),
        dictionary: dictionary.version().into(),
    })
}

fn contradict(conditions: &[(Tag, ValueTest)]) -> Outcome<()> {
    let needed = |tag: &Tag| {
        let mut conditions = conditions.iter();
        conditions.any(|(other, test)| other == tag && test.needs_field())
    };
    let mut absent = conditions.iter();
    match absent.find(|(tag, test)| matches!(test, ValueTest::Absent) && needed(tag)) {
        Some((tag, _)) => Err(ConversionProblem::Contradiction(*tag)),
        None => Ok(()),
    }
}

/// The error for a statement that does not have the form of its keyword.
fn form(word: &str) -> ConversionProblem {
    ConversionProblem::Form(match word {
        "set" => "set TAG=VALUE [if ...]",
        "default" => "default TAG=VALUE [if ...]",
        "remove" => "remove TAG [if ...]",
        "move" => "move TAG -> TAG [if ...]",
        "map" => "map TAG+TAG -> TAG+TAG VALUE+VALUE=VALUE+VALUE ... [if ...]",
        "word" => "word TAG WORD [-> WORD] [if ...]",
        "entry" => "entry TAG -> COUNT VALUETAG TAG=VALUE ... [if ...]",
        "field" => "field COUNT VALUETAG TAG=VALUE ... -> TAG [if ...]",
        "join" => "join MONTHTAG DAYTAG -> DATETAG [if ...]",
        "wrap" => "wrap COUNT [if ...]",
        "unwrap" => "unwrap COUNT [if ...]",
        "sum" => "sum TAG TAG -> TAG [if ...]",
        "difference" => "difference TAG TAG -> TAG [if ...]",
        "split" => "split DATETAG -> MONTHTAG DAYTAG [if ...]",
        other => return ConversionProblem::UnknownStatement(other.into()),
    })
}
