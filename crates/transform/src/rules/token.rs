//! Tokens of conditions and actions.

use alloc::string::String;
use alloc::vec::Vec;

use super::problem::{Fault, RuleProblem};

/// One piece of the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Token {
    /// A letter, `_` or `@`, then letters, digits, `_`, `.`, `-` and `*`.
    Word(String),
    /// Digits with an optional `-` and point; or `0x` and hexadecimal digits.
    Number(String),
    /// The text between two `"` or two `'`; the quote itself is written twice.
    Quoted(String),
    /// `( ) , : = != < <= > >=`
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl Token {
    /// The token as written.
    pub fn shown(&self) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => text.clone(),
            Self::Quoted(text) => alloc::format!("\"{text}\""),
            Self::Sign(text) => (*text).into(),
            Self::End => "the end".into(),
        }
    }
}

/// A token and the byte of the text where it begins.
#[derive(Clone, Debug)]
pub struct Spot {
    /// Byte offset in the text.
    pub at: usize,
    /// The token.
    pub token: Token,
}

/// Longer signs first.
const SIGNS: [&str; 10] = ["!=", "<=", ">=", "(", ")", ",", ":", "=", "<", ">"];

/// Splits a text into tokens; the last one is [`Token::End`].
///
/// # Errors
///
/// [`RuleProblem::Unclosed`] for a text without its closing quote, [`RuleProblem::Unexpected`] for a byte that
/// begins no token.
pub fn split(text: &str) -> Result<Vec<Spot>, Fault> {
    let bytes = text.as_bytes();
    let mut spots = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let (token, len) = if byte == b'"' || byte == b'\'' {
            quoted(rest, at)?
        } else if byte.is_ascii_digit() || byte == b'-' {
            let len = rest
                .bytes()
                .skip(1)
                .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
                .count()
                + 1;
            (Token::Number(rest[..len].into()), len)
        } else if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'@' | b'*') {
            let in_word = |byte: &u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'*')
            };
            let len = rest.bytes().skip(1).take_while(in_word).count() + 1;
            (Token::Word(rest[..len].into()), len)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let found = rest.chars().next().map(String::from).unwrap_or_default();
            return Err(Fault::new(
                at,
                RuleProblem::Unexpected {
                    found,
                    wanted: "a word, a number, a text in quotes or a sign",
                },
            ));
        };
        spots.push(Spot { at, token });
        at += len;
    }
    spots.push(Spot {
        at: text.len(),
        token: Token::End,
    });
    Ok(spots)
}

/// The quoted text at the start of `rest`, and its length in bytes with the quotes.
fn quoted(rest: &str, at: usize) -> Result<(Token, usize), Fault> {
    let quote = rest.as_bytes()[0] as char;
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((place, letter)) = letters.next() {
        if letter != quote {
            text.push(letter);
        } else if letters.peek().is_some_and(|(_, next)| *next == quote) {
            letters.next();
            text.push(quote);
        } else {
            return Ok((Token::Quoted(text), place + 1));
        }
    }
    Err(Fault::new(at, RuleProblem::Unclosed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_backslashes_and_may_hold_either_quote() {
        let spots = split(r#"A-1.b* >=-1.5 "a""b\d" 'c"'"#).unwrap();
        let tokens: Vec<Token> = spots.into_iter().map(|spot| spot.token).collect();
        let wanted = [
            Token::Word("A-1.b*".into()),
            Token::Sign(">="),
            Token::Number("-1.5".into()),
            Token::Quoted(r#"a"b\d"#.into()),
            Token::Quoted("c\"".into()),
            Token::End,
        ];
        assert_eq!(tokens, wanted);
        assert_eq!(split("a = 'b").unwrap_err().at, 4);
        assert_eq!(split("a € b").unwrap_err().at, 2);
    }
}
