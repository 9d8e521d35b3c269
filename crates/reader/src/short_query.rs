//! [`ShortQuery`]: a condition in short form, such as `35=D 55~^TX 38>1000`.

use std::cmp::Ordering;

use fixwire_protocol::decimal::{check_float, compare_floats};
use fixwire_protocol::{Message, SOH, Tag};
use fixwire_text::Lexer;
use memchr::memmem::{self, Finder};

use crate::index_choice::BlockChoice;
use crate::index_key::IdKind;

/// Terms, all of which must be true for a message.
#[derive(Clone, Debug)]
pub struct ShortQuery {
    terms: Vec<Term>,
    /// A field that every wanted message has, with SOH before and after it. `None` when no term gives a field that
    /// every wanted message has.
    needle: Option<Finder<'static>>,
}

#[derive(Clone, Debug)]
struct Term {
    tag: Tag,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// The value equals one of these values.
    Equal(Vec<Vec<u8>>),
    /// The value equals none of these values.
    NotEqual(Vec<Vec<u8>>),
    /// The value contains this text: anywhere, only at the start, or only at the end.
    Has {
        text: Vec<u8>,
        start: bool,
        end: bool,
    },
    /// The value is above or below another value; `or_equal` allows equality.
    Side {
        side: Ordering,
        or_equal: bool,
        /// Whether the value is a number, so that only numbers are compared with it.
        is_number: bool,
        text: Vec<u8>,
    },
}

impl ShortQuery {
    /// Whether a text has the form of a short query: it begins with a tag and an operator.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let rest = text
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < text.trim_start().len() && rest.starts_with(['=', '!', '~', '<', '>'])
    }

    /// Reads terms, separated by blanks. A term is a tag, one of `=` `!=` `~` `<` `<=` `>` `>=`, and a value. A value
    /// with blanks is written between double quotes. `=` and `!=` accept several values, separated by `|`. `~`
    /// matches a part of the value: with `^` before it the start of the value, with `$` after it the end.
    ///
    /// # Errors
    ///
    /// A sentence that shows the invalid term.
    pub fn parse(text: &str) -> Result<Self, String> {
        const LEXER: Lexer = Lexer {
            is_glued: true,
            ..Lexer::WORDS
        };
        let words = LEXER.tokens(text).map_err(|span| {
            let rest = &text[span.start..];
            format!("{rest}: a double quote is missing at the end")
        })?;
        let words = words
            .iter()
            .map(|word| &text[word.span.start..word.span.end]);
        let terms: Vec<Term> = words.map(term).collect::<Result<_, _>>()?;
        if terms.is_empty() {
            return Err("an empty query: expected terms such as 35=D or 55~^TX".to_owned());
        }
        let needles = terms.iter().filter_map(|term| match &term.test {
            Test::Equal(values) => match &values[..] {
                [value] => Some([format!("\x01{}=", term.tag).as_bytes(), value, b"\x01"].concat()),
                _ => None,
            },
            _ => None,
        });
        // The longest field is probably the rarest. BeginString(8) is not used, because no SOH precedes it.
        let needle = needles
            .filter(|needle| !needle.starts_with(b"\x018="))
            .max_by_key(Vec::len);
        let needle = needle.map(|needle| Finder::new(&needle).into_owned());
        Ok(Self { terms, needle })
    }

    /// Whether a message may match, judging from its bytes. [`ShortQuery::matches`] decides.
    #[inline]
    #[must_use]
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        self.needle
            .as_ref()
            .is_none_or(|needle| needle.find(bytes).is_some())
    }

    /// A field that every wanted message has, without separators. `None` when a log may have written the field in
    /// another form.
    #[must_use]
    pub fn needle(&self) -> Option<Vec<u8>> {
        let field = self.needle.as_ref()?.needle();
        let field = field.strip_prefix(b"\x01")?.strip_suffix(b"\x01")?;
        let is_plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'\\';
        field.iter().all(is_plain).then(|| field.to_vec())
    }

    /// The blocks of indexed logs that may have matching messages; `None` when no term tests an indexed id.
    #[must_use]
    pub fn blocks(&self) -> Option<BlockChoice> {
        let mut terms = self.terms.iter();
        let (kind, values) = terms.find_map(|term| match &term.test {
            Test::Equal(values) => Some((IdKind::of(term.tag)?, values)),
            _ => None,
        })?;
        let choice = BlockChoice::default();
        values.iter().for_each(|value| choice.add_id(kind, value));
        Some(choice)
    }

    /// Whether a message matches all terms.
    #[must_use]
    pub fn matches(&self, message: &Message<'_>) -> bool {
        self.terms.iter().all(|term| term.matches(message))
    }
}

impl Term {
    fn matches(&self, message: &Message<'_>) -> bool {
        let fields = message
            .fields()
            .iter()
            .filter(|field| field.tag == self.tag);
        let mut values = fields.map(|field| message.value(*field));
        match &self.test {
            Test::Equal(wanted) => values.any(|value| wanted.iter().any(|it| it == value)),
            Test::NotEqual(others) => values.all(|value| others.iter().all(|it| it != value)),
            Test::Has { text, start, end } => values.any(|value| match (start, end) {
                (true, true) => value == text,
                (true, false) => value.starts_with(text),
                (false, true) => value.ends_with(text),
                (false, false) => memmem::find(value, text).is_some(),
            }),
            Test::Side {
                side,
                or_equal,
                is_number,
                text,
            } => values.any(|value| {
                let order = match is_number {
                    true => compare_floats(value, text).ok(),
                    false => Some(value.cmp(text)),
                };
                order.is_some_and(|order| order == *side || *or_equal && order == Ordering::Equal)
            }),
        }
    }
}

fn term(text: &str) -> Result<Term, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (tag, rest) = text.split_at(digits);
    let wrong =
        || format!("{text}: expected a tag, one of = != ~ < <= > >=, and a value, as in 38>=1000");
    let tag: Tag = tag.parse().map_err(|_| wrong())?;
    let operators = ["!=", "<=", ">=", "=", "~", "<", ">"];
    let operator = operators
        .into_iter()
        .find(|operator| rest.starts_with(operator));
    let operator = operator.ok_or_else(wrong)?;
    let given = &rest[operator.len()..];
    let quoted = given
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let value = quoted.unwrap_or(given);
    if value.bytes().any(|byte| byte == SOH) {
        return Err(format!("{text}: a value cannot contain SOH"));
    }
    let values = || match quoted {
        Some(value) => vec![value.as_bytes().to_vec()],
        None => given
            .split('|')
            .map(|value| value.as_bytes().to_vec())
            .collect(),
    };
    let test = match operator {
        "=" => Test::Equal(values()),
        "!=" => Test::NotEqual(values()),
        "~" => {
            let (start, text) = match value.strip_prefix('^') {
                Some(rest) => (true, rest),
                None => (false, value),
            };
            let (end, text) = match text.strip_suffix('$') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let text = text.as_bytes().to_vec();
            Test::Has { text, start, end }
        }
        _ => Test::Side {
            side: if operator.starts_with('<') {
                Ordering::Less
            } else {
                Ordering::Greater
            },
            or_equal: operator.ends_with('='),
            is_number: check_float(value.as_bytes()).is_ok(),
            text: value.as_bytes().to_vec(),
        },
    };
    Ok(Term { tag, test })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Decoder;

    #[test]
    fn a_message_meets_all_terms_or_is_not_wanted() {
        let text = "8=FIX.4.4|9=5|35=D|11=A1|55=TXFL6|38=1500|44=1.5|58=no such order|448=X|448=Y|52=20261120-10:00:00|10=000|";
        let text = text.replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(text.as_bytes());
        for (query, wanted) in [
            ("35=D", true),
            ("35=D 55~^TX 38>1000", true),
            ("38<9223372036854775808", true),
            ("38>1499.00000000000000000000", true),
            ("38>9223372036854775808", false),
            ("35=F|D", true),
            ("35=F|G", false),
            ("55~^XF", false),
            ("55~XF", true),
            ("55~L6$", true),
            ("55~^TXFL6$", true),
            ("38>1500", false),
            ("38>=1500.0", true),
            ("44<2", true),
            ("55<2", false),
            ("52>20261120-09", true),
            ("58=\"no such order\"", true),
            ("58=\"no|such\"", false),
            ("448=Y", true),
            ("448!=Y", false),
            ("448!=Z 999!=1", true),
            ("999=1", false),
            ("8=FIX.4.4", true),
            ("58~", true),
            ("999~", false),
        ] {
            let parsed = ShortQuery::parse(query).unwrap();
            assert_eq!(parsed.matches(&message), wanted, "{query}");
            assert!(parsed.may_match(text.as_bytes()) || !wanted, "{query}");
            assert!(ShortQuery::is_one(query), "{query}");
        }
    }

    #[test]
    fn a_wrong_term_is_named() {
        for (query, named) in [
            ("35=D x=1", "x=1"),
            ("35", "35"),
            ("35 = D", "35:"),
            ("58=\"a b", "double quote"),
            ("99999999999=1", "99999999999=1"),
            ("", "empty"),
        ] {
            let why = ShortQuery::parse(query).unwrap_err();
            assert!(why.contains(named), "{query}: {why}");
        }
        assert!(!ShortQuery::is_one("Symbol = VOD") && !ShortQuery::is_one("35 = D"));
    }
}
