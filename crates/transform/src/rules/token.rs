//! Tokens of conditions and actions.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_text::{InnerQuote, Lexer, TokenKind};

use super::problem::{Fault, RuleProblem};

/// One piece of the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Token {
    /// A letter, `_` or `@`, then letters, digits, `_`, `.`, `-` and `*`.
    Word(String),
    /// Digits with an optional `-` and point; or `0x` and hexadecimal digits.
    Number(String),
    /// The text between two `"` or two `'`. Inside, the same quote is written twice.
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
            Self::End => "the end of the text".into(),
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

const LEXER: Lexer = Lexer {
    quotes: &['"', '\''],
    inner: InnerQuote::Doubled,
    signs: &["!=", "<=", ">=", "(", ")", ",", ":", "=", "<", ">"],
    ..Lexer::WORDS
};

/// Splits a text into tokens. The last token is [`Token::End`].
///
/// # Errors
///
/// [`RuleProblem::Unclosed`] for a text that lacks its closing quote; [`RuleProblem::Unexpected`] for a byte that
/// cannot begin a token.
pub fn split(text: &str) -> Result<Vec<Spot>, Fault> {
    let tokens = LEXER.tokens(text);
    let tokens = tokens.map_err(|span| Fault::new(span.start, RuleProblem::Unclosed))?;
    let mut spots = Vec::new();
    for fixwire_text::LexerToken { span, kind, text } in tokens {
        let at = span.start;
        let token = match kind {
            TokenKind::Word => word(&text, at)?,
            TokenKind::Quoted => Token::Quoted(text.into_owned()),
            TokenKind::Sign(sign) => Token::Sign(sign),
        };
        spots.push(Spot { at, token });
    }
    spots.push(Spot {
        at: text.len(),
        token: Token::End,
    });
    Ok(spots)
}

/// A word or number that begins at a byte.
fn word(text: &str, at: usize) -> Result<Token, Fault> {
    let is_number = text.starts_with(|it: char| it.is_ascii_digit() || it == '-');
    let fits = |(at, letter): &(usize, char)| {
        let first = if is_number { "-" } else { "_@*" };
        let others = if is_number { "." } else { "_.-*" };
        letter.is_ascii_alphanumeric() || if *at == 0 { first } else { others }.contains(*letter)
    };
    match text.char_indices().find(|it| !fits(it)) {
        None if is_number => Ok(Token::Number(text.into())),
        None => Ok(Token::Word(text.into())),
        Some((place, letter)) => {
            let (found, wanted) = (
                letter.into(),
                "a word, a number, a text in quotes or a sign",
            );
            Err(Fault::new(
                at + place,
                RuleProblem::Unexpected { found, wanted },
            ))
        }
    }
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
