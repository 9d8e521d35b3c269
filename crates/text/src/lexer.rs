//! [`Lexer`]: splits a line into words, quoted texts and signs, each with its place.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::diagnostic::Span;

/// How words look in a language. Blanks separate tokens.
#[derive(Clone, Copy, Debug)]
pub struct Lexer {
    /// The characters that begin and end a quoted text, such as `"`.
    pub quotes: &'static [char],
    /// How a quoted text can contain its own quote character.
    pub inner: InnerQuote,
    /// Whether a quoted text is part of the word around it. If so, `58="a b"` is one word.
    pub is_glued: bool,
    /// Texts that are tokens of their own wherever they stand. Longer ones must come first.
    pub signs: &'static [&'static str],
    /// What `#` does.
    pub comments: Comments,
}

/// How a quoted text can contain its own quote character.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InnerQuote {
    /// Not at all.
    Never,
    /// Written twice.
    Doubled,
    /// After a backslash. A backslash also makes `\n`, `\r` and `\t`.
    Escaped,
}

/// What `#` does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comments {
    /// `#` is an ordinary character.
    Never,
    /// `#` begins a comment where a word could begin.
    BetweenWords,
    /// `#` begins a comment everywhere outside quotes.
    Anywhere,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TokenKind {
    /// Characters up to a blank, a sign or a quote.
    Word,
    /// A quoted text.
    Quoted,
    /// One of [`Lexer::signs`].
    Sign(&'static str),
}

/// A token of a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LexerToken<'t> {
    /// The place of the token, quotes included.
    pub span: Span,
    /// The kind of the token.
    pub kind: TokenKind,
    /// The text of the token, without quotes.
    pub text: Cow<'t, str>,
}

impl Lexer {
    /// Words between blanks, and texts between double quotes.
    pub const WORDS: Self = Self {
        quotes: &['"'],
        inner: InnerQuote::Never,
        is_glued: false,
        signs: &[],
        comments: Comments::Never,
    };

    /// The tokens of a text.
    ///
    /// # Errors
    ///
    /// The place of a quote that is not closed, up to the end. If quoted texts belong to words, the place begins with
    /// the word.
    pub fn tokens<'t>(&self, text: &'t str) -> Result<Vec<LexerToken<'t>>, Span> {
        let mut tokens = Vec::new();
        let mut at = 0;
        loop {
            let blank = text[at..].find(|it: char| !it.is_whitespace());
            let Some(blank) = blank else {
                return Ok(tokens);
            };
            at += blank;
            if self.comments != Comments::Never && text[at..].starts_with('#') {
                return Ok(tokens);
            }
            let token = self.token(text, at)?;
            at = token.span.end;
            tokens.push(token);
        }
    }

    /// The token that begins at a byte offset.
    fn token<'t>(&self, text: &'t str, start: usize) -> Result<LexerToken<'t>, Span> {
        let rest = &text[start..];
        let of = |kind, len, text| LexerToken {
            span: Span::from(start..start + len),
            kind,
            text,
        };
        if let Some(sign) = self.sign(rest) {
            return Ok(of(TokenKind::Sign(sign), sign.len(), Cow::Borrowed(sign)));
        }
        if !self.is_glued && rest.starts_with(self.quotes) {
            let (said, len) = self.quoted(text, start)?;
            return Ok(of(TokenKind::Quoted, len, said));
        }
        let mut said = Cow::Borrowed("");
        let mut len = 0;
        while let Some(letter) = rest[len..].chars().next() {
            let is_quote = self.quotes.contains(&letter);
            let is_comment = letter == '#' && self.comments == Comments::Anywhere;
            if letter.is_whitespace() || is_comment || self.sign(&rest[len..]).is_some() {
                break;
            }
            match (is_quote, &mut said) {
                (true, _) if !self.is_glued => break,
                (true, said) => {
                    let from_word = |Span { end, .. }| Span { start, end };
                    let (inner, more) = self.quoted(text, start + len).map_err(from_word)?;
                    said.to_mut().push_str(&inner);
                    len += more;
                    continue;
                }
                (false, Cow::Borrowed(said)) => *said = &rest[..len + letter.len_utf8()],
                (false, Cow::Owned(said)) => said.push(letter),
            }
            len += letter.len_utf8();
        }
        Ok(of(TokenKind::Word, len, said))
    }

    fn sign(&self, rest: &str) -> Option<&'static str> {
        let mut signs = self.signs.iter();
        signs.find(|sign| rest.starts_with(**sign)).copied()
    }

    /// The quoted text that begins at a byte offset, and its length with the quotes.
    fn quoted<'t>(&self, text: &'t str, start: usize) -> Result<(Cow<'t, str>, usize), Span> {
        let rest = &text[start..];
        let mut letters = rest.char_indices();
        let quote = letters.next().map_or('"', |(_, quote)| quote);
        let mut said = String::new();
        while let Some((at, letter)) = letters.next() {
            match (letter, self.inner) {
                ('\\', InnerQuote::Escaped) => said.extend(letters.next().map(|it| match it.1 {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    letter => letter,
                })),
                (letter, _) if letter != quote => said.push(letter),
                (_, InnerQuote::Doubled) if letters.as_str().starts_with(quote) => {
                    letters.next();
                    said.push(quote);
                }
                _ => return Ok((Cow::Owned(said), at + quote.len_utf8())),
            }
        }
        Err(Span::from(start..text.len()))
    }
}

/// The first word of a line, and the rest of the line without blanks at its ends.
#[must_use]
pub fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (word, rest.trim_start())
}

/// The words of a line. For each: the word, the text before its `=`, and the text after it. A word without `=` is a
/// key without a value.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let words = text.split_whitespace();
    words.map(|word| {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        (word, key, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn said(lexer: Lexer, text: &str) -> Vec<String> {
        let tokens = lexer.tokens(text).unwrap().into_iter();
        let tokens = tokens.map(|token| {
            let Span { start, end } = token.span;
            assert!(start < end && text.is_char_boundary(start) && text.is_char_boundary(end));
            match token.kind {
                TokenKind::Quoted => std::format!("<{}>", token.text),
                TokenKind::Sign(sign) => std::format!("[{sign}]"),
                TokenKind::Word => token.text.to_string(),
            }
        });
        tokens.collect()
    }

    #[test]
    fn a_line_is_words_quoted_texts_and_signs() {
        let plain = Lexer::WORDS;
        assert_eq!(
            said(plain, " reject 99\t\"Not today\" "),
            ["reject", "99", "<Not today>"]
        );
        assert_eq!(said(plain, "a\"b#\"c é"), ["a", "<b#>", "c", "é"]);
        assert_eq!(plain.tokens("a \"b"), Err(Span::from(2..4)));
        let signs = Lexer {
            quotes: &['"', '\''],
            inner: InnerQuote::Doubled,
            signs: &["<=", "<", "="],
            ..plain
        };
        assert_eq!(
            said(signs, "a<=b<'c''d' \"'\""),
            ["a", "[<=]", "b", "[<]", "<c'd>", "<'>"]
        );
        let escaped = Lexer {
            inner: InnerQuote::Escaped,
            comments: Comments::BetweenWords,
            ..plain
        };
        assert_eq!(said(escaped, r#"a#b "c\"\n\d" # "e"#), ["a#b", "<c\"\nd>"]);
        assert!(escaped.tokens(r#""a\""#).is_err());
    }

    #[test]
    fn glued_quotes_are_part_of_their_word() {
        let glued = Lexer {
            is_glued: true,
            comments: Comments::Anywhere,
            ..Lexer::WORDS
        };
        assert_eq!(
            said(glued, "set 58=\"a # b\"c \"\" d#e"),
            ["set", "58=a # bc", "", "d"]
        );
        assert_eq!(glued.tokens("a 58=\"b"), Err(Span::from(2..7)));
    }

    #[test]
    fn a_line_has_a_first_word_and_pairs() {
        assert_eq!(first_word("  case 3  An order "), ("case", "3  An order"));
        assert_eq!(first_word(""), ("", ""));
        let pairs: Vec<_> = pairs("session=A=B firm ").collect();
        assert_eq!(
            pairs,
            [("session=A=B", "session", "A=B"), ("firm", "firm", "")]
        );
    }
}
